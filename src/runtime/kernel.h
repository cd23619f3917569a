/* How generated code is called: the types that all back ends and the runtime share. codegen/abi.h
 * defines the contents of the slots. */
#ifndef WICK_RUNTIME_KERNEL_H
#define WICK_RUNTIME_KERNEL_H

#include "base/base.h"

enum { WICK_KERNEL_SLOTS = 64 }; /* the most declared slots of a kernel that is launched */

/* Runs the tasks begin .. end-1. args has a slot for each parameter, then the hidden slots. */
typedef void (*wick_kernel)(void **args, int64_t begin, int64_t end);

/* The callback by which an entry launches its kernels.
 *   kernel_index  the position among the entry's kernels, in the order of their first launch
 *   args          the kernel's nargs declared slots, valid during the call
 *   beside        1 if the kernel may run at the same time as the launches before it, back to the
 *                 last one with 0, which is included; else 0
 * A kernel is done at the latest when the next launch with 0 begins, or after the entry. If
 * `kernel` is NULL, nothing is launched, and all earlier kernels are done when the call returns. If
 * the result is not 0, the entry returns it at once. */
typedef int32_t (*wick_launch)(void *context, wick_kernel kernel, int32_t kernel_index, void **args,
                               int64_t nargs, int64_t tasks, int32_t beside);

/* args[0] is a wick_launch, args[1] its context; then a slot per parameter. */
typedef int32_t (*wick_entry)(void **args);

/* The failure of a kernel: the first failure of the lowest task that one worker runs. `code` is 0
 * if none failed. */
typedef struct wick_fault {
  int64_t code, task, detail;
} wick_fault;

/* The stack on which recursive procedures run. */
typedef struct wick_stack {
  const void *limit; /* the least address at which a frame may begin */
} wick_stack;

enum {
  WICK_STACK_RESERVE = 1 << 16
}; /* bytes below the limit: for the frame that passes it, and
                                          for functions that are not recursive */

#endif
