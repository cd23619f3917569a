/* Floats narrower than f64 become f64, except inputs and results, which keep their types. Constants
 * become f64 as well. The program then computes the model's values before rounding.
 *
 * Guarantees: operators that do not take f64, and operators that look at bits, keep their types
 * between casts. Fails: WICK_EUNSUPPORTED for control flow. */
#ifndef WICK_GRAPH_PROMOTE_TO_F64_H
#define WICK_GRAPH_PROMOTE_TO_F64_H

#include "base/status.h"
#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_promote_to_f64(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);

#endif
