/* Transposed convolutions become convolutions: with stride s, the outputs of one phase (the index
 * modulo s) meet the same elements of the window, so that each phase is a convolution of its own,
 * with a part of the window, and the phases' results alternate.
 *
 * Three forms, by what costs least in vectors of output channels times elements of windows: a
 * convolution for each phase, and `interleave`; where output channels fill no vector and the window
 * is a multiple of the stride, all phases as channels of one convolution, `depth_to_space`, and a
 * slice; for images of one place, a matrix product. None has a weight that the window has not:
 * times an infinity it would not be 0.
 *
 * Needs: a verified graph function; weights as constants (fold first). Guarantees: the same sums in
 * the order of input channel, then window backwards (class: rounding). Groups stay groups, in the
 * first form. Leaves alone: other weights, results that may have fewer elements than the stride,
 * windows that do not reach to an edge of the result (pads of the convolution would be negative).
 */
#ifndef WICK_GRAPH_PHASES_H
#define WICK_GRAPH_PHASES_H

#include "ir/copy.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_phases(const wick_func *f, const wick_target *t, wick_arena *mem,
                                          wick_func **out);

#endif
