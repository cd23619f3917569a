/* Forward-mode differentiation of graph functions. */
#ifndef WICK_GRAPH_GRAD_FORWARD_H
#define WICK_GRAPH_GRAD_FORWARD_H

#include "ir/build.h"

/* Builds the body of f on operands with tangents: branches and loops yield and carry tangents beside
 * their values. Calls of functions that call themselves become calls of functions NAME.jvp, which
 * are added to the module.
 *   in, tangent      per parameter of f; a tangent of 0 is all zeros
 *   out, out_tangent per result, set here
 * Fails in the builder at nodes without a derivative. */
void wick_forward_body(wick_builder *b, const wick_func *f, const wick_value *in,
                       const wick_value *tangent, wick_value *out, wick_value *out_tangent);

#endif
