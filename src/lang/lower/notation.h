/* What the files that lower index notation share. */
#ifndef WICK_LANG_LOWER_NOTATION_H
#define WICK_LANG_LOWER_NOTATION_H

#include "lang/lower/state.h"

/* A tensor that is read at affine functions of indices, which has not been built: products know
 * what to do with it. Outside of the tensor it is 0 if `guard` is set. */
typedef struct notation_access {
  wick_value x;
  uint32_t rank;
  bool guard;
  wick_dim begin[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK][WICK_MAX_RANK]; /* of dimension d of x, per index of the value */
} notation_access;

/* A value has a dimension for each index that it depends on, in this order. */
typedef struct notation_value {
  wick_value v;                  /* 0: see `access` */
  const notation_access *access; /* NULL: see `v` */
  uint32_t n;
  const wick_lang_entity *index[WICK_MAX_RANK];
} notation_value;

typedef struct notation {
  lowering *s;
  lowering_frame *f;
  notation_value mask[8]; /* the conditions of the branches around, which hold */
  uint32_t nguard;
} notation;

wick_dim wick_notation_size(notation *c, const wick_lang_entity *index);
/* Adds an index to x, which has the same one at most once. Fails if there are too many. */
void wick_notation_add(notation *c, notation_value *x, const wick_lang_entity *e);
bool wick_notation_has(const notation_value *x, const wick_lang_entity *e);
/* Where the index is in x, which has it. */
uint32_t wick_notation_at(const notation_value *x, const wick_lang_entity *e);
/* Fails at n; returns no value. */
notation_value wick_notation_fail(notation *c, const wick_ast *n, const char *why);
/* The value of an expression of indices. */
notation_value wick_notation_expr(notation *c, wick_ast *n);
/* The same of a call: of an operator, a conversion, or a function of the program. */
notation_value wick_notation_call(notation *c, wick_ast *n);
/* An element-wise operator on values, which are aligned. */
notation_value wick_notation_apply(notation *c, wick_opcode op, uint32_t n,
                                   const notation_value *arg, const wick_attr *attr);
/* x with all dimensions of `to`. */
wick_value wick_notation_spread(notation *c, const notation_value *x, const notation_value *to);
/* Builds x, if it has not been built. */
wick_value wick_notation_built(notation *c, const notation_value *x);
/* x with the dimensions of `to`, which has all of x's, in its order; others are 1. */
wick_value wick_notation_aligned(notation *c, const notation_value *x, const notation_value *to);
/* v, whose dimensions have these indices. */
notation_value wick_notation_of(wick_value v, uint32_t n, const wick_lang_entity *const *index);
/* Reduces x over those of the indices that it has. */
notation_value wick_notation_reduced(notation *c, wick_opcode op, const notation_value *x,
                                     const notation_value *over);
/* The sum over indices of the product of n factors of floats, each of which has at least one index.
 * Factors are joined two by two, those first whose product is small, as a `matmul` or a `conv`. */
notation_value wick_notation_product(notation *c, uint32_t n, notation_value *factor,
                                     const notation_value *over);

#endif
