/* The machine stack on which recursive procedures run: mapped by the session, with a guard page
 * below it, so that depth is bounded by memory and not by the caller's thread. Pages are touched as
 * the recursion needs them, and returned to the system after it. */
#ifndef WICK_RUNTIME_CALL_STACK_H
#define WICK_RUNTIME_CALL_STACK_H

#include "runtime/kernel.h"

typedef struct wick_call_stack {
  wick_stack stack; /* for generated code */
  void *map;        /* NULL: not mapped yet */
  size_t nmap;
} wick_call_stack;

/* Maps the stack if it is not mapped yet. Returns false if the system has no memory for it. */
bool wick_call_stack_map(wick_call_stack *s);
/* Runs the kernel on the stack, which is mapped. Returns false if the system refuses. */
bool wick_call_stack_run(wick_call_stack *s, wick_kernel kernel, void **args, int64_t begin,
                         int64_t end);
void wick_call_stack_free(wick_call_stack *s);

#endif
