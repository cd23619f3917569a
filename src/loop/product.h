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

/* The product reads k neighbours along axis `axis` of the stage, the fold's innermost: x next to
 * each other, y too, behind the last of the other axes, `lane`, which x does not have. This is what
 * a dot product takes. */
bool wick_product_dots(const wick_func *group, const wick_axis *axis, const wick_axis *lane,
                       const wick_product *p);

#endif
