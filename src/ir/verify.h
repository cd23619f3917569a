/* The one verifier: what every pass may rely on, at all levels.
 * Operands are defined before and in scope; counts, attributes and regions are what the row
 * declares; the level allows the operator and its types; types are what infer says; each region
 * ends in its terminator. Time O(nodes). */
#ifndef WICK_IR_VERIFY_H
#define WICK_IR_VERIFY_H

#include "ir/ir.h"

WICK_CHECKED wick_status wick_verify_func(const wick_func *f, wick_arena *tmp);
WICK_CHECKED wick_status wick_verify_module(const wick_module *m, wick_arena *tmp);

#endif
