/* Small functions on numbers. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void whole_parts(void **state)
{
  (void)state;
  static const struct {
    double v;
    int64_t want;
  } row[] = {{0, 0},
             {2.9, 2},
             {-2.9, -2},
             {0x1p62, (int64_t)1 << 62},
             {-0x1p63, INT64_MIN},
             {0x1p63, INT64_MAX},
             {5e38, INT64_MAX},
             {-5e38, INT64_MIN},
             {INFINITY, INT64_MAX},
             {-INFINITY, INT64_MIN},
             {NAN, 0}};
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    assert_int_equal(wick_whole_i64(row[i].v), row[i].want);
}

static void quotients(void **state)
{
  (void)state;
  static const int64_t row[][5] = {
      {7, 2, 3, 1, 4}, {-7, 2, -4, 1, -3}, {7, -2, -4, -1, -3}, {6, 3, 2, 0, 2}};
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    assert_int_equal(wick_floordiv_i64(row[i][0], row[i][1]), row[i][2]);
    assert_int_equal(wick_floormod_i64(row[i][0], row[i][1]), row[i][3]);
    assert_int_equal(wick_ceildiv_i64(row[i][0], row[i][1]), row[i][4]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_parts), cmocka_unit_test(quotients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
