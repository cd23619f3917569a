/* The constants of a program, made at their offsets: copied, or computed if deferred (ir/ir.h).
 * Threads share the work, while the caller does something else. */
#ifndef WICK_DRIVER_WEIGHTS_H
#define WICK_DRIVER_WEIGHTS_H

#include "lower/lower.h"

typedef struct wick_weights wick_weights;

/* `to`: l->constant_bytes, zeros, which are the threads' until wick_weights_end; so are the bytes
 * of the module's constants. All that is allocated lives in `mem`; where the system refuses
 * threads, wick_weights_end does the work. */
wick_weights *wick_weights_begin(const wick_module *m, const wick_lowered *l, void *to,
                                 wick_arena *mem);

/* Does what is left, and waits for the rest; less of it where the guard of `mem` says that the work
 * is to end (wick_guard_ask). NULL, and a second time, are legal. */
void wick_weights_end(wick_weights *w);
/* Ends the threads, with work that is left. NULL, and after wick_weights_end, are legal. */
void wick_weights_drop(wick_weights *w);

#endif
