/* Recurrent layers without gates, and what all recurrent layers share.
 * Source: kernel_utils.cc and svdf.h of LiteRT. */
#include "import/kit/array.h"
#include "import/tflite/recurrent.h"

/* ---- shared ---- */

wick_value wick_recurrent_weight(wick_import_node *n, uint32_t i)
{
  return wick_elem_is_float(wick_import_info(n, i)->elem)
             ? n->in[i]
             : wick_tflite_real(n, i, n->in[i], (wick_value){0});
}

wick_value wick_recurrent_product(wick_import_node *n, wick_value x, uint32_t i, bool asymmetric)
{
  wick_builder *b = n->b;
  const int64_t last = -1;
  if (b->status) return x;
  if (wick_import_info(n, i)->rank == 1) /* a diagonal matrix */
    return wick_build2(b, WICK_OP_mul, x, wick_recurrent_weight(n, i));
  if (!wick_import_rank(n, i, 2, 2)) return x;
  if (wick_elem_is_float(wick_import_info(n, i)->elem))
    return wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, n->in[i]));
  const wick_tflite_quant *q = &wick_tflite_in(n, i)->quant;
  if (q->n != 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "input %u has %u scales, expected one", i, q->n);
    return x;
  }
  wick_tflite_hybrid h =
      (asymmetric ? wick_tflite_asymmetric : wick_tflite_symmetric)(n, x, 1, &last);
  wick_value w = wick_build_swap(b, wick_build_cast(b, n->in[i], WICK_I32));
  wick_value y = wick_build2(b, WICK_OP_matmul, h.x, w);
  if (b->status) return y;
  wick_value scale = wick_emit_by(b, WICK_OP_mul, h.scale, q->scale[0]);
  return wick_build2(b, WICK_OP_mul, wick_build_cast(b, y, WICK_F32), scale);
}

static wick_value simple_count(wick_import_node *n, wick_dim steps)
{
  wick_type whole = wick_type_tensor(n->c->module, WICK_I64, 0, NULL);
  if (wick_dim_is_const(steps)) return wick_build_const(n->b, whole, 0, steps.v);
  return wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, steps));
}

wick_value wick_recurrent_loop(wick_import_node *n, wick_dim steps, uint32_t nstate,
                               wick_value *state, wick_recurrent_step *step, void *layer)
{
  wick_builder *b = n->b;
  wick_value in[1 + WICK_RECURRENT_STATES], out[2 + WICK_RECURRENT_STATES];
  wick_type type[1 + WICK_RECURRENT_STATES];
  in[0] = simple_count(n, steps);
  if (b->status) return state[0];
  type[0] = wick_type_tensor(n->c->module, WICK_I64, 0, NULL);
  for (uint32_t k = 0; k < nstate; k++)
    in[1 + k] = state[k], type[1 + k] = wick_built_type(b, state[k]);
  wick_attr attr[] = {
      [WICK_ATTR_loop_stacked] = {.i = 1}, [WICK_ATTR_loop_most] = {.n = 1, .dims = &steps}};
  wick_build_open(b, WICK_OP_loop, 1 + nstate, in, attr, 0, NULL);
  wick_value at = wick_region_begin(b, 1 + nstate, type);
  if (b->status) return state[0];
  for (uint32_t k = 0; k < nstate; k++) state[k] = (wick_value){at.id + 1 + k};
  step(layer, at, state);
  out[0] = wick_build_const(b, wick_type_tensor(n->c->module, WICK_BOOL, 0, NULL), 0, 1);
  if (b->status) return state[0];
  for (uint32_t k = 0; k < nstate; k++) out[1 + k] = state[k];
  out[1 + nstate] = state[0];
  wick_yield(b, 2 + nstate, out);
  wick_value last = wick_build_close(b);
  for (uint32_t k = 0; k < nstate; k++) state[k] = (wick_value){last.id + k};
  return (wick_value){last.id + nstate};
}

static const int64_t simple_turn[] = {1, 0, 2};

wick_value wick_recurrent_before(wick_import_node *n, uint32_t i, bool major, bool backward)
{
  if (!wick_import_rank(n, i, 3, 3)) return (wick_value){0};
  wick_value x = major ? n->in[i] : wick_build_transpose(n->b, n->in[i], 3, simple_turn);
  if (backward) x = wick_array_reverse(n, x, 1);
  return n->b->status || n->failed ? (wick_value){0} : x;
}

wick_value wick_recurrent_after(wick_import_node *n, wick_value y, bool major, bool backward)
{
  if (n->b->status || n->failed) return y;
  if (backward) y = wick_array_reverse(n, y, 1);
  return major ? y : wick_build_transpose(n->b, y, 3, simple_turn);
}

void wick_recurrent_both(wick_import_node *n, wick_value forward, wick_value backward, bool merged)
{
  const wick_value part[] = {forward, backward};
  if (n->b->status || n->failed) return;
  if (!merged && n->nout < 2) {
    wick_import_fail(n, WICK_EPARSE, "it has one output, expected 2");
    return;
  }
  n->out[0] = merged ? wick_build_concat(n->b, 2, 2, part) : forward;
  if (!merged) n->out[1] = backward;
}

/* ---- RNN: h = act(x W + h R + bias) ---- */

typedef struct simple_rnn {
  wick_import_node *n;
  wick_value x; /* [steps, batch, units]: products of the inputs, with the bias */
  uint32_t w, r, bias, state, aux_w; /* operands; the weights of a second input, UINT32_MAX: none */
  int64_t act;
  bool asymmetric;
  bool again; /* the whole sequence is run once for each of its steps, from state to state */
  wick_dim steps;
} simple_rnn;

/* Its operands begin at `first`. */
static simple_rnn simple_layer(wick_import_node *n, uint32_t first, uint32_t aux_w, int64_t act,
                               bool asymmetric)
{
  return (simple_rnn){.n = n,
                      .w = first,
                      .r = first + 1,
                      .bias = first + 2,
                      .state = first + 3,
                      .aux_w = aux_w,
                      .act = act,
                      .asymmetric = asymmetric};
}

static void simple_rnn_step(void *layer, wick_value at, wick_value *state)
{
  simple_rnn *l = layer;
  wick_import_node *n = l->n;
  if (l->again) {
    wick_value count = simple_count(n, l->steps);
    at = wick_build2(n->b, WICK_OP_mod, at, count);
  }
  wick_value v = wick_build2(n->b, WICK_OP_dynamic_index, l->x, at);
  wick_value more = wick_recurrent_product(n, state[0], l->r, l->asymmetric);
  v = wick_build2(n->b, WICK_OP_add, v, more);
  state[0] = wick_tflite_activate(n, v, l->act);
}

/* x, and aux if it has weights, with the time first. */
static wick_value simple_rnn_run(simple_rnn *l, wick_value x, wick_value aux)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  const uint32_t needed[] = {l->w, l->r, l->bias, l->state};
  for (size_t k = 0; k < WICK_COUNT(needed); k++)
    if (!wick_import_has(n, needed[k])) {
      wick_import_fail(n, WICK_EPARSE, "input %u is missing", needed[k]);
      return x;
    }
  l->x = wick_recurrent_product(n, x, l->w, l->asymmetric);
  l->x = wick_build2(b, WICK_OP_add, l->x, n->in[l->bias]);
  if (aux.id) {
    wick_value more = wick_recurrent_product(n, aux, l->aux_w, l->asymmetric);
    l->x = wick_build2(b, WICK_OP_add, l->x, more);
  }
  if (b->status) return x;
  wick_value state = n->in[l->state];
  l->steps = wick_built_info(b, x)->dim[0];
  wick_dim all = l->again ? wick_dim_mul(n->c->module->dims, l->steps, l->steps) : l->steps;
  wick_value y = wick_recurrent_loop(n, all, 1, &state, simple_rnn_step, l);
  wick_tflite_update(n, l->state, state);
  if (!l->again || b->status) return y;
  return wick_emit_slice(b, y, 0, wick_dim_sub(n->c->module->dims, all, l->steps), l->steps);
}

static void simple_one(wick_import_node *n)
{
  simple_rnn l =
      simple_layer(n, 1, UINT32_MAX, wick_tflite_byte(n, 0), wick_tflite_byte(n, 1) != 0);
  if (!wick_import_rank(n, 0, 2, 2)) return;
  wick_value x = wick_emit_unsqueeze(n->b, n->in[0], 0);
  n->out[0] = wick_emit_squeeze(n->b, simple_rnn_run(&l, x, (wick_value){0}), 0);
}

static void simple_sequence(wick_import_node *n)
{
  simple_rnn l =
      simple_layer(n, 1, UINT32_MAX, wick_tflite_byte(n, 1), wick_tflite_byte(n, 2) != 0);
  bool major = wick_tflite_byte(n, 0) != 0;
  wick_value x = wick_recurrent_before(n, 0, major, false);
  if (!x.id) return;
  wick_value y = simple_rnn_run(&l, x, (wick_value){0});
  n->out[0] = wick_recurrent_after(n, y, major, false);
}

/* The second input has weights of its own, or it is what the backward direction reads. Two defects of
 * the kernel are part of what its models compute: with the batch first, it reads the first input in
 * both directions; with the time first and weights of 8 bits, it runs the sequence again and again. */
static void simple_bidirectional(wick_import_node *n)
{
  enum { AUX_X = 9, AUX_W };
  bool major = wick_tflite_byte(n, 0) != 0, aux = wick_import_has(n, AUX_W);
  wick_value y[2] = {{0}};
  if (aux && (!wick_import_has(n, AUX_X) || !wick_import_has(n, AUX_W + 1))) {
    wick_import_fail(n, WICK_EPARSE, "a second input needs inputs %d and %d", AUX_X, AUX_W + 1);
    return;
  }
  for (uint32_t d = 0; d < 2; d++) {
    uint32_t first = 1 + 4 * d, from = d && major && !aux && wick_import_has(n, AUX_X) ? AUX_X : 0;
    simple_rnn l =
        simple_layer(n, first, AUX_W + d, wick_tflite_byte(n, 1), wick_tflite_byte(n, 3) != 0);
    l.again =
        major && wick_import_has(n, first) && !wick_elem_is_float(wick_import_info(n, first)->elem);
    wick_value x = wick_recurrent_before(n, from, major, d), more = {0};
    if (x.id && aux) more = wick_recurrent_before(n, AUX_X, major, d);
    if (!x.id || (aux && !more.id)) return;
    y[d] = wick_recurrent_after(n, simple_rnn_run(&l, x, more), major, d);
  }
  wick_recurrent_both(n, y[0], y[1], wick_tflite_byte(n, 2) != 0);
}

/* ---- SVDF: a filter over the last inputs of each feature ---- */

enum { SVDF_X, SVDF_FEATURE, SVDF_TIME, SVDF_BIAS, SVDF_STATE };

/* The newest features [batch, filters] in 8 bits, as numbers of 16 bits in the state's scale. */
static wick_value simple_svdf_feature(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, SVDF_X), *w = wick_tflite_in(n, SVDF_FEATURE),
                           *s = wick_tflite_in(n, SVDF_STATE);
  wick_fixed f = wick_fixed_of(x->quant.scale[0] * w->quant.scale[0] / s->quant.scale[0]);
  wick_value v = wick_build_cast(b, n->in[SVDF_X], WICK_I32);
  v = wick_emit_by(b, WICK_OP_sub, v, (double)x->quant.zero[0]);
  wick_value k = wick_build_swap(b, wick_build_cast(b, n->in[SVDF_FEATURE], WICK_I32));
  v = wick_fixed_mul(b, wick_build2(b, WICK_OP_matmul, v, k), 1, &f);
  return wick_fixed_end(b, v, 0, INT16_MIN, INT16_MAX, WICK_I16);
}

/* The sums [batch, units] of 8 bits in the scale of the result. */
static wick_value simple_svdf_end(wick_import_node *n, wick_value sum)
{
  const wick_tflite_tensor *s = wick_tflite_in(n, SVDF_STATE), *w = wick_tflite_in(n, SVDF_TIME),
                           *y = wick_tflite_out(n, 0);
  wick_fixed f = wick_fixed_of(s->quant.scale[0] * w->quant.scale[0] / y->quant.scale[0]);
  sum = wick_fixed_mul(n->b, sum, 1, &f);
  return wick_fixed_end(n->b, sum, y->quant.zero[0], INT8_MIN, INT8_MAX, WICK_I8);
}

/* Checks the types and shapes. Returns false after a failure. */
static bool simple_svdf_begin(wick_import_node *n, bool fixed, int64_t rank)
{
  static const uint32_t rank2[] = {SVDF_X, SVDF_FEATURE, SVDF_TIME, SVDF_STATE};
  for (size_t k = 0; k < WICK_COUNT(rank2); k++) {
    if (!wick_import_has(n, rank2[k])) {
      wick_import_fail(n, WICK_EPARSE, "input %u is missing", rank2[k]);
      return false;
    }
    if (!wick_import_rank(n, rank2[k], 2, 2)) return false;
  }
  const wick_dim *time = wick_import_info(n, SVDF_TIME)->dim;
  if (!wick_dim_is_const(time[0]) || !wick_dim_is_const(time[1]) || time[1].v < 1 || rank < 1 ||
      time[0].v % rank) {
    wick_import_fail(n, WICK_ETYPE, "its filters are not a multiple of the rank %lld",
                     (long long)rank);
    return false;
  }
  bool quantized = true;
  for (uint32_t k = SVDF_FEATURE; k <= SVDF_TIME; k++)
    quantized = quantized && wick_tflite_in(n, k)->quant.n == 1;
  quantized = quantized && wick_tflite_in(n, SVDF_STATE)->quant.n == 1 &&
              wick_tflite_is_quantized(wick_tflite_out(n, 0));
  if (!fixed ||
      (quantized && wick_tflite_in(n, SVDF_STATE)->elem == WICK_I16 &&
       wick_tflite_out(n, 0)->elem == WICK_I8 && wick_tflite_in(n, SVDF_X)->elem == WICK_I8))
    return true;
  wick_import_fail(n, WICK_EUNSUPPORTED,
                   "in 8 bits it is supported with a state of 16 bits, and all tensors quantized");
  return false;
}

static void simple_svdf(wick_import_node *n)
{
  wick_builder *b = n->b;
  bool fixed = wick_import_has(n, SVDF_X) && wick_tflite_is_quantized(wick_tflite_in(n, SVDF_X));
  int64_t rank = wick_tflite_i32(n, 0, 0);
  if (!simple_svdf_begin(n, fixed, rank)) return;
  const wick_dim *time = wick_import_info(n, SVDF_TIME)->dim;
  wick_dim filters = time[0], memory = time[1], batch = wick_import_info(n, SVDF_X)->dim[0];
  wick_value fresh =
      fixed ? simple_svdf_feature(n)
            : wick_recurrent_product(n, n->in[SVDF_X], SVDF_FEATURE, wick_tflite_byte(n, 2) != 0);
  const wick_dim deep[] = {batch, filters, memory};
  wick_value state = wick_build_reshape(b, n->in[SVDF_STATE], 3, deep);
  state = wick_emit_slice(b, state, 2, wick_dim_const(1), wick_dim_const(memory.v - 1));
  const wick_value part[] = {state, wick_emit_unsqueeze(b, fresh, 2)};
  state = wick_build_concat(b, 2, 2, part);
  if (b->status) return;
  const wick_dim flat[] = {batch, wick_dim_const(filters.v * memory.v)};
  wick_value w =
      fixed ? wick_build_cast(b, n->in[SVDF_TIME], WICK_I32) : wick_recurrent_weight(n, SVDF_TIME);
  wick_value v = fixed ? wick_build_cast(b, state, WICK_I32) : state;
  v = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, v, w), 2, false);
  const wick_dim group[] = {batch, wick_dim_const(filters.v / rank), wick_dim_const(rank)};
  v = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_reshape(b, v, 3, group), 2, false);
  if (wick_import_has(n, SVDF_BIAS)) v = wick_build2(b, WICK_OP_add, v, n->in[SVDF_BIAS]);
  if (b->status) return;
  n->out[0] = fixed ? simple_svdf_end(n, v) : wick_tflite_activate(n, v, wick_tflite_byte(n, 1));
  wick_tflite_update(n, SVDF_STATE, wick_build_reshape(b, state, 2, flat));
}

const wick_import_op wick_tflite_recurrent_simple_ops[] = {
    {"BIDIRECTIONAL_SEQUENCE_RNN",
     1,
     {12, 12},
     2,
     NULL,
     simple_bidirectional,
     WICK_OP_none,
     0,
     NULL,
     NULL},
    {"RNN", 1, {5, 5}, 1, NULL, simple_one, WICK_OP_none, 0, NULL, NULL},
    {"SVDF", 1, {5, 5}, 1, NULL, simple_svdf, WICK_OP_none, 0, NULL, NULL},
    {"UNIDIRECTIONAL_SEQUENCE_RNN",
     1,
     {5, 5},
     1,
     NULL,
     simple_sequence,
     WICK_OP_none,
     0,
     NULL,
     NULL},
    {0},
};
