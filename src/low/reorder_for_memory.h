/* Reorders instructions so that fewer bytes of the arena are in use at once.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results (instructions that
 * depend on each other through memory keep their order); a lower peak, or the unchanged function.
 * Only instructions of the function's own region move; an instruction with regions moves as a
 * whole. Deterministic; at most about 2^26 steps of the search. Exact. */
#ifndef WICK_LOW_REORDER_FOR_MEMORY_H
#define WICK_LOW_REORDER_FOR_MEMORY_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_reorder_for_memory(const wick_pass_context *pass,
                                                      const wick_func *f, wick_func **out);

#endif
