/* Each data type of the module is described once; types that are found on the way wait in a list. */
#include "driver/datatypes.h"

typedef struct datatypes {
  const wick_module *m;
  wick_arena *mem;
  wick_datatype **of;         /* by the module's number */
  wick_datatype_list list;    /* in the order in which they were found */
  wick_list(uint32_t) number; /* of each in the list */
} datatypes;

static void datatypes_io(datatypes *s, wick_type type, wick_io *io)
{
  const wick_type_info *t = wick_type_get(s->m, type);
  int64_t dim[WICK_MAX_RANK];
  if (t->kind != WICK_DATA) {
    if (wick_type_const_dims(t, dim)) (void)wick_datatype_tensor(t->elem, t->rank, dim, io);
    return;
  }
  if (!s->of[t->data]) {
    s->of[t->data] = wick_datatype_make(s->m->data.at[t->data].name, s->mem);
    wick_push(s->mem, &s->list, s->of[t->data]);
    wick_push(s->mem, &s->number, t->data);
  }
  (void)wick_datatype_tensor(WICK_I64, 0, NULL, io);
  io->data = s->of[t->data];
}

/* The name of a field: its position, and the way to it in tuples and structs: "0", "1.table". */
static void datatypes_name(datatypes *s, const wick_part *part, uint32_t *at, const char *name,
                           wick_io *field, uint32_t *nfield)
{
  const wick_part *p = &part[(*at)++];
  if (p->leaf) field[(*nfield)++].name = name;
  for (uint32_t i = 0; i < p->nitem; i++) {
    const char *item = part[*at].name;
    const char *own = *item ? item : wick_str_printf(s->mem, "%u", i);
    datatypes_name(s, part, at, *name ? wick_str_printf(s->mem, "%s.%s", name, own) : own, field,
                   nfield);
  }
}

static void datatypes_constructor(datatypes *s, const wick_ctor *from, wick_constructor *to)
{
  wick_io *field = wick_new(s->mem, wick_io, from->nfield + 1u);
  wick_part *part = wick_new(s->mem, wick_part, from->nfield + 1u);
  uint32_t at = 0, nfield = 0;
  *to = (wick_constructor){wick_str_dup(s->mem, from->name), from->nfield, field, from->npart,
                           from->part};
  part[0] = (wick_part){"", "", false, from->nfield};
  for (uint32_t f = 0; f < from->nfield; f++) {
    datatypes_io(s, from->field[f], &field[f]);
    part[1 + f] = (wick_part){"", "", true, 0};
  }
  if (!to->npart) to->npart = from->nfield + 1u, to->part = part;
  datatypes_name(s, to->part, &at, "", field, &nfield);
}

void wick_datatypes_describe(const wick_module *m, uint32_t n, const wick_type *type, wick_io *io,
                             wick_arena *mem)
{
  datatypes s = {.m = m, .mem = mem, .of = wick_new(mem, wick_datatype *, m->data.n + 1u)};
  for (uint32_t i = 0; i < n; i++)
    if (wick_type_get(m, type[i])->kind == WICK_DATA) datatypes_io(&s, type[i], &io[i]);
  for (uint32_t i = 0; i < s.list.n; i++) {
    const wick_data *d = &m->data.at[s.number.at[i]];
    wick_constructor *c = wick_new(mem, wick_constructor, d->nctor + 1u);
    s.list.at[i]->nconstructor = d->nctor, s.list.at[i]->constructor = c;
    for (uint32_t k = 0; k < d->nctor; k++) datatypes_constructor(&s, &d->ctor[k], &c[k]);
  }
  wick_datatypes_end(&s.list, mem);
}

wick_status wick_datatypes_check(const wick_func *f, const char *location, wick_arena *mem)
{
  const wick_node *r = wick_return(f);
  for (uint32_t i = 0; i < f->nparam + r->nin; i++) {
    wick_value v = i < f->nparam ? (wick_value){1 + i} : r->in[i - f->nparam];
    const char *why = wick_type_stays(f->module, wick_type_of(f, v), mem);
    if (why)
      return wick_fail(mem, WICK_EUNSUPPORTED, location, "\"%s\" is %s, which stays inside",
                       wick_names_get(&f->module->names, f->value[v.id].name), why);
  }
  return NULL;
}
