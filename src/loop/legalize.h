/* Element types and operators that a machine lacks become those that it has.
 *
 * Needs: a verified loop function after `expand` (loop/expand.h). Guarantees, for target `t`:
 *   - arithmetic and comparisons of floats are in f32 and f64; others are only moved, chosen,
 *     looked at as bits, and converted from and to f32 where the row has the conversion;
 *   - fma, sqrt, floor, ceil, trunc, round_even only on types for which the row has them;
 *   - no muladd: it is an fma where the row has it, else a product and a sum.
 * Class: exact; muladd by its own rule. Narrow floats are rounded to nearest even once, keep
 * subnormals; a NaN stays one, quiet. */
#ifndef WICK_LOOP_LEGALIZE_H
#define WICK_LOOP_LEGALIZE_H

#include "ir/copy.h"
#include "target/target.h"

wick_func *wick_pass_legalize(const wick_func *f, const wick_target *t, wick_arena *mem);

#endif
