/* What tests of compiled models share: checks of errors, and a model with all that is made from it. */
#ifndef WICK_DRIVER_COMPILE_TESTING_H
#define WICK_DRIVER_COMPILE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/compile.h"

static inline void ok(wick_error *e)
{
  if (e) print_error("%s\n", wick_error_message(e));
  assert_null(e);
}

static inline void fails(wick_error *e, wick_code code, const char *message)
{
  assert_non_null(e);
  assert_string_equal(wick_error_message(e), message);
  assert_int_equal(wick_error_code(e), code);
  wick_error_free(e);
}

typedef struct fixture {
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled;
  wick_session *session;
} fixture;

static inline void end(fixture *t)
{
  wick_session_free(t->session);
  wick_compiled_free(t->compiled);
  wick_model_free(t->model);
  wick_context_free(t->context);
  *t = (fixture){0};
}

#endif
