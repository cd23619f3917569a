/* Leaves one factor, and no float bias, after the sums of integers.
 *
 * The pass looks for an integer sum that is converted to float, is multiplied by a constant, has a
 * constant added, goes through relu or a clip, is added to another such number, and is then divided
 * or multiplied by one positive number. It folds that last number into the constants. A bias that
 * is a multiple of its scale, as quantizers make it, is added to the integers of the convolution
 * instead.
 *
 * Needs: a verified graph function with folded constants; run constant_fold again after it. Class:
 * rounding, because values that were rounded several times are rounded less often, as in
 * QLinearConv. Leaves alone: numbers that never were integers, and values with other users. */
#ifndef WICK_GRAPH_FOLD_REQUANTIZE_H
#define WICK_GRAPH_FOLD_REQUANTIZE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_fold_requantize(const wick_pass_context *pass,
                                                   const wick_func *f, wick_func **out);

#endif
