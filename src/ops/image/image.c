/* image_decode, an operator of the runtime. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/host.h"
#include "ops/tensor.h"

static wick_status image_decode_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  if (x->elem != WICK_U8 || x->rank != 1 || c->attr[WICK_ATTR_image_decode_size].n != 2)
    return wick_infer_fail(c, WICK_ETYPE, "%s and %u sizes, expected bytes and 2",
                           wick_infer_type_text(c, c->in[0]->type),
                           c->attr[WICK_ATTR_image_decode_size].n);
  wick_dim dim[3] = {c->attr[WICK_ATTR_image_decode_size].dims[0],
                     c->attr[WICK_ATTR_image_decode_size].dims[1],
                     wick_dim_const(c->attr[WICK_ATTR_image_decode_format].i == 2 ? 1 : 3)};
  wick_infer_out(c, 0, WICK_U8, 3, dim);
  return NULL;
}

const wick_op wick_op_image_decode = {
    .name = "image_decode",
    .doc = "Decodes an image file of the given height and width: JPEG, JPEG 2000, PNG, WebP, "
           "TIFF, BMP or PNM. Alpha is dropped. Grayscale is (19595 r + 38470 g + 7471 b) / "
           "65536, rounded. An image of another size, or bytes that are no image, fail the run",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"size", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"format", WICK_ATTR_ENUM, 0, false, "rgb bgr grayscale", 0, 0}},
    .level = WICK_GRAPH | WICK_GROUP,
    .effect = WICK_MAY_FAIL,
    .host = "image_decode",
    .infer = image_decode_infer,
    .ref = wick_host_ref,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
