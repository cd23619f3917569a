/* Loop-invariant code motion: values that are the same in each step of a loop are computed before
 * it.
 *
 * Needs: nothing. Guarantees: pure nodes in a loop's region whose operands come from outside the
 * loop are before the loop. Leaves alone: nodes that may fail or draw random numbers, because the
 * loop might not have run them; nodes in a branch that may not be taken; and nodes whose results
 * are much larger than their operands, which are computed where they are used. Exact. */
#ifndef WICK_GRAPH_LICM_H
#define WICK_GRAPH_LICM_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_licm(const wick_pass_context *pass, const wick_func *f,
                                        wick_func **out);

#endif
