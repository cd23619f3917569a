/* Sizes that are known when a session is given shapes: a table of numbers, and the function of the
 * compiled code that fills it.
 *
 * The table begins with the values of the program's symbols; after them stand the sizes that
 * follow from these, one for each expression that the entry or the session asks for. */
#ifndef WICK_LOWER_LOWER_SIZES_H
#define WICK_LOWER_LOWER_SIZES_H

#include "ir/build.h"

typedef struct wick_sizes {
  wick_module *module;
  wick_arena *mem;
  uint32_t nsymbol;
  wick_dim_list slot; /* what each number of the table is; the symbols first */
} wick_sizes;

/* For the sizes of `f`'s parameters and results. */
wick_sizes wick_sizes_begin(const wick_func *f, wick_arena *mem);

/* The number of d's slot. */
uint32_t wick_sizes_slot(wick_sizes *s, wick_dim d);

/* The loop function `@NAME(@inout table: buffer<i64[n],io>)`, which reads the symbols and writes
 * the other slots, and one more after them: not 0 where a size passes 2^62. `checked`: it fails
 * with WICK_ERANGE where a symbol is outside of its range (detail: its number), and with
 * WICK_EINVAL where a check of that function does not hold (detail: which); NULL: it never fails.
 */
WICK_CHECKED wick_status wick_sizes_function(const wick_sizes *s, const char *name,
                                             const wick_func *checked, wick_arena *mem,
                                             wick_arena *tmp, const wick_func **out);

#endif
