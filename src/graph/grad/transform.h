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

#endif
