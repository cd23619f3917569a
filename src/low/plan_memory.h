/* The memory plan of a low function: an offset in the arena for each of its buffers, from their
 * lives in the order that the function has (low/liveness.h) and the planner proper (base/plan.h).
 */
#ifndef WICK_LOW_PLAN_MEMORY_H
#define WICK_LOW_PLAN_MEMORY_H

#include "ir/pass.h"

enum { WICK_ARENA_ALIGN = 64 };

typedef struct wick_low_plan {
  uint64_t arena_nbytes;   /* a multiple of WICK_ARENA_ALIGN */
  uint64_t bound_nbytes;   /* no plan of this order is smaller, were there no alignment */
  uint64_t padding_nbytes; /* what alignment adds to the bound */
  uint32_t nbuffer;
  bool open; /* sizes are not constant: nothing has a place before they are known */
} wick_low_plan;

/* `f` verified; offsets are set in *out, a copy of it in mem.
 *   nstep   the budget of the search (base/plan.h); 0: first fit by size alone
 *   limit   of the arena, in bytes; 0: none
 *   most    sizes that vary count as the most that they can be
 * Without `most`, where the size of a buffer is not constant, f itself comes back, for a session to
 * plan when it knows its sizes. Fails: WICK_ERANGE beyond the limit, or where a size has no most.
 */
WICK_CHECKED wick_status wick_low_plan_make(const wick_func *f, uint64_t nstep, uint64_t limit,
                                            bool most, wick_arena *mem, wick_arena *tmp,
                                            wick_func **out, wick_low_plan *out_plan);

/* The pass: with the whole budget and without a limit. plan_memory_most is the same with `most`. */
WICK_CHECKED wick_status wick_pass_plan_memory(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);
WICK_CHECKED wick_status wick_pass_plan_memory_most(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

/* The most bytes in use at one instruction of f, sizes rounded up to `align`, a power of two. With
 * 1, of a function as group formation gives it: the bound for the importer's order. */
uint64_t wick_low_peak(const wick_func *f, uint64_t align, wick_arena *tmp);

/* The invariant, walked instruction by instruction: what an instruction needs has an offset, is
 * aligned, within the arena, and shares no byte with anything else that is still needed. Fails with
 * WICK_EINTERNAL, naming the node. O(nodes * buffers in use at once). */
WICK_CHECKED wick_status wick_low_plan_check(const wick_func *f, const wick_low_plan *plan,
                                             wick_arena *tmp);

#endif
