/* A bound on the stack of a bundle's function: frames as LLVM lays them out, summed over the
 * longest chain of calls. */
#ifndef WICK_CODEGEN_LLVM_STACK_H
#define WICK_CODEGEN_LLVM_STACK_H

#include "codegen/llvm/emit.h"

typedef struct stack_bound stack_bound;

/* Before code is generated: notes who calls whom, and asks LLVM for the frames. */
stack_bound *stack_begin(emit *e);

/* After that: bytes that a call of `name` takes at most, with WICK_STACK_OUTSIDE for functions from
 * outside; 0 where it is not known: registers of unknown length are spilled there, or calls go
 * round in a circle. */
uint64_t stack_end(const stack_bound *s, const char *name);

#endif
