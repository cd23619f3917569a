/* Procedures: functions that are called become low functions with numbers in registers.
 *
 * A graph that is called after inlining takes and returns numbers as scalars (registers.h).
 * Tensors are buffers: the first parameters are those of its results, which it writes, the others
 * are read in place. All sizes are constants. The entry, whose values are all in memory, calls a
 * procedure through a kernel of one task. */
#ifndef WICK_GRAPH_GROUP_PROCEDURE_H
#define WICK_GRAPH_GROUP_PROCEDURE_H

#include "graph/group/form_state.h"

/* Builds the parameters. result[k]: the buffer of result k; 0: it is a number. */
WICK_CHECKED wick_status wick_form_procedure_params(form_state *s, wick_value *result);
/* Emits a call, in the entry or in a procedure. */
WICK_CHECKED wick_status wick_form_call(form_state *s, const wick_node *n);

#endif
