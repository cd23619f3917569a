/* Data and references in procedures: blocks of the heap (runtime/heap.h), whose offsets are in
 * registers. The fields of a block are its objects, then its numbers, then its tensors, which are
 * copied. Constructors without fields are odd numbers. References are blocks, too. */
#ifndef WICK_GRAPH_GROUP_FORM_OBJECTS_H
#define WICK_GRAPH_GROUP_FORM_OBJECTS_H

#include "graph/group/form_state.h"

/* Returns whether n makes, reads or counts objects, and has no regions. */
bool wick_form_is_object(const wick_node *n);
/* Emits such a node. */
WICK_CHECKED wick_status wick_form_object(form_state *s, const wick_node *n);

/* The order in which the regions of a `switch` are chosen: constructors without fields first. The
 * last one needs no test. */
const uint32_t *wick_form_switch_order(form_state *s, const wick_node *n);
/* Builds whether the operand of a `switch`, which is none of the constructors before it in that
 * order, is the constructor `at`. */
wick_value wick_form_switch_test(form_state *s, const wick_node *n, const uint32_t *order,
                                 uint32_t at);
/* Loads the fields that region r of a `switch` uses. */
WICK_CHECKED wick_status wick_form_fields(form_state *s, const wick_node *n, uint32_t r);

#endif
