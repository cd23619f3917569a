/* The functions of the language. */
#include "lang/lower/state.h"

/* ---- map_tensors, zip_tensors ---- */

static const lowered *forms_map(lowering *s, lowering_frame *f, const wick_ast *n,
                                const lowered *fn, uint32_t narg, const lowered *const *arg)
{
  const lowered *x = arg[0];
  if (s->failed) return x;
  for (uint32_t i = 1; i < narg; i++) /* the cotangent of an integer is () */
    if (x->kind == LOWERED_ONE && arg[i]->kind == LOWERED_ITEMS) return x;
  if (x->kind == LOWERED_ONE && x->type->kind == WICK_TY_TENSOR)
    return wick_lowering_call(s, f, n, fn, narg, arg, NULL, NULL);
  if (x->kind != LOWERED_ITEMS)
    return wick_lowering_fail(s, n->at, "data types and functions cannot be mapped yet");
  lowered *y = wick_lowering_new(s, LOWERED_ITEMS, x->type, x->n);
  wick_ty **type = wick_new(s->tmp, wick_ty *, x->n);
  const lowered **part = wick_new(s->tmp, const lowered *, narg);
  for (uint32_t k = 0; k < x->n && !s->failed; k++) {
    for (uint32_t i = 0; i < narg; i++) {
      if (arg[i]->n != x->n)
        return wick_lowering_fail(s, n->at, "the structures have different forms");
      part[i] = arg[i]->item[k];
    }
    y->item[k] = forms_map(s, f, n, fn, narg, part);
    type[k] = y->item[k]->type;
  }
  if (x->type->kind == WICK_TY_TUPLE) y->type = wick_ty_new(s->t, WICK_TY_TUPLE, x->n, type);
  return y;
}

/* ---- all ---- */

static const lowered *forms_len(lowering *s, lowering_frame *f, const wick_ast *n, const lowered *x)
{
  wick_dim d = wick_built_info(f->b, x->v)->dim[0];
  if (!wick_dim_is_const(d))
    return wick_lowering_fail(s, n->at, "this size is not known when the program is compiled");
  return wick_lowering_tensor(s, f, wick_lowering_number(s, f, WICK_I64, 0, d.v));
}

static uint32_t forms_arguments(lowering *s, lowering_frame *f, const wick_ast *n,
                                const lowered **out)
{
  uint32_t count = 0;
  for (uint32_t i = 1; i < n->nkid && !s->failed; i++)
    if (n->kid[i]->kind != WICK_AST_NAMED) out[count++] = wick_lowering_expr(s, f, n->kid[i]);
  return count;
}

/* A function that a transformation gives: it has captured the function that it transforms, and
 * further arguments. */
static const lowered *forms_function(lowering *s, lowering_frame *f, wick_ast *n,
                                     wick_lang_entity *form, uint32_t narg,
                                     const lowered *const *arg)
{
  lowered *x = wick_lowering_new(s, LOWERED_FN, f->typed->type[n->id], narg);
  lowered_code code = {.entity = form, .node = n, .typed = f->typed};
  for (uint32_t i = 0; i < narg; i++) x->item[i] = arg[i];
  x->code = wick_dup(s->tmp, lowered_code, &code, 1);
  return x;
}

const lowered *wick_lowering_form(lowering *s, lowering_frame *f, wick_ast *n,
                                  wick_lang_entity *form)
{
  const lowered **arg = wick_new(s->tmp, const lowered *, n->nkid + 1u);
  uint32_t narg = forms_arguments(s, f, n, arg);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  switch (form->form) {
  case WICK_FORM_SQUARE: {
    wick_value v[2] = {arg[0]->v, arg[0]->v};
    return wick_lowering_op(s, f, WICK_OP_mul, 2, v, NULL);
  }
  case WICK_FORM_LEN: return forms_len(s, f, n, arg[0]);
  case WICK_FORM_MAP_TENSORS:
  case WICK_FORM_ZIP_TENSORS: {
    lowered *fn = wick_dup(s->tmp, lowered, arg[0], 1); /* each tensor decides its type */
    fn->type = NULL;
    return forms_map(s, f, n, fn, narg - 1, arg + 1);
  }
  case WICK_FORM_SPECIALIZE: return forms_function(s, f, n, form, narg, arg);
  default: return wick_lowering_fail(s, n->at, "`%s` cannot be compiled yet", form->name);
  }
}

const lowered *wick_lowering_transformed(lowering *s, lowering_frame *f, const wick_ast *n,
                                         const lowered *fn, uint32_t narg,
                                         const lowered *const *arg, wick_ty *result)
{
  const lowered **all = wick_new(s->tmp, const lowered *, fn->n + narg);
  for (uint32_t i = 1; i < fn->n; i++) all[i - 1] = fn->item[i];
  for (uint32_t i = 0; i < narg; i++) all[fn->n - 1 + i] = arg[i];
  return wick_lowering_call(s, f, n, fn->item[0], fn->n - 1 + narg, all, NULL, result);
}
