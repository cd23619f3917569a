/* Reads the first picture of a TIFF file with libtiff, with any colors and compression. */
#include "runtime/library.h"
#include "runtime/picture.h"

#ifdef WICK_HAVE_TIFF

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#define TIFF_FILE "libtiff.so.6"
typedef struct picture_tiff_api {
  __typeof__(TIFFClientOpenExt) *open;
  __typeof__(TIFFClose) *close;
  __typeof__(TIFFGetField) *field;
  __typeof__(TIFFOpenOptionsAlloc) *options;
  __typeof__(TIFFOpenOptionsFree) *drop;
  __typeof__(TIFFOpenOptionsSetErrorHandlerExtR) *errors;
  __typeof__(TIFFOpenOptionsSetWarningHandlerExtR) *warnings;
  __typeof__(TIFFReadRGBAImageOriented) *read;
} picture_tiff_api;

static const wick_library_symbol picture_tiff_symbols[] = {
    WICK_SYMBOL(picture_tiff_api, open, TIFFClientOpenExt),
    WICK_SYMBOL(picture_tiff_api, close, TIFFClose),
    WICK_SYMBOL(picture_tiff_api, field, TIFFGetField),
    WICK_SYMBOL(picture_tiff_api, options, TIFFOpenOptionsAlloc),
    WICK_SYMBOL(picture_tiff_api, drop, TIFFOpenOptionsFree),
    WICK_SYMBOL(picture_tiff_api, errors, TIFFOpenOptionsSetErrorHandlerExtR),
    WICK_SYMBOL(picture_tiff_api, warnings, TIFFOpenOptionsSetWarningHandlerExtR),
    WICK_SYMBOL(picture_tiff_api, read, TIFFReadRGBAImageOriented),
    {0},
};

typedef struct picture_tiff {
  wick_picture *image;
  uint64_t at;
} picture_tiff;

/* ---- the file, in memory ---- */

static tmsize_t picture_tiff_read(thandle_t handle, void *to, tmsize_t n)
{
  picture_tiff *t = handle;
  uint64_t left = t->at < t->image->nbytes ? t->image->nbytes - t->at : 0;
  if (n < 0) return -1;
  if ((uint64_t)n > left) n = (tmsize_t)left;
  if (n) memcpy(to, t->image->at + t->at, (size_t)n);
  t->at += (uint64_t)n;
  return n;
}

static tmsize_t picture_tiff_write(thandle_t handle, void *from, tmsize_t n)
{
  (void)handle, (void)from, (void)n;
  return -1;
}

static toff_t picture_tiff_seek(thandle_t handle, toff_t offset, int whence)
{
  picture_tiff *t = handle;
  uint64_t base = whence == SEEK_CUR ? t->at : whence == SEEK_END ? t->image->nbytes : 0;
  t->at = base + offset;
  return t->at;
}

static int picture_tiff_close(thandle_t handle) { return (void)handle, 0; }
static toff_t picture_tiff_size(thandle_t handle)
{
  return ((picture_tiff *)handle)->image->nbytes;
}

static int picture_tiff_error(TIFF *tiff, void *arg, const char *module, const char *fmt,
                              va_list args)
{
  (void)tiff, (void)module;
  wick_picture *m = arg;
  if (m->message_nbytes) vsnprintf(m->message, m->message_nbytes, fmt, args);
  return 1;
}

static int picture_tiff_warning(TIFF *tiff, void *arg, const char *module, const char *fmt,
                                va_list args)
{
  (void)tiff, (void)arg, (void)module, (void)fmt, (void)args;
  return 1;
}

/* ---- pixels ---- */

static wick_code picture_tiff_pixels(wick_picture *m, const picture_tiff_api *api, TIFF *tiff)
{
  uint64_t n = (uint64_t)m->height * (uint64_t)m->width;
  uint32_t *raster = malloc(n * sizeof *raster);
  if (!raster) return wick_picture_fail(m, WICK_ENOMEM, "out of memory");
  int good =
      api->read(tiff, (uint32_t)m->width, (uint32_t)m->height, raster, ORIENTATION_TOPLEFT, 1);
  for (uint64_t k = 0; good && k < n; k++) {
    m->rgb[3 * k] = (uint8_t)TIFFGetR(raster[k]);
    m->rgb[3 * k + 1] = (uint8_t)TIFFGetG(raster[k]);
    m->rgb[3 * k + 2] = (uint8_t)TIFFGetB(raster[k]);
  }
  free(raster);
  return good ? WICK_OK : WICK_EPARSE;
}

static wick_code picture_tiff_run(wick_picture *m, const picture_tiff_api *api, TIFF *tiff)
{
  uint32_t width = 0, height = 0;
  wick_code code;
  if (!api->field(tiff, TIFFTAG_IMAGEWIDTH, &width) ||
      !api->field(tiff, TIFFTAG_IMAGELENGTH, &height))
    return wick_picture_fail(m, WICK_EPARSE, "the TIFF has no sizes");
  if (!wick_picture_sized(m, height, width, &code)) return code;
  return picture_tiff_pixels(m, api, tiff);
}

wick_code wick_picture_tiff(wick_picture *image)
{
  picture_tiff_api api;
  picture_tiff t = {image, 0};
  if (!wick_library_load(TIFF_FILE, picture_tiff_symbols, &api))
    return wick_picture_fail(image, WICK_EUNSUPPORTED, "the library " TIFF_FILE " is not here");
  TIFFOpenOptions *options = api.options();
  if (!options) return wick_picture_fail(image, WICK_ENOMEM, "out of memory");
  wick_picture_fail(image, WICK_OK, "the TIFF is damaged");
  api.errors(options, picture_tiff_error, image);
  api.warnings(options, picture_tiff_warning, NULL);
  TIFF *tiff = api.open("image", "rm", &t, picture_tiff_read, picture_tiff_write, picture_tiff_seek,
                        picture_tiff_close, picture_tiff_size, NULL, NULL, options);
  wick_code code = tiff ? picture_tiff_run(image, &api, tiff) : WICK_EPARSE;
  if (tiff) api.close(tiff);
  api.drop(options);
  return code;
}

#else

wick_code wick_picture_tiff(wick_picture *image)
{
  return wick_picture_fail(image, WICK_EUNSUPPORTED, "this build of Wick was made without libtiff");
}

#endif
