/* Types: construction, copies, printing. Unification is in unify.c. */
#include "lang/type.h"

#include <stdio.h>
#include <string.h>

#define TYPE_LARGEST ((int64_t)1 << 40)

void wick_types_begin(wick_types *t, wick_arena *mem)
{
  wick_types_begin_in(t, wick_module_create(mem->guard, ""), mem);
  t->owner = true;
}

void wick_types_begin_in(wick_types *t, wick_module *module, wick_arena *mem)
{
  *t = (wick_types){.mem = mem, .module = module, .level = 1, .most = 20000000};
  t->dims = t->module->dims;
  t->any = wick_dim_symbol(t->dims, "?", 0, TYPE_LARGEST);
  t->error = wick_ty_new(t, WICK_TY_ERROR, 0, NULL);
  t->unit = wick_ty_new(t, WICK_TY_TUPLE, 0, NULL);
  t->scalar_shape = wick_ty_new(t, WICK_TY_SHAPE, 0, NULL);
  for (int e = 0; e < WICK_NELEM; e++) {
    t->elem[e] = wick_ty_new(t, WICK_TY_ELEM, 0, NULL);
    t->elem[e]->elem = (wick_elem)e;
  }
}

void wick_types_end(wick_types *t)
{
  if (t->owner) wick_module_free(t->module);
  t->module = NULL;
}

wick_ty *wick_ty_of(wick_ty *a)
{
  while (a->kind == WICK_TY_VAR && a->link) a = a->link;
  return a;
}

/* ---- sizes ---- */

static uint32_t type_symbol_number(wick_dim d)
{
  return (uint32_t)((uint64_t)d.v - (uint64_t)INT64_MIN);
}

static wick_ty_dimvar *type_dimvar(wick_types *t, wick_dim d)
{
  uint32_t n = type_symbol_number(d);
  return n < t->of_symbol.n && t->of_symbol.at[n] ? &t->dimvars.at[t->of_symbol.at[n] - 1] : NULL;
}

static wick_dim type_new_dimvar(wick_types *t, const char *name, bool rigid)
{
  wick_dim s = wick_dim_symbol(t->dims, name, 0, TYPE_LARGEST);
  if (type_dimvar(t, s)) return s;
  while (t->of_symbol.n <= type_symbol_number(s)) wick_push(t->mem, &t->of_symbol, 0);
  wick_ty_dimvar v = {.symbol = s,
                      .value = WICK_DIM_INVALID,
                      .level = rigid ? WICK_TY_GENERIC : t->level,
                      .rigid = rigid};
  wick_push(t->mem, &t->dimvars, v);
  t->of_symbol.at[type_symbol_number(s)] = t->dimvars.n;
  return s;
}

wick_dim wick_ty_size_var(wick_types *t)
{
  char name[24];
  snprintf(name, sizeof name, "#%u", t->nfresh++);
  return type_new_dimvar(t, name, false);
}

wick_dim wick_ty_rigid_size(wick_types *t, const char *name)
{
  return type_new_dimvar(t, name, true);
}

wick_dim wick_ty_static_size(wick_types *t, const wick_lang_entity *param)
{
  for (uint32_t i = 0; i < t->statics.n; i++)
    if (t->statics.at[i].param == param) return t->statics.at[i].symbol;
  char *name = wick_str_printf(t->mem, "%s'%u", param->name, t->nfresh++);
  wick_ty_static k = {param, wick_ty_rigid_size(t, name)};
  type_dimvar(t, k.symbol)->level = 0; /* one for all uses: no scheme copies it */
  wick_push(t->mem, &t->statics, k);
  return k.symbol;
}

wick_dim wick_ty_dim(wick_types *t, wick_dim d)
{
  if (wick_dim_is_const(d) || wick_dim_eq(d, WICK_DIM_INVALID)) return d;
  if (wick_dim_is_symbol(t->dims, d)) {
    const wick_ty_dimvar *v = type_dimvar(t, d);
    return v && !wick_dim_eq(v->value, WICK_DIM_INVALID) ? wick_ty_dim(t, v->value) : d;
  }
  wick_dim_list list = {0};
  wick_dim_symbols(t->dims, d, t->mem, &list);
  bool bound = false;
  wick_dim *by = wick_new(t->mem, wick_dim, list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    by[i] = wick_ty_dim(t, list.at[i]);
    if (wick_dim_eq(by[i], t->any)) return t->any;
    bound = bound || !wick_dim_eq(by[i], list.at[i]);
  }
  return bound ? wick_dim_substitute(t->dims, d, list.n, list.at, by) : d;
}

/* ---- construction ---- */

wick_ty *wick_ty_new(wick_types *t, wick_ty_kind kind, uint32_t n, wick_ty *const *arg)
{
  wick_ty *a = wick_new(t->mem, wick_ty, 1);
  a->kind = kind, a->n = n;
  if (n) a->arg = arg ? wick_dup(t->mem, wick_ty *, arg, n) : wick_new(t->mem, wick_ty *, n);
  return a;
}

wick_ty *wick_ty_var(wick_types *t, wick_ty_sort sort)
{
  if (sort == WICK_SORT_SIZE) return wick_ty_size(t, wick_ty_size_var(t));
  wick_ty *a = wick_ty_new(t, WICK_TY_VAR, 0, NULL);
  a->sort = sort, a->level = t->level, a->elems = ~(uint64_t)0;
  return a;
}

wick_ty *wick_ty_size(wick_types *t, wick_dim d)
{
  wick_ty *a = wick_ty_new(t, WICK_TY_SIZE, 0, NULL);
  a->size = d;
  return a;
}

wick_ty *wick_ty_shape(wick_types *t, uint32_t ndim, const wick_dim *dim, uint32_t front,
                       wick_ty *rest)
{
  if (!ndim && !rest) return t->scalar_shape;
  if (!ndim) return rest;
  wick_ty *a = wick_ty_new(t, WICK_TY_SHAPE, 0, NULL);
  a->ndim = ndim, a->front = rest ? front : ndim, a->rest = rest;
  a->dim = wick_dup(t->mem, wick_dim, dim, ndim);
  return a;
}

wick_ty *wick_ty_tensor(wick_types *t, wick_ty *elem, wick_ty *shape)
{
  return wick_ty_new(t, WICK_TY_TENSOR, 2, (wick_ty *[]){elem, shape});
}

wick_ty *wick_ty_scalar(wick_types *t, wick_elem e)
{
  return wick_ty_tensor(t, t->elem[e], t->scalar_shape);
}

wick_ty *wick_ty_of_tensor(wick_types *t, const wick_tensor *x)
{
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < x->rank; i++) dim[i] = wick_dim_const(x->dim[i]);
  return wick_ty_tensor(t, t->elem[x->elem], wick_ty_shape(t, x->rank, dim, x->rank, NULL));
}

wick_ty *wick_ty_fn(wick_types *t, uint32_t n, wick_ty *const *param, wick_ty *result)
{
  wick_ty *a = wick_ty_new(t, WICK_TY_FN, 0, NULL);
  a->n = n + 1;
  a->arg = wick_new(t->mem, wick_ty *, n + 1);
  for (uint32_t i = 0; i < n; i++) a->arg[i] = param[i];
  a->arg[n] = result;
  return a;
}

wick_ty *wick_ty_flat(wick_types *t, wick_ty *shape)
{
  wick_ty *a = wick_ty_of(shape);
  if (a->kind == WICK_TY_VAR || a->kind == WICK_TY_ERROR) return a;
  while (a->rest && wick_ty_of(a->rest)->kind == WICK_TY_SHAPE) {
    const wick_ty *r = wick_ty_of(a->rest);
    uint32_t n = a->ndim + r->ndim, front = a->front + (r->rest ? r->front : r->ndim);
    wick_dim *dim = wick_new(t->mem, wick_dim, n);
    for (uint32_t i = 0; i < a->front; i++) dim[i] = a->dim[i];
    for (uint32_t i = 0; i < r->ndim; i++) dim[a->front + i] = r->dim[i];
    for (uint32_t i = a->front; i < a->ndim; i++) dim[r->ndim + i] = a->dim[i];
    a = wick_ty_shape(t, n, dim, front, r->rest);
    a = wick_ty_of(a);
    if (a->kind != WICK_TY_SHAPE) return a;
  }
  return a;
}

bool wick_ty_ranked(wick_types *t, wick_ty *shape)
{
  const wick_ty *a = wick_ty_flat(t, shape);
  return a->kind == WICK_TY_SHAPE && !a->rest;
}

bool wick_ty_ready(wick_types *t, wick_ty *tensor)
{
  const wick_ty *a = wick_ty_of(tensor);
  return a->kind == WICK_TY_TENSOR && wick_ty_of(a->arg[0])->kind == WICK_TY_ELEM &&
         wick_ty_ranked(t, a->arg[1]);
}

/* ---- copies ---- */

void wick_ty_begin_copy(wick_types *t) { t->stamp++; }

wick_dim wick_ty_copy_dim(wick_types *t, wick_dim d)
{
  d = wick_ty_dim(t, d);
  if (wick_dim_is_const(d) || wick_dim_eq(d, t->any) || wick_dim_eq(d, WICK_DIM_INVALID)) return d;
  wick_dim_list list = {0};
  if (wick_dim_is_symbol(t->dims, d))
    wick_push(t->mem, &list, d);
  else
    wick_dim_symbols(t->dims, d, t->mem, &list);
  wick_dim *by = wick_new(t->mem, wick_dim, list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    wick_ty_dimvar *v = type_dimvar(t, list.at[i]);
    by[i] = list.at[i];
    if (!v || v->level != WICK_TY_GENERIC) continue;
    if (v->stamp != t->stamp) {
      uint32_t k = (uint32_t)(v - t->dimvars.at);
      wick_dim fresh = wick_ty_size_var(t); /* may move the variables */
      v = &t->dimvars.at[k];
      v->stamp = t->stamp, v->copy = fresh;
    }
    by[i] = v->copy;
  }
  return wick_dim_substitute(t->dims, d, list.n, list.at, by);
}

static wick_ty *type_copy_var(wick_types *t, wick_ty *a)
{
  if (a->level != WICK_TY_GENERIC) return a;
  wick_ty *v = wick_ty_var(t, a->sort);
  v->elems = a->elems, v->literal = a->literal, v->at = a->at;
  return v;
}

wick_ty *wick_ty_copy(wick_types *t, wick_ty *a)
{
  a = wick_ty_of(a);
  if (a->stamp == t->stamp) return a->copy;
  if (wick_ty_step(t)) return a;
  wick_ty *b = a;
  if (a->kind == WICK_TY_VAR) {
    b = type_copy_var(t, a);
  } else if (a->kind == WICK_TY_SIZE) {
    b = wick_ty_size(t, wick_ty_copy_dim(t, a->size));
  } else if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(t, a);
    wick_dim *dim = wick_new(t->mem, wick_dim, a->ndim);
    for (uint32_t i = 0; i < a->ndim; i++) dim[i] = wick_ty_copy_dim(t, a->dim[i]);
    b = wick_ty_shape(t, a->ndim, dim, a->front, a->rest ? wick_ty_copy(t, a->rest) : NULL);
  } else if (a->n) {
    b = wick_ty_new(t, a->kind, a->n, a->arg);
    b->data = a->data, b->at = a->at;
    for (uint32_t i = 0; i < a->n; i++) b->arg[i] = wick_ty_copy(t, a->arg[i]);
  }
  a->stamp = t->stamp, a->copy = b;
  return b;
}

void wick_ty_copy_as(wick_types *t, wick_ty *from, wick_ty *to)
{
  wick_ty_dimvar *v = from->kind == WICK_TY_SIZE ? type_dimvar(t, from->size) : NULL;
  from->stamp = t->stamp, from->copy = to;
  if (v) v->stamp = t->stamp, v->copy = wick_ty_dim(t, wick_ty_of(to)->size);
}

static void type_add_unknown(wick_types *t, wick_ty *x, wick_ty_list *out)
{
  for (uint32_t i = 0; i < out->n; i++) {
    const wick_ty *a = out->at[i];
    if (a == x) return;
    if (a->kind == x->kind && a->kind == WICK_TY_SIZE && wick_dim_eq(a->size, x->size)) return;
  }
  wick_push(t->mem, out, x);
}

static void type_unknown_sizes(wick_types *t, wick_dim d, wick_ty_list *out)
{
  wick_dim_list list = {0};
  d = wick_ty_dim(t, d);
  if (wick_dim_is_const(d)) return;
  wick_dim_symbols(t->dims, d, t->mem, &list);
  for (uint32_t i = 0; i < list.n; i++) {
    const wick_ty_dimvar *v = type_dimvar(t, list.at[i]);
    if (v && v->level == WICK_TY_GENERIC) type_add_unknown(t, wick_ty_size(t, list.at[i]), out);
  }
}

void wick_ty_unknowns(wick_types *t, wick_ty *a, wick_ty_list *out)
{
  a = wick_ty_of(a);
  if (wick_ty_step(t)) return;
  if (a->kind == WICK_TY_VAR && a->level == WICK_TY_GENERIC) type_add_unknown(t, a, out);
  if (a->kind == WICK_TY_SIZE) type_unknown_sizes(t, a->size, out);
  if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(t, a);
    for (uint32_t i = 0; i < a->ndim; i++) type_unknown_sizes(t, a->dim[i], out);
    if (a->rest) wick_ty_unknowns(t, a->rest, out);
  }
  for (uint32_t i = 0; i < a->n; i++) wick_ty_unknowns(t, a->arg[i], out);
}

static void type_generalize_dim(wick_types *t, wick_dim d, uint32_t level)
{
  wick_dim_list list = {0};
  d = wick_ty_dim(t, d);
  if (wick_dim_is_const(d)) return;
  wick_dim_symbols(t->dims, d, t->mem, &list);
  for (uint32_t i = 0; i < list.n; i++) {
    wick_ty_dimvar *v = type_dimvar(t, list.at[i]);
    if (v && v->level > level) v->level = WICK_TY_GENERIC;
  }
}

void wick_ty_generalize(wick_types *t, wick_ty *a, uint32_t level)
{
  a = wick_ty_of(a);
  if (wick_ty_step(t)) return;
  if (a->kind == WICK_TY_VAR && a->level > level) a->level = WICK_TY_GENERIC;
  if (a->kind == WICK_TY_SIZE) type_generalize_dim(t, a->size, level);
  if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(t, a);
    for (uint32_t i = 0; i < a->ndim; i++) type_generalize_dim(t, a->dim[i], level);
    if (a->rest) wick_ty_generalize(t, a->rest, level);
  }
  for (uint32_t i = 0; i < a->n; i++) wick_ty_generalize(t, a->arg[i], level);
}

bool wick_ty_generic(wick_types *t, wick_ty *a)
{
  a = wick_ty_of(a);
  if (wick_ty_step(t)) return false;
  if (a->kind == WICK_TY_VAR) return true;
  if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(t, a);
    for (uint32_t i = 0; i < a->ndim; i++)
      if (!wick_dim_is_const(wick_ty_dim(t, a->dim[i]))) return true;
    return a->rest != NULL;
  }
  if (a->kind == WICK_TY_SIZE) return !wick_dim_is_const(wick_ty_dim(t, a->size));
  for (uint32_t i = 0; i < a->n; i++)
    if (wick_ty_generic(t, a->arg[i])) return true;
  return false;
}

static wick_dim type_substitute_dim(wick_types *t, wick_dim d, uint32_t n, wick_ty *const *from,
                                    wick_ty *const *to)
{
  wick_dim *sym = wick_new(t->mem, wick_dim, n), *by = wick_new(t->mem, wick_dim, n);
  uint32_t k = 0;
  if (wick_dim_is_const(d)) return d;
  for (uint32_t i = 0; i < n; i++)
    if (from[i]->kind == WICK_TY_SIZE && wick_ty_of(to[i])->kind == WICK_TY_SIZE)
      sym[k] = from[i]->size, by[k++] = wick_ty_dim(t, wick_ty_of(to[i])->size);
  for (uint32_t i = 0; i < k; i++)
    if (wick_dim_eq(by[i], t->any) && wick_dim_uses(t->dims, d, sym[i])) return t->any;
  return wick_dim_substitute(t->dims, d, k, sym, by);
}

wick_ty *wick_ty_substitute(wick_types *t, wick_ty *a, uint32_t n, wick_ty *const *from,
                            wick_ty *const *to)
{
  a = wick_ty_of(a);
  if (wick_ty_step(t)) return a;
  for (uint32_t i = 0; i < n; i++)
    if (a == from[i]) return to[i];
  if (a->kind == WICK_TY_SIZE) return wick_ty_size(t, type_substitute_dim(t, a->size, n, from, to));
  if (a->kind == WICK_TY_SHAPE) {
    wick_dim *dim = wick_new(t->mem, wick_dim, a->ndim);
    for (uint32_t i = 0; i < a->ndim; i++) dim[i] = type_substitute_dim(t, a->dim[i], n, from, to);
    return wick_ty_shape(t, a->ndim, dim, a->front,
                         a->rest ? wick_ty_substitute(t, a->rest, n, from, to) : NULL);
  }
  if (!a->n) return a;
  wick_ty *b = wick_ty_new(t, a->kind, a->n, a->arg);
  b->data = a->data, b->at = a->at;
  for (uint32_t i = 0; i < a->n; i++) b->arg[i] = wick_ty_substitute(t, a->arg[i], n, from, to);
  return b;
}

/* ---- printing ---- */

static void type_print_symbol(void *arg, uint32_t atom, wick_text *out)
{
  wick_ty_printer *p = arg;
  const char *name = wick_dim_atom(p->t->dims, atom)->name;
  if (name[0] != '#') { /* "d'7": the user's `d`, of one function */
    wick_text_addn(out, name, strcspn(name, "'"));
    return;
  }
  wick_dim d = wick_dim_from_atom(p->t->dims, atom);
  uint32_t i = 0;
  while (i < p->size.n && !wick_dim_eq(p->size.at[i], d)) i++;
  if (i == p->size.n) wick_push(p->t->mem, &p->size, d);
  wick_text_printf(out, "n%u", i);
}

void wick_ty_print_dim(wick_ty_printer *p, wick_dim d)
{
  wick_dim_print_with(p->t->dims, wick_ty_dim(p->t, d), type_print_symbol, p, p->out);
}

static void type_print_var(wick_ty_printer *p, wick_ty *a)
{
  static const char letter[] = {'a', 'e', 'n', 's'};
  if (a->name) {
    wick_text_add(p->out, a->name);
    return;
  }
  bool some = p->words && a->sort == WICK_SORT_ELEM && a->elems != ~(uint64_t)0;
  if (some && !(a->elems & ~(uint64_t)WICK_PLAIN)) {
    bool floats = !(a->elems & ~(uint64_t)(WICK_FLOATS)),
         ints = !(a->elems & ~(uint64_t)(WICK_INTS));
    wick_text_add(p->out, floats ? "float" : ints ? "integer" : "number");
    return;
  }
  uint32_t i = 0, k = 0;
  while (i < p->var.n && p->var.at[i] != a) {
    k += ((const wick_ty *)p->var.at[i])->sort == a->sort;
    i++;
  }
  if (i == p->var.n) wick_push(p->t->mem, &p->var, (const void *)a);
  wick_text_char(p->out, letter[a->sort]);
  if (k) wick_text_int(p->out, k);
}

static void type_print_list(wick_ty_printer *p, wick_ty *const *arg, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    if (wick_ty_of(arg[i]) == p->t->scalar_shape) continue; /* no sizes */
    if (i) wick_text_add(p->out, ", ");
    wick_ty_print(p, arg[i]);
  }
}

static void type_print_shape(wick_ty_printer *p, wick_ty *shape)
{
  const wick_ty *a = wick_ty_flat(p->t, shape);
  if (a->kind == WICK_TY_VAR) {
    wick_text_add(p->out, "...");
    type_print_var(p, wick_ty_of(shape));
    return;
  }
  for (uint32_t i = 0; i <= a->ndim; i++) {
    if (i == a->front && a->rest) {
      wick_text_add(p->out, i ? ", ..." : "...");
      type_print_var(p, wick_ty_of(a->rest));
    }
    if (i == a->ndim) break;
    if (i || (a->rest && !a->front)) wick_text_add(p->out, ", ");
    wick_ty_print_dim(p, a->dim[i]);
  }
}

void wick_ty_print(wick_ty_printer *p, wick_ty *x)
{
  wick_ty *a = wick_ty_of(x);
  wick_text *out = p->out;
  if (out->n > 4000) return; /* of a message */
  switch (a->kind) {
  case WICK_TY_ERROR: wick_text_add(out, "?"); break;
  case WICK_TY_VAR:
    if (a->sort == WICK_SORT_SHAPE) wick_text_add(out, "...");
    type_print_var(p, a);
    break;
  case WICK_TY_TENSOR: {
    const wick_ty *s = wick_ty_flat(p->t, a->arg[1]);
    wick_ty_print(p, a->arg[0]);
    if (s->kind == WICK_TY_SHAPE && !s->ndim && !s->rest) break;
    wick_text_char(out, '[');
    type_print_shape(p, a->arg[1]);
    wick_text_char(out, ']');
    break;
  }
  case WICK_TY_ELEM: wick_text_add(out, wick_elem_name(a->elem)); break;
  case WICK_TY_SHAPE: type_print_shape(p, a); break;
  case WICK_TY_SIZE: wick_ty_print_dim(p, a->size); break;
  case WICK_TY_TUPLE:
    wick_text_char(out, '(');
    type_print_list(p, a->arg, a->n);
    wick_text_add(out, a->n == 1 ? ",)" : ")");
    break;
  case WICK_TY_FN:
    wick_text_add(out, "fn(");
    type_print_list(p, a->arg, a->n - 1);
    wick_text_add(out, ") -> ");
    wick_ty_print(p, a->arg[a->n - 1]);
    break;
  case WICK_TY_DATA:
  case WICK_TY_REF:
  case WICK_TY_COT:
    wick_text_add(out, a->kind == WICK_TY_DATA  ? a->data->name
                       : a->kind == WICK_TY_REF ? "Ref"
                                                : "Cotangent");
    if (!a->n) break;
    wick_text_char(out, '[');
    type_print_list(p, a->arg, a->n);
    wick_text_char(out, ']');
  }
}

const char *wick_ty_text(wick_types *t, wick_ty *a)
{
  wick_text out = wick_text_begin(t->mem);
  wick_ty_printer p = {.t = t, .out = &out, .words = true};
  wick_ty_print(&p, a);
  return out.at;
}
