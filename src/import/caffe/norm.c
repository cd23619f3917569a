/* Imports Caffe's layers that normalize, multiply with matrices or reduce. */
#include "import/caffe/ops.h"
#include "import/kit/array.h"

/* ---- batch normalization ---- */

static wick_value norm_filled(wick_import_node *n, wick_value like, double value)
{
  if (n->b->status) return like;
  return wick_build_const(n->b, wick_built_type(n->b, like), value, 0);
}

static wick_value norm_batch(wick_import_node *n, wick_value scale, wick_value bias,
                             wick_value mean, wick_value variance, double epsilon)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_batch_norm);
  wick_emit_set_float(&e, "epsilon", epsilon);
  return wick_emit_end(&e, 5, (wick_value[]){n->in[0], scale, bias, mean, variance});
}

/* (x - mean) / sqrt(variance + eps) over a batch, whose mean and variance are computed. */
static wick_value norm_of_batch(wick_import_node *n, double epsilon)
{
  wick_builder *b = n->b;
  int64_t axes[WICK_MAX_RANK] = {0};
  uint32_t rank = wick_import_info(n, 0)->rank, count = 1;
  for (uint32_t k = 2; k < rank; k++) axes[count++] = k;
  wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, n->in[0], count, axes, true);
  wick_value d = wick_build2(b, WICK_OP_sub, n->in[0], mean);
  wick_value v = wick_build2(b, WICK_OP_mul, d, d);
  v = wick_emit_reduce(b, WICK_OP_reduce_mean, v, count, axes, true);
  v = wick_build1(b, WICK_OP_sqrt, wick_emit_by(b, WICK_OP_add, v, epsilon));
  return wick_build2(b, WICK_OP_div, d, v);
}

/* Blobs: sums of means and variances, and by what both are divided. NVIDIA's fork has a scale and a bias
 * after them. */
void wick_caffe_batch_norm(wick_import_node *n)
{
  double factor = 1, epsilon = wick_import_real(n, "eps", 1e-5);
  uint32_t nblob = wick_caffe_nblob(n);
  bool own = wick_import_int(n, "scale_bias", 0) != 0;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  if (!wick_import_int(n, "use_global_stats", 1)) {
    n->out[0] = norm_of_batch(n, epsilon);
    return;
  }
  wick_value mean = wick_caffe_vector(n, 0), variance = {0};
  if (!n->failed) variance = wick_caffe_vector(n, 1);
  if (n->failed || (nblob > 2 && !wick_caffe_number(n, 2, &factor))) return;
  factor = factor == 0 ? 0 : 1 / factor;
  if (factor != 1) {
    mean = wick_emit_by(n->b, WICK_OP_mul, mean, factor);
    variance = wick_emit_by(n->b, WICK_OP_mul, variance, factor);
  }
  wick_value scale = own ? wick_caffe_vector(n, 3) : norm_filled(n, mean, 1), bias = {0};
  if (!n->failed) bias = own ? wick_caffe_vector(n, 4) : norm_filled(n, mean, 0);
  if (!n->failed) n->out[0] = norm_batch(n, scale, bias, mean, variance, epsilon);
}

/* The layer of SegNet (scale and shift) and of PSPNet (also mean and variance). */
void wick_caffe_bn(wick_import_node *n)
{
  wick_value v[4] = {{0}};
  uint32_t count = wick_caffe_nblob(n) > 2 ? 4 : 2;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  for (uint32_t k = 0; k < count && !n->failed; k++) v[k] = wick_caffe_vector(n, k);
  if (n->failed) return;
  double epsilon = wick_import_real(n, "eps", 1e-5);
  if (count == 2) v[2] = norm_filled(n, v[0], 0), v[3] = norm_filled(n, v[0], 1), epsilon = 0;
  n->out[0] = norm_batch(n, v[0], v[1], v[2], v[3], epsilon);
}

/* ---- other normalizations ---- */

/* (x - mean) / (deviation + eps), over each channel's image or over whole images */
void wick_caffe_mvn(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t axes[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank, count = 0;
  if (!wick_import_rank(n, 0, 3, WICK_MAX_RANK)) return;
  for (uint32_t k = wick_import_int(n, "across_channels", 0) ? 1 : 2; k < rank; k++)
    axes[count++] = k;
  wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, n->in[0], count, axes, true);
  wick_value d = wick_build2(b, WICK_OP_sub, n->in[0], mean);
  if (!wick_import_int(n, "normalize_variance", 1)) {
    n->out[0] = d;
    return;
  }
  wick_value v = wick_build2(b, WICK_OP_mul, d, d);
  v = wick_emit_reduce(b, WICK_OP_reduce_mean, v, count, axes, true);
  v = wick_build1(b, WICK_OP_sqrt, v);
  v = wick_emit_by(b, WICK_OP_add, v, wick_import_real(n, "eps", 1e-9));
  n->out[0] = wick_build2(b, WICK_OP_div, d, v);
}

/* SSD's: x / sqrt(sum of squares + eps) * scale, over an image or over the channels of a position */
void wick_caffe_normalize(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t axes[WICK_MAX_RANK], dim[WICK_MAX_RANK] = {-1};
  uint32_t rank = wick_import_info(n, 0)->rank, count = 0;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  uint32_t last = wick_import_int(n, "across_spatial", 1) ? rank : 2;
  for (uint32_t k = 1; k < last; k++) axes[count++] = k;
  for (uint32_t k = 1; k + 1 < rank; k++) dim[k] = 1;
  if (wick_import_int(n, "channel_shared", 1)) dim[0] = 1;
  wick_value norm = wick_emit_reduce(b, WICK_OP_reduce_sum_square, n->in[0], count, axes, true);
  norm = wick_emit_by(b, WICK_OP_add, norm, wick_import_real(n, "eps", 1e-10));
  wick_value y = wick_build2(b, WICK_OP_div, n->in[0], wick_build1(b, WICK_OP_sqrt, norm));
  wick_value scale = wick_caffe_weight(n, 0, rank - 1, dim);
  if (scale.id) n->out[0] = wick_build2(b, WICK_OP_mul, y, scale);
}

void wick_caffe_softmax(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_caffe_axis(n, "axis", 1, &axis)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* ---- products ---- */

void wick_caffe_inner_product(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info *x = wick_import_info(n, 0);
  uint32_t axis, rank = x->rank;
  wick_dim dim[WICK_MAX_RANK];
  int64_t outputs = wick_import_int(n, "num_output", 0), size[2] = {outputs, -1};
  bool transposed = wick_import_int(n, "transpose", 0) != 0;
  if (!wick_caffe_axis(n, "axis", 1, &axis)) return;
  if (outputs < 1 || outputs > INT32_MAX) {
    wick_import_fail(n, WICK_ERANGE, "num_output is %lld", (long long)outputs);
    return;
  }
  if (transposed) size[0] = -1, size[1] = outputs;
  for (uint32_t k = 0; k < axis; k++) dim[k] = x->dim[k];
  wick_value w = wick_caffe_weight(n, 0, 2, size), bias = {0};
  bool biased = wick_import_int(n, "bias_term", 1) != 0;
  if (biased && !n->failed) bias = wick_caffe_weight(n, 1, 1, &outputs);
  if (n->failed) return;
  wick_value left = rank == 2 && axis == 1 ? n->in[0] : wick_array_matrix(n, n->in[0], axis);
  wick_value y = wick_build2(b, WICK_OP_matmul, left, transposed ? w : wick_build_swap(b, w));
  if (biased) y = wick_build2(b, WICK_OP_add, y, bias);
  dim[axis] = wick_dim_const(outputs);
  n->out[0] = axis == 1 ? y : wick_build_reshape(b, y, axis + 1, dim);
}

/* Rows of the weights, by indices that are floats. */
void wick_caffe_embed(wick_import_node *n)
{
  int64_t outputs = wick_import_int(n, "num_output", 0),
          inputs = wick_import_int(n, "input_dim", 0), size[2] = {inputs, outputs};
  if (outputs < 1 || inputs < 1) {
    wick_import_fail(n, WICK_ERANGE, "num_output is %lld and input_dim %lld", (long long)outputs,
                     (long long)inputs);
    return;
  }
  wick_value w = wick_caffe_weight(n, 0, 2, size), bias = {0};
  bool biased = wick_import_int(n, "bias_term", 1) != 0;
  if (biased && !n->failed) bias = wick_caffe_weight(n, 1, 1, &outputs);
  if (n->failed) return;
  wick_value index = wick_build_cast(n->b, n->in[0], WICK_I64);
  wick_value y = wick_emit_gather(n->b, WICK_OP_gather, w, index, 0);
  n->out[0] = biased ? wick_build2(n->b, WICK_OP_add, y, bias) : y;
}

/* ---- reductions ---- */

/* Over all axes from `axis` on. */
void wick_caffe_reduction(wick_import_node *n)
{
  static const wick_opcode ops[] = {WICK_OP_reduce_sum, WICK_OP_reduce_l1,
                                    WICK_OP_reduce_sum_square, WICK_OP_reduce_mean};
  int64_t form = wick_import_int(n, "operation", 1), axes[WICK_MAX_RANK];
  uint32_t axis, count = 0, rank = wick_import_info(n, 0)->rank;
  double coeff = wick_import_real(n, "coeff", 1);
  if (!wick_caffe_axis(n, "axis", 0, &axis)) return;
  if (form < 1 || form > 4) {
    wick_import_fail(n, WICK_EPARSE, "there is no operation %lld", (long long)form);
    return;
  }
  for (uint32_t k = axis; k < rank; k++) axes[count++] = k;
  wick_value y = wick_emit_reduce(n->b, ops[form - 1], n->in[0], count, axes, false);
  n->out[0] = coeff != 1 ? wick_emit_by(n->b, WICK_OP_mul, y, coeff) : y;
}

/* The largest elements along an axis: of equal ones the last comes first, as Caffe sorts pairs. */
static bool norm_largest(wick_import_node *n, wick_value x, uint32_t axis, int64_t k,
                         wick_value *value, wick_value *index)
{
  wick_builder *b = n->b;
  if (b->status) return false;
  wick_dim size = wick_built_info(b, x)->dim[axis], most = wick_dim_const(k);
  if (k < 1 || (wick_dim_is_const(size) && k > size.v)) {
    wick_import_fail(n, WICK_ERANGE, "top_k is %lld, which does not fit the input", (long long)k);
    return false;
  }
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &most);
  *value = wick_emit_end1(&e, wick_array_reverse(n, x, 1u << axis));
  wick_value last = wick_build1(b, WICK_OP_size, wick_emit_count(b, size));
  last = wick_emit_by(b, WICK_OP_sub, last, 1);
  if (b->status) return false;
  *index = wick_build2(b, WICK_OP_sub, last, (wick_value){value->id + 1});
  *index = wick_build_cast(b, *index, WICK_F32);
  return !b->status;
}

void wick_caffe_argmax(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t k = wick_import_int(n, "top_k", 1);
  bool values = wick_import_int(n, "out_max_val", 0) != 0;
  uint32_t axis, rank = wick_import_info(n, 0)->rank;
  wick_value value, index;
  if (wick_import_attr_has(n, "axis")) {
    if (wick_caffe_axis(n, "axis", 0, &axis) && norm_largest(n, n->in[0], axis, k, &value, &index))
      n->out[0] = values ? value : index;
    return;
  }
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK) ||
      !norm_largest(n, wick_array_matrix(n, n->in[0], 1), 1, k, &value, &index))
    return;
  wick_value y = values ? wick_build_concat(b, 1, 2, (wick_value[]){index, value}) : index;
  wick_dim dim[WICK_MAX_RANK] = {wick_import_info(n, 0)->dim[0], wick_dim_const(values ? 2 : 1),
                                 wick_dim_const(k)};
  rank = rank < 3 ? 3 : rank;
  for (uint32_t i = 3; i < rank; i++) dim[i] = wick_dim_const(1);
  n->out[0] = wick_build_reshape(b, y, rank, dim);
}
