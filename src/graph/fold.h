/* Constant folding: nodes whose operands are all known become constants, computed by their
 * references. Needs: a verified graph function. Guarantees: the same results; exact with respect to
 * the references (class: exact for moves and integers, else rounding of f64 to the type). Leaves
 * alone: nodes whose evaluation fails (run time reports them, if it gets there), sizes that are not
 * constant, results of more than `limit_bytes` in all, and results that are larger than 4 KiB and
 * four times the operands (they would bloat the file). */
#ifndef WICK_GRAPH_FOLD_H
#define WICK_GRAPH_FOLD_H

#include "ir/copy.h"

wick_func *wick_pass_fold(const wick_func *f, wick_arena *mem); /* limit: 1 GiB */

#endif
