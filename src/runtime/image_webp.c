/* WebP by libwebp: one picture, without animation. */
#include "runtime/image.h"
#include "runtime/library.h"

#ifdef WICK_HAVE_WEBP

#include <webp/decode.h>

#define WEBP_FILE "libwebp.so.7"
typedef struct image_webp_api {
  __typeof__(WebPGetInfo) *info;
  __typeof__(WebPDecodeRGBInto) *decode;
} image_webp_api;

static const wick_library_symbol image_webp_symbols[] = {
    WICK_SYMBOL(image_webp_api, info, WebPGetInfo),
    WICK_SYMBOL(image_webp_api, decode, WebPDecodeRGBInto),
    {0},
};

wick_code wick_image_webp(wick_image *image)
{
  image_webp_api api;
  int width, height;
  wick_code code;
  if (!wick_library_load(WEBP_FILE, image_webp_symbols, &api))
    return wick_image_fail(image, WICK_EUNSUPPORTED, "the library " WEBP_FILE " is not here");
  if (!api.info(image->at, (size_t)image->nbytes, &width, &height))
    return wick_image_fail(image, WICK_EPARSE, "its header is not that of a WebP");
  if (!wick_image_sized(image, height, width, &code)) return code;
  size_t room = 3 * (size_t)width * (size_t)height;
  if (api.decode(image->at, (size_t)image->nbytes, image->rgb, room, 3 * width)) return WICK_OK;
  return wick_image_fail(image, WICK_EPARSE, "the WebP is damaged");
}

#else

wick_code wick_image_webp(wick_image *image)
{
  return wick_image_fail(image, WICK_EUNSUPPORTED, "this build of Wick was made without libwebp");
}

#endif
