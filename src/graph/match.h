/* Queries that graph passes make to match a pattern: which node defines a value, which node uses
 * it, and which constant it is. Begin with wick_match_begin. */
#ifndef WICK_GRAPH_MATCH_H
#define WICK_GRAPH_MATCH_H

#include "ir/ir.h"

typedef struct wick_match {
  const wick_func *f;
  const uint32_t *definer;
  wick_uses uses;
} wick_match;

wick_match wick_match_begin(const wick_func *f, wick_arena *mem);

/* Returns the node that defines v; NULL for parameters and missing operands. */
const wick_node *wick_match_node(const wick_match *k, wick_value v);
/* The same if the node's operator is `op`, else NULL. */
const wick_node *wick_match_op(const wick_match *k, wick_value v, wick_opcode op);
/* Returns whether two values have the same dimensions. */
bool wick_match_same_shape(const wick_match *k, wick_value a, wick_value b);

/* Returns the only user of v; NULL if v has no use or several. `return` and `yield` are users. */
const wick_node *wick_match_user(const wick_match *k, wick_value v);

/* Returns the immediate of a `const`, or NULL. */
const wick_imm *wick_match_imm(const wick_match *k, wick_value v);
/* Returns the module's constant, whether or not its bytes have been computed; NULL for other values
 * and for immediates. */
const wick_constant *wick_match_constant(const wick_match *k, wick_value v);
/* The same, or NULL if its data is not available. */
const wick_constant *wick_match_data(const wick_match *k, wick_value v);
/* Returns true if v has floats that are all the same number. */
bool wick_match_number(const wick_match *k, wick_value v, double *out);
/* Returns true if v is a constant of floats that is broadcast to a tensor of `rank` dimensions, and
 * varies only along `axis`, which has `extent` elements. Writes its numbers to out[extent]. */
bool wick_match_along(const wick_match *k, wick_value v, uint32_t rank, uint32_t axis,
                      int64_t extent, double *out);

/* Numbers the regions: nodes have equal numbers if they are in the same one. Returns one per node. */
const uint32_t *wick_match_regions(const wick_func *f, wick_arena *mem);

#endif
