/* Builds one kernel: the loop nest of a group for the buffers of one use. */
#ifndef WICK_LOWER_LOWER_KERNEL_H
#define WICK_LOWER_LOWER_KERNEL_H

#include "lower/lower.h"

/* A use of a group. */
typedef struct wick_kernel_use {
  const wick_func *group;
  uint32_t noperand;     /* results, then parameters */
  const wick_type *type; /* of the operands: buffers */
  const uint32_t *same;  /* per operand: the earlier one in the same memory, or itself */
} wick_kernel_use;

/* Returns a text that is equal for uses that can share a kernel: the group without its name, the
 * schedule and the operands. */
const char *wick_kernel_key(const wick_kernel_use *use, wick_arena *tmp);

/* Builds the loop function and adds it to the module; the loop passes have not run on it. It lives
 * in `mem`; the data that *out points to lives in `keep`. */
WICK_CHECKED wick_status wick_kernel_build(const wick_kernel_use *use, const wick_target *t,
                                           wick_arena *mem, wick_arena *keep, wick_arena *tmp,
                                           wick_lowered_kernel *out);

/* Add kernels of one task to the module that compare their parameters, numbers. The first fails
 * with WICK_ETYPE if the numbers of a pair differ, the second with WICK_ERANGE if the first number
 * is greater than the second. */
WICK_CHECKED wick_status wick_kernel_equal(wick_module *m, uint32_t npair, wick_arena *mem,
                                           wick_lowered_kernel *out);
WICK_CHECKED wick_status wick_kernel_within(wick_module *m, wick_arena *mem,
                                            wick_lowered_kernel *out);

/* Builds a group that copies a tensor of these dimensions. Dimension k of its operand is number
 * order[k] of them. */
WICK_CHECKED wick_status wick_kernel_copy_group(wick_module *m, const wick_target *t, wick_elem e,
                                                uint32_t rank, const wick_dim *dim,
                                                const uint32_t *order, wick_arena *mem,
                                                wick_arena *tmp, const wick_func **out);

#endif
