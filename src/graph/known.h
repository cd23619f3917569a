/* What graph passes ask about the values of a function: which node gives one, who uses it, and what
 * is known of its elements. */
#ifndef WICK_GRAPH_KNOWN_H
#define WICK_GRAPH_KNOWN_H

#include "ir/ir.h"

typedef struct wick_known {
  const wick_func *f;
  const uint32_t *definer;
  wick_uses uses;
} wick_known;

wick_known wick_known_of(const wick_func *f, wick_arena *mem);

/* The node that gives v; NULL for parameters and missing operands. */
const wick_node *wick_known_node(const wick_known *k, wick_value v);
/* The node of that operator, or NULL. */
const wick_node *wick_known_op(const wick_known *k, wick_value v, wick_opcode op);
/* The one node that uses v, once; NULL where there are none or more. `return` and `yield` count. */
const wick_node *wick_known_user(const wick_known *k, wick_value v);

/* The number of a `const`, or NULL. */
const wick_imm *wick_known_imm(const wick_known *k, wick_value v);
/* The constant of the module, whether its bytes are made already or not; NULL for others and for
 * immediates. */
const wick_constant *wick_known_constant(const wick_known *k, wick_value v);
/* The same with its data; NULL where that is not there. */
const wick_constant *wick_known_data(const wick_known *k, wick_value v);
/* All elements of v, of floats: the same number. */
bool wick_known_number(const wick_known *k, wick_value v, double *out);
/* The same of integers and bool. */
bool wick_known_int(const wick_known *k, wick_value v, int64_t *out);
/* v, a constant of floats, is broadcast against a tensor of `rank` dimensions and varies along
 * `axis` alone, which has `extent` elements there: out[extent], its numbers. */
bool wick_known_along(const wick_known *k, wick_value v, uint32_t rank, uint32_t axis,
                      int64_t extent, double *out);

#endif
