/* Places: which bytes of its root a buffer covers. A buffer that is not a root is seen through
 * views; what counts is the offset from the root's beginning, and dims and strides.
 *
 * All questions are answered on the safe side: `unknown` (a size that is not constant, elements
 * smaller than a byte, an offset that was lost in control flow) overlaps everything of its root. */
#ifndef WICK_LOW_MEMREF_H
#define WICK_LOW_MEMREF_H

#include "ir/build.h"

typedef struct wick_memref {
  wick_value root; /* an alloc, a parameter or a constant; 0: not a buffer */
  bool known;      /* what follows is true */
  bool open;       /* not all sizes are constant: a dense array of `size`, `numel` elements, which
                      begins at `offset`, or a part of a chosen row of which that is so; of what
                      follows, `dim` and `stride` are not set, and a choice is one of rows that lie
                      one after another */
  wick_dim numel;
  wick_dim row;         /* elements of such a row */
  const wick_dim *size; /* rank of them */
  uint32_t rank;
  int64_t elem_bytes;
  int64_t offset;              /* bytes; of the first of several places */
  wick_picked choice;          /* which of them it is; index 0: there is one */
  const int64_t *dim, *stride; /* strides in elements, also where the type is dense; at least 0 */
} wick_memref;

/* Where a buffer of type `t` lies that begins `offset` bytes after the root's beginning. */
wick_memref wick_memref_make(const wick_module *m, wick_type t, wick_value root, int64_t offset,
                             wick_arena *mem);

/* Where the bytes of p are all those of `whole`, dense and from its beginning. */
bool wick_memref_covers(const wick_memref *p, const wick_memref *whole);
bool wick_memref_resolved(const wick_memref *p); /* known or open */

int64_t wick_memref_numel(const wick_memref *p);
/* bytes: after the last element, from the root; of several places, after the last one */
int64_t wick_memref_end(const wick_memref *p);
bool wick_memref_contiguous(const wick_memref *p); /* dense but for its offset */
bool wick_memref_injective(
    const wick_memref *p); /* seen to have each element at bytes of its own */
/* Element k at the same bytes; of several places at one time: for operands of one instruction. */
bool wick_memref_same(const wick_memref *a, const wick_memref *b);

/* No byte is shared, whichever of several places it is. Two places of one root; exact for boxes of
 * one array. */
bool wick_memref_disjoint(const wick_memref *a, const wick_memref *b);

/* Moves p along with the array that it is a view of: the elements of `from`, a contiguous place of
 * the same root, come to lie at `to`, which has the dims of `from`. False where p's elements have
 * no constant strides there. */
bool wick_memref_move(const wick_memref *p, const wick_memref *from, const wick_memref *to,
                      wick_arena *mem, wick_memref *out);

/* Where all of `whole` (contiguous) comes to lie when its part `p` comes to lie at `to`. A guess
 * where p leaves it open: the caller moves p by the result and compares. */
bool wick_memref_extend(const wick_memref *p, const wick_memref *whole, const wick_memref *to,
                        wick_arena *mem, wick_memref *out);

#endif
