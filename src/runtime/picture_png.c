/* Reads PNG with libpng's simplified interface, which returns errors and prints nothing. It
 * converts a file whose gamma is not that of sRGB. */
#include "runtime/library.h"
#include "runtime/picture.h"

#ifdef WICK_HAVE_PNG

#include <png.h>
#include <stdlib.h>
#include <string.h>

#define PNG_FILE "libpng16.so.16"
typedef struct picture_png_api {
  __typeof__(png_image_begin_read_from_memory) *begin;
  __typeof__(png_image_finish_read) *finish;
  __typeof__(png_image_free) *drop;
} picture_png_api;

static const wick_library_symbol picture_png_symbols[] = {
    WICK_SYMBOL(picture_png_api, begin, png_image_begin_read_from_memory),
    WICK_SYMBOL(picture_png_api, finish, png_image_finish_read),
    WICK_SYMBOL(picture_png_api, drop, png_image_free),
    {0},
};

/* Reads pixels with alpha, which is then removed: libpng itself would blend it with a
 * background. */
static wick_code picture_png_pixels(wick_picture *image, const picture_png_api *api, png_image *p)
{
  uint64_t n = (uint64_t)image->height * (uint64_t)image->width;
  p->format = PNG_FORMAT_RGBA;
  p->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  uint8_t *rgba = malloc(4 * n);
  if (!rgba) return wick_picture_fail(image, WICK_ENOMEM, "out of memory");
  bool good = api->finish(p, NULL, rgba, 0, NULL);
  for (uint64_t k = 0; good && k < n; k++) memcpy(image->rgb + 3 * k, rgba + 4 * k, 3);
  free(rgba);
  return good ? WICK_OK : wick_picture_fail(image, WICK_EPARSE, "PNG: %s", p->message);
}

wick_code wick_picture_png(wick_picture *image)
{
  picture_png_api api;
  png_image p = {.version = PNG_IMAGE_VERSION};
  wick_code code;
  if (!wick_library_load(PNG_FILE, picture_png_symbols, &api))
    return wick_picture_fail(image, WICK_EUNSUPPORTED, "the library " PNG_FILE " is not here");
  if (!api.begin(&p, image->at, (size_t)image->nbytes))
    return wick_picture_fail(image, WICK_EPARSE, "PNG: %s", p.message);
  if (wick_picture_sized(image, p.height, p.width, &code))
    code = picture_png_pixels(image, &api, &p);
  api.drop(&p);
  return code;
}

#else

wick_code wick_picture_png(wick_picture *image)
{
  return wick_picture_fail(image, WICK_EUNSUPPORTED, "this build of Wick was made without libpng");
}

#endif
