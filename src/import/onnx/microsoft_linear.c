/* Imports com.microsoft's operators on bytes with a scale and a zero point. Each is the float operator
 * between a dequantization and a quantization, except products, whose sums are exact integers. */
#include <math.h>

#include "import/kit/nhwc.h"
#include "import/onnx/microsoft.h"

/* ---- scales and zero points ---- */

/* Returns operand i, a zero point, or 0 of that type if it is missing. */
static wick_value linear_zero(wick_onnx_op *o, uint32_t i, wick_elem elem)
{
  if (wick_onnx_has(o, i)) return o->in[i];
  return wick_build_const(o->b, wick_type_tensor(o->c->module, elem, 0, NULL), 0, 0);
}

/* Returns operand i as floats; its scale and zero point follow it. */
static wick_value linear_in(wick_onnx_op *o, uint32_t i)
{
  wick_value in[3] = {o->in[i], o->in[i + 1]};
  in[2] = linear_zero(o, i + 2, wick_onnx_info(o, i)->elem);
  return wick_onnx_as(o, "DequantizeLinear", 13, 3, in);
}

/* Quantizes y by the scale in operand i and the zero point after it. */
static void linear_out(wick_onnx_op *o, wick_value y, uint32_t i, wick_elem elem)
{
  wick_value in[3] = {y, o->in[i]};
  in[2] = linear_zero(o, i + 1, elem);
  if (y.id) wick_onnx_as(o, "QuantizeLinear", 13, 3, in);
}

/* Returns whether the image's channels are its last axis; then *x has them after the batch. */
static bool linear_channels_first(wick_onnx_op *o, wick_value *x)
{
  if (!wick_onnx_int(o, "channels_last", 0) || o->b->status || !x->id) return false;
  if (wick_built_info(o->b, *x)->rank < 3) return false;
  *x = wick_nhwc_move(o->b, *x, true);
  return true;
}

/* ---- element by element ---- */

static void linear_binary(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0x5b)) return;
  wick_value a = linear_in(o, 0);
  wick_value b = linear_in(o, 3);
  linear_out(o, wick_build2(o->b, o->row->op, a, b), 6, wick_onnx_info(o, 0)->elem);
}

static void linear_leaky_relu(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0xb)) return;
  wick_value x = linear_in(o, 0);
  linear_out(o, wick_onnx_as(o, "LeakyRelu", 6, 1, &x), 3, wick_onnx_info(o, 0)->elem);
}

static void linear_sigmoid(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0xb)) return;
  wick_value x = linear_in(o, 0);
  linear_out(o, wick_build1(o->b, WICK_OP_sigmoid, x), 3, wick_onnx_info(o, 0)->elem);
}

/* The attribute `opset` says which of ONNX's softmaxes it is. */
static void linear_softmax(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0xb)) return;
  wick_value x = linear_in(o, 0);
  int64_t opset = wick_onnx_int(o, "opset", 13);
  linear_out(o, wick_onnx_as(o, "Softmax", opset < 13 ? 11 : 13, 1, &x), 3,
             wick_onnx_info(o, 0)->elem);
}

static void linear_mean(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0xb)) return;
  wick_value x = linear_in(o, 0);
  linear_out(o, wick_onnx_as(o, "ReduceMean", 11, 1, &x), 3, wick_onnx_info(o, 0)->elem);
}

static void linear_where(wick_onnx_op *o)
{
  wick_value x = linear_in(o, 1);
  wick_value y = linear_in(o, 4);
  wick_value z = wick_build3(o->b, WICK_OP_where, o->in[0], x, y);
  linear_out(o, z, 7, wick_onnx_info(o, 1)->elem);
}

/* Operands: the result's scale and zero point, then each part with its own. */
static void linear_concat(wick_onnx_op *o)
{
  uint32_t n = o->nin > 2 ? (o->nin - 2) / 3 : 0;
  if (!n || 2 + 3 * n != o->nin) {
    wick_onnx_fail(o, WICK_EPARSE, "it has %u inputs, expected 2 and 3 for each part", o->nin);
    return;
  }
  wick_value *part = wick_new(o->c->tmp, wick_value, n);
  for (uint32_t i = 0; i < n; i++)
    if (!(part[i] = linear_in(o, 2 + 3 * i)).id) return;
  linear_out(o, wick_onnx_as(o, "Concat", 13, n, part), 0, wick_onnx_info(o, 2)->elem);
}

/* ---- images ---- */

static void linear_pool(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0xb)) return;
  wick_value x = linear_in(o, 0);
  bool last = linear_channels_first(o, &x);
  wick_value y = wick_onnx_as(o, o->row->arg ? "GlobalAveragePool" : "AveragePool",
                              o->row->arg ? 1 : 19, 1, &x);
  linear_out(o, last ? wick_nhwc_last(o->b, y) : y, 3, wick_onnx_info(o, 0)->elem);
}

static void linear_conv(wick_onnx_op *o)
{
  wick_value in[9] = {{0}};
  for (uint32_t i = 0; i < o->nin; i++) in[i] = o->in[i];
  bool last = linear_channels_first(o, &in[0]);
  wick_value y = wick_onnx_as(o, "QLinearConv", 10, o->nin, in);
  if (y.id && last) o->out[0] = wick_nhwc_last(o->b, y);
}

/* ---- products ---- */

/* The product of operand a and operand b, bytes, in i32; their zero points may be 0. */
static wick_value linear_product(wick_onnx_op *o, wick_value a, wick_value b, wick_value zero_a,
                                 wick_value zero_b)
{
  return wick_onnx_as(o, "MatMulInteger", 10, 4, (wick_value[]){a, b, zero_a, zero_b});
}

/* sum * scale_a * scale_b + bias, operand i */
static void linear_floats(wick_onnx_op *o, wick_value sum, wick_value scale_a, wick_value scale_b,
                          uint32_t bias)
{
  wick_builder *b = o->b;
  if (!sum.id || b->status) return;
  wick_elem elem = wick_built_info(b, scale_b)->elem;
  wick_value scale = wick_build2(b, WICK_OP_mul, scale_a, scale_b);
  wick_value y = wick_build2(b, WICK_OP_mul, wick_build_cast(b, sum, elem), scale);
  o->out[0] = wick_microsoft_biased(o, y, bias);
}

static void linear_matmul_floats(wick_onnx_op *o)
{
  wick_value sum = linear_product(o, o->in[0], o->in[1], wick_microsoft_optional(o, 4),
                                  wick_microsoft_optional(o, 5));
  linear_floats(o, sum, o->in[2], o->in[3], 6);
}

/* Quantizes the left factor by its range. */
static void linear_matmul_dynamic(wick_onnx_op *o)
{
  wick_value three[3] = {{0}};
  wick_onnx_op dynamic = *o;
  dynamic.nout = 3, dynamic.out = three;
  if (!wick_onnx_as(&dynamic, "DynamicQuantizeLinear", 11, 1, o->in).id) {
    o->failed = o->failed || dynamic.failed;
    return;
  }
  wick_value sum = linear_product(o, three[0], o->in[1], three[2], wick_microsoft_optional(o, 3));
  linear_floats(o, sum, three[1], o->in[2], 4);
}

static wick_value linear_side(wick_onnx_op *o, uint32_t i, const char *flag)
{
  if (wick_onnx_info(o, i)->rank != 2) {
    wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 2", i,
                   wick_onnx_info(o, i)->rank);
    return (wick_value){0};
  }
  return wick_onnx_int(o, flag, 0) ? wick_build_swap(o->b, o->in[i]) : o->in[i];
}

/* Operands: a, b, each with scale and zero point; c, integers in units of their product; the scale and
 * zero point of the result, which is of floats without them. */
static void linear_gemm(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_value left = linear_side(o, 0, "transA"), right = linear_side(o, 3, "transB");
  if (o->failed) return;
  wick_value sum =
      linear_product(o, left, right, wick_microsoft_optional(o, 2), wick_microsoft_optional(o, 5));
  if (!sum.id) return;
  sum = wick_microsoft_biased(o, sum, 6);
  double alpha = wick_onnx_float(o, "alpha", 1);
  wick_value scale = wick_build2(b, WICK_OP_mul, o->in[1], o->in[4]);
  if (alpha != 1) scale = wick_emit_by(o->b, WICK_OP_mul, scale, alpha);
  wick_value y = wick_build2(b, WICK_OP_mul, wick_build_cast(b, sum, WICK_F32), scale);
  if (wick_onnx_has(o, 7))
    linear_out(o, y, 7, wick_onnx_info(o, 0)->elem);
  else
    o->out[0] = y;
}

/* ---- recurrent layers ---- */

/* Returns weights [directions, inputs, gates] with scales in operand i, as [directions, gates,
 * inputs]. */
static wick_value linear_weights(wick_onnx_op *o, uint32_t w, uint32_t i)
{
  wick_builder *b = o->b;
  const wick_type_info *t = wick_onnx_info(o, w), *s = wick_onnx_info(o, i);
  wick_dim one = wick_dim_const(1);
  if (t->rank != 3 || s->rank < 1 || s->rank > 2) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "weights of rank %u with scales of rank %u, expected 3, and 1 or 2", t->rank,
                   s->rank);
    return (wick_value){0};
  }
  const wick_dim along[] = {s->dim[0], one, s->rank == 2 ? s->dim[1] : one};
  wick_value v = wick_build_cast(b, o->in[w], WICK_I32);
  if (wick_onnx_has(o, i + 1)) {
    wick_value zero = wick_build_reshape(o->b, o->in[i + 1], 3, along);
    v = wick_build2(b, WICK_OP_sub, v, wick_build_cast(b, zero, WICK_I32));
  }
  wick_value scale = wick_build_reshape(o->b, o->in[i], 3, along);
  v = wick_build2(b, WICK_OP_mul, wick_build_cast(b, v, WICK_F32), scale);
  return wick_build_swap(b, v);
}

/* The layer's weights are bytes. Its sums stay floats, which is more precise than to quantize the
 * states. */
static void linear_lstm(wick_onnx_op *o)
{
  if (!wick_microsoft_needs(o, 0xf07)) return;
  wick_value in[8] = {o->in[0]};
  in[1] = linear_weights(o, 1, 8);
  in[2] = linear_weights(o, 2, 10);
  for (uint32_t i = 3; i < 8; i++) in[i] = wick_microsoft_optional(o, i);
  if (!o->failed) wick_onnx_as(o, "LSTM", 7, 8, in);
}

#define WINDOW "auto_pad:s kernel_shape:I! pads:I strides:I "
#define ROW(name, least, most, attrs, import, op, arg)                                             \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, 1, attrs, import, op, arg                             \
  }

const wick_onnx_row wick_onnx_microsoft_linear_rows[] = {
    ROW("DequantizeLinear", 2, 3, "axis:i", wick_microsoft_same, 0, 21),
    {"com.microsoft.DynamicQuantizeLSTM",
     1,
     {3, 12},
     3,
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i "
     "input_forget:i",
     linear_lstm,
     0,
     0},
    ROW("DynamicQuantizeMatMul", 3, 5, "", linear_matmul_dynamic, 0, 0),
    ROW("MatMulIntegerToFloat", 4, 7, "", linear_matmul_floats, 0, 0),
    ROW("QGemm", 6, 9, "alpha:f transA:i transB:i", linear_gemm, 0, 0),
    ROW("QLinearAdd", 2, 8, "", linear_binary, WICK_OP_add, 0),
    ROW("QLinearAveragePool", 2, 5, WINDOW "ceil_mode:i channels_last:i count_include_pad:i",
        linear_pool, 0, 0),
    ROW("QLinearConcat", 5, WICK_ANY, "axis:i!", linear_concat, 0, 0),
    ROW("QLinearConv", 8, 9,
        "auto_pad:s channels_last:i dilations:I group:i kernel_shape:I pads:I strides:I",
        linear_conv, 0, 0),
    ROW("QLinearGlobalAveragePool", 5, 5, "channels_last:i", linear_pool, 0, 1),
    ROW("QLinearLeakyRelu", 2, 5, "alpha:f", linear_leaky_relu, 0, 0),
    ROW("QLinearMul", 2, 8, "", linear_binary, WICK_OP_mul, 0),
    ROW("QLinearReduceMean", 2, 5, "axes:I keepdims:i", linear_mean, 0, 0),
    ROW("QLinearSigmoid", 2, 5, "", linear_sigmoid, 0, 0),
    ROW("QLinearSoftmax", 2, 5, "axis:i opset:i!", linear_softmax, 0, 0),
    ROW("QLinearWhere", 9, 9, "", linear_where, 0, 0),
    ROW("QuantizeLinear", 2, 3, "axis:i", wick_microsoft_same, 0, 21),
    {0},
};
