/* Calls in index notation. A function of the program is called for each combination of the indices
 * that its arguments depend on, by the transformation `vmap`. */
#include "lang/lower/notation.h"

static notation_value notation_function(notation *c, wick_ast *n)
{
  lowering *s = c->s;
  notation_value *arg = wick_new(s->tmp, notation_value, n->nkid), all = {0};
  const lowered **in = wick_new(s->tmp, const lowered *, n->nkid);
  int64_t *axis = wick_new(s->tmp, int64_t, n->nkid);
  wick_dim dim[WICK_MAX_RANK], numel = wick_dim_const(1);
  /* All elements are computed, also those whose condition does not hold: there it might not end. */
  if (c->nguard)
    return wick_notation_fail(c, n,
                              "index notation calls no functions in a branch: put the "
                              "condition into the function");
  for (uint32_t i = 1; i < n->nkid; i++) {
    if (n->kid[i]->kind == WICK_AST_NAMED)
      return wick_notation_fail(c, n->kid[i],
                                "index notation calls functions without the names of "
                                "their parameters");
    arg[i] = wick_notation_expr(c, n->kid[i]);
    for (uint32_t k = 0; k < arg[i].n; k++) wick_notation_add(c, &all, arg[i].index[k]);
    if (!wick_lowering_ok(s, c->f)) return all;
  }
  for (uint32_t i = 0; i < all.n; i++) {
    dim[i] = wick_notation_size(c, all.index[i]);
    numel = wick_dim_mul(s->t->dims, numel, dim[i]);
  }
  wick_lowering_at(s, c->f, n->at);
  for (uint32_t i = 1; i < n->nkid; i++) {
    wick_value v =
        arg[i].n ? wick_notation_spread(c, &arg[i], &all) : wick_notation_built(c, &arg[i]);
    if (arg[i].n) v = wick_build_reshape(c->f->b, v, 1, &numel);
    axis[i - 1] = arg[i].n ? 0 : -1;
    in[i - 1] = wick_lowering_tensor(s, c->f, v);
  }
  lowered_code code = {.entity = n->kid[0]->ref};
  lowered known = {.kind = LOWERED_FN, .code = wick_dup(s->tmp, lowered_code, &code, 1)};
  const lowered *fn = wick_dup(s->tmp, lowered, &known, 1), *y = NULL;
  if (s->failed) return all;
  if (all.n)
    y = wick_lowering_rows(s, c->f, n, fn, n->nkid - 1, in, axis);
  else /* of numbers, as sums over all indices are */
    y = wick_lowering_call(s, c->f, n, fn, n->nkid - 1, in, NULL, c->f->typed->type[n->id]);
  if (s->failed) return all;
  if (y->kind != LOWERED_ONE || wick_built_info(c->f->b, y->v)->rank != (all.n > 0))
    return wick_notation_fail(c, n, "index notation calls functions whose result is a number");
  all.v = all.n ? wick_build_reshape(c->f->b, y->v, all.n, dim) : y->v;
  return all;
}

notation_value wick_notation_call(notation *c, wick_ast *n)
{
  notation_value arg[8] = {0};
  wick_attr attr[WICK_MAX_ATTR];
  uint32_t narg = 0;
  wick_elem to = WICK_F32;
  const wick_lang_entity *e = n->kid[0]->kind == WICK_AST_NAME ? n->kid[0]->ref : NULL;
  bool square = e && e->kind == WICK_ENTITY_FORM && e->form == WICK_FORM_SQUARE,
       cast = e && wick_lowering_converts(c->f, e, &to),
       scalar = e && e->kind == WICK_ENTITY_OPERATOR && wick_ops[e->op]->scalar &&
                !wick_ops[e->op]->typed && n->nkid <= 9;
  if (e && e->kind == WICK_ENTITY_FN) return notation_function(c, n);
  if (!square && !cast && !scalar)
    return wick_notation_fail(
        c, n->kid[0],
        "index notation can only call element-wise operators and functions of "
        "the program");
  for (uint32_t i = 1; i < n->nkid; i++)
    if (n->kid[i]->kind != WICK_AST_NAMED) arg[narg++] = wick_notation_expr(c, n->kid[i]);
  if (!wick_lowering_ok(c->s, c->f)) return arg[0];
  wick_lowering_at(c->s, c->f, n->at);
  if (cast) {
    arg[0].v = wick_build_cast(c->f->b, wick_notation_built(c, &arg[0]), to);
    arg[0].access = NULL;
    return arg[0];
  }
  if (square) {
    arg[0].v = wick_notation_built(c, &arg[0]), arg[0].access = NULL, arg[1] = arg[0];
    return wick_notation_apply(c, WICK_OP_mul, 2, arg, NULL);
  }
  wick_lang_attrs(c->s->p, c->s->t, c->f->typed, n, e, attr);
  if (c->s->p->sources.problems.n) c->s->failed = wick_lang_problems(&c->s->p->sources);
  return wick_notation_apply(c, e->op, narg, arg, attr);
}
