/* For tests: two arenas, `mem` and `tmp`, which are empty when a test begins. */
#ifndef WICK_BASE_ARENA_TESTING_H
#define WICK_BASE_ARENA_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static wick_guard guard;
static wick_arena mem, tmp;

static int setup(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  tmp = wick_arena_make(&guard);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return 0;
}

#endif
