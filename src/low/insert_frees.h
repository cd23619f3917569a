/* Inserts `free` after the last instruction that needs a buffer of the arena.
 *
 * Needs: a verified low function; `free`s that it has are moved. Guarantees: each alloc in the
 * arena that is used is freed once, in the region that defines it, also where its last use is
 * inside a branch or loop. Leaves alone: buffers that control flow carries; the plan decides how
 * long they live. Exact. */
#ifndef WICK_LOW_INSERT_FREES_H
#define WICK_LOW_INSERT_FREES_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_insert_frees(const wick_pass_context *pass, const wick_func *f,
                                                wick_func **out);

#endif
