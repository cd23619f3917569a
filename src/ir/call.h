/* A call's place, taken by what it calls. */
#ifndef WICK_IR_CALL_H
#define WICK_IR_CALL_H

#include "ir/build.h"

/* The graph that n calls; NULL: n is no call, or there is no such graph. */
const wick_func *wick_callee(const wick_module *m, const wick_node *n);

/* Builds the nodes of the graph that n calls on `in`; out: its results. What it calls stays a call.
 * Its checks become b's. Fails where it calls itself, or what it calls does. */
void wick_build_inlined_call(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out);

#endif
