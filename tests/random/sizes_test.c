/* Runs with 1,000 sizes in random order on eight threads that share one compiled model: the bits
 * are those of a single thread, and nothing leaks (the sanitized build checks this).
 *
 * WICK_SIZES_SECONDS: runs for so long, and prints the resident memory each minute. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { SIZES_THREADS = 8, SIZES_N = 40, SIZES_S = 25, SIZES_ALL = SIZES_N * SIZES_S };

/* A product, a loop with a dynamic count that carries, reads and stacks values, and a branch. */
static const char sizes_model[] =
    "graph @main(%x: f32[N[1..40],S[1..25],4], %n: i64[]) -> (f32[S,N], f32[N,S,4]) {\n"
    "  %0 = const 0.25 : f32[4,4]\n"
    "  %1 = matmul %x, %0 : f32[N,S,4]\n"
    "  %2 = shape %x {start=1, end=2} : i64[1]\n"
    "  %3 = reshape %2 {shape=[]} : i64[]\n"
    "  %4, %5 = loop %3, %1 {stacked=1, most=[S]} (%i: i64[], %v: f32[N,S,4]) {\n"
    "    %6 = dynamic_index %x, %i {axis=1} : f32[N,4]\n"
    "    %7 = reshape %6 {shape=[N, 1, 4]} : f32[N,1,4]\n"
    "    %8 = add %v, %7 : f32[N,S,4]\n"
    "    %9 = tanh %8 : f32[N,S,4]\n"
    "    %10 = reduce_sum %9 {axes=[1,2], keepdims=false} : f32[N]\n"
    "    %11 = const 1 : bool[]\n"
    "    yield %11, %9, %10\n"
    "  } : f32[N,S,4], f32[S,N]\n"
    "  %12 = const 0 : i64[]\n"
    "  %13 = gt %n, %12 : bool[]\n"
    "  %14 = if %13 () {\n"
    "    %15 = softmax %4 {axis=1} : f32[N,S,4]\n"
    "    yield %15\n"
    "  } () {\n"
    "    yield %4\n"
    "  } : f32[N,S,4]\n"
    "  return %5, %14\n"
    "}\n";

typedef struct sizes_worker {
  const wick_compiled *code;
  const uint64_t *want; /* per size: a hash of the results; NULL: they are computed now */
  uint64_t *found;
  uint64_t seed, wrong, runs;
  time_t until; /* 0: all sizes once */
  char why[200];
} sizes_worker;

static uint64_t sizes_noise(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

static uint64_t sizes_hash(uint64_t h, const void *data, size_t nbytes)
{
  const unsigned char *p = data;
  for (size_t i = 0; i < nbytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

/* Runs once with size number `at`. */
static wick_error *sizes_run(wick_session *s, uint32_t at, float *const *memory, uint64_t *out)
{
  int64_t n = 1 + at % SIZES_N, len = 1 + at / SIZES_N, dim[3] = {n, len, 4}, branch = at % 3 - 1;
  uint64_t seed = at;
  for (int64_t i = 0; i < n * len * 4; i++)
    memory[0][i] = (float)(sizes_noise(&seed) % 2001) / 1000 - 1;
  wick_shape shape[2] = {{"x", 3, dim}, {"n", 0, NULL}};
  const void *in[2] = {memory[0], &branch};
  void *to[2] = {memory[1], memory[2]};
  wick_error *e = wick_session_shape(s, 2, shape);
  if (!e) e = wick_run(s, in, to);
  if (e) return e;
  *out = sizes_hash(0xcbf29ce484222325u, memory[1], (size_t)(n * len) * sizeof(float));
  *out = sizes_hash(*out, memory[2], (size_t)(n * len * 4) * sizeof(float));
  return NULL;
}

/* Runs all sizes in an order of its own, with a session of its own; repeatedly if there is time. */
static void *sizes_work(void *arg)
{
  sizes_worker *w = arg;
  uint32_t order[SIZES_ALL];
  float *memory[3];
  wick_session *s = NULL;
  wick_session_options o = {.size = sizeof o, .threads = 1};
  for (uint32_t i = 0; i < 3; i++) memory[i] = malloc(SIZES_ALL * 4 * sizeof(float));
  for (uint32_t i = 0; i < SIZES_ALL; i++) order[i] = i;
  wick_error *e = NULL;
  do {
    wick_session_free(s);
    s = NULL;
    e = wick_session_create(w->code, &o, &s);
    for (uint32_t i = SIZES_ALL; i > 1; i--) {
      uint32_t j = (uint32_t)(sizes_noise(&w->seed) % i), k = order[i - 1];
      order[i - 1] = order[j], order[j] = k;
    }
    for (uint32_t i = 0; i < SIZES_ALL && !e; i++) {
      uint64_t hash = 0;
      e = sizes_run(s, order[i], memory, &hash);
      if (w->found) w->found[order[i]] = hash;
      w->wrong += w->want && w->want[order[i]] != hash;
      w->runs++;
    }
  } while (!e && time(NULL) < w->until);
  if (e) snprintf(w->why, sizeof w->why, "%s", wick_error_message(e));
  wick_error_free(e);
  wick_session_free(s);
  for (uint32_t i = 0; i < 3; i++) free(memory[i]);
  return NULL;
}

static long sizes_resident_kib(void)
{
  long pages = 0, all = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void sizes_watch(time_t begun, time_t until)
{
  for (int minute = 1; until && time(NULL) < until; minute++) {
    while (time(NULL) < begun + 60 * minute && time(NULL) < until) sleep(1);
    fprintf(stderr, "%lld s: %ld KiB resident\n", (long long)(time(NULL) - begun),
            sizes_resident_kib());
  }
}

static void sizes_on_eight_threads(void **state)
{
  (void)state;
  const char *seconds = getenv("WICK_SIZES_SECONDS");
  time_t begun = time(NULL), until = seconds ? begun + atoi(seconds) : 0;
  wick_context *context = NULL;
  wick_model *m = NULL;
  wick_compiled *code = NULL;
  wick_compile_options o = {.size = sizeof o, .cache = "", .jobs = 1, .dynamic = true};
  wick_error *e = wick_context_create(NULL, &context);
  if (!e) e = wick_load_bytes(context, "sizes", sizes_model, strlen(sizes_model), &m);
  if (!e) e = wick_compile(m, &o, &code);
  if (e) fail_msg("%s", wick_error_message(e));
  uint64_t *want = calloc(SIZES_ALL, sizeof *want), runs = 0;
  sizes_worker alone = {.code = code, .found = want}, worker[SIZES_THREADS];
  sizes_work(&alone);
  assert_string_equal(alone.why, "");
  pthread_t thread[SIZES_THREADS];
  for (uint32_t i = 0; i < SIZES_THREADS; i++) {
    worker[i] = (sizes_worker){.code = code, .want = want, .seed = i + 1, .until = until};
    assert_int_equal(pthread_create(&thread[i], NULL, sizes_work, &worker[i]), 0);
  }
  sizes_watch(begun, until);
  for (uint32_t i = 0; i < SIZES_THREADS; i++) pthread_join(thread[i], NULL);
  for (uint32_t i = 0; i < SIZES_THREADS; i++) {
    assert_string_equal(worker[i].why, "");
    assert_int_equal(worker[i].wrong, 0);
    runs += worker[i].runs;
  }
  if (until) print_message("%llu runs\n", (unsigned long long)runs);
  free(want);
  wick_compiled_free(code);
  wick_model_free(m);
  wick_context_free(context);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_on_eight_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
