/* Removes copies. The node that produces the source writes into the destination (a part of a larger
 * buffer, as in a concat; an output of the function), or the nodes that read the destination read
 * the source.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results, and no more bytes of
 * the arena in use at the worst instruction than before. Leaves alone: copies from the caller's
 * inputs to outputs, from constants to outputs, between buffers whose lives would collide, with
 * sizes that are not constant, or of buffers that pass through control flow. Exact. */
#ifndef WICK_LOW_COPY_ELIM_H
#define WICK_LOW_COPY_ELIM_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_copy_elim(const wick_pass_context *pass, const wick_func *f,
                                             wick_func **out);

#endif
