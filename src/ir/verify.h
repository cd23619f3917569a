/* The verifier of functions at all levels. Every pass may rely on the invariants that it checks:
 * operands are defined before and in scope; counts, attributes and regions agree with the operator;
 * the level allows the operator and its types; types agree with inference; each region ends in its
 * terminator. Time O(nodes). */
#ifndef WICK_IR_VERIFY_H
#define WICK_IR_VERIFY_H

#include "ir/ir.h"

WICK_CHECKED wick_status wick_verify_func(const wick_func *f, wick_arena *tmp);
WICK_CHECKED wick_status wick_verify_module(const wick_module *m, wick_arena *tmp);

#endif
