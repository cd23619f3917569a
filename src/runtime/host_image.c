/* image_decode: converts the bytes of an image file to rows of colors. */
#include <stdlib.h>

#include "runtime/host.h"
#include "runtime/picture.h"

enum { IMAGE_SHAPE, IMAGE_FORMAT };
enum { IMAGE_RGB, IMAGE_BGR, IMAGE_GRAY };

/* ITU-R 601-2's luma, with Pillow's fixed-point coefficients. */
static uint8_t host_image_gray(const uint8_t *c)
{
  return (uint8_t)((c[0] * 19595u + c[1] * 38470u + c[2] * 7471u + 0x8000u) >> 16);
}

static wick_code host_image_decode(wick_host_call *c)
{
  const wick_host_tensor *out = &c->arg[0], *x = &c->arg[1];
  int64_t n = out->dim[0] * out->dim[1];
  bool dense = x->stride[0] == 1 || x->dim[0] <= 1;
  wick_picture image = {.at = x->data,
                        .nbytes = (uint64_t)x->dim[0],
                        .height = out->dim[0],
                        .width = out->dim[1],
                        .message = c->message,
                        .message_nbytes = c->message_nbytes};
  if (!dense) return wick_host_fail(c, WICK_EINTERNAL, "the bytes are not contiguous");
  image.rgb = c->allocator.alloc(c->allocator.self, (size_t)(3 * n));
  if (!image.rgb) return wick_host_fail(c, WICK_ENOMEM, "out of memory");
  wick_code code = wick_picture_read(&image);
  uint8_t *to = out->data;
  for (int64_t k = 0; k < n && code == WICK_OK; k++) {
    const uint8_t *p = image.rgb + 3 * k;
    int64_t at = k / out->dim[1] * out->stride[0] + k % out->dim[1] * out->stride[1];
    if (c->attr[IMAGE_FORMAT].i == IMAGE_GRAY) to[at] = host_image_gray(p);
    for (int i = 0; i < 3 && c->attr[IMAGE_FORMAT].i != IMAGE_GRAY; i++)
      to[at + i * out->stride[2]] = p[c->attr[IMAGE_FORMAT].i == IMAGE_BGR ? 2 - i : i];
  }
  c->allocator.free(c->allocator.self, image.rgb, (size_t)(3 * n));
  return code;
}

const wick_host_row wick_host_image_rows[] = {
    {"image_decode", NULL, NULL, host_image_decode},
    {0},
};
