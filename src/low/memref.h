/* Memory references: the bytes of its root that a buffer covers. Views are resolved to an offset
 * from the root's beginning, dimensions and strides.
 *
 * All answers are conservative: `unknown` (a size that is not constant, elements smaller than a
 * byte, an offset that was lost in control flow) overlaps everything of its root. */
#ifndef WICK_LOW_MEMREF_H
#define WICK_LOW_MEMREF_H

#include "ir/build.h"

typedef struct wick_memref {
  wick_value root; /* an alloc, a parameter or a constant; 0: not a buffer */
  bool known;      /* the following fields are set */
  /* sizes are dynamic. The reference is a dense array of `size`, with `numel` elements, at
   * `offset`, or such a part of a chosen row. `dim` and `stride` are not set; a choice is among
   * consecutive rows */
  bool dynamic;
  wick_dim numel;
  wick_dim row;         /* elements of one of these rows */
  const wick_dim *size; /* rank of them */
  uint32_t rank;
  int64_t elem_bytes;
  int64_t offset;              /* bytes; for a choice, of the first position */
  wick_picked choice;          /* the choice among several positions; index 0: there is one */
  const int64_t *dim, *stride; /* strides in elements, also if the type is dense; at least 0 */
} wick_memref;

/* Makes the reference of a buffer of type `t` that begins `offset` bytes after the root's
 * beginning. */
wick_memref wick_memref_make(const wick_module *m, wick_type t, wick_value root, int64_t offset,
                             wick_arena *mem);

/* Returns whether the bytes of p are all those of `whole`, dense and from its beginning. */
bool wick_memref_covers(const wick_memref *p, const wick_memref *whole);
bool wick_memref_resolved(const wick_memref *p); /* known or dynamic */

int64_t wick_memref_numel(const wick_memref *p);
/* Returns the end of the last element in bytes from the root; for a choice, the end of the last
 * position. */
int64_t wick_memref_end(const wick_memref *p);
bool wick_memref_contiguous(const wick_memref *p); /* dense but for its offset */
bool wick_memref_injective(const wick_memref *p);  /* provably each element has its own bytes */
/* Returns whether each element k of both is at the same bytes. A choice counts at one moment, so
 * this is for operands of one instruction. */
bool wick_memref_same(const wick_memref *a, const wick_memref *b);

/* Returns whether two references to one root share no byte, for every choice. Exact for boxes of
 * one array. */
bool wick_memref_disjoint(const wick_memref *a, const wick_memref *b);

/* Moves p together with the array that it is a view of: the elements of `from`, a contiguous
 * reference to the same root, move to `to`, which has the dimensions of `from`. Returns false if
 * p's elements have no constant strides there. */
bool wick_memref_move(const wick_memref *p, const wick_memref *from, const wick_memref *to,
                      wick_arena *mem, wick_memref *out);

/* Finds the reference to which all of `whole` (contiguous) moves if its part `p` moves to `to`. If
 * p does not determine it, the result is a guess: the caller moves p by the result and compares. */
bool wick_memref_extend(const wick_memref *p, const wick_memref *whole, const wick_memref *to,
                        wick_arena *mem, wick_memref *out);

#endif
