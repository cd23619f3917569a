/* Makes functions of loops on numbers and small tensors, so that numbers are in registers and
 * nothing is launched.
 *
 * A loop of the entry whose steps compute numbers, read or replace elements and rows of tensors at
 * run-time indices, or need kernels that take less time than their launch, becomes a function that
 * is called: a procedure (graph/group/procedure.h). All sizes in it are constants. So does each
 * print and assertion outside of these loops. */
#ifndef WICK_GRAPH_OUTLINE_LOOPS_H
#define WICK_GRAPH_OUTLINE_LOOPS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_outline_loops(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
