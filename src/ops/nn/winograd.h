/* Winograd convolutions: products of transformed tiles (the construction is that of Toom and Cook,
 * by interpolation). F(m, r) gives m outputs of a filter of r taps from
 * n = m + r - 1 products: y = at ((g w) * (bt x)), and the same along rows and columns.
 *
 * The matrices come from interpolation points, infinity among them, as exact rationals. */
#ifndef WICK_OPS_NN_WINOGRAD_H
#define WICK_OPS_NN_WINOGRAD_H

#include "ir/build.h"
#include "loop/tuning_records.h"
#include "target/target.h"

enum { WICK_WINOGRAD_MOST = 8 };

typedef struct wick_winograd {
  int64_t m, r, n;
  double at[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST]; /* m x n */
  double g[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST];  /* n x r */
  double bt[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST]; /* n x n */
} wick_winograd;

/* Builds the matrices of F(m, r). Returns false if there are no points for that size. */
bool wick_winograd_of(int64_t m, int64_t r, wick_winograd *out);

/* Returns an error bound for a square tile. Its elements differ from the convolution's by at most
 * the returned number times the sum over channels of max |x| max |w|, where the maxima are over the
 * channel's part of the tile and of the filter. A term is rounded at most n + 2 times in each of
 * the four transforms of rows and columns (including shared sums), once with the weights, and once
 * for each channel. Magnitudes grow by at most the largest row of |at| (|g| 1) (|bt| 1), once for
 * rows and once for columns. The analysis is that of Higham, Accuracy and Stability, 3.1; `unit` is
 * the unit roundoff. */
double wick_winograd_bound(const wick_winograd *w, int64_t channels, double unit);

/* A convolution of stride and dilation 1 with a square kernel. */
typedef struct wick_winograd_layer {
  int64_t images, in, out; /* blocks of channels, over all groups */
  int64_t group;
  int64_t lanes; /* channels in a block */
  int64_t y, x;  /* sizes of the result */
  int64_t taps;
  int64_t dot; /* products that the convolution itself computes at once; 0, 1: one */
} wick_winograd_layer;

/* Returns the tile m that is fastest according to the model of the target, or 0 if the convolution
 * itself is fastest. */
int64_t wick_winograd_tile(const wick_target *t, const wick_winograd_layer *l);

/* The same, but a tuning record of the layer decides if there is one. */
WICK_CHECKED wick_status wick_winograd_choose(const wick_target *t, wick_tuning_records *records,
                                              const wick_winograd_layer *l, wick_arena *mem,
                                              int64_t *out_tile);

#endif
