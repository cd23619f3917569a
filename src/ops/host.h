/* Operators that are calls into the runtime (runtime/host.h). */
#ifndef WICK_OPS_HOST_H
#define WICK_OPS_HOST_H

#include "ir/op.h"
#include "runtime/host.h"

/* The reference of all of them: the runtime's own function, on concrete tensors. New strings go
 * into the module's table. */
wick_status wick_host_ref(wick_ref *c);

/* A row's attributes as the runtime takes them; lists live in `mem` or in the attributes. */
const wick_host_attr *wick_host_attrs(wick_opcode op, const wick_attr *attr, wick_arena *mem);

/* The node of a group that is a call into the runtime, or NULL. */
const wick_node *wick_host_node(const wick_func *group);

#endif
