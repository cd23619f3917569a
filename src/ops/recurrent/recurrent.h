/* The operands, activations, references and steps that the recurrent operators share.
 *
 * A recurrent operator runs over the whole sequence in one direction. It expands into one product
 * of all inputs with their weights, and a step for each element of the sequence. All steps are the
 * same kernel, so the code does not grow with their number. Hidden units are in blocks of at
 * most WICK_RECURRENT_BLOCK, and the gates of a block are next to each other: [.., blocks, gates,
 * block]. A task therefore reads its weights sequentially, and has all gates of its units. Units
 * beyond the last one are computed but not used. */
#ifndef WICK_OPS_RECURRENT_RECURRENT_H
#define WICK_OPS_RECURRENT_RECURRENT_H

#include "ir/op.h"
#include "ops/compose.h"
#include "ops/gradient/grad.h"

enum { WICK_RECURRENT_BLOCK = 16, WICK_RECURRENT_UNROLLED = 32 };

/* ---- operands, in the order that all recurrent operators have ---- */
enum {
  WICK_RECURRENT_X, /* [steps, batch, inputs] */
  WICK_RECURRENT_W, /* [gates * units, inputs] */
  WICK_RECURRENT_R, /* [gates * units, units] */
  WICK_RECURRENT_B, /* [2 * gates * units]: biases of the input's weights, then of the state's */
  WICK_RECURRENT_LENGTHS,
  WICK_RECURRENT_H, /* [batch, units] */
  WICK_RECURRENT_C, /* [batch, units] */
  WICK_RECURRENT_P  /* [3 * units] */
};

/* Infers the types and checks the operands up to C. The results are all states of the first kind,
 * followed by the last states. */
WICK_CHECKED wick_status wick_recurrent_infer(wick_infer *c, uint32_t gates, uint32_t nstate);

/* ---- activations ---- */
enum { WICK_RECURRENT_CLIP, WICK_RECURRENT_ALPHA, WICK_RECURRENT_BETA, WICK_RECURRENT_CELL };
#define WICK_RECURRENT_WORDS                                                                       \
  "tanh sigmoid relu affine leaky_relu thresholded_relu scaled_tanh hard_sigmoid elu softsign "    \
  "softplus"
#define WICK_RECURRENT_ACT(name, dflt)                                                             \
  {                                                                                                \
    name, WICK_ATTR_ENUM, dflt, false, WICK_RECURRENT_WORDS, 0, 0                                  \
  }
/* The first attributes of all recurrent operators. Those of further activations follow immediately.
 */
#define WICK_RECURRENT_ATTRS                                                                       \
  {"clip", WICK_ATTR_FLOAT, 0, false, NULL, 0, 0},                                                 \
      {"alpha", WICK_ATTR_FLOATS, 0, false, NULL, 0, 0},                                           \
      {"beta", WICK_ATTR_FLOATS, 0, false, NULL, 0, 0}, WICK_RECURRENT_ACT("cell", 0)

/* Activation 2, if the operator has it, is applied to a state, which is not clipped. */
enum { WICK_RECURRENT_HIDDEN = 2 };
/* Sets the default values of `alpha` and `beta` for an activation. */
void wick_recurrent_defaults(int64_t kind, double *alpha, double *beta);
/* Builds activation k (0: cell, then in the order of the operator) of x, which is clipped first. x
 * is a tensor or an element. */
wick_value wick_recurrent_act(wick_builder *b, const wick_attr *attr, uint32_t k, wick_value x);
/* Evaluates an activation in the range of e's arithmetic. All steps of the references are in that
 * range, because an unbounded state leaves it, and the definition then determines which values are
 * infinite or NaN. */
double wick_recurrent_act_ref(const wick_attr *attr, wick_elem e, uint32_t k, double x);
double wick_recurrent_mix_ref(wick_elem e, double x, double a, double y, double b); /* x a + y b */

/* ---- references ---- */
typedef struct wick_recurrent_ref {
  const wick_ref *c;
  int64_t steps, batch, inputs, units, gates;
  const wick_scalar *in[8]; /* elements of each operand; NULL if it is missing */
  double *state[2];         /* [batch, units], initialized from the operands */
  /* per batch index: a state exists; before the first step without an initial state, nothing is
   * multiplied by it */
  bool *begun;
  double *from_input, *from_state; /* [gates * units] for one batch index, with biases */
} wick_recurrent_ref;
/* Computes the next states of one batch index from its products. `state` is the state of that
 * index. */
typedef void wick_recurrent_cell(wick_recurrent_ref *r, double *const *state);
WICK_CHECKED wick_status wick_recurrent_run_ref(const wick_ref *c, uint32_t gates, uint32_t nstate,
                                                bool reverse, wick_recurrent_cell *cell);

/* ---- steps ---- */
typedef struct wick_recurrent {
  wick_builder *b;
  const wick_node *n;
  wick_dim steps, batch;
  int64_t inputs, units, gates;
  int64_t blocks, block; /* number of blocks; units in a block */
  wick_elem elem;        /* of the operands; steps use its arithmetic */
  wick_value in[8];
  uint32_t nstate;
  wick_value state[2]; /* [batch, blocks, block]; 0: all zeros */
  wick_value index;    /* step of the loop around the steps; 0: the steps are unrolled */
  bool reverse;        /* with a loop: steps count from the end */
} wick_recurrent;

/* Begins an expansion. Returns false after it added a failure to the builder. */
bool wick_recurrent_begin(wick_builder *b, const wick_node *n, const wick_value *in, uint32_t gates,
                          uint32_t nstate, wick_recurrent *out);
/* Packs the gates first .. first+n-1 of a matrix [gates * units, inner] as [blocks, inner, n,
 * block]. */
wick_value wick_recurrent_weights(wick_recurrent *r, wick_value matrix, uint32_t first, uint32_t n,
                                  int64_t inner);
/* Packs numbers per unit, [gates * units] from `begin` on, as [blocks, n, block]. */
wick_value wick_recurrent_numbers(wick_recurrent *r, wick_value v, int64_t begin, uint32_t n);
/* Builds x w' + biases for those gates, [steps, batch, blocks, n, block]. The state's bias is added
 * only for the gates before `own`. */
wick_value wick_recurrent_inputs(wick_recurrent *r, uint32_t first, uint32_t n, uint32_t own);
/* Selects step t of these inputs. */
wick_value wick_recurrent_input(wick_recurrent *r, wick_value inputs, int64_t t);
/* Reshapes a state [batch, blocks, block] to rows [batch, places]. */
wick_value wick_recurrent_rows(wick_recurrent *r, wick_value state);
/* For one gate: packs its weights as columns of a matrix; selects its part of the inputs as units;
 * multiplies a state by such columns. */
wick_value wick_recurrent_columns(wick_recurrent *r, wick_value matrix, uint32_t gate);
wick_value wick_recurrent_units(wick_recurrent *r, wick_value input);
wick_value wick_recurrent_times(wick_recurrent *r, wick_value state, wick_value columns);
/* Builds a state of zeros. */
wick_value wick_recurrent_zero(wick_recurrent *r);
/* Replaces r->state by the next states. Sequences of more than WICK_RECURRENT_UNROLLED steps are
 * loops; t then has no meaning, and r->index is the step. */
typedef void wick_recurrent_step(wick_recurrent *r, const void *arg, int64_t t);
void wick_recurrent_run(wick_recurrent *r, bool reverse, wick_recurrent_step *step, const void *arg,
                        wick_value *out);

/* ---- steps as operators ----
 *
 * x [B, N, gates, v]: the products of the inputs; a state [B, N, v]; h [B, at least K] and r [N, K,
 * gates, v]: the state as rows and its weights, both or none; further numbers [N, more, v] or none.
 */
enum { WICK_STEP_X, WICK_STEP_STATE, WICK_STEP_H, WICK_STEP_R, WICK_STEP_MORE };
WICK_CHECKED wick_status wick_step_infer(wick_infer *c, uint32_t gates, uint32_t more,
                                         uint32_t nout);
/* Returns the product of h with the weights of a gate at [b, n, v]; 0 without weights. */
double wick_step_sum_ref(const wick_ref *c, const int64_t *at, int64_t gate);
double wick_step_input_ref(const wick_ref *c, const int64_t *at, int64_t gate);
double wick_step_more_ref(const wick_ref *c, const int64_t *at, int64_t k);

/* The stage of a step: its axes, and functions that read at them. */
typedef struct wick_step {
  const wick_compute *c;
  wick_axis axis[3];
  wick_value product; /* 0: none */
} wick_step;
/* Opens the map that follows the fold of the products. */
wick_step wick_step_begin(const wick_compute *c, const char *name);
wick_value wick_step_input(const wick_step *s, int64_t gate);
wick_value wick_step_sum(const wick_step *s, int64_t gate); /* 0 without weights */
wick_value wick_step_state(const wick_step *s);
wick_value wick_step_more(const wick_step *s, int64_t k); /* 0 if there are none */

/* A step as simpler operators, for its derivative: parts [B, N, v] of its operands; 0 for missing
 * operands. */
typedef struct wick_step_rows {
  wick_builder *b;
  const wick_node *n;
  const wick_value *in;
  wick_value sum; /* [B, N, gates, v]: the state times its weights; 0: none */
} wick_step_rows;
wick_step_rows wick_step_rows_of(wick_builder *b, const wick_node *n, const wick_value *in);
wick_value wick_step_rows_input(const wick_step_rows *s, int64_t gate);
wick_value wick_step_rows_sum(const wick_step_rows *s, int64_t gate);
/* the sum of the parts that exist */
wick_value wick_step_rows_gate(const wick_step_rows *s, int64_t gate);
wick_value wick_step_rows_more(const wick_step_rows *s, int64_t k);
void wick_step_grad(wick_adjoint *a, wick_grad_define *define);

#endif
