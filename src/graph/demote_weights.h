/* Rounds weights in f32 to 16-bit floats. Each weight becomes one of its two neighbours, usually
 * the nearer one.
 *
 * After most activations, the numbers that are multiplied by weights are positive on average. The
 * rounding errors of the weights of one sum then add up. Where they do, weights near the middle
 * between their neighbours are rounded the other way until the sum of the errors is about 0. */
#ifndef WICK_GRAPH_DEMOTE_WEIGHTS_H
#define WICK_GRAPH_DEMOTE_WEIGHTS_H

#include "ir/ir.h"

/* The nearest number of type e, f16 or bf16, rounded as the operator `narrow` rounds. */
float wick_narrow_number(wick_elem e, float x);

/* Rounds `from`, [outer, summed, inner], to numbers of type e. The sums whose error is kept small
 * run along the middle dimension. */
void wick_narrow_weights(wick_elem e, uint64_t outer, uint64_t summed, uint64_t inner,
                         const float *from, float *to, wick_arena *tmp);

#endif
