/* Replaces branches whose condition is a constant by the branch that is taken, and removes loops
 * that never run.
 *
 * Needs: nothing. Guarantees: no `if` on a constant is left, and no `loop` of 0 steps except those
 * that stack results. Leaves alone: everything else. Exact. */
#ifndef WICK_GRAPH_FOLD_CONTROL_FLOW_H
#define WICK_GRAPH_FOLD_CONTROL_FLOW_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_fold_control_flow(const wick_pass_context *pass,
                                                     const wick_func *f, wick_func **out);

#endif
