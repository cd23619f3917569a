/* Statuses: the location at the beginning, several problems in one, copies for the user. */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
  wick_guard guard;
  wick_arena mem;
} fixture;

static int setup(void **state)
{
  static fixture f;
  f = (fixture){.guard = {.allocator = wick_allocator_malloc()}};
  f.mem = wick_arena_make(&f.guard);
  *state = &f;
  return 0;
}

static int teardown(void **state)
{
  wick_arena_free(&((fixture *)*state)->mem);
  return 0;
}

static void test_place(void **state)
{
  fixture *f = *state;
  static const struct {
    const char *location, *want;
  } rows[] = {
      {NULL, "axis 2 is outside [-2, 1]"},
      {"", "axis 2 is outside [-2, 1]"},
      {"net.onnx: node \"prob\" (Softmax)",
       "net.onnx: node \"prob\" (Softmax): axis 2 is outside [-2, 1]"},
      {"100 %s %n", "100 %s %n: axis 2 is outside [-2, 1]"}, /* a location is not a format */
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_status s =
        wick_fail(&f->mem, WICK_ETYPE, rows[i].location, "axis %d is outside [%d, %d]", 2, -2, 1);
    assert_string_equal(s->message, rows[i].want);
    assert_int_equal(s->code, WICK_ETYPE);
    assert_false(s->owned);
  }
  wick_status s = wick_fail(&f->mem, WICK_EIO, NULL, "%s", "");
  assert_string_equal(s->message, "");
}

static wick_status tries(fixture *f, bool fail)
{
  WICK_TRY(fail ? wick_fail(&f->mem, WICK_EPARSE, NULL, "first") : NULL);
  return wick_fail(&f->mem, WICK_EPARSE, NULL, "second");
}

static void test_try(void **state)
{
  assert_string_equal(tries(*state, true)->message, "first");
  assert_string_equal(tries(*state, false)->message, "second");
}

static void test_errors(void **state)
{
  fixture *f = *state;
  static const struct {
    uint32_t most;
    int n;
    const char *want;
  } rows[] = {
      {3, 1, "p0: wrong"},
      {3, 2, "p0: wrong\np1: wrong"},
      {3, 3, "p0: wrong\np1: wrong\np2: wrong"},
      {3, 5, "p0: wrong\np1: wrong\np2: wrong\n(and 2 more)"},
      {1, 2, "p0: wrong\n(and 1 more)"},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_errors e = wick_errors_begin(&f->mem, rows[i].most);
    for (int k = 0; k < rows[i].n; k++) {
      char location[8] = {'p', (char)('0' + k), 0};
      wick_errors_add(&e, wick_fail(&f->mem, k ? WICK_ETYPE : WICK_EPARSE, location, "wrong"));
      wick_errors_add(&e, NULL);
    }
    wick_status s = wick_errors_end(&e);
    assert_string_equal(s->message, rows[i].want);
    assert_int_equal(s->code, WICK_EPARSE); /* the code of the first one */
  }
  wick_errors none = wick_errors_begin(&f->mem, 3);
  assert_null(wick_errors_end(&none));
}

static void test_export(void **state)
{
  fixture *f = *state;
  assert_null(wick_error_export(NULL));
  assert_int_equal(wick_error_code(NULL), WICK_OK);
  assert_string_equal(wick_error_message(NULL), "");
  wick_error_free(NULL);

  wick_error *e = wick_error_export(wick_fail(&f->mem, WICK_ERANGE, "a", "b"));
  wick_arena_free(&f->mem); /* the copy outlives the arena */
  assert_int_equal(wick_error_code(e), WICK_ERANGE);
  assert_string_equal(wick_error_message(e), "a: b");
  wick_error_free(e);

  wick_error *nomem = wick_error_nomem();
  assert_int_equal(wick_error_code(nomem), WICK_ENOMEM);
  wick_error_free(nomem);
  wick_error_free(nomem); /* it is static: freeing does nothing */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_place, setup, teardown),
      cmocka_unit_test_setup_teardown(test_try, setup, teardown),
      cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
      cmocka_unit_test_setup_teardown(test_export, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
