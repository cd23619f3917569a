/* Stores large results past the caches, which otherwise read each line before it is written, and
 * lose other data to it.
 *
 * Such stores have to fill whole lines of the cache, else each takes as long as the memory (a Pad of
 * short rows 8 times as long as before). A row of a result begins anywhere, so the loop over its
 * vectors becomes three: over the lanes before the first line, with masks; over whole lines; and
 * over the lanes that are left, with masks. Exact: each lane computes one
 * element, wherever its vector begins.
 *
 * Needs: a verified loop function, after the passes that move or merge stores. Takes innermost loops
 * of a constant number of iterations whose vectors are elements next to each other, and results
 * (buffers of io that the function does not read) of at least wick_target_nontemporal bytes. */
#ifndef WICK_LOOP_NONTEMPORAL_H
#define WICK_LOOP_NONTEMPORAL_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_nontemporal(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

#endif
