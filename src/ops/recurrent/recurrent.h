/* What the recurrent rows share: operands, activations, references, and how they become steps.
 *
 * A row runs over the whole sequence in one direction. It expands into one product of all inputs
 * with their weights, and a step for each element of the sequence: steps are the same kernel, so
 * code does not grow with them. Hidden units lie in blocks of WICK_RECURRENT_BLOCK, the gates of a
 * block beside each other, [.., blocks, gates, block]: a task reads its weights from one end to the
 * other, and has all gates of its units. Units beyond the last are computed and not looked at. */
#ifndef WICK_OPS_RECURRENT_RECURRENT_H
#define WICK_OPS_RECURRENT_RECURRENT_H

#include "ir/op.h"
#include "ops/compose.h"
#include "ops/gradient/grad.h"

enum { WICK_RECURRENT_BLOCK = 16, WICK_RECURRENT_UNROLLED = 32 };

/* ---- operands, in the order of all rows ---- */
enum {
  WICK_RECURRENT_X, /* [steps, batch, inputs] */
  WICK_RECURRENT_W, /* [gates * units, inputs] */
  WICK_RECURRENT_R, /* [gates * units, units] */
  WICK_RECURRENT_B, /* [2 * gates * units]: beside the input's weights, then the state's */
  WICK_RECURRENT_LENGTHS,
  WICK_RECURRENT_H, /* [batch, units] */
  WICK_RECURRENT_C, /* [batch, units] */
  WICK_RECURRENT_P  /* [3 * units] */
};

/* Checks the operands up to C; results: all states of the first kind, then the last states. */
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
/* The first attributes of all rows; those of further activations follow at once. */
#define WICK_RECURRENT_ATTRS                                                                       \
  {"clip", WICK_ATTR_FLOAT, 0, false, NULL, 0, 0},                                                 \
      {"alpha", WICK_ATTR_FLOATS, 0, false, NULL, 0, 0},                                           \
      {"beta", WICK_ATTR_FLOATS, 0, false, NULL, 0, 0}, WICK_RECURRENT_ACT("cell", 0)

/* Activation 2, where a row has it, takes a state: that is not clipped. */
enum { WICK_RECURRENT_HIDDEN = 2 };
/* What `alpha` and `beta` are where they are not given. */
void wick_recurrent_defaults(int64_t kind, double *alpha, double *beta);
/* Activation k (0: cell, then as the row has them) of x, which is clipped before. Tensors or
 * elements. */
wick_value wick_recurrent_act(wick_builder *b, const wick_attr *attr, uint32_t k, wick_value x);
/* In the range of e's arithmetic, as are all steps of the references: a state without bounds leaves
 * it, and what then is infinite, or not a number, says the definition. */
double wick_recurrent_act_ref(const wick_attr *attr, wick_elem e, uint32_t k, double x);
double wick_recurrent_mix_ref(wick_elem e, double x, double a, double y, double b); /* x a + y b */

/* ---- references ---- */
typedef struct wick_recurrent_ref {
  const wick_ref *c;
  int64_t steps, batch, inputs, units, gates;
  const wick_scalar *in[8]; /* elements of each operand; NULL where it is missing */
  double *state[2];         /* [batch, units], from the operands */
  bool *begun; /* per place: there is a state; before the first step without one nothing is
                  multiplied by it */
  double *from_input, *from_state; /* [gates * units] of one place, with their biases */
} wick_recurrent_ref;
/* `cell` maps the products for one place to its next states; state: that place's. */
typedef void wick_recurrent_cell(wick_recurrent_ref *r, double *const *state);
WICK_CHECKED wick_status wick_recurrent_run_ref(const wick_ref *c, uint32_t gates, uint32_t nstate,
                                                bool reverse, wick_recurrent_cell *cell);

/* ---- steps ---- */
typedef struct wick_recurrent {
  wick_builder *b;
  const wick_node *n;
  wick_dim steps, batch;
  int64_t inputs, units, gates;
  int64_t blocks;
  wick_elem elem; /* of the operands; steps are in its arithmetic */
  wick_value in[8];
  uint32_t nstate;
  wick_value state[2]; /* [batch, blocks, block]; 0: all zeros */
  wick_value index;    /* of the loop around the step; 0: it is written out */
  bool reverse;        /* then: steps count from the end */
} wick_recurrent;

/* False after a failure was added to the builder. */
bool wick_recurrent_begin(wick_builder *b, const wick_node *n, const wick_value *in, uint32_t gates,
                          uint32_t nstate, wick_recurrent *out);
/* Gates first .. first+n-1 of a matrix [gates * units, inner]: [blocks, inner, n, block]. */
wick_value wick_recurrent_weights(wick_recurrent *r, wick_value matrix, uint32_t first, uint32_t n,
                                  int64_t inner);
/* The same of numbers per unit, [gates * units] from `begin` on: [blocks, n, block]. */
wick_value wick_recurrent_numbers(wick_recurrent *r, wick_value v, int64_t begin, uint32_t n);
/* x w' + biases for those gates, [steps, batch, blocks, n, block]; the state's bias for the gates
 * before `own` alone. */
wick_value wick_recurrent_inputs(wick_recurrent *r, uint32_t first, uint32_t n, uint32_t own);
/* Step t of that. */
wick_value wick_recurrent_input(wick_recurrent *r, wick_value inputs, int64_t t);
/* A state [batch, blocks, block] as rows [batch, places]. */
wick_value wick_recurrent_rows(wick_recurrent *r, wick_value state);
/* Of one gate: its weights as columns of a packed matrix; its part of the inputs as units; a state
 * times such columns. */
wick_value wick_recurrent_columns(wick_recurrent *r, wick_value matrix, uint32_t gate);
wick_value wick_recurrent_units(wick_recurrent *r, wick_value input);
wick_value wick_recurrent_times(wick_recurrent *r, wick_value state, wick_value columns);
/* A state's zeros. */
wick_value wick_recurrent_zero(wick_recurrent *r);
/* r->state becomes the next ones. Sequences of more than WICK_RECURRENT_UNROLLED steps are loops:
 * then t means nothing, and r->index is the step. */
typedef void wick_recurrent_step(wick_recurrent *r, const void *arg, int64_t t);
void wick_recurrent_run(wick_recurrent *r, bool reverse, wick_recurrent_step *step, const void *arg,
                        wick_value *out);

/* ---- steps as rows ----
 * x [B, N, gates, v]: what the inputs give; a state [B, N, v]; h [B, at least K] and r [N, K,
 * gates, v]: the state as rows and its weights, both or none; further numbers [N, more, v] or none.
 */
enum { WICK_STEP_X, WICK_STEP_STATE, WICK_STEP_H, WICK_STEP_R, WICK_STEP_MORE };
WICK_CHECKED wick_status wick_step_infer(wick_infer *c, uint32_t gates, uint32_t more,
                                         uint32_t nout);
/* h times the weights of a gate at [b, n, v]; 0 without them. */
double wick_step_sum_ref(const wick_ref *c, const int64_t *at, int64_t gate);
double wick_step_input_ref(const wick_ref *c, const int64_t *at, int64_t gate);
double wick_step_more_ref(const wick_ref *c, const int64_t *at, int64_t k);

/* The stage of a step: its axes, and reads at them. */
typedef struct wick_step {
  const wick_compute *c;
  wick_axis axis[3];
  wick_value product; /* 0: none */
} wick_step;
/* Opens the map, after the fold of the products. */
wick_step wick_step_begin(const wick_compute *c, const char *name);
wick_value wick_step_input(const wick_step *s, int64_t gate);
wick_value wick_step_sum(const wick_step *s, int64_t gate); /* 0 without weights */
wick_value wick_step_state(const wick_step *s);
wick_value wick_step_more(const wick_step *s, int64_t k); /* 0 where there are none */

/* A step in other rows, for its derivative: parts [B, N, v] of its operands; 0 where there are
 * none.
 */
typedef struct wick_step_rows {
  wick_builder *b;
  const wick_node *n;
  const wick_value *in;
  wick_value sum; /* [B, N, gates, v]: the state times its weights; 0: none */
} wick_step_rows;
wick_step_rows wick_step_rows_of(wick_builder *b, const wick_node *n, const wick_value *in);
wick_value wick_step_rows_input(const wick_step_rows *s, int64_t gate);
wick_value wick_step_rows_sum(const wick_step_rows *s, int64_t gate);
wick_value wick_step_rows_gate(const wick_step_rows *s, int64_t gate); /* of both, what there is */
wick_value wick_step_rows_more(const wick_step_rows *s, int64_t k);
void wick_step_grad(wick_adjoint *a, wick_grad_define *define);

#endif
