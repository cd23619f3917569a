/* The steps of recurrent operators, written in other operators, for their derivatives. */
#include "ir/expr.h"
#include "ops/recurrent/recurrent.h"

/* Merges dimension `axis` of x with the next one. */
static wick_value recurrent_merge(wick_builder *b, wick_value x, uint32_t axis)
{
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k + 1 < t->rank; k++) dim[k] = t->dim[k + (k > axis)];
  dim[axis] = wick_dim_mul(b->module->dims, t->dim[axis], t->dim[axis + 1]);
  return wick_grad_reshape(b, x, t->rank - 1u, dim);
}

wick_step_rows wick_step_rows_of(wick_builder *b, const wick_node *n, const wick_value *in)
{
  wick_step_rows s = {.b = b, .n = n, .in = in};
  if (b->status || n->nin <= WICK_STEP_R || !in[WICK_STEP_R].id) return s;
  const wick_type_info *x = wick_built_info(b, in[WICK_STEP_X]),
                       *r = wick_built_info(b, in[WICK_STEP_R]);
  static const int64_t perm[4] = {1, 0, 2, 3};
  wick_value h = wick_grad_slice(b, in[WICK_STEP_H], 1, wick_dim_const(0), r->dim[1], 1),
             w = wick_grad_transpose(b, in[WICK_STEP_R], 4, perm);
  w = recurrent_merge(b, recurrent_merge(b, w, 2), 1);
  s.sum = wick_grad_reshape(b, wick_build2(b, WICK_OP_matmul, h, w), 4, x->dim);
  return s;
}

/* Selects index `at` of an axis and removes the axis. Returns 0 if there is no v. */
static wick_value recurrent_part(const wick_step_rows *s, wick_value v, uint32_t axis, int64_t at)
{
  if (s->b->status || !v.id) return (wick_value){0};
  v = wick_grad_slice(s->b, v, axis, wick_dim_const(at), wick_dim_const(1), 1);
  return recurrent_merge(s->b, v, axis);
}

wick_value wick_step_rows_input(const wick_step_rows *s, int64_t gate)
{
  return recurrent_part(s, s->in[WICK_STEP_X], 2, gate);
}

wick_value wick_step_rows_sum(const wick_step_rows *s, int64_t gate)
{
  return recurrent_part(s, s->sum, 2, gate);
}

wick_value wick_step_rows_gate(const wick_step_rows *s, int64_t gate)
{
  wick_value x = wick_step_rows_input(s, gate), sum = wick_step_rows_sum(s, gate);
  return sum.id ? expr_add(s->b, sum, x) : x;
}

wick_value wick_step_rows_more(const wick_step_rows *s, int64_t k)
{
  bool has = s->n->nin > WICK_STEP_MORE;
  return recurrent_part(s, has ? s->in[WICK_STEP_MORE] : (wick_value){0}, 1, k);
}

/* Weights that are packed for dot products have no derivative: layouts, which are chosen later,
 * make them. */
void wick_step_grad(wick_adjoint *a, wick_grad_define *define)
{
  const wick_value *in = a->in;
  bool has = a->node->nin > WICK_STEP_R && in[WICK_STEP_R].id;
  const wick_type_info *r = has ? wick_built_info(a->b, in[WICK_STEP_R]) : NULL;
  if (has && (r->rank != 4 || r->elem != wick_built_info(a->b, in[WICK_STEP_X])->elem))
    wick_grad_none(a);
  else
    wick_grad_through(a, define);
}
