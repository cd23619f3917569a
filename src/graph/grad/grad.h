/* Differentiation of graph functions, in reverse mode.
 *
 * A function becomes one with more results: behind its own, for each of some values, the derivative
 * of others by it, times their cotangents. What is made is an ordinary function, which can be
 * differentiated again. Rows say how in their column `grad` (ops/grad.h), or through `expand`.
 * Branches, loops and calls have rules, too (ops/grad_branch.c, ops/grad_loop.c); tuples on the way
 * are refused at their place. */
#ifndef WICK_GRAPH_GRAD_GRAD_H
#define WICK_GRAPH_GRAD_GRAD_H

#include "ir/build.h"

typedef struct wick_gradient {
  uint32_t nof; /* what is differentiated: values of WICK_FLOATS */
  const wick_value *of;
  uint32_t nwrt; /* by what: likewise. Parameters, constants, or values on the way, which then are
                    variables of their own */
  const wick_value *wrt;
  bool given; /* the cotangents of `of` are parameters behind f's own, named "y.grad"; else ones */
} wick_gradient;

/* The results of f, then for each value of wrt its cotangent, of its type, named "x.grad" (or
 * "x.grad2", ... where f has that already); zeros where nothing depends on it. Fails with
 * WICK_EUNSUPPORTED where a row has no derivative. */
WICK_CHECKED wick_status wick_differentiate(const wick_func *f, const wick_gradient *g,
                                            wick_arena *mem, wick_func **out);

/* The values of f with these names: of results, parameters, constants, or on the way. `of` NULL:
 * the first result; no `wrt`: all parameters with cotangents. Fails with WICK_EINVAL for a name
 * that is not there, or one without cotangents. */
WICK_CHECKED wick_status wick_gradient_find(const wick_func *f, const char *of, uint32_t nwrt,
                                            const char *const *wrt, wick_arena *mem,
                                            wick_gradient *out);

/* What the cotangent of a value of that name is called in b; 0 where it has none. */
uint32_t wick_gradient_name(const wick_builder *b, uint32_t name);

/* The pass: the sum of the first result's elements by all parameters that have cotangents; nothing
 * happens where there are none. */
WICK_CHECKED wick_status wick_pass_grad(const wick_func *f, wick_arena *mem, wick_func **out);

#endif
