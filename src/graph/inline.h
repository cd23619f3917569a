/* Inlines calls, then removes the functions that are no longer called. Calls of recursive functions
 * stay, and calls of large ones and of those that compute a loop of numbers (wick_func_stays). Small
 * functions that call each other are merged, so that their calls at the end become steps of one loop
 * (loop/tail_calls.h). A recursive entry gets a function of another name for its own calls.
 *
 * Needs: nothing. Fails: WICK_ELIMIT if the result becomes too large. Exact. */
#ifndef WICK_GRAPH_INLINE_H
#define WICK_GRAPH_INLINE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_inline(const wick_pass_context *pass, const wick_func *f,
                                          wick_func **out);

#endif
