/* Fits a decoded picture to a network's input: axes, size, channels and values. Begin with
 * wick_image_fit. */
#include "image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"

/* ---- axes ---- */

typedef struct image_axes {
  int batch, channel, height, width; /* dimensions of the input; -1: it does not have this one */
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

/* Returns how well the axes fit a picture of this height and width; 0 if their channels are not 1
 * or 3. */
static int image_axes_fit(const wick_image_input *in, const image_axes *a, const int64_t size[2])
{
  if (a->channel >= 0 && !image_is_channels(in->dim[a->channel])) return 0;
  return 1 + (image_is(in->dim[a->height], size[0]) && image_is(in->dim[a->width], size[1]));
}

static wick_status image_find_axes(const wick_array *picture, const wick_image_input *in,
                                   const wick_image_options *o, const char *type,
                                   const char *location, wick_arena *mem, image_axes *out)
{
  const int64_t *size = o->ncrop ? o->crop : o->nresize == 2 ? o->resize : picture->dim;
  wick_image_layout layout = o->layout;
  if (in->rank < 2 || in->rank > 4)
    return wick_fail(mem, WICK_ETYPE, location,
                     "a picture cannot be the input \"%s\", %s: expected 2 to 4 dimensions",
                     in->name, type);
  image_axes nchw = image_axes_of(in, true), nhwc = image_axes_of(in, false);
  int first = image_axes_fit(in, &nchw, size), last = image_axes_fit(in, &nhwc, size);
  if (layout == WICK_IMAGE_GUESS && first == last && in->rank > 2)
    return wick_fail(mem, WICK_ETYPE, location,
                     "the input \"%s\", %s, does not show where its channels are: give "
                     "--layout nchw or --layout nhwc",
                     in->name, type);
  *out = (layout == WICK_IMAGE_GUESS ? first > last : layout == WICK_IMAGE_NCHW) ? nchw : nhwc;
  return NULL;
}

/* ---- channels and size ---- */

/* Converts one pixel of `from` channels to `to` channels. */
static void image_pixel(const unsigned char *at, int64_t from, int64_t to, unsigned char *out)
{
  if (from == to)
    memcpy(out, at, (size_t)to);
  else if (to == 1) /* ITU-R BT.601 in 16 bits, with Pillow's constants */
    out[0] = (unsigned char)((at[0] * 19595u + at[1] * 38470u + at[2] * 7471u + 0x8000u) >> 16);
  else
    memset(out, at[0], WICK_IMAGE_CHANNELS);
}

static wick_array image_with_channels(const wick_array *picture, int64_t channels, wick_arena *mem)
{
  wick_array a = *picture;
  const unsigned char *at = picture->data;
  int64_t from = picture->dim[2], n = picture->dim[0] * picture->dim[1];
  if (from == channels) return a;
  a.dim[2] = channels;
  a.nbytes = (uint64_t)(n * channels);
  unsigned char *out = wick_arena_alloc(mem, (size_t)a.nbytes, 64);
  a.data = out;
  for (int64_t i = 0; i < n; i++, at += from, out += channels) image_pixel(at, from, channels, out);
  return a;
}

/* Cuts out the middle. If the margins differ, they are rounded as in torchvision's CenterCrop. */
static wick_array image_crop(const wick_array *a, const int64_t size[2], wick_arena *mem)
{
  wick_array out = *a;
  int64_t top = (int64_t)nearbyint((double)(a->dim[0] - size[0]) / 2),
          left = (int64_t)nearbyint((double)(a->dim[1] - size[1]) / 2), channels = a->dim[2];
  size_t row = (size_t)(size[1] * channels);
  out.dim[0] = size[0], out.dim[1] = size[1];
  out.nbytes = (uint64_t)size[0] * row;
  unsigned char *to = wick_arena_alloc(mem, (size_t)out.nbytes, 64);
  out.data = to;
  for (int64_t y = 0; y < size[0]; y++)
    memcpy(to + (size_t)y * row,
           (const unsigned char *)a->data + ((top + y) * a->dim[1] + left) * channels, row);
  return out;
}

/* Returns x * a / b, rounded to nearest, and at least 1. */
static int64_t image_ratio(int64_t x, int64_t a, int64_t b)
{
  int64_t r = llround((double)x * (double)a / (double)b);
  return r < 1 ? 1 : r;
}

/* The smallest size with the picture's aspect ratio that covers the input's height and width. Any
 * size covers a dynamic one (negative). */
static void image_cover(const wick_array *a, const int64_t want[2], int64_t out[2])
{
  bool by_height = want[1] < 0 || (want[0] >= 0 && want[0] * a->dim[1] >= want[1] * a->dim[0]);
  int k = by_height ? 0 : 1;
  out[k] = want[k];
  out[1 - k] = image_ratio(a->dim[1 - k], want[k], a->dim[k]);
  if (out[1 - k] < want[1 - k]) out[1 - k] = want[1 - k];
}

/* The shorter side becomes `n`; the longer one is cut off to a whole number, as torchvision's
 * Resize does. */
static void image_shorter(const wick_array *a, int64_t n, int64_t out[2])
{
  int k = a->dim[0] <= a->dim[1] ? 0 : 1;
  out[k] = n;
  out[1 - k] = (int64_t)((double)n * (double)a->dim[1 - k] / (double)a->dim[k]);
}

static wick_status image_too_small(const wick_array *a, const int64_t want[2], const char *what,
                                   const char *location, wick_arena *mem)
{
  const char *text[2];
  for (int k = 0; k < 2; k++)
    text[k] = want[k] < 0 ? "any" : wick_str_printf(mem, "%lld", (long long)want[k]);
  return wick_fail(mem, WICK_ETYPE, location,
                   "the picture has %lld x %lld pixels (height x width), %s is %s x %s",
                   (long long)a->dim[0], (long long)a->dim[1], what, text[0], text[1]);
}

/* Resizes and crops; `want` is the input's height and width. */
static wick_status image_size(wick_array *a, const int64_t want[2], const wick_image_options *o,
                              const char *input, const char *location, wick_arena *mem)
{
  int64_t size[2] = {a->dim[0], a->dim[1]}, from[2] = {a->dim[0], a->dim[1]};
  bool asked = o->nresize || o->ncrop;
  if (o->nresize == 1)
    image_shorter(a, o->resize[0], size);
  else if (o->nresize == 2)
    memcpy(size, o->resize, sizeof size);
  else if (!asked && (!image_is(want[0], size[0]) || !image_is(want[1], size[1])))
    image_cover(a, want, size);
  if (size[0] < 1 || size[1] < 1)
    return image_too_small(a, want, wick_str_printf(mem, "the input \"%s\"", input), location, mem);
  const wick_array before = *a;
  WICK_TRY(wick_image_resize(&before, size[0], size[1], o->filter, location, mem, a));
  if (o->ncrop) {
    if (o->crop[0] > a->dim[0] || o->crop[1] > a->dim[1])
      return image_too_small(a, o->crop, "the crop", location, mem);
    *a = image_crop(a, o->crop, mem);
  }
  int64_t end[2];
  for (int k = 0; k < 2; k++) end[k] = want[k] < 0 ? a->dim[k] : want[k];
  if (end[0] > a->dim[0] || end[1] > a->dim[1])
    return image_too_small(a, want, wick_str_printf(mem, "the input \"%s\"", input), location, mem);
  if (end[0] != a->dim[0] || end[1] != a->dim[1]) *a = image_crop(a, end, mem);
  if (!asked && (from[0] != end[0] || from[1] != end[1]))
    fprintf(stderr,
            "%s: resized from %lld x %lld to %lld x %lld pixels (height x width), of which the "
            "middle %lld x %lld are taken\n",
            location, (long long)from[0], (long long)from[1], (long long)size[0],
            (long long)size[1], (long long)end[0], (long long)end[1]);
  return NULL;
}

/* ---- values ---- */

typedef struct image_values {
  wick_scalar at[WICK_IMAGE_CHANNELS][256]; /* the value of each byte, by input channel */
} image_values;

static wick_status image_check(const wick_array *picture, const wick_image_input *in,
                               const image_axes *axes, const char *type, const char *location,
                               wick_arena *mem, int64_t *out_channels)
{
  int64_t channels = axes->channel < 0 ? 1 : in->dim[axes->channel];
  if (channels < 0) channels = picture->dim[2];
  *out_channels = channels;
  if (!image_is_channels(channels))
    return wick_fail(mem, WICK_ETYPE, location,
                     "the input \"%s\", %s, has %lld channels, a picture has 1 or 3", in->name,
                     type, (long long)channels);
  if (axes->batch >= 0 && !image_is(in->dim[axes->batch], 1))
    return wick_fail(mem, WICK_ETYPE, location,
                     "the input \"%s\", %s, takes %lld pictures, not one", in->name, type,
                     (long long)in->dim[0]);
  if (in->dim[axes->height] == 0 || in->dim[axes->width] == 0)
    return wick_fail(mem, WICK_ETYPE, location, "the input \"%s\", %s, is empty", in->name, type);
  if (in->dim[axes->height] > WICK_IMAGE_MOST_BYTES || in->dim[axes->width] > WICK_IMAGE_MOST_BYTES)
    return wick_fail(mem, WICK_ERANGE, location, "the input \"%s\", %s, is larger than any picture",
                     in->name, type);
  if (wick_elem_is_float(in->elem) || in->elem == WICK_U8) return NULL;
  return wick_fail(mem, WICK_ETYPE, location,
                   "a picture cannot be the input \"%s\", %s: expected floats or u8", in->name,
                   type);
}

/* Returns 1/255 if mean and std are for pixels from 0 to 1. */
static double image_default_scale(const wick_image_options *o)
{
  bool small = o->nmean || o->nstd;
  for (uint32_t i = 0; i < o->nmean; i++) small = small && fabs(o->mean[i]) <= 1;
  for (uint32_t i = 0; i < o->nstd; i++) small = small && fabs(o->std[i]) <= 1;
  return small ? 1.0 / 255 : 1;
}

static wick_status image_table(const wick_image_input *in, const wick_image_options *o,
                               int64_t channels, const char *type, const char *location,
                               wick_arena *mem, image_values *out)
{
  const struct {
    const char *name;
    uint32_t n;
  } row[] = {{"scale", o->nscale}, {"mean", o->nmean}, {"std", o->nstd}};
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    if (row[i].n && in->elem == WICK_U8)
      return wick_fail(mem, WICK_EINVAL, location,
                       "the input \"%s\", %s, takes pixels as they are: image %s is for floats",
                       in->name, type, row[i].name);
    if (row[i].n > channels)
      return wick_fail(mem, WICK_EINVAL, location,
                       "image %s has %u numbers, the input \"%s\", %s, has %lld channels",
                       row[i].name, row[i].n, in->name, type, (long long)channels);
  }
  double otherwise = image_default_scale(o);
  for (int64_t c = 0; c < channels; c++) {
    double scale = o->nscale ? o->scale[o->nscale == 1 ? 0 : c] : otherwise;
    double mean = o->nmean ? o->mean[o->nmean == 1 ? 0 : c] : 0;
    double std = o->nstd ? o->std[o->nstd == 1 ? 0 : c] : 1;
    for (int v = 0; v < 256; v++) {
      if (in->elem == WICK_U8)
        out->at[c][v].i = v;
      else if (!o->nscale && otherwise != 1) /* so that 255 becomes exactly 1 */
        out->at[c][v].f = (v / 255.0 - mean) / std;
      else
        out->at[c][v].f = (v * scale - mean) / std;
    }
  }
  return NULL;
}

/* Writes the pixels with channels as the last axis, or as the first. */
static void image_fill(const wick_array *a, const image_values *value, bool last, bool bgr,
                       wick_elem elem, void *out)
{
  const unsigned char *at = a->data;
  size_t n = (size_t)(a->dim[0] * a->dim[1]), channels = (size_t)a->dim[2];
  size_t step_pixel = last ? channels : 1, step_channel = last ? 1 : n;
  for (size_t i = 0; i < n; i++, at += channels)
    for (size_t c = 0; c < channels; c++)
      wick_store_elem(elem, out, i * step_pixel + c * step_channel,
                      value->at[c][at[bgr ? channels - 1 - c : c]]);
}

wick_status wick_image_fit(const wick_array *picture, const wick_image_input *input,
                           const wick_image_options *options, const char *location, wick_arena *mem,
                           wick_array *out)
{
  const char *type = wick_array_type(mem, input->elem, input->rank, input->dim);
  image_axes axes = {0};
  int64_t channels;
  WICK_TRY(image_find_axes(picture, input, options, type, location, mem, &axes));
  WICK_TRY(image_check(picture, input, &axes, type, location, mem, &channels));
  image_values *value = wick_new(mem, image_values, 1);
  WICK_TRY(image_table(input, options, channels, type, location, mem, value));
  wick_array a = image_with_channels(picture, channels, mem);
  int64_t want[2] = {input->dim[axes.height], input->dim[axes.width]};
  WICK_TRY(image_size(&a, want, options, input->name, location, mem));
  *out = (wick_array){.name = "", .elem = input->elem, .rank = input->rank};
  if (axes.batch >= 0) out->dim[axes.batch] = 1;
  if (axes.channel >= 0) out->dim[axes.channel] = channels;
  out->dim[axes.height] = a.dim[0];
  out->dim[axes.width] = a.dim[1];
  if (!wick_array_nbytes(out->elem, out->rank, out->dim, &out->nbytes))
    return wick_fail(mem, WICK_ERANGE, location, "the size of %s overflows", type);
  void *data = wick_arena_alloc(mem, (size_t)out->nbytes, 64);
  image_fill(&a, value, axes.channel == (int)input->rank - 1, options->bgr, out->elem, data);
  out->data = data;
  return NULL;
}
