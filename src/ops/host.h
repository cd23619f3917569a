/* Operators that are calls into the runtime (runtime/host.h). */
#ifndef WICK_OPS_HOST_H
#define WICK_OPS_HOST_H

#include "ir/op.h"
#include "runtime/host.h"

/* The reference of all of them. It calls the runtime's own function on concrete tensors. New
 * strings are added to the module's table. */
wick_status wick_host_ref(wick_ref *c);

/* Returns an operator's attributes in the form that the runtime accepts. Lists live in `mem` or in
 * the attributes. */
const wick_host_attr *wick_host_attrs(wick_opcode op, const wick_attr *attr, wick_arena *mem);

/* Returns the node of a group that is a call into the runtime, or NULL. */
const wick_node *wick_host_node(const wick_func *group);

#endif
