/* f32 becomes a 16-bit float in the factors of products, and in memory between kernels. Everything
 * that is computed from these values stays f32.
 *
 * - The factors of products (the operators' column `product_operands`: convolutions, matrix
 *   products, recurrent steps) are rounded. Constants are rounded as well if they are multiplied
 *   unchanged. The products are then exact, and their sums are f32.
 * - A value that one kernel passes to another is rounded once, after everything that the first
 *   kernel does with it. This happens if a user multiplies the value, or if the value is large and
 *   one of the two kernels multiplies. Each user in f32 has a cast of its own, which goes into its
 *   kernel.
 * - Operators that move elements, or take the maximum or the mean of some (`rounding_transparent`),
 *   work on the rounded values.
 *
 * Inputs and results keep their types. A result that no other node multiplies is not rounded. The
 * pass predicts kernels with graph/group/assign.h. Leaves alone: functions with control flow. */
#ifndef WICK_GRAPH_DEMOTE_H
#define WICK_GRAPH_DEMOTE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_demote_to_bf16(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);
WICK_CHECKED wick_status wick_pass_demote_to_f16(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
