/* Programs of the system as children: their output, failures and limits. */
#include "base/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "base/torture.h"

#define SHELL(script)                                                                              \
  (wick_process)                                                                                   \
  {                                                                                                \
    .program = "/bin/sh", .argv = (const char *const[]) { "sh", "-c", script, NULL }               \
  }

static void output_input_and_exit_code(void **state)
{
  (void)state;
  static char big[3 << 20];
  memset(big, 'x', sizeof big);
  wick_bytes in[2] = {{"abc\n", 4}, {big, sizeof big}};
  wick_process p = SHELL("cat; echo oops >&2; exit 3");
  p.ninput = 2, p.input = in;
  assert_null(wick_process_run(1, &p, &(wick_process_control){0}, &mem));
  assert_int_equal(p.exit_code, 3);
  assert_int_equal(p.ended_by, 0);
  assert_int_equal(p.output.nbytes, 4 + sizeof big);
  assert_memory_equal(p.output.at, "abc\nxxx", 7);
  assert_string_equal(p.errors, "oops\n");
}

static void input_that_nobody_reads_is_no_signal(void **state)
{
  (void)state;
  static char big[3 << 20];
  wick_bytes in = {big, sizeof big};
  wick_process p = SHELL("exit 0");
  p.ninput = 1, p.input = &in;
  assert_null(wick_process_run(1, &p, &(wick_process_control){0}, &mem));
  assert_int_equal(p.exit_code, 0);
}

static void signals_and_time_limits_are_told(void **state)
{
  (void)state;
  wick_process p[3] = {SHELL("kill -SEGV $$"), SHELL("sleep 100"), SHELL("echo fine")};
  p[1].seconds = 0.2;
  assert_null(wick_process_run(3, p, &(wick_process_control){.parallel = 3}, &mem));
  assert_int_equal(p[0].ended_by, SIGSEGV);
  assert_int_equal(p[0].exit_code, -1);
  assert_true(p[1].timed_out);
  assert_int_equal(p[1].ended_by, SIGKILL);
  assert_true(p[1].took < 50);
  assert_false(p[2].timed_out);
  assert_memory_equal(p[2].output.at, "fine\n", 5);
}

static void more_than_run_at_once(void **state)
{
  (void)state;
  enum { MANY = 12 };
  wick_process p[MANY];
  wick_process one = SHELL("printf ok");
  for (int i = 0; i < MANY; i++) p[i] = one;
  assert_null(wick_process_run(MANY, p, &(wick_process_control){.parallel = 2}, &mem));
  for (int i = 0; i < MANY; i++) assert_memory_equal(p[i].output.at, "ok", 2);
}

static void a_program_that_is_not_there(void **state)
{
  (void)state;
  wick_process p = SHELL("");
  p.program = "/nowhere/to/be/found";
  wick_status s = wick_process_run(1, &p, &(wick_process_control){0}, &mem);
  assert_non_null(s);
  assert_int_equal(s->code, WICK_EIO);
  assert_string_equal(s->message,
                      "/nowhere/to/be/found: cannot be started: No such file or directory");
}

static bool cancel_now(void *arg)
{
  ++*(int *)arg;
  return true;
}

static void canceling_ends_the_children(void **state)
{
  (void)state;
  int polled = 0;
  wick_process p = SHELL("sleep 100");
  wick_process_control c = {.cancel = cancel_now, .arg = &polled};
  wick_status s = wick_process_run(1, &p, &c, &mem);
  assert_non_null(s);
  assert_int_equal(s->code, WICK_ECANCELED);
  assert_int_equal(polled, 1);
  assert_true(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
}

static void a_parent_that_ignores_children(void **state)
{
  (void)state;
  signal(SIGCHLD, SIG_IGN);
  wick_process p = SHELL("printf ok");
  assert_null(wick_process_run(1, &p, &(wick_process_control){0}, &mem));
  signal(SIGCHLD, SIG_DFL);
  assert_memory_equal(p.output.at, "ok", 2);
  assert_int_equal(p.exit_code, -1);
}

/* Returns the number of requests; the n-th fails. */
static uint64_t run_with_failure(uint64_t n)
{
  static wick_torture t;
  static wick_guard g;
  static wick_arena a;
  t = (wick_torture){.fail_at = n};
  g = (wick_guard){.allocator = wick_torture_allocator(&t)};
  a = wick_arena_make(&g);
  if (!setjmp(g.where)) {
    static char big[1 << 17];
    wick_bytes in = {big, sizeof big};
    wick_process p = SHELL("cat");
    p.ninput = 1, p.input = &in;
    assert_null(wick_process_run(1, &p, &(wick_process_control){0}, &a));
  }
  wick_arena_free(&a);
  assert_int_equal(t.live, 0);
  return t.calls;
}

static void out_of_memory_leaves_no_child(void **state)
{
  (void)state;
  for (uint64_t n = 1; run_with_failure(n) >= n; n++) assert_true(waitpid(-1, NULL, WNOHANG) < 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_input_and_exit_code),
      cmocka_unit_test(input_that_nobody_reads_is_no_signal),
      cmocka_unit_test(signals_and_time_limits_are_told),
      cmocka_unit_test(more_than_run_at_once),
      cmocka_unit_test(a_program_that_is_not_there),
      cmocka_unit_test(canceling_ends_the_children),
      cmocka_unit_test(a_parent_that_ignores_children),
      cmocka_unit_test(out_of_memory_leaves_no_child),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
