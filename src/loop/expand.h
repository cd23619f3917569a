/* Scalar rows that machines have no instruction for become rows that they have: exp, tanh and the
 * like become Wick's polynomials, the same for all back ends; activations their formulas; integer
 * division gets its guard.
 * Needs: a verified loop function (or group: the bodies of its stages). Guarantees: no scalar row
 * that has an `expand` is left. Class: approximate, by each row's `ulp` (0: exact). 16-bit floats
 * are expanded in f32 and rounded once. */
#ifndef WICK_LOOP_EXPAND_H
#define WICK_LOOP_EXPAND_H

#include "ir/copy.h"

wick_func *wick_pass_expand(const wick_func *f, wick_arena *mem);

/* One step of it, in b at any level: out[0] is n's result. False, and nothing is built, where n is
 * no such row or the operands' type has a form of its own. */
bool wick_expand_node(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out);

#endif
