/* Runs allocate nothing, on any thread: this program's own malloc counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wick/wick.h"

#if defined(__has_feature)
#define NOALLOC_CLANG __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#else
#define NOALLOC_CLANG 0
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    !(NOALLOC_CLANG)
#define NOALLOC_COUNTS 1

static atomic_ulong noalloc_count;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

void *malloc(size_t n)
{
  atomic_fetch_add(&noalloc_count, 1);
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
  atomic_fetch_add(&noalloc_count, 1);
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
  atomic_fetch_add(&noalloc_count, 1);
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t align, size_t n)
{
  atomic_fetch_add(&noalloc_count, 1);
  return __libc_memalign(align, n);
}
#endif

#ifdef NOALLOC_COUNTS
static void ok(wick_error *e)
{
  if (e) print_error("%s\n", wick_error_message(e));
  assert_null(e);
}
#endif

static void runs(void **state)
{
  (void)state;
#ifdef NOALLOC_COUNTS
  static unsigned char image[64 * 64];
  static float y[10];
  const void *in[] = {image};
  void *out[] = {y};
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled;
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  ok(wick_context_create(NULL, &context));
  ok(wick_load(context, "examples/digits/digits.onnx", &model));
  ok(wick_compile(model, &o, &compiled));
  assert_true(atomic_load(&noalloc_count) > 0); /* it does count */
  for (uint32_t threads = 1; threads <= 4; threads *= 2) {
    wick_session *session;
    wick_session_options s = {.size = sizeof s, .threads = threads};
    ok(wick_session_create(compiled, &s, &session));
    ok(wick_run(session, in, out));
    unsigned long before = atomic_load(&noalloc_count);
    for (int i = 2; i <= 100; i++)
      if (wick_run(session, in, out)) fail();
    assert_int_equal(atomic_load(&noalloc_count), before);
    wick_session_free(session);
  }
  wick_compiled_free(compiled);
  wick_model_free(model);
  wick_context_free(context);
#else
  skip(); /* another malloc is in its place */
#endif
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
