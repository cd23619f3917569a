/* The tape of a differentiation in the evaluator. */
#ifndef WICK_LANG_EVAL_TAPE_H
#define WICK_LANG_EVAL_TAPE_H

#include "lang/eval_state.h"

/* An operator, a move of elements, or a call of a function with a derivative of its own. */
typedef struct eval_step {
  wick_opcode op;
  const wick_attr *attr; /* NULL: defaults */
  const int64_t *move;   /* of a move: element k of the result is element move[k] of the operands */
  const struct eval_own *own; /* of a call (eval_grad.c) */
  uint32_t number;            /* in its tape */
  uint32_t narg, nout;
  const wick_datum **arg, **out; /* as the outer tapes see them */
  const eval_trace **from;       /* per operand: what computed it on this tape; NULL: a constant */
} eval_step;

typedef struct eval_tape {
  uint32_t number; /* inner ones have higher numbers */
  wick_list(eval_step *) step;
} eval_tape;

/* The cotangents of the steps' results: of[step][result], NULL for zeros. */
typedef struct eval_cotangents {
  uint32_t n;
  const wick_datum ***of;
} eval_cotangents;

eval_tape *wick_tape_begin(eval *e);
/* Adds a step; the caller sets what it is, and its results. */
eval_step *wick_tape_step(eval *e, eval_tape *tape, uint32_t narg, const wick_datum *const *arg,
                          uint32_t nout);
/* d is that result of the step. */
void wick_tape_trace(eval *e, eval_tape *tape, eval_step *step, uint32_t result, wick_datum *d);
/* d as the tape does not see it; tape NULL: no tape does. */
const wick_datum *wick_tape_strip(eval *e, const wick_datum *d, const eval_tape *tape);
/* A tensor like another one, with the same number everywhere. */
const wick_datum *wick_tape_number(eval *e, const wick_datum *like, double number);

eval_cotangents wick_tape_cotangents(eval *e, const eval_tape *tape);
/* Adds the cotangent of a result, both with tuples and data. */
void wick_tape_seed(eval *e, const wick_ast *n, eval_cotangents *c, const eval_tape *tape,
                    const wick_datum *result, const wick_datum *cotangent);
/* Computes all cotangents, from the last step to the first. */
void wick_tape_pull(eval *e, const wick_ast *n, eval_cotangents *c, const eval_tape *tape);
/* Adds the cotangent of an operand of a step. */
void wick_tape_give(eval *e, const wick_ast *n, eval_cotangents *c, const eval_step *s,
                    uint32_t operand, const wick_datum *cotangent);
/* The cotangent of d, which has tuples and data: () of what has none. */
const wick_datum *wick_tape_cotangent(eval *e, const eval_cotangents *c, const eval_tape *tape,
                                      const wick_datum *d);
/* The cotangents of a call with a derivative of its own. */
void wick_tape_pull_own(eval *e, const wick_ast *n, eval_cotangents *c, const eval_step *s);

#endif
