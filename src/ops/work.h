/* How long references take: estimates from the sizes of operands and results. */
#ifndef WICK_OPS_WORK_H
#define WICK_OPS_WORK_H

#include "ir/op.h"

/* Returns the seconds that the reference of a node takes on a common machine, within a factor of
 * about three. Reads the sizes of the tensors, not their data. */
double wick_ref_seconds(const wick_ref *r);

/* The column `products` of operators. */
double wick_products_matmul(const wick_ref *r);
double wick_products_conv(const wick_ref *r);
double wick_products_conv_transpose(const wick_ref *r);
double wick_products_conv_weight_grad(const wick_ref *r);
double wick_products_attention(const wick_ref *r);
double wick_products_pool(const wick_ref *r);
double wick_products_recurrent(const wick_ref *r);
double wick_products_dft_pass(const wick_ref *r);

#endif
