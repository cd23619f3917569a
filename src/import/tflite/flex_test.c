/* FlexBuffers: numbers of a map by their keys; every cut-off is refused, and changed bytes stay within
 * the buffer. */
#include "import/tflite/flex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* {"a": 5, "bc": -2.5, "on": true} as the FlatBuffers library writes it. */
static const unsigned char flex_map[] = {97, 0, 98, 99,  0, 111, 110, 0, 3, 9,  8,   6,  3,  0,
                                         0,  0, 1,  0,   0, 0,   3,   0, 0, 0,  5,   0,  0,  0,
                                         0,  0, 32, 192, 1, 0,   0,   0, 6, 14, 106, 15, 38, 1};

static void flex_numbers(void **state)
{
  const wick_span s = {flex_map, sizeof flex_map};
  double v;
  (void)state;
  assert_true(wick_flex_is_map(s));
  assert_true(wick_flex_number(s, "a", &v) && v == 5);
  assert_true(wick_flex_number(s, "bc", &v) && v == -2.5);
  assert_true(wick_flex_number(s, "on", &v) && v == 1);
  assert_false(wick_flex_number(s, "b", &v));
}

static void flex_damaged(void **state)
{
  unsigned char copy[sizeof flex_map];
  double v;
  (void)state;
  for (size_t n = 0; n < sizeof flex_map; n++)
    assert_false(wick_flex_is_map((wick_span){flex_map, n}));
  for (size_t i = 0; i < 256 * sizeof copy; i++) {
    memcpy(copy, flex_map, sizeof copy);
    copy[i / 256] = (unsigned char)i;
    wick_flex_number((wick_span){copy, sizeof copy}, "bc", &v);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(flex_numbers),
                                     cmocka_unit_test(flex_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
