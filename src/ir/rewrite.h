/* Local rewrites, as tables of patterns and replacements:
 *
 *   {"neg(neg(x))", "x", NULL, NULL},
 *   {"pow(x, 2)", "mul(x, x)", pow_is_float, NULL},
 *   {"transpose(t=transpose(x))", NULL, NULL, transpose_twice},
 *
 * A pattern is an operator with its operands:
 *   x           a variable, one letter: any value; the same value where it appears again
 *   2, -0       a constant whose elements are all this number; 0 and -0 differ for floats
 *   op(...)     a node of this operator; op!(...): the same, and its result has no other use
 *   t=op(...)   the same, and the variable t is its result
 *   ..          any further operands
 * Operands that the pattern leaves out must be missing. The replacement has the same form; a node
 * of the root's operator gets the root's attributes, others have defaults. A replacement is not
 * made if its type differs from the root's (x + 0 with a broadcast x).
 *
 * Patterns are matched against the function that is being built, so that one traversal rewrites a
 * whole chain. */
#ifndef WICK_IR_REWRITE_H
#define WICK_IR_REWRITE_H

#include "ir/copy.h"

typedef struct wick_rewriter {
  wick_copier c;
  wick_arena *mem;
  wick_uses uses;              /* of the old function */
  const wick_node *node;       /* the root, in the old function */
  const wick_value *in;        /* its operands, in the new function */
  wick_value var[26];          /* the values of the variables; 0: none */
  wick_list(uint32_t) definer; /* per new value: its node's index + 1; 0: a parameter */
  wick_list(uint32_t) from;    /* per new value: the old value that became it; 0: none or several */
  uint32_t nseen;              /* nodes of the builder that are in `definer` */
} wick_rewriter;

typedef struct wick_rewrite {
  const char *from, *to;                 /* pattern; replacement, or NULL */
  bool (*when)(wick_rewriter *r);        /* NULL: always */
  wick_value (*build)(wick_rewriter *r); /* the replacement if `to` is NULL; returns 0 for none */
} wick_rewrite;                          /* tables end with an entry without a pattern */

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
static inline wick_type wick_rewrite_type(const wick_rewriter *r) /* of the root */
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
