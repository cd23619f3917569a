/* Imports losses of classification, from log-probabilities or from scores. */
#include "import/onnx/import.h"

/* loss[n, d...] = -x[n, target[n, d...], d...] * weight[target], or 0 if the target is ignored. The
 * result is this loss, its sum, or its sum divided by the sum of the weights. */
static wick_value loss_of(wick_onnx_op *o, wick_value x)
{
  wick_builder *b = o->b;
  wick_value target = wick_build_cast(b, o->in[1], WICK_I64), ignored = {0}, weight = {0};
  if (wick_onnx_attr_find(o, "ignore_index")) {
    ignored = wick_emit_by(o->b, WICK_OP_eq, target, (double)wick_onnx_int(o, "ignore_index", 0));
    if (b->status) return x;
    target = wick_build3(b, WICK_OP_where, ignored, wick_emit_number(o->b, target, 0), target);
  }
  wick_value picked =
      wick_emit_gather(o->b, WICK_OP_gather_elements, x, wick_emit_unsqueeze(o->b, target, 1), 1);
  wick_value loss = wick_build1(b, WICK_OP_neg, wick_emit_squeeze(o->b, picked, 1));
  if (b->status) return x;
  if (wick_onnx_has(o, 2)) weight = wick_emit_gather(o->b, WICK_OP_gather, o->in[2], target, 0);
  if (weight.id) loss = wick_build2(b, WICK_OP_mul, loss, weight);
  if (ignored.id && !b->status) {
    wick_value zero = wick_emit_number(o->b, loss, 0);
    if (!weight.id) weight = wick_emit_number(o->b, loss, 1);
    loss = wick_build3(b, WICK_OP_where, ignored, zero, loss);
    weight = wick_build3(b, WICK_OP_where, ignored, zero, weight);
  }
  int reduction = wick_onnx_word(o, "reduction", "mean sum none");
  if (reduction == 2 || b->status) return loss;
  uint32_t rank = wick_built_info(b, loss)->rank;
  int64_t axes[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) axes[k] = k;
  if (reduction == 0 && !weight.id)
    return wick_emit_reduce(o->b, WICK_OP_reduce_mean, loss, rank, axes, false);
  wick_value sum = wick_emit_reduce(o->b, WICK_OP_reduce_sum, loss, rank, axes, false);
  if (reduction == 1) return sum;
  return wick_build2(b, WICK_OP_div, sum,
                     wick_emit_reduce(o->b, WICK_OP_reduce_sum, weight, rank, axes, false));
}

static bool loss_fits(wick_onnx_op *o)
{
  uint32_t x = wick_onnx_info(o, 0)->rank, target = wick_onnx_info(o, 1)->rank;
  if (x >= 2 && target == x - 1) return true;
  wick_onnx_fail(o, WICK_ETYPE, "ranks %u and %u, expected at least 2, and one less", x, target);
  return false;
}

static void loss_likelihood(wick_onnx_op *o)
{
  if (loss_fits(o)) o->out[0] = loss_of(o, o->in[0]);
}

static void loss_cross_entropy(wick_onnx_op *o)
{
  if (!loss_fits(o)) return;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_log_softmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_value p = wick_emit_end1(&e, o->in[0]);
  o->out[0] = loss_of(o, p);
  if (o->nout > 1) o->out[1] = p;
}

const wick_onnx_row wick_onnx_loss_rows[] = {
    {"NegativeLogLikelihoodLoss",
     12,
     {2, 3},
     1,
     "ignore_index:i reduction:s",
     loss_likelihood,
     0,
     0},
    {"SoftmaxCrossEntropyLoss",
     12,
     {2, 3},
     2,
     "ignore_index:i reduction:s",
     loss_cross_entropy,
     0,
     0},
    {0},
};
