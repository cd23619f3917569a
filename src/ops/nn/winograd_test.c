/* The matrices of Winograd's algorithm: for any numbers they give what the filter itself gives. */
#include "ops/nn/winograd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double number(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / (1 << 23) - 1;
}

static void filters(void **state)
{
  (void)state;
  static const int64_t size[][2] = {{2, 3}, {4, 3}, {6, 3}, {2, 5}, {4, 5}, {3, 2}, {5, 2}, {1, 4}};
  uint32_t seed = 1;
  for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
    wick_winograd w;
    assert_true(wick_winograd_of(size[s][0], size[s][1], &w));
    assert_int_equal(w.n, w.m + w.r - 1);
    double x[WICK_WINOGRAD_MOST], g[WICK_WINOGRAD_MOST], p[WICK_WINOGRAD_MOST];
    for (int64_t k = 0; k < w.n; k++) x[k] = number(&seed);
    for (int64_t k = 0; k < w.r; k++) g[k] = number(&seed);
    for (int64_t k = 0; k < w.n; k++) {
      double a = 0, b = 0;
      for (int64_t i = 0; i < w.n; i++) a += w.bt[k][i] * x[i];
      for (int64_t i = 0; i < w.r; i++) b += w.g[k][i] * g[i];
      p[k] = a * b;
    }
    for (int64_t i = 0; i < w.m; i++) {
      double want = 0, got = 0;
      for (int64_t k = 0; k < w.r; k++) want += g[k] * x[i + k];
      for (int64_t k = 0; k < w.n; k++) got += w.at[i][k] * p[k];
      assert_true(fabs(got - want) < 1e-12);
    }
  }
}

static void no_points(void **state)
{
  (void)state;
  static const int64_t size[][2] = {{0, 3}, {3, 0}, {3, 3}, {8, 3}, {1, 1}};
  for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
    wick_winograd w;
    assert_false(wick_winograd_of(size[s][0], size[s][1], &w));
  }
}

enum { TILES = 200, CHANNELS = 24 };

/* t x t' in f32, t [rows, cols]. */
static void square(double t[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST], int64_t rows, int64_t cols,
                   const float *x, float *out)
{
  float half[WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST];
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      float sum = 0;
      for (int64_t k = 0; k < cols; k++) sum = fmaf((float)t[i][k], x[k * cols + j], sum);
      half[i * cols + j] = sum;
    }
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < rows; j++) {
      float sum = 0;
      for (int64_t k = 0; k < cols; k++) sum = fmaf((float)t[j][k], half[i * cols + k], sum);
      out[i * rows + j] = sum;
    }
}

/* Transformed weights: in f64, rounded once. */
static void weights(const wick_winograd *w, const float *g, float *u)
{
  for (int64_t i = 0; i < w->n; i++)
    for (int64_t j = 0; j < w->n; j++) {
      double sum = 0;
      for (int64_t p = 0; p < w->r; p++)
        for (int64_t q = 0; q < w->r; q++) sum += w->g[i][p] * w->g[j][q] * (double)g[p * w->r + q];
      u[i * w->n + j] = (float)sum;
    }
}

/* The largest error of a tile's elements over the bound that the contract states. */
static double tile_error(wick_winograd *w, uint32_t *seed)
{
  float x[64], g[64], u[64], v[64], m[64] = {0}, y[64];
  double want[64] = {0}, scale = 0, worst = 0;
  for (int c = 0; c < CHANNELS; c++) {
    double most_x = 0, most_g = 0;
    for (int64_t k = 0; k < w->n * w->n; k++)
      x[k] = (float)number(seed), most_x = fmax(most_x, fabs((double)x[k]));
    for (int64_t k = 0; k < w->r * w->r; k++)
      g[k] = (float)number(seed), most_g = fmax(most_g, fabs((double)g[k]));
    scale += most_x * most_g;
    weights(w, g, u);
    square(w->bt, w->n, w->n, x, v);
    for (int64_t k = 0; k < w->n * w->n; k++) m[k] = fmaf(u[k], v[k], m[k]);
    for (int64_t i = 0; i < w->m * w->m; i++)
      for (int64_t k = 0; k < w->r * w->r; k++)
        want[i] += (double)g[k] * (double)x[(i / w->m + k / w->r) * w->n + i % w->m + k % w->r];
  }
  square(w->at, w->m, w->n, m, y);
  for (int64_t i = 0; i < w->m * w->m; i++) worst = fmax(worst, fabs((double)y[i] - want[i]));
  return worst / (scale * wick_winograd_bound(w, CHANNELS, 0x1p-24));
}

static void errors_are_within_the_bound(void **state)
{
  (void)state;
  static const int64_t size[][2] = {{2, 3}, {4, 3}, {4, 5}, {3, 2}};
  uint32_t seed = 7;
  for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
    wick_winograd w;
    assert_true(wick_winograd_of(size[s][0], size[s][1], &w));
    double worst = 0;
    for (int i = 0; i < TILES; i++) worst = fmax(worst, tile_error(&w, &seed));
    assert_true(worst > 0 && worst < 1);
    w.at[0][0] += 1; /* a wrong table is no rounding */
    for (int i = 0; i < TILES; i++) worst = fmax(worst, tile_error(&w, &seed));
    assert_true(worst > 4);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(filters), cmocka_unit_test(no_points),
                                     cmocka_unit_test(errors_are_within_the_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
