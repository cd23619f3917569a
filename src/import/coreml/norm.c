/* Normalization. */
#include "import/coreml/layers.h"

/* (x - mean) / sqrt(variance + epsilon) over these axes; the mean alone if `centre` is all. */
static wick_value norm_over(wick_import_node *n, wick_value x, uint32_t count, const int64_t *axes,
                            double epsilon, bool centre)
{
  wick_builder *b = n->b;
  wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, x, count, axes, true);
  x = wick_build2(b, WICK_OP_sub, x, mean);
  if (centre) return x;
  wick_value square = wick_build2(b, WICK_OP_mul, x, x);
  wick_value v = wick_emit_reduce(b, WICK_OP_reduce_mean, square, count, axes, true);
  v = wick_build1(b, WICK_OP_sqrt, wick_emit_by(b, WICK_OP_add, v, epsilon));
  return wick_build2(b, WICK_OP_div, x, v);
}

void wick_coreml_batch_norm(wick_import_node *n)
{
  static const char *const names[] = {"gamma", "beta", "mean", "variance"};
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_builder *b = n->b;
  int64_t channels = wick_import_int(n, "channels", 0), three[3] = {channels, 1, 1};
  double epsilon = wick_coreml_positive(n, "epsilon", 1e-5);
  wick_value like = wick_coreml_float(n, 0), in[5];
  if (wick_import_int(n, "computeMeanVar", 0)) {
    bool instance = wick_import_int(n, "instanceNormalization", 0) != 0;
    int64_t axes[WICK_MAX_RANK] = {-1, -2};
    uint32_t count = 2, rank = b->status ? 0 : wick_built_info(b, like)->rank;
    for (uint32_t k = 0; k + 3 < rank && !instance; k++) axes[count++] = k;
    wick_value x = norm_over(n, like, count, axes, epsilon, false);
    wick_value gamma = wick_coreml_weight(n, p, "gamma", 3, three);
    wick_value beta = n->failed ? gamma : wick_coreml_weight(n, p, "beta", 3, three);
    if (n->failed) return;
    n->out[0] = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x, gamma), beta);
    return;
  }
  in[0] = wick_coreml_fold(n, like, 3);
  for (uint32_t k = 0; k < 4 && !n->failed; k++)
    in[1 + k] = wick_coreml_weight(n, p, names[k], 1, &channels);
  if (n->failed) return;
  wick_emit e = wick_emit_begin(b, WICK_OP_batch_norm);
  wick_emit_set_float(&e, "epsilon", epsilon);
  n->out[0] = wick_coreml_unfold(n, wick_emit_end(&e, 5, in), like, 3);
}

void wick_coreml_mvn(wick_import_node *n)
{
  const int64_t axes[] = {-1, -2, -3};
  uint32_t count = wick_import_int(n, "acrossChannels", 0) ? 3 : 2;
  n->out[0] =
      norm_over(n, wick_coreml_float(n, 0), count, axes, wick_coreml_positive(n, "epsilon", 1e-6),
                !wick_import_int(n, "normalizeVariance", 0));
}

void wick_coreml_l2(wick_import_node *n)
{
  const int64_t axes[] = {-1, -2, -3};
  wick_builder *b = n->b;
  wick_value x = wick_coreml_float(n, 0);
  wick_value s = wick_emit_reduce(b, WICK_OP_reduce_sum_square, x, 3, axes, true);
  s = wick_emit_by(b, WICK_OP_add, s, wick_coreml_positive(n, "epsilon", 1e-6));
  n->out[0] = wick_build2(b, WICK_OP_div, x, wick_build1(b, WICK_OP_sqrt, s));
}

void wick_coreml_lrn(wick_import_node *n)
{
  wick_value like = wick_coreml_float(n, 0), x = wick_coreml_fold(n, like, 3);
  int64_t size = wick_import_int(n, "localSize", 0);
  if (n->failed) return;
  if (size < 1 || size > INT32_MAX / 2) {
    wick_import_fail(n, WICK_ERANGE, "localSize is %lld, expected 1 or more", (long long)size);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", size);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 0));
  wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0));
  wick_emit_set_float(&e, "bias", wick_coreml_positive(n, "k", 1));
  n->out[0] = wick_coreml_unfold(n, wick_emit_end1(&e, x), like, 3);
}

void wick_coreml_layer_norm(wick_import_node *n)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_import_attr shape = wick_import_ints(n, "normalizedShape");
  wick_value in[3] = {wick_coreml_float(n, 0)};
  uint32_t rank = n->b->status ? 0 : wick_built_info(n->b, in[0])->rank;
  if (!shape.n || shape.n > rank) {
    wick_import_fail(n, WICK_ETYPE, "normalizedShape has %u sizes, the rank of its input is %u",
                     shape.n, rank);
    return;
  }
  in[1] = wick_coreml_weight(n, p, "gamma", shape.n, shape.ints);
  in[2] = n->failed ? in[1] : wick_coreml_weight(n, p, "beta", shape.n, shape.ints);
  if (n->failed) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_layer_norm);
  wick_emit_set_float(&e, "epsilon", wick_coreml_positive(n, "eps", 1e-5));
  wick_emit_set_int(&e, "axis", (int64_t)rank - shape.n);
  n->out[0] = wick_emit_end(&e, 3, in);
}

void wick_coreml_softmax(wick_import_node *n)
{
  uint32_t axis;
  wick_value x = wick_coreml_float(n, 0);
  if (n->b->status) return;
  int64_t wanted = n->row->arg ? -3 : wick_import_int(n, "axis", 0);
  if (!wick_import_axis(n, wanted, wick_built_info(n->b, x)->rank, &axis)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end1(&e, x);
}
