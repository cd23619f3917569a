/* Replaces resize by one `resample` for each axis that it resizes. The positions and weights, which
 * are quotients and remainders of indices, are computed here, and each row is interpolated once
 * instead of once for each row that it is part of. Nearest elements that are equally far apart are a
 * slice, and elements that are each repeated equally often a broadcast, for all such axes at once.
 *
 * Needs: a verified graph function. Guarantees: the same results, class rounding: axes that shrink
 * are resized first, from the first to the last, so that the last axis, whose elements are read one
 * by one, has fewer rows; then the others, from the last to the first. Leaves alone: sizes that are not
 * constant, crops, `exclude`, `antialias`, and the nearest elements if the last axis keeps its size,
 * because then whole vectors are copied anyway. */
#ifndef WICK_GRAPH_DECOMPOSE_RESIZE_H
#define WICK_GRAPH_DECOMPOSE_RESIZE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_decompose_resize(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
