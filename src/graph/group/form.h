/* Forms groups: from a graph function to groups and a low function that runs them on buffers.
 *
 * A group is one node with a definition in stages, and the element-wise nodes behind it that are
 * the only users of what it computes. Reshapes become views. Each group gets its first schedule
 * from the templates. f       verified graph function, first-order and without control flow, whose
 * rows all have stages (after `expand`) out     out: the low function of the same name; the groups
 * are added to the module Fails: WICK_EUNSUPPORTED for a node that has no stages, all of them at
 * once. */
#ifndef WICK_GRAPH_GROUP_FORM_H
#define WICK_GRAPH_GROUP_FORM_H

#include "ir/build.h"
#include "loop/records.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_form_groups(const wick_func *f, const wick_target *target,
                                          wick_records *records, wick_arena *mem, wick_arena *tmp,
                                          wick_func **out);

#endif
