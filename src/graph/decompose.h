/* Replaces operators by their definitions in other operators, if they have such a definition and no
 * stages of their own. The pass repeats this until no such node is left.
 *
 * Needs: a verified graph function. Guarantees: every node that can be compiled at all has stages
 * or is a view. Leaves alone: operators with stages of their own. Scalar operators are among them;
 * they are expanded in the loops (loop/expand_math.h). */
#ifndef WICK_GRAPH_DECOMPOSE_H
#define WICK_GRAPH_DECOMPOSE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_decompose(const wick_pass_context *pass, const wick_func *f,
                                             wick_func **out);

#endif
