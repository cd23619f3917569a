/* Imports quantization: integers with a scale and a zero point, and the operators on them.
 *
 * They become ordinary operators of Wick. An integer minus its zero point is an i32. Sums of
 * products are i32 and exact. Quantization rounds once, to the nearest even integer, then adds the
 * zero point; the conversion saturates. Divisions and scales are separate f32 operations, in the
 * order of ONNX Runtime. */
#include "import/onnx/import.h"

/* ---- scales and zero points ---- */

/* Returns true if the input is computed in blocks along the axis, each of which is a dimension of its
 * own, so that its number broadcasts. Constants keep their shape: weights are recognised by it. */
static bool quantize_splits(wick_onnx_op *o, uint32_t axis)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  const wick_node *n = wick_emit_definer(o->b, o->in[0]);
  int64_t block = wick_onnx_int(o, "block_size", 0), size = axis < x->rank ? x->dim[axis].v : 0;
  return block > 0 && wick_onnx_info(o, 1)->rank && x->rank < WICK_MAX_RANK && axis < x->rank &&
         wick_dim_is_const(x->dim[axis]) && size > block && size % block == 0 &&
         !(n && n->op == WICK_OP_const);
}

/* Reshapes the input to blocks. */
static wick_value quantize_blocks(wick_onnx_op *o, uint32_t axis)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  wick_dim dim[WICK_MAX_RANK + 1];
  int64_t block = wick_onnx_int(o, "block_size", 0);
  if (!quantize_splits(o, axis)) return o->in[0];
  for (uint32_t k = 0; k < x->rank; k++) dim[k + (k > axis)] = x->dim[k];
  dim[axis] = wick_dim_const(x->dim[axis].v / block), dim[axis + 1] = wick_dim_const(block);
  return wick_build_reshape(o->b, o->in[0], x->rank + 1, dim);
}

/* Reshapes a result in blocks to the input's shape. */
static wick_value quantize_whole(wick_onnx_op *o, wick_value y, uint32_t axis)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  return quantize_splits(o, axis) ? wick_build_reshape(o->b, y, x->rank, x->dim) : y;
}

/* Repeats the number of each block of elements along the axis for each element, or, if the input is
 * in blocks, has one for each. */
static wick_value quantize_repeat(wick_onnx_op *o, wick_value v, uint32_t axis, int64_t block)
{
  wick_dims *t = o->c->module->dims;
  const wick_type_info *x = wick_onnx_info(o, 0), *s = wick_built_info(o->b, v);
  wick_dim size = wick_dim_const(block), dim[WICK_MAX_RANK + 1], whole[WICK_MAX_RANK];
  uint32_t rank = s->rank;
  if (rank != x->rank || rank == WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_ETYPE, "the scale has rank %u, expected that of the input, %u, below %d",
                   rank, x->rank, WICK_MAX_RANK);
    return v;
  }
  wick_dim blocks = wick_dim_ceildiv(t, x->dim[axis], size);
  if (!wick_onnx_equal(o, s->dim[axis], blocks)) {
    wick_onnx_fail(o, WICK_ETYPE, "the scale does not have a block of %lld for each along axis %u",
                   (long long)block, axis);
    return v;
  }
  for (uint32_t k = 0; k < rank; k++) whole[k] = dim[k + (k > axis)] = s->dim[k];
  if (wick_dim_is(blocks, 1)) return v; /* one number for all */
  dim[axis + 1] = wick_dim_const(1);
  v = wick_build_reshape(o->b, v, rank + 1, dim);
  if (quantize_splits(o, axis)) return v;
  dim[axis + 1] = size;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_broadcast_to);
  wick_emit_set_dims(&e, "shape", rank + 1, dim);
  whole[axis] = wick_dim_mul(t, blocks, size);
  v = wick_build_reshape(o->b, wick_emit_end1(&e, v), rank, whole);
  if (wick_dim_eq(whole[axis], x->dim[axis])) return v;
  wick_dim begin[WICK_MAX_RANK] = {{0}};
  whole[axis] = x->dim[axis];
  wick_emit cut = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&cut, "begin", rank, begin);
  wick_emit_set_dims(&cut, "shape", rank, whole);
  return wick_emit_end1(&cut, v);
}

/* Reshapes a vector of numbers along `axis` of a tensor of that rank. */
static wick_value quantize_along(wick_onnx_op *o, wick_value v, uint32_t axis, uint32_t rank)
{
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *t = o->b->status ? NULL : wick_built_info(o->b, v);
  if (!t || t->rank != 1) return v;
  bool one = wick_dim_is(t->dim[0], 1);
  dim[0] = t->dim[0];
  for (uint32_t k = 1; axis + k < rank; k++) dim[k] = wick_dim_const(1);
  return one || axis + 1 < rank ? wick_build_reshape(o->b, v, one ? 0 : rank - axis, dim) : v;
}

/* Returns operand i, a scale or a zero point of the first operand; 0 if it is missing. */
static wick_value quantize_parameter(wick_onnx_op *o, uint32_t i, uint32_t axis)
{
  int64_t block = wick_onnx_int(o, "block_size", 0);
  if (!wick_onnx_has(o, i)) return (wick_value){0};
  if (block < 0 || block > INT32_MAX) {
    wick_onnx_fail(o, WICK_ERANGE, "block_size is %lld, expected 0 to %d", (long long)block,
                   INT32_MAX);
    return (wick_value){0};
  }
  if (block && wick_onnx_info(o, i)->rank) return quantize_repeat(o, o->in[i], axis, block);
  return quantize_along(o, o->in[i], axis, wick_onnx_info(o, 0)->rank);
}

/* Reads the axis of the scales. With one scale for the whole tensor, the attribute is ignored. */
static bool quantize_axis(wick_onnx_op *o, uint32_t *out)
{
  *out = 0;
  if (wick_dim_is(wick_type_numel(o->c->module, wick_built_type(o->b, o->in[1])), 1)) return true;
  return wick_onnx_axis(o, wick_onnx_int(o, "axis", 1), wick_onnx_info(o, 0)->rank, out);
}

/* ---- numbers ---- */

static bool quantize_is_integer(wick_elem e)
{
  wick_class c = wick_elem_class(e);
  return c == WICK_SINT || c == WICK_UINT;
}

/* Subtracts the zero point (0: none) from v. */
static wick_value quantize_centre(wick_onnx_op *o, wick_value v, wick_value zero)
{
  v = wick_build_cast(o->b, v, WICK_I32);
  if (!zero.id) return v;
  return wick_build2(o->b, WICK_OP_sub, v, wick_build_cast(o->b, zero, WICK_I32));
}

/* Rounds v, which is in units of the scale, to an integer, and adds the zero point (0: none). */
static wick_value quantize_round(wick_onnx_op *o, wick_value v, wick_value zero, wick_elem to)
{
  wick_builder *b = o->b;
  if (!quantize_is_integer(to)) return wick_build_cast(b, wick_onnx_saturate(o, v, to), to);
  v = wick_build_cast(b, wick_build1(b, WICK_OP_round_even, v), WICK_F32);
  if (zero.id) v = wick_build2(b, WICK_OP_add, v, wick_build_cast(b, zero, WICK_F32));
  return wick_build_cast(b, v, to);
}

/* Returns the type for arithmetic with a scale: the scale's type, or f32 if that is an 8-bit
 * float or an integer. */
static wick_elem quantize_arith(const wick_onnx_op *o)
{
  wick_elem e = wick_onnx_info(o, 1)->elem;
  return wick_elem_is_float(e) && wick_elem_storage[e].bits > 8 ? e : WICK_F32;
}

/* Reads the element type that an attribute names. Returns `otherwise` if it is absent or 0. */
static wick_elem quantize_type(wick_onnx_op *o, const char *name, wick_elem otherwise)
{
  wick_elem e;
  int64_t type = wick_onnx_int(o, name, 0);
  if (!type) return otherwise;
  if (wick_onnx_elem(type, &e) && e != WICK_STRING) return e;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "%s is %lld, which is not a numeric type", name,
                 (long long)type);
  return otherwise;
}

/* ---- to and from floats ---- */

static void quantize_quantize(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  uint32_t axis;
  if (!quantize_axis(o, &axis)) return;
  wick_elem e = quantize_type(o, "precision", quantize_arith(o)),
            to = wick_onnx_has(o, 2) ? wick_onnx_info(o, 2)->elem
                                     : quantize_type(o, "output_dtype", WICK_U8);
  wick_value scale = quantize_parameter(o, 1, axis), zero = quantize_parameter(o, 2, axis);
  if (o->failed) return;
  if (wick_elem_is_int(e)) e = WICK_F32;
  wick_value x = wick_build_cast(b, quantize_blocks(o, axis), e);
  wick_value q = wick_build2(b, WICK_OP_div, x, wick_build_cast(b, scale, e));
  o->out[0] = quantize_whole(o, quantize_round(o, q, zero, to), axis);
}

static void quantize_dequantize(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  uint32_t axis;
  if (!quantize_axis(o, &axis)) return;
  wick_elem to = quantize_type(o, "output_dtype", quantize_arith(o));
  wick_value scale = quantize_parameter(o, 1, axis), zero = quantize_parameter(o, 2, axis), v;
  if (o->failed) return;
  v = quantize_blocks(o, axis);
  if (quantize_is_integer(wick_onnx_info(o, 0)->elem)) v = quantize_centre(o, v, zero);
  v = wick_build_cast(b, v, WICK_F32), scale = wick_build_cast(b, scale, WICK_F32);
  v = wick_build2(b, WICK_OP_mul, v, scale);
  o->out[0] = quantize_whole(o, wick_build_cast(b, v, to), axis);
}

/* Quantizes to u8. The scale comes from the range of all elements, which is extended to contain
 * 0. */
static void quantize_dynamic(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_value x = o->in[0], none = wick_emit_number(o->b, x, 0);
  int64_t axes[WICK_MAX_RANK];
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  for (uint32_t k = 0; k < rank; k++) axes[k] = k;
  wick_value lo = wick_emit_reduce(o->b, WICK_OP_reduce_extremes, x, rank, axes, false),
             hi = {lo.id + 1};
  hi = wick_build2(b, WICK_OP_max, hi, none), lo = wick_build2(b, WICK_OP_min, lo, none);
  wick_value most = wick_emit_number(o->b, x, 255),
             width = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_sub, hi, lo), most),
             equal = wick_build2(b, WICK_OP_eq, hi, lo), one = wick_emit_number(o->b, x, 1),
             scale = wick_build3(b, WICK_OP_where, equal, one, width);
  wick_value zero = wick_build2(b, WICK_OP_sub, none, wick_build2(b, WICK_OP_div, lo, scale));
  zero = wick_build_cast(b, wick_build1(b, WICK_OP_round_even, zero), WICK_U8);
  o->out[0] = quantize_round(o, wick_build2(b, WICK_OP_div, x, scale), zero, WICK_U8);
  if (o->nout > 1) o->out[1] = scale;
  if (o->nout > 2) o->out[2] = zero;
}

/* ---- products ---- */

/* Subtracts the zero point from a factor of a matrix product. A vector of zero points has one
 * for each row of the left factor, or for each column of the right one. */
static wick_value quantize_side(wick_onnx_op *o, wick_value v, wick_value zero, bool left)
{
  uint32_t rank = wick_built_info(o->b, v)->rank;
  if (zero.id) zero = quantize_along(o, zero, rank - (left && rank > 1 ? 2 : 1), rank);
  return quantize_centre(o, v, zero);
}

static wick_value quantize_optional(const wick_onnx_op *o, uint32_t i)
{
  return wick_onnx_has(o, i) ? o->in[i] : (wick_value){0};
}

static bool quantize_ranks(wick_onnx_op *o, uint32_t i, uint32_t k)
{
  if (wick_onnx_info(o, i)->rank && wick_onnx_info(o, k)->rank) return true;
  wick_onnx_fail(o, WICK_ETYPE, "a factor has rank 0, expected 1 or more");
  return false;
}

static void quantize_matmul(wick_onnx_op *o)
{
  if (!quantize_ranks(o, 0, 1)) return;
  wick_value a = quantize_side(o, o->in[0], quantize_optional(o, 2), true),
             b = quantize_side(o, o->in[1], quantize_optional(o, 3), false);
  o->out[0] = wick_build2(o->b, WICK_OP_matmul, a, b);
}

static wick_value quantize_f32(wick_onnx_op *o, wick_value v)
{
  return wick_build_cast(o->b, v, WICK_F32);
}

/* Requantizes a sum to the result's scale: sum * (scale a * scale b / scale y), rounded. */
static wick_value quantize_again(wick_onnx_op *o, wick_value sum, wick_value a, wick_value b,
                                 wick_value y, wick_value zero)
{
  wick_builder *s = o->b;
  if (s->status) return sum;
  wick_value scale = wick_build2(s, WICK_OP_div, wick_build2(s, WICK_OP_mul, a, b), y);
  sum = wick_build2(s, WICK_OP_mul, quantize_f32(o, sum), scale);
  return quantize_round(o, sum, zero, wick_built_info(s, zero)->elem);
}

/* Operands: a, its scale and zero point; b, its scale and zero point; y's scale and zero point. */
static void quantize_linear_matmul(wick_onnx_op *o)
{
  if (!quantize_is_integer(wick_onnx_info(o, 0)->elem)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "the product of %s is not supported",
                   wick_elem_name(wick_onnx_info(o, 0)->elem));
    return;
  }
  if (!quantize_ranks(o, 0, 3)) return;
  uint32_t ra = wick_onnx_info(o, 0)->rank, rb = wick_onnx_info(o, 3)->rank;
  wick_value a = quantize_side(o, o->in[0], o->in[2], true),
             b = quantize_side(o, o->in[3], o->in[5], false);
  wick_value sa = quantize_along(o, quantize_f32(o, o->in[1]), ra - (ra > 1 ? 2 : 1), ra),
             sb = quantize_along(o, quantize_f32(o, o->in[4]), rb - 1, rb),
             sy = quantize_along(o, quantize_f32(o, o->in[6]), 0, 1),
             zero = quantize_along(o, o->in[7], 0, 1);
  o->out[0] = quantize_again(o, wick_build2(o->b, WICK_OP_matmul, a, b), sa, sb, sy, zero);
}

/* ---- convolutions ---- */

/* Builds the convolution with the weights in operand w. Zero points and the bias are 0 if they
 * are missing. */
static wick_value quantize_conv_of(wick_onnx_op *o, uint32_t w, wick_value zero_x,
                                   wick_value zero_w, wick_value bias)
{
  wick_onnx_window window;
  const wick_dim *kernel = wick_onnx_conv_kernel(o, w);
  if (!kernel || !wick_onnx_window_read(o, kernel, &window)) return (wick_value){0};
  uint32_t rank = wick_onnx_info(o, w)->rank;
  if (zero_x.id) zero_x = quantize_along(o, zero_x, 0, 1);
  if (zero_w.id) zero_w = quantize_along(o, zero_w, 0, rank);
  wick_value in[3] = {quantize_centre(o, o->in[0], zero_x), quantize_centre(o, o->in[w], zero_w),
                      bias};
  wick_emit e = wick_emit_begin(o->b, WICK_OP_conv);
  wick_onnx_window_set(&e, &window);
  wick_emit_set_int(&e, "group", wick_onnx_int(o, "group", 1));
  return wick_emit_end(&e, bias.id ? 3 : 2, in);
}

static void quantize_conv(wick_onnx_op *o)
{
  o->out[0] =
      quantize_conv_of(o, 1, quantize_optional(o, 2), quantize_optional(o, 3), (wick_value){0});
}

/* Operands: x, its scale and zero point; w, its scale and zero point; y's scale and zero point;
 * a bias. */
static void quantize_linear_conv(wick_onnx_op *o)
{
  wick_value y = quantize_conv_of(o, 3, o->in[2], o->in[5], quantize_optional(o, 8));
  if (!y.id || o->b->status) return;
  uint32_t rank = wick_built_info(o->b, y)->rank;
  wick_value sx = quantize_along(o, o->in[1], 0, 1), sw = quantize_along(o, o->in[4], 1, rank),
             sy = quantize_along(o, o->in[6], 0, 1), zero = quantize_along(o, o->in[7], 0, 1);
  o->out[0] = quantize_again(o, y, sx, sw, sy, zero);
}

#define CONV_ATTRS "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"

const wick_onnx_row wick_onnx_quantize_rows[] = {
    {"ConvInteger", 10, {2, 4}, 1, CONV_ATTRS, quantize_conv, 0, 0},
    {"DequantizeLinear", 10, {2, 3}, 1, "", quantize_dequantize, 0, 0},
    {"DequantizeLinear", 13, {2, 3}, 1, "axis:i", quantize_dequantize, 0, 0},
    {"DequantizeLinear", 21, {2, 3}, 1, "axis:i block_size:i", quantize_dequantize, 0, 0},
    {"DequantizeLinear",
     23,
     {2, 3},
     1,
     "axis:i block_size:i output_dtype:i",
     quantize_dequantize,
     0,
     0},
    {"DynamicQuantizeLinear", 11, {1, 1}, 3, "", quantize_dynamic, 0, 0},
    {"MatMulInteger", 10, {2, 4}, 1, "", quantize_matmul, 0, 0},
    {"QLinearConv", 10, {8, 9}, 1, CONV_ATTRS, quantize_linear_conv, 0, 0},
    {"QLinearMatMul", 10, {8, 8}, 1, "", quantize_linear_matmul, 0, 0},
    {"QuantizeLinear", 10, {2, 3}, 1, "", quantize_quantize, 0, 0},
    {"QuantizeLinear", 13, {2, 3}, 1, "axis:i", quantize_quantize, 0, 0},
    {"QuantizeLinear", 19, {2, 3}, 1, "axis:i saturate:i", quantize_quantize, 0, 0},
    {"QuantizeLinear",
     21,
     {2, 3},
     1,
     "axis:i block_size:i output_dtype:i saturate:i",
     quantize_quantize,
     0,
     0},
    {"QuantizeLinear",
     23,
     {2, 3},
     1,
     "axis:i block_size:i output_dtype:i precision:i saturate:i",
     quantize_quantize,
     0,
     0},
    {0},
};
