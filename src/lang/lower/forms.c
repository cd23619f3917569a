/* The functions of the language. */
#include "lang/lower/state.h"

/* ---- sizes ---- */

static const lowered *forms_len(lowering *s, lowering_frame *f, const wick_ast *n, const lowered *x)
{
  wick_dim d = wick_built_info(f->b, x->v)->dim[0];
  (void)n;
  return wick_lowering_size(s, f, d);
}

/* ---- references ---- */

static const lowered *forms_ref(lowering *s, lowering_frame *f, const wick_ast *n, const lowered *x)
{
  lowering_values in = {0};
  wick_ty *type = wick_ty_of(f->typed->type[n->id]);
  wick_lowering_flatten(s, wick_lowering_plain(s, f, n->at, x, type->arg[0]), &in);
  if (s->failed) return wick_lowering_unit(s);
  wick_value v = wick_build(f->b, WICK_OP_ref_new, in.n, in.at, NULL, 0, NULL);
  return wick_lowering_ok(s, f) ? wick_lowering_one(s, f, v, type) : wick_lowering_unit(s);
}

const lowered *wick_lowering_read(lowering *s, lowering_frame *f, const lowered *r)
{
  wick_value v = wick_build(f->b, WICK_OP_ref_get, 1, &r->v, NULL, 0, NULL);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_unflatten(s, f, r->type->arg[0], &v);
}

static const lowered *forms_write(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *r, const lowered *x)
{
  lowering_values in = {0};
  wick_push(s->tmp, &in, r->v);
  wick_lowering_flatten(s, wick_lowering_plain(s, f, n->at, x, r->type->arg[0]), &in);
  if (!s->failed) wick_build(f->b, WICK_OP_ref_set, in.n, in.at, NULL, 0, NULL);
  (void)wick_lowering_ok(s, f);
  return wick_lowering_unit(s);
}

/* ---- calls ---- */

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

static const lowered *forms_constant(lowering *s, lowering_frame *f, wick_ast *n,
                                     wick_lang_entity *form, const lowered *x)
{
  const lowered *all = forms_function(s, f, n, form, 0, NULL);
  if (x->kind == LOWERED_ONE && x->type->kind != WICK_TY_TENSOR && x->type->kind != WICK_TY_DATA)
    return wick_lowering_fail(s, n->at, "`stop_gradient` takes tensors, structures and data");
  return wick_lowering_map(s, f, n, all, 1, &x);
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
  case WICK_FORM_REF: return forms_ref(s, f, n, arg[0]);
  case WICK_FORM_READ: return wick_lowering_read(s, f, arg[0]);
  case WICK_FORM_WRITE: return forms_write(s, f, n, arg[0], arg[1]);
  case WICK_FORM_PRINT:
  case WICK_FORM_ASSERT: return wick_lowering_say(s, f, n, form, narg, arg);
  case WICK_FORM_STOP_GRADIENT: return forms_constant(s, f, n, form, arg[0]);
  case WICK_FORM_MAP_TENSORS:
  case WICK_FORM_ZIP_TENSORS: {
    lowered *leaf = wick_dup(s->tmp, lowered, arg[0], 1); /* each tensor decides its type */
    leaf->type = NULL, arg[0] = leaf;
    return wick_lowering_map(s, f, n, forms_function(s, f, n, form, 1, arg), narg - 1, arg + 1);
  }
  default: return forms_function(s, f, n, form, narg, arg);
  }
}
