/* Algebraic simplification: the column `simplify` of an operator has the rows (ir/rewrite.h) that
 * replace a node by something cheaper. All rows are exact: the same bits for every input, NaN's
 * payload aside. */
#ifndef WICK_OPS_SIMPLIFY_H
#define WICK_OPS_SIMPLIFY_H

#include "ir/rewrite.h"

/* ---- simplify_move.c ---- */
extern const wick_rewrite wick_simplify_reshape[], wick_simplify_transpose[], wick_simplify_slice[],
    wick_simplify_pad[], wick_simplify_concat[], wick_simplify_expand[], wick_simplify_scatter_nd[],
    wick_simplify_reduce[], wick_simplify_gather[], wick_simplify_triangle[]; /* trilu */
/* ---- simplify_window.c ---- */
extern const wick_rewrite wick_simplify_conv[], wick_simplify_avg_pool[], wick_simplify_max_pool[];
/* ---- simplify_scalar.c ---- */
extern const wick_rewrite wick_simplify_add[]; /* and sub */
extern const wick_rewrite wick_simplify_div[];
extern const wick_rewrite wick_simplify_again[]; /* abs, neg, not */
extern const wick_rewrite wick_simplify_bound[]; /* max, min */
extern const wick_rewrite wick_simplify_relu[], wick_simplify_cast[], wick_simplify_pow[],
    wick_simplify_where[];
/* ---- simplify_quantized.c ---- */
extern const wick_rewrite wick_simplify_arg[]; /* argmax, argmin */
/* Removes a bound from what is cast to bytes, if the cast saturates there. */
wick_value wick_simplify_saturated(wick_rewriter *r);
/* Returns the bytes that were dequantized, if quantizing them again gives the same bytes. */
wick_value wick_simplify_requantized(wick_rewriter *r);
/* ---- simplify_scalar.c ---- */
extern const wick_rewrite wick_simplify_const[]; /* a single number needs no memory */

#endif
