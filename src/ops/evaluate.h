/* The reference evaluator of graph functions: it runs the `ref` of every node's operator, in
 * order. It is slow and exact: the oracle for all compiled code. */
#ifndef WICK_OPS_EVALUATE_H
#define WICK_OPS_EVALUATE_H

#include "ir/op.h"

typedef struct wick_evaluate_options {
  /* Is called with every tensor after it is computed, also for parameters. May be NULL. */
  void (*observe)(void *arg, const wick_func *f, wick_value v, const wick_tensor *t);
  void *arg;
} wick_evaluate_options;

/* Runs `f`, which is verified, on concrete tensors.
 *   in       as many as f has parameters, all tensors; they fix the symbols of f's dimensions
 *   options  may be NULL
 *   out      as many as f returns; their data lives in mem
 *   mem      results and errors; tmp: tensors while they live, reused after their last use;
 *            scratch: of one row at a time, rewound. Three different arenas
 * Fails where operands do not fit the parameters, where a row fails at run time (naming the node's
 * place), and where functions call each other deeper than WICK_EVALUATE_DEPTH. */
enum { WICK_EVALUATE_DEPTH = 1000 };
WICK_CHECKED wick_status wick_evaluate(const wick_func *f, uint32_t nin, const wick_tensor *in,
                                       const wick_evaluate_options *options, wick_arena *mem,
                                       wick_arena *tmp, wick_arena *scratch, wick_tensor *out);

#endif
