/* Products of queries with keys, masked and scaled, their softmax, and its product with values
 * become one `attention`, where that is faster than the three kernels that each takes by itself.
 *
 * Found are matmul(softmax(f(matmul(q, transpose(k)))), v) whose softmax is along the last axis,
 * where f divides or multiplies by numbers, then adds a mask or sets elements to a number by one.
 * Blocks of keys are chosen so that what belongs to one lies in the nearest caches.
 *
 * Needs: a verified graph function. Class: rounding (weights are divided by their sum at the end,
 * blocks have sums of their own). Leaves alone: what somebody else uses, sizes that may be
 * 0, few queries, keys that are not turned. */
#ifndef WICK_GRAPH_ATTENTION_H
#define WICK_GRAPH_ATTENTION_H

#include "ir/copy.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_attention(const wick_func *f, const wick_target *t,
                                             wick_arena *mem, wick_func **out);

#endif
