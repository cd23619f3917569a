/* Conversions of narrow floats (all but f32 and f64) by integer arithmetic. */
#ifndef WICK_LOOP_LEGALIZE_CAST_H
#define WICK_LOOP_LEGALIZE_CAST_H

#include "ir/expr.h"

static inline bool wick_legalize_is_narrow(wick_elem e)
{
  return wick_elem_is_float(e) && e != WICK_F32 && e != WICK_F64;
}

/* Converts x to type `to`, where x's type or `to` is narrow. `native` is a set of types (WICK_BIT)
 * that the target converts from and to f32 by instructions. */
wick_value wick_legalize_cast(wick_builder *b, wick_value x, wick_elem to, uint64_t native);

#endif
