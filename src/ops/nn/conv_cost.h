/* The time of convolutions of plain images, for the choice of a layout. */
#ifndef WICK_OPS_NN_CONV_COST_H
#define WICK_OPS_NN_CONV_COST_H

#include "target/target.h"

/* Returns the time of a vector of products, in vectors of multiply-adds, if the lanes are
 * neighbours in a row of the result, and their elements of the image are `apart` elements apart.
 * An element of the result is a sum of `sum` products; it has `channels` in `group` groups. */
double wick_conv_plain_cost(const wick_target *t, int64_t channels, int64_t group, int64_t sum,
                            int64_t apart);

#endif
