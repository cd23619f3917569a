/* How generated code is called: the types that all back ends and the runtime share. What is in
 * the slots is the matter of codegen/abi.h. */
#ifndef WICK_RUNTIME_KERNEL_H
#define WICK_RUNTIME_KERNEL_H

#include "base/base.h"

/* Runs the tasks begin .. end-1. args has a slot per parameter, then the hidden ones. */
typedef void (*wick_kernel)(void **args, int64_t begin, int64_t end);

/* The way of an entry to its kernels. kernel_index: the position among the entry's kernels, in
 * order of their first launch. args: nargs declared slots of the kernel, valid during the call.
 * beside: 1 where it may run at the same time as the launches before it, back to the first with 0;
 * else 0. What was launched is done at the latest when the next launch with 0 begins, or after the
 * entry. kernel NULL: nothing is launched, and what was before is done when the call returns. Not
 * 0: the entry returns at once with that number. */
typedef int32_t (*wick_launch)(void *context, wick_kernel kernel, int32_t kernel_index, void **args,
                               int64_t nargs, int64_t tasks, int32_t beside);

/* args[0] is a wick_launch, args[1] its context; then a slot per parameter. */
typedef int32_t (*wick_entry)(void **args);

/* What a failing kernel says: of the tasks that one worker runs, the lowest one's first failure.
 * `code` is 0 before. */
typedef struct wick_fault {
  int64_t code, task, detail;
} wick_fault;

#endif
