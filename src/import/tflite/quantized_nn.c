/* Convolutions, products, pools and reductions of quantized tensors, and float ones with quantized
 * weights ("hybrid"), whose activations are quantized in the run.
 * Source: reference kernels of TensorFlow Lite. */
#include "import/kit/array.h"
#include "import/tflite/quantized.h"

#include <math.h>

/* ---- common ---- */

/* x without a zero point, in i32, or in i64 for 16-bit activations. */
static wick_value nn_centre(wick_import_node *n, wick_value x, int64_t zero, wick_elem to)
{
  if (n->b->status) return x;
  x = wick_build_cast(n->b, x, to);
  return zero ? wick_emit_by(n->b, WICK_OP_sub, x, (double)zero) : x;
}

/* The factors from sums of products to result 0, one for each output channel. Kernels for one factor
 * multiply the scales in f32, those for channels in f64. */
static const wick_fixed *nn_factors(wick_import_node *n, uint32_t x, uint32_t w, uint32_t *out_n)
{
  bool single = n->row->op == WICK_OP_matmul || wick_tflite_in(n, x)->elem == WICK_U8;
  const wick_tflite_tensor *tx = wick_tflite_in(n, x), *tw = wick_tflite_in(n, w),
                           *y = wick_tflite_out(n, 0);
  wick_fixed *f = wick_new(n->c->tmp, wick_fixed, tw->quant.n + 1u);
  for (uint32_t i = 0; i < tw->quant.n; i++) {
    double product = tx->quant.scale[0] * tw->quant.scale[i];
    if (single && tw->quant.n == 1)
      product = (double)((float)tx->quant.scale[0] * (float)tw->quant.scale[0]);
    f[i] = wick_fixed_of(product / y->quant.scale[0]);
  }
  *out_n = tw->quant.n;
  return f;
}

/* Both operands and the result are quantized. Adds a failure if only some are. */
static bool nn_is_quantized(wick_import_node *n, uint32_t x, uint32_t w)
{
  const wick_tflite_tensor *tx = wick_tflite_in(n, x);
  if (!wick_tflite_is_quantized(tx)) return false;
  if (wick_tflite_is_quantized(wick_tflite_in(n, w)) &&
      wick_tflite_is_quantized(wick_tflite_out(n, 0)))
    return true;
  wick_import_fail(n, WICK_EUNSUPPORTED, "only some of its tensors are quantized");
  return true;
}

/* Sums have 64 bits for 16-bit activations, unless the bias says otherwise. */
static wick_elem nn_sum(const wick_import_node *n, uint32_t x, uint32_t bias)
{
  bool narrow = wick_import_has(n, bias) && wick_import_info(n, bias)->elem == WICK_I32;
  return wick_tflite_in(n, x)->elem == WICK_I16 && !narrow ? WICK_I64 : WICK_I32;
}

/* Are negative numbers clamped to the zero point? Then it does not matter how they are rounded. */
static bool nn_is_positive(const wick_tflite_tensor *y, int64_t lo)
{
  return lo >= y->quant.zero[0];
}

static wick_value nn_end(wick_import_node *n, wick_value sum, uint32_t x, uint32_t w, wick_elem e,
                         int64_t act)
{
  uint32_t nf;
  int64_t lo, hi;
  const wick_tflite_tensor *y = wick_tflite_out(n, 0);
  const wick_fixed *f = nn_factors(n, x, w, &nf);
  wick_tflite_range(n, act, &lo, &hi);
  int64_t zero = y->quant.zero[0];
  bool up = n->row->arg || (e != WICK_I64 && nn_is_positive(y, lo));
  sum = n->row->arg     ? wick_fixed_mul_once(n->b, sum, nf, f, zero)
        : up            ? wick_fixed_mul_up(n->b, sum, nf, f, zero)
        : e == WICK_I64 ? wick_fixed_mul_wide(n->b, sum, nf, f)
                        : wick_fixed_mul(n->b, sum, nf, f);
  return wick_fixed_end(n->b, sum, up ? 0 : zero, lo, hi, y->elem);
}

/* ---- activations that are quantized in the run ---- */

/* The weights are integers with scales, and x is float. */
static bool nn_is_hybrid(const wick_import_node *n, uint32_t x, uint32_t w)
{
  return wick_tflite_in(n, x)->elem == WICK_F32 && wick_tflite_is_quantized(wick_tflite_in(n, w));
}

/* Symmetric: the range is -127 to 127, scaled by the largest magnitude. */
wick_tflite_hybrid wick_tflite_symmetric(wick_import_node *n, wick_value x, uint32_t naxes,
                                         const int64_t *axes)
{
  wick_builder *b = n->b;
  wick_value size = wick_build1(b, WICK_OP_abs, x);
  size = wick_emit_reduce(b, WICK_OP_reduce_max, size, naxes, axes, true);
  wick_value zero = wick_emit_number(b, size, 0), one = wick_emit_number(b, size, 1);
  wick_value none = wick_build2(b, WICK_OP_eq, size, zero);
  wick_value most = wick_emit_number(b, size, 127);
  wick_value scale = wick_build2(b, WICK_OP_div, size, most);
  scale = wick_build3(b, WICK_OP_where, none, one, scale);
  wick_value inverse =
      wick_build2(b, WICK_OP_div, most, wick_build3(b, WICK_OP_where, none, one, size));
  wick_value q = wick_tflite_round(b, wick_build2(b, WICK_OP_mul, x, inverse), -127, 127);
  if (b->status) return (wick_tflite_hybrid){.x = q, .scale = scale};
  q = wick_build_cast(b, q, WICK_I8); /* the passes see that products are of bytes */
  return (wick_tflite_hybrid){.x = wick_build_cast(b, q, WICK_I32), .scale = scale, .bytes = q};
}

/* Asymmetric: the range from the least to the largest number, which contains 0. */
wick_tflite_hybrid wick_tflite_asymmetric(wick_import_node *n, wick_value x, uint32_t naxes,
                                          const int64_t *axes)
{
  wick_builder *b = n->b;
  wick_value lo = wick_emit_reduce(b, WICK_OP_reduce_min, x, naxes, axes, true);
  wick_value hi = wick_emit_reduce(b, WICK_OP_reduce_max, x, naxes, axes, true);
  if (b->status) return (wick_tflite_hybrid){.x = x, .scale = x};
  lo = wick_emit_by(b, WICK_OP_min, wick_build_cast(b, lo, WICK_F64), 0);
  hi = wick_emit_by(b, WICK_OP_max, wick_build_cast(b, hi, WICK_F64), 0);
  wick_value zero = wick_emit_number(b, lo, 0), one = wick_emit_number(b, lo, 1);
  wick_value none = wick_build2(b, WICK_OP_eq, lo, hi);
  wick_value scale = wick_emit_by(b, WICK_OP_div, wick_build2(b, WICK_OP_sub, hi, lo), 255);
  scale = wick_build3(b, WICK_OP_where, none, one, scale);
  wick_value down = wick_build2(b, WICK_OP_div, lo, scale),
             up = wick_build2(b, WICK_OP_div, hi, scale);
  wick_value from_lo = wick_build2(b, WICK_OP_sub, wick_emit_number(b, lo, -128), down);
  wick_value from_hi = wick_build2(b, WICK_OP_sub, wick_emit_number(b, lo, 127), up);
  wick_value error_lo = wick_emit_by(b, WICK_OP_add, wick_build1(b, WICK_OP_abs, down), 128);
  wick_value error_hi = wick_emit_by(b, WICK_OP_add, wick_build1(b, WICK_OP_abs, up), 127);
  wick_value first = wick_build2(b, WICK_OP_lt, error_lo, error_hi);
  wick_value point = wick_build3(b, WICK_OP_where, first, from_lo, from_hi);
  point = wick_tflite_round(b, point, -128, 127);
  point = wick_build3(b, WICK_OP_where, none, zero, point);
  if (b->status) return (wick_tflite_hybrid){.x = x, .scale = x};
  scale = wick_build_cast(b, scale, WICK_F32), point = wick_build_cast(b, point, WICK_F32);
  wick_value inverse = wick_build2(b, WICK_OP_div, wick_emit_number(b, scale, 1), scale);
  wick_value q = wick_build2(b, WICK_OP_mul, x, inverse);
  q = wick_tflite_round(b, wick_build2(b, WICK_OP_add, point, q), -128, 127);
  if (b->status) return (wick_tflite_hybrid){.x = x, .scale = x};
  wick_tflite_hybrid h = {.scale = scale, .bytes = wick_build_cast(b, q, WICK_I8)};
  h.zero = wick_build_cast(b, point, WICK_I8);
  wick_value wide = wick_build_cast(b, h.bytes, WICK_I32),
             less = wick_build_cast(b, h.zero, WICK_I32);
  h.x = wick_build2(b, WICK_OP_sub, wide, less);
  return h;
}

/* sums * scale of the row * scale of the weights, plus the bias. */
static wick_value nn_hybrid_end(wick_import_node *n, wick_value sum, wick_value row, uint32_t w,
                                uint32_t bias, int64_t act)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *t = wick_tflite_in(n, w);
  int64_t dim = t->quant.n;
  if (b->status) return sum;
  wick_value scale = t->quant.n > 1 ? wick_emit_table(b, t->name, WICK_F32, 1, &dim, t->quant.scale)
                                    : wick_emit_number(b, row, t->quant.scale[0]);
  scale = wick_build2(b, WICK_OP_mul, row, scale);
  sum = wick_build2(b, WICK_OP_mul, wick_build_cast(b, sum, WICK_F32), scale);
  if (wick_import_has(n, bias)) sum = wick_build2(b, WICK_OP_add, sum, n->in[bias]);
  return wick_tflite_activate(n, sum, act);
}

/* ---- convolutions ---- */

/* Pads bytes [N, C, spatial...] with their rows' zero points, so that no position needs another sum of
 * weights. The sizes are known. */
static wick_value nn_hybrid_pad(wick_import_node *n, const wick_tflite_hybrid *h,
                                const wick_nhwc_window *w)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_built_info(b, h->bytes);
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  int64_t dim[WICK_MAX_RANK], at[WICK_NHWC_SPATIAL], numel = 1;
  bool any = false;
  for (uint32_t k = 0; k < t.rank; k++) {
    before[k] = k < 2 ? wick_dim_const(0) : w->before[k - 2];
    after[k] = k < 2 ? wick_dim_const(0) : w->after[k - 2];
    dim[k] = k < 2 ? 1 : t.dim[k].v + before[k].v + after[k].v;
    numel *= dim[k];
    any = any || before[k].v || after[k].v;
  }
  if (!any) return h->bytes;
  double *inside = wick_new(n->c->tmp, double, (size_t)numel);
  for (int64_t i = 0; i < numel; i++) {
    int64_t rest = i;
    inside[i] = 1;
    for (uint32_t k = t.rank; k-- > 2; rest /= dim[k]) {
      at[k - 2] = rest % dim[k];
      if (at[k - 2] < before[k].v || at[k - 2] >= dim[k] - after[k].v) inside[i] = 0;
    }
  }
  wick_value mask = wick_emit_table(b, n->name, WICK_BOOL, t.rank, dim, inside);
  wick_value x = wick_array_pad(n, h->bytes, before, after, (wick_value){0});
  return wick_build3(b, WICK_OP_where, mask, x, h->zero);
}

/* Are the sizes known, and the padded image is not too large for a mask? */
static bool nn_is_known(const wick_builder *b, wick_value x, const wick_nhwc_window *w)
{
  bool known = !b->status;
  int64_t room = 1 << 20;
  for (uint32_t k = 0; k < w->n && known; k++) {
    wick_dim size = wick_built_info(b, x)->dim[k + 2];
    known = wick_dim_is_const(size) && wick_dim_is_const(w->before[k]) &&
            wick_dim_is_const(w->after[k]);
    int64_t all = known ? size.v / 2 + w->before[k].v / 2 + w->after[k].v / 2 + 1 : 1; /* half */
    known = known && all >= 1 && all <= room;
    room /= known ? all : 1;
  }
  return known;
}

/* The sums [N, spatial..., M] of products of rows [N, C, spatial...] with weights in i32. Rows with zero
 * points: the sums of bytes, minus the zero point times the sum of the weights. */
static wick_value nn_hybrid_conv(wick_import_node *n, const wick_tflite_hybrid *h, wick_value v,
                                 const int64_t *perm, const wick_nhwc_window *w, int64_t group)
{
  const int64_t rest[] = {1, 2, 3};
  wick_builder *b = n->b;
  wick_nhwc_window plain = *w;
  if (!h->zero.id || !nn_is_known(b, h->bytes, w))
    return wick_nhwc_conv(n, wick_nhwc_last(b, h->x), v, perm, (wick_value){0}, w, group);
  for (uint32_t k = 0; k < w->n; k++) plain.before[k] = plain.after[k] = wick_dim_const(0);
  wick_value x = nn_hybrid_pad(n, h, w);
  if (b->status) return x;
  x = wick_nhwc_last(b, wick_build_cast(b, x, WICK_I32));
  wick_value sum = wick_nhwc_conv(n, x, v, perm, (wick_value){0}, &plain, group);
  wick_value all =
      wick_emit_reduce(b, WICK_OP_reduce_sum, wick_build_transpose(b, v, 4, perm), 3, rest, false);
  if (b->status) return sum;
  wick_value zero = wick_build_cast(b, h->zero, WICK_I32);
  return wick_build2(b, WICK_OP_sub, sum, wick_build2(b, WICK_OP_mul, zero, all));
}

bool wick_tflite_quantized_conv(wick_import_node *n, const int64_t *perm, const wick_nhwc_window *w,
                                int64_t group, int64_t act)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *t = wick_tflite_in(n, 1);
  wick_value none = {0};
  if (nn_is_hybrid(n, 0, 1)) {
    const int64_t axes[] = {1, 2, 3};
    bool depthwise = perm[0] == 3;                      /* the channels of the result are last */
    wick_value first = wick_nhwc_first(n->c, n->in[0]); /* the axes are the same */
    wick_tflite_hybrid h = t->quant.n > 1 || depthwise ? wick_tflite_asymmetric(n, first, 3, axes)
                                                       : wick_tflite_symmetric(n, first, 3, axes);
    wick_value v = nn_centre(n, n->in[1], t->quant.zero[0], WICK_I32);
    wick_value sum = nn_hybrid_conv(n, &h, v, perm, w, group);
    n->out[0] = nn_hybrid_end(n, sum, h.scale, 1, 2, act);
    return true;
  }
  if (!nn_is_quantized(n, 0, 1) || n->failed) return n->failed;
  wick_elem e = nn_sum(n, 0, 2);
  wick_value v = nn_centre(n, n->in[0], x->quant.zero[0], e),
             k = nn_centre(n, n->in[1], t->quant.zero[0], e);
  wick_value bias = wick_import_has(n, 2) ? wick_build_cast(n->b, n->in[2], e) : none;
  wick_value sum = wick_nhwc_conv(n, v, k, perm, bias, w, group);
  n->out[0] = nn_end(n, sum, 0, 1, e, act);
  return true;
}

bool wick_tflite_quantized_transpose_conv(wick_import_node *n, const int64_t *perm,
                                          const wick_nhwc_window *w, const wick_dim *size)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 2), *t = wick_tflite_in(n, 1);
  if (nn_is_hybrid(n, 2, 1)) {
    const int64_t axes[] = {1, 2, 3};
    wick_tflite_hybrid h = wick_tflite_asymmetric(n, n->in[2], 3, axes);
    wick_value v = nn_centre(n, n->in[1], t->quant.zero[0], WICK_I32);
    wick_value sum = wick_nhwc_conv_transpose(n, h.x, v, perm, (wick_value){0}, w, size, 1);
    n->out[0] = nn_hybrid_end(n, sum, h.scale, 1, 3, wick_tflite_byte(n, 3));
    return true;
  }
  if (!nn_is_quantized(n, 2, 1) || n->failed) return n->failed;
  wick_elem e = nn_sum(n, 2, 3);
  wick_value v = nn_centre(n, n->in[2], x->quant.zero[0], e),
             k = nn_centre(n, n->in[1], t->quant.zero[0], e);
  wick_value bias = wick_import_has(n, 3) ? wick_build_cast(n->b, n->in[3], e) : (wick_value){0};
  wick_value sum = wick_nhwc_conv_transpose(n, v, k, perm, bias, w, size, 1);
  n->out[0] = nn_end(n, sum, 2, 1, e, wick_tflite_byte(n, 3));
  return true;
}

/* ---- products ---- */

/* Quantizes the numbers of each row to i8 with a zero point, as XNNPACK does for weights in blocks:
 * whole numbers in f32, without their zero point. *out_scale gets the rows' scales. Source: XNNPACK,
 * xnn_f32_qd8_asymmetric_quantization_params. */
static wick_value nn_rows_of_bytes(wick_import_node *n, wick_value x, wick_value *out_scale)
{
  wick_builder *b = n->b;
  wick_value lo = wick_emit_reduce1(b, WICK_OP_reduce_min, x, 1, true);
  wick_value hi = wick_emit_reduce1(b, WICK_OP_reduce_max, x, 1, true);
  if (b->status) return *out_scale = x;
  lo = wick_emit_by(b, WICK_OP_min, lo, 0), hi = wick_emit_by(b, WICK_OP_max, hi, 0);
  wick_value range = wick_build2(b, WICK_OP_sub, hi, lo), one = wick_emit_number(b, lo, 1);
  wick_value none = wick_build2(b, WICK_OP_eq, lo, hi);
  wick_value by = wick_build2(b, WICK_OP_div, wick_emit_number(b, lo, 255), range);
  by = wick_build3(b, WICK_OP_where, none, one, by);
  lo = wick_build2(b, WICK_OP_mul, lo, by), hi = wick_build2(b, WICK_OP_mul, hi, by);
  wick_value below = wick_emit_by(b, WICK_OP_add, lo, -128);
  wick_value above = wick_emit_by(b, WICK_OP_add, hi, 127);
  wick_value first = wick_emit_by(b, WICK_OP_gt, wick_build2(b, WICK_OP_add, below, above), 0);
  wick_value low = wick_build2(b, WICK_OP_sub, wick_emit_number(b, lo, -128), lo);
  wick_value high = wick_build2(b, WICK_OP_sub, wick_emit_number(b, hi, 127), hi);
  wick_value zero = wick_build3(b, WICK_OP_where, first, low, high);
  zero = wick_build1(b, WICK_OP_round_even, wick_tflite_clip(b, zero, -128, 127));
  wick_value q = wick_build1(b, WICK_OP_round_even, wick_build2(b, WICK_OP_mul, x, by));
  q = wick_tflite_clip(b, wick_build2(b, WICK_OP_add, q, zero), -128, 127);
  *out_scale = wick_build2(b, WICK_OP_div, one, by);
  return wick_build2(b, WICK_OP_sub, q, zero);
}

/* Multiplies rows that are quantized in the run by weights with a scale for each block of a row. */
static void nn_blocks(wick_import_node *n, wick_value rows, const wick_type_info *w)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *t = wick_tflite_in(n, 1);
  const int64_t blocks[] = {t->dim[0], t->dim[1] / t->quant.block, 1};
  const wick_dim split[] = {w->dim[0], wick_dim_const(blocks[1]), wick_dim_const(t->quant.block)};
  wick_value row, x = nn_rows_of_bytes(n, rows, &row);
  wick_value scale = wick_emit_table(b, t->name, WICK_F32, 3, blocks, t->quant.scale);
  wick_value k = wick_build_reshape(b, wick_build_cast(b, n->in[1], WICK_F32), 3, split);
  k = wick_build_reshape(b, wick_build2(b, WICK_OP_mul, k, scale), 2, w->dim);
  wick_value y = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, k));
  y = wick_build2(b, WICK_OP_mul, y, row);
  if (wick_import_has(n, 2)) y = wick_build2(b, WICK_OP_add, y, n->in[2]);
  n->out[0] = wick_tflite_unrows(n, wick_tflite_activate(n, y, wick_tflite_byte(n, 0)), w->dim[0]);
}

bool wick_tflite_quantized_fully_connected(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *t = wick_tflite_in(n, 1);
  const wick_type_info w = *wick_import_info(n, 1);
  int64_t act = wick_tflite_byte(n, 0);
  bool hybrid = nn_is_hybrid(n, 0, 1);
  wick_dim rows;
  if (!hybrid && (!nn_is_quantized(n, 0, 1) || n->failed)) return n->failed;
  wick_value in = wick_tflite_rows(n, n->in[0], w.dim[1], &rows), sum;
  if (t->quant.block && !hybrid) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "weights in blocks are only supported for f32");
    return true;
  }
  if (t->quant.block) {
    nn_blocks(n, in, &w);
    return true;
  }
  if (hybrid) {
    const int64_t axis = 1;
    wick_tflite_hybrid h = wick_tflite_byte(n, 3) ? wick_tflite_asymmetric(n, in, 1, &axis)
                                                  : wick_tflite_symmetric(n, in, 1, &axis);
    wick_value k = nn_centre(n, n->in[1], t->quant.zero[0], WICK_I32);
    sum = wick_build2(b, WICK_OP_matmul, h.x, wick_build_swap(b, k));
    n->out[0] = wick_tflite_unrows(n, nn_hybrid_end(n, sum, h.scale, 1, 2, act), w.dim[0]);
    return true;
  }
  wick_elem e = nn_sum(n, 0, 2);
  wick_value v = nn_centre(n, in, x->quant.zero[0], e),
             k = nn_centre(n, n->in[1], t->quant.zero[0], e);
  sum = wick_build2(b, WICK_OP_matmul, v, wick_build_swap(b, k));
  if (wick_import_has(n, 2)) {
    wick_value bias = wick_build_cast(b, n->in[2], e);
    sum = wick_build2(b, WICK_OP_add, sum, bias);
  }
  n->out[0] = wick_tflite_unrows(n, nn_end(n, sum, 0, 1, e, act), w.dim[0]);
  return true;
}

bool wick_tflite_quantized_batch_matmul(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *t = wick_tflite_in(n, 1);
  bool hybrid = nn_is_hybrid(n, 0, 1), turn_x = wick_tflite_byte(n, 0),
       turn_y = wick_tflite_byte(n, 1);
  if (!hybrid && (!nn_is_quantized(n, 0, 1) || n->failed)) return n->failed;
  wick_value in = turn_x ? wick_build_swap(b, n->in[0]) : n->in[0];
  wick_elem e = x->elem == WICK_I16 ? WICK_I64 : WICK_I32;
  wick_value k = nn_centre(n, n->in[1], t->quant.zero[0], e);
  if (turn_y) k = wick_build_swap(b, k);
  if (hybrid) {
    const int64_t axis = -1;
    wick_tflite_hybrid h = wick_tflite_byte(n, 2) ? wick_tflite_asymmetric(n, in, 1, &axis)
                                                  : wick_tflite_symmetric(n, in, 1, &axis);
    wick_value sum = wick_build2(b, WICK_OP_matmul, h.x, k);
    n->out[0] = nn_hybrid_end(n, sum, h.scale, 1, UINT32_MAX, 0);
    return true;
  }
  wick_value v = nn_centre(n, in, x->quant.zero[0], e);
  n->out[0] = nn_end(n, wick_build2(b, WICK_OP_matmul, v, k), 0, 1, e, 0);
  return true;
}

/* ---- softmax: a table of exp for the 256 differences ---- */

bool wick_tflite_quantized_softmax(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  double table[256];
  int64_t dim = 256, lo, hi;
  if (!wick_tflite_is_quantized(x)) return false;
  if (!n->row->arg && (x->elem == WICK_I16 || y->elem == WICK_I16)) {
    (x->elem == WICK_I16 ? wick_tflite_softmax_wide : wick_tflite_softmax_fixed)(n);
    return true;
  }
  if (n->row->arg && wick_elem_storage[x->elem].bits == 8 && y->elem == x->elem) {
    wick_tflite_log_softmax(n);
    return true;
  }
  if (wick_elem_storage[x->elem].bits != 8 || n->row->arg) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "it is not supported for quantized %s",
                     wick_elem_name(x->elem));
    return true;
  }
  float scale = -(float)x->quant.scale[0] * (float)wick_tflite_f32(n, 0);
  for (int k = 0; k < 256; k++) table[k] = (double)expf(scale * (float)k);
  wick_value all = wick_emit_table(b, n->name, WICK_F32, 1, &dim, table);
  wick_value v = wick_build_cast(b, n->in[0], WICK_I32);
  wick_value most = wick_emit_reduce1(b, WICK_OP_reduce_max, v, -1, true);
  v = wick_emit_gather(b, WICK_OP_gather, all, wick_build2(b, WICK_OP_sub, most, v), 0);
  wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, v, -1, true);
  sum = wick_emit_by(b, WICK_OP_mul, sum, y->quant.n ? y->quant.scale[0] : 1);
  sum = wick_build2(b, WICK_OP_div, wick_emit_number(b, sum, 1), sum);
  v = wick_build2(b, WICK_OP_mul, v, sum);
  if (y->elem == WICK_U8)
    v = wick_build1(b, WICK_OP_trunc, wick_emit_by(b, WICK_OP_add, v, 0.5));
  else
    v = wick_tflite_round(b, v, -1e9, 1e9);
  if (b->status) return true;
  wick_tflite_range(n, 0, &lo, &hi);
  n->out[0] = wick_fixed_end(b, wick_build_cast(b, v, WICK_I32), y->quant.n ? y->quant.zero[0] : 0,
                             lo, hi, y->elem);
  return true;
}

/* ---- reductions ---- */

/* The factor of a mean includes the division by the number of elements. */
static wick_fixed nn_mean_factor(double real, int64_t numel)
{
  wick_fixed f = wick_fixed_of(real);
  int shift = 0;
  while (shift < 63 && (numel >> (shift + 1))) shift++; /* 63 - the leading zeros of numel */
  if (shift > 32) shift = 32;
  if (shift > 31 + f.shift) shift = 31 + f.shift;
  if (shift < 0) shift = 0;
  f.multiplier = (int32_t)(((int64_t)f.multiplier << shift) / numel);
  f.shift -= shift;
  return f;
}

/* Rescales after each factor, in order. The scale of the result is shared among them. */
static void nn_product(wick_import_node *n, uint32_t count, const int64_t *axes, bool keep)
{
  enum { MOST = 1 << 12 };
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t perm[WICK_MAX_RANK], lo, hi;
  uint32_t kept = 0, reduced = t.rank - count;
  wick_dim numel = wick_dim_const(1), dim[WICK_MAX_RANK + 1], out[WICK_MAX_RANK];
  for (uint32_t k = 0, next = 0, nout = 0; k < t.rank; k++) {
    bool away = next < count && axes[next] == k;
    perm[away ? reduced++ : kept++] = k;
    if (away) next++, numel = wick_dim_mul(n->c->module->dims, numel, t.dim[k]);
    if (!away) dim[kept - 1] = t.dim[k];
    if (!away || keep) out[nout++] = away ? wick_dim_const(1) : t.dim[k];
  }
  if (!wick_dim_is_const(numel) || numel.v < 1 || numel.v > MOST) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "it multiplies more than %d numbers, or an unknown number", MOST);
    return;
  }
  wick_fixed f = wick_fixed_of(x->quant.scale[0] / pow(y->quant.scale[0], 1.0 / (double)numel.v));
  wick_value v = nn_centre(n, n->in[0], x->quant.zero[0], WICK_I64), product = {0};
  dim[kept] = numel;
  v = wick_build_reshape(b, wick_build_transpose(b, v, t.rank, perm), kept + 1, dim);
  for (int64_t k = 0; k < numel.v && !b->status; k++) {
    wick_value factor = wick_emit_squeeze(
        b, wick_emit_slice(b, v, kept, wick_dim_const(k), wick_dim_const(1)), kept);
    product =
        k ? wick_fixed_mul_wide(b, wick_build2(b, WICK_OP_mul, product, factor), 1, &f) : factor;
    if (k && !b->status) product = wick_build_cast(b, product, WICK_I64);
  }
  product = wick_fixed_mul_wide(b, product, 1, &f);
  wick_tflite_range(n, 0, &lo, &hi);
  product = wick_fixed_end(b, product, y->quant.zero[0], lo, hi, y->elem);
  n->out[0] = wick_build_reshape(b, product, keep ? t.rank : kept, out);
}

/* The only kernel of sums that writes its result computes in f32; sums above 32 bits become the least
 * number. */
static wick_value nn_total(wick_import_node *n, wick_value sum, int64_t numel)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  float scale = (float)x->quant.scale[0] / (float)y->quant.scale[0];
  float bias = (float)-x->quant.zero[0] * scale * (float)numel;
  if (n->b->status) return sum;
  sum = wick_build_cast(n->b, sum, WICK_F32);
  sum = wick_emit_by(n->b, WICK_OP_mul, sum, (double)scale);
  sum = wick_emit_by(n->b, WICK_OP_add, sum, (double)bias);
  sum = wick_tflite_round(n->b, sum, INT32_MIN, 2147483648.0);
  if (n->b->status) return sum;
  wick_value over = wick_build2(n->b, WICK_OP_ge, sum, wick_emit_number(n->b, sum, 2147483648.0));
  sum = wick_build_cast(n->b, sum, WICK_I32);
  return wick_build3(n->b, WICK_OP_where, over, wick_emit_number(n->b, sum, INT32_MIN), sum);
}

bool wick_tflite_quantized_reduce(wick_import_node *n, uint32_t count, const int64_t *axes,
                                  bool keep)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  bool mean = n->row->op == WICK_OP_reduce_mean, product = n->row->op == WICK_OP_reduce_prod;
  int64_t lo, hi;
  if (!mean && !product && n->row->op != WICK_OP_reduce_sum) return false;
  if (!nn_is_quantized(n, 0, 0) || n->failed) return n->failed;
  if (product) {
    nn_product(n, count, axes, keep);
    return true;
  }
  wick_dim numel = wick_dim_const(1);
  for (uint32_t k = 0; k < count; k++)
    numel = wick_dim_mul(n->c->module->dims, numel, wick_import_info(n, 0)->dim[axes[k]]);
  if (!wick_dim_is_const(numel) || numel.v < 1 || numel.v > INT32_MAX) {
    wick_import_must_be_known(n, "the number of elements", numel);
    return true;
  }
  wick_fixed f = nn_mean_factor(x->quant.scale[0] / y->quant.scale[0], numel.v);
  wick_value v = nn_centre(n, n->in[0], mean ? x->quant.zero[0] : 0, WICK_I32);
  v = wick_emit_reduce(b, WICK_OP_reduce_sum, v, count, axes, keep);
  v = mean ? wick_fixed_mul(b, v, 1, &f) : nn_total(n, v, numel.v);
  wick_tflite_range(n, 0, &lo, &hi);
  n->out[0] = wick_fixed_end(b, v, y->quant.zero[0], lo, hi, y->elem);
  return true;
}
