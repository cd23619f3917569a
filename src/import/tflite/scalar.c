/* Element-wise operators on floats and plain integers, activations and casts. Quantized tensors are
 * handed to quantized*.c. */
#include <math.h>

#include "import/tflite/ops.h"
#include "import/tflite/quantized.h"

/* ---- activations ---- */

wick_value wick_tflite_clip(wick_builder *b, wick_value x, double lo, double hi)
{
  wick_value in[3] = {x};
  in[1] = wick_emit_number(b, x, lo);
  in[2] = wick_emit_number(b, x, hi);
  return wick_build(b, WICK_OP_clip, 3, in, NULL, 0, NULL);
}

wick_value wick_tflite_activate(wick_import_node *n, wick_value x, int64_t act)
{
  switch (act) {
  case 0: return x;
  case 1: return wick_build1(n->b, WICK_OP_relu, x);
  case 2: return wick_tflite_clip(n->b, x, -1, 1);
  case 3: return wick_tflite_clip(n->b, x, 0, 6);
  case 4: return wick_build1(n->b, WICK_OP_tanh, x);
  default:
    wick_import_fail(n, WICK_EUNSUPPORTED, "the fused activation %lld is not supported",
                     (long long)act);
    return x;
  }
}

/* ---- one operand ---- */

static void scalar_unary(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  n->out[0] = wick_build1(n->b, n->row->op, wick_emit_widen(n->b, n->row->op, n->in[0]));
}

static void scalar_clip(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  const double bound[][2] = {{-1, 1}, {0, 6}, {0, 1}};
  n->out[0] = wick_tflite_clip(n->b, n->in[0], bound[n->row->arg][0], bound[n->row->arg][1]);
}

static void scalar_square(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  n->out[0] = wick_build2(n->b, WICK_OP_mul, n->in[0], n->in[0]);
}

static void scalar_sign(wick_import_node *n)
{
  n->out[0] = wick_build1(n->b, WICK_OP_sign, n->in[0]);
}

static void scalar_leaky(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_leaky_relu);
  wick_emit_set_float(&e, "alpha", wick_tflite_f32(n, 0));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

static void scalar_elu(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_elu);
  wick_emit_set_float(&e, "alpha", 1);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

static void scalar_gelu(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_gelu);
  wick_emit_set_int(&e, "approximate", wick_tflite_byte(n, 0) != 0);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

static void scalar_hard_swish(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  n->out[0] = wick_build1(n->b, WICK_OP_hard_swish, n->in[0]);
}

static void scalar_zeros(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_value zero = wick_emit_number(n->b, n->in[0], 0);
  n->out[0] = wick_emit_expand(n->b, zero, t->rank, t->dim);
}

static void scalar_cast(wick_import_node *n)
{
  n->out[0] = wick_build_cast(n->b, n->in[0], wick_tflite_out(n, 0)->elem);
}

/* ---- two operands ---- */

static void scalar_floor_mod(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_mod, n->in[0], n->in[1]);
}

/* The field of the fused activation is 0 in the options of all that have one (arg 1). */
static void scalar_binary(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  wick_value y = wick_build2(n->b, n->row->op, n->in[0], n->in[1]);
  n->out[0] = n->row->arg ? wick_tflite_activate(n, y, wick_tflite_byte(n, 0)) : y;
}

/* Of bits, or of truth values. */
static void scalar_logical(wick_import_node *n)
{
  bool truth = wick_import_info(n, 0)->elem == WICK_BOOL;
  wick_opcode op =
      n->row->arg ? (truth ? WICK_OP_or : WICK_OP_bit_or) : (truth ? WICK_OP_and : WICK_OP_bit_and);
  n->out[0] = wick_build2(n->b, op, n->in[0], n->in[1]);
}

/* The same bits as another type of that size. */
static void scalar_bitcast(wick_import_node *n)
{
  wick_elem to = wick_tflite_out(n, 0)->elem, from = wick_import_info(n, 0)->elem;
  if (wick_elem_storage[to].bits != wick_elem_storage[from].bits ||
      wick_elem_storage[to].bits < 8) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "bits of %s as %s are not supported",
                     wick_elem_name(from), wick_elem_name(to));
    return;
  }
  n->out[0] = to == from ? n->in[0] : wick_emit_bits(n->b, n->in[0], to);
}

static void scalar_compare(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  n->out[0] = wick_build2(n->b, n->row->op, n->in[0], n->in[1]);
}

static void scalar_squared_difference(wick_import_node *n)
{
  if (wick_tflite_quantized(n)) return;
  wick_value d = wick_build2(n->b, WICK_OP_sub, n->in[0], n->in[1]);
  n->out[0] = wick_build2(n->b, WICK_OP_mul, d, d);
}

static void scalar_floor_div(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_elem_is_float(wick_import_info(n, 0)->elem))
    n->out[0] = wick_emit_floor_div(b, n->in[0], n->in[1]);
  else
    n->out[0] = wick_build1(b, WICK_OP_floor, wick_build2(b, WICK_OP_div, n->in[0], n->in[1]));
}

static void scalar_add_n(wick_import_node *n)
{
  wick_value sum = n->in[0];
  for (uint32_t i = 1; i < n->nin; i++) sum = wick_build2(n->b, WICK_OP_add, sum, n->in[i]);
  n->out[0] = sum;
}

/* The angle of (x, y): atan(y / x), plus or minus pi where x is negative. */
static void scalar_atan2(wick_import_node *n)
{
  wick_builder *b = n->b;
  const double pi = 3.14159265358979323846;
  wick_value y = n->in[0], x = n->in[1], zero = wick_emit_number(b, x, 0);
  wick_value ratio = wick_build2(b, WICK_OP_div, y, x);
  wick_value none = wick_build2(b, WICK_OP_eq, y, zero);
  ratio = wick_build3(b, WICK_OP_where, none, zero, ratio);
  wick_value half = wick_emit_number(b, x, pi), minus = wick_emit_number(b, x, -pi);
  wick_value below = wick_build2(b, WICK_OP_lt, y, zero),
             left = wick_build2(b, WICK_OP_lt, x, zero);
  wick_value turn = wick_build3(b, WICK_OP_where, below, minus, half);
  turn = wick_build3(b, WICK_OP_where, left, turn, zero);
  n->out[0] = wick_build2(b, WICK_OP_add, wick_build1(b, WICK_OP_atan, ratio), turn);
}

static void scalar_prelu(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (wick_tflite_quantized(n)) return;
  wick_value x = n->in[0], zero = wick_emit_number(b, x, 0);
  wick_value low = wick_build2(b, WICK_OP_mul, x, n->in[1]);
  wick_value positive = wick_build2(b, WICK_OP_ge, x, zero);
  n->out[0] = wick_build3(b, WICK_OP_where, positive, x, low);
}

/* SELECT's condition may have one element for each row of the other operands. */
static void scalar_select(wick_import_node *n)
{
  wick_value cond = n->in[0];
  const wick_type_info *c = wick_import_info(n, 0), *x = wick_import_info(n, 1);
  if (n->row->arg && c->rank == 1 && x->rank > 1) {
    wick_dim dim[WICK_MAX_RANK] = {c->dim[0]};
    for (uint32_t k = 1; k < x->rank; k++) dim[k] = wick_dim_const(1);
    cond = wick_build_reshape(n->b, cond, x->rank, dim);
  }
  n->out[0] = wick_build3(n->b, WICK_OP_where, cond, n->in[1], n->in[2]);
}

/* Quantizes to 2^bits - 1 steps between min and max, which are moved so that 0 is a step. */
static void scalar_fake_quant(wick_import_node *n)
{
  wick_builder *b = n->b;
  double low = wick_tflite_f32(n, 0), high = wick_tflite_f32(n, 1);
  int64_t bits = wick_tflite_i32(n, 2, 8);
  double qmin = wick_tflite_byte(n, 3) ? 1 : 0, qmax = (double)(((int64_t)1 << (bits & 31)) - 1);
  if (bits < 2 || bits > 16 || !(low <= 0) || !(high > 0)) {
    wick_import_fail(n, WICK_ERANGE, "it quantizes %g to %g to %lld bits", low, high,
                     (long long)bits);
    return;
  }
  float scale = (float)((float)(high - low) / (float)(qmax - qmin));
  double from = qmin - low / (double)scale;
  double zero = from < qmin ? qmin : from > qmax ? qmax : floor(from + 0.5);
  float least = (float)((qmin - zero) * (double)scale),
        most = (float)((qmax - zero) * (double)scale);
  wick_value x = wick_tflite_clip(b, n->in[0], (double)least, (double)most);
  x = wick_emit_by(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_sub, x, (double)least),
                   (double)(1.0f / scale));
  x = wick_build1(b, WICK_OP_floor, wick_emit_by(b, WICK_OP_add, x, 0.5));
  n->out[0] =
      wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, x, (double)scale), (double)least);
}

static void scalar_shift(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_shift_right, n->in[0], n->in[1]);
}

static void scalar_clamp(wick_import_node *n)
{
  wick_value x = wick_build2(n->b, WICK_OP_max, n->in[1], n->in[0]);
  n->out[0] = wick_build2(n->b, WICK_OP_min, x, n->in[2]);
}

/* Directions: EQ NE GE GT LE LT. */
static void scalar_stablehlo_compare(wick_import_node *n)
{
  static const wick_opcode op[] = {WICK_OP_eq, WICK_OP_ne, WICK_OP_ge,
                                   WICK_OP_gt, WICK_OP_le, WICK_OP_lt};
  uint64_t way = wick_flat_uint(wick_tflite_op_of(n)->options2, 0, 4, 0);
  if (way >= WICK_COUNT(op))
    wick_import_fail(n, WICK_EPARSE, "the comparison %llu is unknown", (unsigned long long)way);
  else
    n->out[0] = wick_build2(n->b, op[way], n->in[0], n->in[1]);
}

static void scalar_cbrt(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = n->in[0], size = wick_build1(b, WICK_OP_abs, x);
  wick_value root = wick_emit_by(b, WICK_OP_pow, size, 1.0 / 3);
  n->out[0] = wick_build2(b, WICK_OP_mul, wick_build1(b, WICK_OP_sign, x), root);
}

static void scalar_quantize(wick_import_node *n) { wick_tflite_quantize(n); }
static void scalar_dequantize(wick_import_node *n) { wick_tflite_dequantize(n); }

#define F NULL
#define ROW1(name, fn, opcode)                                                                     \
  {                                                                                                \
    name, 1, {1, 1}, 1, NULL, fn, WICK_OP_##opcode, 0, F, NULL                                     \
  }
#define ROW2(name, fn, opcode, a)                                                                  \
  {                                                                                                \
    name, 1, {2, 2}, 1, NULL, fn, WICK_OP_##opcode, a, F, NULL                                     \
  }

const wick_import_op wick_tflite_scalar_ops[] = {
    ROW1("ABS", scalar_unary, abs),
    ROW2("ADD", scalar_binary, add, 1),
    {"ADD_N", 1, {1, WICK_ANY}, 1, NULL, scalar_add_n, WICK_OP_none, 0, F, NULL},
    ROW2("ATAN2", scalar_atan2, none, 0),
    ROW1("BITCAST", scalar_bitcast, none),
    ROW2("BITWISE_XOR", scalar_binary, bit_xor, 0),
    ROW1("CAST", scalar_cast, none),
    ROW1("CEIL", scalar_unary, ceil),
    ROW1("COS", scalar_unary, cos),
    ROW1("DEQUANTIZE", scalar_dequantize, none),
    ROW2("DIV", scalar_binary, div, 1),
    ROW1("ELU", scalar_elu, none),
    ROW2("EQUAL", scalar_compare, eq, 0),
    ROW1("EXP", scalar_unary, exp),
    ROW1("FAKE_QUANT", scalar_fake_quant, none),
    ROW1("FLOOR", scalar_unary, floor),
    ROW2("FLOOR_DIV", scalar_floor_div, none, 0),
    ROW2("FLOOR_MOD", scalar_floor_mod, none, 0),
    ROW1("GELU", scalar_gelu, none),
    ROW2("GREATER", scalar_compare, gt, 0),
    ROW2("GREATER_EQUAL", scalar_compare, ge, 0),
    ROW1("HARD_SWISH", scalar_hard_swish, none),
    ROW1("LEAKY_RELU", scalar_leaky, none),
    ROW2("LESS", scalar_compare, lt, 0),
    ROW2("LESS_EQUAL", scalar_compare, le, 0),
    ROW1("LOG", scalar_unary, log),
    ROW2("LOGICAL_AND", scalar_compare, and, 0),
    ROW1("LOGICAL_NOT", scalar_unary, not ),
    ROW2("LOGICAL_OR", scalar_compare, or, 0),
    ROW1("LOGISTIC", scalar_unary, sigmoid),
    ROW2("MAXIMUM", scalar_binary, max, 0),
    ROW2("MINIMUM", scalar_binary, min, 0),
    ROW2("MUL", scalar_binary, mul, 1),
    ROW1("NEG", scalar_unary, neg),
    ROW2("NOT_EQUAL", scalar_compare, ne, 0),
    ROW2("POW", scalar_binary, pow, 0),
    ROW2("PRELU", scalar_prelu, none, 0),
    ROW1("QUANTIZE", scalar_quantize, none),
    ROW1("RELU", scalar_unary, relu),
    {"RELU6", 1, {1, 1}, 1, NULL, scalar_clip, WICK_OP_none, 1, F, NULL},
    {"RELU_0_TO_1", 1, {1, 1}, 1, NULL, scalar_clip, WICK_OP_none, 2, F, NULL},
    {"RELU_N1_TO_1", 1, {1, 1}, 1, NULL, scalar_clip, WICK_OP_none, 0, F, NULL},
    ROW2("RIGHT_SHIFT", scalar_shift, none, 0),
    ROW1("ROUND", scalar_unary, round_even),
    ROW1("RSQRT", scalar_unary, rsqrt),
    {"SELECT", 1, {3, 3}, 1, NULL, scalar_select, WICK_OP_none, 1, F, NULL},
    {"SELECT_V2", 1, {3, 3}, 1, NULL, scalar_select, WICK_OP_none, 0, F, NULL},
    ROW1("SIGN", scalar_sign, none),
    ROW1("SIN", scalar_unary, sin),
    ROW1("SQRT", scalar_unary, sqrt),
    ROW1("SQUARE", scalar_square, none),
    ROW2("SQUARED_DIFFERENCE", scalar_squared_difference, none, 0),
    ROW1("STABLEHLO_ABS", scalar_unary, abs),
    ROW2("STABLEHLO_ADD", scalar_binary, add, 0),
    ROW2("STABLEHLO_AND", scalar_logical, none, 0),
    ROW1("STABLEHLO_CBRT", scalar_cbrt, none),
    {"STABLEHLO_CLAMP", 1, {3, 3}, 1, NULL, scalar_clamp, WICK_OP_none, 0, F, NULL},
    ROW2("STABLEHLO_COMPARE", scalar_stablehlo_compare, none, 0),
    ROW1("STABLEHLO_CONVERT", scalar_cast, none),
    ROW1("STABLEHLO_COSINE", scalar_unary, cos),
    ROW2("STABLEHLO_DIVIDE", scalar_binary, div, 0),
    ROW1("STABLEHLO_EXPONENTIAL", scalar_unary, exp),
    ROW1("STABLEHLO_FLOOR", scalar_unary, floor),
    ROW1("STABLEHLO_LOG", scalar_unary, log),
    ROW1("STABLEHLO_LOGISTIC", scalar_unary, sigmoid),
    ROW2("STABLEHLO_MAXIMUM", scalar_binary, max, 0),
    ROW2("STABLEHLO_MINIMUM", scalar_binary, min, 0),
    ROW2("STABLEHLO_MULTIPLY", scalar_binary, mul, 0),
    ROW1("STABLEHLO_NEGATE", scalar_unary, neg),
    ROW2("STABLEHLO_OR", scalar_logical, none, 1),
    ROW2("STABLEHLO_POWER", scalar_binary, pow, 0),
    ROW1("STABLEHLO_RSQRT", scalar_unary, rsqrt),
    {"STABLEHLO_SELECT", 1, {3, 3}, 1, NULL, scalar_select, WICK_OP_none, 0, F, NULL},
    ROW2("STABLEHLO_SHIFT_LEFT", scalar_binary, shift_left, 0),
    ROW2("STABLEHLO_SUBTRACT", scalar_binary, sub, 0),
    ROW1("STABLEHLO_TANH", scalar_unary, tanh),
    ROW2("SUB", scalar_binary, sub, 1),
    ROW1("TANH", scalar_unary, tanh),
    ROW1("ZEROS_LIKE", scalar_zeros, none),
    {0},
};
