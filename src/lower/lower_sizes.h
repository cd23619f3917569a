/* Dynamic sizes, which are known when a session gets shapes: a table of numbers, and the compiled
 * function that fills it.
 *
 * The table begins with the values of the program's symbols; after them are the sizes that follow
 * from these, one for each expression that the entry or the session needs. */
#ifndef WICK_LOWER_LOWER_SIZES_H
#define WICK_LOWER_LOWER_SIZES_H

#include "ir/build.h"

typedef struct wick_sizes {
  wick_module *module;
  wick_arena *mem;
  uint32_t nsymbol;
  wick_dim_list slot; /* the expression of each number in the table; the symbols first */
} wick_sizes;

/* Begins a table for the sizes of `f`'s parameters and results. */
wick_sizes wick_sizes_begin(const wick_func *f, wick_arena *mem);

/* Returns the slot of d, which is added if it is new. */
uint32_t wick_sizes_slot(wick_sizes *s, wick_dim d);

/* The loop function `@NAME(@inout table: buffer<i64[n],io>)`, which reads the symbols and writes
 * the other slots and one more after them, which is not 0 if a size exceeds 2^62. With `checked` it
 * fails with WICK_ERANGE if a symbol is outside of its range (detail: its number), and with
 * WICK_EINVAL if a shape constraint of that function is violated (detail: its index). With NULL it
 * never fails. */
WICK_CHECKED wick_status wick_sizes_function(const wick_sizes *s, const char *name,
                                             const wick_func *checked, wick_arena *mem,
                                             wick_arena *tmp, const wick_func **out);

#endif
