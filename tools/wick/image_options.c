/* Parses the options for pictures from the command line and from a model's metadata. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#include "image.h"

static wick_status options_numbers(const char *text, const char *what, const char *location,
                                   wick_arena *mem, double *out, uint32_t *out_n)
{
  const char *at = text;
  uint32_t n = 0;
  for (char *end; n < WICK_IMAGE_CHANNELS; at = end + 1) {
    out[n] = strtod(at, &end);
    if (end == at || !isfinite(out[n])) break;
    n++;
    if (*end == 0 && n != 2) return *out_n = n, NULL;
    if (*end != ',') break;
  }
  return wick_fail(mem, WICK_EINVAL, location,
                   "image %s is \"%s\", expected one number or three, by commas", what, text);
}

/* Reads N, or HEIGHTxWIDTH. */
static wick_status options_size(const char *text, const char *what, const char *location,
                                wick_arena *mem, int64_t out[2], uint32_t *out_n)
{
  const char *at = text;
  for (uint32_t n = 0; n < 2; n++) {
    char *end;
    errno = 0;
    long long v = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : 0;
    if (errno || v < 1 || v > WICK_IMAGE_MOST_BYTES) break;
    out[n] = v;
    if (!*end) {
      if (n == 0) out[1] = v;
      *out_n = n + 1;
      return NULL;
    }
    if (*end != 'x') break;
    at = end + 1;
  }
  return wick_fail(mem, WICK_EINVAL, location, "image %s is \"%s\", expected N or HEIGHTxWIDTH",
                   what, text);
}

/* Sets *out to the index of the text among the names, which end with NULL. Fails for other texts.
 * */
static wick_status options_name(const char *text, const char *what, const char *const *name,
                                const char *location, wick_arena *mem, uint32_t *out)
{
  wick_text all = wick_text_begin(mem);
  for (uint32_t i = 0; name[i]; i++) {
    if (strcmp(text, name[i]) == 0) return *out = i, NULL;
    wick_text_printf(&all, "%s%s", !i ? "" : name[i + 1] ? ", " : " or ", name[i]);
  }
  return wick_fail(mem, WICK_EINVAL, location, "image %s is \"%s\", expected %s", what, text,
                   all.at);
}

wick_status wick_image_options_read(const wick_image_texts *t, const char *location,
                                    wick_arena *mem, wick_image_options *out)
{
  static const char *const layouts[] = {"nchw", "nhwc", NULL},
                           *const colors[] = {"rgb", "bgr", NULL},
                           *const filters[] = {"bilinear", "bicubic", "lanczos", "nearest", NULL};
  uint32_t k = 0;
  if (t->layout) {
    WICK_TRY(options_name(t->layout, "layout", layouts, location, mem, &k));
    out->layout = k ? WICK_IMAGE_NHWC : WICK_IMAGE_NCHW;
  }
  if (t->color) {
    WICK_TRY(options_name(t->color, "color", colors, location, mem, &k));
    out->bgr = k == 1;
  }
  if (t->filter) {
    WICK_TRY(options_name(t->filter, "filter", filters, location, mem, &k));
    out->filter = (wick_image_filter)k;
  }
  if (t->resize)
    WICK_TRY(options_size(t->resize, "resize", location, mem, out->resize, &out->nresize));
  if (t->crop) WICK_TRY(options_size(t->crop, "crop", location, mem, out->crop, &out->ncrop));
  if (t->scale)
    WICK_TRY(options_numbers(t->scale, "scale", location, mem, out->scale, &out->nscale));
  if (t->mean) WICK_TRY(options_numbers(t->mean, "mean", location, mem, out->mean, &out->nmean));
  if (t->std) WICK_TRY(options_numbers(t->std, "std", location, mem, out->std, &out->nstd));
  for (uint32_t i = 0; i < out->nstd; i++)
    if (out->std[i] == 0)
      return wick_fail(mem, WICK_EINVAL, location, "image std is 0: nothing can be divided by it");
  return NULL;
}
