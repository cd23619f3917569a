/* The numbers of integer types, the widest ones included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/tflite/quantized.h"

static void test_limits(void **state)
{
  (void)state;
  static const struct {
    wick_elem elem;
    int64_t lo, hi;
  } row[] = {{WICK_I4, -8, 7},
             {WICK_U8, 0, 255},
             {WICK_I8, -128, 127},
             {WICK_I16, INT16_MIN, INT16_MAX},
             {WICK_I32, INT32_MIN, INT32_MAX},
             {WICK_U32, 0, UINT32_MAX},
             {WICK_I64, INT64_MIN, INT64_MAX},
             {WICK_U64, 0, INT64_MAX}, /* as far as i64 goes */
             /* what a damaged file calls the result of a quantized operator */
             {WICK_F64, 0, INT64_MAX},
             {WICK_C128, 0, INT64_MAX}};
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    int64_t lo, hi;
    wick_tflite_limits(row[i].elem, &lo, &hi);
    assert_int_equal(lo, row[i].lo);
    assert_int_equal(hi, row[i].hi);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
