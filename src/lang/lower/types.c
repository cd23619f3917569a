/* Types of the language as types of the graph. */
#include "lang/lower/state.h"

enum { TYPES_DEEPEST = 200 };

uint32_t wick_lowering_nitem(const wick_ty *type)
{
  if (type->kind == WICK_TY_TUPLE) return type->n;
  return type->kind == WICK_TY_DATA ? type->data->ctor[0]->decl->nkid : 0;
}

wick_ty *wick_lowering_item(lowering *s, wick_ty *type, uint32_t i)
{
  return wick_ty_of(type->kind == WICK_TY_TUPLE ? type->arg[i]
                                                : wick_lang_field_type(s->t, type, 0, i));
}

static bool types_is_struct(const wick_ty *t)
{
  return t->kind == WICK_TY_DATA && t->data->kind == WICK_ENTITY_STRUCT;
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

static wick_type types_data(lowering *s, wick_lang_at at, wick_ty *type)
{
  wick_text key = wick_text_begin(s->tmp);
  wick_lowering_type_key(s, type, &key);
  for (uint32_t i = 0; i < s->datas.n; i++)
    if (strcmp(s->datas.at[i].key, key.at) == 0) return s->datas.at[i].type;
  return types_nothing(s, at, type, "cannot be compiled yet");
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
  if (a->kind == WICK_TY_DATA) return types_data(s, at, a);
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
  if (a->kind != WICK_TY_TUPLE && !types_is_struct(a)) {
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
  if ((a->kind != WICK_TY_TUPLE && !types_is_struct(a)) || depth > TYPES_DEEPEST) return false;
  for (uint32_t i = 0; i < wick_lowering_nitem(a); i++)
    if (types_any(s, wick_lowering_item(s, a, i), depth + 1, fn)) return true;
  return false;
}

bool wick_lowering_has_fn(lowering *s, wick_ty *type) { return types_any(s, type, 0, true); }

bool wick_lowering_is_concrete(lowering *s, wick_ty *type) { return !types_any(s, type, 0, false); }

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
