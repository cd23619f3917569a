/* What recurrent layers share: products with quantized weights, and the loop over the time. */
#ifndef WICK_IMPORT_TFLITE_RECURRENT_H
#define WICK_IMPORT_TFLITE_RECURRENT_H

#include "import/tflite/quantized.h"

enum { WICK_RECURRENT_STATES = 2 };

/* Weights of operand i in floats: those of 8 bits are widened. */
wick_value wick_recurrent_weight(wick_import_node *n, uint32_t i);
/* x by the weights of operand i, transposed. Weights of 8 bits: the rows of x are quantized. */
wick_value wick_recurrent_product(wick_import_node *n, wick_value x, uint32_t i, bool asymmetric);

/* Computes the next states from those of the step before; `at` counts the steps. */
typedef void wick_recurrent_step(void *layer, wick_value at, wick_value *state);
/* Runs the steps; state[nstate] becomes the last states. Returns the first state after each step,
 * [steps, ...]. */
wick_value wick_recurrent_loop(wick_import_node *n, wick_dim steps, uint32_t nstate,
                               wick_value *state, wick_recurrent_step *step, void *layer);

/* Operand i, a sequence of rank 3, with the time first, from the end to the begin if `backward`.
 * Returns 0 after a failure. `after` undoes it for a result. */
wick_value wick_recurrent_before(wick_import_node *n, uint32_t i, bool major, bool backward);
wick_value wick_recurrent_after(wick_import_node *n, wick_value y, bool major, bool backward);

/* Sets the results of a layer of both directions: two, or one along the last axis if merged. */
void wick_recurrent_both(wick_import_node *n, wick_value forward, wick_value backward, bool merged);

/* ---- LSTM (recurrent.c, and recurrent_fixed.c for 8 bits) ---- */

enum {
  WICK_LSTM_I,
  WICK_LSTM_F,
  WICK_LSTM_C,
  WICK_LSTM_O,
  WICK_LSTM_GATES,
};

/* The operands of LSTM; those of the gates are in their order. */
enum {
  WICK_LSTM_X,
  WICK_LSTM_W,
  WICK_LSTM_R = WICK_LSTM_W + WICK_LSTM_GATES,
  WICK_LSTM_PEEPHOLE = WICK_LSTM_R + WICK_LSTM_GATES, /* i f o */
  WICK_LSTM_BIAS = WICK_LSTM_PEEPHOLE + 3,
  WICK_LSTM_PROJECTION = WICK_LSTM_BIAS + WICK_LSTM_GATES,
  WICK_LSTM_PROJECTION_BIAS,
  WICK_LSTM_STATE,
  WICK_LSTM_CELL,
  WICK_LSTM_NORM,
  WICK_LSTM_AUX_X = WICK_LSTM_NORM + WICK_LSTM_GATES, /* a second input, and its weights */
  WICK_LSTM_AUX_W,
  WICK_LSTM_OPERANDS = WICK_LSTM_AUX_W + WICK_LSTM_GATES
};

/* The intermediate results of a kernel with products of 8 bits: of each gate the sum, the inputs' product
 * and the states' product. */
enum { WICK_LSTM_EIGHT = 3 * WICK_LSTM_GATES };

typedef struct wick_lstm {
  wick_import_node *n;
  uint32_t at[WICK_LSTM_OPERANDS]; /* the node's operands; UINT32_MAX: absent */
  bool coupled;                    /* no input gate: i = 1 - f */
  bool eight;                      /* products and sums of the gates have scales of their own */
  bool asymmetric;                 /* how floats are quantized for weights of 8 bits */
  double cell_clip, projection_clip;
  int64_t act;
  wick_value x[WICK_LSTM_GATES]; /* products of the inputs of each gate, [steps, batch, cells] */
  /* of 8 bits */
  wick_value r[WICK_LSTM_GATES]; /* recurrent weights, transposed, as the steps take them */
  wick_value recurrent_bias[WICK_LSTM_GATES];
  wick_fixed in_factor[WICK_LSTM_GATES], r_factor[WICK_LSTM_GATES];
  wick_value projection, projection_bias;
  wick_value sigmoid, tanh, cell_tanh; /* tables of 2^16 entries */
  int cell_exponent;                   /* the cell's scale is 2^cell_exponent */
} wick_lstm;

static inline bool wick_lstm_has(const wick_lstm *l, uint32_t k)
{
  return wick_import_has(l->n, l->at[k]);
}
static inline wick_value wick_lstm_in(const wick_lstm *l, uint32_t k) { return l->n->in[l->at[k]]; }
static inline const wick_tflite_tensor *wick_lstm_tensor(const wick_lstm *l, uint32_t k)
{
  return wick_tflite_in(l->n, l->at[k]);
}

/* The kernel of five inputs in u8, with a state of 16 bits. */
void wick_lstm_fixed_basic(wick_import_node *n);
/* 8 bits, with gates and a cell of 16 bits. Begin: false after a failure. */
bool wick_lstm_fixed_begin(wick_lstm *l);
void wick_lstm_fixed_products(wick_lstm *l, wick_value x);
wick_recurrent_step wick_lstm_fixed_step;
/* The same with products of 8 bits (recurrent_eight.c). */
bool wick_lstm_eight_begin(wick_lstm *l);
void wick_lstm_eight_products(wick_lstm *l, wick_value x);
wick_recurrent_step wick_lstm_eight_step;

/* What both share. */
typedef int64_t wick_lstm_function(int64_t x, int integer, int width);
/* The function of each number of 16 bits, from the least on; and what it is at x, in i64. */
wick_value wick_lstm_fixed_table(wick_import_node *n, wick_lstm_function *fn, int integer);
wick_value wick_lstm_fixed_look(wick_builder *b, wick_value table, wick_value x);
/* x + y, saturated to 16 bits. */
wick_value wick_lstm_fixed_sum(wick_builder *b, wick_value x, wick_value y);
/* The rows of weights summed, times minus the zero point of what they are multiplied with. */
wick_value wick_lstm_fixed_zero_point(wick_builder *b, wick_value w, int64_t zero);
/* The scale of an operand: the kernels divide and multiply scales in f32. */
float wick_lstm_fixed_scale(const wick_lstm *l, uint32_t k);
const wick_tflite_tensor *wick_lstm_fixed_intermediate(const wick_lstm *l, uint32_t k);
/* Everything has the types of these kernels, and one scale. */
bool wick_lstm_fixed_is_typed(const wick_lstm *l);
/* The next cell of the forget gate, the input gate, the new values and the last cell. */
wick_value wick_lstm_fixed_cell(wick_lstm *l, wick_value f, wick_value i, wick_value g,
                                wick_value c);
/* The projected result within its limits. */
wick_value wick_lstm_fixed_clipped(wick_lstm *l, wick_value h);

#endif
