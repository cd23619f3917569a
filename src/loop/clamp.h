/* Recognizes numbers that are equal in all lanes, and clamped integers, in loop functions. */
#ifndef WICK_LOOP_CLAMP_H
#define WICK_LOOP_CLAMP_H

#include "ir/op.h"

/* Returns whether v is a constant, and the number that all its elements equal. Looks through
 * broadcasts. `definer` is of f's values. */
bool wick_splat_number(const wick_func *f, const uint32_t *definer, wick_value v, wick_scalar *out);

typedef struct wick_clamp {
  wick_value x;
  int64_t lo, hi; /* lo <= hi */
} wick_clamp;

/* Returns true if v, an integer, is min(max(x, lo), hi) or max(min(x, hi), lo). */
bool wick_clamp_of(const wick_func *f, const uint32_t *definer, wick_value v, wick_clamp *out);

/* The same, where v is i32 and the limits are bytes: of i8 or u8, as `to` says. */
bool wick_clamp_of_bytes(const wick_func *f, const uint32_t *definer, wick_value v, wick_elem to,
                         wick_clamp *out);

#endif
