/* Copies that appear while many threads run: the table, the thread that has them made, and sessions
 * that go from one to the other. The code is two instructions: it returns 0. */
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
static const unsigned char special_code[] = {0x31, 0xc0, 0xc3};
#elif defined(__aarch64__)
static const unsigned char special_code[] = {0, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char special_code[1];
#endif

/* mode: i64[], x: u8[N] -> y: u8[N]; n < 0: for all N. */
static wick_program special_program(int64_t n, wick_arena *mem)
{
  static const void *const fixed[3];
  static const wick_program_flow flow[] = {{"choice", WICK_FLOW_IF}};
  static const wick_program_symbol symbol[] = {{"N", 1, 64, 1, 0, 1, 0}};
  static const wick_program_port port[] = {
      {.nbytes = WICK_PROGRAM_CONST}, {.dim = {0}, .nbytes = 0}, {.dim = {0}, .nbytes = 0}};
  static const uint32_t watch[] = {0};
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
    p.nwatch = 1, p.watch = watch;
  }
  return p;
}

/* An artifact of that program; with words for what a copy is for. */
static wick_span special_bytes(const wick_program *p, const int64_t *sizes, const int64_t *held,
                               wick_arena *mem)
{
  static const wick_symbol symbol[] = {{"f", 0}};
  static const unsigned char constants[64];
  wick_section section[] = {{.name = "constants", .bytes = {constants, sizeof constants}},
                            {.name = "code", .bytes = {special_code, sizeof special_code}},
                            {.name = "rodata"},
                            {.name = "imports"},
                            {.name = "symbols", .bytes = wick_symbols_make(1, symbol, mem)},
                            {.name = "program", .bytes = wick_program_write(p, mem)},
                            {.name = "sizes"},
                            {.name = "held"}};
  if (sizes) section[6] = wick_special_words("sizes", 1, sizes, mem);
  if (held) section[7] = wick_special_words("held", 2, held, mem);
  wick_artifact_parts parts;
  assert_null(
      wick_artifact_make(wick_cpu_detect().machine, 0, WICK_COUNT(section), section, mem, &parts));
  return wick_artifact_join(&parts, mem);
}

static wick_status special_maker(void *arg, const int64_t *sizes, const int64_t *held,
                                 bool (*stop)(void *), void *stop_arg, wick_guard *guard,
                                 wick_arena *mem, wick_span *out, bool *out_cached)
{
  (void)guard, (void)stop_arg, (void)stop;
  if (sizes[0] == *(const int64_t *)arg) return wick_fail(mem, WICK_EINVAL, NULL, "not this one");
  wick_program p = special_program(sizes[0], mem);
  *out = special_bytes(&p, sizes, held, mem);
  *out_cached = false;
  return NULL;
}

static void special_nothing(void *arg) { (void)arg; }

static wick_compiled *special_compiled(wick_context *c)
{
  static int64_t never = 3;
  static const wick_maker maker = {.arg = &never,
                                   .make = special_maker,
                                   .end = special_nothing,
                                   .drop = special_nothing,
                                   .most = SPECIAL_COPIES,
                                   .after = 5};
  wick_compiled *k = wick_compiled_new(c);
  assert_non_null(k);
  assert_int_equal(setjmp(k->guard.where), 0);
  wick_program p = special_program(-1, &k->mem);
  wick_status bad = wick_compiled_take(k, special_bytes(&p, NULL, NULL, &k->mem), "test");
  if (bad) fail_msg("%s", bad->message);
  assert_true(wick_specials_start(k->specials, &maker));
  return k;
}

/* Copies that take longer than the program for all sizes are given up, and not asked for again. */
static void test_slower(void **state)
{
  (void)state;
  if (sizeof special_code == 1) skip();
  static const struct {
    int64_t n;
    uint64_t generic, copy; /* nanoseconds */
    wick_copy_state want;
  } row[] = {{1, 1000, 1100, WICK_COPY_SLOWER},
             {2, 1000, 1010, WICK_COPY_READY},
             {4, 1000, 600, WICK_COPY_READY},
             {5, 0, 600, WICK_COPY_READY}}; /* nothing to compare with */
  wick_context *c;
  assert_null(wick_context_create(NULL, &c));
  wick_compiled *k = special_compiled(c);
  for (uint32_t i = 0; i < WICK_COUNT(row); i++) {
    wick_met *m = wick_specials_meet(k->specials, &row[i].n, NULL);
    for (int run = 0; run < 5; run++)
      wick_specials_ran(k->specials, m, false,
                        row[i].generic ? row[i].generic + (uint64_t)run % 3 : 0);
    wick_compiled_settle(k);
    assert_int_equal(atomic_load(&m->state), WICK_COPY_READY);
    for (int run = 0; run < 100 && atomic_load(&m->special); run++)
      wick_specials_ran(k->specials, m, true, run % 2 ? row[i].copy + (uint64_t)run : 0);
    bool kept = row[i].want == WICK_COPY_READY;
    assert_int_equal(atomic_load(&m->special) != NULL, kept);
    for (int run = 0; run < 20; run++) wick_specials_ran(k->specials, m, kept, 900);
    wick_compiled_settle(k);
    assert_int_equal(atomic_load(&m->state), row[i].want);
  }
  wick_compiled_free(k);
  wick_context_free(c);
}

static const wick_compiled *special_shared;
static pthread_barrier_t special_half;

/* For half of the runs a size has one mode, then it has others, too. */
static void *special_thread(void *arg)
{
  uintptr_t seed = (uintptr_t)arg;
  wick_session *s;
  unsigned char x[64] = {0}, y[64];
  if (wick_session_create(
          special_shared,
          &(wick_session_options){.size = sizeof(wick_session_options), .threads = 1}, &s))
    return arg;
  for (int i = 0; i < SPECIAL_RUNS; i++) {
    seed = seed * 1103515245u + 12345;
    const int64_t n = 1 + (int64_t)(seed / 65536 % SPECIAL_SIZES);
    const int64_t mode = i < SPECIAL_RUNS / 2 ? n : (int64_t)(seed >> 24 & 3);
    if (i == SPECIAL_RUNS / 2) {
      wick_compiled_settle(special_shared);
      pthread_barrier_wait(&special_half);
    }
    if (wick_session_shape(s, 1, &(wick_shape){"x", 1, &n})) return arg;
    for (int k = 0; k < 2; k++)
      if (wick_run(s, (const void *[]){&mode, x}, (void *[]){y})) return arg;
    wick_met_size m;
    for (uint32_t k = 0; wick_compiled_met(special_shared, k, &m); k++) {
      wick_met_content content;
      if (!wick_compiled_met_content(special_shared, k, 0, &content)) return arg;
      if (content.held && *(const int64_t *)content.data != m.sizes[0]) return arg;
    }
  }
  wick_session_free(s);
  return NULL;
}

static void test_threads(void **state)
{
  (void)state;
  if (sizeof special_code == 1) skip();
  wick_context *c;
  assert_null(wick_context_create(NULL, &c));
  wick_compiled *k = special_compiled(c);
  special_shared = k;
  pthread_t thread[SPECIAL_THREADS];
  pthread_barrier_init(&special_half, NULL, SPECIAL_THREADS);
  for (uintptr_t i = 0; i < SPECIAL_THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, special_thread, (void *)(i + 1)), 0);
  for (int i = 0; i < SPECIAL_THREADS; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  wick_compiled_settle(k);
  uint64_t all = 0, ready = 0, held = 0, failed = 0;
  wick_met_size m;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++) {
    wick_met_content content;
    assert_true(wick_compiled_met_content(k, i, 0, &content));
    ready += m.copy == WICK_COPY_READY || m.copy == WICK_COPY_SLOWER;
    all += m.nrun, held += content.held;
    if (m.sizes[0] == 3) failed += m.copy == WICK_COPY_FAILED && !strcmp(m.why, "not this one");
    if (m.copy == WICK_COPY_READY && content.held) assert_true(m.copy_nanoseconds || !m.nrun);
  }
  assert_int_equal(all, SPECIAL_THREADS * SPECIAL_RUNS * 2);
  assert_int_equal(held, SPECIAL_SIZES);
  assert_int_equal(ready + failed, SPECIAL_COPIES);
  assert_true(failed == 1 || failed == 2);
  pthread_barrier_destroy(&special_half);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slower), cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
