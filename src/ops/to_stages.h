/* Lowers nodes of the graph: one node to stages, or to a group of its own. */
#ifndef WICK_OPS_TO_STAGES_H
#define WICK_OPS_TO_STAGES_H

#include "ir/build.h"

/* Adds the stages of node n of the graph function f to the group that b builds. in: the group's
 * values for the node's operands; 0 if an operand is missing. out: the values of its results. Fails
 * in the builder if the operator has no definition in stages. */
void wick_node_to_stages(wick_builder *b, const wick_func *f, const wick_node *n,
                         const wick_value *in, wick_value *out);

/* Builds the group of one node. Its parameters are the operands that the node has, in order; its
 * results are those of the node. */
WICK_CHECKED wick_status wick_group_of_node(const wick_func *f, const wick_node *n,
                                            const char *name, wick_arena *mem, wick_func **out);

#endif
