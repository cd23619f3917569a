/* A transposition before a product permutes the rows of the constant factor instead:
 * reshape(transpose(x)) @ w becomes reshape(x) @ w', where the rows of w' have the order of x. Files
 * whose images have their channels last flatten them so before the first dense layer.
 *
 * Needs: a verified graph function. Guarantees: the same products, summed in another order (class:
 * rounding). Leaves alone: transpositions with other users, those that move what is not summed, and
 * dimensions of unknown size. */
#ifndef WICK_GRAPH_ABSORB_TRANSPOSE_H
#define WICK_GRAPH_ABSORB_TRANSPOSE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_absorb_transpose(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
