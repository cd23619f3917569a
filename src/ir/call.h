/* Inlining: replaces a call by the nodes of the graph that it calls. */
#ifndef WICK_IR_CALL_H
#define WICK_IR_CALL_H

#include "ir/build.h"

/* Returns the graph that n calls; NULL if n is no call, or if the graph does not exist. */
const wick_func *wick_callee(const wick_module *m, const wick_node *n);

/* Builds the nodes of the graph that n calls, on the operands `in`, and stores its results in
 * `out`. Calls inside it stay calls. Its shape constraints become b's. Fails if the graph calls
 * itself, directly or through others. */
void wick_build_inlined_call(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out);

#endif
