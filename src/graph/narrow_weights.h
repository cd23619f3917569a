/* Weights as floats of 16 bits, in f32: each becomes one of its two neighbours, the nearer one but
 * for a few. Numbers that are multiplied by weights are positive in the mean behind most
 * activations, so that the errors of the weights of one sum add up; where they do, weights that lie
 * next to the middle of their neighbours take the other one until the errors' sum is about 0. */
#ifndef WICK_GRAPH_NARROW_WEIGHTS_H
#define WICK_GRAPH_NARROW_WEIGHTS_H

#include "ir/ir.h"

/* The nearest number of e, f16 or bf16, as the row `narrow` rounds. */
float wick_narrow_number(wick_elem e, float x);

/* to = from, [outer, summed, inner], as numbers of e; sums are those along the one in the middle.
 */
void wick_narrow_weights(wick_elem e, uint64_t outer, uint64_t summed, uint64_t inner,
                         const float *from, float *to, wick_arena *tmp);

#endif
