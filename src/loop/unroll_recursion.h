/* Replaces calls of a small procedure by itself by its body, once or several times, as loops are
 * unrolled: fewer calls, each with more work.
 *
 * Needs: a loop function, after tail_calls. Leaves alone: procedures that contain loops over
 * ranges, whose values would compete for registers. Exact. */
#ifndef WICK_LOOP_UNROLL_RECURSION_H
#define WICK_LOOP_UNROLL_RECURSION_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_unroll_recursion(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
