/* States of sessions: what a run reads and leaves, after a reset and a failure, from an artifact, on
 * several threads, and beside derivatives. */
#include "driver/states.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/compile_testing.h"

/* The states are before an input and an output, so that they have to be moved. */
static const char last[] =
    "constant @start : f32[2] = [1, 2]\n"
    "graph @main(@state(1, @start) %last: f32[2], %x: f32[2], @state(0) %count: i64[]) -> "
    "(i64[], f32[2], f32[2]) {\n"
    "  %0 = add %x, %last; %1 = const 1 : i64[]; %2 = add %count, %1\n"
    "  return %2, %x, %0\n}\n";
/* The two states are exchanged; one of them is read with an index that may be wrong. */
static const char swap[] =
    "graph @main(%i: i64[1], @state(1) %a: f32[4], @state(2) %b: f32[4]) -> "
    "(f32[1], f32[4], f32[4]) {\n"
    "  %y = gather %b, %i {axis=0}; %one = const 1 : f32[4]; %a2 = add %a, %one\n"
    "  return %y, %b, %a2\n}\n";
/* A matrix is multiplied by itself and by the input, on several threads. */
static const char product[] =
    "constant @eye : f32[2,2] = [1, 0.5, 0.25, 1]\n"
    "graph @main(%x: f32[2,2], @state(1, @eye) %w: f32[2,2]) -> (f32[2,2], f32[2,2]) {\n"
    "  %y = matmul %x, %w; %w2 = tanh %y\n  return %y, %w2\n}\n";

static void load(fixture *t, const char *text)
{
  *t = (fixture){0};
  ok(wick_context_create(NULL, &t->context));
  ok(wick_load_bytes(t->context, "state.txt", text, strlen(text), &t->model));
}

static void compile(fixture *t)
{
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  ok(wick_compile(t->model, &o, &t->compiled));
  ok(wick_session_create(t->compiled, NULL, &t->session));
}

static void begin(fixture *t, const char *text)
{
  load(t, text);
  compile(t);
}

/* Runs `last` on {x, 10 * x}. */
static void run(wick_session *s, float x, float y0, float y1)
{
  float in[2] = {x, 10 * x}, out[2];
  ok(wick_run(s, (const void *[]){in}, (void *[]){out}));
  assert_true(out[0] == y0 && out[1] == y1);
}

static int64_t count(const wick_session *s)
{
  int64_t n = -1;
  ok(wick_session_state_get(s, "count", &n, sizeof n));
  return n;
}

static void test_runs(void **state)
{
  (void)state;
  fixture t;
  begin(&t, last);
  assert_int_equal(wick_model_ninput(t.model), 1);
  assert_int_equal(wick_model_noutput(t.model), 1);
  assert_int_equal(wick_model_nstate(t.model), 2);
  assert_string_equal(wick_model_state(t.model, 0)->name, "last");
  assert_string_equal(wick_compiled_state(t.compiled, 1)->name, "count");
  assert_null(wick_compiled_state(t.compiled, 2));
  assert_null(wick_compiled_input(t.compiled, 1));
  assert_null(wick_session_output(t.session, 1));
  assert_int_equal(wick_compiled_memory(t.compiled).states, 16);
  wick_session *other;
  ok(wick_session_create(t.compiled, NULL, &other));
  run(t.session, 5, 6, 52);
  run(t.session, 1, 6, 60);
  run(other, 3, 4, 32); /* states are not shared */
  run(t.session, 0, 1, 10);
  assert_int_equal(count(t.session), 3);
  assert_int_equal(count(other), 1);
  wick_session_reset(t.session);
  assert_int_equal(count(t.session), 0);
  run(t.session, 5, 6, 52);
  wick_session_free(other);
  end(&t);
}

static void test_by_name(void **state)
{
  (void)state;
  fixture t;
  float v[2] = {7, 8};
  begin(&t, last);
  ok(wick_session_state_set(t.session, "last", v, sizeof v));
  run(t.session, 1, 8, 18);
  fails(wick_session_state_get(t.session, "lost", v, sizeof v), WICK_EINVAL,
        "wick_session_state_get: there is no state \"lost\"");
  fails(wick_session_state_set(t.session, "last", v, 4), WICK_EINVAL,
        "wick_session_state_set: the state \"last\" has 8 bytes, but 4 are given");
  fails(wick_session_state_set(t.session, "last", NULL, 8), WICK_EINVAL,
        "wick_session_state_set: data is NULL");
  fails(wick_session_state_get(NULL, "last", v, 8), WICK_EINVAL,
        "wick_session_state_get: session is NULL");
  wick_session_reset(NULL);
  end(&t);
}

/* A failed run leaves the states as they were. */
static void test_failure(void **state)
{
  (void)state;
  fixture t;
  begin(&t, swap);
  static const float want[] = {0, 1, 1, 2, 2};
  for (int r = 0; r < 5; r++) {
    int64_t good = 3, bad = 9;
    float y;
    wick_error *e = wick_run(t.session, (const void *[]){&bad}, (void *[]){&y});
    assert_int_equal(wick_error_code(e), WICK_ERANGE);
    wick_error_free(e);
    ok(wick_run(t.session, (const void *[]){&good}, (void *[]){&y}));
    assert_true(y == want[r]);
  }
  end(&t);
}

static void test_artifact(void **state)
{
  (void)state;
  fixture t;
  char path[] = "/tmp/wick_states_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  begin(&t, last);
  ok(wick_save(t.compiled, path));
  wick_session_free(t.session);
  wick_compiled_free(t.compiled);
  ok(wick_compiled_load(t.context, path, &t.compiled));
  ok(wick_session_create(t.compiled, NULL, &t.session));
  run(t.session, 5, 6, 52);
  run(t.session, 1, 6, 60);
  unlink(path);
  end(&t);
}

static void test_threads(void **state)
{
  (void)state;
  fixture t;
  begin(&t, product);
  float x[4] = {0.5f, -1, 2, 0.25f}, y[2][4];
  for (uint32_t threads = 1; threads <= 2; threads++) {
    wick_session *s;
    wick_session_options o = {.size = sizeof o, .threads = threads};
    ok(wick_session_create(t.compiled, &o, &s));
    for (int r = 0; r < 6; r++) ok(wick_run(s, (const void *[]){x}, (void *[]){y[threads - 1]}));
    wick_session_free(s);
  }
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  end(&t);
}

/* The derivative's output is before the states' results. */
static void test_derivative(void **state)
{
  (void)state;
  fixture t;
  load(&t, product);
  ok(wick_grad(t.model, NULL));
  assert_int_equal(wick_model_noutput(t.model), 2);
  assert_string_equal(wick_model_output(t.model, 1)->name, "x.grad");
  compile(&t);
  float x[4] = {1, 2, 3, 4}, y[4], dx[4];
  ok(wick_run(t.session, (const void *[]){x}, (void *[]){y, dx}));
  assert_true(dx[0] == 1.5f && dx[1] == 1.25f && dx[2] == 1.5f && dx[3] == 1.25f);
  end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs),    cmocka_unit_test(test_by_name),
      cmocka_unit_test(test_failure), cmocka_unit_test(test_artifact),
      cmocka_unit_test(test_threads), cmocka_unit_test(test_derivative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
