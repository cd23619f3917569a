/* Runs allocate nothing, on any thread: this program replaces malloc to count. It tests the digits
 * network, or the artifact that is named; tests/networks names those of the benchmark. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "driver/compile_testing.h"
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
int posix_memalign(void **p, size_t align, size_t n)
{
  atomic_fetch_add(&noalloc_count, 1);
  *p = __libc_memalign(align, n);
  return *p ? 0 : ENOMEM;
}
#endif

#ifdef NOALLOC_COUNTS
static const char *noalloc_artifact; /* is tested instead of the digits network */

static wick_compiled *noalloc_compiled(wick_context *context)
{
  wick_compiled *compiled;
  wick_model *model;
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  if (noalloc_artifact) {
    ok(wick_compiled_load(context, noalloc_artifact, &compiled));
    return compiled;
  }
  ok(wick_load(context, "examples/digits/digits.onnx", &model));
  ok(wick_compile(model, &o, &compiled));
  wick_model_free(model);
  return compiled;
}

/* Makes runs 2 to 100 of a session with that many threads. */
static void noalloc_runs(const wick_compiled *compiled, uint32_t threads, const void *const *in,
                         void *const *out)
{
  wick_session *session;
  wick_session_options s = {.size = sizeof s, .threads = threads};
  ok(wick_session_create(compiled, &s, &session));
  assert_int_equal(wick_session_threads(session), threads);
  ok(wick_run(session, in, out));
  unsigned long before = atomic_load(&noalloc_count);
  for (int i = 2; i <= 100; i++)
    if (wick_run(session, in, out)) fail();
  assert_int_equal(atomic_load(&noalloc_count), before);
  wick_session_free(session);
}
#endif

static void runs(void **state)
{
  (void)state;
#ifdef NOALLOC_COUNTS
  enum { MOST = 8 };
  const void *in[MOST];
  void *out[MOST];
  wick_context *context;
  ok(wick_context_create(NULL, &context));
  wick_compiled *compiled = noalloc_compiled(context);
  uint32_t nin = wick_compiled_ninput(compiled), nout = wick_compiled_noutput(compiled);
  assert_true(nin <= MOST && nout <= MOST);
  for (uint32_t i = 0; i < nin; i++)
    assert_non_null(in[i] = calloc(1, wick_compiled_input(compiled, i)->nbytes));
  for (uint32_t i = 0; i < nout; i++)
    assert_non_null(out[i] = calloc(1, wick_compiled_output(compiled, i)->nbytes));
  assert_true(atomic_load(&noalloc_count) > 0); /* the replacement does count */
  for (uint32_t threads = 1; threads <= 4; threads *= 2) noalloc_runs(compiled, threads, in, out);
  for (uint32_t i = 0; i < nin; i++) free((void *)(uintptr_t)in[i]);
  for (uint32_t i = 0; i < nout; i++) free(out[i]);
  wick_compiled_free(compiled);
  wick_context_free(context);
#else
  skip(); /* another malloc replaces ours */
#endif
}

int main(int argc, char **argv)
{
#ifdef NOALLOC_COUNTS
  if (argc > 1) noalloc_artifact = argv[1];
#else
  (void)argc, (void)argv;
#endif
  const struct CMUnitTest tests[] = {cmocka_unit_test(runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
