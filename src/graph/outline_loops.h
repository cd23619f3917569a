/* Makes functions of loops on numbers, so that their values are in registers.
 *
 * A loop of the entry whose steps compute numbers, and read or replace elements and rows of tensors
 * at run-time indices, becomes a function that is called: a procedure (graph/group/procedure.h),
 * without a launch for each step. All sizes in it are constants. */
#ifndef WICK_GRAPH_OUTLINE_LOOPS_H
#define WICK_GRAPH_OUTLINE_LOOPS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_outline_loops(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
