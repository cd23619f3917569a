/* From nodes of the graph to stages: rows that are defined by other rows become these; a node's
 * stages, and its group. */
#ifndef WICK_OPS_LOWER_H
#define WICK_OPS_LOWER_H

#include "ir/copy.h"

/* Rows of the graph that are defined by `expand` become the rows of their definition; those that
 * have stages stay whole. Class: rounding, as each row's doc says.
 * Needs: a verified graph function. Guarantees: no tensor row without stages that has an `expand`
 * is left. */
wick_func *wick_pass_lower(const wick_func *f, wick_arena *mem);

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
