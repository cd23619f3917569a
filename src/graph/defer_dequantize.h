/* Weights of products and tables of gathers that are dequantized, or cast from 16-bit floats,
 * become deferred constants (ops/layout/dequantized_constant.h), so that packing can keep their
 * narrow numbers, and gathers read these.
 *
 * Needs: a verified graph function before constants are folded. Guarantees: the same bits. Leaves
 * alone: matrices with other users, of other ranks, and with zero points or scales that are not
 * constant. */
#ifndef WICK_GRAPH_DEFER_DEQUANTIZE_H
#define WICK_GRAPH_DEFER_DEQUANTIZE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_defer_dequantize(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
