/* Imports MXNet's operators on bytes. Each value is followed by two operands, the least and the greatest
 * number that it stands for: i8 for numbers around 0, u8 for numbers from 0 on, i32 for sums of products.
 * Sources: quantization_utils.h, quantize_v2-inl.h and their forms for oneDNN of MXNet 1.9. */
#include <math.h>

#include "import/mxnet/ops.h"

/* ---- ranges ---- */

static wick_value quantized_number(wick_import_node *n, double v)
{
  return wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL), v, 0);
}

/* An operand of one number, as f32[]. */
static wick_value quantized_scalar(wick_import_node *n, uint32_t i)
{
  wick_value x = wick_build_cast(n->b, n->in[i], WICK_F32);
  return wick_import_info(n, i)->rank ? wick_build_reshape(n->b, x, 0, NULL) : x;
}

/* max(|low|, |high|) */
static wick_value quantized_widest(wick_builder *b, wick_value low, wick_value high)
{
  low = wick_build1(b, WICK_OP_abs, low);
  return wick_build2(b, WICK_OP_max, low, wick_build1(b, WICK_OP_abs, high));
}

static double quantized_levels(wick_elem e)
{
  return e == WICK_I8 ? 127 : e == WICK_U8 ? 255 : 2147483647;
}

/* What one unit of a value of that type and range stands for. */
static wick_value quantized_unit(wick_builder *b, wick_elem e, wick_value low, wick_value high)
{
  return wick_emit_by(b, WICK_OP_div, quantized_widest(b, low, high), quantized_levels(e));
}

/* Sets the results that tell the range, f32[1]. */
static void quantized_range(wick_import_node *n, wick_value low, wick_value high, uint32_t first)
{
  const wick_dim one = wick_dim_const(1);
  n->out[first] = wick_build_reshape(n->b, low, 1, &one);
  n->out[first + 1] = wick_build_reshape(n->b, high, 1, &one);
}

static void quantized_around(wick_import_node *n, wick_value unit, double levels)
{
  wick_value high = wick_emit_by(n->b, WICK_OP_mul, unit, levels);
  quantized_range(n, wick_build1(n->b, WICK_OP_neg, high), high, 1);
}

/* The range of x: that of the attributes, else its extremes. */
static void quantized_found(wick_import_node *n, wick_value x, wick_value range[2])
{
  static const char *const names[] = {"min_calib_range", "max_calib_range"};
  static const wick_opcode ops[] = {WICK_OP_reduce_min, WICK_OP_reduce_max};
  bool given = wick_import_attr_has(n, names[0]) && wick_import_attr_has(n, names[1]);
  int64_t axes[WICK_MAX_RANK];
  if (n->b->status) return;
  uint32_t rank = wick_built_info(n->b, x)->rank;
  for (uint32_t k = 0; k < rank; k++) axes[k] = k;
  for (uint32_t k = 0; k < 2; k++)
    range[k] = given ? quantized_number(n, wick_import_real(n, names[k], 0))
                     : wick_emit_reduce(n->b, ops[k], x, rank, axes, false);
}

/* ---- conversions ---- */

/* The range's end in units of i8: quantize_v2 and dequantize count half a unit more than the others. */
static const double quantized_half_more = 127.5;

/* Sets the results: x in i8, rounded to the nearest, and its range, which has `end` units. */
static void quantized_to_i8(wick_import_node *n, wick_value x, const wick_value range[2],
                            double end)
{
  wick_builder *b = n->b;
  wick_value most = quantized_widest(b, range[0], range[1]);
  wick_value scale = wick_build2(b, WICK_OP_div, quantized_number(n, end), most);
  x = wick_build1(b, WICK_OP_round_even, wick_build2(b, WICK_OP_mul, x, scale));
  x = wick_emit_by(b, WICK_OP_min, wick_emit_by(b, WICK_OP_max, x, -128), 127);
  n->out[0] = wick_build_cast(b, x, WICK_I8);
  quantized_range(n, wick_build1(b, WICK_OP_neg, most), most, 1);
}

static void quantized_to_u8(wick_import_node *n, wick_value x, const wick_value range[2])
{
  wick_builder *b = n->b;
  wick_value span = wick_build2(b, WICK_OP_sub, range[1], range[0]);
  wick_value scale = wick_build2(b, WICK_OP_div, quantized_number(n, 255), span);
  x = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, x, range[0]), scale);
  x = wick_build1(b, WICK_OP_floor, wick_emit_by(b, WICK_OP_add, x, 0.5));
  x = wick_emit_by(b, WICK_OP_min, wick_emit_by(b, WICK_OP_max, x, 0), 255);
  n->out[0] = wick_build_cast(b, x, WICK_U8);
  quantized_range(n, range[0], range[1], 1);
}

/* x in the type of the attribute: `auto` is u8 if the given range begins at 0. */
static void quantized_to(wick_import_node *n, wick_value x, const wick_value range[2], int type,
                         double end)
{
  enum { AUTO = 2 };
  bool from_zero =
      wick_import_attr_has(n, "min_calib_range") && wick_import_real(n, "min_calib_range", -1) >= 0;
  if (type == 1 || (type == AUTO && from_zero))
    quantized_to_u8(n, x, range);
  else
    quantized_to_i8(n, x, range, end);
}

/* row->arg: the range is in operands. */
void wick_mxnet_quantize(wick_import_node *n)
{
  wick_value range[2];
  int type = wick_import_word(n, "out_type", n->row->arg ? "uint8 int8" : "int8 uint8 auto");
  if (n->failed) return;
  if (n->row->arg) {
    for (uint32_t k = 0; k < 2; k++) range[k] = quantized_scalar(n, 1 + k);
    type = !type;
  } else {
    quantized_found(n, n->in[0], range);
  }
  double end = n->row->arg ? quantized_levels(WICK_I8) : quantized_half_more;
  if (!n->b->status) quantized_to(n, n->in[0], range, type, end);
}

/* The numbers that operand i stands for; its range is in operands `at` and `at` + 1. */
static wick_value quantized_floats(wick_import_node *n, uint32_t i, uint32_t at)
{
  wick_builder *b = n->b;
  wick_elem e = wick_mxnet_type_of(n, i);
  wick_value low = quantized_scalar(n, at), high = quantized_scalar(n, at + 1);
  wick_value x = wick_build_cast(b, n->in[i], WICK_F32);
  if (e == WICK_I8) {
    wick_value most = quantized_widest(b, low, high);
    return wick_build2(b, WICK_OP_mul, x, wick_emit_by(b, WICK_OP_div, most, quantized_half_more));
  }
  if (e != WICK_U8) return wick_build2(b, WICK_OP_mul, x, quantized_unit(b, e, low, high));
  wick_value unit = wick_build2(b, WICK_OP_sub, high, low);
  unit = wick_emit_by(b, WICK_OP_div, unit, 255);
  return wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x, unit), low);
}

void wick_mxnet_dequantize(wick_import_node *n) { n->out[0] = quantized_floats(n, 0, 1); }

void wick_mxnet_requantize(wick_import_node *n)
{
  wick_value range[2], x = quantized_floats(n, 0, 1);
  int type = wick_import_word(n, "out_type", "int8 uint8 auto");
  if (n->failed || n->b->status) return;
  quantized_found(n, x, range);
  quantized_to(n, x, range, type, quantized_levels(WICK_I8));
}

/* ---- products ---- */

/* The product in i32, as the float operator `import` computes it of whole numbers in f64, plus the bias in
 * units of the product. Operands: data, weights, the bias if there is one, then their ranges. The range of
 * the result takes data of u8 as bytes with `levels`; that of the bias counts half a level more. */
static void quantized_product(wick_import_node *n, void (*import)(wick_import_node *),
                              double levels)
{
  wick_builder *b = n->b;
  bool bias = !wick_import_int(n, "no_bias", 0);
  uint32_t at = bias ? 3 : 2;
  if (n->nin != 3 * at) {
    wick_import_fail(n, WICK_EPARSE, "it has %u inputs, expected %u", n->nin, 3 * at);
    return;
  }
  wick_value unit[3], half[3], in[3] = {{0}};
  for (uint32_t k = 0; k < at; k++) {
    double end = quantized_levels(wick_mxnet_type_of(n, k));
    wick_value low = quantized_scalar(n, at + 2 * k), high = quantized_scalar(n, at + 2 * k + 1);
    wick_value most = quantized_widest(b, low, high);
    unit[k] = wick_emit_by(b, WICK_OP_div, most, end == 255 ? levels : end);
    half[k] = wick_emit_by(b, WICK_OP_div, most, end + 0.5);
    in[k] = wick_build_cast(b, n->in[k], WICK_F64);
  }
  if (bias) {
    wick_value by = wick_build2(b, WICK_OP_mul, half[0], half[1]);
    by = wick_build_cast(b, wick_build2(b, WICK_OP_div, half[2], by), WICK_F64);
    in[2] = wick_build1(b, WICK_OP_trunc, wick_build2(b, WICK_OP_mul, in[2], by));
  }
  wick_import_node inner = *n;
  inner.in = in, inner.nin = at;
  import(&inner);
  n->failed = inner.failed;
  if (n->failed || b->status) return;
  n->out[0] = wick_build_cast(b, n->out[0], WICK_I32);
  quantized_around(n, wick_build2(b, WICK_OP_mul, unit[0], unit[1]), quantized_levels(WICK_I32));
}

void wick_mxnet_quantized_conv(wick_import_node *n) { quantized_product(n, wick_mxnet_conv, 127); }
void wick_mxnet_quantized_dense(wick_import_node *n)
{
  quantized_product(n, wick_mxnet_dense, 255);
}

/* ---- operators that keep the range ---- */

static void quantized_same(wick_import_node *n, void (*import)(wick_import_node *))
{
  wick_builder *b = n->b;
  wick_elem e = wick_mxnet_type_of(n, 0);
  wick_value x = wick_build_cast(b, n->in[0], WICK_F32);
  wick_import_node inner = *n;
  inner.in = &x, inner.nin = 1;
  import(&inner);
  n->failed = inner.failed;
  if (n->failed || b->status) return;
  n->out[0] = wick_build_cast(b, wick_build1(b, WICK_OP_round_even, n->out[0]), e);
  wick_value low = quantized_scalar(n, 1), high = quantized_scalar(n, 2);
  quantized_range(n, low, high, 1);
}

void wick_mxnet_quantized_pool(wick_import_node *n) { quantized_same(n, wick_mxnet_pool); }
void wick_mxnet_quantized_activation(wick_import_node *n)
{
  quantized_same(n, wick_mxnet_activation);
}
void wick_mxnet_quantized_flatten(wick_import_node *n) { quantized_same(n, wick_mxnet_flatten); }
