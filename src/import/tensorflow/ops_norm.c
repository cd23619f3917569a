/* Biases, normalization, and quantization that is simulated. */
#include "import/tensorflow/ops.h"
#include <float.h>

/* ---- biases and normalization ---- */

/* A vector along the channels of x. */
static wick_value norm_along(wick_import_node *n, wick_value v, uint32_t rank, bool last)
{
  wick_dim dim[WICK_MAX_RANK];
  if (last || n->b->status) return v;
  for (uint32_t k = 0; k + 1 < rank; k++)
    dim[k] = k ? wick_dim_const(1) : wick_built_info(n->b, v)->dim[0];
  return wick_build_reshape(n->b, v, rank - 1, dim);
}

void wick_tf_import_bias_add(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (!wick_import_rank(n, 1, 1, 1) || !wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  bool last = wick_tf_is_channels_last(n);
  n->out[0] = wick_build2(n->b, WICK_OP_add, n->in[0], norm_along(n, n->in[1], rank, last));
}

static void norm_normalize(wick_import_node *n, wick_value x, const wick_value *v, bool last,
                           double epsilon)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_batch_norm);
  wick_emit_set_float(&e, "epsilon", epsilon);
  wick_elem elem = wick_built_info(n->b, x)->elem;
  wick_value in[5] = {last ? wick_tf_channels_first(n, x) : x};
  for (uint32_t k = 0; k < 4; k++) in[1 + k] = wick_build_cast(n->b, v[k], elem);
  wick_value y = wick_emit_end(&e, 5, in);
  n->out[0] = last ? wick_tf_channels_last(n, y) : y;
}

/* The variance that training returns is divided by the number of elements less one. */
static wick_value norm_unbiased(wick_import_node *n, wick_value variance, bool last)
{
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dim count = wick_dim_const(1);
  for (uint32_t k = 0; k < t.rank; k++)
    if (k != (last ? t.rank - 1u : 1)) count = wick_dim_mul(n->c->module->dims, count, t.dim[k]);
  wick_value many = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, count));
  many = wick_build_cast(n->b, many, WICK_F32);
  wick_value less = wick_emit_by(n->b, WICK_OP_sub, many, 1);
  less = wick_emit_by(n->b, WICK_OP_max, less, 1);
  wick_value ratio = wick_build2(n->b, WICK_OP_div, many, less);
  return wick_build2(n->b, WICK_OP_mul, variance, ratio);
}

/* x, scale, offset, mean, variance. In training the mean and variance are those of x. */
void wick_tf_import_fused_batch_norm(wick_import_node *n)
{
  wick_builder *b = n->b;
  bool last = wick_tf_is_channels_last(n);
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_value v[4] = {n->in[1], n->in[2], n->in[3], n->in[4]};
  double epsilon = wick_import_real(n, "epsilon", (double)0.0001f);
  if (n->failed || !wick_import_rank(n, 0, 4, 5)) return;
  if (wick_import_int(n, "is_training", 1)) {
    int64_t axes[WICK_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t k = 0; k < rank; k++)
      if (k != (last ? rank - 1 : 1)) axes[count++] = k;
    wick_value x = wick_build_cast(b, n->in[0], WICK_F32);
    wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, x, count, axes, true);
    wick_value off = wick_build2(b, WICK_OP_sub, x, mean),
               square = wick_build2(b, WICK_OP_mul, off, off);
    v[3] = wick_emit_reduce(b, WICK_OP_reduce_mean, square, count, axes, false);
    v[2] = wick_emit_reduce(b, WICK_OP_reduce_mean, x, count, axes, false);
  }
  norm_normalize(n, n->in[0], v, last, epsilon);
  for (uint32_t k = 1; k < n->nout; k++) n->out[k] = v[k % 2 ? 2 : 3];
  if (n->nout > 2 && wick_import_int(n, "is_training", 1)) n->out[2] = norm_unbiased(n, v[3], last);
}

/* x, mean, variance, beta, gamma */
void wick_tf_import_old_batch_norm(wick_import_node *n)
{
  wick_value gamma = n->in[4];
  if (!wick_import_int(n, "scale_after_normalization", 0)) {
    wick_type type = wick_built_type(n->b, gamma);
    gamma = wick_build_const(n->b, type, 1, 1);
  }
  wick_value v[4] = {gamma, n->in[3], n->in[1], n->in[2]};
  norm_normalize(n, n->in[0], v, true, wick_import_real(n, "variance_epsilon", 0));
}

void wick_tf_import_lrn(wick_import_node *n)
{
  int64_t radius = wick_import_int(n, "depth_radius", 5);
  if (!wick_import_rank(n, 0, 4, 4)) return;
  if (radius < 0 || radius > 1 << 20) {
    wick_import_fail(n, WICK_ERANGE, "depth_radius is %lld", (long long)radius);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", 2 * radius + 1);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 1) * (double)(2 * radius + 1));
  wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0.5));
  wick_emit_set_float(&e, "bias", wick_import_real(n, "bias", 1));
  n->out[0] = wick_tf_channels_last(n, wick_emit_end1(&e, wick_tf_channels_first(n, n->in[0])));
}

void wick_tf_import_softmax(wick_import_node *n) /* along the last axis */
{
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", -1);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* ---- quantization that is simulated ---- */

/* Rounds x to one of 2^bits levels between two numbers that are moved so that 0 is a level. */
static wick_value norm_fake_quantize(wick_import_node *n, wick_value x, wick_value lo,
                                     wick_value hi, int64_t bits, bool narrow)
{
  wick_builder *b = n->b;
  double least = narrow ? 1 : 0, most = (double)((INT64_C(1) << bits) - 1);
  wick_value span = wick_build2(b, WICK_OP_sub, hi, lo);
  wick_value scale = wick_emit_by(b, WICK_OP_div, span, most - least);
  wick_value shift = wick_build2(b, WICK_OP_div, lo, scale);
  wick_value zero = wick_build2(b, WICK_OP_sub, wick_emit_number(b, x, least), shift);
  wick_value half = wick_emit_by(b, WICK_OP_add, zero, 0.5);
  wick_value floor =
      wick_build1(b, WICK_OP_floor, half); /* halves away from 0; zero is not below */
  wick_value low = wick_emit_number(b, x, least), high = wick_emit_number(b, x, most);
  zero = wick_build3(b, WICK_OP_clip, floor, low, high);
  wick_value from = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, low, zero), scale);
  wick_value to = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, high, zero), scale);
  wick_value in = wick_build2(b, WICK_OP_min, wick_build2(b, WICK_OP_max, x, from), to);
  wick_value above = wick_build2(b, WICK_OP_sub, in, from);
  wick_value level = wick_build2(b, WICK_OP_div, above, scale);
  level = wick_build1(b, WICK_OP_floor, wick_emit_by(b, WICK_OP_add, level, 0.5));
  return wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, level, scale), from);
}

/* arg: the limits are operands */
void wick_tf_import_fake_quant(wick_import_node *n)
{
  int64_t bits = wick_import_int(n, "num_bits", 8);
  wick_value lo, hi;
  if (bits < 2 || bits > 16) {
    wick_import_fail(n, WICK_ERANGE, "num_bits is %lld, expected 2 to 16", (long long)bits);
    return;
  }
  if (n->row->arg) {
    lo = n->in[1], hi = n->in[2];
  } else {
    lo = wick_emit_number(n->b, n->in[0], wick_import_real(n, "min", -6));
    hi = wick_emit_number(n->b, n->in[0], wick_import_real(n, "max", 6));
  }
  n->out[0] =
      norm_fake_quantize(n, n->in[0], lo, hi, bits, wick_import_int(n, "narrow_range", 0) != 0);
}

/* Integers of so many bits, and the float that each of them is worth. */
typedef struct norm_levels {
  double least, most;
  wick_value scale, step; /* levels for each unit, and the inverse */
  wick_value lo, hi;      /* the numbers of the least and the greatest level */
} norm_levels;

/* Levels through 0 that reach lo and hi, of which one may lie within. */
static void norm_levels_of(wick_import_node *n, wick_value lo, wick_value hi, norm_levels *v)
{
  wick_builder *b = n->b;
  wick_value none = wick_emit_number(b, lo, (double)FLT_MAX);
  wick_value by_hi = wick_build2(b, WICK_OP_div, wick_emit_number(b, hi, v->most), hi);
  by_hi = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_gt, hi, 0), by_hi, none);
  v->step = wick_emit_by(b, WICK_OP_div, hi, v->most);
  v->scale = by_hi;
  v->lo = wick_emit_by(b, WICK_OP_mul, v->step, v->least), v->hi = hi;
  if (v->least == 0) return;
  wick_value by_lo = wick_build2(b, WICK_OP_div, wick_emit_number(b, lo, v->least), lo);
  by_lo = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_lt, lo, 0), by_lo, none);
  wick_value below = wick_build2(b, WICK_OP_lt, by_lo, by_hi);
  wick_value step = wick_emit_by(b, WICK_OP_div, lo, v->least);
  wick_value most = wick_emit_by(b, WICK_OP_mul, step, v->most);
  v->scale = wick_build3(b, WICK_OP_where, below, by_lo, by_hi);
  v->step = wick_build3(b, WICK_OP_where, below, step, v->step);
  v->lo = wick_build3(b, WICK_OP_where, below, lo, v->lo);
  v->hi = wick_build3(b, WICK_OP_where, below, most, v->hi);
}

/* A limit of each slice along `axis`, or of the whole operand (axis -1), in the operand's rank. */
static wick_value norm_limit(wick_import_node *n, uint32_t operand, wick_opcode reduce,
                             int64_t axis, bool given)
{
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t axes[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t k = 0; k < t.rank; k++) {
    if (k != axis) axes[count++] = k;
    dim[k] = k == axis ? t.dim[k] : wick_dim_const(1);
  }
  if (!given) return count ? wick_emit_reduce(n->b, reduce, n->in[0], count, axes, true) : n->in[0];
  return wick_build_reshape(n->b, n->in[operand], t.rank, dim);
}

/* x, the least and the greatest number, in the third version also the number of bits */
void wick_tf_import_quantize_and_back(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t bits = wick_import_int(n, "num_bits", 8), axis = wick_import_int(n, "axis", -1);
  bool has_sign = wick_import_int(n, "signed_input", 1),
       narrow = wick_import_int(n, "narrow_range", 0), given = wick_import_int(n, "range_given", 0);
  int up = wick_import_word(n, "round_mode", "HALF_TO_EVEN HALF_UP");
  if (n->nin == 4 && !wick_import_one(n, 3, "the number of bits", bits, &bits)) return;
  if (bits < 1 + has_sign || bits > 62 || axis < -1 || axis >= wick_import_info(n, 0)->rank) {
    wick_import_fail(n, WICK_ERANGE, "%lld bits, along axis %lld of %u", (long long)bits,
                     (long long)axis, wick_import_info(n, 0)->rank);
    return;
  }
  double half = (double)(INT64_C(1) << (bits - has_sign));
  norm_levels v = {.least = has_sign ? narrow - half : 0, .most = half - 1};
  wick_value lo = norm_limit(n, 1, WICK_OP_reduce_min, axis, given);
  wick_value hi = norm_limit(n, 2, WICK_OP_reduce_max, axis, given);
  norm_levels_of(n, lo, hi, &v);
  wick_value x = n->in[0];
  if (given) x = wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_min, x, v.hi), v.lo);
  x = wick_build2(b, WICK_OP_mul, x, v.scale);
  x = up ? wick_build1(b, WICK_OP_floor, wick_emit_by(b, WICK_OP_add, x, 0.5))
         : wick_build1(b, WICK_OP_round_even, x);
  n->out[0] = wick_build2(b, WICK_OP_mul, x, v.step);
}
