/* Imports element-wise arithmetic, comparison, logic, rounding and trigonometry. */
#include "import/onnx/import.h"

static void arith_unary(wick_onnx_op *o) { o->out[0] = wick_build1(o->b, o->row->op, o->in[0]); }

/* Imports operators that also accept integers, whose results lose their fraction, and narrow
 * floats. */
static void arith_widened(wick_onnx_op *o)
{
  wick_value x = o->in[0], y = wick_build1(o->b, o->row->op, wick_emit_widen(o->b, o->row->op, x));
  bool logic = !o->b->status && wick_built_info(o->b, y)->elem == WICK_BOOL;
  o->out[0] = logic ? y : wick_build_cast(o->b, y, wick_built_info(o->b, x)->elem);
}

static void arith_binary(wick_onnx_op *o)
{
  o->out[0] = wick_build2(o->b, o->row->op, o->in[0], o->in[1]);
}

/* Before opset 7, shapes are equal, or `broadcast` is set. Then the second operand's axes align
 * with the first operand's from `axis` on, by default with its last axes. */
static void arith_binary_1(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0), *y = wick_onnx_info(o, 1);
  wick_value b = o->in[1];
  if (wick_onnx_int(o, "broadcast", 0) && wick_onnx_attr_find(o, "axis")) {
    int64_t axis = wick_onnx_int(o, "axis", 0);
    if (axis < 0) axis += x->rank;
    if (axis < 0 || axis + y->rank > x->rank) {
      wick_onnx_fail(o, WICK_ETYPE, "axis %lld does not align rank %u with rank %u",
                     (long long)axis, y->rank, x->rank);
      return;
    }
    wick_dim dim[WICK_MAX_RANK];
    uint32_t n = 0, rank = x->rank - (uint32_t)axis;
    for (; n < rank; n++) dim[n] = n < y->rank ? y->dim[n] : wick_dim_const(1);
    b = wick_build_reshape(o->b, b, n, dim);
  }
  o->out[0] = wick_build2(o->b, o->row->op, o->in[0], b);
}

/* Sum, Mean, Max, Min: combines the operands from left to right. */
static void arith_variadic(wick_onnx_op *o)
{
  wick_value v = o->in[0];
  for (uint32_t i = 1; i < o->nin; i++) v = wick_build2(o->b, o->row->op, v, o->in[i]);
  if (o->row->arg && o->nin > 1)
    v = wick_build2(o->b, WICK_OP_div, v, wick_emit_number(o->b, v, o->nin));
  o->out[0] = o->nin > 1 ? v : v;
}

/* From opset 12 on the exponent may have another type. The result has the base's type. */
static void arith_pow(wick_onnx_op *o)
{
  wick_elem x = wick_onnx_info(o, 0)->elem, y = wick_onnx_info(o, 1)->elem;
  if (x == y || wick_elem_is_float(x) || !wick_elem_is_float(y)) {
    o->out[0] = wick_build2(o->b, WICK_OP_pow, o->in[0], wick_build_cast(o->b, o->in[1], x));
    return;
  }
  wick_value base = wick_build_cast(o->b, o->in[0], WICK_F64),
             power = wick_build_cast(o->b, o->in[1], WICK_F64);
  o->out[0] = wick_build_cast(o->b, wick_build2(o->b, WICK_OP_pow, base, power), x);
}

static void arith_mod(wick_onnx_op *o)
{
  bool fmod = wick_onnx_int(o, "fmod", 0) != 0;
  if (!fmod && o->opset < 28 && wick_elem_is_float(wick_onnx_info(o, 0)->elem))
    wick_onnx_fail(o, WICK_ETYPE, "fmod must be 1 for %s",
                   wick_elem_name(wick_onnx_info(o, 0)->elem));
  o->out[0] = wick_build2(o->b, fmod ? WICK_OP_fmod : WICK_OP_mod, o->in[0], o->in[1]);
}

static void arith_shift(wick_onnx_op *o)
{
  int right = wick_onnx_word(o, "direction", "LEFT RIGHT");
  o->out[0] =
      wick_build2(o->b, right ? WICK_OP_shift_right : WICK_OP_shift_left, o->in[0], o->in[1]);
}

static void arith_isinf(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_isinf);
  wick_emit_set_int(&e, "detect_negative", wick_onnx_int(o, "detect_negative", 1));
  wick_emit_set_int(&e, "detect_positive", wick_onnx_int(o, "detect_positive", 1));
  o->out[0] = wick_emit_end1(&e, wick_emit_widen(o->b, WICK_OP_isinf, o->in[0]));
}

static void arith_where(wick_onnx_op *o)
{
  o->out[0] = wick_build3(o->b, WICK_OP_where, o->in[0], o->in[1], o->in[2]);
}

#define UNARY(type, since, op)                                                                     \
  {                                                                                                \
    type, since, {1, 1}, 1, "", arith_unary, WICK_OP_##op, 0                                       \
  }
#define WIDENED(type, since, op)                                                                   \
  {                                                                                                \
    type, since, {1, 1}, 1, "", arith_widened, WICK_OP_##op, 0                                     \
  }
#define BINARY(type, since, op)                                                                    \
  {                                                                                                \
    type, since, {2, 2}, 1, "", arith_binary, WICK_OP_##op, 0                                      \
  }
#define BINARY_1(type, op)                                                                         \
  {                                                                                                \
    type, 1, {2, 2}, 1, "axis:i broadcast:i", arith_binary_1, WICK_OP_##op, 0                      \
  }
#define VARIADIC(type, op, mean)                                                                   \
  {                                                                                                \
    type, 1, {1, WICK_ANY}, 1, "", arith_variadic, WICK_OP_##op, mean                              \
  }

const wick_onnx_row wick_onnx_arith_rows[] = {
    UNARY("Abs", 1, abs),
    UNARY("Acos", 7, acos),
    UNARY("Acosh", 9, acosh),
    BINARY_1("Add", add),
    BINARY("Add", 7, add),
    BINARY_1("And", and),
    BINARY("And", 7, and),
    UNARY("Asin", 7, asin),
    UNARY("Asinh", 9, asinh),
    UNARY("Atan", 7, atan),
    UNARY("Atanh", 9, atanh),
    {"BitShift", 11, {2, 2}, 1, "direction:s!", arith_shift, 0, 0},
    BINARY("BitwiseAnd", 18, bit_and),
    UNARY("BitwiseNot", 18, bit_not),
    BINARY("BitwiseOr", 18, bit_or),
    BINARY("BitwiseXor", 18, bit_xor),
    UNARY("Ceil", 1, ceil),
    UNARY("Cos", 7, cos),
    UNARY("Cosh", 9, cosh),
    BINARY_1("Div", div),
    BINARY("Div", 7, div),
    BINARY_1("Equal", eq),
    BINARY("Equal", 7, eq),
    WIDENED("Erf", 9, erf),
    UNARY("Exp", 1, exp),
    UNARY("Floor", 1, floor),
    BINARY_1("Greater", gt),
    BINARY("Greater", 7, gt),
    BINARY("GreaterOrEqual", 12, ge),
    {"IsInf", 10, {1, 1}, 1, "detect_negative:i detect_positive:i", arith_isinf, 0, 0},
    WIDENED("IsNaN", 9, isnan),
    BINARY_1("Less", lt),
    BINARY("Less", 7, lt),
    BINARY("LessOrEqual", 12, le),
    UNARY("Log", 1, log),
    VARIADIC("Max", max, 0),
    VARIADIC("Mean", add, 1),
    VARIADIC("Min", min, 0),
    {"Mod", 10, {2, 2}, 1, "fmod:i", arith_mod, 0, 0},
    BINARY_1("Mul", mul),
    BINARY("Mul", 7, mul),
    UNARY("Neg", 1, neg),
    UNARY("Not", 1, not ),
    BINARY_1("Or", or),
    BINARY("Or", 7, or),
    BINARY_1("Pow", pow),
    {"Pow", 7, {2, 2}, 1, "", arith_pow, 0, 0},
    UNARY("Reciprocal", 1, reciprocal),
    UNARY("Round", 11, round_even),
    UNARY("Sign", 9, sign),
    UNARY("Sin", 7, sin),
    UNARY("Sinh", 9, sinh),
    UNARY("Sqrt", 1, sqrt),
    BINARY_1("Sub", sub),
    BINARY("Sub", 7, sub),
    VARIADIC("Sum", add, 0),
    UNARY("Tan", 7, tan),
    UNARY("Tanh", 1, tanh),
    {"Where", 9, {3, 3}, 1, "", arith_where, 0, 0},
    BINARY_1("Xor", xor),
    BINARY("Xor", 7, xor),
    {0},
};
