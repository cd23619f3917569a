/* Resizes pictures with the same bits as Pillow: first each row, then each column, with weights
 * of 22 bits after the point, and rounding to bytes in between. (Some versions of Pillow begin
 * with the columns if that takes less time; single pixels are then rounded differently.)
 *
 * If the picture becomes smaller, a filter is stretched by the ratio, so that every pixel counts
 * (antialiasing). Source: Pillow, src/libImaging/Resample.c. */
#include <math.h>
#include <string.h>

#include "base/str.h"

#include "image.h"

enum { RESIZE_BITS = 22 };

typedef struct resize_filter {
  double support; /* the weight is 0 beyond it */
  double (*weight)(double x);
} resize_filter;

static double resize_bilinear(double x) { return fabs(x) < 1 ? 1 - fabs(x) : 0; }

static double resize_bicubic(double x) /* Keys' cubic filter, with a = -1/2 */
{
  x = fabs(x);
  if (x < 1) return ((-0.5 + 2) * x - (-0.5 + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
}

static double resize_sinc(double x)
{
  x *= 3.14159265358979323846;
  return x == 0 ? 1 : sin(x) / x;
}

static double resize_lanczos(double x)
{
  return x >= -3 && x < 3 ? resize_sinc(x) * resize_sinc(x / 3) : 0;
}

/* The weights of one output pixel, for `n` input pixels from `first` on. */
typedef struct resize_window {
  int64_t first, n;
  int32_t *weight;
} resize_window;

static resize_window *resize_windows(int64_t from, int64_t to, const resize_filter *f,
                                     wick_arena *mem)
{
  double ratio = (double)from / (double)to, stretch = ratio < 1 ? 1 : ratio;
  double support = f->support * stretch;
  size_t most = (size_t)ceil(support) * 2 + 1;
  resize_window *window = wick_new(mem, resize_window, (size_t)to);
  double *exact = wick_new(mem, double, most);
  int32_t *weight = wick_new(mem, int32_t, most * (size_t)to);
  for (int64_t i = 0; i < to; i++, weight += most) {
    double center = ((double)i + 0.5) * ratio, sum = 0;
    int64_t first = (int64_t)(center - support + 0.5), end = (int64_t)(center + support + 0.5);
    if (first < 0) first = 0;
    if (end > from) end = from;
    window[i] = (resize_window){first, end - first, weight};
    for (int64_t k = 0; k < end - first; k++)
      sum += exact[k] = f->weight(((double)(k + first) - center + 0.5) * (1 / stretch));
    for (int64_t k = 0; k < end - first; k++) {
      double x = (sum != 0 ? exact[k] / sum : exact[k]) * (1 << RESIZE_BITS);
      weight[k] = (int32_t)(x < 0 ? x - 0.5 : x + 0.5);
    }
  }
  return window;
}

/* Computes output pixel i of a 1-D slice whose pixels are `step` bytes apart. */
static void resize_pixel(const resize_window *w, const unsigned char *line, size_t step,
                         int64_t channels, unsigned char *out)
{
  for (int64_t c = 0; c < channels; c++) {
    int64_t sum = 1 << (RESIZE_BITS - 1);
    for (int64_t k = 0; k < w->n; k++)
      sum += (int64_t)w->weight[k] * line[(size_t)(w->first + k) * step + (size_t)c];
    sum = sum < 0 ? 0 : sum >> RESIZE_BITS;
    out[c] = (unsigned char)(sum > 255 ? 255 : sum);
  }
}

static size_t resize_index(double x, int64_t n)
{
  return (size_t)(x < (double)n ? x : (double)(n - 1));
}

/* Positions are sums of steps, as in Pillow: their rounding decides if two pixels are equally
 * near. */
static void resize_nearest(const wick_array *picture, const wick_array *to, unsigned char *out)
{
  const unsigned char *at = picture->data;
  size_t channels = (size_t)picture->dim[2];
  double high = (double)picture->dim[0] / (double)to->dim[0], y = high / 2,
         wide = (double)picture->dim[1] / (double)to->dim[1];
  for (int64_t i = 0; i < to->dim[0]; i++, y += high) {
    size_t row = resize_index(y, picture->dim[0]) * (size_t)picture->dim[1];
    double x = wide / 2;
    for (int64_t k = 0; k < to->dim[1]; k++, x += wide, out += channels)
      memcpy(out, at + (row + resize_index(x, picture->dim[1])) * channels, channels);
  }
}

static void resize_rows(const wick_array *a, int64_t width, const resize_window *w,
                        unsigned char *out)
{
  const unsigned char *at = a->data;
  int64_t channels = a->dim[2];
  for (int64_t y = 0; y < a->dim[0]; y++, at += a->dim[1] * channels)
    for (int64_t x = 0; x < width; x++, out += channels)
      resize_pixel(&w[x], at, (size_t)channels, channels, out);
}

static void resize_columns(const unsigned char *at, int64_t width, int64_t channels, int64_t height,
                           const resize_window *w, unsigned char *out)
{
  size_t step = (size_t)(width * channels);
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++, out += channels)
      resize_pixel(&w[y], at + x * channels, step, channels, out);
}

wick_status wick_image_resize(const wick_array *picture, int64_t height, int64_t width,
                              wick_image_filter filter, const char *location, wick_arena *mem,
                              wick_array *out)
{
  static const resize_filter filters[] = {[WICK_IMAGE_BILINEAR] = {1, resize_bilinear},
                                          [WICK_IMAGE_BICUBIC] = {2, resize_bicubic},
                                          [WICK_IMAGE_LANCZOS] = {3, resize_lanczos}};
  int64_t channels = picture->dim[2];
  *out = *picture;
  if (height == picture->dim[0] && width == picture->dim[1]) return NULL;
  if (width > WICK_IMAGE_MOST_BYTES || height > WICK_IMAGE_MOST_BYTES ||
      width * height > WICK_IMAGE_MOST_BYTES / channels ||
      picture->dim[0] * width > WICK_IMAGE_MOST_BYTES / channels)
    return wick_fail(mem, WICK_ERANGE, location,
                     "a picture resized to %lld x %lld pixels (height x width) is larger than %d "
                     "bytes",
                     (long long)height, (long long)width, WICK_IMAGE_MOST_BYTES);
  out->dim[0] = height, out->dim[1] = width;
  out->nbytes = (uint64_t)(height * width * channels);
  unsigned char *to = wick_arena_alloc(mem, (size_t)out->nbytes, 64);
  out->data = to;
  if (filter == WICK_IMAGE_NEAREST) {
    resize_nearest(picture, out, to);
    return NULL;
  }
  const unsigned char *between = picture->data;
  if (width != picture->dim[1]) {
    bool last = height == picture->dim[0];
    size_t nbytes = (size_t)(picture->dim[0] * width * channels);
    unsigned char *buffer = last ? to : wick_arena_alloc(mem, nbytes, 64);
    resize_rows(picture, width, resize_windows(picture->dim[1], width, &filters[filter], mem),
                buffer);
    between = buffer;
  }
  if (height != picture->dim[0])
    resize_columns(between, width, channels, height,
                   resize_windows(picture->dim[0], height, &filters[filter], mem), to);
  return NULL;
}
