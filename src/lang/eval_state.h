/* What the files of the evaluator share. */
#ifndef WICK_LANG_EVAL_STATE_H
#define WICK_LANG_EVAL_STATE_H

#include <string.h>

#include "lang/eval.h"

typedef struct eval_size {
  const char *name;
  int64_t value;
} eval_size;

/* What a variable for several sizes stands for in a call. */
typedef struct eval_rest {
  const wick_ty *var;
  uint32_t ndim;
  const int64_t *dim;
} eval_rest;

/* The locals of a call, and what its arguments determine. */
typedef struct eval_frame {
  const wick_typed *typed;
  uint32_t nlocal;
  const wick_datum **local;
  wick_list(const wick_ty *) var; /* element types: var[i] is elem[i] */
  wick_list(wick_elem) elem;
  wick_list(wick_dim) symbol;
  wick_list(int64_t) size;
  wick_list(eval_rest) rest;
} eval_frame;

/* A float tensor depends on variables of one or more differentiations, the innermost first. */
typedef struct eval_trace {
  struct eval_tape *tape;
  struct eval_step *step; /* the step that computed it, and which of its results it is */
  uint32_t result;
  const struct eval_trace *outer;
} eval_trace;

typedef struct eval {
  wick_lang_program *p;
  wick_types *t;
  wick_arena *mem, tmp, scratch, results;
  const wick_eval_options *options;
  const char *stack;
  wick_status failed; /* the first failure; then all values are () */
  uint32_t ntape;     /* differentiations so far */
  /* Of the call that is made next, of an item by name: the frame whose types say what its
   * arguments leave open; else NULL. */
  const struct eval_frame *caller;
} eval;

const wick_datum *wick_eval_fail(eval *e, const wick_ast *n, const char *fmt, ...)
    WICK_PRINTF(3, 4);
const wick_datum *wick_eval_expr(eval *e, eval_frame *f, const wick_ast *n);
const wick_datum *wick_eval_apply(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg);

/* Returns whether the element type is known in this call. */
bool wick_eval_elem(const eval_frame *f, const wick_ty *elem, wick_elem *out);

/* ---- eval_form.c ---- */
/* A form of the prelude, with its arguments. */
const wick_datum *wick_eval_form(eval *e, eval_frame *f, const wick_ast *n,
                                 const wick_lang_entity *g, uint32_t narg, const wick_datum **arg);
/* Calls a function that a transformation made. */
const wick_datum *wick_eval_apply_form(eval *e, const wick_ast *n, const wick_datum *fn,
                                       uint32_t narg, const wick_datum *const *arg);

/* ---- eval_grad.c, eval_tape.c ---- */
const wick_datum *wick_eval_differentiate(eval *e, const wick_ast *n, const wick_datum *fn,
                                          uint32_t narg, const wick_datum *const *arg);
/* The cotangents of a function's arguments, from that of its result. */
const wick_datum *wick_eval_pull(eval *e, const wick_ast *n, const wick_datum *fn,
                                 const wick_datum *cotangent);
/* d, which no differentiation sees. */
const wick_datum *wick_eval_untraced(eval *e, const wick_datum *d);
/* Records that an operator computed the results from the operands. */
void wick_eval_record(eval *e, wick_opcode op, const wick_attr *attr, uint32_t narg,
                      const wick_datum *const *arg, uint32_t nout, wick_datum *const *out);
/* Returns whether elements that come from these tensors are differentiated; then their positions
 * are needed. */
bool wick_eval_is_traced(uint32_t narg, const wick_datum *const *arg);
/* Records that element k of `out` is element from[k] of the operands, one after another; from NULL:
 * element k. */
void wick_eval_record_move(eval *e, uint32_t narg, const wick_datum *const *arg,
                           const int64_t *from, wick_datum *out);

/* ---- eval_tensor.c ---- */
/* Runs an operator on tensors; an operand that is NULL is missing. Sets out[0] .. out[most - 1], as
 * far as it has results. Returns their number. */
uint32_t wick_eval_run(eval *e, const wick_ast *n, wick_opcode op, uint32_t narg,
                       const wick_datum *const *arg, const wick_attr *attr, uint32_t nwant,
                       const wick_type *want, uint32_t most, const wick_datum **out);
wick_datum *wick_eval_new(eval *e, wick_datum_kind kind, uint32_t n);
wick_datum *wick_eval_tensor(eval *e, wick_elem elem, uint32_t rank, const int64_t *dim);
const wick_datum *wick_eval_int(eval *e, int64_t i);
const wick_datum *wick_eval_bool(eval *e, bool b);
wick_scalar wick_eval_get(const wick_datum *d, uint64_t k);
void wick_eval_set(const wick_datum *d, uint64_t k, wick_scalar v);
const wick_datum *wick_eval_cast(eval *e, const wick_datum *d, wick_elem to);
const wick_datum *wick_eval_operator(eval *e, eval_frame *f, const wick_ast *n, wick_opcode op,
                                     bool keepdims, uint32_t narg, const wick_datum **arg);
const wick_datum *wick_eval_index(eval *e, eval_frame *f, const wick_ast *n, const wick_datum *x,
                                  const wick_datum *value);
const wick_datum *wick_eval_stack(eval *e, const wick_ast *n, uint32_t count,
                                  const wick_datum *const *item);
const wick_datum *wick_eval_row(eval *e, const wick_datum *x, int64_t k);
/* x with dimension `from` moved to `to`. */
const wick_datum *wick_eval_moved(eval *e, const wick_datum *x, uint32_t from, uint32_t to);

/* ---- eval_index.c ---- */
const wick_datum *wick_eval_reduce(eval *e, eval_frame *f, const wick_ast *n);
const wick_datum *wick_eval_index_op(eval *e, eval_frame *f, const wick_ast *list);

#endif
