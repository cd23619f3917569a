/* The matrices of minimal filtering: for any numbers they give what the filter itself gives. */
#include "ops/winograd.h"

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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(filters), cmocka_unit_test(no_points)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
