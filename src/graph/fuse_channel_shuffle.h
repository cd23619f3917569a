/* reshape [N,C,..] -> [N,G,K,..], transpose of G and K, and the reshape back become one
 * `channel_shuffle` with G groups. Blocked layouts implement it without moving data.
 *
 * Needs: a verified graph function. Class: exact. Leaves alone: other transposes, channel counts
 * that are not constant, and reshapes whose results have other users. */
#ifndef WICK_GRAPH_FUSE_CHANNEL_SHUFFLE_H
#define WICK_GRAPH_FUSE_CHANNEL_SHUFFLE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_fuse_channel_shuffle(const wick_pass_context *pass,
                                                        const wick_func *f, wick_func **out);

#endif
