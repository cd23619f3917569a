/* Modules: the data that functions share. Everything that is interned lives as long as the
 * module. */
#include <string.h>

#include "ir/ir.h"
#include "ir/op.h"

static void module_fill(wick_module *m, const char *name)
{
  m->names = wick_names_begin(&m->mem);
  m->dims = wick_dims_create(&m->mem);
  m->types = wick_types_create(&m->mem);
  m->strings = wick_string_table_in(&m->mem);
  m->name = wick_intern(m, name ? name : "");
  wick_push(&m->mem, &m->constants, (wick_constant){0});
  wick_push(&m->mem, &m->data, (wick_data){0});
  wick_push(&m->mem, &m->locs, ((wick_loc_info){.text = ""}));
}

/* Creates a module. If memory runs out here, no caller owns the module yet, so it is freed
 * before the error continues. */
wick_module *wick_module_create(wick_guard *guard, const char *name)
{
  wick_arena mem = wick_arena_make(guard);
  wick_module *m = wick_new(&mem, wick_module, 1), *volatile held = m;
  m->guard = guard;
  m->mem = mem; /* the struct itself is in its own arena */
  jmp_buf outer;
  memcpy(&outer, &guard->where, sizeof outer);
  if (setjmp(guard->where)) {
    memcpy(&guard->where, &outer, sizeof outer);
    wick_module_free(held);
    longjmp(guard->where, 1);
  }
  module_fill(held, name);
  memcpy(&guard->where, &outer, sizeof outer);
  return held;
}

void wick_module_free(wick_module *m)
{
  if (!m) return;
  for (uint32_t i = 0; i < m->constant_arenas.n; i++)
    wick_arena_free(&m->constant_arenas.at[i].mem);
  wick_arena mem = m->mem;
  wick_arena_free(&mem);
}

const char *wick_intern(wick_module *m, const char *s)
{
  return wick_names_get(&m->names, wick_names_add(&m->names, s, strlen(s)));
}

wick_loc wick_loc_add(wick_module *m, const char *location)
{
  if (!location || !*location) return (wick_loc){0};
  const char *text = wick_intern(m, location);
  const wick_loc_info *last = &m->locs.at[m->locs.n - 1];
  if (last->text == text && !last->call.id) return (wick_loc){m->locs.n - 1};
  wick_push(&m->mem, &m->locs, ((wick_loc_info){.text = text}));
  return (wick_loc){m->locs.n - 1};
}

wick_loc wick_loc_inlined(wick_module *m, wick_loc l, wick_loc call)
{
  wick_loc_info info = m->locs.at[l.id];
  if (!l.id || !call.id) return l.id ? l : call;
  info.call = info.call.id ? wick_loc_inlined(m, info.call, call) : call;
  while (m->locs.at[info.call.id].ncall + 1 > WICK_LOC_CALLS)
    info.call = m->locs.at[info.call.id].call;
  info.ncall = m->locs.at[info.call.id].ncall + 1;
  const wick_loc_info *last = &m->locs.at[m->locs.n - 1];
  if (last->text != info.text || last->call.id != info.call.id) wick_push(&m->mem, &m->locs, info);
  return (wick_loc){m->locs.n - 1};
}

/* list[name] for interned names; 0 beyond the end. */
#define MODULE_GET(list, id) ((id) < (list).n ? (list).at[id] : 0)

static uint32_t module_name(const wick_module *m, const char *name)
{
  return wick_names_find(&m->names, name, strlen(name));
}

uint32_t wick_constant_find(const wick_module *m, const char *name)
{
  uint32_t id = module_name(m, name);
  return id ? MODULE_GET(m->constant_of_name, id) : 0;
}

uint32_t wick_constant_add(wick_module *m, const char *name, wick_type type, const void *data,
                           uint64_t nbytes)
{
  const char *stem = name && *name ? name : "c", *unique = stem;
  for (uint32_t k = 1; wick_constant_find(m, unique); k++)
    unique = wick_str_printf(&m->mem, "%s.%u", stem, k);
  uint32_t id = wick_names_add(&m->names, unique, strlen(unique));
  wick_push(&m->mem, &m->constants,
            (wick_constant){wick_names_get(&m->names, id), type, data, nbytes, NULL});
  while (m->constant_of_name.n <= id) wick_push(&m->mem, &m->constant_of_name, 0);
  return m->constant_of_name.at[id] = m->constants.n - 1;
}

/* ---- data types ---- */

wick_type wick_data_type(wick_module *m, const char *name)
{
  uint32_t id = wick_names_add(&m->names, name, strlen(name));
  while (m->data_of_name.n <= id) wick_push(&m->mem, &m->data_of_name, 0);
  uint32_t *at = &m->data_of_name.at[id];
  if (!*at) {
    *at = m->data.n;
    wick_type t = wick_type_intern(m, &(wick_type_info){.kind = WICK_DATA, .data = m->data.n});
    wick_push(&m->mem, &m->data, (wick_data){.name = wick_names_get(&m->names, id), .type = t});
  }
  return m->data.at[*at].type;
}

const wick_part *wick_module_parts(wick_module *m, uint32_t n, const wick_part *part)
{
  wick_part *copy = wick_dup(&m->mem, wick_part, part, n);
  for (uint32_t i = 0; i < n; i++) {
    copy[i].name = wick_intern(m, part[i].name);
    copy[i].type = wick_intern(m, part[i].type);
  }
  return copy;
}

void wick_data_define(wick_module *m, wick_type t, uint32_t nctor, const wick_ctor *ctor)
{
  wick_data *d = &m->data.at[wick_type_get(m, t)->data];
  wick_ctor *copy = wick_dup(&m->mem, wick_ctor, ctor, nctor);
  for (uint32_t i = 0; i < nctor; i++) {
    copy[i].name = wick_intern(m, ctor[i].name);
    copy[i].field = wick_dup(&m->mem, wick_type, ctor[i].field, ctor[i].nfield);
    copy[i].part = wick_module_parts(m, ctor[i].npart, ctor[i].part);
  }
  d->nctor = nctor;
  d->ctor = copy;
}

const wick_data *wick_data_get(const wick_module *m, wick_type t)
{
  return &m->data.at[wick_type_get(m, t)->data];
}

typedef wick_list(wick_type) module_types;

static const char *module_stays(const wick_module *m, wick_type type, wick_arena *tmp,
                                module_types *data)
{
  const wick_type_info *t = wick_type_get(m, type);
  if (t->kind == WICK_REF) return "a reference";
  if (t->kind == WICK_FN) return "a function";
  if (t->kind == WICK_TENSOR && t->elem == WICK_STRING && data->n) return "data with strings";
  for (uint32_t i = 0; i < data->n; i++)
    if (wick_type_eq(data->at[i], type)) return NULL;
  if (t->kind == WICK_DATA) wick_push(tmp, data, type);
  return NULL;
}

const char *wick_type_stays(const wick_module *m, wick_type t, wick_arena *tmp)
{
  module_types data = {0};
  const char *why = module_stays(m, t, tmp, &data);
  for (uint32_t i = 0; i < data.n && !why; i++) {
    const wick_data *d = wick_data_get(m, data.at[i]);
    for (uint32_t k = 0; k < d->nctor; k++)
      for (uint32_t f = 0; f < d->ctor[k].nfield && !why; f++)
        why = module_stays(m, d->ctor[k].field[f], tmp, &data);
  }
  return why;
}

/* ---- data of constants ---- */

enum { MODULE_SMALL = 1 << 16 }; /* bytes; smaller data does not get an allocation of its own */

void *wick_module_alloc(wick_module *m, size_t nbytes)
{
  if (nbytes < MODULE_SMALL) return wick_arena_raw(&m->mem, nbytes, 64);
  wick_push(&m->mem, &m->constant_arenas,
            (wick_growable_arena){.mem = wick_arena_make(m->guard), .nbytes = nbytes});
  wick_growable_arena *r = &m->constant_arenas.at[m->constant_arenas.n - 1];
  void *at = wick_arena_raw(&r->mem, nbytes, 64);
  r->at = at;
  return at;
}

static void module_make(wick_module *m, uint32_t id, void *to)
{
  const wick_deferred_constant *r = m->constants.at[id].deferred;
  const void *from = m->constants.at[r->from].data;
  for (uint32_t part = 0; part < r->nparts; part++) r->make(r, from, part, to);
  m->constants.at[id].data = to;
  m->constants.at[id].deferred = NULL;
}

const void *wick_constant_bytes(wick_module *m, uint32_t id)
{
  wick_constant *k = &m->constants.at[id];
  if (!id) return NULL;
  if (k->deferred) {
    (void)wick_constant_bytes(m, k->deferred->from);
    module_make(m, id, memset(wick_module_alloc(m, k->nbytes), 0, k->nbytes));
  }
  wick_elem e = wick_type_get(m, k->type)->elem;
  if (k->data && (uintptr_t)k->data % wick_elem_storage[e].align)
    k->data = memcpy(wick_module_alloc(m, k->nbytes), k->data, k->nbytes);
  return k->data;
}

void wick_module_align(wick_module *m)
{
  for (uint32_t i = 1; i < m->constants.n; i++) {
    const wick_constant *k = &m->constants.at[i];
    if (k->nbytes < MODULE_SMALL || wick_type_get(m, k->type)->elem != WICK_F32)
      (void)wick_constant_bytes(m, i);
  }
}

uint32_t wick_constant_defer(wick_module *m, const char *name, wick_type type, uint64_t nbytes,
                             const wick_deferred_constant *r)
{
  uint32_t id = wick_constant_add(m, name, type, NULL, nbytes);
  m->constants.at[id].deferred = r;
  if (nbytes < MODULE_SMALL && m->constants.at[r->from].data)
    module_make(m, id, wick_arena_alloc(&m->mem, nbytes, 64));
  return id;
}

static bool module_in_arena(const wick_growable_arena *r, const void *data)
{
  uintptr_t at = (uintptr_t)data, from = (uintptr_t)r->at;
  return at >= from && at < from + r->nbytes;
}

/* Returns, per constant, whether a current function or a state uses it, or a constant that is
 * computed from it. */
static const bool *module_used(const wick_module *m, wick_arena *tmp)
{
  bool *used = wick_new(tmp, bool, m->constants.n);
  for (uint32_t i = 0; i < m->funcs.n; i++)
    for (uint32_t k = 0; k < m->funcs.at[i]->nnode; k++) {
      const wick_node *n = &m->funcs.at[i]->node[k];
      if (n->op == WICK_OP_const) used[wick_const_imm(n)->constant] = true;
    }
  for (uint32_t i = 0; i < m->initials.n; i++) used[m->initials.at[i].constant] = true;
  for (uint32_t i = m->constants.n; i-- > 1;) /* a constant is computed from an earlier one */
    if (used[i] && m->constants.at[i].deferred) used[m->constants.at[i].deferred->from] = true;
  return used;
}

void wick_module_compute_deferred(wick_module *m, wick_arena *tmp)
{
  wick_mark mark = wick_arena_mark(tmp);
  const bool *used = module_used(m, tmp);
  for (uint32_t i = 1; i < m->constants.n; i++)
    if (used[i] && m->constants.at[i].deferred) (void)wick_constant_bytes(m, i);
  wick_arena_rewind(tmp, mark);
}

void wick_module_collect(wick_module *m, wick_arena *tmp)
{
  wick_mark mark = wick_arena_mark(tmp);
  const bool *used = m->constant_arenas.n ? module_used(m, tmp) : NULL;
  uint32_t n = 0;
  for (uint32_t r = 0; r < m->constant_arenas.n; r++) {
    wick_growable_arena *arena = &m->constant_arenas.at[r];
    bool live = false;
    for (uint32_t k = 1; k < m->constants.n && !live; k++)
      live = used[k] && module_in_arena(arena, m->constants.at[k].data);
    if (live) {
      m->constant_arenas.at[n++] = *arena;
      continue;
    }
    for (uint32_t k = 1; k < m->constants.n; k++)
      if (module_in_arena(arena, m->constants.at[k].data)) m->constants.at[k].data = NULL;
    wick_arena_free(&arena->mem);
  }
  m->constant_arenas.n = n;
  wick_arena_rewind(tmp, mark);
}

void wick_initial_set(wick_module *m, uint32_t name, uint32_t constant)
{
  for (uint32_t i = 0; i < m->initials.n; i++)
    if (m->initials.at[i].name == name) {
      m->initials.at[i].constant = constant;
      return;
    }
  wick_push(&m->mem, &m->initials, (wick_initial){name, constant});
}

uint32_t wick_initial_get(const wick_module *m, uint32_t name)
{
  for (uint32_t i = 0; i < m->initials.n; i++)
    if (m->initials.at[i].name == name) return m->initials.at[i].constant;
  return 0;
}

const wick_func *wick_module_find(const wick_module *m, const char *name)
{
  uint32_t id = module_name(m, name), at = id ? MODULE_GET(m->func_of_name, id) : 0;
  return at ? m->funcs.at[at - 1] : NULL;
}

uint32_t wick_module_index(const wick_module *m, const char *name)
{
  return MODULE_GET(m->func_of_name, module_name(m, name)) - 1;
}

void wick_module_set(wick_module *m, const wick_func *f)
{
  uint32_t id = wick_names_add(&m->names, f->name, strlen(f->name));
  while (m->func_of_name.n <= id) wick_push(&m->mem, &m->func_of_name, 0);
  uint32_t *at = &m->func_of_name.at[id];
  if (*at) {
    m->funcs.at[*at - 1] = f;
  } else {
    wick_push(&m->mem, &m->funcs, f);
    *at = m->funcs.n;
  }
}

void wick_module_remove(wick_module *m, const char *name)
{
  uint32_t id = module_name(m, name), at = id ? MODULE_GET(m->func_of_name, id) : 0;
  if (!at) return;
  memmove(&m->funcs.at[at - 1], &m->funcs.at[at], (m->funcs.n - at) * sizeof *m->funcs.at);
  m->funcs.n--;
  m->func_of_name.at[id] = 0;
  for (uint32_t i = at - 1; i < m->funcs.n; i++)
    m->func_of_name.at[module_name(m, m->funcs.at[i]->name)] = i + 1;
}
