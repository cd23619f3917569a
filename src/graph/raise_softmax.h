/* Raises softmax that is written out, exp(x - max x) / sum exp(x - max x), to its operator.
 *
 * The maximum and the sum are along one axis, which they keep. Passes and templates know the operator: attention is found
 * through it, and it has a template for axes that are not the last. Rounding: the quotient may become a product.
 *
 * Needs: a verified graph function. */
#ifndef WICK_GRAPH_RAISE_SOFTMAX_H
#define WICK_GRAPH_RAISE_SOFTMAX_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_raise_softmax(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
