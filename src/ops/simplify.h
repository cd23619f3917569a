/* Algebraic simplification: the column `simplify` of an operator replaces a node by something
 * cheaper.
 *
 * A rule sees the node with the operands that it has in the function being built, so that one walk
 * simplifies a whole chain. All rules are exact: the same bits for every input, NaN's payload aside.
 */
#ifndef WICK_OPS_SIMPLIFY_H
#define WICK_OPS_SIMPLIFY_H

#include "ir/copy.h"

struct wick_simplify {
  wick_copier c;
  wick_uses uses; /* of the old function */
  wick_arena *mem;
  wick_list(uint32_t) definer; /* per new value: its node's index + 1; 0: a parameter */
  uint32_t nseen;              /* nodes of the builder that are in it */
};

/* The node of that operator that gives v; a copy, since building moves nodes. */
bool wick_simplify_def(wick_simplify *s, wick_value v, wick_opcode op, wick_node *out);
/* All elements of v are that number. */
bool wick_simplify_number(wick_simplify *s, wick_value v, double *out);
bool wick_simplify_int(wick_simplify *s, wick_value v, int64_t *out);
/* The old value has no other use. */
bool wick_simplify_once(const wick_simplify *s, wick_value old);

/* ---- columns; 0: nothing better is known ---- */
wick_value wick_simplify_reshape(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_transpose(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_slice(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_pad(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_concat(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_expand(wick_simplify *s, const wick_node *n, const wick_value *in);
/* sub too */
wick_value wick_simplify_add(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_div(wick_simplify *s, const wick_node *n, const wick_value *in);
/* Twice the same (abs), or its own inverse (neg, not). */
wick_value wick_simplify_again(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_bound(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_relu(wick_simplify *s, const wick_node *n, const wick_value *in);
/* A single number needs no memory, and kernels know it. */
wick_value wick_simplify_const(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_cast(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_pow(wick_simplify *s, const wick_node *n, const wick_value *in);
wick_value wick_simplify_where(wick_simplify *s, const wick_node *n, const wick_value *in);

#endif
