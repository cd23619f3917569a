/* Derivatives of convolutions and pools. The derivative with respect to the image is a transposed
 * convolution (or a convolution); that with respect to the weights has an operator of its own. */
#include <math.h>

#include "ir/element.h"
#include "ir/expr.h"
#include "ops/gradient/grad.h"
#include "ops/nn/window.h"

/* x, o: the sizes of the images at the window's two ends. Element x[o * stride + tap * dilation -
 * begin] contributes to o. */
typedef struct window {
  wick_builder *b;
  wick_window w;
  int64_t group, x[WICK_MAX_RANK], o[WICK_MAX_RANK]; /* group: number of groups of channels */
} window;

static int64_t window_reach(const window *v, uint32_t k)
{
  const wick_window *w = &v->w;
  return (v->o[2 + k] - 1) * w->stride[k] + w->dilation[k] * (w->kernel[k] - 1) + 1 - w->begin[k];
}

/* Builds the way from o to x: each element is multiplied by its window and added. */
static wick_value window_spread(const window *v, wick_value g, wick_value weights, int64_t group)
{
  int64_t pad[2 * WICK_WINDOW_MAX], more[WICK_WINDOW_MAX];
  uint32_t n = v->w.n;
  for (uint32_t k = 0; k < n; k++) {
    int64_t beyond = window_reach(v, k) - v->x[2 + k];
    pad[k] = v->w.begin[k];
    pad[n + k] = wick_max_i64(beyond, 0);
    more[k] = wick_max_i64(-beyond, 0);
  }
  wick_attr a[5] = {{.n = n, .ints = v->w.stride},
                    {.n = 2 * n, .ints = pad},
                    {.n = n, .ints = v->w.dilation},
                    {.i = group},
                    {.n = n, .ints = more}};
  wick_value in[2] = {g, weights};
  return wick_build(v->b, WICK_OP_conv_transpose, 2, in, a, 0, NULL);
}

/* Pads x with zeros as far as windows reach. */
static wick_value window_padded(const window *v, wick_value x)
{
  wick_dim pad[2 * WICK_MAX_RANK];
  uint32_t rank = v->w.n + 2;
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < v->w.n; k++) {
    pad[2 + k] = wick_dim_const(v->w.begin[k]);
    pad[rank + 2 + k] = wick_dim_const(wick_max_i64(window_reach(v, k) - v->x[2 + k], 0));
  }
  return wick_grad_pad(v->b, x, pad);
}

/* Selects from padded x the elements that a tap is multiplied by, for all o. */
static wick_value window_tap(const window *v, wick_value x, int64_t tap)
{
  wick_dim from[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK] = {1, 1};
  uint32_t rank = v->w.n + 2;
  for (uint32_t k = v->w.n; k-- > 0; tap /= v->w.kernel[k]) {
    from[2 + k] = wick_dim_const(tap % v->w.kernel[k] * v->w.dilation[k]);
    shape[2 + k] = wick_dim_const(v->o[2 + k]);
    step[2 + k] = v->w.stride[k];
  }
  for (uint32_t k = 0; k < 2; k++) from[k] = wick_dim_const(0), shape[k] = wick_dim_const(v->x[k]);
  return wick_build_slice(v->b, x, rank, from, shape, step);
}

/* Builds the derivative with respect to weights [M, C / group, taps...], from x [N, C, x...] and g
 * [N, M, o...]. */
static wick_value window_by_weights(const window *v, wick_value x, wick_value g)
{
  uint32_t n = v->w.n;
  int64_t pad[2 * WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < n; k++) pad[k] = v->w.begin[k], pad[n + k] = 0;
  wick_attr a[] = {[WICK_ATTR_conv_weight_grad_stride] = {.n = n, .ints = v->w.stride},
                   [WICK_ATTR_conv_weight_grad_pad] = {.n = 2 * n, .ints = pad},
                   [WICK_ATTR_conv_weight_grad_dilation] = {.n = n, .ints = v->w.dilation},
                   [WICK_ATTR_conv_weight_grad_group] = {.i = v->group},
                   [WICK_ATTR_conv_weight_grad_kernel] = {.n = n, .ints = v->w.kernel}};
  wick_value in[2] = {x, g};
  return wick_build(v->b, WICK_OP_conv_weight_grad, 2, in, a, 0, NULL);
}

/* Builds the way from x to o, a convolution. */
static wick_value window_gather(const window *v, wick_value x, wick_value weights)
{
  uint32_t n = v->w.n;
  int64_t pad[2 * WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < n; k++) {
    pad[k] = v->w.begin[k];
    pad[n + k] = wick_max_i64(window_reach(v, k) - v->x[2 + k], 0);
  }
  wick_attr attr[] = {[WICK_ATTR_conv_stride] = {.n = n, .ints = v->w.stride},
                      [WICK_ATTR_conv_pad] = {.n = 2 * n, .ints = pad},
                      [WICK_ATTR_conv_dilation] = {.n = n, .ints = v->w.dilation},
                      [WICK_ATTR_conv_group] = {.i = v->group}};
  wick_value in[2] = {x, weights}, y = wick_build(v->b, WICK_OP_conv, 2, in, attr, 0, NULL);
  for (uint32_t k = 0; k < n; k++)
    y = wick_grad_slice(v->b, y, 2 + k, wick_dim_const(0), wick_dim_const(v->o[2 + k]), 1);
  return y;
}

/* Sets the cotangent of a convolution's bias. */
static void window_bias(wick_adjoint *a)
{
  int64_t axis[WICK_MAX_RANK] = {0};
  if (a->node->nin < 3 || !a->wanted[2] || a->b->status) return;
  uint32_t rank = wick_built_info(a->b, a->out[0])->rank;
  for (uint32_t k = 2; k < rank; k++) axis[k - 1] = k;
  a->din[2] = wick_grad_sum(a->b, a->dout[0], rank - 1, axis, false);
}

/* Describes the window. x, o: the values at its two ends. */
static bool window_of(const wick_adjoint *a, wick_value x, wick_value o, const int64_t *kernel,
                      window *out)
{
  *out = (window){.b = a->b, .group = 1};
  if (!wick_grad_sizes(a->b, x, out->x) || !wick_grad_sizes(a->b, o, out->o)) return false;
  out->w = wick_window_of(a->node->attr, wick_built_info(a->b, x)->rank - 2u, kernel);
  return true;
}

void wick_grad_conv(wick_adjoint *a)
{
  window v;
  int64_t w[WICK_MAX_RANK];
  if (!wick_grad_sizes(a->b, a->in[1], w) || !window_of(a, a->in[0], a->out[0], w + 2, &v)) return;
  v.group = a->node->attr[WICK_ATTR_conv_group].i;
  if (a->wanted[0]) a->din[0] = window_spread(&v, a->dout[0], a->in[1], v.group);
  if (a->wanted[1]) a->din[1] = window_by_weights(&v, a->in[0], a->dout[0]);
  window_bias(a);
}

/* The window goes from the result to x, so the derivative with respect to x is a convolution of the
 * cotangent. */
void wick_grad_conv_transpose(wick_adjoint *a)
{
  window v;
  wick_builder *b = a->b;
  int64_t w[WICK_MAX_RANK];
  if (!wick_grad_sizes(b, a->in[1], w) || !window_of(a, a->out[0], a->in[0], w + 2, &v)) return;
  v.group = a->node->attr[WICK_ATTR_conv_transpose_group].i;
  if (a->wanted[0]) a->din[0] = window_gather(&v, a->dout[0], a->in[1]);
  if (a->wanted[1]) a->din[1] = window_by_weights(&v, a->dout[0], a->in[0]);
  window_bias(a);
}

/* Both derivatives are those of sums of products of x, g and weights. */
void wick_grad_conv_weight_grad(wick_adjoint *a)
{
  window v;
  const wick_attr *at = a->node->attr;
  if (!window_of(a, a->in[0], a->in[1], at[WICK_ATTR_conv_weight_grad_kernel].ints, &v)) return;
  v.group = at[WICK_ATTR_conv_weight_grad_group].i;
  if (a->wanted[0]) a->din[0] = window_spread(&v, a->in[1], a->dout[0], v.group);
  if (a->wanted[1]) a->din[1] = window_gather(&v, a->in[0], a->dout[0]);
}

/* ---- pools ---- */

static bool window_of_pool(const wick_adjoint *a, window *out)
{
  return window_of(a, a->in[0], a->out[0], a->node->attr[WICK_ATTR_max_pool_kernel].ints, out);
}

/* Makes a constant of the module in which every number is the same. */
static wick_value window_ones(const window *v, wick_elem e, uint32_t rank, const int64_t *dim)
{
  wick_module *m = v->b->module;
  wick_type type = wick_type_tensor_const(m, e, rank, dim);
  uint64_t nbytes = 0, count = 1;
  wick_type_nbytes(m, type, &nbytes);
  void *data = wick_arena_alloc(&m->mem, nbytes + 1, 64);
  for (uint32_t k = 0; k < rank; k++) count *= (uint64_t)dim[k];
  for (uint64_t i = 0; i < count; i++) wick_store_elem(e, data, i, (wick_scalar){.f = 1});
  return wick_build_constant(v->b, wick_constant_add(m, "ones", type, data, nbytes));
}

/* Adds each element of o to all elements of x in its window, in each channel. */
static wick_value window_share(const window *v, wick_value g)
{
  if (v->b->status) return g;
  int64_t dim[WICK_MAX_RANK] = {v->x[1], 1};
  for (uint32_t k = 0; k < v->w.n; k++) dim[2 + k] = v->w.kernel[k];
  wick_value ones = window_ones(v, wick_built_info(v->b, g)->elem, v->w.n + 2, dim);
  return window_spread(v, g, ones, v->x[1]);
}

/* Returns how many elements of window `o` along k count: those in x, and with `pads` also those in
 * its padding. */
static int64_t window_count(const window *v, uint32_t k, int64_t o, bool pads)
{
  int64_t n = 0, lo = pads ? -v->w.begin[k] : 0, hi = v->x[2 + k] + (pads ? v->w.end[k] : 0);
  for (int64_t t = 0; t < v->w.kernel[k]; t++) {
    int64_t i = o * v->w.stride[k] + t * v->w.dilation[k] - v->w.begin[k];
    n += i >= lo && i < hi;
  }
  return n;
}

/* Makes a constant [o...] of 1 / the number of elements of each window. */
static wick_value window_shares(const window *v, wick_elem e, bool pads)
{
  wick_module *m = v->b->module;
  wick_type type = wick_type_tensor_const(m, e, v->w.n, v->o + 2);
  uint64_t nbytes = 0, count = 1;
  wick_type_nbytes(m, type, &nbytes);
  void *data = wick_arena_alloc(&m->mem, nbytes + 1, 64);
  for (uint32_t k = 0; k < v->w.n; k++) count *= (uint64_t)v->o[2 + k];
  for (uint64_t i = 0; i < count; i++) {
    int64_t n = 1;
    uint64_t at = i;
    for (uint32_t k = v->w.n; k-- > 0; at /= (uint64_t)v->o[2 + k])
      n *= window_count(v, k, (int64_t)(at % (uint64_t)v->o[2 + k]), pads);
    wick_store_elem(e, data, i, (wick_scalar){.f = 1 / (double)n});
  }
  return wick_build_constant(v->b, wick_constant_add(m, "shares", type, data, nbytes));
}

void wick_grad_avg_pool(wick_adjoint *a)
{
  window v;
  if (!window_of_pool(a, &v)) return;
  wick_elem e = wick_built_info(a->b, a->in[0])->elem;
  wick_value shares = window_shares(&v, e, a->node->attr[WICK_ATTR_avg_pool_count_pad].i);
  a->din[0] = window_share(&v, expr_mul(a->b, a->dout[0], shares));
}

/* sign(x) |x|^(p-1) times the sum over windows of g y^(1-p), or 0 where y is 0 */
void wick_grad_lp_pool(wick_adjoint *a)
{
  window v;
  wick_builder *b = a->b;
  double p = (double)a->node->attr[WICK_ATTR_lp_pool_p].i;
  if (!window_of_pool(a, &v)) return;
  wick_value x = a->in[0], y = a->out[0], g = a->dout[0], zero = expr_k(b, y, 0);
  wick_value none = expr_eq(b, y, 0), one = expr_k(b, y, 1), base = expr_where(b, none, one, y);
  if (p == 2) g = expr_div(b, g, base);
  if (p > 2) g = expr_mul(b, g, wick_build2(b, WICK_OP_pow, base, expr_k(b, y, 1 - p)));
  if (p > 1) g = expr_where(b, none, zero, g);
  g = window_share(&v, g);
  if (p != 2) {
    wick_value power = wick_build1(b, WICK_OP_sign, x);
    if (p > 2) {
      wick_value size = expr_abs(b, x);
      size = wick_build2(b, WICK_OP_pow, size, expr_k(b, size, p - 1));
      power = expr_mul(b, power, size);
    }
    x = power;
  }
  a->din[0] = expr_mul(b, x, g);
}

/* The cotangent goes to the first of the largest elements of each window. */
void wick_grad_max_pool(wick_adjoint *a)
{
  window v;
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  if (!window_of_pool(a, &v)) return;
  wick_value at = {a->out[0].id + 1};
  if (!n->attr[WICK_ATTR_max_pool_indices].i || n->attr[WICK_ATTR_max_pool_column_major].i) {
    wick_attr pool[WICK_ATTR_max_pool_column_major + 1];
    for (uint32_t i = 0; i < WICK_ATTR_max_pool_indices; i++) pool[i] = n->attr[i];
    pool[WICK_ATTR_max_pool_indices] = (wick_attr){.i = 1};
    pool[WICK_ATTR_max_pool_column_major] = (wick_attr){.i = 0};
    at = wick_build(b, WICK_OP_max_pool, 1, a->in, pool, 0, NULL);
    at.id += at.id != 0;
  }
  wick_attr attr[] = {[WICK_ATTR_unpool_stride] = n->attr[WICK_ATTR_max_pool_stride],
                      [WICK_ATTR_unpool_pad] = n->attr[WICK_ATTR_max_pool_pad],
                      [WICK_ATTR_unpool_dilation] = n->attr[WICK_ATTR_max_pool_dilation],
                      [WICK_ATTR_unpool_kernel] = n->attr[WICK_ATTR_max_pool_kernel],
                      [WICK_ATTR_unpool_size] = {.n = v.w.n, .ints = v.x + 2}};
  wick_value in[2] = {a->dout[0], at};
  a->din[0] = wick_build(b, WICK_OP_unpool, 2, in, attr, 0, NULL);
}

/* Each window's cotangent is that of the element that it was added to; 0 for a window without one.
 */
void wick_grad_unpool(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status || !a->wanted[0]) return;
  wick_dim all = wick_type_numel(b->module, wick_built_type(b, a->dout[0]));
  wick_value none = expr_lt(b, a->in[1], 0), first = expr_k(b, a->in[1], 0);
  wick_value in[2] = {wick_grad_reshape(b, a->dout[0], 1, &all)};
  in[1] = expr_where(b, none, first, a->in[1]);
  wick_attr axis = {.i = 0};
  wick_value g = wick_build(b, WICK_OP_gather, 2, in, &axis, 0, NULL), zero = {0};
  if (!b->status) zero = expr_k(b, g, 0);
  a->din[0] = expr_where(b, none, zero, g);
}

/* Builds the windows of the image's cotangent, next to each other. */
void wick_grad_col2im(wick_adjoint *a)
{
  enum { KERNEL = WICK_WINDOW_NATTR };
  wick_builder *b = a->b;
  const wick_attr *at = a->node->attr;
  window v = {.b = b, .group = 1};
  if (!wick_grad_sizes(b, a->out[0], v.x)) return;
  v.w = wick_window_of(at, at[KERNEL].n, at[KERNEL].ints);
  int64_t taps = 1;
  v.o[0] = v.x[0], v.o[1] = v.x[1];
  for (uint32_t k = 0; k < v.w.n; k++) {
    int64_t reach = v.w.dilation[k] * (v.w.kernel[k] - 1) + 1;
    v.o[2 + k] = (v.x[2 + k] + v.w.begin[k] + v.w.end[k] - reach) / v.w.stride[k] + 1;
    taps *= v.w.kernel[k];
  }
  wick_dim dim[4] = {wick_dim_const(v.x[0]), wick_dim_const(v.x[1]), wick_dim_const(1),
                     wick_dim_const(-1)};
  wick_value *part = wick_new(b->mem, wick_value, (size_t)taps), g = window_padded(&v, a->dout[0]);
  for (int64_t t = 0; t < taps && !b->status; t++) {
    part[t] = wick_build_reshape(b, window_tap(&v, g, t), 4, dim);
  }
  if (!b->status)
    a->din[0] = wick_grad_shape_of(b, wick_grad_concat(b, 2, (uint32_t)taps, part), a->in[0]);
}
