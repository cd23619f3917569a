/* Graph: floats narrower than f64 become f64 between the inputs and the results, which keep their
 * types, and so do constants: what the model says before it is rounded. Rows that do not take f64
 * (and those that look at bits) keep their types, between casts. Fails with WICK_EUNSUPPORTED for
 * control flow. */
#ifndef WICK_GRAPH_WIDEN_H
#define WICK_GRAPH_WIDEN_H

#include "base/status.h"
#include "ir/ir.h"

WICK_CHECKED wick_status wick_pass_widen(const wick_func *f, wick_arena *mem, wick_func **out);

#endif
