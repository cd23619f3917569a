/* The facts about a loop that the files of its derivative share, and functions that run its body
 * again. */
#ifndef WICK_OPS_GRADIENT_GRAD_LOOP_H
#define WICK_OPS_GRADIENT_GRAD_LOOP_H

#include "ir/replay.h"
#include "ops/gradient/grad.h"

typedef struct wick_loop_value { /* a value of the body, or one carried into it */
  wick_value v;
  bool kept;
} wick_loop_value;

typedef struct wick_loop_rule {
  wick_adjoint *a;
  wick_builder *b;
  wick_region g;
  const wick_value *yield; /* the operands of the body's yield */
  uint32_t ncarried, nstacked;
  bool ends;       /* its condition may end it before the count */
  int64_t most;    /* steps that it may run; INT64_MAX: unknown */
  bool *live;      /* per carried value: it has a cotangent */
  uint32_t nlive;  /* number of live carried values */
  uint32_t nstate; /* rows: carried values come first; the kept ones change from step to step */
  uint32_t nrow;   /* all rows, including results of nodes that are not computed again */
  wick_loop_value *row;
  uint32_t nby; /* values from outside whose cotangents are summed over the steps */
  wick_value *by;
  /* nodes of the body that select the step's part of a value from outside; their cotangents are
   * parts of the cotangent of that value */
  uint32_t ntake;
  wick_node *take;
} wick_loop_rule;

typedef struct wick_loop_run {
  const wick_value *init;
  wick_value count, begin; /* begin: the first step; 0: that of the loop */
  bool ends; /* it tests the condition, and returns the number of steps after the states */
  /* 0, or the number of all stacked results, which are returned before the rows */
  uint32_t nstacked;
  int64_t nkept; /* number of steps whose rows are kept; 0: none */
} wick_loop_run;

/* Runs the loop again. Returns the states, the number of steps, and the rows. */
wick_value wick_loop_forward(const wick_loop_rule *l, const wick_loop_run *run);
/* Runs the steps backwards, with the values that wick_loop_forward has kept, from `rows` on. init
 * and out: cotangents of live states, then of captured values. After these, out has the rows of
 * cotangents for `take`. */
void wick_loop_backward(const wick_loop_rule *l, const wick_loop_run *run, wick_value rows,
                        const wick_value *init, wick_value *out);
/* Returns the cotangent of the value that `take` selects from, from rows of wick_loop_backward. */
wick_value wick_loop_untake(const wick_loop_rule *l, const wick_loop_run *run,
                            const wick_node *take, wick_value rows);
/* grad_chunks.c: does the same for loops that have too many rows to keep, or an unknown number. out
 * is as in wick_loop_backward, but has the cotangents of the selected values instead of rows. */
void wick_loop_chunks(const wick_loop_rule *l, int64_t nkept, const wick_value *init,
                      wick_value *out);
/* Returns the number of steps whose kept states fit into memory. */
int64_t wick_loop_steps_kept(const wick_loop_rule *l, uint32_t nrow);

/* ---- grad_sums.c ---- */

/* A sum over the steps: of products of two matrices, which is then moved; or of updates that are
 * scattered to places. */
typedef struct wick_loop_sum {
  bool scatters;
  wick_value factor[2]; /* of one step: the factors, or the places and the updates */
  bool turned[2];       /* the factor is the transpose of this value */
  uint32_t nmove;
  wick_node move[6]; /* in reverse order */
} wick_loop_sum;

/* Returns true if v, which the nodes from `begin` on compute in a step, is better summed after the
 * loop. */
bool wick_loop_sum_of(const wick_loop_run *run, const wick_builder *b, uint32_t begin, wick_value v,
                      wick_loop_sum *out);
/* Adds the sum, from the rows of both factors, to `to`. */
wick_value wick_loop_summed(wick_builder *b, const wick_loop_sum *s, wick_value to,
                            const wick_value *rows);
/* Adds v to a sum if it is a scatter onto zeros, as the derivative of a gather is: scatters onto the
 * sum, so that the step touches only these elements. Returns 0 if v is something else. */
wick_value wick_loop_scattered(wick_builder *b, uint32_t begin, wick_value sum, wick_value v);

wick_value wick_loop_number(const wick_loop_rule *l, int64_t i); /* i64[] */
wick_value wick_loop_true(const wick_loop_rule *l);
/* a single integer or bool */
bool wick_loop_known(const wick_builder *b, wick_value v, int64_t *out);

#endif
