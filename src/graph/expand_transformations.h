/* Replaces the transformations of functions (value_and_grad, jvp, ...) by ordinary nodes. */
#ifndef WICK_GRAPH_EXPAND_TRANSFORMATIONS_H
#define WICK_GRAPH_EXPAND_TRANSFORMATIONS_H

#include "ir/pass.h"

/* Runs on all functions of f's module when it meets a transformation: first on functions that are
 * transformed, then on those that transform them, so that transformations compose in any order.
 * Function values that an expanded function has are called directly or written out (partial_eval);
 * if it is transformed itself, those that are left become data (defunctionalize). Then the marks
 * stop_gradient, checkpoint and with_vjp become copies and calls. Functions that only transformations
 * used go. Fails: WICK_EUNSUPPORTED if a function is transformed while it is
 * computed, with the path, or if it cannot be transformed. */
WICK_CHECKED wick_status wick_pass_expand_transformations(const wick_pass_context *pass,
                                                          const wick_func *f, wick_func **out);

/* Returns whether a function of the module has a transformation, or a mark. */
bool wick_has_transformations(const wick_module *m);

#endif
