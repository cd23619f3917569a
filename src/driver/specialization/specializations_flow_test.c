/* Branches and loops in specializations for sizes: branches that always fail with these sizes, and
 * counts. */
#include "base/base.h"
#include "driver/specialization/specializations_testing.h"

/* Its branches require different sizes. */
static const char specializations_branches[] =
    "graph @main(%c: bool[], %x: f32[N[1..64],6], %y: f32[M[1..64],6]) -> f32[N,6] {\n"
    "  constraint M = 2*N in branches loc(\"one\")\n"
    "  constraint M = 3*N + 1 in branches loc(\"two\")\n"
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

static specializations_result specializations_want, specializations_got;

/* Runs the model with branches once. The message is written to `text`. */
static void specializations_branch(const wick_compiled *k, bool c, int64_t n, int64_t m, float *z,
                                   char *text, size_t ntext)
{
  static float x[COPIES_ROWS * 6], y[COPIES_ROWS * 6];
  for (int i = 0; i < COPIES_ROWS * 6; i++) x[i] = 0.01f * (float)i, y[i] = 1.7f - x[i];
  wick_session *s = specializations_session(k, 1);
  specializations_ok(wick_session_shape(
      s, 2, (wick_shape[]){{"x", 2, (const int64_t[]){n, 6}}, {"y", 2, (const int64_t[]){m, 6}}}));
  memset(z, 0, COPIES_ROWS * 6 * sizeof *z);
  wick_error *e = wick_run(s, (const void *[]){&c, x, y}, (void *[]){z});
  snprintf(text, ntext, "%d %s", (int)wick_error_code(e), wick_error_message(e));
  wick_error_free(e);
  wick_session_free(s);
}

/* A branch that fails for the sizes of a specialization fails as in the base program, and the other
 * one runs. Also if both fail, and if neither does. */
static void test_branches(void **state)
{
  (void)state;
  static const int64_t size[][2] = {{3, 6}, {3, 10}, {3, 7}, {1, 2}};
  wick_context *c = specializations_context();
  wick_compiled *plain = specializations_of(c, specializations_branches, (wick_compile_options){0});
  for (size_t i = 0; i < WICK_COUNT(size); i++) {
    const wick_size pins[] = {{"N", size[i][0]}, {"M", size[i][1]}};
    wick_compiled *k =
        specializations_of(c, specializations_branches,
                           (wick_compile_options){.nspecialize_dim = 2, .specialize_dims = pins});
    for (int taken = 0; taken < 2; taken++) {
      char want[256], got[256];
      specializations_branch(plain, taken, size[i][0], size[i][1], specializations_want, want,
                             sizeof want);
      specializations_branch(k, taken, size[i][0], size[i][1], specializations_got, got,
                             sizeof got);
      assert_string_equal(got, want);
      bool good = size[i][1] == (taken ? 2 * size[i][0] : 3 * size[i][0] + 1);
      assert_int_equal(want[0] == '0', good);
      if (!good) assert_non_null(strstr(want, "the branches: the branch that is taken is not for"));
      assert_memory_equal(specializations_want, specializations_got,
                          COPIES_ROWS * 6 * sizeof(float));
    }
    wick_profile_entry entry;
    assert_true(wick_compiled_profile(k, 0, &entry) && entry.ahead && entry.nrun == 2);
    wick_compiled_free(k);
  }
  wick_compiled_free(plain);
  wick_context_free(c);
}

static const char specializations_steps[] =
    "graph @main(%n: i64[], %x: f32[N[1..64]]) -> f32[N] {\n"
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

static void specializations_step(wick_session *s, int64_t n)
{
  float x[8] = {1}, y[8];
  specializations_ok(wick_run(s, (const void *[]){&n, x}, (void *[]){y}));
}

static wick_flow specializations_flow(const wick_compiled *k, const char *location)
{
  for (uint32_t i = 0; i < wick_compiled_nflow(k); i++)
    if (strcmp(wick_compiled_flow(k, i).location, location) == 0) return wick_compiled_flow(k, i);
  fail_msg("%s is not counted", location);
  return (wick_flow){0};
}

/* The base program and specializations count branches and steps in all sessions, also in those that
 * have ended. */
static void test_counts(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *k = specializations_of(
      c, specializations_steps,
      (wick_compile_options){.nspecialize_dim = 1, .specialize_dims = &(wick_size){"N", 8}});
  assert_int_equal(wick_compiled_nflow(k), 2);
  assert_string_equal(wick_compiled_flow(k, 2).location, "");
  assert_true(specializations_flow(k, "scan").nloop == 0 &&
              specializations_flow(k, "scan").least == 0);
  wick_session *s = specializations_session(k, 1);
  for (int64_t rows = 7; rows <= 8; rows++) {
    specializations_ok(wick_session_shape(s, 1, &(wick_shape){"x", 1, &rows}));
    specializations_step(s, 4);
    specializations_step(s, 9); /* it ends by itself after 6 steps */
  }
  unsigned long before = atomic_load(&specializations_count);
  specializations_step(s, 3);
  assert_int_equal(atomic_load(&specializations_count), before);
  wick_session_free(s);
  s = specializations_session(k, 1);
  specializations_ok(wick_session_shape(s, 1, &(wick_shape){"x", 1, (const int64_t[]){8}}));
  specializations_step(s, -1);
  wick_flow choice = specializations_flow(k, "choice"), scan = specializations_flow(k, "scan");
  assert_true(choice.kind == WICK_FLOW_IF && scan.kind == WICK_FLOW_LOOP);
  assert_int_equal(choice.ntaken[1], 10);
  assert_int_equal(choice.ntaken[0], 2 * (2 + 4) + 1);
  assert_true(scan.nloop == 6 && scan.nstep == 2 * (4 + 6) + 3);
  assert_true(scan.least == 0 && scan.most == 6);
  wick_session_free(s);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_branches),
                                     cmocka_unit_test(test_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
