/* Replaces a pool over large windows by a chain of pools along one axis each: a window of 5 x 5 x 5
 * elements reads 125, three windows of 5 read 15. The first axes come first: with a stride they
 * leave fewer rows to the last axis, whose windows are not read as whole vectors then.
 *
 * Needs: a verified graph function. Guarantees: the same maxima; means in another order of their
 * sums, class rounding. Leaves alone: windows that are cheaper at once, maxima with indices, means
 * that are rounded to 16 bits, and p-norms. */
#ifndef WICK_GRAPH_SEPARATE_POOLS_H
#define WICK_GRAPH_SEPARATE_POOLS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_separate_pools(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);

#endif
