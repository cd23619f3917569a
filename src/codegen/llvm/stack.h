/* A bound on the stack of a bundle's function: the sum of LLVM's frames over the longest chain of
 * calls. */
#ifndef WICK_CODEGEN_LLVM_STACK_H
#define WICK_CODEGEN_LLVM_STACK_H

#include "codegen/llvm/emit.h"

typedef struct stack_bound stack_bound;

/* Call it before code is generated: records the calls, and makes LLVM report the frames. */
stack_bound *stack_begin(emit *e);

/* Call it after code is generated: returns the most bytes that a call of `name` uses, with
 * WICK_STACK_OUTSIDE for external functions. Returns 0 if it is not known, because registers of
 * unknown length are spilled or calls are recursive. */
uint64_t stack_end(const stack_bound *s, const char *name);

#endif
