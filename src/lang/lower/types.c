/* Types of the language as types of the graph. */
#include "lang/lower/state.h"

enum { TYPES_DEEPEST = 200 };

/* Of the cotangents of a struct, too. */
static const wick_ty *types_struct(const wick_ty *t)
{
  if (t->kind == WICK_TY_COT) t = wick_ty_of(t->arg[0]);
  return t->kind == WICK_TY_DATA && t->data->kind == WICK_ENTITY_STRUCT ? t : NULL;
}

bool wick_lowering_is_items(const wick_ty *t)
{
  return t->kind == WICK_TY_TUPLE || types_struct(t);
}

uint32_t wick_lowering_nitem(const wick_ty *type)
{
  const wick_ty *t = types_struct(type);
  return t ? t->data->ctor[0]->decl->nkid : type->kind == WICK_TY_TUPLE ? type->n : 0;
}

wick_ty *wick_lowering_item(lowering *s, wick_ty *type, uint32_t i)
{
  if (type->kind == WICK_TY_TUPLE) return wick_ty_of(type->arg[i]);
  wick_ty *t = type->kind == WICK_TY_COT ? wick_ty_of(type->arg[0]) : type,
          *field = wick_ty_of(wick_lang_field_type(s->t, t, 0, i));
  return t == type ? field : wick_lowering_cotangent(s, field);
}

/* Chooses a type for what nothing depends on. */
static wick_ty *types_known(lowering *s, wick_ty *type)
{
  wick_ty *a = wick_ty_of(type);
  if (a->kind != WICK_TY_VAR || a->rigid || a->level == WICK_TY_GENERIC) return a;
  if (a->sort == WICK_SORT_ELEM)
    a->link = s->t->elem[a->elems & WICK_BIT(WICK_I64) && a->literal != 2 ? WICK_I64 : WICK_F32];
  else
    a->link = a->sort == WICK_SORT_SHAPE ? s->t->scalar_shape : s->t->unit;
  return a->link;
}

static bool types_dim(lowering *s, wick_dim d, wick_dim *out)
{
  *out = wick_ty_dim(s->t, d);
  return !wick_dim_eq(*out, s->t->any);
}

static bool types_shape(lowering *s, wick_ty *tensor, uint32_t *rank, wick_dim *dim)
{
  wick_ty *shape = wick_ty_flat(s->t, tensor->arg[1]);
  while (shape->kind == WICK_TY_SHAPE && shape->rest) {
    types_known(s, shape->rest);
    shape = wick_ty_flat(s->t, shape);
  }
  if (shape->kind == WICK_TY_VAR) shape = types_known(s, shape);
  if (shape->kind != WICK_TY_SHAPE || shape->ndim > WICK_MAX_RANK) return false;
  *rank = shape->ndim;
  for (uint32_t i = 0; i < shape->ndim; i++)
    if (!types_dim(s, shape->dim[i], &dim[i])) return false;
  return true;
}

static wick_type types_nothing(lowering *s, wick_lang_at at, wick_ty *type, const char *why)
{
  wick_lowering_fail(s, at, "a value of type %s %s", wick_ty_text(s->t, type), why);
  return (wick_type){0};
}

static bool types_is_taken(lowering *s, const char *name)
{
  for (uint32_t i = 1; i < s->module->data.n; i++)
    if (strcmp(s->module->data.at[i].name, name) == 0) return true;
  return false;
}

/* The data type of the graph, which is defined when it is first asked for. Cotangents have the
 * constructors in the same order, with the cotangents of the fields. */
static wick_type types_data(lowering *s, wick_lang_at at, wick_ty *type)
{
  bool cot = type->kind == WICK_TY_COT;
  wick_ty *t = cot ? wick_ty_of(type->arg[0]) : type;
  wick_text key = wick_text_begin(s->tmp);
  wick_lowering_type_key(s, type, &key);
  for (uint32_t i = 0; i < s->datas.n; i++)
    if (strcmp(s->datas.at[i].key, key.at) == 0) return s->datas.at[i].type;
  if (t->kind != WICK_TY_DATA) return types_nothing(s, at, type, "cannot be compiled yet");
  const char *base = wick_ty_text(s->t, type), *name = base;
  for (uint32_t k = 2; types_is_taken(s, name); k++)
    name = wick_str_printf(s->tmp, "%s.%u", base, k);
  lowering_data d = {key.at, wick_data_type(s->module, name)};
  wick_push(s->tmp, &s->datas, d);
  wick_ctor *ctor = wick_new(s->tmp, wick_ctor, t->data->nctor);
  for (uint32_t k = 0; k < t->data->nctor && !s->failed; k++) {
    lowering_types field = {0};
    lowering_parts part = {0};
    uint32_t n = t->data->ctor[k]->decl->nkid;
    wick_push(s->tmp, &part, ((wick_part){.name = "", .type = "", .nitem = n}));
    for (uint32_t i = 0; i < n; i++) {
      wick_ty *a = wick_ty_of(wick_lang_field_type(s->t, t, k, i));
      if (cot) a = wick_lowering_cotangent(s, a);
      wick_lowering_types(s, at, a, &field);
      wick_lowering_parts(s, a, "", &part);
    }
    ctor[k] = (wick_ctor){t->data->ctor[k]->name, field.n, field.at, part.n, part.at};
  }
  if (!s->failed) wick_data_define(s->module, d.type, t->data->nctor, ctor);
  return d.type;
}

static wick_type types_fn(lowering *s, wick_lang_at at, const wick_ty *type)
{
  lowering_types take = {0}, give = {0};
  for (uint32_t i = 0; i + 1 < type->n; i++) wick_lowering_types(s, at, type->arg[i], &take);
  wick_lowering_types(s, at, type->arg[type->n - 1], &give);
  return s->failed ? (wick_type){0} : wick_type_fn(s->module, take.n, take.at, give.n, give.at);
}

wick_type wick_lowering_type(lowering *s, wick_lang_at at, wick_ty *type)
{
  wick_ty *a = types_known(s, type);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank;
  if (a->kind == WICK_TY_TENSOR) {
    const wick_ty *e = types_known(s, a->arg[0]);
    if (e->kind != WICK_TY_ELEM || !types_shape(s, a, &rank, dim))
      return types_nothing(s, at, a,
                           "has a size that only the running program knows; compiled functions "
                           "cannot have it yet");
    return wick_type_tensor(s->module, e->elem, rank, dim);
  }
  if (a->kind == WICK_TY_DATA || a->kind == WICK_TY_COT) return types_data(s, at, a);
  if (a->kind == WICK_TY_FN) return types_fn(s, at, a);
  if (a->kind == WICK_TY_REF) {
    lowering_types held = {0};
    wick_lowering_types(s, at, a->arg[0], &held);
    return s->failed ? (wick_type){0} : wick_type_ref(s->module, held.n, held.at);
  }
  return types_nothing(s, at, a, "cannot be compiled yet");
}

static void types_add(lowering *s, wick_lang_at at, wick_ty *type, uint32_t depth,
                      lowering_types *out)
{
  wick_ty *a = types_known(s, type);
  if (s->failed) return;
  if (depth > TYPES_DEEPEST) {
    types_nothing(s, at, a, "would contain itself");
    return;
  }
  if (!wick_lowering_is_items(a)) {
    wick_push(s->tmp, out, wick_lowering_type(s, at, a));
    return;
  }
  for (uint32_t i = 0; i < wick_lowering_nitem(a); i++)
    types_add(s, at, wick_lowering_item(s, a, i), depth + 1, out);
}

void wick_lowering_types(lowering *s, wick_lang_at at, wick_ty *type, lowering_types *out)
{
  types_add(s, at, type, 0, out);
}

static void types_parts(lowering *s, wick_ty *type, const char *name, uint32_t depth,
                        lowering_parts *out)
{
  wick_ty *a = wick_ty_of(type);
  const wick_ty *as = types_struct(a);
  wick_part p = {.name = name, .type = as ? as->data->name : ""};
  p.leaf = !wick_lowering_is_items(a) || depth > TYPES_DEEPEST;
  if (!p.leaf) p.nitem = wick_lowering_nitem(a);
  wick_push(s->tmp, out, p);
  for (uint32_t i = 0; i < p.nitem; i++)
    types_parts(s, wick_lowering_item(s, a, i), as ? as->data->ctor[0]->decl->kid[i]->name : "",
                depth + 1, out);
}

void wick_lowering_parts(lowering *s, wick_ty *type, const char *name, lowering_parts *out)
{
  types_parts(s, type, name, 0, out);
}

typedef wick_list(const wick_lang_entity *) types_seen;

static bool types_all_floats(lowering *s, wick_ty *type, types_seen *seen)
{
  const wick_ty *a = wick_ty_of(type);
  bool all = true;
  if (a->kind == WICK_TY_TENSOR) return wick_elem_is_float(wick_ty_of(a->arg[0])->elem);
  if (a->kind == WICK_TY_TUPLE)
    for (uint32_t i = 0; i < a->n; i++) all = all && types_all_floats(s, a->arg[i], seen);
  if (a->kind == WICK_TY_TUPLE) return all;
  if (a->kind != WICK_TY_DATA) return false;
  for (uint32_t i = 0; i < seen->n; i++)
    if (seen->at[i] == a->data) return true;
  wick_push(s->tmp, seen, a->data);
  for (uint32_t k = 0; k < a->data->nctor; k++)
    for (uint32_t i = 0; i < a->data->ctor[k]->decl->nkid && all; i++)
      all = types_all_floats(s, wick_lang_field_type(s->t, type, k, i), seen);
  return all;
}

wick_ty *wick_lowering_cotangent(lowering *s, wick_ty *type)
{
  wick_ty *a = wick_ty_of(type);
  types_seen seen = {0};
  if (a->kind == WICK_TY_TUPLE) {
    wick_ty **item = wick_new(s->tmp, wick_ty *, a->n);
    for (uint32_t i = 0; i < a->n; i++) item[i] = wick_lowering_cotangent(s, a->arg[i]);
    return wick_ty_new(s->t, WICK_TY_TUPLE, a->n, item);
  }
  if (a->kind == WICK_TY_FN || a->kind == WICK_TY_REF) return s->t->unit;
  if (a->kind == WICK_TY_COT) return a;
  if (types_all_floats(s, a, &seen)) return a;
  return a->kind == WICK_TY_TENSOR ? s->t->unit : wick_ty_new(s->t, WICK_TY_COT, 1, &a);
}

wick_ty *wick_lowering_ty(lowering *s, wick_type type)
{
  const wick_type_info *i = wick_type_get(s->module, type);
  return wick_ty_tensor(s->t, s->t->elem[i->elem],
                        wick_ty_shape(s->t, i->rank, i->dim, i->rank, NULL));
}

static bool types_any(lowering *s, wick_ty *type, uint32_t depth, bool fn)
{
  wick_ty *a = types_known(s, type);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank;
  if (a->kind == WICK_TY_FN) return fn;
  if (a->kind == WICK_TY_TENSOR && !fn) return !types_shape(s, a, &rank, dim);
  if (!wick_lowering_is_items(a) || depth > TYPES_DEEPEST) return false;
  for (uint32_t i = 0; i < wick_lowering_nitem(a); i++)
    if (types_any(s, wick_lowering_item(s, a, i), depth + 1, fn)) return true;
  return false;
}

bool wick_lowering_has_fn(lowering *s, wick_ty *type) { return types_any(s, type, 0, true); }

bool wick_lowering_is_concrete(lowering *s, wick_ty *type) { return !types_any(s, type, 0, false); }

bool wick_lowering_has_type(lowering *s, wick_ty *type)
{
  wick_ty *a = wick_ty_of(type);
  bool known = a->kind != WICK_TY_VAR && a->kind != WICK_TY_ERROR;
  if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(s->t, a);
    known = !a->rest;
    for (uint32_t i = 0; i < a->ndim; i++)
      known = known && wick_dim_is_const(wick_ty_dim(s->t, a->dim[i]));
  }
  if (a->kind == WICK_TY_SIZE) known = wick_dim_is_const(wick_ty_dim(s->t, a->size));
  for (uint32_t i = 0; i < a->n && known; i++) known = wick_lowering_has_type(s, a->arg[i]);
  return known;
}

void wick_lowering_type_key(lowering *s, wick_ty *type, wick_text *out)
{
  wick_ty *a = wick_ty_of(type);
  if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(s->t, a);
    for (uint32_t i = 0; i < a->ndim; i++)
      wick_text_printf(out, "%lld,", (long long)wick_ty_dim(s->t, a->dim[i]).v);
    if (a->rest) wick_lowering_type_key(s, a->rest, out);
    return;
  }
  wick_text_printf(out, "%d", (int)a->kind);
  if (a->kind == WICK_TY_ELEM) wick_text_printf(out, ".%d", (int)a->elem);
  if (a->kind == WICK_TY_SIZE)
    wick_text_printf(out, ".%lld", (long long)wick_ty_dim(s->t, a->size).v);
  if (a->kind == WICK_TY_DATA) wick_text_printf(out, ".%p", (const void *)a->data);
  wick_text_char(out, '(');
  for (uint32_t i = 0; i < a->n; i++) wick_lowering_type_key(s, a->arg[i], out);
  wick_text_char(out, ')');
}
