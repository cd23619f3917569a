/* The values of a function that depend on variables of a differentiation. */
#ifndef WICK_GRAPH_GRAD_ACTIVITY_H
#define WICK_GRAPH_GRAD_ACTIVITY_H

#include "ir/build.h"

/* Sets active[v] for each value that has a cotangent and depends on an active one, or on what a
 * reference holds. `active` has the parameters of f already. Results of calls depend on all operands. */
void wick_activity(const wick_func *f, bool *active);
/* Sets needed[v] for each value whose tangent a result of f may depend on; where the other values
 * flow into, they only decide numbers or are not used. */
void wick_tangents_needed(const wick_func *f, bool *needed);
/* Fails, in b, at a node of f by which a value that is active, or a reference to floats, gets into a
 * function value, which would hide its derivative. */
void wick_refuse_hidden(wick_builder *b, const wick_func *f, const bool *active);

#endif
