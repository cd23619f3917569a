/* Donated inputs: each shares its memory with an output, so that a step of training or a cache of a
 * decoder is updated in place. */
#ifndef WICK_DRIVER_DONATE_H
#define WICK_DRIVER_DONATE_H

#include "ir/ir.h"
#include "wick/wick.h"

/* Pairs each of the inputs with a result of equal type: the one that fewest nodes are away from it,
 * so that new weights meet the old ones. "w" also names the tensors "w.x" and "w.y" of a structure.
 * *out is a copy of f, in its module, whose parameters are given to their results; f itself if n is 0.
 * Fails with WICK_ETYPE for names that no input has, for inputs that are not numbers in tensors, and
 * where no result is left; all problems at once. io: f's inputs, then its outputs. */
WICK_CHECKED wick_status wick_donate(const wick_func *f, const wick_io *io, uint32_t n,
                                     const char *const *name, wick_arena *mem, wick_arena *tmp,
                                     const wick_func **out);

/* Returns for each result of f the input whose memory it shares; UINT32_MAX: none. */
const uint32_t *wick_donors(const wick_func *f, wick_arena *mem);

#endif
