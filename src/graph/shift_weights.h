/* Lets weights of 8 bits with a zero point of their own take part in dot products of bytes. As differences they
 * need 9 bits: w is written as v + z, where v fits in 8 bits and z is one number for all or for each column, and the product becomes that of
 * v plus z times the sums of the other factor, which all columns share.
 *
 * Needs: a verified graph function with constants folded. Guarantees: if the target has dot products of bytes, no
 * ungrouped convolution or matrix product of bytes in i32 has constant weights that do not fit in 8 bits, if their
 * range does and there are several columns. Class: exact, since integers wrap. */
#ifndef WICK_GRAPH_SHIFT_WEIGHTS_H
#define WICK_GRAPH_SHIFT_WEIGHTS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_shift_weights(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
