/* Imports convolution and transposed convolution. */
#include "import/onnx/import.h"

const wick_dim *wick_onnx_conv_kernel(wick_onnx_op *o, uint32_t i)
{
  const wick_type_info *x = wick_onnx_info(o, 0), *w = wick_onnx_info(o, i);
  if (w->rank == x->rank && w->rank >= 3) return w->dim + 2;
  wick_onnx_fail(o, WICK_ETYPE,
                 "the input's rank is %u and the weights' %u, expected the same, 3 or more",
                 x->rank, w->rank);
  return NULL;
}

static wick_value conv_end(wick_onnx_op *o, wick_emit *e, const wick_onnx_window *w)
{
  wick_value in[3] = {o->in[0], o->in[1], o->in[2]};
  for (uint32_t k = 0; k < w->n; k++) in[1] = wick_onnx_sized(o, in[1], 2 + k, w->kernel[k]);
  wick_onnx_window_set(e, w);
  wick_emit_set_int(e, "group", wick_onnx_int(o, "group", 1));
  return wick_emit_end(e, wick_onnx_has(o, 2) ? 3 : 2, in);
}

static void conv_conv(wick_onnx_op *o)
{
  wick_onnx_window w;
  const wick_dim *kernel = wick_onnx_conv_kernel(o, 1);
  if (!kernel || !wick_onnx_window_read(o, kernel, &w)) return;
  if (w.n > WICK_ONNX_WINDOW) {
    o->out[0] = wick_onnx_spatial_conv(o, WICK_OP_conv, &w, NULL);
    return;
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_conv);
  o->out[0] = conv_end(o, &e, &w);
}

static void conv_transpose(wick_onnx_op *o)
{
  wick_onnx_window w;
  int64_t out_pad[WICK_ONNX_SPATIAL];
  const wick_dim *kernel = wick_onnx_conv_kernel(o, 1);
  if (!kernel || !wick_onnx_window_read_transposed(o, kernel, &w, out_pad)) return;
  if (w.n > WICK_ONNX_WINDOW) {
    o->out[0] = wick_onnx_spatial_conv(o, WICK_OP_conv_transpose, &w, out_pad);
    return;
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_conv_transpose);
  bool longer = false;
  for (uint32_t i = 0; i < w.n; i++) longer |= out_pad[i] != 0;
  if (longer) wick_emit_set_ints(&e, "output_pad", w.n, out_pad);
  o->out[0] = conv_end(o, &e, &w);
}

const wick_onnx_row wick_onnx_conv_rows[] = {
    {"Conv",
     1,
     {2, 3},
     1,
     "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I",
     conv_conv,
     0,
     0},
    {"ConvTranspose",
     1,
     {2, 3},
     1,
     "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I "
     "strides:I",
     conv_transpose,
     0,
     0},
    {0},
};
