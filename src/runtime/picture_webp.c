/* Reads WebP with libwebp: one picture, without animation. */
#include "runtime/library.h"
#include "runtime/picture.h"

#ifdef WICK_HAVE_WEBP

#include <webp/decode.h>

#define WEBP_FILE "libwebp.so.7"
typedef struct picture_webp_api {
  __typeof__(WebPGetInfo) *info;
  __typeof__(WebPDecodeRGBInto) *decode;
} picture_webp_api;

static const wick_library_symbol picture_webp_symbols[] = {
    WICK_SYMBOL(picture_webp_api, info, WebPGetInfo),
    WICK_SYMBOL(picture_webp_api, decode, WebPDecodeRGBInto),
    {0},
};

wick_code wick_picture_webp(wick_picture *image)
{
  picture_webp_api api;
  int width, height;
  wick_code code;
  if (!wick_library_load(WEBP_FILE, picture_webp_symbols, &api))
    return wick_picture_fail(image, WICK_EUNSUPPORTED, "the library " WEBP_FILE " is not here");
  if (!api.info(image->at, (size_t)image->nbytes, &width, &height))
    return wick_picture_fail(image, WICK_EPARSE, "its header is not that of a WebP");
  if (!wick_picture_sized(image, height, width, &code)) return code;
  size_t size = 3 * (size_t)width * (size_t)height;
  if (api.decode(image->at, (size_t)image->nbytes, image->rgb, size, 3 * width)) return WICK_OK;
  return wick_picture_fail(image, WICK_EPARSE, "the WebP is damaged");
}

#else

wick_code wick_picture_webp(wick_picture *image)
{
  return wick_picture_fail(image, WICK_EUNSUPPORTED, "this build of Wick was made without libwebp");
}

#endif
