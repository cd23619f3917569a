/* wick_nest builds the loop function of a group from its stages and its schedule, in one step.
 *
 * The function is a kernel: `loop @NAME(@out results..., @in parameters..., @in sizes..., @in
 * begin: i64, @in end: i64)`. It runs tasks begin .. end-1 of the flattened parallel loops of the
 * group's output. */
#ifndef WICK_LOOP_NEST_H
#define WICK_LOOP_NEST_H

#include "loop/schedule.h"

typedef struct wick_nest_options {
  const char *name;        /* of the loop function; NULL: the group's with ".loop" */
  const wick_type *buffer; /* types of the results, then of the parameters: buffers with strides;
                              NULL: dense buffers in io */
} wick_nest_options;

typedef struct wick_kernel_info {
  const wick_func *loop;
  wick_dim tasks;         /* iterations of the flattened parallel loops */
  wick_dim scratch_bytes; /* for each worker; an expression of the group's sizes */
} wick_kernel_info;

/* `group` is verified. The function lives in `mem`. Fails: WICK_EINVAL, with the reason, if the
 * schedule is illegal. */
WICK_CHECKED wick_status wick_nest(const wick_func *group, wick_schedule *s,
                                   const wick_nest_options *options, wick_arena *mem,
                                   wick_arena *tmp, wick_kernel_info *out);

/* Returns true if lanes that are `step` elements apart, which may be negative, are read as
 * contiguous vectors and shuffled, because this is cheaper than a load for each lane. */
bool wick_nest_is_strided(int64_t step, uint32_t lanes);

#endif
