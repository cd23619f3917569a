/* Imports Caffe's layers that work element by element. */
#include <math.h>

#include "import/caffe/ops.h"

void wick_caffe_unary(wick_import_node *n) { n->out[0] = wick_build1(n->b, n->row->op, n->in[0]); }

void wick_caffe_same(wick_import_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++) n->out[k] = n->in[0];
}

void wick_caffe_silence(wick_import_node *n) { (void)n; }

void wick_caffe_relu(wick_import_node *n)
{
  double slope = wick_import_real(n, "negative_slope", 0);
  if (slope == 0) {
    n->out[0] = wick_build1(n->b, WICK_OP_relu, n->in[0]);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_leaky_relu);
  wick_emit_set_float(&e, "alpha", slope);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

static wick_value elementwise_clip(wick_import_node *n, double least, double most)
{
  wick_value in[3] = {n->in[0]};
  in[1] = wick_emit_number(n->b, n->in[0], least);
  in[2] = wick_emit_number(n->b, n->in[0], most);
  return wick_build(n->b, WICK_OP_clip, 3, in, NULL, 0, NULL);
}

void wick_caffe_relu6(wick_import_node *n)
{
  n->out[0] = elementwise_clip(n, 0, wick_import_real(n, "threshold", 6));
}

void wick_caffe_clip(wick_import_node *n)
{
  n->out[0] = elementwise_clip(n, wick_import_real(n, "min", -(double)INFINITY),
                               wick_import_real(n, "max", (double)INFINITY));
}

void wick_caffe_elu(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_elu);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* One slope, or one for each channel. */
void wick_caffe_prelu(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  int64_t dim[WICK_MAX_RANK] = {-1};
  bool shared = wick_import_int(n, "channel_shared", 0) != 0;
  uint32_t count = shared || rank < 2 ? 1 : rank - 1;
  for (uint32_t k = 1; k < count; k++) dim[k] = 1;
  if (shared) dim[0] = 1;
  wick_value slope = wick_caffe_weight(n, 0, count, dim);
  if (slope.id) n->out[0] = wick_build2(n->b, WICK_OP_prelu, n->in[0], slope);
}

void wick_caffe_swish(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_swish);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "beta", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Returns shift + scale * x. */
static wick_value elementwise_affine(wick_import_node *n)
{
  double scale = wick_import_real(n, "scale", 1), shift = wick_import_real(n, "shift", 0);
  wick_value x = n->in[0];
  if (scale != 1) x = wick_emit_by(n->b, WICK_OP_mul, x, scale);
  return shift != 0 ? wick_emit_by(n->b, WICK_OP_add, x, shift) : x;
}

/* Returns the logarithm of the base; -1 is e. NaN after a failure. */
static double elementwise_log_base(wick_import_node *n)
{
  double base = wick_import_real(n, "base", -1);
  if (base == -1) return 1;
  if (base > 0) return log(base);
  wick_import_fail(n, WICK_ERANGE, "the base is %g, expected -1 or above 0", base);
  return (double)NAN;
}

void wick_caffe_exp(wick_import_node *n)
{
  double by = elementwise_log_base(n);
  wick_value x = elementwise_affine(n);
  if (by != 1) x = wick_emit_by(n->b, WICK_OP_mul, x, by);
  if (!n->failed) n->out[0] = wick_build1(n->b, WICK_OP_exp, x);
}

void wick_caffe_log(wick_import_node *n)
{
  double by = elementwise_log_base(n);
  wick_value y = wick_build1(n->b, WICK_OP_log, elementwise_affine(n));
  if (by == 0) wick_import_fail(n, WICK_ERANGE, "the base is 1");
  if (!n->failed) n->out[0] = by == 1 ? y : wick_emit_by(n->b, WICK_OP_div, y, by);
}

void wick_caffe_power(wick_import_node *n)
{
  double power = wick_import_real(n, "power", 1);
  wick_value x = elementwise_affine(n);
  if (power == 1)
    n->out[0] = x;
  else if (power == 2)
    n->out[0] = wick_build2(n->b, WICK_OP_mul, x, x);
  else
    n->out[0] = wick_emit_by(n->b, WICK_OP_pow, x, power);
}

void wick_caffe_threshold(wick_import_node *n)
{
  wick_value above = wick_emit_by(n->b, WICK_OP_gt, n->in[0], wick_import_real(n, "threshold", 0));
  n->out[0] = wick_build_cast(n->b, above, WICK_F32);
}

/* A product, a sum with coefficients, or the largest elements. */
void wick_caffe_eltwise(wick_import_node *n)
{
  static const wick_opcode ops[] = {WICK_OP_mul, WICK_OP_add, WICK_OP_max};
  int64_t form = wick_import_int(n, "operation", 1);
  wick_import_attr coeff = wick_import_attr_of(n, "coeff", 'F');
  if (form < 0 || form > 2 || (coeff.n && coeff.n != n->nin)) {
    wick_import_fail(n, WICK_EPARSE, "operation %lld with %u coefficients for %u inputs",
                     (long long)form, coeff.n, n->nin);
    return;
  }
  wick_value y = {0};
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value x = n->in[k];
    const wick_type_info *a = wick_import_info(n, 0), *b = wick_import_info(n, k);
    bool fits = a->rank == b->rank;
    for (uint32_t i = 0; fits && i < a->rank; i++)
      fits = wick_import_equal(n, a->dim[i], b->dim[i]);
    if (!fits) {
      wick_import_fail(n, WICK_ETYPE, "inputs 0 and %u have different shapes", k);
      return;
    }
    if (form == 1 && coeff.n && coeff.floats[k] != 1)
      x = wick_emit_by(n->b, WICK_OP_mul, x, coeff.floats[k]);
    y = k ? wick_build2(n->b, ops[form], y, x) : x;
  }
  n->out[0] = y;
}

/* ---- scales and biases ---- */

/* Returns the shape of the axes of x from `axis` on that a layer's own weights cover. False after a
 * failure. */
static bool elementwise_covered(wick_import_node *n, uint32_t axis, uint32_t *rank, int64_t *dim)
{
  const wick_type_info *x = wick_import_info(n, 0);
  int64_t count = wick_import_int(n, "num_axes", 1);
  if (count == -1) count = (int64_t)x->rank - axis;
  if (count < 0 || count > (int64_t)x->rank - axis) {
    wick_import_fail(n, WICK_ERANGE, "num_axes is %lld for axis %u of rank %u", (long long)count,
                     axis, x->rank);
    return false;
  }
  *rank = (uint32_t)count;
  for (uint32_t k = 0; k < *rank; k++) {
    if (!wick_dim_is_const(x->dim[axis + k]))
      return wick_import_must_be_known(n, "the size of the input", x->dim[axis + k]);
    dim[k] = x->dim[axis + k].v;
  }
  return true;
}

/* Gives y, which covers axes of x from `axis` on, ones for the axes after them. */
static wick_value elementwise_aligned(wick_import_node *n, wick_value y, uint32_t axis)
{
  wick_dim dim[WICK_MAX_RANK];
  if (n->b->status) return y;
  uint32_t rank = wick_import_info(n, 0)->rank;
  const wick_type_info *t = wick_built_info(n->b, y);
  if (!t->rank) return y;
  if (t->rank > rank - axis) {
    wick_import_fail(n, WICK_ETYPE, "an operand of rank %u does not fit at axis %u of rank %u",
                     t->rank, axis, rank);
    return y;
  }
  for (uint32_t k = 0; k < rank - axis; k++) dim[k] = k < t->rank ? t->dim[k] : wick_dim_const(1);
  return wick_build_reshape(n->b, y, rank - axis, dim);
}

void wick_caffe_scale(wick_import_node *n)
{
  bool adds = n->row->arg;
  uint32_t axis, rank = 0, next = n->nin < 2;
  int64_t dim[WICK_MAX_RANK];
  wick_value by = n->in[1], x = n->in[0];
  if (!wick_caffe_axis(n, "axis", 1, &axis)) return;
  if (n->nin < 2) {
    if (!elementwise_covered(n, axis, &rank, dim)) return;
    by = wick_caffe_weight(n, 0, rank, dim);
  }
  if (n->failed) return;
  const wick_type_info *t = n->b->status ? NULL : wick_built_info(n->b, by);
  x = wick_build2(n->b, adds ? WICK_OP_add : WICK_OP_mul, x, elementwise_aligned(n, by, axis));
  if (!adds && wick_import_int(n, "bias_term", 0) && t) {
    for (uint32_t k = 0; k < t->rank; k++) {
      if (!wick_dim_is_const(t->dim[k])) {
        wick_import_must_be_known(n, "the size of the scale", t->dim[k]);
        return;
      }
      dim[k] = t->dim[k].v;
    }
    wick_value bias = wick_caffe_weight(n, next, t->rank, dim);
    if (!bias.id) return;
    x = wick_build2(n->b, WICK_OP_add, x, elementwise_aligned(n, bias, axis));
  }
  if (!n->failed) n->out[0] = x;
}

/* scale * x + y, with a scale for each channel of each image */
void wick_caffe_axpy(wick_import_node *n)
{
  const wick_type_info *a = wick_import_info(n, 0), *x = wick_import_info(n, 1);
  wick_dim dim[WICK_MAX_RANK];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK) || !wick_import_rank(n, 1, 2, WICK_MAX_RANK))
    return;
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = k < 2 ? a->dim[k] : wick_dim_const(1);
  wick_value y = wick_build_reshape(n->b, n->in[0], x->rank, dim);
  y = wick_build2(n->b, WICK_OP_mul, y, n->in[1]);
  n->out[0] = wick_build2(n->b, WICK_OP_add, y, n->in[2]);
}

/* Old forks scale when they run, not when they train. */
void wick_caffe_dropout(wick_import_node *n)
{
  double kept = 1 - wick_import_real(n, "dropout_ratio", 0.5);
  bool scales = !wick_import_int(n, "scale_train", 1);
  n->out[0] = scales ? wick_emit_by(n->b, WICK_OP_mul, n->in[0], kept) : n->in[0];
}
