/* What the files of the derivative of loops share: what is known of one, and its body run again. */
#ifndef WICK_OPS_GRADIENT_GRAD_LOOP_H
#define WICK_OPS_GRADIENT_GRAD_LOOP_H

#include "ir/replay.h"
#include "ops/gradient/grad.h"

typedef struct wick_loop_value { /* of the body, or what is carried into it; rows of it are kept */
  wick_value v;
  bool kept;
} wick_loop_value;

typedef struct wick_loop_rule {
  wick_adjoint *a;
  wick_builder *b;
  wick_region g;
  const wick_value *yield; /* of the body */
  uint32_t ncarried, nstacked;
  bool ends;       /* by its condition, perhaps before the count */
  int64_t most;    /* steps that it may run; INT64_MAX: that is not known */
  bool *live;      /* by carried value: it has a cotangent on the way */
  uint32_t nlive;  /* of these */
  uint32_t nstate; /* carried values, the kept ones of which change from step to step */
  uint32_t nrow;   /* with results of nodes that are not computed again */
  wick_loop_value *row;
  uint32_t nby; /* values from outside whose cotangents are summed over the steps */
  wick_value *by;
  uint32_t ntake; /* nodes of the body that take the step's part of a value from outside: their
                     cotangents are parts of that value's */
  wick_node *take;
} wick_loop_rule;

typedef struct wick_loop_run {
  const wick_value *init;
  wick_value count, begin; /* begin: the first step; 0: the loop's */
  bool ends;               /* it asks the condition; gives, after the states, the steps it ran */
  uint32_t nstacked;       /* 0, or all that the loop stacks: given before the rows */
  int64_t room;            /* of how many steps the rows are kept; 0: of none */
} wick_loop_run;

/* The loop again: the states, steps, rows. */
wick_value wick_loop_forward(const wick_loop_rule *l, const wick_loop_run *run);
/* The steps backwards, with what wick_loop_forward has kept from `rows` on. init and out:
 * cotangents of live states, then of what is captured; out: after them, the rows of what was
 * taken. */
void wick_loop_backward(const wick_loop_rule *l, const wick_loop_run *run, wick_value rows,
                        const wick_value *init, wick_value *out);
/* The cotangent of what `take` takes from, from rows of wick_loop_backward. */
wick_value wick_loop_untake(const wick_loop_rule *l, const wick_loop_run *run,
                            const wick_node *take, wick_value rows);
/* grad_chunks.c: all of it for loops whose rows are too many, or not known how many, to be kept;
 * out as wick_loop_backward, but of takes the cotangents. */
void wick_loop_chunks(const wick_loop_rule *l, int64_t room, const wick_value *init,
                      wick_value *out);
/* How many steps' states, of the kept ones, fit. */
int64_t wick_loop_room(const wick_loop_rule *l, uint32_t nrow);

/* ---- grad_sums.c ---- */

typedef struct wick_loop_sum { /* over the steps, of products of two matrices, then moved */
  wick_value factor[2];        /* of the step */
  bool turned[2];              /* the transpose of it is the factor */
  uint32_t nmove;
  wick_node move[6]; /* the last first */
} wick_loop_sum;

/* v, which nodes from `begin` on compute in a step, is better summed after the loop. */
bool wick_loop_sum_of(const wick_loop_run *run, const wick_builder *b, uint32_t begin, wick_value v,
                      wick_loop_sum *out);
/* From the rows of both factors. */
wick_value wick_loop_summed(wick_builder *b, const wick_loop_sum *s, const wick_value *rows);

wick_value wick_loop_number(const wick_loop_rule *l, int64_t i); /* i64[] */
wick_value wick_loop_true(const wick_loop_rule *l);
bool wick_loop_known(const wick_builder *b, wick_value v, int64_t *out); /* one integer or bool */

#endif
