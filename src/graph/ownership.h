/* Which parameters of functions own the objects that they are given.
 *
 * An owned parameter is a reference that the function ends: it keeps the object in another one,
 * returns it, or takes it apart. Any other is borrowed: the function only looks at the object, and
 * the caller keeps its reference. Results are owned by the caller.
 *
 * The objects that the entry is given are its own: whoever runs it gives a reference to each. The
 * functions to which it passes them own them. */
#ifndef WICK_GRAPH_OWNERSHIP_H
#define WICK_GRAPH_OWNERSHIP_H

#include "ir/ir.h"

typedef struct wick_ownership {
  uint32_t n;
  const wick_func *const *func;
  bool **owns; /* per function, per value */
} wick_ownership;

/* Finds the parameters of all graphs of the module. Nodes that count references change nothing. */
wick_ownership wick_ownership_of(const wick_module *m, wick_arena *mem);
/* Returns whether operand k of n, a node of f, is a reference that the node ends. The operand is an
 * object. */
bool wick_ownership_ends(const wick_ownership *o, const wick_func *f, const wick_node *n,
                         uint32_t k);
/* Returns whether parameter k of f owns its object. */
bool wick_ownership_param(const wick_ownership *o, const wick_func *f, uint32_t k);

static inline bool wick_is_object(const wick_func *f, wick_value v)
{
  return v.id && wick_kind_is_object(wick_info_of(f, v)->kind);
}

/* Returns the constructor whose fields region r of a `switch` has. */
const wick_ctor *wick_switch_ctor(const wick_func *f, const wick_node *n, uint32_t r);
/* Returns the words of a field: one for an object or a number, all of a tensor's for others. */
uint64_t wick_field_words(const wick_module *m, wick_type field);
/* Returns the words of the constructor's block, with its header: its class is that of blocks that it can reuse. */
uint64_t wick_ctor_words(const wick_module *m, const wick_ctor *k);

#endif
