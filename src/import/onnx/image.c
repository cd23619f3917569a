/* Imports ImageDecoder. The sizes are in the image file, which is read when the model is
 * compiled. */
#include "import/onnx/import.h"
#include "runtime/picture.h"

/* Returns the bytes of a constant operand, or NULL. */
static const void *image_bytes(wick_onnx_op *o, uint32_t i)
{
  const wick_builder *b = o->b;
  for (uint32_t k = b->nodes.n; k-- > 0;) {
    const wick_node *n = &b->nodes.at[k];
    if (n->first.id == o->in[i].id && n->op == WICK_OP_const && wick_const_imm(n)->constant)
      return wick_constant_get(o->c->module, wick_const_imm(n)->constant)->data;
  }
  return NULL;
}

static void image_decoder(wick_onnx_op *o)
{
  char message[200] = "";
  const wick_type_info *t = wick_onnx_info(o, 0);
  int format = wick_onnx_word(o, "pixel_format", "RGB BGR Grayscale");
  if (t->rank != 1 || t->elem != WICK_U8 || !wick_dim_is_const(t->dim[0])) {
    wick_onnx_fail(o, WICK_ETYPE, "the file is not a vector of bytes");
    return;
  }
  wick_picture image = {.at = image_bytes(o, 0),
                        .nbytes = (uint64_t)t->dim[0].v,
                        .message = message,
                        .message_nbytes = sizeof message};
  if (!image.at) {
    uint32_t n;
    const int64_t *never;
    wick_onnx_numbers(o, 0, "the file", &n, &never);
    return;
  }
  wick_code code = wick_picture_read(&image);
  if (code) {
    wick_onnx_fail(o, code, "%s", message);
    return;
  }
  wick_dim size[2] = {wick_dim_const(image.height), wick_dim_const(image.width)};
  wick_emit e = wick_emit_begin(o->b, WICK_OP_image_decode);
  wick_emit_set_dims(&e, "size", 2, size);
  wick_emit_set_int(&e, "format", format);
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

const wick_onnx_row wick_onnx_image_rows[] = {
    {"ImageDecoder", 20, {1, 1}, 1, "pixel_format:s", image_decoder, 0, 0},
    {0},
};
