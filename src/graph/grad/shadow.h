/* References in derivatives.
 *
 * In a function that is differentiated, a reference to floats is a pair: a reference that holds two
 * references, the primal one and its shadow. The shadow holds the tangents of what the primal one
 * holds, or the sum of the cotangents of its contents so far. So all names of a reference share its
 * shadow. Both are ordinary references: the result can be differentiated again.
 *
 * In reverse mode a read adds the cotangent of its result to the shadow. A write takes the shadow's
 * contents as the cotangent of what it wrote, and leaves zeros for what was there before; so does the
 * node that makes the reference. After all steps backwards, all shadows hold zeros again. */
#ifndef WICK_GRAPH_GRAD_SHADOW_H
#define WICK_GRAPH_GRAD_SHADOW_H

#include "ir/replay.h"

/* Returns the type of a value of type t inside of a differentiation: t itself, unless a reference to
 * floats is in it. Data types get a generated counterpart. `mem` is scratch. */
wick_type wick_shadow_type(wick_module *m, wick_type t, wick_arena *mem);
/* Returns whether that type is another one than t. */
bool wick_shadow_changes(const wick_module *m, wick_type t);
/* Returns whether t is a reference to floats, which becomes a pair. */
bool wick_shadow_pairs(const wick_module *m, wick_type t);
/* Returns whether node n, with its regions, moves a value whose type changes. */
bool wick_shadow_moves(const wick_func *f, const wick_node *n);
/* The same of the parameters and results of f. */
bool wick_shadow_crosses(const wick_func *f);
/* Returns whether n makes, reads or writes a reference to floats. */
bool wick_shadow_on(const wick_func *f, const wick_node *n);
/* Builds node i of a function, which has no regions and is none of those, on values whose types may
 * have changed. */
void wick_shadow_replay(wick_replay *r, uint32_t i);

typedef struct wick_shadow {
  wick_value primal, shadow; /* the references */
} wick_shadow;

/* Builds the node that gives the two references of a pair. */
wick_shadow wick_shadow_open(wick_builder *b, wick_value pair);
/* Builds the pair of a primal reference and a new shadow, which holds `part` for the items that have
 * cotangents; 0 is all zeros, and NULL all of them. Sets *out to the shadow, unless that is NULL. */
wick_value wick_shadow_pair(wick_builder *b, wick_value primal, const wick_value *part,
                            wick_value *out);
/* Builds a write of `part` to the shadow, which is as above. of: the primal reference. */
void wick_shadow_set(wick_builder *b, wick_shadow of, const wick_value *part);
/* Reads the shadow: sets part[k] for each item of the primal reference that has cotangents. */
void wick_shadow_get(wick_builder *b, wick_shadow of, wick_value *part);

/* shadow_border.c: returns v, parameter k of f as it is outside, with the type that it has inside. The
 * shadows of references from outside begin with zeros. Fails in the builder if two names may lead to
 * one such reference, and it is written: the names would not share a shadow.
 *   outside  all parameters as they are outside, which tells references that b made apart; or NULL */
wick_value wick_shadow_enter(wick_builder *b, const wick_func *f, uint32_t k, wick_value v,
                             const wick_value *outside);
/* Returns v, of the type that t becomes inside, as a value of type t: of a pair the primal reference. */
wick_value wick_shadow_leave(wick_builder *b, wick_value v, wick_type t);

#endif
