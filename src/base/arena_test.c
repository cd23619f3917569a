/* Arenas: alignment, zeroed memory, rewinding, limits, and each allocation failing in turn. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/torture.h"

static bool is_zero(const char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (p[i]) return false;
  return true;
}

static void test_aligned_and_zeroed(void **state)
{
  (void)state;
  wick_torture t = {0};
  wick_guard g = {.allocator = wick_torture_allocator(&t)};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  static const size_t sizes[] = {0, 1, 3, 8, 63, 64, 4000, 5000, 100000, 3 << 20};
  for (int round = 0; round < 2; round++) { /* the second round reuses memory that is not zero */
    wick_mark m = wick_arena_mark(&mem);
    for (size_t align = 1; align <= 64; align *= 2)
      for (size_t i = 0; i < WICK_COUNT(sizes); i++) {
        char *p = wick_arena_alloc(&mem, sizes[i], align);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % align, 0);
        assert_true(is_zero(p, sizes[i]));
        memset(p, 0xff, sizes[i]);
      }
    wick_arena_rewind(&mem, m);
  }
  wick_arena_free(&mem);
  assert_int_equal(t.live, 0);
  assert_int_equal(t.live_bytes, 0);
  assert_int_equal(g.used_bytes, 0);
}

static void test_distinct(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  char *a = wick_arena_alloc(&mem, 0, 1), *b = wick_arena_alloc(&mem, 0, 1);
  assert_ptr_not_equal(a, b);
  int *x = wick_new(&mem, int, 3), *y = wick_dup(&mem, int, ((int[]){1, 2, 3}), 3);
  x[2] = 9;
  assert_int_equal(y[0] + y[1] + y[2], 6);
  wick_arena_free(&mem);
  wick_arena_free(&mem);                   /* calling it twice is legal */
  assert_non_null(wick_new(&mem, int, 1)); /* and it may be used again */
  wick_arena_free(&mem);
}

static void test_rewind(void **state)
{
  (void)state;
  wick_torture t = {0};
  wick_guard g = {.allocator = wick_torture_allocator(&t)};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  wick_mark empty = wick_arena_mark(&mem);
  char *kept = wick_arena_alloc(&mem, 100, 16);
  memset(kept, 'k', 100);
  uint64_t used = g.used_bytes;
  wick_mark m = wick_arena_mark(&mem);
  char *first = wick_arena_alloc(&mem, 10, 16);
  wick_arena_alloc(&mem, 1 << 22, 16);
  assert_true(g.used_bytes > 1 << 22);
  wick_arena_rewind(&mem, m);
  assert_int_equal(g.used_bytes, used);
  assert_true(g.peak_bytes > 1 << 22);
  assert_ptr_equal(wick_arena_alloc(&mem, 10, 16), first); /* the memory is reused */
  for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 'k');
  wick_arena_rewind(&mem, empty);
  assert_int_equal(t.live, 0);
  assert_int_equal(wick_new(&mem, char, 1)[0], 0);
  wick_arena_free(&mem);
}

typedef struct pair {
  int a, b;
} pair;

static void test_push(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  wick_list(pair) list = {0};
  wick_list(int) ints = {0};
  for (int i = 0; i < 10000; i++) {
    wick_push(&mem, &ints, i * 3);
    wick_push(&mem, &list, (pair){i, -i});
  }
  assert_int_equal(ints.n, 10000);
  for (int i = 0; i < 10000; i++) {
    assert_int_equal(ints.at[i], i * 3);
    assert_int_equal(list.at[i].b, -i);
  }
  wick_arena_free(&mem);
}

/* Allocates in two arenas, in chunks of many sizes. Returns whether it completed. */
static bool work(wick_guard *g)
{
  wick_arena mem = wick_arena_make(g), tmp = wick_arena_make(g);
  volatile bool done = false;
  if (setjmp(g->where) == 0) {
    for (size_t n = 1; n < 1 << 16; n *= 3) {
      memset(wick_arena_alloc(&mem, n, 8), 1, n);
      wick_mark m = wick_arena_mark(&tmp);
      memset(wick_arena_alloc(&tmp, n * 5, 64), 1, n * 5);
      if (n % 2) wick_arena_rewind(&tmp, m);
    }
    done = true;
  }
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return done;
}

static void test_each_allocation_fails(void **state)
{
  (void)state;
  uint64_t n = 1;
  for (;; n++) {
    wick_torture t = {.fail_at = n};
    wick_guard g = {.allocator = wick_torture_allocator(&t)};
    bool done = work(&g);
    assert_int_equal(t.live, 0);
    assert_int_equal(t.live_bytes, 0);
    assert_int_equal(g.used_bytes, 0);
    assert_int_equal(done, t.calls < n);
    if (done) break;
  }
  assert_true(n > 5);
}

static void test_limit(void **state)
{
  (void)state;
  wick_torture all = {0};
  wick_guard free_of_limits = {.allocator = wick_torture_allocator(&all)};
  assert_true(work(&free_of_limits));
  uint64_t peak = free_of_limits.peak_bytes;
  for (uint64_t limit = 1; limit < peak + 4096; limit += 4096) {
    wick_torture t = {0};
    wick_guard g = {.allocator = wick_torture_allocator(&t), .limit_bytes = limit};
    assert_int_equal(work(&g), limit >= peak);
    assert_true(g.peak_bytes <= limit);
    assert_int_equal(t.live, 0);
  }
}

static void test_sizes_that_overflow(void **state)
{
  (void)state;
  static const struct {
    size_t nelem, size;
  } rows[] = {{SIZE_MAX, 1},
              {SIZE_MAX, 8},
              {SIZE_MAX / 2, 2},
              {SIZE_MAX / 4 + 1, 1},
              {SIZE_MAX / 8 + 1, 8}};
  for (volatile size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_torture t = {0};
    wick_guard g = {.allocator = wick_torture_allocator(&t)};
    wick_arena mem = wick_arena_make(&g);
    volatile bool unwound = true;
    if (setjmp(g.where) == 0) {
      wick_arena_array(&mem, rows[i].nelem, rows[i].size, 8);
      unwound = false;
    }
    assert_true(unwound);
    assert_int_equal(t.calls, 0);
  }
}

static wick_code stop_at_third(void *arg) { return ++*(int *)arg == 3 ? WICK_ECANCELED : WICK_OK; }

/* A task that keeps allocating is stopped. The reason stays available. */
static void test_stop(void **state)
{
  (void)state;
  wick_torture t = {0};
  int asked = 0;
  wick_guard g = {
      .allocator = wick_torture_allocator(&t), .stop = stop_at_third, .stop_arg = &asked};
  wick_arena mem = wick_arena_make(&g);
  if (setjmp(g.where) == 0)
    for (;;) { /* within one chunk */
      wick_mark m = wick_arena_mark(&mem);
      wick_new(&mem, char, 16);
      wick_arena_rewind(&mem, m);
    }
  assert_int_equal(g.stopped, WICK_ECANCELED);
  assert_true(wick_guard_stopped(&g));
  assert_int_equal(asked, 3);
  wick_arena_free(&mem);
  assert_int_equal(t.live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_aligned_and_zeroed),
      cmocka_unit_test(test_distinct),
      cmocka_unit_test(test_rewind),
      cmocka_unit_test(test_push),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_sizes_that_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
