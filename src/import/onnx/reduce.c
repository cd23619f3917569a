/* Imports reductions along axes. */
#include "import/onnx/import.h"

/* Axes are counted from the front, so that equal reductions have equal text; the row checks their
 * range. */
/* Reduces over no axes: applies only the operation of the reduction on single elements. */
static wick_value reduce_nothing(wick_onnx_op *o)
{
  wick_value x = o->in[0];
  switch ((int)o->row->op) {
  case WICK_OP_reduce_l1:
  case WICK_OP_reduce_l2: return wick_build1(o->b, WICK_OP_abs, x);
  case WICK_OP_reduce_log_sum: return wick_build1(o->b, WICK_OP_log, x);
  case WICK_OP_reduce_sum_square: return wick_build2(o->b, WICK_OP_mul, x, x);
  default: return x;
  }
}

static void reduce_over(wick_onnx_op *o, uint32_t n, const int64_t *axes)
{
  bool keepdims = wick_onnx_int(o, "keepdims", 1) != 0;
  wick_value x = o->in[0];
  if (!n && wick_onnx_int(o, "noop_with_empty_axes", 0)) {
    o->out[0] = reduce_nothing(o);
  } else if (!n && !wick_onnx_info(o, 0)->rank) {
    o->out[0] = reduce_nothing(o); /* a scalar has no axes */
  } else if (wick_onnx_info(o, 0)->elem == WICK_BOOL) {
    x = wick_emit_reduce(o->b, o->row->op, wick_build_cast(o->b, x, WICK_U8), n, axes, keepdims);
    o->out[0] = wick_build_cast(o->b, x, WICK_BOOL);
    /* of integers, for an operator that accepts only floats: the result loses its fraction */
  } else {
    x = wick_emit_reduce(o->b, o->row->op, wick_emit_widen(o->b, o->row->op, x), n, axes, keepdims);
    o->out[0] = wick_build_cast(o->b, x, wick_onnx_info(o, 0)->elem);
  }
}

static void reduce_attr(wick_onnx_op *o)
{
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  reduce_over(o, (uint32_t)axes.n, axes.at);
}

static void reduce_input(wick_onnx_op *o)
{
  uint32_t n = 0;
  const int64_t *axes = NULL;
  if (wick_onnx_has(o, 1) && !wick_onnx_numbers(o, 1, "axes", &n, &axes)) return;
  reduce_over(o, n, axes);
}

/* The index of the maximum or minimum. Before opset 12 it is always the first one. */
static void reduce_arg(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, o->row->op);
  wick_emit_set_int(&e, "axis", wick_onnx_int(o, "axis", 0));
  wick_emit_set_int(&e, "keepdims", wick_onnx_int(o, "keepdims", 1));
  wick_emit_set_int(&e, "last", wick_onnx_int(o, "select_last_index", 0));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

#define ARG(type, op)                                                                              \
  {type, 1, {1, 1}, 1, "axis:i keepdims:i", reduce_arg, WICK_OP_##op, 0},                          \
  {                                                                                                \
    type, 12, {1, 1}, 1, "axis:i keepdims:i select_last_index:i", reduce_arg, WICK_OP_##op, 0      \
  }
#define REDUCE(type, op, since)                                                                    \
  {type, 1, {1, 1}, 1, "axes:I keepdims:i", reduce_attr, WICK_OP_##op, 0},                         \
  {                                                                                                \
    type, since, {1, 2}, 1, "keepdims:i noop_with_empty_axes:i", reduce_input, WICK_OP_##op, 0     \
  }

const wick_onnx_row wick_onnx_reduce_rows[] = {
    ARG("ArgMax", argmax),
    ARG("ArgMin", argmin),
    REDUCE("ReduceL1", reduce_l1, 18),
    REDUCE("ReduceL2", reduce_l2, 18),
    REDUCE("ReduceLogSum", reduce_log_sum, 18),
    REDUCE("ReduceLogSumExp", reduce_log_sum_exp, 18),
    REDUCE("ReduceMax", reduce_max, 18),
    REDUCE("ReduceMean", reduce_mean, 18),
    REDUCE("ReduceMin", reduce_min, 18),
    REDUCE("ReduceProd", reduce_prod, 18),
    REDUCE("ReduceSum", reduce_sum, 13),
    REDUCE("ReduceSumSquare", reduce_sum_square, 18),
    {0},
};
