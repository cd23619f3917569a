/* Writes the constants of a program to their offsets: copies them, or computes deferred ones
 * (ir/ir.h). Threads do the work in the background. */
#ifndef WICK_DRIVER_WEIGHTS_H
#define WICK_DRIVER_WEIGHTS_H

#include "lower/lower.h"

typedef struct wick_weights wick_weights;

/* Starts the threads. `to` is l->constant_bytes bytes of zeros. Until wick_weights_end, the caller
 * must not touch `to` or change the bytes of the module's constants. Everything is allocated in
 * `mem`. If the system refuses threads, wick_weights_end does the work. */
wick_weights *wick_weights_begin(const wick_module *m, const wick_lowered *l, void *to,
                                 wick_arena *mem);

/* Helps with the remaining work and waits for the threads. Leaves work undone if the guard of `mem`
 * asks to stop (wick_guard_ask). NULL and repeated calls are legal. */
void wick_weights_end(wick_weights *w);
/* Stops the threads, even if work remains. NULL is legal, and so is a call after
 * wick_weights_end. */
void wick_weights_drop(wick_weights *w);

#endif
