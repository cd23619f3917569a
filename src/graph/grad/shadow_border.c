/* References at the borders of a differentiation: they get shadows, also within data, and lose them. */
#include "graph/grad/convert.h"
#include "graph/grad/shadow.h"
#include "ir/call.h"

/* ---- conversions ---- */

static wick_value border_in(wick_builder *b, wick_value v, wick_type to);
static wick_value border_out(wick_builder *b, wick_value v, wick_type to);

static void border_define(wick_builder *b, wick_type to,
                          wick_value (*convert)(wick_builder *b, wick_value v, wick_type to))
{
  wick_value v = {1};
  const wick_data from = *wick_data_get(b->module, wick_built_type(b, v)),
                  made = *wick_data_get(b->module, to);
  wick_build_open(b, WICK_OP_switch, 1, &v, NULL, 0, NULL);
  for (uint32_t k = 0; k < from.nctor && !b->status; k++) {
    uint32_t n = from.ctor[k].nfield;
    wick_value field = wick_region_begin(b, n, from.ctor[k].field),
               *part = wick_new(b->mem, wick_value, n + 1u);
    for (uint32_t i = 0; i < n && !b->status; i++)
      part[i] = convert(b, (wick_value){field.id + i}, made.ctor[k].field[i]);
    wick_value one = wick_build_construct(b, to, k, n, part);
    wick_yield(b, 1, &one);
  }
  v = wick_build_close(b);
  wick_build_return(b, 1, &v);
}

static void border_define_in(wick_builder *b, wick_type of, wick_type to)
{
  (void)of;
  border_define(b, to, border_in);
}

static void border_define_out(wick_builder *b, wick_type of, wick_type to)
{
  (void)of;
  border_define(b, to, border_out);
}

static wick_value border_data(wick_builder *b, wick_value v, wick_type to,
                              void (*define)(wick_builder *b, wick_type of, wick_type to))
{
  wick_type of = wick_built_type(b, v);
  const char *name = wick_str_printf(b->mem, "%s.from.%s", wick_data_get(b->module, to)->name,
                                     wick_data_get(b->module, of)->name);
  return wick_convert_call(b, name, 1, &v, of, to, define);
}

static wick_value border_in(wick_builder *b, wick_value v, wick_type to)
{
  if (b->status || wick_type_eq(wick_built_type(b, v), to)) return v;
  if (wick_built_info(b, v)->kind == WICK_DATA) return border_data(b, v, to, border_define_in);
  return wick_shadow_pair(b, v, NULL, NULL);
}

static wick_value border_out(wick_builder *b, wick_value v, wick_type to)
{
  if (b->status || wick_type_eq(wick_built_type(b, v), to)) return v;
  if (wick_built_info(b, v)->kind == WICK_DATA) return border_data(b, v, to, border_define_out);
  return wick_shadow_open(b, v).primal;
}

/* ---- what can be converted ---- */

typedef wick_list(wick_type) border_types;

/* Adds the types of references to floats in t to the list, each once. Returns false if a reference
 * holds such a reference: it cannot hold the pair. */
static bool border_find(const wick_module *m, wick_type t, wick_arena *mem, border_types *out)
{
  const wick_type_info *info = wick_type_get(m, t);
  bool fits = true;
  for (uint32_t i = 0; i < out->n; i++)
    if (wick_type_eq(out->at[i], t)) return true;
  if (info->kind != WICK_DATA && info->kind != WICK_REF) return true;
  if (!wick_shadow_changes(m, t)) return true;
  wick_push(mem, out, t);
  for (uint32_t k = 0; info->kind == WICK_REF && k < info->nitem; k++)
    fits = fits && !wick_shadow_changes(m, info->item[k]);
  const wick_data *d = info->kind == WICK_DATA ? wick_data_get(m, t) : NULL;
  for (uint32_t k = 0; d && k < d->nctor; k++)
    for (uint32_t i = 0; i < d->ctor[k].nfield; i++)
      fits = border_find(m, d->ctor[k].field[i], mem, out) && fits;
  return fits;
}

static bool border_writes(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_ref_set && wick_shadow_on(f, &f->node[i])) return true;
  return false;
}

static bool border_made(const wick_builder *b, wick_value v)
{
  for (uint32_t i = 0; i < b->nodes.n; i++)
    if (b->nodes.at[i].op == WICK_OP_ref_new && b->nodes.at[i].first.id == v.id) return true;
  return false;
}

/* Returns whether two nodes of b made v and w: then they are two references. */
static bool border_apart(const wick_builder *b, wick_value v, wick_value w)
{
  return v.id != w.id && border_made(b, v) && border_made(b, w);
}

/* Returns whether another parameter of f may be, or hold, the reference that is parameter k. */
static bool border_shared(const wick_builder *b, const wick_func *f, uint32_t k,
                          const wick_value *outside)
{
  for (uint32_t i = 0; i < f->nparam; i++) {
    border_types in = {0};
    bool may = false;
    if (i == k) continue;
    (void)border_find(f->module, f->value[1 + i].type, b->mem, &in);
    for (uint32_t j = 0; j < in.n; j++) may = may || wick_type_eq(in.at[j], f->value[1 + k].type);
    if (may && !(outside && border_apart(b, outside[i], outside[k]))) return true;
  }
  return false;
}

wick_value wick_shadow_enter(wick_builder *b, const wick_func *f, uint32_t k, wick_value v,
                             const wick_value *outside)
{
  wick_type t = f->value[1 + k].type;
  border_types in = {0};
  if (b->status || !wick_shadow_changes(b->module, t)) return v;
  bool fits = border_find(b->module, t, b->mem, &in),
       one = wick_type_get(b->module, t)->kind == WICK_REF && !border_shared(b, f, k, outside);
  if (fits && (one || !wick_func_reaches(f, border_writes, b->mem)))
    return border_in(b, v, wick_shadow_type(b->module, t, b->mem));
  wick_build_fail(
      b, WICK_EUNSUPPORTED,
      "a function that is differentiated writes references to floats, and takes some that "
      "were made outside of it in data, or by several names");
  return v;
}

wick_value wick_shadow_leave(wick_builder *b, wick_value v, wick_type t)
{
  return border_out(b, v, t);
}
