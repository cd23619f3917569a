/* Loop-invariant code motion in loop functions: moves a node out of as many loops as its operands
 * allow. Exact.
 *
 * Needs: a verified loop function. Moves pure nodes without regions, and few loads of one element
 * of a parameter that is not written: out of loops that run at least once, or if the element's
 * index is a constant. Leaves alone: other loads, because memory may change, and because a loop
 * that does not run must not access it; and nodes inside branches, so that code that runs rarely
 * does not run always. */
#ifndef WICK_LOOP_LICM_H
#define WICK_LOOP_LICM_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_licm_loop(const wick_pass_context *pass, const wick_func *f,
                                        wick_func **out);

#endif
