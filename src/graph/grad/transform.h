/* Expansion of value_and_grad, vjp and jvp: builds a function with its derivatives in place of a
 * node that transforms it. */
#ifndef WICK_GRAPH_GRAD_TRANSFORM_H
#define WICK_GRAPH_GRAD_TRANSFORM_H

#include "ir/copy.h"

/* Build the results of n, a node of c's function, and set c->to of them. The callee contains no
 * transformations, nor do the functions that it calls. Fail, in c's builder, if there is no such
 * function, or if it has no derivative. */
void wick_expand_value_and_grad(wick_copier *c, const wick_node *n);
void wick_expand_vjp(wick_copier *c, const wick_node *n);
void wick_expand_jvp(wick_copier *c, const wick_node *n);

/* Sets `out`, of which 0 is all zeros, to the tangents of the results from `first` on of n, a with_vjp on `in`:
 * with respect to cotangents of the results, the other function's results have the Jacobian that is asked for,
 * transposed. Returns false if it does not build them, because data or references are among the operands. */
bool wick_tangent_with_vjp(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value first, const wick_value *tangent, wick_value *out);

#endif
