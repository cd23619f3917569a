/* Copies for some sizes: ahead and while sessions run, their cache, limits, failures, threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/compiled.h"
#include "wick/wick.h"

enum { COPIES_ROWS = 64, COPIES_IN = 24, COPIES_OUT = 20, COPIES_THREADS = 4, COPIES_RUNS = 60 };

static const char copies_model[] =
    "graph @main(%x: f32[N[1..64],24], %w: f32[24,20]) -> f32[N,20] {\n"
    "  %0 = matmul %x, %w : f32[N,20]\n"
    "  %1 = softmax %0 {axis=0} : f32[N,20]\n"
    "  return %1\n"
    "}\n";

/* Its branches want different sizes. */
static const char copies_branches[] =
    "graph @main(%c: bool[], %x: f32[N[1..64],6], %y: f32[M[1..64],6]) -> f32[N,6] {\n"
    "  check M = 2*N in branches loc(\"one\")\n"
    "  check M = 3*N + 1 in branches loc(\"two\")\n"
    "  %0 = if %c {then_equal=[M, 2*N], else_equal=[M, 3*N + 1]} () {\n"
    "    %1 = slice %y {begin=[0,0], shape=[N,6], step=[2,1]} : f32[N,6]\n"
    "    %2 = add %x, %1 : f32[N,6]\n"
    "    yield %2\n"
    "  } () {\n"
    "    %3 = slice %y {begin=[1,0], shape=[N,6], step=[3,1]} : f32[N,6]\n"
    "    %4 = mul %x, %3 : f32[N,6]\n"
    "    yield %4\n"
    "  } : f32[N,6] loc(\"the branches\")\n"
    "  return %0\n"
    "}\n";

/* Memory of a context, counted. */
static atomic_ulong copies_count;
static _Thread_local unsigned long copies_own; /* of this thread */

static void *copies_alloc(void *self, size_t n)
{
  (void)self;
  atomic_fetch_add(&copies_count, 1);
  copies_own++;
  return malloc(n);
}

static void copies_free(void *self, void *p, size_t n)
{
  (void)self, (void)n;
  free(p);
}

static void copies_ok(wick_error *e)
{
  if (e) fail_msg("%s", wick_error_message(e));
}

static wick_context *copies_context(void)
{
  wick_context *c;
  wick_options o = {.size = sizeof o, .allocator = {copies_alloc, copies_free, NULL}};
  copies_ok(wick_context_create(&o, &c));
  return c;
}

static wick_compiled *copies_of(wick_context *c, const char *model, const char *cache,
                                uint32_t copies, uint32_t npin, const wick_size *pins)
{
  wick_model *m;
  wick_compiled *k;
  wick_compile_options o = {.size = sizeof o,
                            .cache = cache,
                            .vary = true,
                            .nprocess = 1,
                            .copies = copies,
                            .copy_after = 3,
                            .npin = npin,
                            .pins = pins};
  copies_ok(wick_load_bytes(c, "model", model, strlen(model), &m));
  copies_ok(wick_compile(m, &o, &k));
  wick_model_free(m);
  return k;
}

static wick_compiled *copies_compiled(wick_context *c, const char *cache, uint32_t copies,
                                      uint32_t npin, const wick_size *pins)
{
  return copies_of(c, copies_model, cache, copies, npin, pins);
}

static wick_session *copies_session(const wick_compiled *k, uint32_t threads)
{
  wick_session *s;
  wick_session_options o = {.size = sizeof o, .threads = threads};
  copies_ok(wick_session_create(k, &o, &s));
  return s;
}

static void copies_shape(wick_session *s, int64_t n)
{
  const int64_t dim[2] = {n, COPIES_IN};
  copies_ok(wick_session_shape(s, 1, &(wick_shape){"x", 2, dim}));
}

static void copies_run(wick_session *s, float *y)
{
  float x[COPIES_ROWS * COPIES_IN], w[COPIES_IN * COPIES_OUT];
  for (int i = 0; i < COPIES_ROWS * COPIES_IN; i++) x[i] = (float)((i * 37) % 101) * 0.013f - 0.6f;
  for (int i = 0; i < COPIES_IN * COPIES_OUT; i++) w[i] = (float)((i * 53) % 97) * 0.011f - 0.5f;
  copies_ok(wick_run(s, (const void *[]){x, w}, (void *[]){y}));
}

/* So many runs of n rows. */
static void copies_runs(const wick_compiled *k, int64_t n, int times, float *y)
{
  wick_session *s = copies_session(k, 1);
  copies_shape(s, n);
  for (int i = 0; i < times; i++) copies_run(s, y);
  wick_session_free(s);
}

static wick_met_size copies_met(const wick_compiled *k, int64_t n)
{
  wick_met_size m;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++)
    if (m.sizes[0] == n) return m;
  fail_msg("%lld rows were not met", (long long)n);
  return m;
}

static void copies_same(const float *a, const float *b, int64_t n)
{
  assert_memory_equal(a, b, (size_t)n * COPIES_OUT * sizeof *a);
}

/* ---- tests ---- */

static float copies_want[COPIES_ROWS * COPIES_OUT], copies_got[COPIES_ROWS * COPIES_OUT];

static void test_background(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_compiled(c, "", 2, 0, NULL);
  assert_int_equal(wick_compiled_nsize(k), 1);
  assert_string_equal(wick_compiled_size(k, 0).name, "N");
  assert_int_equal(wick_compiled_size(k, 0).most, 64);
  wick_session *s = copies_session(k, 2);
  copies_shape(s, 5);
  for (int i = 0; i < 2; i++) copies_run(s, copies_want);
  assert_int_equal(copies_met(k, 5).copy, WICK_COPY_NONE);
  copies_run(s, copies_want);
  wick_compiled_settle(k);
  assert_int_equal(copies_met(k, 5).copy, WICK_COPY_READY);
  assert_int_equal(copies_met(k, 5).copy_nanoseconds, 0);
  unsigned long before = atomic_load(&copies_count);
  copies_run(s, copies_got); /* goes over to it, and takes no memory */
  assert_int_equal(atomic_load(&copies_count), before);
  assert_true(copies_met(k, 5).copy_nanoseconds > 0);
  assert_int_equal(copies_met(k, 5).nrun, 4);
  copies_same(copies_want, copies_got, 5);
  for (int64_t n = 7; n <= 9; n++) copies_runs(k, n, 4, copies_got), wick_compiled_settle(k);
  assert_int_equal(copies_met(k, 7).copy, WICK_COPY_READY);
  assert_int_equal(copies_met(k, 8).copy, WICK_COPY_NONE); /* there are two */
  copies_shape(s, 9);
  copies_run(s, copies_got);
  copies_shape(s, 5); /* and back */
  copies_run(s, copies_got);
  copies_same(copies_want, copies_got, 5);
  wick_session_free(s);
  wick_compiled_free(k);
  wick_context_free(c);
}

static void test_ahead(void **state)
{
  (void)state;
  char path[] = "/tmp/wick-copies-XXXXXX";
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = copies_context();
  const wick_size pins[] = {{"N", 6}, {"N", 64}};
  wick_compiled *k = copies_compiled(c, "", 0, 2, pins), *again;
  copies_ok(wick_save(k, path));
  copies_ok(wick_open(c, path, &again));
  wick_compiled *plain = copies_compiled(c, "", 0, 0, NULL);
  for (int64_t n = 6; n <= 64; n += 58) {
    copies_runs(plain, n, 1, copies_want);
    copies_runs(again, n, 1, copies_got);
    copies_same(copies_want, copies_got, n);
    assert_true(copies_met(again, n).ahead && copies_met(again, n).copy_nanoseconds);
    assert_true(!copies_met(plain, n).ahead && copies_met(plain, n).generic_nanoseconds);
  }
  wick_compiled_free(plain);
  wick_compiled_free(again);
  wick_compiled_free(k);
  unlink(path);
  wick_context_free(c);
}

/* One run of the model with branches; what it says goes to `text`. */
static void copies_branch(const wick_compiled *k, bool c, int64_t n, int64_t m, float *z,
                          char *text, size_t ntext)
{
  static float x[COPIES_ROWS * 6], y[COPIES_ROWS * 6];
  for (int i = 0; i < COPIES_ROWS * 6; i++) x[i] = 0.01f * (float)i, y[i] = 1.7f - x[i];
  wick_session *s = copies_session(k, 1);
  copies_ok(wick_session_shape(
      s, 2, (wick_shape[]){{"x", 2, (const int64_t[]){n, 6}}, {"y", 2, (const int64_t[]){m, 6}}}));
  memset(z, 0, COPIES_ROWS * 6 * sizeof *z);
  wick_error *e = wick_run(s, (const void *[]){&c, x, y}, (void *[]){z});
  snprintf(text, ntext, "%d %s", (int)wick_error_code(e), wick_error_message(e));
  wick_error_free(e);
  wick_session_free(s);
}

/* A branch that the sizes of a copy bar fails as it does in the program for all sizes, and the
 * other one runs; also where both are barred, and where none is. */
static void test_branches(void **state)
{
  (void)state;
  static const int64_t size[][2] = {{3, 6}, {3, 10}, {3, 7}, {1, 2}};
  wick_context *c = copies_context();
  wick_compiled *plain = copies_of(c, copies_branches, "", 0, 0, NULL);
  for (size_t i = 0; i < WICK_COUNT(size); i++) {
    const wick_size pins[] = {{"N", size[i][0]}, {"M", size[i][1]}};
    wick_compiled *k = copies_of(c, copies_branches, "", 0, 2, pins);
    for (int taken = 0; taken < 2; taken++) {
      char want[256], got[256];
      copies_branch(plain, taken, size[i][0], size[i][1], copies_want, want, sizeof want);
      copies_branch(k, taken, size[i][0], size[i][1], copies_got, got, sizeof got);
      assert_string_equal(got, want);
      bool good = size[i][1] == (taken ? 2 * size[i][0] : 3 * size[i][0] + 1);
      assert_int_equal(want[0] == '0', good);
      if (!good) assert_non_null(strstr(want, "the branches: the branch that is taken is not for"));
      assert_memory_equal(copies_want, copies_got, COPIES_ROWS * 6 * sizeof(float));
    }
    wick_met_size met;
    assert_true(wick_compiled_met(k, 0, &met) && met.ahead && met.nrun == 2);
    wick_compiled_free(k);
  }
  wick_compiled_free(plain);
  wick_context_free(c);
}

static const char copies_steps[] = "graph @main(%n: i64[], %x: f32[N[1..64]]) -> f32[N] {\n"
                                   "  %0 = loop %n, %x (%i: i64[], %v: f32[N]) {\n"
                                   "    %1 = const 2 : i64[]\n"
                                   "    %2 = lt %i, %1 : bool[]\n"
                                   "    %3 = if %2 () {\n"
                                   "      %4 = add %v, %x : f32[N]\n"
                                   "      yield %4\n"
                                   "    } () {\n"
                                   "      %5 = mul %v, %x : f32[N]\n"
                                   "      yield %5\n"
                                   "    } : f32[N] loc(\"choice\")\n"
                                   "    %6 = const 5 : i64[]\n"
                                   "    %7 = ne %i, %6 : bool[]\n"
                                   "    yield %7, %3\n"
                                   "  } : f32[N] loc(\"scan\")\n"
                                   "  return %0\n"
                                   "}\n";

static void copies_step(wick_session *s, int64_t n)
{
  float x[8] = {1}, y[8];
  copies_ok(wick_run(s, (const void *[]){&n, x}, (void *[]){y}));
}

static wick_flow copies_flow(const wick_compiled *k, const char *place)
{
  for (uint32_t i = 0; i < wick_compiled_nflow(k); i++)
    if (strcmp(wick_compiled_flow(k, i).place, place) == 0) return wick_compiled_flow(k, i);
  fail_msg("%s is not counted", place);
  return (wick_flow){0};
}

/* Branches and steps are counted by the program for all sizes and by copies, of all sessions, those
 * that have ended among them. */
static void test_counts(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_of(c, copies_steps, "", 0, 1, &(wick_size){"N", 8});
  assert_int_equal(wick_compiled_nflow(k), 2);
  assert_string_equal(wick_compiled_flow(k, 2).place, "");
  assert_true(copies_flow(k, "scan").nloop == 0 && copies_flow(k, "scan").least == 0);
  wick_session *s = copies_session(k, 1);
  for (int64_t rows = 7; rows <= 8; rows++) {
    copies_ok(wick_session_shape(s, 1, &(wick_shape){"x", 1, &rows}));
    copies_step(s, 4);
    copies_step(s, 9); /* ends itself, after 6 */
  }
  unsigned long before = atomic_load(&copies_count);
  copies_step(s, 3);
  assert_int_equal(atomic_load(&copies_count), before);
  wick_session_free(s);
  s = copies_session(k, 1);
  copies_ok(wick_session_shape(s, 1, &(wick_shape){"x", 1, (const int64_t[]){8}}));
  copies_step(s, -1);
  wick_flow choice = copies_flow(k, "choice"), scan = copies_flow(k, "scan");
  assert_true(choice.kind == WICK_FLOW_IF && scan.kind == WICK_FLOW_LOOP);
  assert_int_equal(choice.ntaken[1], 10);
  assert_int_equal(choice.ntaken[0], 2 * (2 + 4) + 1);
  assert_true(scan.nloop == 6 && scan.nstep == 2 * (4 + 6) + 3);
  assert_true(scan.least == 0 && scan.most == 6);
  wick_session_free(s);
  wick_compiled_free(k);
  wick_context_free(c);
}

static void copies_empty(const char *folder)
{
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* ---- contents ---- */

/* What is done follows from a number: above 2 it is a softmax. */
#define MODES(N, n)                                                                                \
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
static const char copies_modes[] = MODES("N[1..64]", "N"), copies_modes_of_6[] = MODES("6", "6");

static wick_compiled *copies_held(wick_context *c, const char *model, const char *cache,
                                  uint32_t copies, bool pin, uint32_t nheld,
                                  const wick_content *held)
{
  wick_model *m;
  wick_compiled *k;
  wick_compile_options o = {.size = sizeof o,
                            .cache = cache,
                            .vary = true,
                            .nprocess = 1,
                            .copies = copies,
                            .copy_after = 3,
                            .npin = pin,
                            .pins = &(wick_size){"N", 6},
                            .nheld = nheld,
                            .held = held};
  copies_ok(wick_load_bytes(c, "model", model, strlen(model), &m));
  copies_ok(wick_compile(m, &o, &k));
  wick_model_free(m);
  return k;
}

static void copies_mode(wick_session *s, int64_t mode, float *y)
{
  float x[COPIES_ROWS * COPIES_IN], w[COPIES_IN * COPIES_OUT];
  for (int i = 0; i < COPIES_ROWS * COPIES_IN; i++) x[i] = (float)((i * 37) % 101) * 0.013f - 0.6f;
  for (int i = 0; i < COPIES_IN * COPIES_OUT; i++) w[i] = (float)((i * 53) % 97) * 0.011f - 0.5f;
  copies_ok(wick_run(s, (const void *[]){&mode, x, w}, (void *[]){y}));
}

/* So many runs of that mode; each gives the bits of `plain`, and none takes memory. */
static void copies_modes_run(wick_session *s, wick_session *plain, int64_t mode, int times)
{
  for (int i = 0; i < times; i++) {
    copies_mode(plain, mode, copies_want);
    memset(copies_got, 0, sizeof copies_got);
    unsigned long before = copies_own; /* others make copies meanwhile */
    copies_mode(s, mode, copies_got);
    assert_int_equal(copies_own, before);
    copies_same(copies_want, copies_got, 6);
  }
}

/* The entry of a mode that a copy holds; of -1: that of all modes. */
static wick_met_size copies_met_mode(const wick_compiled *k, int64_t mode)
{
  wick_met_size m;
  wick_met_content x;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++) {
    assert_true(wick_compiled_met_content(k, i, 0, &x));
    assert_string_equal(x.input, "mode");
    if (mode < 0 ? !x.held : x.held && *(const int64_t *)x.data == mode) return m;
  }
  fail_msg("there is no copy for mode %lld", (long long)mode);
  return m;
}

static const int64_t copies_one = 1, copies_five = 5;
static const wick_content copies_both[] = {{"mode", &copies_one, 8}, {"mode", &copies_five, 8}};

/* With sizes that vary, or that do not. */
static void copies_held_ahead(bool vary)
{
  char path[] = "/tmp/wick-copies-XXXXXX";
  const char *model = vary ? copies_modes : copies_modes_of_6;
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = copies_context();
  wick_compiled *made = copies_held(c, model, "", 0, vary, 2, copies_both), *k;
  wick_compiled *plain = copies_held(c, model, "", 0, false, 0, NULL);
  copies_ok(wick_save(made, path));
  copies_ok(wick_open(c, path, &k));
  wick_session *s = copies_session(k, 2), *p = copies_session(plain, 1);
  assert_int_equal(wick_compiled_nwatch(k), 1);
  assert_string_equal(wick_compiled_watch(k, 0), "mode");
  for (int64_t mode = 0; mode < 8; mode++) {
    if (vary && mode % 4 == 0) {
      const int64_t dim[2] = {6, COPIES_IN};
      copies_ok(wick_session_shape(s, 1, &(wick_shape){"x", 2, dim}));
      copies_ok(wick_session_shape(p, 1, &(wick_shape){"x", 2, dim}));
    }
    copies_modes_run(s, p, mode, 2);
  }
  assert_int_equal(copies_met_mode(k, 1).nrun, 2);
  assert_int_equal(copies_met_mode(k, 5).nrun, 2);
  assert_int_equal(copies_met_mode(k, -1).nrun, 12);
  assert_true(copies_met_mode(k, 5).copy_nanoseconds && !copies_met_mode(k, 5).generic_nanoseconds);
  assert_true(copies_met_mode(k, 5).ahead && !copies_met_mode(k, -1).ahead);
  wick_flow f = wick_compiled_flow(k, 0); /* as if nobody had decided before */
  assert_true(wick_compiled_nflow(k) == 1 && f.ntaken[1] == 2 * 5 && f.ntaken[0] == 2 * 3);
  wick_session_free(s);
  wick_session_free(p);
  wick_compiled_free(plain);
  wick_compiled_free(k);
  wick_compiled_free(made);
  wick_context_free(c);
  unlink(path);
}

static void test_held_ahead(void **state)
{
  (void)state;
  copies_held_ahead(true);
  copies_held_ahead(false);
}

/* What has always been the same is held; where it then is not, there is a copy for all. */
static void test_held_later(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-copies-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_context *c = copies_context();
  wick_compiled *plain = copies_held(c, copies_modes_of_6, "", 0, false, 0, NULL);
  wick_session *p = copies_session(plain, 1);
  for (int round = 0; round < 2; round++) {
    wick_compiled *k = copies_held(c, copies_modes_of_6, folder, 4, false, 0, NULL);
    wick_session *s = copies_session(k, 1);
    wick_met_content seen;
    assert_true(wick_compiled_met_content(k, 0, 0, &seen) && !seen.data);
    copies_modes_run(s, p, 5, 2);
    assert_true(wick_compiled_met_content(k, 0, 0, &seen) && !seen.held);
    assert_int_equal(*(const int64_t *)seen.data, 5);
    copies_modes_run(s, p, 5, 1);
    wick_compiled_settle(k);
    assert_int_equal(copies_met_mode(k, 5).copy, WICK_COPY_READY);
    assert_int_equal(copies_met_mode(k, 5).cached, round == 1);
    assert_int_equal(copies_met_mode(k, -1).copy, WICK_COPY_NONE);
    copies_modes_run(s, p, 5, 2);
    assert_true(copies_met_mode(k, 5).nrun == 2 && copies_met_mode(k, 5).copy_nanoseconds);
    copies_modes_run(s, p, 1, 2);
    assert_int_equal(copies_met_mode(k, -1).nrun, 5);
    assert_true(wick_compiled_met_content(k, 0, 0, &seen) && !seen.data);
    copies_modes_run(s, p, 0, 1);
    wick_compiled_settle(k);
    assert_int_equal(copies_met_mode(k, -1).copy, WICK_COPY_READY);
    copies_modes_run(s, p, 1, 1), copies_modes_run(s, p, 5, 1), copies_modes_run(s, p, 9, 1);
    assert_true(copies_met_mode(k, -1).copy_nanoseconds);
    wick_session_free(s);
    wick_compiled_free(k);
  }
  wick_session_free(p);
  wick_compiled_free(plain);
  wick_context_free(c);
  copies_empty(folder);
}

/* What cannot be held. */
static void test_held_refused(void **state)
{
  (void)state;
  static const char model[] =
      "graph @main(%c: bool[], %n: i32[N[1..9]], %u: u8[3], %x: f32[4]) -> (f32[4], u8[3], i32[N]) "
      "{\n  %0 = if %c () { %1 = neg %x; yield %1 } () { yield %x } : f32[4]\n"
      "  %2 = add %u, %u\n  %3 = add %n, %n\n  return %0, %2, %3\n}\n";
  static const char bytes[16] = {1}, two[1] = {2};
  static const struct {
    wick_content held[2];
    const char *want;
  } row[] = {
      {{{"y", bytes, 4}}, "model: there is no input \"y\""},
      {{{"x", bytes, 16}},
       "model: input \"x\": copies hold whole numbers and bools, it is of others"},
      {{{"u", bytes, 3}},
       "model: input \"u\": no branch follows from what it holds, copies gain nothing from it"},
      {{{"n", bytes, 4}},
       "model: input \"n\": no branch follows from what it holds, copies gain nothing from it"},
      {{{"c", bytes, 2}}, "model: input \"c\": it has 1 bytes, 2 are given"},
      {{{"c", two, 1}}, "model: input \"c\": a bool is 0 or 1"},
      {{{"c", bytes, 1}, {"c", bytes, 1}}, "model: input \"c\": the same contents are given twice"},
      {{{"c", bytes, 1}}, "model: the size N varies, too: copies want a value for it"},
  };
  wick_context *c = copies_context();
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    wick_model *m;
    wick_compiled *k;
    bool pin = i + 1 < WICK_COUNT(row);
    wick_compile_options o = {.size = sizeof o,
                              .cache = "",
                              .vary = true,
                              .nprocess = 1,
                              .npin = pin,
                              .pins = &(wick_size){"N", 6},
                              .nheld = row[i].held[1].input ? 2 : 1,
                              .held = row[i].held};
    copies_ok(wick_load_bytes(c, "model", model, strlen(model), &m));
    wick_error *e = wick_compile(m, &o, &k);
    assert_string_equal(wick_error_message(e), row[i].want);
    wick_error_free(e);
    wick_model_free(m);
  }
  wick_context_free(c);
}

static const char *copies_refused(wick_context *c, const wick_size *pin, wick_arena *mem)
{
  wick_model *m;
  wick_compiled *k;
  wick_compile_options o = {
      .size = sizeof o, .cache = "", .vary = true, .nprocess = 1, .npin = 1, .pins = pin};
  copies_ok(wick_load_bytes(c, "model", copies_model, strlen(copies_model), &m));
  wick_error *e = wick_compile(m, &o, &k);
  assert_non_null(e);
  const char *text = wick_str_dup(mem, wick_error_message(e));
  wick_error_free(e);
  wick_model_free(m);
  return text;
}

static void test_pins(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  assert_string_equal(copies_refused(c, &(wick_size){"M", 3}, &mem),
                      "model: there is no size M that varies");
  assert_string_equal(copies_refused(c, &(wick_size){"N", 65}, &mem),
                      "model: the size N is not 65 for any N in 1..64");
  wick_arena_free(&mem);
  wick_context_free(c);
}

static void test_cache(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-copies-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_context *c = copies_context();
  for (int i = 0; i < 3; i++) {
    wick_compiled *k = copies_compiled(c, folder, 1, 0, NULL);
    assert_int_equal(wick_compiled_cached(k), i > 0);
    copies_runs(k, 11, 3, i ? copies_got : copies_want);
    wick_compiled_settle(k);
    copies_runs(k, 11, 1, copies_got);
    wick_met_size m = copies_met(k, 11);
    assert_true(m.copy == WICK_COPY_READY && m.copy_nanoseconds && m.cached == (i > 0));
    copies_same(copies_want, copies_got, 11);
    wick_compiled_free(k);
  }
  wick_context_free(c);
  copies_empty(folder);
}

/* What goes wrong is kept, and harms nobody. */
static void test_failure(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_compiled(c, "", 1, 0, NULL);
  const char *old = getenv("WICK_CODEGEN");
  char *kept = old ? strdup(old) : NULL;
  setenv("WICK_CODEGEN", "/nowhere/wick-codegen", 1);
  copies_runs(k, 3, 4, copies_want);
  wick_compiled_settle(k);
  copies_runs(k, 3, 1, copies_got);
  if (kept)
    setenv("WICK_CODEGEN", kept, 1);
  else
    unsetenv("WICK_CODEGEN");
  free(kept);
  wick_met_size m = copies_met(k, 3);
  assert_int_equal(m.copy, WICK_COPY_FAILED);
  assert_non_null(strstr(m.why, "wick-codegen"));
  copies_same(copies_want, copies_got, 3);
  wick_compiled_free(k);
  wick_context_free(c);
}

/* Freed while a copy is made; and in a process that has forked. */
static void test_end(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_compiled(c, "", 4, 0, NULL);
  copies_runs(k, 2, 3, copies_want);
  pid_t child = fork();
  if (!child) {
    copies_runs(k, 2, 5, copies_got);
    copies_runs(k, 40, 5, copies_got);
    wick_compiled_settle(k);
    wick_compiled_free(k);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  copies_runs(k, 4, 3, copies_want);
  wick_compiled_free(k);
  wick_context_free(c);
}

/* ---- hostile bytes ---- */

static wick_code copies_read(const wick_compiled *k, wick_span bytes, const wick_program *generic)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_special x = {0};
  (void)k;
  wick_status bad = wick_special_read(bytes, "copy", generic, &mem, &x);
  wick_code code = bad ? bad->code : WICK_OK;
  wick_image_unmap(&x.image);
  wick_arena_free(&mem);
  return code;
}

static void test_hostile(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_compiled(c, "", 0, 1, &(wick_size){"N", 6});
  wick_span copy = wick_artifact_section(&k->artifact, "copy.0");
  assert_non_null(copy.at);
  assert_int_equal(copies_read(k, copy, &k->program), WICK_OK);
  for (size_t n = 0; n < copy.nbytes; n += 1 + copy.nbytes / 97)
    assert_int_equal(copies_read(k, (wick_span){copy.at, n}, &k->program), WICK_EPARSE);
  wick_program other = k->program;
  wick_program_symbol symbol = k->program.sizes.symbol[0];
  other.sizes.symbol = &symbol;
  symbol.lo = 7;
  assert_int_equal(copies_read(k, copy, &other), WICK_EPARSE);
  other = k->program, other.packed_bytes += 64;
  assert_int_equal(copies_read(k, copy, &other), WICK_EPARSE);
  other = k->program, other.ninput = 1, other.noutput = 2;
  assert_int_equal(copies_read(k, copy, &other), WICK_EPARSE);
  other = k->program, other.sizes.nsymbol = 2;
  assert_int_equal(copies_read(k, copy, &other), WICK_EPARSE);
  wick_compiled_free(k);
  wick_context_free(c);
}

/* ---- threads ---- */

static const wick_compiled *copies_shared;
static float copies_all[8][COPIES_ROWS * COPIES_OUT];

static void *copies_thread(void *arg)
{
  uintptr_t seed = (uintptr_t)arg;
  wick_session *s = copies_session(copies_shared, 1);
  float y[COPIES_ROWS * COPIES_OUT];
  for (int i = 0; i < COPIES_RUNS; i++) {
    seed = seed * 1103515245u + 12345;
    int64_t n = 1 + (int64_t)(seed / 65536 % 8);
    copies_shape(s, n);
    copies_run(s, y);
    if (memcmp(y, copies_all[n - 1], (size_t)n * COPIES_OUT * sizeof *y)) return arg;
  }
  wick_session_free(s);
  return NULL;
}

static void test_threads(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *plain = copies_compiled(c, "", 0, 0, NULL),
                *k = copies_compiled(c, "", 4, 0, NULL);
  for (int64_t n = 1; n <= 8; n++) copies_runs(plain, n, 1, copies_all[n - 1]);
  copies_shared = k;
  pthread_t thread[COPIES_THREADS];
  for (uintptr_t i = 0; i < COPIES_THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, copies_thread, (void *)(i + 1)), 0);
  for (int i = 0; i < COPIES_THREADS; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  wick_compiled_settle(k);
  uint64_t all = 0, ready = 0;
  wick_met_size m;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++)
    all += m.nrun, ready += m.copy == WICK_COPY_READY;
  assert_int_equal(all, COPIES_THREADS * COPIES_RUNS);
  assert_int_equal(ready, 4);
  wick_compiled_free(k);
  wick_compiled_free(plain);
  wick_context_free(c);
}

static float copies_by_mode[2][8][COPIES_ROWS * COPIES_OUT];

static void *copies_mode_thread(void *arg)
{
  uintptr_t seed = (uintptr_t)arg;
  wick_session *s = copies_session(copies_shared, 1);
  float y[COPIES_ROWS * COPIES_OUT];
  for (int i = 0; i < COPIES_RUNS; i++) {
    seed = seed * 1103515245u + 12345;
    int64_t n = 1 + (int64_t)(seed / 65536 % 4),
            mode = i < COPIES_RUNS / 2 ? 5 : (int64_t)(seed >> 24 & 7);
    const int64_t dim[2] = {n, COPIES_IN};
    copies_ok(wick_session_shape(s, 1, &(wick_shape){"x", 2, dim}));
    for (int k = 0; k < 3; k++, mode = (mode + 3) % 8) {
      copies_mode(s, mode, y);
      if (memcmp(y, copies_by_mode[mode > 2][n - 1], (size_t)n * COPIES_OUT * sizeof *y))
        return arg;
    }
  }
  wick_session_free(s);
  return NULL;
}

/* Copies for sizes, and for contents, appear while eight threads go from one to the other. */
static void test_held_threads(void **state)
{
  (void)state;
  enum { THREADS = 8 };
  wick_context *c = copies_context();
  wick_compiled *plain = copies_held(c, copies_modes, "", 0, false, 0, NULL),
                *k = copies_held(c, copies_modes, "", 6, false, 0, NULL);
  wick_session *p = copies_session(plain, 1);
  for (int64_t n = 1; n <= 4; n++) {
    const int64_t dim[2] = {n, COPIES_IN};
    copies_ok(wick_session_shape(p, 1, &(wick_shape){"x", 2, dim}));
    for (int mode = 0; mode < 2; mode++) copies_mode(p, 3 * mode, copies_by_mode[mode][n - 1]);
  }
  copies_shared = k;
  pthread_t thread[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, copies_mode_thread, (void *)(i + 1)), 0);
  for (int i = 0; i < THREADS; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  wick_compiled_settle(k);
  uint64_t all = 0, ready = 0;
  wick_met_size m;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++)
    all += m.nrun, ready += m.copy == WICK_COPY_READY;
  assert_int_equal(all, THREADS * COPIES_RUNS * 3);
  assert_true(ready >= 4 && ready <= 6);
  wick_flow f = wick_compiled_flow(k, 0);
  assert_int_equal(f.ntaken[0] + f.ntaken[1], all);
  wick_session_free(p);
  wick_compiled_free(k);
  wick_compiled_free(plain);
  wick_context_free(c);
}

/* An artifact whose copies are damaged, is cut off, or has others' copies: an error, and no more.
 */
static void test_damaged(void **state)
{
  (void)state;
  char path[] = "/tmp/wick-copies-XXXXXX";
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = copies_context();
  wick_compiled *k = copies_held(c, copies_modes, "", 0, true, 2, copies_both), *again;
  size_t n = k->bytes.nbytes;
  unsigned char *bytes = malloc(n);
  memcpy(bytes, k->bytes.at, n);
  wick_span copy = wick_artifact_section(&k->artifact, "copy.1");
  size_t at = (size_t)(copy.at - k->bytes.at);
  for (size_t i = 0; i < 40; i++) {
    size_t where = at + copy.nbytes * i / 40, whole = i % 4 == 3 ? where : n;
    unsigned char old = bytes[where];
    bytes[where] = (unsigned char)(old ^ 1u << i % 8);
    const wick_bytes part = {bytes, whole};
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard);
    assert_null(wick_file_write(&mem, path, &part, 1));
    wick_error *e = wick_open(c, path, &again);
    assert_int_equal(wick_error_code(e), WICK_EPARSE);
    assert_non_null(strstr(wick_error_message(e), "wick-copies-"));
    wick_error_free(e);
    wick_arena_free(&mem);
    bytes[where] = old;
  }
  free(bytes);
  wick_compiled_free(k);
  wick_context_free(c);
  unlink(path);
}

/* The words of what a copy holds, and whether it is read with these. */
static wick_code copies_read_held(const wick_compiled *k, const int64_t *words, uint32_t nword)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_artifact a;
  wick_artifact_parts parts;
  wick_section section[16];
  assert_null(wick_artifact_read(wick_artifact_section(&k->artifact, "copy.0"), "copy", &mem, &a));
  assert_true(a.nsection < WICK_COUNT(section));
  for (uint32_t i = 0; i < a.nsection; i++) {
    section[i] = a.section[i];
    if (strcmp(section[i].name, "held") == 0)
      section[i] = wick_special_words("held", nword, words, &mem);
  }
  assert_null(wick_artifact_make(a.machine, a.features, a.nsection, section, &mem, &parts));
  wick_code code = copies_read(k, wick_artifact_join(&parts, &mem), &k->program);
  wick_arena_free(&mem);
  return code;
}

static void test_hostile_held(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_held(c, copies_modes, "", 0, true, 1, copies_both);
  assert_int_equal(copies_read_held(k, (const int64_t[]){1, 1}, 2), WICK_OK);
  assert_int_equal(copies_read_held(k, (const int64_t[]){0, 0}, 2), WICK_OK);
  assert_int_equal(copies_read_held(k, (const int64_t[]){0, 1}, 2), WICK_EPARSE);
  assert_int_equal(copies_read_held(k, (const int64_t[]){2, 1}, 2), WICK_EPARSE);
  assert_int_equal(copies_read_held(k, (const int64_t[]){1}, 1), WICK_EPARSE);
  assert_int_equal(copies_read_held(k, (const int64_t[]){1, 1, 0}, 3), WICK_EPARSE);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_background),   cmocka_unit_test(test_ahead),
      cmocka_unit_test(test_branches),     cmocka_unit_test(test_counts),
      cmocka_unit_test(test_held_ahead),   cmocka_unit_test(test_held_later),
      cmocka_unit_test(test_held_refused), cmocka_unit_test(test_pins),
      cmocka_unit_test(test_cache),        cmocka_unit_test(test_failure),
      cmocka_unit_test(test_end),          cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_threads),      cmocka_unit_test(test_held_threads),
      cmocka_unit_test(test_damaged),      cmocka_unit_test(test_hostile_held)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
