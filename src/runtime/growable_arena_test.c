/* Growable arenas: they grow in place, provide pages early, return unused pages, and change nothing
 * if they fail. */
#include "runtime/growable_arena.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/torture.h"

enum { MIB = 1 << 20 };

static wick_growable_arena growable_arena_of_malloc(uint64_t most)
{
  return (wick_growable_arena){.allocator = wick_allocator_malloc(), .most = most};
}

static void use(const wick_growable_arena *r, int byte) { memset(r->at, byte, (size_t)r->used); }

static void grows(void **state)
{
  (void)state;
  wick_growable_arena r = growable_arena_of_malloc(0);
  assert_true(wick_growable_arena_fit(&r, 0));
  assert_non_null(r.at);
  const char *at = r.at;
  for (uint64_t n = 1; n <= 64 * (uint64_t)MIB; n *= 2) {
    assert_true(wick_growable_arena_fit(&r, n));
    assert_ptr_equal(r.at, at);
    assert_int_equal((uintptr_t)r.at % 64, 0);
    use(&r, 1);
  }
  assert_true(
      wick_growable_arena_fit(&r, 65 * (uint64_t)MIB)); /* a new block, eight times as large */
  use(&r, 2);
  assert_true(r.nbytes >= 8 * 65 * (uint64_t)MIB);
  assert_false(wick_growable_arena_fit(&r, UINT64_MAX));
  assert_false(wick_growable_arena_fit(&r, SIZE_MAX / 8));
  use(&r, 3);
  wick_growable_arena_free(&r);
  wick_growable_arena_free(&r);
}

static void no_more_than_all_sizes_want(void **state)
{
  (void)state;
  wick_growable_arena r = growable_arena_of_malloc(3 * MIB);
  assert_true(wick_growable_arena_fit(&r, 1000));
  assert_in_range(r.nbytes, 3 * MIB, 4 * MIB);
  const char *at = r.at;
  assert_true(wick_growable_arena_fit(&r, 3 * MIB));
  assert_ptr_equal(r.at, at);
  assert_true(wick_growable_arena_fit(&r, 5 * MIB)); /* `most` need not be reached */
  use(&r, 1);
  wick_growable_arena_free(&r);
}

#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
/* Returns the bytes of whole pages in [from, to) of the arena that are in memory. */
static size_t resident(const wick_growable_arena *r, uint64_t from, uint64_t to)
{
  static unsigned char in[(128 << 20) / 4096];
  size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)(to - from) / page, count = 0;
  assert_true(n <= sizeof in);
  assert_int_equal(mincore(r->at + from, n * page, in), 0);
  for (size_t i = 0; i < n; i++) count += in[i] & 1;
  return count * page;
}

static void pages_ahead(void **state)
{
  (void)state;
  wick_growable_arena r = growable_arena_of_malloc(0);
  assert_true(wick_growable_arena_fit(&r, MIB));
  use(&r, 1);
  wick_growable_arena_ran(&r);
  assert_int_equal(r.ready, 9 * MIB);
  const struct timespec little = {0, 1000000};
  for (int i = 0; i < 20000 && resident(&r, MIB, r.ready) < 8 * MIB; i++) nanosleep(&little, NULL);
  if (resident(&r, MIB, r.ready) == 0) {
    print_message("skipped: this system does not give pages ahead\n");
    wick_growable_arena_free(&r);
    skip();
  }
  assert_int_equal(resident(&r, MIB, r.ready), 8 * MIB);
  assert_true(wick_growable_arena_fit(&r, 3 * MIB / 2)); /* there are enough pages already */
  assert_int_equal(r.ready, 9 * MIB);
  use(&r, 1);
  assert_true(wick_growable_arena_fit(&r, MIB));
  for (int i = 1; i < WICK_GROWABLE_ARENA_PERIOD; i++) wick_growable_arena_ran(&r);
  assert_int_equal(r.ready, 3 * MIB / 2); /* as much as one of these runs used */
  assert_int_equal(resident(&r, 0, 2 * MIB), 2 * MIB);
  assert_int_equal(resident(&r, 2 * MIB, 8 * MIB), 0); /* only whole large pages */
  for (int i = 0; i < WICK_GROWABLE_ARENA_PERIOD; i++) wick_growable_arena_ran(&r);
  assert_int_equal(r.ready, MIB);
  wick_growable_arena_free(&r);
}
#endif

static void failures(void **state)
{
  (void)state;
  wick_torture torture = {0};
  wick_growable_arena r = {.allocator = wick_torture_allocator(&torture)};
  assert_true(wick_growable_arena_fit(&r, 1000));
  assert_int_equal(r.nbytes, 1024); /* without malloc nothing is reserved */
  torture.fail_at = 2;
  /* one and a half times as much cannot be allocated */
  assert_true(wick_growable_arena_fit(&r, 1100));
  assert_int_equal(torture.calls, 3);
  assert_int_equal(r.nbytes, 1152);
  use(&r, 7);
  torture.fail_at = 4;
  assert_false(wick_growable_arena_fit(&r, 5000));
  assert_int_equal(r.nbytes, 1152);
  assert_int_equal(r.at[1099], 7);
  assert_true(wick_growable_arena_fit(&r, 1153));
  assert_int_equal(r.nbytes, 1728);
  for (int i = 0; i < 2 * WICK_GROWABLE_ARENA_PERIOD; i++) wick_growable_arena_ran(&r);
  use(&r, 8);
  wick_growable_arena_free(&r);
  assert_int_equal(torture.live, 0);
}

/* After a fork the child has no such thread, and does not wait for it. */
static void forked(void **state)
{
  (void)state;
  wick_growable_arena r = growable_arena_of_malloc(0);
  assert_true(wick_growable_arena_fit(&r, 20 * MIB));
  wick_growable_arena_ran(&r);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    wick_growable_arena_free(&r);
    /* A sanitizer would report the parent's thread, which the child cannot join, as a leak. */
    kill(getpid(), SIGKILL);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  wick_growable_arena_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(grows),
    cmocka_unit_test(no_more_than_all_sizes_want),
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    cmocka_unit_test(pages_ahead),
#endif
    cmocka_unit_test(failures),
    cmocka_unit_test(forked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
