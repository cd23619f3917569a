/* reshape [N,C,..] -> [N,G,K,..], transpose of G and K, reshape back: `channel_shuffle` with G
 * groups, which layouts know how to do without moving anything.
 *
 * Needs: a verified graph function. Class: exact. Leaves alone: other transposes, sizes of C that
 * are not constant, and reshapes whose results somebody else uses. */
#ifndef WICK_GRAPH_SHUFFLES_H
#define WICK_GRAPH_SHUFFLES_H

#include "ir/copy.h"

wick_func *wick_pass_shuffles(const wick_func *f, wick_arena *mem);

#endif
