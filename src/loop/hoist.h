/* Moves what does not change in a loop out of it, as far as its operands allow. Exact.
 * Needs: a verified loop function. Moves pure nodes without regions. Loads stay: memory may change,
 * and a loop that does not run must not touch it. Branches are not left either, so that what is
 * computed rarely is not computed always. */
#ifndef WICK_LOOP_HOIST_H
#define WICK_LOOP_HOIST_H

#include "ir/copy.h"

wick_func *wick_pass_hoist(const wick_func *f, wick_arena *mem);

#endif
