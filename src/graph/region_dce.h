/* Dead code elimination for regions: removes results of branches and loops that nobody uses, with
 * the nodes that compute them.
 *
 * Needs: nothing. Guarantees: each result of an `if` is used; each result that a loop stacks is
 * used; each value that a loop carries changes, and is used after the loop or by a computation that
 * is. Leaves alone: nodes with an effect, and the number of steps of a loop. Exact. */
#ifndef WICK_GRAPH_REGION_DCE_H
#define WICK_GRAPH_REGION_DCE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_region_dce(const wick_pass_context *pass, const wick_func *f,
                                              wick_func **out);

#endif
