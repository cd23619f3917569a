/* What the files of the evaluator share. */
#ifndef WICK_LANG_EVAL_STATE_H
#define WICK_LANG_EVAL_STATE_H

#include <string.h>

#include "lang/eval.h"

typedef struct eval_size {
  const char *name;
  int64_t value;
} eval_size;

/* The locals of a call, and what its arguments determine. */
typedef struct eval_frame {
  const wick_typed *typed;
  uint32_t nlocal;
  const wick_datum **local;
  wick_list(const wick_ty *) var; /* element types: var[i] is elem[i] */
  wick_list(wick_elem) elem;
  wick_list(wick_dim) symbol;
  wick_list(int64_t) size;
} eval_frame;

typedef struct eval {
  wick_lang_program *p;
  wick_types *t;
  wick_arena *mem, tmp, scratch, results;
  const wick_eval_options *options;
  const char *stack;
  wick_status failed; /* the first failure; then all values are () */
} eval;

const wick_datum *wick_eval_fail(eval *e, const wick_ast *n, const char *fmt, ...)
    WICK_PRINTF(3, 4);
const wick_datum *wick_eval_expr(eval *e, eval_frame *f, const wick_ast *n);
const wick_datum *wick_eval_apply(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg);

/* ---- eval_tensor.c ---- */
wick_datum *wick_eval_new(eval *e, wick_datum_kind kind, uint32_t n);
const wick_datum *wick_eval_tensor(eval *e, wick_elem elem, uint32_t rank, const int64_t *dim);
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

/* ---- eval_index.c ---- */
const wick_datum *wick_eval_reduce(eval *e, eval_frame *f, const wick_ast *n);
const wick_datum *wick_eval_index_op(eval *e, eval_frame *f, const wick_ast *list);

#endif
