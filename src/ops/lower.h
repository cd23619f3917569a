/* From nodes of the graph to stages: those of one node, and its group. */
#ifndef WICK_OPS_LOWER_H
#define WICK_OPS_LOWER_H

#include "ir/build.h"

/* Inside a group that is being built: the stages of node n of the graph function f. in: the
 * group's values for its operands, 0 where they are missing. Fails in the builder where the row has
 * no definition in stages. */
void wick_lower_node(wick_builder *b, const wick_func *f, const wick_node *n, const wick_value *in,
                     wick_value *out);

/* The group of one node: its parameters are the node's operands that are there, in order, its
 * results the node's. */
WICK_CHECKED wick_status wick_group_of_node(const wick_func *f, const wick_node *n,
                                            const char *name, wick_arena *mem, wick_func **out);

#endif
