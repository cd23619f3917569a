/* The reference evaluator of graph functions: it runs the `ref` of every node's operator, in order.
 * It is slow and exact, and is the oracle for all compiled code. It has data, references, function
 * values and recursion. */
#ifndef WICK_OPS_EVALUATE_H
#define WICK_OPS_EVALUATE_H

#include "base/str.h"
#include "ir/op.h"

typedef struct wick_evaluate_options {
  /* Is called with every tensor after it is computed, and with the parameters. May be NULL. */
  void (*observe)(void *arg, const wick_func *f, wick_value v, const wick_tensor *t);
  void *arg;
  void (*print)(void *arg,
                const char *line); /* of the operator `print`; NULL: nothing is printed */
  /* The bytes of the caller's stack that calls may use; 0: at most WICK_EVALUATE_DEPTH calls are
   * nested. A call takes about a kilobyte. */
  uint64_t stack_bytes;
  /* Fails with WICK_ELIMIT before a node by which this many seconds are exceeded, by the estimate
   * of ops/work.h; 0: no limit. */
  double most_seconds;
} wick_evaluate_options;

/* Estimates the seconds of wick_evaluate. The branch of an `if` counts whether it is taken or not,
 * and a loop counts once if the number of its iterations is not a constant. Sizes that the operands
 * do not determine count nothing. */
double wick_evaluate_seconds(const wick_func *f, uint32_t nin, const wick_tensor *in,
                             wick_arena *tmp);

/* Runs `f`, which is verified, on concrete tensors. Its parameters and results are tensors.
 * - in: as many tensors as f has parameters; they determine the symbols of f's dimensions
 * - options: may be NULL
 * - out: as many tensors as f returns; their data lives in mem
 * - mem: results and errors
 * - tmp: tensors while they are live; their memory is reused after their last use
 * - scratch: memory for one operator at a time, which is rewound after it
 *
 * The three arenas must differ. Fails if operands do not fit the parameters, if an operator fails
 * at run time (with the node's location), or if calls are nested too deep. */
enum { WICK_EVALUATE_DEPTH = 1000 };
WICK_CHECKED wick_status wick_evaluate(const wick_func *f, uint32_t nin, const wick_tensor *in,
                                       const wick_evaluate_options *options, wick_arena *mem,
                                       wick_arena *tmp, wick_arena *scratch, wick_tensor *out);

/* Runs a function without parameters in arenas of its own, which are freed at once; `outer` gives the allocator and
 * the limit. Copies nbytes[k] bytes of result k to out[k].data. Returns false if it fails. */
bool wick_evaluate_alone(const wick_func *f, const wick_evaluate_options *options,
                         const wick_guard *outer, uint32_t nout, const uint64_t *nbytes,
                         const wick_tensor *out);

/* The same as wick_evaluate, and appends the results to `out` as a program writes them: "[1, 2], Cons(1, Nil)". They
 * may be of any type. */
WICK_CHECKED wick_status wick_evaluate_text(const wick_func *f, uint32_t nin, const wick_tensor *in,
                                            const wick_evaluate_options *options, wick_arena *mem,
                                            wick_arena *tmp, wick_arena *scratch, wick_text *out);

#endif
