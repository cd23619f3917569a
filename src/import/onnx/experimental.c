/* Imports operators of ONNX's own domain that were experimental: before opset 10, or never
 * released. Old converters wrote them, and ONNX Runtime accepts them at any opset. */
#include "import/onnx/import.h"

/* alpha * f(beta * x), or alpha * x + beta if there is no f */
static void experimental_by_two(wick_onnx_op *o)
{
  double alpha = wick_onnx_float(o, "alpha", 1),
         beta = wick_onnx_float(o, "beta", (float)o->row->arg);
  wick_opcode f = o->row->op;
  wick_value y = wick_emit_by(o->b, WICK_OP_mul, o->in[0], f == WICK_OP_none ? alpha : beta);
  if (o->b->status) return;
  o->out[0] = f == WICK_OP_none ? wick_emit_by(o->b, WICK_OP_add, y, beta)
                                : wick_emit_by(o->b, WICK_OP_mul, wick_build1(o->b, f, y), alpha);
}

static void experimental_scale(wick_onnx_op *o)
{
  o->out[0] = wick_emit_by(o->b, WICK_OP_mul, o->in[0], wick_onnx_float(o, "scale", 1));
}

/* Checks that the input is an image [N, C, H, W]. Returns false after it added a failure. */
static bool experimental_image(wick_onnx_op *o)
{
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  if (rank != 4) wick_onnx_fail(o, WICK_ETYPE, "the input has rank %u, expected 4", rank);
  return rank == 4;
}

/* x * scale + bias, where bias has a number for each channel. */
static void experimental_image_scaler(wick_onnx_op *o)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "bias");
  int64_t n = a ? (int64_t)a->floats.n : 0, dim[3] = {n, 1, 1};
  if (!experimental_image(o)) return;
  if (!wick_onnx_equal(o, wick_onnx_info(o, 0)->dim[1], wick_dim_const(n))) {
    wick_onnx_fail(o, WICK_ETYPE, "bias has %lld numbers, expected one for each channel",
                   (long long)n);
    return;
  }
  double *bias = wick_new(o->c->tmp, double, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++) bias[i] = (double)a->floats.at[i];
  experimental_scale(o);
  o->out[0] = wick_build2(o->b, WICK_OP_add, o->out[0],
                          wick_onnx_table(o, wick_onnx_info(o, 0)->elem, 3, dim, bias));
}

/* `border` has the sizes to remove on the left, at the top, on the right and at the bottom. If
 * `scale` is present, it has the height and the width of the result instead of the last two. */
static void experimental_crop(wick_onnx_op *o)
{
  wick_wire_i64s border = wick_onnx_ints(o, "border"), scale = wick_onnx_ints(o, "scale");
  wick_dims *t = o->c->module->dims;
  if (!experimental_image(o)) return;
  if (border.n != 4 || (scale.n && scale.n != 2)) {
    wick_onnx_fail(o, WICK_ETYPE, "border has %zu numbers and scale %zu, expected 4, and 2 or none",
                   border.n, scale.n);
    return;
  }
  wick_value y = o->in[0];
  for (uint32_t k = 0; k < 2; k++) { /* height and width */
    wick_dim have = wick_onnx_info(o, 0)->dim[2 + k], begin = wick_dim_const(border.at[1 - k]);
    wick_dim size = wick_dim_sub(t, wick_dim_sub(t, have, begin), wick_dim_const(border.at[3 - k]));
    if (scale.n) size = wick_dim_const(scale.at[k]);
    if (border.at[1 - k] < 0 || border.at[3 - k] < 0 || (wick_dim_is_const(size) && size.v < 0)) {
      wick_onnx_fail(o, WICK_ERANGE, "the borders of axis %u are %lld and %lld", 2 + k,
                     (long long)border.at[1 - k], (long long)border.at[3 - k]);
      return;
    }
    y = wick_emit_slice(o->b, y, 2 + k, begin, size);
  }
  o->out[0] = y;
}

const wick_onnx_row wick_onnx_experimental_rows[] = {
    {"Affine", 1, {1, 1}, 1, "alpha:f beta:f", experimental_by_two, WICK_OP_none, 0},
    {"Crop", 1, {1, 1}, 1, "border:I! scale:I", experimental_crop, 0, 0},
    {"ImageScaler", 1, {1, 1}, 1, "bias:F! scale:f", experimental_image_scaler, 0, 0},
    {"ParametricSoftplus",
     1,
     {1, 1},
     1,
     "alpha:f beta:f",
     experimental_by_two,
     WICK_OP_softplus,
     1},
    {"Scale", 1, {1, 1}, 1, "scale:f", experimental_scale, 0, 0},
    {"ScaledTanh", 1, {1, 1}, 1, "alpha:f beta:f", experimental_by_two, WICK_OP_tanh, 1},
    {0},
};
