/* Replaces element-wise functions of one byte by tables.
 *
 * The pass looks for a tensor of bytes that element-wise nodes compute from one other tensor of bytes and
 * from numbers, with a function that takes longer than a few instructions: an activation between
 * DequantizeLinear and QuantizeLinear. The nodes are built once more on all 256 bytes, and the elements are
 * gathered from the result.
 *
 * Needs: a verified graph function; run constant_fold after it. Class: rounding, because the references
 * compute the table. Leaves alone: nodes that others read, too, and sums and products alone, which kernels
 * compute on their way. */
#ifndef WICK_GRAPH_TABULATE_H
#define WICK_GRAPH_TABULATE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_tabulate(const wick_pass_context *pass, const wick_func *f,
                                            wick_func **out);

#endif
