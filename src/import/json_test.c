/* JSON: values, escapes, and texts that are none. */
#include "import/json.h"

#include <string.h>

#include "base/arena_testing.h"

static void json_values(void **state)
{
  static const char text[] = "{\"a\": [1, -2.5e3, true, null, NaN, -Infinity], \"b\": {\"c\": "
                             "\"x\\n\\u00e4\\ud83d\\ude00\\\\\"}}";
  size_t wrong;
  int64_t i;
  double d;
  (void)state;
  const wick_json *j = wick_json_read(&mem, text, strlen(text), &wrong);
  assert_non_null(j);
  const wick_json *a = wick_json_member(j, "a");
  assert_int_equal(a->n, 6);
  assert_true(wick_json_int(wick_json_item(a, 0), &i) && i == 1);
  assert_true(wick_json_double(wick_json_item(a, 1), &d) && d == -2500);
  assert_true(wick_json_double(wick_json_item(a, 2), &d) && d == 1);
  assert_false(wick_json_double(wick_json_item(a, 3), &d));
  assert_true(wick_json_double(wick_json_item(a, 4), &d) && d != d);
  assert_true(wick_json_double(wick_json_item(a, 5), &d) && d < -1e308);
  assert_null(wick_json_item(a, 6));
  assert_string_equal(wick_json_unescaped(&mem, wick_json_member(wick_json_member(j, "b"), "c")),
                      "x\n\xc3\xa4\xf0\x9f\x98\x80\\");
}

static void json_wrong(void **state)
{
  static const char *const rows[] = {"",      "{",         "[1,]",    "{\"a\"}", "[1 2]", "\"a",
                                     "truth", "{\"a\":1,", "[1] [2]", "x",       "\"\\"};
  char deep[1000];
  size_t wrong;
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++)
    if (wick_json_read(&mem, rows[i], strlen(rows[i]), &wrong)) fail_msg("%s", rows[i]);
  memset(deep, '[', sizeof deep);
  assert_null(wick_json_read(&mem, deep, sizeof deep, &wrong));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(json_values, setup, teardown),
      cmocka_unit_test_setup_teardown(json_wrong, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
