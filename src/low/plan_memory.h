/* The memory plan of a low function: an offset in the arena for each of its buffers, from their
 * lives in the order that the function has (low/liveness.h) and the planner proper (base/plan.h).
 */
#ifndef WICK_LOW_PLAN_MEMORY_H
#define WICK_LOW_PLAN_MEMORY_H

#include "ir/pass.h"

enum { WICK_ARENA_ALIGN = 64 };

typedef struct wick_low_plan {
  uint64_t arena_nbytes;   /* a multiple of WICK_ARENA_ALIGN */
  uint64_t bound_nbytes;   /* no plan of this order is smaller, without alignment */
  uint64_t padding_nbytes; /* the bytes that alignment adds to the bound */
  uint32_t nbuffer;
  bool dynamic; /* sizes are dynamic: offsets are computed when they are known */
} wick_low_plan;

/* `f` must be verified; *out is a copy of it in mem with offsets.
 *   nstep   the number of steps that the search for a better plan may take (base/plan.h); 0: first
 *           fit by size only
 *   limit   the most bytes that the arena may have; 0: no limit
 *   most    plan for the largest value of each dynamic size
 * Without `most`, if the size of a buffer is not constant, *out is f: a session plans when it knows
 * the sizes. Fails: WICK_ERANGE if the plan exceeds the limit, or if a size has no largest
 * value. */
WICK_CHECKED wick_status wick_low_plan_make(const wick_func *f, uint64_t nstep, uint64_t limit,
                                            bool most, wick_arena *mem, wick_arena *tmp,
                                            wick_func **out, wick_low_plan *out_plan);

/* The passes, with the whole budget and without a limit; plan_memory_most sets `most`. */
WICK_CHECKED wick_status wick_pass_plan_memory(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);
WICK_CHECKED wick_status wick_pass_plan_memory_most(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

/* Returns the peak of the bytes in use at one instruction of f, with sizes rounded up to `align`, a
 * power of two. With align 1, right after group formation, it is the bound for the importer's
 * order. */
uint64_t wick_low_peak(const wick_func *f, uint64_t align, wick_arena *tmp);

/* Checks the invariant instruction by instruction: each buffer that an instruction needs has an
 * offset, is aligned, is within the arena, and shares no byte with another buffer that is still
 * needed. Fails with WICK_EINTERNAL, naming the node. O(nodes * buffers in use at once). */
WICK_CHECKED wick_status wick_low_plan_check(const wick_func *f, const wick_low_plan *plan,
                                             wick_arena *tmp);

#endif
