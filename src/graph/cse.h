/* Common subexpression elimination. Of the nodes with equal operator, attributes and operands, the
 * first one is kept. Constants with equal bytes become one.
 *
 * Needs: a verified graph function or group, because their values do not live in memory.
 * Guarantees: no two equal nodes are left of which one is visible from the other, that is, comes
 * before it in the same region or in one around it. Leaves alone: nodes with an effect or with
 * regions. Nodes that may fail are merged as well, because then the first one fails. Exact. */
#ifndef WICK_GRAPH_CSE_H
#define WICK_GRAPH_CSE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_cse(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out);

#endif
