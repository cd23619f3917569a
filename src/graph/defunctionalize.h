/* Replaces function values by data, so that the module has no closures and no applies any more.
 *
 * A flow analysis by unification joins the places (values, fields, contents of references,
 * parameters and results of function values) between which a function value can move. Each set of
 * places becomes a data type with one constructor for each function that flows there, whose fields
 * are the captured values, and a function `apply.N` that calls the one that its first operand is.
 * Data types with fields of function type are redefined.
 *
 * The pass works on all graphs of the module at once. Leaves alone: modules in which transformations
 * take or give function values (see expand_transformations). Needs: nothing. Fails: WICK_EUNSUPPORTED for
 * function values in the interface of the entry, and for those that other operators take. Exact. */
#ifndef WICK_GRAPH_DEFUNCTIONALIZE_H
#define WICK_GRAPH_DEFUNCTIONALIZE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_defunctionalize(const wick_pass_context *pass,
                                                   const wick_func *f, wick_func **out);

#endif
