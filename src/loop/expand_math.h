/* Scalar operators for which machines have no instruction become operators that they have. exp,
 * tanh and the like become Wick's polynomials, which are the same for all back ends; activations
 * become their formulas; integer division gets its guard. Functions of single numbers that
 * procedures use often (so that 4,000 nodes are saved) become calls of procedures, one for
 * each function and type, which compute the same.
 *
 * Needs: a verified loop function, or a group, whose stage bodies are expanded. Guarantees: no
 * scalar operator that has an `expand` is left. Fails: a group with indices that only its run knows
 * (`any`). Class: approximate, by each operator's `ulp` (0:
 * exact). 16-bit floats are expanded in f32 and rounded once. */
#ifndef WICK_LOOP_EXPAND_MATH_H
#define WICK_LOOP_EXPAND_MATH_H

#include "ir/build.h"
#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_expand_math(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

/* Expands one node in b, at any level; out[0] is n's result. Returns false, and builds nothing, if
 * the operator of n has no expansion, or none for the operands' type. */
bool wick_expand_math_node(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value *out);

#endif
