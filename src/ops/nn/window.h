/* Windows that slide over one to three spatial dimensions: convolutions and pools. */
#ifndef WICK_OPS_NN_WINDOW_H
#define WICK_OPS_NN_WINDOW_H

#include "ops/tensor.h"

enum { WICK_WINDOW_MAX = 3, WICK_WINDOW_LIMIT = 1 << 30 };

/* The attributes of every operator with windows, as indices into attr[]. They are the first
 * attributes of the operator. */
enum { WICK_WINDOW_STRIDE, WICK_WINDOW_PAD, WICK_WINDOW_DILATION, WICK_WINDOW_NATTR };
#define WICK_WINDOW_ATTRS                                                                          \
  {"stride", WICK_ATTR_INTS, 0, false, NULL, 1, WICK_WINDOW_LIMIT},                                \
      {"pad", WICK_ATTR_INTS, 0, false, NULL, 0, WICK_WINDOW_LIMIT},                               \
  {                                                                                                \
    "dilation", WICK_ATTR_INTS, 0, false, NULL, 1, WICK_WINDOW_LIMIT                               \
  }

typedef struct wick_window {
  uint32_t n; /* spatial dimensions */
  int64_t kernel[WICK_WINDOW_MAX], stride[WICK_WINDOW_MAX], begin[WICK_WINDOW_MAX],
      end[WICK_WINDOW_MAX], dilation[WICK_WINDOW_MAX];
} wick_window;

/* Makes a window from the attributes and the kernel sizes. An empty list means 1, for pads 0. */
wick_window wick_window_of(const wick_attr *attr, uint32_t n, const int64_t *kernel);
/* Verifies the rank of x [N, C, spatial...] and the lengths of the attribute lists. */
WICK_CHECKED wick_status wick_window_check(const wick_infer *c, uint32_t rank,
                                           const wick_attr *attr);
/* Computes the number of windows along spatial dimension k. With `ceil`, a last window may extend
 * beyond the end pad if it begins before it. */
WICK_CHECKED wick_status wick_window_size(const wick_infer *c, const wick_window *w, uint32_t k,
                                          wick_dim in, bool ceil, wick_dim *out);

/* A window for references. It always has three spatial dimensions; additional leading ones have
 * size 1. */
typedef struct wick_window3 {
  int64_t in[3], out[3], kernel[3], stride[3], begin[3], end[3], dilation[3];
} wick_window3;
wick_window3 wick_window3_of(const wick_window *w, const wick_tensor *in, const wick_tensor *out);
/* Returns the input index of window element `at` for output index `out` along k, or -1 if it is
 * outside. */
static inline int64_t wick_window3_at(const wick_window3 *w, uint32_t k, int64_t out, int64_t at)
{
  int64_t i = out * w->stride[k] + at * w->dilation[k] - w->begin[k];
  return i >= 0 && i < w->in[k] ? i : -1;
}
/* Finds the outputs *lo .. *hi-1 along k for which window element `at` is in bounds. */
void wick_window3_inside(const wick_window3 *w, uint32_t k, int64_t at, int64_t *lo, int64_t *hi);

/* Returns the name of axis k in stages. The spatial axes come first, then those of the window, for
 * n spatial dimensions. */
const char *wick_window_axis(uint32_t n, uint32_t k);
const char *wick_window_tap(uint32_t n, uint32_t k);
/* Returns the input index along k: out * stride + tap * dilation - begin. */
wick_dim wick_window_at(wick_dims *t, const wick_window *w, uint32_t k, wick_dim out, wick_dim tap);
bool wick_window_padded(const wick_window *w); /* an index may be outside of the input */

#endif
