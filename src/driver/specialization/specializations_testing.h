/* Helpers for tests of specializations: models, functions that compile, shape and run them, and a
 * context that counts its allocations. */
#ifndef WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_TESTING_H
#define WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { COPIES_ROWS = 64, COPIES_IN = 24, COPIES_OUT = 20 };

typedef float specializations_result[COPIES_ROWS * COPIES_OUT];

static const char specializations_model[] =
    "graph @main(%x: f32[N[1..64],24], %w: f32[24,20]) -> f32[N,20] {\n"
    "  %0 = matmul %x, %w : f32[N,20]\n"
    "  %1 = softmax %0 {axis=0} : f32[N,20]\n"
    "  return %1\n"
    "}\n";

/* An input decides the operator: softmax if it is above 2, else relu. */
#define COPIES_MODES(N, n)                                                                         \
  "graph @main(%mode: i64[], %x: f32[" N ",24], %w: f32[24,20]) -> f32[" n ",20] {\n"              \
  "  %0 = const 2 : i64[]\n"                                                                       \
  "  %1 = gt %mode, %0 : bool[]\n"                                                                 \
  "  %2 = matmul %x, %w : f32[" n ",20]\n"                                                         \
  "  %3 = if %1 () {\n"                                                                            \
  "    %4 = softmax %2 {axis=0} : f32[" n ",20]\n"                                                 \
  "    yield %4\n"                                                                                 \
  "  } () {\n"                                                                                     \
  "    %5 = relu %2 : f32[" n ",20]\n"                                                             \
  "    yield %5\n"                                                                                 \
  "  } : f32[" n ",20] loc(\"choice\")\n"                                                          \
  "  return %3\n"                                                                                  \
  "}\n"
static const char specializations_modes[] = COPIES_MODES("N[1..64]", "N"),
                  specializations_modes_of_6[] = COPIES_MODES("6", "6");

static const wick_size specializations_six = {"N", 6};
static const int64_t specializations_one = 1, specializations_five = 5;
static const wick_content specializations_both[] = {{"mode", &specializations_one, 8},
                                                    {"mode", &specializations_five, 8}};

/* ---- contexts ---- */

/* Allocations of a context, counted. */
static atomic_ulong specializations_count;
static _Thread_local unsigned long specializations_own; /* of this thread */

static inline void *specializations_alloc(void *self, size_t n)
{
  (void)self;
  atomic_fetch_add(&specializations_count, 1);
  specializations_own++;
  return malloc(n);
}

static inline void specializations_free(void *self, void *p, size_t n)
{
  (void)self, (void)n;
  free(p);
}

static inline void specializations_ok(wick_error *e)
{
  if (e) fail_msg("%s", wick_error_message(e));
}

static inline wick_context *specializations_context(void)
{
  wick_context *c;
  wick_options o = {.size = sizeof o,
                    .allocator = {specializations_alloc, specializations_free, NULL}};
  specializations_ok(wick_context_create(&o, &c));
  return c;
}

/* ---- compiled models ---- */

/* Compiles a model. `o` gives the cache (NULL: none), the number of specializations and those to
 * compile ahead of time; the other options are set here. */
static inline wick_error *specializations_try(wick_context *c, const char *model,
                                              wick_compile_options o, wick_compiled **out)
{
  wick_model *m;
  o.size = sizeof o, o.dynamic = true, o.jobs = 1, o.auto_specialize_after = 3;
  if (!o.cache) o.cache = "";
  specializations_ok(wick_load_bytes(c, "model", model, strlen(model), &m));
  wick_error *e = wick_compile(m, &o, out);
  wick_model_free(m);
  return e;
}

static inline wick_compiled *specializations_of(wick_context *c, const char *model,
                                                wick_compile_options o)
{
  wick_compiled *k;
  specializations_ok(specializations_try(c, model, o, &k));
  return k;
}

/* Asserts that compiling fails with the message `want`. */
static inline void specializations_refused(wick_context *c, const char *model,
                                           wick_compile_options o, const char *want)
{
  wick_compiled *k;
  wick_error *e = specializations_try(c, model, o, &k);
  assert_non_null(e);
  assert_string_equal(wick_error_message(e), want);
  wick_error_free(e);
}

/* Removes a cache's folder with its files. */
static inline void specializations_empty(const char *folder)
{
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* ---- sessions ---- */

static inline wick_session *specializations_session(const wick_compiled *k, uint32_t threads)
{
  wick_session *s;
  wick_session_options o = {.size = sizeof o, .threads = threads};
  specializations_ok(wick_session_create(k, &o, &s));
  return s;
}

static inline void specializations_shape(wick_session *s, int64_t n)
{
  const int64_t dim[2] = {n, COPIES_IN};
  specializations_ok(wick_session_shape(s, 1, &(wick_shape){"x", 2, dim}));
}

/* `mode`: NULL for the model without this input. */
static inline void specializations_run_with(wick_session *s, const int64_t *mode, float *y)
{
  float x[COPIES_ROWS * COPIES_IN], w[COPIES_IN * COPIES_OUT];
  const void *in[] = {mode, x, w};
  for (int i = 0; i < COPIES_ROWS * COPIES_IN; i++) x[i] = (float)((i * 37) % 101) * 0.013f - 0.6f;
  for (int i = 0; i < COPIES_IN * COPIES_OUT; i++) w[i] = (float)((i * 53) % 97) * 0.011f - 0.5f;
  specializations_ok(wick_run(s, in + !mode, (void *[]){y}));
}

static inline void specializations_run(wick_session *s, float *y)
{
  specializations_run_with(s, NULL, y);
}

static inline void specializations_mode(wick_session *s, int64_t mode, float *y)
{
  specializations_run_with(s, &mode, y);
}

/* Runs a new session `times` times with n rows. */
static inline void specializations_runs(const wick_compiled *k, int64_t n, int times, float *y)
{
  wick_session *s = specializations_session(k, 1);
  specializations_shape(s, n);
  for (int i = 0; i < times; i++) specializations_run(s, y);
  wick_session_free(s);
}

static inline void specializations_same(const float *a, const float *b, int64_t n)
{
  assert_memory_equal(a, b, (size_t)n * COPIES_OUT * sizeof *a);
}

#endif
