/* Replaces calls of a procedure by itself whose results it returns at once, or as a field of a new
 * object, by a loop, so that they need no stack.
 *
 * Needs: a loop function. Guarantees: no call of the function by itself is left whose results are
 * those of the function, or of branches at its end. The order of all operations is kept, but for
 * objects, which are built before the calls that complete them. Exact. */
#ifndef WICK_LOOP_TAIL_CALLS_H
#define WICK_LOOP_TAIL_CALLS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_tail_calls(const wick_pass_context *pass, const wick_func *f,
                                              wick_func **out);

#endif
