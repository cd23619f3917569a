/* Local rewrites, as tables of rules:
 *
 *   {"neg(neg(x))", "x", NULL, NULL},
 *   {"pow(x, 2)", "mul(x, x)", pow_is_float, NULL},
 *   {"transpose(t=transpose(x))", NULL, NULL, transpose_twice},
 *
 * A rule has a pattern, a replacement, a condition and a builder (wick_rewrite below). A pattern is
 * an operator with its operands:
 *   x           a variable, one letter: any value; the same value where it appears again
 *   2, -0       a constant whose elements are all this number; 0 and -0 differ for floats
 *   op(...)     a node of this operator; op!(...): the same, if its result has no other use
 *   t=op(...)   the same, and the variable t is its result
 *   ..          any further operands
 * Operands that the pattern does not list must be missing. A replacement has the same form. A node
 * in it with the operator of the matched node gets that node's attributes; others get defaults. A
 * rule does not apply if the replacement's type differs from that of the matched node (as in x + 0,
 * if 0 has a larger shape than x).
 *
 * A pass visits the nodes in order and copies them to a new function. Patterns are matched against
 * the new function, so that one traversal rewrites a whole chain. */
#ifndef WICK_IR_REWRITE_H
#define WICK_IR_REWRITE_H

#include "ir/copy.h"

typedef struct wick_rewriter {
  wick_copier c;
  wick_arena *mem;
  wick_uses uses;        /* of the old function */
  const wick_node *node; /* the matched node, in the old function */
  const wick_value *in;  /* its operands, in the new function */
  wick_value var[26];    /* the values of the variables; 0: none */
  /* per new value: the index + 1 of the node that defines it; 0: a parameter */
  wick_list(uint32_t) definer;
  /* per new value: the old value that it replaces; 0: none or several */
  wick_list(uint32_t) from;
  uint32_t nseen; /* how many nodes of the builder are entered in `definer` */
} wick_rewriter;

typedef struct wick_rewrite {
  const char *from, *to;          /* the pattern; the replacement, or NULL */
  bool (*when)(wick_rewriter *r); /* the condition; NULL: always true */
  /* builds the replacement if `to` is NULL; returns 0 if it does not apply */
  wick_value (*build)(wick_rewriter *r);
} wick_rewrite; /* tables end with an entry without a pattern */

wick_rewriter wick_rewriter_begin(const wick_func *f, wick_arena *mem);
/* Replaces node n of the old function by the first rule that matches, or copies it. Returns whether
 * it was replaced. `rules` may be NULL. */
bool wick_rewrite_node(wick_rewriter *r, const wick_node *n, const wick_rewrite *rules);
/* Replaces n by v, which keeps n's name. */
void wick_rewrite_by(wick_rewriter *r, const wick_node *n, wick_value v);
/* Runs a whole pass with one table. */
WICK_CHECKED wick_status wick_rewrite_pass(const wick_rewrite *rules, const wick_func *f,
                                           wick_arena *mem, wick_func **out);

/* ---- for conditions and replacements ---- */
static inline wick_value wick_rewrite_var(const wick_rewriter *r, char name)
{
  return r->var[name - 'a'];
}
static inline const wick_type_info *wick_rewrite_info(const wick_rewriter *r, wick_value v)
{
  return wick_built_info(&r->c.b, v);
}
static inline wick_type wick_rewrite_type(const wick_rewriter *r) /* of the matched node */
{
  return wick_type_of(r->c.f, r->node->first);
}
/* Copies the node that defines v to *out, since building moves nodes. Returns false if it has
 * another operator. */
bool wick_rewrite_def(wick_rewriter *r, wick_value v, wick_opcode op, wick_node *out);
/* Returns whether the old value has only one use. */
static inline bool wick_rewrite_once(const wick_rewriter *r, wick_value old)
{
  return r->uses.first[old.id + 1] - r->uses.first[old.id] == 1;
}
/* Returns whether all elements of v are one number, and that number. */
bool wick_rewrite_number(wick_rewriter *r, wick_value v, double *out);
bool wick_rewrite_int(wick_rewriter *r, wick_value v, int64_t *out);

#endif
