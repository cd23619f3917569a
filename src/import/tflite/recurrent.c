/* LSTM over a sequence, forward or in both directions, and over one step.
 *
 * The products of the inputs are computed for all steps at once; a loop does the rest.
 * Source: lstm_eval.cc of LiteRT. */
#include "import/tflite/recurrent.h"

#include "import/kit/array.h"

static wick_value recurrent_activate(const wick_lstm *l, wick_value x)
{
  return wick_tflite_activate(l->n, x, l->act);
}

static wick_value recurrent_clip(wick_builder *b, wick_value x, double clip)
{
  return clip > 0 ? wick_tflite_clip(b, x, -clip, clip) : x;
}

static wick_value recurrent_product(const wick_lstm *l, wick_value x, uint32_t k)
{
  return wick_recurrent_product(l->n, x, l->at[k], l->asymmetric);
}

/* Normalized along the cells, times the coefficients, plus the bias. */
static wick_value recurrent_normalize(wick_lstm *l, wick_value v, uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_value mean = wick_emit_reduce1(b, WICK_OP_reduce_mean, v, -1, true);
  v = wick_build2(b, WICK_OP_sub, v, mean);
  wick_value square = wick_build2(b, WICK_OP_mul, v, v);
  wick_value variance = wick_emit_reduce1(b, WICK_OP_reduce_mean, square, -1, true);
  variance = wick_build1(b, WICK_OP_rsqrt, wick_emit_by(b, WICK_OP_add, variance, 1e-8));
  v = wick_build2(b, WICK_OP_mul, v, variance);
  v = wick_build2(b, WICK_OP_mul, v, wick_recurrent_weight(l->n, l->at[WICK_LSTM_NORM + gate]));
  return wick_build2(b, WICK_OP_add, v, wick_lstm_in(l, WICK_LSTM_BIAS + gate));
}

/* The input of a gate's activation. `cell` is what a peephole reads. */
static wick_value recurrent_gate(wick_lstm *l, wick_value at, wick_value h, wick_value cell,
                                 uint32_t gate)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  uint32_t peephole = WICK_LSTM_PEEPHOLE + (gate == WICK_LSTM_O ? 2 : gate);
  wick_value row = wick_build2(b, WICK_OP_dynamic_index, l->x[gate], at);
  wick_value v = wick_build2(b, WICK_OP_add, row, recurrent_product(l, h, WICK_LSTM_R + gate));
  if (gate != WICK_LSTM_C && wick_lstm_has(l, peephole)) {
    wick_value w = wick_recurrent_weight(n, l->at[peephole]);
    v = wick_build2(b, WICK_OP_add, v, wick_build2(b, WICK_OP_mul, cell, w));
  }
  return wick_lstm_has(l, WICK_LSTM_NORM + gate) ? recurrent_normalize(l, v, gate) : v;
}

static void recurrent_lstm_step(void *layer, wick_value at, wick_value *state)
{
  wick_lstm *l = layer;
  wick_builder *b = l->n->b;
  wick_value *h = &state[0], *c = &state[1], i;
  wick_value f = wick_build1(b, WICK_OP_sigmoid, recurrent_gate(l, at, *h, *c, WICK_LSTM_F));
  if (l->coupled)
    i = wick_build2(b, WICK_OP_sub, wick_emit_number(b, f, 1), f);
  else
    i = wick_build1(b, WICK_OP_sigmoid, recurrent_gate(l, at, *h, *c, WICK_LSTM_I));
  wick_value g = recurrent_activate(l, recurrent_gate(l, at, *h, *c, WICK_LSTM_C));
  wick_value kept = wick_build2(b, WICK_OP_mul, f, *c), fresh = wick_build2(b, WICK_OP_mul, i, g);
  *c = recurrent_clip(b, wick_build2(b, WICK_OP_add, kept, fresh), l->cell_clip);
  wick_value o = wick_build1(b, WICK_OP_sigmoid, recurrent_gate(l, at, *h, *c, WICK_LSTM_O));
  *h = wick_build2(b, WICK_OP_mul, o, recurrent_activate(l, *c));
  if (!wick_lstm_has(l, WICK_LSTM_PROJECTION)) return;
  *h = recurrent_product(l, *h, WICK_LSTM_PROJECTION);
  if (wick_lstm_has(l, WICK_LSTM_PROJECTION_BIAS))
    *h = wick_build2(b, WICK_OP_add, *h, wick_lstm_in(l, WICK_LSTM_PROJECTION_BIAS));
  *h = recurrent_clip(b, *h, l->projection_clip);
}

/* aux: 0 without a second input. */
static void recurrent_lstm_products(wick_lstm *l, wick_value x, wick_value aux)
{
  wick_builder *b = l->n->b;
  for (uint32_t g = l->coupled; g < WICK_LSTM_GATES; g++) {
    l->x[g] = recurrent_product(l, x, WICK_LSTM_W + g);
    if (aux.id) {
      wick_value more = recurrent_product(l, aux, WICK_LSTM_AUX_W + g);
      l->x[g] = wick_build2(b, WICK_OP_add, l->x[g], more);
    }
    if (wick_lstm_has(l, WICK_LSTM_BIAS + g) && !wick_lstm_has(l, WICK_LSTM_NORM + g))
      l->x[g] = wick_build2(b, WICK_OP_add, l->x[g], wick_lstm_in(l, WICK_LSTM_BIAS + g));
  }
}

/* Checks what the kernels need. Returns false after a failure. */
static bool recurrent_lstm_begin(wick_lstm *l)
{
  wick_import_node *n = l->n;
  l->coupled = !wick_lstm_has(l, WICK_LSTM_W + WICK_LSTM_I);
  l->act = wick_tflite_byte(n, 0);
  l->cell_clip = wick_tflite_f32(n, 1), l->projection_clip = wick_tflite_f32(n, 2);
  for (uint32_t k = 0; k <= WICK_LSTM_AUX_W + WICK_LSTM_O; k++) {
    uint32_t gate = k < WICK_LSTM_PEEPHOLE ? (k - WICK_LSTM_W) % WICK_LSTM_GATES
                    : k >= WICK_LSTM_AUX_W ? k - WICK_LSTM_AUX_W
                                           : WICK_LSTM_GATES;
    bool state = k == WICK_LSTM_STATE || k == WICK_LSTM_CELL;
    bool aux = k >= WICK_LSTM_AUX_W && wick_lstm_has(l, WICK_LSTM_AUX_X);
    bool weight = k >= WICK_LSTM_W && gate < WICK_LSTM_GATES && gate >= l->coupled;
    bool matrix = weight || state || k == WICK_LSTM_PROJECTION;
    if (wick_lstm_has(l, k)) {
      bool input = k == WICK_LSTM_X || k == WICK_LSTM_AUX_X;
      if (!input && !wick_import_rank(n, l->at[k], matrix ? 2 : 1, matrix ? 2 : 1)) return false;
      continue;
    }
    if (!(state || (weight && (aux || k < WICK_LSTM_PEEPHOLE)))) continue;
    wick_import_fail(n, WICK_EPARSE, "input %u is missing", l->at[k]);
    return false;
  }
  return true;
}

/* Runs the layer on sequences with the time first, and assigns its states. */
static wick_value recurrent_lstm(wick_lstm *l, wick_value x, wick_value aux)
{
  wick_import_node *n = l->n;
  bool fixed = wick_tflite_is_quantized(wick_lstm_tensor(l, WICK_LSTM_X)),
       eight = fixed && l->eight;
  if (n->b->status || (fixed && !(eight ? wick_lstm_eight_begin : wick_lstm_fixed_begin)(l)))
    return x;
  wick_recurrent_step *step = eight   ? wick_lstm_eight_step
                              : fixed ? wick_lstm_fixed_step
                                      : recurrent_lstm_step;
  if (fixed)
    (eight ? wick_lstm_eight_products : wick_lstm_fixed_products)(l, x);
  else
    recurrent_lstm_products(l, x, aux);
  wick_value state[] = {wick_lstm_in(l, WICK_LSTM_STATE), wick_lstm_in(l, WICK_LSTM_CELL)};
  if (n->b->status) return x;
  wick_dim steps = wick_built_info(n->b, x)->dim[0];
  wick_value y = wick_recurrent_loop(n, steps, 2, state, step, l);
  wick_tflite_update(n, l->at[WICK_LSTM_STATE], state[0]);
  wick_tflite_update(n, l->at[WICK_LSTM_CELL], state[1]);
  return y;
}

/* The operands of an LSTM of one direction. */
static void recurrent_lstm_operands(wick_import_node *n, wick_lstm *l)
{
  *l = (wick_lstm){.n = n, .asymmetric = wick_tflite_byte(n, 4) != 0};
  for (uint32_t k = 0; k < WICK_LSTM_OPERANDS; k++) l->at[k] = k < WICK_LSTM_AUX_X ? k : UINT32_MAX;
}

static void recurrent_sequence_lstm(wick_import_node *n)
{
  wick_lstm l;
  bool major = wick_tflite_byte(n, 3) != 0;
  recurrent_lstm_operands(n, &l);
  if (!recurrent_lstm_begin(&l)) return;
  wick_value x = wick_recurrent_before(n, WICK_LSTM_X, major, false);
  if (!x.id) return;
  wick_value y = recurrent_lstm(&l, x, (wick_value){0});
  n->out[0] = wick_recurrent_after(n, y, major, false);
}

/* The basic kernel: x [batch, inputs], the last result, weights [4 * cells, inputs + cells], bias, the
 * last state. The gates are input, cell, forget, output. The third and the fourth result are what the
 * weights multiply, and the gates. */
static void recurrent_basic_lstm(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 2, 2) || !wick_import_rank(n, 1, 2, 2) ||
      !wick_import_rank(n, 2, 2, 2) || !wick_import_rank(n, 3, 1, 1) ||
      !wick_import_rank(n, 4, 2, 2))
    return;
  if (wick_import_info(n, 0)->elem == WICK_U8) {
    wick_lstm_fixed_basic(n);
    return;
  }
  if (wick_import_info(n, 0)->elem != WICK_F32) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the basic kernel is supported in f32 and u8 only");
    return;
  }
  wick_dim cells = wick_import_info(n, 4)->dim[1];
  wick_value x = wick_build_concat(b, 1, 2, n->in), gate[4];
  wick_value y = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, n->in[2]));
  y = wick_build2(b, WICK_OP_add, y, n->in[3]);
  for (uint32_t k = 0; k < 4 && !b->status; k++) {
    wick_dim from = wick_dim_mul(n->c->module->dims, cells, wick_dim_const(k));
    gate[k] = wick_emit_slice(b, y, 1, from, cells);
    gate[k] = wick_build1(b, k == 1 ? WICK_OP_tanh : WICK_OP_sigmoid, gate[k]);
  }
  if (b->status) return;
  wick_value kept = wick_build2(b, WICK_OP_mul, gate[2], n->in[4]);
  wick_value state = wick_build2(b, WICK_OP_mul, gate[0], gate[1]);
  state = wick_build2(b, WICK_OP_add, state, kept);
  n->out[0] = wick_build2(b, WICK_OP_mul, gate[3], wick_build1(b, WICK_OP_tanh, state));
  n->out[1] = state, n->out[2] = x, n->out[3] = y;
}

/* One step of [batch, inputs]. */
static void recurrent_one_lstm(wick_import_node *n)
{
  wick_lstm l;
  if (wick_tflite_byte(n, 3) != 0) {
    recurrent_basic_lstm(n);
    return;
  }
  recurrent_lstm_operands(n, &l);
  l.eight = wick_tflite_op_of(n)->nintermediate == WICK_LSTM_EIGHT;
  if (!wick_import_rank(n, WICK_LSTM_X, 2, 2) || !recurrent_lstm_begin(&l)) return;
  wick_value x = wick_emit_unsqueeze(n->b, n->in[WICK_LSTM_X], 0);
  n->out[0] = wick_emit_squeeze(n->b, recurrent_lstm(&l, x, (wick_value){0}), 0);
}

/* The operands of a direction: those of the second follow those of the first, but its states. */
static void recurrent_bidirectional_operands(wick_import_node *n, wick_lstm *l, uint32_t direction,
                                             bool aux)
{
  enum { STATES = 35, AUX_X = 39, EACH = WICK_LSTM_PROJECTION_BIAS };
  *l = (wick_lstm){.n = n, .asymmetric = wick_tflite_byte(n, 5) != 0};
  for (uint32_t k = 0; k < WICK_LSTM_OPERANDS; k++) l->at[k] = UINT32_MAX;
  l->at[WICK_LSTM_X] = 0;
  for (uint32_t k = 1; k <= EACH; k++) l->at[k] = k + direction * EACH;
  l->at[WICK_LSTM_STATE] = STATES + 2 * direction;
  l->at[WICK_LSTM_CELL] = STATES + 2 * direction + 1;
  if (!aux) return;
  l->at[WICK_LSTM_AUX_X] = AUX_X;
  for (uint32_t g = 0; g < WICK_LSTM_GATES; g++)
    l->at[WICK_LSTM_AUX_W + g] = AUX_X + 1 + direction * WICK_LSTM_GATES + g;
}

/* The second input has weights of its own, or it is what the backward direction reads. */
static void recurrent_bidirectional_lstm(wick_import_node *n)
{
  enum { AUX_X = 39, AUX_FORGET = AUX_X + 1 + WICK_LSTM_F };
  bool major = wick_flat_int(wick_tflite_op_of(n)->options, 4, 1, 1) != 0,
       aux = wick_import_has(n, AUX_FORGET);
  wick_value y[2] = {{0}};
  if (aux && !wick_import_has(n, AUX_X)) {
    wick_import_fail(n, WICK_EPARSE, "input %d is missing", AUX_X);
    return;
  }
  for (uint32_t d = 0; d < 2; d++) {
    wick_lstm l;
    uint32_t from = d && !aux && wick_import_has(n, AUX_X) ? AUX_X : 0;
    recurrent_bidirectional_operands(n, &l, d, aux);
    if (!recurrent_lstm_begin(&l)) return;
    wick_value x = wick_recurrent_before(n, from, major, d), more = {0};
    if (x.id && aux) more = wick_recurrent_before(n, AUX_X, major, d);
    if (!x.id || (aux && !more.id)) return;
    if (wick_tflite_is_quantized(wick_tflite_in(n, 0))) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "the input must be float");
      return;
    }
    y[d] = wick_recurrent_after(n, recurrent_lstm(&l, x, more), major, d);
  }
  wick_recurrent_both(n, y[0], y[1], wick_tflite_byte(n, 3) != 0);
}

const wick_import_op wick_tflite_recurrent_ops[] = {
    {"BIDIRECTIONAL_SEQUENCE_LSTM",
     1,
     {39, 48},
     2,
     NULL,
     recurrent_bidirectional_lstm,
     WICK_OP_none,
     0,
     NULL,
     NULL},
    {"LSTM", 1, {5, 24}, 4, NULL, recurrent_one_lstm, WICK_OP_none, 0, NULL, NULL},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM",
     1,
     {20, 24},
     1,
     NULL,
     recurrent_sequence_lstm,
     WICK_OP_none,
     0,
     NULL,
     NULL},
    {0},
};
