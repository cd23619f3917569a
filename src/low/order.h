/* Reorders instructions so that fewer bytes of the arena are in use at once.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results (what depends on each
 * other through memory keeps its order); a lower peak, or the function as it was. Only the
 * instructions of the function's own region move; one with regions moves as a whole. Deterministic;
 * at most about 2^26 steps of the search. Exact. */
#ifndef WICK_LOW_ORDER_H
#define WICK_LOW_ORDER_H

#include "ir/ir.h"

wick_func *wick_pass_order(const wick_func *f, wick_arena *mem, wick_arena *tmp);

#endif
