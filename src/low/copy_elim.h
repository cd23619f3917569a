/* Removes copies: what produces the source writes into the destination (a part of a larger buffer,
 * as in a concat; an output of the function), or what reads the destination reads the source.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results, and no more bytes of
 * the arena in use at the worst instruction than before. Leaves alone: copies between what the
 * caller gives and what he gets, from constants to outputs, between buffers whose lives would
 * collide, in which sizes are not constant, or that pass through control flow. Exact. */
#ifndef WICK_LOW_COPY_ELIM_H
#define WICK_LOW_COPY_ELIM_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_copy_elim(const wick_pass_context *pass, const wick_func *f,
                                             wick_func **out);

#endif
