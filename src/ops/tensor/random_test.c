/* Random numbers: known bits, the formulas against those of the C library, and the
 * distributions. graph/operators_test.c compares the stages with the reference. */
#include <math.h>

#include "ops/operator_testing.h"

/* The words of Philox 4x32-10 for counter 0 and key 0 that its authors publish begin with
 * 6627e8d5 e169c58d. The others are from an independent implementation in another language. */
static const row_case known[] = {
    {"random", "u64[]: 0", "",
     "f64[4]: 0.3990464708489645 0.9722412015223156 0.019449422443156505 0.7873677707778073",
     1e-16},
    {"random", "u64[]: 7", "", "f32[3]: 0.9545971155166626 0.4069603681564331 0.006075084209442139",
     1e-12},
    {"random", "u64[]: 7", "kind=normal",
     "f64[2,2]: 0.22970816692959925 0.632674558736723 1.132213506982538 0.8218385410885296", 4e-15},
};

static void test_known(void **state)
{
  (void)state;
  row_check(known, WICK_COUNT(known));
}

/* Draws n numbers with the reference. */
static double *drawn(wick_arena *mem, int64_t kind, uint64_t key, int64_t n)
{
  wick_tensor in = {WICK_U64, 0, {0}, &key},
              out = {WICK_F64, 1, {n}, wick_new(mem, double, (size_t)n)};
  wick_attr attr = {.i = kind};
  wick_ref c = {
      .op = WICK_OP_random, .mem = mem, .attr = &attr, .nin = 1, .nout = 1, .in = &in, .out = &out};
  assert_null(wick_op_random.ref(&c));
  return out.data;
}

static int ascending(const void *x, const void *y)
{
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* The Kolmogorov-Smirnov test: the largest distance between the observed and the expected
 * distribution is below 2 / sqrt(n), in all but one of 1,500 draws. */
static void test_spread(void **state)
{
  (void)state;
  enum { N = 40000 };
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  for (int64_t kind = 0; kind < 2; kind++) {
    double *x = drawn(&mem, kind, 42, N), most = 0, serial = 0;
    for (int i = 0; i + 1 < N; i++)
      serial += kind ? x[i] * x[i + 1] : (x[i] - 0.5) * (x[i + 1] - 0.5) * 12;
    assert_true(fabs(serial / N) < 4 / sqrt((double)N));
    qsort(x, N, sizeof *x, ascending);
    for (int i = 0; i < N; i++) {
      double share = kind ? 0.5 * erfc(-x[i] / sqrt(2.0)) : x[i];
      most = fmax(most, fmax(fabs(share - (double)i / N), fabs(share - (i + 1.0) / N)));
    }
    assert_true(most < 2 / sqrt((double)N));
  }
  wick_arena_free(&mem);
}

/* Computes normal numbers from the uniform numbers at the same positions. Only the first of the
 * two uniform numbers is visible. */
static void test_normal(void **state)
{
  (void)state;
  enum { N = 4096 };
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  const double *u = drawn(&mem, 0, 3, N), *x = drawn(&mem, 1, 3, N);
  for (int i = 0; i < N; i++) {
    double radius = sqrt(-2 * log(u[i] + 0x1p-53));
    assert_true(fabs(x[i]) <= radius * (1 + 1e-14));
  }
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known),
      cmocka_unit_test(test_spread),
      cmocka_unit_test(test_normal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
