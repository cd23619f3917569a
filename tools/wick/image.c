/* A decoded picture as a network's input wants it. */
#include "image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"

/* ---- options ---- */

static wick_status image_numbers(const char *text, const char *what, const char *place,
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
  return wick_fail(mem, WICK_EINVAL, place,
                   "image %s is \"%s\", wanted one number or three, by commas", what, text);
}

wick_status wick_image_options_read(const char *layout, const char *mean, const char *scale,
                                    const char *place, wick_arena *mem, wick_image_options *out)
{
  if (layout && strcmp(layout, "nchw") == 0)
    out->layout = WICK_IMAGE_NCHW;
  else if (layout && strcmp(layout, "nhwc") == 0)
    out->layout = WICK_IMAGE_NHWC;
  else if (layout)
    return wick_fail(mem, WICK_EINVAL, place, "image layout is \"%s\", wanted nchw or nhwc",
                     layout);
  if (mean) WICK_TRY(image_numbers(mean, "mean", place, mem, out->mean, &out->nmean));
  if (scale) WICK_TRY(image_numbers(scale, "scale", place, mem, out->scale, &out->nscale));
  return NULL;
}

/* ---- where the axes are ---- */

typedef struct image_axes {
  int batch, channel, height, width; /* of the input's dimensions; -1: it has none */
} image_axes;

static bool image_is_channels(int64_t d) { return d == 1 || d == 3; }
static bool image_is(int64_t d, int64_t size) { return d < 0 || d == size; }

static image_axes image_axes_of(const wick_image_input *in, bool nchw)
{
  int rank = (int)in->rank, first = rank > 3;
  if (rank == 2) return (image_axes){-1, -1, 0, 1};
  return nchw ? (image_axes){first - 1, first, first + 1, first + 2}
              : (image_axes){first - 1, first + 2, first, first + 1};
}

/* How well the axes fit the picture: 0 where their channels are not 1 or 3. */
static int image_axes_fit(const wick_image_input *in, const image_axes *a,
                          const wick_array *picture)
{
  if (a->channel >= 0 && !image_is_channels(in->dim[a->channel])) return 0;
  return 1 + (image_is(in->dim[a->height], picture->dim[0]) &&
              image_is(in->dim[a->width], picture->dim[1]));
}

static wick_status image_find_axes(const wick_array *picture, const wick_image_input *in,
                                   wick_image_layout layout, const char *type, const char *place,
                                   wick_arena *mem, image_axes *out)
{
  if (in->rank < 2 || in->rank > 4)
    return wick_fail(mem, WICK_ETYPE, place,
                     "a picture cannot be the input \"%s\", %s: wanted 2 to 4 dimensions", in->name,
                     type);
  image_axes nchw = image_axes_of(in, true), nhwc = image_axes_of(in, false);
  int first = image_axes_fit(in, &nchw, picture), last = image_axes_fit(in, &nhwc, picture);
  if (layout == WICK_IMAGE_GUESS && first == last && in->rank > 2)
    return wick_fail(mem, WICK_ETYPE, place,
                     "the input \"%s\", %s, does not show where its channels are: --image-layout "
                     "nchw or nhwc says it",
                     in->name, type);
  *out = (layout == WICK_IMAGE_GUESS ? first > last : layout == WICK_IMAGE_NCHW) ? nchw : nhwc;
  return NULL;
}

/* ---- fitting ---- */

typedef struct image_plan {
  int64_t height, width, channels; /* of the input */
  size_t step_pixel, step_channel; /* in elements of the input */
  double mean[WICK_IMAGE_CHANNELS], scale[WICK_IMAGE_CHANNELS];
  wick_scalar value[WICK_IMAGE_CHANNELS][256]; /* of each pixel value, by channel */
} image_plan;

static wick_status image_check(const wick_array *picture, const wick_image_input *in,
                               const image_axes *axes, const char *type, const char *place,
                               wick_arena *mem, image_plan *p)
{
  p->height = picture->dim[0];
  p->width = picture->dim[1];
  p->channels = axes->channel < 0 ? 1 : in->dim[axes->channel];
  if (p->channels < 0) p->channels = picture->dim[2];
  if (!image_is_channels(p->channels))
    return wick_fail(mem, WICK_ETYPE, place,
                     "the input \"%s\", %s, has %lld channels, a picture has 1 or 3", in->name,
                     type, (long long)p->channels);
  if (axes->batch >= 0 && !image_is(in->dim[axes->batch], 1))
    return wick_fail(mem, WICK_ETYPE, place, "the input \"%s\", %s, wants %lld pictures, not one",
                     in->name, type, (long long)in->dim[0]);
  int64_t height = in->dim[axes->height], width = in->dim[axes->width];
  if (!image_is(height, p->height) || !image_is(width, p->width))
    return wick_fail(mem, WICK_ETYPE, place,
                     "the picture has %lld x %lld pixels (height x width), the input \"%s\", %s, "
                     "wants %s x %s",
                     (long long)p->height, (long long)p->width, in->name, type,
                     height < 0 ? "any" : wick_str_printf(mem, "%lld", (long long)height),
                     width < 0 ? "any" : wick_str_printf(mem, "%lld", (long long)width));
  if (wick_elem_is_float(in->elem) || in->elem == WICK_U8) return NULL;
  return wick_fail(mem, WICK_ETYPE, place,
                   "a picture cannot be the input \"%s\", %s: wanted floats or u8", in->name, type);
}

static wick_status image_values(const wick_image_input *in, const wick_image_options *o,
                                const char *type, const char *place, wick_arena *mem, image_plan *p)
{
  if (in->elem == WICK_U8 && (o->nmean || o->nscale))
    return wick_fail(mem, WICK_EINVAL, place,
                     "the input \"%s\", %s, takes pixels as they are: image mean and scale are for "
                     "floats",
                     in->name, type);
  if (o->nmean > p->channels || o->nscale > p->channels)
    return wick_fail(mem, WICK_EINVAL, place,
                     "image mean and scale have %u and %u numbers, the input \"%s\", %s, has %lld "
                     "channels",
                     o->nmean, o->nscale, in->name, type, (long long)p->channels);
  for (int64_t c = 0; c < p->channels; c++) {
    double mean = o->nmean ? o->mean[o->nmean == 1 ? 0 : c] : 0;
    double scale = o->nscale ? o->scale[o->nscale == 1 ? 0 : c] : 1;
    for (int v = 0; v < 256; v++) {
      if (in->elem == WICK_U8)
        p->value[c][v].i = v;
      else
        p->value[c][v].f = (v - mean) * scale;
    }
  }
  return NULL;
}

/* One pixel of `from` channels as `to` channels. */
static void image_pixel(const unsigned char *at, int64_t from, int64_t to, unsigned char *out)
{
  if (from == to)
    memcpy(out, at, (size_t)to);
  else if (to == 1) /* ITU-R BT.601 in 16 bits, the constants of Pillow */
    out[0] = (unsigned char)((at[0] * 19595u + at[1] * 38470u + at[2] * 7471u + 0x8000u) >> 16);
  else
    memset(out, at[0], WICK_IMAGE_CHANNELS);
}

static void image_fill(const wick_array *picture, const image_plan *p, wick_elem elem, void *out)
{
  const unsigned char *at = picture->data;
  int64_t from = picture->dim[2], n = p->height * p->width;
  for (int64_t i = 0; i < n; i++, at += from) {
    unsigned char pixel[WICK_IMAGE_CHANNELS];
    image_pixel(at, from, p->channels, pixel);
    for (int64_t c = 0; c < p->channels; c++)
      wick_store_elem(elem, out, (uint64_t)i * p->step_pixel + (uint64_t)c * p->step_channel,
                      p->value[c][pixel[c]]);
  }
}

wick_status wick_image_fit(const wick_array *picture, const wick_image_input *input,
                           const wick_image_options *options, const char *place, wick_arena *mem,
                           wick_array *out)
{
  const char *type = wick_array_type(mem, input->elem, input->rank, input->dim);
  image_axes axes = {0};
  WICK_TRY(image_find_axes(picture, input, options->layout, type, place, mem, &axes));
  image_plan *p = wick_new(mem, image_plan, 1);
  WICK_TRY(image_check(picture, input, &axes, type, place, mem, p));
  WICK_TRY(image_values(input, options, type, place, mem, p));
  bool last = axes.channel == (int)input->rank - 1;
  p->step_pixel = last ? (size_t)p->channels : 1;
  p->step_channel = last ? 1 : (size_t)(p->height * p->width);
  *out = (wick_array){.name = "", .elem = input->elem, .rank = input->rank};
  if (axes.batch >= 0) out->dim[axes.batch] = 1;
  if (axes.channel >= 0) out->dim[axes.channel] = p->channels;
  out->dim[axes.height] = p->height;
  out->dim[axes.width] = p->width;
  if (!wick_array_nbytes(out->elem, out->rank, out->dim, &out->nbytes))
    return wick_fail(mem, WICK_ERANGE, place, "the size of %s overflows", type);
  void *data = wick_arena_alloc(mem, (size_t)out->nbytes, 64);
  image_fill(picture, p, out->elem, data);
  out->data = data;
  return NULL;
}
