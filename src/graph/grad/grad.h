/* Differentiation of graph functions, in reverse mode.
 *
 * A function gets more results after its own: for each value of a list `wrt`, the derivative of the
 * values `of` with respect to it, times their cotangents. The result is an ordinary function, which
 * can be differentiated again. An operator has its derivative in the column `grad`
 * (ops/gradient/grad.h), or through its decomposition. Branches, loops and calls have rules as well
 * (ops/gradient/grad_branch.c, ops/gradient/grad_loop.c). Tuples on the path from `wrt` to `of` are
 * refused, with their location. */
#ifndef WICK_GRAPH_GRAD_GRAD_H
#define WICK_GRAPH_GRAD_GRAD_H

#include "ir/build.h"
#include "ir/pass.h"

typedef struct wick_gradient {
  uint32_t nof; /* the values that are differentiated; elements of WICK_FLOATS */
  const wick_value *of;
  uint32_t nwrt; /* with respect to these values, also of WICK_FLOATS: parameters, constants, or
                    intermediate values, which are then independent variables */
  const wick_value *wrt;
  bool given; /* the cotangents of `of` are parameters after those of f, named "y.grad"; else 1 */
} wick_gradient;

/* The new function returns the results of f, then for each value of wrt its cotangent. The
 * cotangent has the type of the value and the name "x.grad" ("x.grad2", ... if f already has that
 * name). It is 0 if nothing depends on the value. Fails: WICK_EUNSUPPORTED if an operator has no
 * derivative. */
WICK_CHECKED wick_status wick_differentiate(const wick_func *f, const wick_gradient *g,
                                            wick_arena *mem, wick_func **out);

/* Finds the values of f with these names: results, parameters, constants, or intermediate values.
 * `of` NULL: the first result; `nwrt` 0: all parameters that have cotangents. Fails: WICK_EINVAL
 * for a name that does not exist, or whose value has no cotangent. */
WICK_CHECKED wick_status wick_gradient_find(const wick_func *f, const char *of, uint32_t nwrt,
                                            const char *const *wrt, wick_arena *mem,
                                            wick_gradient *out);

/* The name in b of the cotangent of a value with this name; 0 if the value has no name. */
uint32_t wick_gradient_name(const wick_builder *b, uint32_t name);

/* The pass: differentiates the sum of the first result's elements with respect to all parameters
 * that have cotangents. It does nothing if there are none. */
WICK_CHECKED wick_status wick_pass_grad(const wick_pass_context *pass, const wick_func *f,
                                        wick_func **out);

#endif
