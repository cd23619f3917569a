#include "base/string_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t live, allocations;

static void *counted_alloc(void *self, size_t nbytes)
{
  (void)self;
  live += nbytes, allocations++;
  return malloc(nbytes ? nbytes : 1);
}

static void counted_free(void *self, void *p, size_t nbytes)
{
  (void)self;
  live -= nbytes;
  free(p);
}

static const wick_allocator counted = {counted_alloc, counted_free, NULL};

static void equal_strings_have_equal_numbers(void **state)
{
  (void)state;
  wick_string_table t;
  assert_true(wick_string_table_make(&t, counted, NULL, 4));
  assert_int_equal(wick_string_table_add(&t, "", 0, true), 0);
  int64_t a = wick_string_table_add(&t, "ab", 2, true),
          b = wick_string_table_add(&t, "a\0b", 3, true);
  assert_true(a > 0 && b > 0 && a != b);
  assert_int_equal(wick_string_table_add(&t, "ab", 2, true), a);
  assert_int_equal(wick_string_table_find(&t, "a\0b", 3), b);
  assert_int_equal(wick_string_table_find(&t, "a\0c", 3), -1);
  assert_int_equal(wick_string_table_get(&t, b).nbytes, 3);
  assert_int_equal(wick_string_table_get(&t, 99).nbytes, 0);
  assert_int_equal(wick_string_table_get(&t, -1).nbytes, 0);
  wick_string_table_free(&t);
  assert_int_equal(live, 0);
}

static void tables_stand_on_tables(void **state)
{
  (void)state;
  wick_string_table under, t;
  char text[16];
  assert_true(wick_string_table_make(&under, counted, NULL, 0));
  int64_t a = wick_string_table_add(&under, "a", 1, true);
  assert_true(wick_string_table_make(&t, counted, &under, 8));
  for (int round = 0; round < 3; round++) {
    size_t before = allocations;
    assert_int_equal(wick_string_table_add(&t, "a", 1, true), a);
    assert_int_equal(wick_string_table_add(&t, "", 0, true), 0);
    for (int i = 0; i < 1000; i++) {
      int n = snprintf(text, sizeof text, "s%d", i);
      assert_int_equal(wick_string_table_add(&t, text, (uint64_t)n, true), 2 + i);
    }
    assert_memory_equal(wick_string_table_get(&t, 2 + 999).at, "s999", 4);
    if (round) assert_int_equal(allocations, before);
    wick_string_table_clear(&t);
    assert_int_equal(wick_string_table_find(&t, "s5", 2), -1);
    assert_int_equal(wick_string_table_find(&t, "a", 1), a);
  }
  wick_string_table_free(&t);
  wick_string_table_free(&under);
  assert_int_equal(live, 0);
}

static void unused_memory_is_given_back(void **state)
{
  (void)state;
  wick_string_table t;
  assert_true(wick_string_table_make(&t, counted, NULL, 4));
  char *a = wick_string_table_reserve(&t, 100);
  memcpy(a, "xyz", 3);
  assert_int_equal(wick_string_table_take(&t, a, 3), 1);
  char *b = wick_string_table_reserve(&t, 5000);
  memset(b, 'q', 5000);
  assert_int_equal(wick_string_table_take(&t, b, 5000), 2);
  assert_memory_equal(wick_string_table_get(&t, 1).at, "xyz", 3);
  assert_int_equal(wick_string_table_get(&t, 2).nbytes, 5000);
  wick_string_table_free(&t);
  assert_int_equal(live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(equal_strings_have_equal_numbers),
                                     cmocka_unit_test(tables_stand_on_tables),
                                     cmocka_unit_test(unused_memory_is_given_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
