/* For tests of dimension expressions: a table in an arena, and short names. */
#ifndef WICK_IR_DIM_TESTING_H
#define WICK_IR_DIM_TESTING_H

#include "ir/dim.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static wick_guard guard;
static wick_arena mem;
static wick_dims *table;

static inline int dim_setup(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) return -1;
  table = wick_dims_create(&mem);
  return 0;
}

static inline int dim_teardown(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  return 0;
}

static inline const char *dim_text(const wick_dims *t, wick_dim d)
{
  wick_text text = wick_text_begin(&mem);
  wick_dim_print(t, d, &text);
  return text.at;
}

static inline wick_dim num(int64_t v) { return wick_dim_const(v); }
static inline wick_dim sym(const char *name, int64_t lo, int64_t hi)
{
  return wick_dim_symbol(table, name, lo, hi);
}
static inline wick_dim add(wick_dim a, wick_dim b) { return wick_dim_add(table, a, b); }
static inline wick_dim sub(wick_dim a, wick_dim b) { return wick_dim_sub(table, a, b); }
static inline wick_dim mul(wick_dim a, wick_dim b) { return wick_dim_mul(table, a, b); }
static inline wick_dim quo(wick_dim a, wick_dim b) { return wick_dim_floordiv(table, a, b); }
static inline wick_dim rem_(wick_dim a, wick_dim b) { return wick_dim_mod(table, a, b); }
static inline wick_dim least(wick_dim a, wick_dim b) { return wick_dim_min(table, a, b); }
static inline wick_dim most(wick_dim a, wick_dim b) { return wick_dim_max(table, a, b); }

#endif
