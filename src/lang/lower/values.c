/* Values: tensors, tuples, known functions, and their parts. */
#include "lang/lower/state.h"

lowered *wick_lowering_new(lowering *s, lowered_kind kind, wick_ty *type, uint32_t n)
{
  lowered *x = wick_new(s->tmp, lowered, 1);
  *x = (lowered){.kind = kind, .type = type ? wick_ty_of(type) : NULL, .n = n};
  if (n) x->item = wick_new(s->tmp, const lowered *, n);
  return x;
}

const lowered *wick_lowering_one(lowering *s, lowering_frame *f, wick_value v, wick_ty *type)
{
  lowered *x = wick_lowering_new(s, LOWERED_ONE, type, 0);
  x->v = v, x->in = wick_built_type(f->b, v);
  return x;
}

const lowered *wick_lowering_formal(lowering *s, wick_lang_at at, wick_ty *type)
{
  lowering_types types = {0};
  uint32_t n = wick_lowering_nitem(type);
  if (!wick_lowering_is_items(type)) {
    lowered *x = wick_lowering_new(s, LOWERED_ONE, type, 0);
    x->in = wick_lowering_type(s, at, type);
    return x;
  }
  wick_lowering_types(s, at, type, &types); /* fails if the type contains itself */
  lowered *x = wick_lowering_new(s, LOWERED_ITEMS, type, s->failed ? 0 : n);
  for (uint32_t i = 0; i < x->n; i++)
    x->item[i] = wick_lowering_formal(s, at, wick_lowering_item(s, type, i));
  return x;
}

const lowered *wick_lowering_unit(lowering *s)
{
  return wick_lowering_new(s, LOWERED_ITEMS, s->t->unit, 0);
}

const lowered *wick_lowering_tensor(lowering *s, lowering_frame *f, wick_value v)
{
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_one(s, f, v, wick_lowering_ty(s, wick_built_type(f->b, v)));
}

void wick_lowering_flatten(lowering *s, const lowered *x, lowering_values *out)
{
  if (x->kind == LOWERED_ONE) wick_push(s->tmp, out, x->v);
  for (uint32_t i = 0; i < x->n; i++) wick_lowering_flatten(s, x->item[i], out);
}

const lowered *wick_lowering_unflatten(lowering *s, lowering_frame *f, wick_ty *type,
                                       wick_value *next)
{
  wick_ty *a = wick_ty_of(type);
  if (!wick_lowering_is_items(a)) {
    wick_value v = {next->id++};
    bool tensor = a->kind == WICK_TY_TENSOR;
    return wick_lowering_one(s, f, v, tensor ? wick_lowering_ty(s, wick_built_type(f->b, v)) : a);
  }
  uint32_t n = wick_lowering_nitem(a);
  lowered *x = wick_lowering_new(s, LOWERED_ITEMS, a, n);
  for (uint32_t i = 0; i < n; i++)
    x->item[i] = wick_lowering_unflatten(s, f, wick_lowering_item(s, a, i), next);
  return x;
}

const lowered *wick_lowering_replaced(lowering *s, const lowered *x, wick_value *next)
{
  lowered *y = wick_dup(s->tmp, lowered, x, 1);
  if (x->kind == LOWERED_ONE) y->v = (wick_value){next->id++};
  y->item = wick_new(s->tmp, const lowered *, x->n);
  for (uint32_t i = 0; i < x->n; i++) y->item[i] = wick_lowering_replaced(s, x->item[i], next);
  return y;
}

/* A function value of the graph: an instance that takes and gives values alone. */
static const lowered *values_closure(lowering *s, lowering_frame *f, wick_lang_at at,
                                     const lowered *x, wick_ty *type)
{
  lowering_values in = {0};
  uint32_t narg = type->n - 1;
  const lowered **arg = wick_new(s->tmp, const lowered *, narg);
  for (uint32_t i = 0; i < narg && !s->failed; i++)
    arg[i] = wick_lowering_formal(s, at, wick_ty_of(type->arg[i]));
  const lowered *inner = s->failed ? x : wick_lowering_captured_plain(s, f, at, x);
  if (s->failed) return x;
  lowering_instance *i =
      wick_lowering_instance(s, f, at, inner, narg, arg, NULL, type->arg[narg], true);
  wick_type t = i ? wick_lowering_type(s, at, type) : (wick_type){0};
  if (s->failed) return x;
  wick_lowering_flatten(s, inner, &in);
  wick_attr callee = {.s = i->name};
  wick_lowering_at(s, f, at);
  wick_value v = wick_build(f->b, WICK_OP_closure, in.n, in.at, &callee, 1, &t);
  return wick_lowering_ok(s, f) ? wick_lowering_one(s, f, v, type) : x;
}

const lowered *wick_lowering_captured_plain(lowering *s, lowering_frame *f, wick_lang_at at,
                                            const lowered *x)
{
  if (!wick_lowering_is_nested(x)) return x;
  lowered *y = wick_dup(s->tmp, lowered, x, 1);
  y->item = wick_new(s->tmp, const lowered *, x->n);
  for (uint32_t i = 0; i < x->n && !s->failed; i++)
    y->item[i] =
        x->item[i]->type ? wick_lowering_plain(s, f, at, x->item[i], x->item[i]->type) : x->item[i];
  return y;
}

const lowered *wick_lowering_as_known(lowering *s, lowering_frame *f, const lowered *x)
{
  if (x->kind != LOWERED_ONE || x->type->kind != WICK_TY_FN) return x;
  const lowered_code code = {.applies = true, .typed = f->typed};
  lowered *y = wick_lowering_new(s, LOWERED_FN, x->type, 1);
  y->item[0] = x;
  y->code = wick_dup(s->tmp, lowered_code, &code, 1);
  return y;
}

const lowered *wick_lowering_plain(lowering *s, lowering_frame *f, wick_lang_at at,
                                   const lowered *x, wick_ty *type)
{
  wick_ty *a = type ? wick_ty_of(type) : x->type;
  if (s->failed || x->kind == LOWERED_ONE) return x;
  if (x->kind == LOWERED_FN && a && a->kind == WICK_TY_FN) return values_closure(s, f, at, x, a);
  if (x->kind == LOWERED_FN)
    return wick_lowering_fail(s, at, "the type of this function value is not known");
  lowered *y = wick_lowering_new(s, LOWERED_ITEMS, x->type, x->n);
  for (uint32_t i = 0; i < x->n; i++)
    y->item[i] = wick_lowering_plain(s, f, at, x->item[i], wick_lowering_item(s, a, i));
  return y;
}

void wick_lowering_key(lowering *s, const lowered *x, wick_text *out)
{
  if (x->kind == LOWERED_ONE) wick_text_printf(out, "%%%u", x->in.id);
  if (x->kind == LOWERED_FN) {
    wick_text_printf(out, "@%p,%p,%p,%p,%u", (const void *)x->code->entity,
                     (const void *)x->code->node, (const void *)x->code->typed,
                     (const void *)x->code->rest, x->code->half);
    if (x->type) wick_lowering_type_key(s, x->type, out);
  }
  wick_text_char(out, '(');
  for (uint32_t i = 0; i < x->n; i++) wick_lowering_key(s, x->item[i], out);
  wick_text_char(out, ')');
}

/* ---- what literals capture ---- */

static void values_mark(const wick_ast *n, uint8_t *mark, uint8_t bound)
{
  bool binds = n->kind == WICK_AST_PARAM || n->kind == WICK_AST_BIND;
  const wick_lang_entity *e = n->ref;
  if (binds && e) mark[e->number] |= bound;
  if (n->kind == WICK_AST_NAME && e && e->kind == WICK_ENTITY_LOCAL) mark[e->number] |= 1;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) values_mark(n->kid[i], mark, bound);
}

static void values_locals(lowering *s, const wick_ast *n, const uint8_t *mark, uint8_t *seen,
                          wick_lang_entity ***out, uint32_t *count)
{
  wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  if (e && e->kind == WICK_ENTITY_LOCAL && mark[e->number] == 1 && !seen[e->number] && !e->fixed) {
    seen[e->number] = 1;
    (*out)[(*count)++] = e;
  }
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) values_locals(s, n->kid[i], mark, seen, out, count);
}

/* A known function with the code c, which has these values, then the locals that its parts read. */
static lowered *values_capturing(lowering *s, lowering_frame *f, lowered_code c, uint32_t npart,
                                 wick_ast *const *part, const lowered *const *x)
{
  const wick_lang_entity *item = f->typed->entity;
  uint8_t *mark = wick_new(s->tmp, uint8_t, item->number + 1u),
          *seen = wick_new(s->tmp, uint8_t, item->number + 1u);
  wick_lang_entity **list = wick_new(s->tmp, wick_lang_entity *, item->number + 1u);
  for (uint32_t i = 0; i < npart; i++) values_mark(part[i], mark, 2);
  for (uint32_t i = 0; i < npart; i++) values_locals(s, part[i], mark, seen, &list, &c.ncaptured);
  c.typed = f->typed, c.captured = list;
  lowered *y = wick_lowering_new(s, LOWERED_FN, NULL, c.nmatched + c.ncaptured);
  for (uint32_t i = 0; i < c.nmatched; i++) y->item[i] = x[i];
  for (uint32_t i = 0; i < c.ncaptured; i++) y->item[c.nmatched + i] = f->local[list[i]->number];
  y->code = wick_dup(s->tmp, lowered_code, &c, 1);
  return y;
}

const lowered *wick_lowering_literal(lowering *s, lowering_frame *f, wick_ast *n, wick_ty *type)
{
  lowered *x = values_capturing(s, f, (lowered_code){.node = n}, 1, &n, NULL);
  x->type = type;
  return x;
}

const lowered *wick_lowering_rest(lowering *s, lowering_frame *f, wick_ast *match,
                                  const matches_rest *rest, uint32_t n, const lowered *const *x)
{
  lowered_code c = {.node = match, .rest = rest, .nmatched = n};
  return values_capturing(s, f, c, match->nkid - 1, match->kid + 1, x);
}

static uint32_t values_nested(const lowered *x, const wick_ast *n)
{
  uint32_t most = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t k = values_nested(x->item[i], n);
    most = k > most ? k : most;
  }
  return most + (x->kind == LOWERED_FN && x->code->node == n);
}

bool wick_lowering_is_nested(const lowered *x)
{
  enum { MOST = 3 };
  if (x->kind == LOWERED_FN && x->code->node && values_nested(x, x->code->node) > MOST) return true;
  for (uint32_t i = 0; i < x->n; i++)
    if (wick_lowering_is_nested(x->item[i])) return true;
  return false;
}
