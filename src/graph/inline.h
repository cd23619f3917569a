/* Inlines calls, then removes the functions that are no longer called.
 *
 * Needs: nothing. Guarantees: no calls of graphs are left. Fails: WICK_EUNSUPPORTED for a function
 * that calls itself, WICK_ELIMIT if the result becomes too large. Exact. */
#ifndef WICK_GRAPH_INLINE_H
#define WICK_GRAPH_INLINE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_inline(const wick_pass_context *pass, const wick_func *f,
                                          wick_func **out);

#endif
