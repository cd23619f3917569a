/* Growing texts and interned names. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_testing.h"

static void test_text(void **state)
{
  (void)state;
  wick_text t = wick_text_begin(&mem);
  assert_string_equal(t.at, "");
  wick_text_add(&t, "ab");
  wick_text_addn(&t, "cdef", 2);
  wick_text_char(&t, '-');
  wick_text_printf(&t, "%s=%d", "x", 7);
  wick_text_printf(&t, "%s", "");
  assert_string_equal(t.at, "abcd-x=7");
  assert_int_equal(t.n, 8);
}

static void test_int(void **state)
{
  (void)state;
  static const struct {
    int64_t i;
    const char *want;
  } rows[] = {{0, "0"},
              {-1, "-1"},
              {10, "10"},
              {INT64_MAX, "9223372036854775807"},
              {INT64_MIN, "-9223372036854775808"}};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_text t = wick_text_begin(&mem);
    wick_text_int(&t, rows[i].i);
    assert_string_equal(t.at, rows[i].want);
  }
}

static void test_text_grows(void **state)
{
  (void)state;
  wick_text t = wick_text_begin(&mem);
  char piece[300];
  memset(piece, 'x', sizeof piece);
  for (size_t n = 0; n < sizeof piece; n++) { /* every length reaches the end of the buffer */
    wick_text_addn(&t, piece, n);
    wick_text_printf(&t, "%.*s", (int)n, piece);
    assert_int_equal(t.at[t.n], 0);
  }
  assert_int_equal(t.n, 299 * 300);
  assert_int_equal(strspn(t.at, "x"), t.n);
}

static void test_str(void **state)
{
  (void)state;
  assert_string_equal(wick_str_printf(&mem, "%d %s", 3, "a"), "3 a");
  assert_string_equal(wick_str_printf(&mem, "%s", ""), "");
  assert_string_equal(wick_str_dup(&mem, "abc"), "abc");
  assert_string_equal(wick_str_dupn(&mem, "abc", 2), "ab");
  assert_string_equal(wick_str_dupn(&mem, "abc", 0), "");
}

static void test_names(void **state)
{
  (void)state;
  enum { MANY = 5000 };
  wick_names t = wick_names_begin(&mem);
  assert_int_equal(wick_names_add(&t, "", 0), 0);
  assert_int_equal(wick_names_find(&t, "n1", 2), 0);
  for (int round = 0; round < 2; round++)
    for (int i = 1; i <= MANY; i++) {
      char s[16];
      size_t n = (size_t)snprintf(s, sizeof s, "n%d", i);
      /* in the order in which they were added; a second time the same */
      assert_int_equal(wick_names_add(&t, s, n), i);
      assert_int_equal(wick_names_find(&t, s, n), i);
      assert_string_equal(wick_names_get(&t, (uint32_t)i), s);
    }
  assert_int_equal(t.n, MANY + 1);
  assert_int_equal(wick_names_find(&t, "n12345678", 3), 12); /* the length decides */
  assert_int_equal(wick_names_find(&t, "m", 1), 0);
  assert_int_equal(wick_names_add(&t, "n1\0tail", 7), 1); /* a name ends at a NUL */
  assert_string_equal(wick_names_get(&t, 0), "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_text, setup, teardown),
      cmocka_unit_test_setup_teardown(test_int, setup, teardown),
      cmocka_unit_test_setup_teardown(test_text_grows, setup, teardown),
      cmocka_unit_test_setup_teardown(test_str, setup, teardown),
      cmocka_unit_test_setup_teardown(test_names, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
