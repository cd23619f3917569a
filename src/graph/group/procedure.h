/* Procedures: functions of scalars that are called. Their values are in registers.
 *
 * A graph that is called after inlining becomes a loop function with results (ir/call.h): a tensor
 * of rank 0 becomes a scalar, a `loop` becomes a `for` or a `while`, and an operator that is
 * defined by stages becomes the bodies of its stages. Fails: WICK_EUNSUPPORTED for tensors with
 * dimensions and for operators without such a form. */
#ifndef WICK_GRAPH_GROUP_PROCEDURE_H
#define WICK_GRAPH_GROUP_PROCEDURE_H

#include "ir/ir.h"

WICK_CHECKED wick_status wick_procedure_of(const wick_func *f, wick_arena *mem, wick_arena *tmp,
                                           wick_func **out);

#endif
