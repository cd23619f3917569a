/* Derivatives of reductions, of normalizations along an axis, and of running sums. If several
 * elements are the largest (or least), they share the cotangent equally. */
#include <math.h>

#include "ir/expr.h"
#include "ops/compose.h"
#include "ops/gradient/grad.h"

/* Finds the reduced axes. An empty list means all axes. */
static uint32_t reduce_axes(const wick_adjoint *a, int64_t *axis)
{
  const wick_attr *given = &a->node->attr[WICK_ATTR_reduce_sum_axes];
  uint32_t rank = wick_built_info(a->b, a->in[0])->rank, n = given->n ? given->n : rank;
  for (uint32_t i = 0; i < n; i++) {
    int64_t k = given->n ? given->ints[i] : i;
    axis[i] = k < 0 ? k + rank : k;
  }
  return n;
}

/* Reshapes v, which has the result's shape, so that reduced axes have size 1. */
static wick_value reduce_kept(const wick_adjoint *a, wick_value v)
{
  if (a->b->status) return v;
  int64_t axis[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *x = wick_built_info(a->b, a->in[0]);
  uint32_t n = reduce_axes(a, axis);
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  for (uint32_t i = 0; i < n; i++) dim[axis[i]] = wick_dim_const(1);
  return wick_grad_reshape(a->b, v, x->rank, dim);
}

void wick_grad_reduce_sum(wick_adjoint *a)
{
  a->din[0] = wick_grad_expand(a->b, reduce_kept(a, a->dout[0]), a->in[0]);
}

void wick_grad_reduce_mean(wick_adjoint *a)
{
  wick_builder *b = a->b;
  int64_t axis[WICK_MAX_RANK], dim[WICK_MAX_RANK], count = 1;
  if (!wick_grad_sizes(b, a->in[0], dim)) return;
  uint32_t n = reduce_axes(a, axis);
  for (uint32_t i = 0; i < n; i++) count *= dim[axis[i]];
  wick_value g = expr_div(b, a->dout[0], expr_k(b, a->dout[0], (double)count));
  a->din[0] = wick_grad_expand(b, reduce_kept(a, g), a->in[0]);
}

void wick_grad_reduce_extreme(wick_adjoint *a)
{
  wick_builder *b = a->b;
  int64_t axis[WICK_MAX_RANK];
  wick_value y = reduce_kept(a, a->out[0]), g = reduce_kept(a, a->dout[0]);
  wick_value hit = wick_build2(b, WICK_OP_eq, a->in[0], y);
  if (b->status) return;
  wick_value ones = wick_build_cast(b, hit, wick_built_info(b, g)->elem);
  wick_value count = wick_grad_sum(b, ones, reduce_axes(a, axis), axis, true);
  wick_value zero = expr_k(b, g, 0);
  a->din[0] = expr_where(b, hit, expr_div(b, g, count), zero);
}

/* Transposes the reduced axes to the end and merges them into one. */
static wick_value reduce_lines(const wick_adjoint *a, wick_value x, int64_t *perm)
{
  wick_builder *b = a->b;
  int64_t axis[WICK_MAX_RANK];
  const wick_type_info *t = wick_built_info(b, a->in[0]);
  wick_dim dim[WICK_MAX_RANK + 1];
  uint32_t n = reduce_axes(a, axis), at = 0, set = 0, kept;
  for (uint32_t i = 0; i < n; i++) set |= 1u << axis[i];
  for (uint32_t k = 0; k < t->rank; k++)
    if (!(set >> k & 1)) dim[at] = t->dim[k], perm[at++] = k;
  kept = at;
  for (uint32_t k = 0; k < t->rank; k++)
    if (set >> k & 1) perm[at++] = k;
  dim[kept] = wick_dim_const(-1);
  return wick_build_reshape(b, wick_grad_transpose(b, x, t->rank, perm), kept + 1, dim);
}

static wick_value reduce_scan(wick_builder *b, wick_opcode op, wick_value x, uint32_t axis,
                              bool exclusive, bool reverse)
{
  wick_attr a[3] = {{.i = axis}, {.i = exclusive}, {.i = reverse}};
  return wick_build(b, op, 1, &x, a, 0, NULL);
}

/* The derivative for each element is the product of the elements before it and of those after it.
 * It is exact even if some are 0. */
void wick_grad_reduce_prod(wick_adjoint *a)
{
  wick_builder *b = a->b;
  int64_t perm[WICK_MAX_RANK], back[WICK_MAX_RANK];
  if (b->status) return;
  const wick_type_info *t = wick_built_info(b, a->in[0]);
  wick_value x = reduce_lines(a, a->in[0], perm);
  if (b->status) return;
  uint32_t last = wick_built_info(b, x)->rank - 1u;
  wick_value before = reduce_scan(b, WICK_OP_cumprod, x, last, true, false),
             behind = reduce_scan(b, WICK_OP_cumprod, x, last, true, true),
             others = expr_mul(b, before, behind);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[perm[k]], back[perm[k]] = k;
  others = wick_grad_reshape(b, others, t->rank, dim);
  others = wick_grad_transpose(b, others, t->rank, back);
  a->din[0] = expr_mul(b, others, reduce_kept(a, a->dout[0]));
}

void wick_grad_reduce_l1(wick_adjoint *a)
{
  wick_value sign = wick_build1(a->b, WICK_OP_sign, a->in[0]);
  a->din[0] = expr_mul(a->b, sign, reduce_kept(a, a->dout[0]));
}

/* x / |x|, or 0 if all elements are 0 */
void wick_grad_reduce_l2(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  wick_value y = a->out[0], none = expr_eq(b, y, 0), one = expr_k(b, y, 1);
  wick_value g = expr_div(b, a->dout[0], expr_where(b, none, one, y));
  a->din[0] = expr_mul(b, a->in[0], reduce_kept(a, g));
}

void wick_grad_reduce_sum_square(wick_adjoint *a)
{
  if (a->b->status) return;
  wick_value g = expr_mulk(a->b, a->dout[0], 2);
  a->din[0] = expr_mul(a->b, a->in[0], reduce_kept(a, g));
}

void wick_grad_reduce_log_sum_exp(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value e = expr_sub(b, a->in[0], reduce_kept(a, a->out[0]));
  e = wick_build1(b, WICK_OP_exp_minus, e);
  a->din[0] = expr_mul(b, e, reduce_kept(a, a->dout[0]));
}

/* ---- along an axis ---- */

static wick_value reduce_along(const wick_adjoint *a, wick_value x)
{
  return wick_grad_sum(a->b, x, 1, &a->node->attr[WICK_ATTR_softmax_axis].i, true);
}

/* y g - y sum(y g) */
void wick_grad_softmax(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value s = expr_mul(b, a->out[0], a->dout[0]),
             back = expr_mul(b, a->out[0], reduce_along(a, s));
  a->din[0] = expr_sub(b, s, back);
}

/* g - exp(y) sum(g) */
void wick_grad_log_softmax(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value e = wick_build1(b, WICK_OP_exp, a->out[0]),
             back = expr_mul(b, e, reduce_along(a, a->dout[0]));
  a->din[0] = expr_sub(b, a->dout[0], back);
}

void wick_grad_cumsum(wick_adjoint *a)
{
  const wick_attr *s = a->node->attr;
  a->din[0] = reduce_scan(a->b, WICK_OP_cumsum, a->dout[0], (uint32_t)s[WICK_ATTR_cumsum_axis].i,
                          s[WICK_ATTR_cumsum_exclusive].i, !s[WICK_ATTR_cumsum_reverse].i);
}

/* For each element, in a dimension before the axis: the products of the other elements. They are
 * the products of all elements with this one replaced by 1, and count in the results that this
 * element is part of. */
void wick_grad_cumprod(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  const wick_attr *s = a->node->attr;
  const wick_type_info *t = wick_built_info(b, a->in[0]);
  uint32_t axis = (uint32_t)s[WICK_ATTR_cumsum_axis].i, rank = t->rank + 1u;
  bool reverse = s[WICK_ATTR_cumsum_reverse].i;
  wick_dim dim[WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k < rank; k++)
    dim[k] = k == axis ? wick_dim_const(1) : t->dim[k - (k > axis)];
  wick_value own = wick_grad_count(b, t->dim[axis], axis, rank),
             place = wick_grad_count(b, t->dim[axis], axis + 1, rank);
  wick_value same = wick_build2(b, WICK_OP_eq, own, place);
  wick_value x = wick_grad_reshape(b, a->in[0], rank, dim), one = expr_k(b, a->in[0], 1);
  x = expr_where(b, same, one, x);
  x = reduce_scan(b, WICK_OP_cumprod, x, axis + 1, s[WICK_ATTR_cumsum_exclusive].i, reverse);
  x = expr_mul(b, x, wick_grad_reshape(b, a->dout[0], rank, dim));
  wick_opcode part = reverse ? (s[WICK_ATTR_cumsum_exclusive].i ? WICK_OP_gt : WICK_OP_ge)
                             : (s[WICK_ATTR_cumsum_exclusive].i ? WICK_OP_lt : WICK_OP_le);
  wick_value takes = wick_build2(b, part, own, place), zero = expr_k(b, a->in[0], 0);
  int64_t summed = axis + 1;
  a->din[0] = wick_grad_sum(b, expr_where(b, takes, x, zero), 1, &summed, false);
}

/* ---- local response normalization ---- */

/* Sums over neighbouring channels, or, if `back`, over the channels that have this one as a
 * neighbour. */
static wick_value lrn_window(const wick_adjoint *a, wick_value v, bool back)
{
  wick_builder *b = a->b;
  if (b->status) return v;
  const wick_type_info *t = wick_built_info(b, v);
  int64_t size = a->node->attr[WICK_ATTR_lrn_size].i, before = (size - 1) / 2;
  wick_dim dim[4] = {t->dim[0], wick_dim_const(1), t->dim[1], wick_dim_const(-1)};
  int64_t ones[4] = {1, 1, size, 1}, pad[4] = {before, 0, size - 1 - before, 0},
          turned[4] = {size - 1 - before, 0, before, 0};
  wick_value in[2] = {wick_build_reshape(b, v, 4, dim)};
  in[1] = wick_build_const(b, wick_type_tensor_const(b->module, t->elem, 4, ones), 1, 1);
  wick_attr w[4] = {{.n = 0}, {.n = 4, .ints = back ? turned : pad}, {.n = 0}, {.i = 1}};
  return wick_grad_shape_of(b, wick_build(b, WICK_OP_conv, 2, in, w, 0, NULL), v);
}

/* With f = bias + alpha / size * s: g f^-beta - 2 alpha beta / size * x * window(g x f^(-beta-1)).
 */
void wick_grad_lrn(wick_adjoint *a)
{
  wick_builder *b = a->b;
  const wick_attr *at = a->node->attr;
  double share = at[WICK_ATTR_lrn_alpha].f / (double)at[WICK_ATTR_lrn_size].i,
         beta = at[WICK_ATTR_lrn_beta].f;
  if (b->status) return;
  wick_value x = a->in[0], f = lrn_window(a, expr_mul(b, x, x), false);
  if (b->status) return;
  f = expr_addk(b, expr_mulk(b, f, share), at[WICK_ATTR_lrn_bias].f);
  wick_value factor = wick_build2(b, WICK_OP_pow, f, expr_k(b, f, -beta));
  factor = expr_mul(b, a->dout[0], factor);
  wick_value inner = expr_div(b, expr_mul(b, factor, x), f);
  wick_value back = expr_mul(b, x, lrn_window(a, inner, true));
  if (!b->status) a->din[0] = expr_sub(b, factor, expr_mulk(b, back, 2 * share * beta));
}
