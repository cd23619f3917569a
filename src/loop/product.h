/* The canonical inner body of sums of products: state + x * y, where x and y are what is read, or
 * that in the state's type. What schedules and their templates do with convolutions and matrix
 * products asks for it. */
#ifndef WICK_LOOP_PRODUCT_H
#define WICK_LOOP_PRODUCT_H

#include "ir/ir.h"

typedef struct wick_product {
  const wick_node *x, *y; /* reads */
} wick_product;

/* False where the step of `fold`, a node of the group, is something else. */
bool wick_product_of(const wick_func *group, const wick_node *fold, wick_product *out);

/* How the k elements of x that one dot product takes lie for the lanes of axis `lane`. */
typedef enum wick_dots {
  WICK_DOTS_NONE,
  WICK_DOTS_SHARED, /* next to each other, the same for all lanes */
  WICK_DOTS_ACROSS  /* apart: those of a lane behind those of all lanes */
} wick_dots;

/* The product reads k neighbours along axis `axis` of the stage, the fold's innermost: y next to
 * each other, behind the last of the other axes, `lane`; x as the result says. This is what a dot
 * product takes. */
wick_dots wick_product_dots(const wick_func *group, const wick_axis *axis, const wick_axis *lane,
                            const wick_product *p);

#endif
