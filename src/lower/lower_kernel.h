/* One kernel: a group nested for the buffers of one use. */
#ifndef WICK_LOWER_LOWER_KERNEL_H
#define WICK_LOWER_LOWER_KERNEL_H

#include "lower/lower.h"

/* A use of a group. */
typedef struct wick_kernel_use {
  const wick_func *group;
  uint32_t noperand;     /* results, then parameters */
  const wick_type *type; /* of the operands: buffers */
  const uint32_t *same;  /* per operand: the earlier one that lies in the same place, or itself */
} wick_kernel_use;

/* What makes two uses one kernel, as a text: the group without its name, schedule, operands. */
const char *wick_kernel_key(const wick_kernel_use *use, wick_arena *tmp);

/* The loop function, added to the module; the loop passes have yet to run on it. It lives in `mem`,
 * what *out points to in `keep`. */
WICK_CHECKED wick_status wick_kernel_build(const wick_kernel_use *use, const wick_target *t,
                                           wick_arena *mem, wick_arena *keep, wick_arena *tmp,
                                           wick_lowered_kernel *out);

/* Kernels of one task that compare numbers, their parameters; added to the module. One fails with
 * WICK_ETYPE where those of a pair differ, the other with WICK_ERANGE where the first is more than
 * the second. */
WICK_CHECKED wick_status wick_kernel_equal(wick_module *m, uint32_t npair, wick_arena *mem,
                                           wick_lowered_kernel *out);
WICK_CHECKED wick_status wick_kernel_within(wick_module *m, wick_arena *mem,
                                            wick_lowered_kernel *out);

/* A group that copies a tensor of these dims. */
WICK_CHECKED wick_status wick_kernel_copy_group(wick_module *m, const wick_target *t, wick_elem e,
                                                uint32_t rank, const wick_dim *dim, wick_arena *mem,
                                                wick_arena *tmp, const wick_func **out);

#endif
