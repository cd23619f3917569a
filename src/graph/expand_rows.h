/* Node lowering: nodes whose rows have a definition in other rows, and none in stages, become
 * those rows; again, until none is left.
 *
 * Needs: a verified graph function. Guarantees: what can be compiled at all has stages now, or is a
 * view. Leaves alone: rows with stages of their own (scalar rows among them, which loops expand).
 */
#ifndef WICK_GRAPH_EXPAND_ROWS_H
#define WICK_GRAPH_EXPAND_ROWS_H

#include "ir/ir.h"

WICK_CHECKED wick_status wick_pass_expand_rows(const wick_func *f, wick_arena *mem,
                                               wick_func **out);

#endif
