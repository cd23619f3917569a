/* How generated code is called: the types that all back ends and the runtime share. codegen/abi.h
 * defines the contents of the slots. */
#ifndef WICK_RUNTIME_KERNEL_H
#define WICK_RUNTIME_KERNEL_H

#include "base/base.h"

enum {
  WICK_KERNEL_SLOTS = 1024,     /* the most declared slots of a kernel that is launched */
  WICK_KERNEL_SLOTS_BESIDE = 64 /* the most of one that runs at the same time as others */
};

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

/* A place in the user's program as generated code stores it: the text of the place, then those of
 * the calls from which it was inlined, the innermost first. Each ends with a 0, and an empty one
 * ends the list. Equal places of one object have the same address. */
typedef const char *wick_place;

/* A call that a failure has left, as many times in succession as `count` says. */
typedef struct wick_fault_call {
  wick_place place;
  int64_t count;
} wick_fault_call;

/* A number or a dense tensor that a program prints. */
typedef struct wick_said {
  const void *data;
  const int32_t *dim;
  int32_t elem,
      rank; /* elem: wick_elem; the elements of a WICK_STRING are i64, numbers of strings */
} wick_said;

enum { WICK_SAID_MOST = 1 << 16 }; /* values of a text */

/* Runs kernel `kernel` of the program, an operator of the runtime (runtime/host.h), on the addresses
 * of its results and operands. Returns a wick_code. */
typedef int32_t (*wick_host)(void *context, int32_t kernel, void **args);

/* What becomes of a text: a line, the first part of one that goes on, or a part of the message with
 * which the run fails. */
enum { WICK_SAY_LINE, WICK_SAY_PART, WICK_SAY_MESSAGE };
#define WICK_SAY_WORDS "line part message"

/* Says the text, in which each {} stands for one of the values; they come after it if it has
 * none. */
typedef void (*wick_say)(void *context, int32_t to, const char *text, int32_t n,
                         const wick_said *value);

/* The first WICK_FAULT_FIRST calls are kept, and the last WICK_FAULT_LAST, a ring. */
enum { WICK_FAULT_FIRST = 8, WICK_FAULT_LAST = 8 };

/* The failure of a kernel: the first failure of the lowest task that one worker runs. `code` is 0
 * if none failed. Before a run `code` and `task` are cleared. */
typedef struct wick_fault {
  int64_t code, task;
  int64_t detail;   /* an index, or the position of an element */
  int64_t of;       /* the number of things among which `detail` is one; 0: it is not known */
  int64_t ncall;    /* how many entries of `call` were written, the innermost call first */
  wick_place place; /* NULL: it is not known */
  const char *text; /* of an assertion that does not hold; else NULL */
  wick_say say;     /* set by the runtime, with its first argument; NULL: nothing is printed */
  void *context;
  wick_host host; /* set by the runtime, with its first argument */
  void *host_context;
  wick_fault_call call[WICK_FAULT_FIRST + WICK_FAULT_LAST];
} wick_fault;

/* Returns the entry of call i of a fault that has ncall. */
static inline int64_t wick_fault_entry(int64_t i)
{
  return i < WICK_FAULT_FIRST ? i : WICK_FAULT_FIRST + i % WICK_FAULT_LAST;
}

/* What procedures share: the stack on which recursive ones run, and where failures are written.
 * Generated code has the offsets of 64-bit machines. */
typedef struct wick_stack {
  const void *limit; /* the least address at which a frame may begin */
  wick_fault *fault;
} wick_stack;

enum {
  WICK_STACK_RESERVE = 1 << 16
}; /* bytes below the limit: for the frame that passes it, and
                                          for functions that are not recursive */

#endif
