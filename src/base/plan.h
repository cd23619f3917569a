/* The memory planner: assigns buffers with lifetimes to offsets in one arena. Begin with
 * wick_plan_make.
 *
 * Two buffers collide if both are live at one instruction, or if they share an `apart` number;
 * buffers that collide get disjoint bytes. The compiler uses it ahead of time (search until the
 * bound or the budget is reached), a session at run time (first fit by size only). */
#ifndef WICK_BASE_PLAN_H
#define WICK_BASE_PLAN_H

#include "base/base.h"
#include "base/status.h"

typedef struct wick_plan_buffer {
  const char *name;     /* for messages; NULL: messages show its index */
  uint64_t nbytes;      /* 0 is legal: it collides with nothing and has offset 0 unless pinned */
  uint32_t first, last; /* the instructions at which it is live, both ends included */
  uint32_t apart;       /* 0, or the number of a set whose members never share a byte */
  bool pinned;          /* its offset is offset_bytes; the others avoid it */
  uint64_t offset_bytes;
} wick_plan_buffer;

typedef struct wick_plan_options {
  uint64_t align_bytes; /* a power of two that divides every offset; 0 means 1 */
  uint64_t limit_bytes; /* of the arena; 0: no limit */
  uint64_t nstep;       /* the search's budget; 0: first fit by size only */
} wick_plan_options;

/* A budget for planning ahead of time: networks need a thousandth of it; if the bound cannot be
 * reached, it lasts for about 0.3 s. */
#define WICK_PLAN_STEPS 200000000u

typedef struct wick_plan {
  uint64_t *offset_bytes; /* per buffer, in the order of the input */
  uint64_t nbytes;        /* of the arena, a multiple of the alignment */
  uint64_t bound_nbytes;  /* no plan of these lifetimes is smaller */
  /* the bound without alignment: the most bytes requested at one instruction */
  uint64_t live_nbytes;
  uint64_t nstep; /* steps that were used */
} wick_plan;

/* Gives every buffer an offset.
 *   buffer  nbuffer of them, in any order; read only during the call, but for names in messages
 *   mem     gets offset_bytes and the error; tmp, another arena, is rewound
 * Sizes are rounded up to the alignment. The bound is the largest of: the sum of sizes live at an
 * instruction, the sum of sizes of one `apart` number, the end of a pinned buffer. `out` depends
 * only on the arguments: steps are counted (a step is a look at one neighbour of a buffer), no
 * clock is read, random choices come from a generator of its own.
 * Fails: WICK_EINVAL if the alignment is no power of two, a lifetime ends before it begins, or a
 * pinned buffer is not aligned or overlaps another one with which it collides; WICK_ERANGE if the
 * sum of all sizes exceeds 2^63 - 1, or at the first buffer (by start, then by index) that does not
 * fit in the limit.
 * Cost: first fit is O(n log n + collisions), at worst O(n^2). The search adds nstep steps of 1 to
 * 2 ns (a little more: it looks at the budget between placements). Memory O(n + collisions), with
 * at most 4 million collisions kept, and O(n^2) in the search up to 2048 buffers. Source: greedy by
 * size, Pisarchyk and Lee 2020, arXiv:2001.03288; the search's are named in plan_search.c and
 * plan_exact.c. */
WICK_CHECKED wick_status wick_plan_make(const wick_plan_buffer *buffer, uint32_t nbuffer,
                                        const wick_plan_options *options, wick_arena *mem,
                                        wick_arena *tmp, wick_plan *out);

/* Checks the invariant by a slow and independent method: offsets are aligned, every end is within
 * plan->nbytes, pinned buffers keep their offsets, no byte is shared by two buffers that collide,
 * bounds are at most nbytes. Fails with WICK_EINTERNAL, naming one or two buffers. O(n^2). */
WICK_CHECKED wick_status wick_plan_check(const wick_plan_buffer *buffer, uint32_t nbuffer,
                                         const wick_plan_options *options, const wick_plan *plan,
                                         wick_arena *mem);

#endif
