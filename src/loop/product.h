/* Recognizes the inner body of a sum of products: state + x * y, where x and y are reads, or reads
 * that are cast to the type of the state. Schedules and their templates use it for convolutions and
 * matrix products. */
#ifndef WICK_LOOP_PRODUCT_H
#define WICK_LOOP_PRODUCT_H

#include "ir/ir.h"

typedef struct wick_product {
  const wick_node *x, *y; /* reads */
} wick_product;

/* Returns false if the step of `fold`, a node of the group, has another form. */
bool wick_product_of(const wick_func *group, const wick_node *fold, wick_product *out);

/* How the k elements of x for one dot product are laid out, for the lanes of axis `lane`. */
typedef enum wick_dots {
  WICK_DOTS_NONE,
  WICK_DOTS_SHARED, /* contiguous, and the same for all lanes */
  WICK_DOTS_ACROSS  /* strided: element k of all lanes, then element k + 1 of all lanes */
} wick_dots;

/* Tells whether a dot product can compute the product along `axis`, the innermost axis of the fold:
 * y's elements along `axis` are contiguous, and `lane` is the next axis outside of them. The result
 * says how x is read. */
wick_dots wick_product_dots(const wick_func *group, const wick_axis *axis, const wick_axis *lane,
                            const wick_product *p);

#endif
