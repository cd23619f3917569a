/* Specializations that appear while many threads run: the table, the thread that compiles, and
 * sessions that change to them. The generated code is two instructions that return 0. */
#include "runtime/specialization.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "runtime/compiled.h"

enum { SPECIAL_THREADS = 8, SPECIAL_RUNS = 300, SPECIAL_SIZES = 6, SPECIAL_COPIES = 8 };

#if defined(__x86_64__)
static const unsigned char specialization_code[] = {0x31, 0xc0, 0xc3};
#elif defined(__aarch64__)
static const unsigned char specialization_code[] = {0, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char specialization_code[1];
#endif

/* mode: i64[], x: u8[N] -> y: u8[N]; n < 0: N is dynamic. */
static wick_program specialization_program(int64_t n, wick_arena *mem)
{
  static const void *const fixed[3];
  static const wick_program_flow flow[] = {{"choice", WICK_FLOW_IF}};
  static const wick_program_symbol symbol[] = {{"N", 1, 64, 1, 0, 1, 0}};
  static const wick_program_port port[] = {
      {.nbytes = WICK_PROGRAM_CONST}, {.dim = {0}, .nbytes = 0}, {.dim = {0}, .nbytes = 0}};
  static const uint32_t guard_input[] = {0};
  wick_io *io = wick_new(mem, wick_io, 3);
  io[0] = (wick_io){.name = "mode", .elem = WICK_I64, .nbytes = 8};
  for (uint32_t i = 1; i < 3; i++)
    io[i] = (wick_io){.name = i == 1 ? "x" : "y",
                      .elem = WICK_U8,
                      .rank = 1,
                      .dim = {n},
                      .dim_name = {"N"},
                      .nbytes = n < 0 ? 0 : (uint64_t)n};
  wick_program p = {.entry = "f",
                    .contract = "",
                    .ninput = 2,
                    .noutput = 1,
                    .io = io,
                    .fixed = fixed,
                    .nflow = 1,
                    .flow = flow};
  if (n < 0) {
    p.sizes = (wick_program_sizes){
        .fill = "f", .nslot = 2, .nsymbol = 1, .scratch = 1, .symbol = symbol, .port = port};
    p.nguard_input = 1, p.guard_input = guard_input;
  }
  return p;
}

/* Makes an artifact of that program, with the sizes and guards of a specialization. */
static wick_span specialization_bytes(const wick_program *p, const int64_t *sizes,
                                      const int64_t *guards, wick_arena *mem)
{
  static const wick_symbol symbol[] = {{"f", 0}};
  static const unsigned char constants[64];
  wick_section section[] = {
      {.name = "constants", .bytes = {constants, sizeof constants}},
      {.name = "code", .bytes = {specialization_code, sizeof specialization_code}},
      {.name = "rodata"},
      {.name = "imports"},
      {.name = "symbols", .bytes = wick_symbols_make(1, symbol, mem)},
      {.name = "program", .bytes = wick_program_write(p, mem)},
      {.name = "sizes"},
      {.name = "guards"}};
  if (sizes) section[6] = wick_specialization_words("sizes", 1, sizes, mem);
  if (guards) section[7] = wick_specialization_words("guards", 2, guards, mem);
  wick_artifact_parts parts;
  assert_null(
      wick_artifact_make(wick_cpu_detect().machine, 0, WICK_COUNT(section), section, mem, &parts));
  return wick_artifact_join(&parts, mem);
}

static wick_status specialization_maker(void *arg, const int64_t *sizes, const int64_t *guards,
                                        bool (*stop)(void *), void *stop_arg, wick_guard *guard,
                                        wick_arena *mem, wick_span *out, bool *out_cached)
{
  (void)guard, (void)stop_arg, (void)stop;
  if (sizes[0] == *(const int64_t *)arg) return wick_fail(mem, WICK_EINVAL, NULL, "not this one");
  wick_program p = specialization_program(sizes[0], mem);
  *out = specialization_bytes(&p, sizes, guards, mem);
  *out_cached = false;
  return NULL;
}

static void specialization_nothing(void *arg) { (void)arg; }

static wick_compiled *specialization_compiled(wick_context *c)
{
  static int64_t never = 3;
  static const wick_specializer specializer = {.arg = &never,
                                               .make = specialization_maker,
                                               .end = specialization_nothing,
                                               .drop = specialization_nothing,
                                               .most = SPECIAL_COPIES,
                                               .after = 5};
  wick_compiled *k = wick_compiled_new(c);
  assert_non_null(k);
  assert_int_equal(setjmp(k->guard.where), 0);
  wick_program p = specialization_program(-1, &k->mem);
  wick_status bad = wick_compiled_take(k, specialization_bytes(&p, NULL, NULL, &k->mem), "test");
  if (bad) fail_msg("%s", bad->message);
  assert_true(wick_specializations_start(k->specializations, &specializer));
  return k;
}

/* Specializations that are slower than the base program are given up, and not requested again. */
static void test_slower(void **state)
{
  (void)state;
  if (sizeof specialization_code == 1) skip();
  static const struct {
    int64_t n;
    uint64_t base, copy; /* nanoseconds */
    wick_specialization_state want;
  } row[] = {{1, 1000, 1100, WICK_SPECIALIZATION_SLOWER},
             {2, 1000, 1010, WICK_SPECIALIZATION_READY},
             {4, 1000, 600, WICK_SPECIALIZATION_READY},
             {5, 0, 600, WICK_SPECIALIZATION_READY}}; /* there is no time to compare with */
  wick_context *c;
  assert_null(wick_context_create(NULL, &c));
  wick_compiled *k = specialization_compiled(c);
  for (uint32_t i = 0; i < WICK_COUNT(row); i++) {
    wick_profile_record *m = wick_specializations_entry(k->specializations, &row[i].n, NULL);
    for (int run = 0; run < 5; run++)
      wick_specializations_after_run(k->specializations, m, false,
                                     row[i].base ? row[i].base + (uint64_t)run % 3 : 0);
    wick_compiled_wait(k);
    assert_int_equal(atomic_load(&m->state), WICK_SPECIALIZATION_READY);
    for (int run = 0; run < 100 && atomic_load(&m->specialized); run++)
      wick_specializations_after_run(k->specializations, m, true,
                                     run % 2 ? row[i].copy + (uint64_t)run : 0);
    bool kept = row[i].want == WICK_SPECIALIZATION_READY;
    assert_int_equal(atomic_load(&m->specialized) != NULL, kept);
    for (int run = 0; run < 20; run++)
      wick_specializations_after_run(k->specializations, m, kept, 900);
    wick_compiled_wait(k);
    assert_int_equal(atomic_load(&m->state), row[i].want);
  }
  wick_compiled_free(k);
  wick_context_free(c);
}

static const wick_compiled *specialization_shared;
static pthread_barrier_t specialization_half;

/* A size has one mode in the first half of its runs, and then others, too. */
static void *specialization_thread(void *arg)
{
  uintptr_t seed = (uintptr_t)arg;
  wick_session *s;
  unsigned char x[64] = {0}, y[64];
  if (wick_session_create(
          specialization_shared,
          &(wick_session_options){.size = sizeof(wick_session_options), .threads = 1}, &s))
    return arg;
  for (int i = 0; i < SPECIAL_RUNS; i++) {
    seed = seed * 1103515245u + 12345;
    const int64_t n = 1 + (int64_t)(seed / 65536 % SPECIAL_SIZES);
    const int64_t mode = i < SPECIAL_RUNS / 2 ? n : (int64_t)(seed >> 24 & 3);
    if (i == SPECIAL_RUNS / 2) {
      wick_compiled_wait(specialization_shared);
      pthread_barrier_wait(&specialization_half);
    }
    if (wick_session_shape(s, 1, &(wick_shape){"x", 1, &n})) return arg;
    for (int k = 0; k < 2; k++)
      if (wick_run(s, (const void *[]){&mode, x}, (void *[]){y})) return arg;
    wick_profile_entry m;
    for (uint32_t k = 0; wick_compiled_profile(specialization_shared, k, &m); k++) {
      wick_profile_content content;
      if (!wick_compiled_profile_content(specialization_shared, k, 0, &content)) return arg;
      if (content.guarded && *(const int64_t *)content.data != m.sizes[0]) return arg;
    }
  }
  wick_session_free(s);
  return NULL;
}

static void test_threads(void **state)
{
  (void)state;
  if (sizeof specialization_code == 1) skip();
  wick_context *c;
  assert_null(wick_context_create(NULL, &c));
  wick_compiled *k = specialization_compiled(c);
  specialization_shared = k;
  pthread_t thread[SPECIAL_THREADS];
  pthread_barrier_init(&specialization_half, NULL, SPECIAL_THREADS);
  for (uintptr_t i = 0; i < SPECIAL_THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, specialization_thread, (void *)(i + 1)), 0);
  for (int i = 0; i < SPECIAL_THREADS; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  wick_compiled_wait(k);
  uint64_t all = 0, ready = 0, guards = 0, failed = 0;
  wick_profile_entry m;
  for (uint32_t i = 0; wick_compiled_profile(k, i, &m); i++) {
    wick_profile_content content;
    assert_true(wick_compiled_profile_content(k, i, 0, &content));
    ready += m.specialization == WICK_SPECIALIZATION_READY ||
             m.specialization == WICK_SPECIALIZATION_SLOWER;
    all += m.nrun, guards += content.guarded;
    if (m.sizes[0] == 3)
      failed += m.specialization == WICK_SPECIALIZATION_FAILED && !strcmp(m.why, "not this one");
    if (m.specialization == WICK_SPECIALIZATION_READY && content.guarded)
      assert_true(m.specialized_nanoseconds || !m.nrun);
  }
  assert_int_equal(all, SPECIAL_THREADS * SPECIAL_RUNS * 2);
  assert_int_equal(guards, SPECIAL_SIZES);
  assert_int_equal(ready + failed, SPECIAL_COPIES);
  assert_true(failed == 1 || failed == 2);
  pthread_barrier_destroy(&specialization_half);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slower), cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
