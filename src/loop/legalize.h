/* Element types and operators that a machine lacks become ones that it has.
 *
 * Needs: a verified loop function after expand_math (loop/expand_math.h). Guarantees, for target
 * `t`:
 *   - arithmetic and comparisons of floats are in f32 and f64. Other floats are only moved,
 *     selected, read as bits, and converted from and to f32 if the target has the conversion;
 *   - fma, sqrt, floor, ceil, trunc and round_even occur only with types for which the target has
 *     them;
 *   - no muladd is left: it becomes an fma if the target has one, else a product and a sum.
 * Class: exact; muladd follows its own rule. Narrow floats are rounded once, to nearest even, and
 * keep subnormals. A NaN stays a NaN, and is quiet. */
#ifndef WICK_LOOP_LEGALIZE_H
#define WICK_LOOP_LEGALIZE_H

#include "ir/pass.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_legalize(const wick_pass_context *pass, const wick_func *f,
                                            wick_func **out);

#endif
