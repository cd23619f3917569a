/* Recurrent layers. LSTM, GRU and SimpleRNN whose activations Wick's recurrent operators have, and
 * that have no mask, become those operators. All others are written out, step by step: cells of any
 * kind, stacks of cells, convolutions as cells, masks. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"

enum { RNN_STATES = 16, RNN_STEPS = 2048 }; /* the most that are written out */

typedef struct rnn_states {
  uint32_t n;
  wick_value at[RNN_STATES];
} rnn_states;

/* A cell: a layer of the file, and where its weights are. */
typedef struct rnn_cell {
  keras_layer *layer; /* whose weights and configuration they are */
  const char *op;     /* "LSTMCell" */
  const char *prefix; /* "cell/" for the cell of an LSTM layer */
} rnn_cell;

/* A node that reads the configuration and the weights of another layer. */
static wick_import_node rnn_within(const wick_import_node *n, const rnn_cell *cell,
                                   keras_call *call)
{
  wick_import_node in = *n;
  *call = *keras_of(n);
  call->layer = cell->layer;
  in.data = call;
  return in;
}

static wick_value rnn_weight(wick_import_node *in, const rnn_cell *cell, const char *name)
{
  return keras_weight_get(in, wick_str_printf(in->c->tmp, "%s%s", cell->prefix, name));
}
static bool rnn_has_bias(wick_import_node *in, const rnn_cell *cell)
{
  return keras_weight_has(in, wick_str_printf(in->c->tmp, "%sbias", cell->prefix));
}

/* Part k of count equal parts along the last axis. */
static wick_value rnn_part(wick_import_node *n, wick_value x, int64_t k, int64_t count)
{
  uint32_t axis = keras_rank(n, x) ? keras_rank(n, x) - 1 : 0;
  wick_dims *t = n->c->module->dims;
  wick_dim size = wick_dim_floordiv(t, keras_dims(n, x)[axis], wick_dim_const(count));
  return wick_emit_slice(n->b, x, axis, wick_dim_mul(t, size, wick_dim_const(k)), size);
}

/* ---- steps of cells ---- */

static wick_value rnn_activate(wick_import_node *in, const char *which, wick_value x)
{
  const wick_json *j = wick_json_member(keras_of(in)->layer->config, which);
  return keras_activate(in, j, x);
}

static wick_value rnn_add(wick_import_node *n, wick_value x, wick_value y)
{
  return wick_build2(n->b, WICK_OP_add, x, y);
}
static wick_value rnn_mul(wick_import_node *n, wick_value x, wick_value y)
{
  return wick_build2(n->b, WICK_OP_mul, x, y);
}

/* c' = f c + i g, h' = o act(c'), for z = [i, f, g, o] before the activations. */
static wick_value rnn_lstm_end(wick_import_node *in, wick_value z[4], rnn_states *s)
{
  wick_value i = rnn_activate(in, "recurrent_activation", z[0]);
  wick_value f = rnn_activate(in, "recurrent_activation", z[1]);
  wick_value g = rnn_activate(in, "activation", z[2]);
  wick_value o = rnn_activate(in, "recurrent_activation", z[3]);
  wick_value kept = rnn_mul(in, f, s->at[1]);
  s->at[1] = rnn_add(in, kept, rnn_mul(in, i, g));
  s->at[0] = rnn_mul(in, o, rnn_activate(in, "activation", s->at[1]));
  return s->at[0];
}

static wick_value rnn_lstm(wick_import_node *in, const rnn_cell *cell, wick_value x, rnn_states *s)
{
  wick_value kernel = rnn_weight(in, cell, "kernel"), z[4];
  wick_value recurrent = rnn_weight(in, cell, "recurrent_kernel");
  wick_value all = wick_build2(in->b, WICK_OP_matmul, x, kernel);
  all = rnn_add(in, all, wick_build2(in->b, WICK_OP_matmul, s->at[0], recurrent));
  if (rnn_has_bias(in, cell)) all = rnn_add(in, all, rnn_weight(in, cell, "bias"));
  for (int k = 0; k < 4; k++) z[k] = rnn_part(in, all, k, 4);
  return rnn_lstm_end(in, z, s);
}

/* h' = z h + (1 - z) act(...); the reset gate acts before or after the product with the state. */
static wick_value rnn_gru(wick_import_node *in, const rnn_cell *cell, wick_value x, rnn_states *s)
{
  bool after =
      keras_is_true(in, "reset_after", ((keras_model *)in->c->model)->second ? false : true);
  wick_value kernel = rnn_weight(in, cell, "kernel"), h = s->at[0], bias = {0}, second = {0};
  wick_value recurrent = rnn_weight(in, cell, "recurrent_kernel");
  if (rnn_has_bias(in, cell)) {
    bias = rnn_weight(in, cell, "bias");
    if (keras_rank(in, bias) == 2) {
      wick_value both = bias;
      wick_value first = wick_emit_slice(in->b, both, 0, wick_dim_const(0), wick_dim_const(1));
      second = wick_emit_slice(in->b, both, 0, wick_dim_const(1), wick_dim_const(1));
      bias = wick_emit_squeeze(in->b, first, 0);
      second = wick_emit_squeeze(in->b, second, 0);
    }
  }
  wick_value mx = wick_build2(in->b, WICK_OP_matmul, x, kernel);
  if (bias.id) mx = rnn_add(in, mx, bias);
  wick_value mh = wick_build2(in->b, WICK_OP_matmul, h, recurrent);
  if (second.id) mh = rnn_add(in, mh, second);
  wick_value xz = rnn_part(in, mx, 0, 3), hz = rnn_part(in, mh, 0, 3);
  wick_value xr = rnn_part(in, mx, 1, 3), hr = rnn_part(in, mh, 1, 3);
  wick_value z = rnn_activate(in, "recurrent_activation", rnn_add(in, xz, hz));
  wick_value r = rnn_activate(in, "recurrent_activation", rnn_add(in, xr, hr));
  wick_value inner;
  if (after) {
    inner = rnn_mul(in, r, rnn_part(in, mh, 2, 3));
  } else {
    wick_value w = rnn_part(in, recurrent, 2, 3);
    inner = wick_build2(in->b, WICK_OP_matmul, rnn_mul(in, r, h), w);
  }
  wick_value g = rnn_activate(in, "activation", rnn_add(in, rnn_part(in, mx, 2, 3), inner));
  wick_value kept = rnn_mul(in, z, h);
  wick_value one = wick_build2(in->b, WICK_OP_sub, wick_emit_number(in->b, z, 1), z);
  s->at[0] = rnn_add(in, kept, rnn_mul(in, one, g));
  return s->at[0];
}

static wick_value rnn_simple(wick_import_node *in, const rnn_cell *cell, wick_value x,
                             rnn_states *s)
{
  wick_value y = wick_build2(in->b, WICK_OP_matmul, x, rnn_weight(in, cell, "kernel"));
  if (rnn_has_bias(in, cell)) y = rnn_add(in, y, rnn_weight(in, cell, "bias"));
  wick_value w = rnn_weight(in, cell, "recurrent_kernel");
  y = rnn_add(in, y, wick_build2(in->b, WICK_OP_matmul, s->at[0], w));
  s->at[0] = rnn_activate(in, "activation", y);
  return s->at[0];
}

/* A convolution of the input, one of the state, and the gates of an LSTM. */
static wick_value rnn_conv_lstm(wick_import_node *in, const rnn_cell *cell, wick_value x,
                                rnn_states *s)
{
  bool last = keras_channels_last(in);
  wick_value kernel = rnn_weight(in, cell, "kernel"), z[4];
  wick_value recurrent = rnn_weight(in, cell, "recurrent_kernel"), bias = {0};
  if (rnn_has_bias(in, cell)) bias = rnn_weight(in, cell, "bias");
  wick_value h = keras_channels_first(in, s->at[0], last);
  wick_value all = keras_conv_plain(in, keras_channels_first(in, x, last), kernel, bias, false);
  all = rnn_add(in, all, keras_conv_plain(in, h, recurrent, (wick_value){0}, true));
  all = keras_channels_back(in, all, true);
  for (int k = 0; k < 4; k++) {
    z[k] = rnn_part(in, all, k, 4);
    if (!last) z[k] = keras_channels_first(in, z[k], true);
  }
  return rnn_lstm_end(in, z, s);
}

static wick_value rnn_step(wick_import_node *n, const rnn_cell *cell, wick_value x, rnn_states *s);

static uint32_t rnn_nstate(const rnn_cell *cell)
{
  bool two = strstr(cell->op, "LSTM") != NULL;
  if (strcmp(cell->op, "StackedRNNCells") != 0) return two ? 2 : 1;
  uint32_t n = 0;
  for (uint32_t i = 0; i < cell->layer->children.n; i++)
    n += rnn_nstate(&(rnn_cell){cell->layer->children.at[i], cell->layer->children.at[i]->op, ""});
  return n;
}

/* Cells on top of each other; each has its own states. */
static wick_value rnn_stacked(wick_import_node *n, const rnn_cell *cell, wick_value x,
                              rnn_states *s)
{
  uint32_t at = 0;
  for (uint32_t i = 0; i < cell->layer->children.n && !n->failed; i++) {
    keras_layer *child = cell->layer->children.at[i];
    rnn_cell inner = {child, child->op, ""};
    rnn_states mine = {.n = rnn_nstate(&inner)};
    if (at + mine.n > s->n) break;
    memcpy(mine.at, s->at + at, mine.n * sizeof *mine.at);
    x = rnn_step(n, &inner, x, &mine);
    memcpy(s->at + at, mine.at, mine.n * sizeof *mine.at);
    at += mine.n;
  }
  return x;
}

static wick_value rnn_step(wick_import_node *n, const rnn_cell *cell, wick_value x, rnn_states *s)
{
  static const struct {
    const char *op;
    wick_value (*step)(wick_import_node *in, const rnn_cell *cell, wick_value x, rnn_states *s);
  } row[] = {{"LSTMCell", rnn_lstm},
             {"GRUCell", rnn_gru},
             {"SimpleRNNCell", rnn_simple},
             {"StackedRNNCells", rnn_stacked},
             {"ConvLSTMCell", rnn_conv_lstm}};
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    if (strcmp(row[i].op, cell->op) != 0) continue;
    keras_call call;
    wick_import_node in = rnn_within(n, cell, &call);
    wick_value y = row[i].step(&in, cell, x, s);
    n->failed = n->failed || in.failed;
    return y;
  }
  wick_import_fail(n, WICK_EUNSUPPORTED, "the cell %s is not supported",
                   wick_import_shown(n->c, cell->op));
  return x;
}

/* ---- layers ---- */

static rnn_cell rnn_cell_of(keras_layer *l)
{
  static const char *const own[][2] = {
      {"LSTM", "LSTMCell"},           {"GRU", "GRUCell"},
      {"SimpleRNN", "SimpleRNNCell"}, {"ConvLSTM1D", "ConvLSTMCell"},
      {"ConvLSTM2D", "ConvLSTMCell"}, {"ConvLSTM3D", "ConvLSTMCell"}};
  for (size_t i = 0; i < WICK_COUNT(own); i++)
    if (strcmp(own[i][0], l->op) == 0) return (rnn_cell){l, own[i][1], "cell/"};
  const wick_json *cell = wick_json_member(l->config, "cell");
  if (cell && cell->kind == WICK_JSON_ARRAY) return (rnn_cell){l, "StackedRNNCells", ""};
  if (l->children.n) return (rnn_cell){l->children.at[0], l->children.at[0]->op, ""};
  return (rnn_cell){l, "?", ""};
}

/* A state of zeros [batch, units...]. */
static wick_value rnn_zeros(wick_import_node *n, wick_value x, uint32_t rank, const wick_dim *dim)
{
  return wick_emit_expand(n->b, wick_emit_number(n->b, x, 0), rank, dim);
}

/* The spatial sizes of a ConvLSTM's states are those of the convolution of its input. */
static void rnn_conv_zeros(wick_import_node *n, const rnn_cell *cell, wick_value step,
                           rnn_states *s)
{
  keras_call call;
  wick_import_node in = rnn_within(n, cell, &call);
  bool last = keras_channels_last(&in);
  wick_value kernel = rnn_weight(&in, cell, "kernel");
  wick_value y =
      keras_conv_plain(&in, keras_channels_first(n, step, last), kernel, (wick_value){0}, false);
  y = keras_channels_back(n, y, true);
  y = rnn_part(n, y, 0, 4);
  if (!last) y = keras_channels_first(n, y, true);
  n->failed = n->failed || in.failed;
  s->at[0] = s->at[1] = rnn_zeros(n, step, keras_rank(n, y), keras_dims(n, y));
}

static int64_t rnn_units(wick_import_node *n, const keras_layer *l)
{
  int64_t units = 0;
  if (wick_json_int(wick_json_member(l->config, "units"), &units) && units > 0 &&
      units <= INT32_MAX)
    return units;
  wick_import_fail(n, WICK_EPARSE, "units is expected to be a positive number");
  return 1;
}

static void rnn_initial(wick_import_node *n, const rnn_cell *cell, wick_value step, rnn_states *s,
                        uint32_t *at)
{
  if (strcmp(cell->op, "StackedRNNCells") == 0) {
    for (uint32_t i = 0; i < cell->layer->children.n && !n->failed; i++) {
      keras_layer *child = cell->layer->children.at[i];
      rnn_initial(n, &(rnn_cell){child, child->op, ""}, step, s, at);
    }
    return;
  }
  uint32_t count = rnn_nstate(cell);
  if (*at + count > RNN_STATES) {
    wick_import_fail(n, WICK_ELIMIT, "it has more than %d states", RNN_STATES);
    return;
  }
  if (strcmp(cell->op, "ConvLSTMCell") == 0) {
    rnn_conv_zeros(n, cell, step, s);
  } else {
    wick_dim dim[2] = {keras_dims(n, step)[0], wick_dim_const(rnn_units(n, cell->layer))};
    for (uint32_t i = 0; i < count; i++) s->at[*at + i] = rnn_zeros(n, step, 2, dim);
  }
  *at += count;
}

/* The states that the call gives: the tensors after the first argument, or initial_state. */
static uint32_t rnn_given(wick_import_node *n, uint32_t from, rnn_states *s)
{
  uint32_t count = 0;
  for (uint32_t i = from; i < n->nin && count < RNN_STATES; i++)
    if (n->in[i].id != keras_of(n)->mask.id) s->at[count++] = n->in[i];
  return count;
}

/* ---- layers that keep their states from run to run ---- */

static bool rnn_is_stateful(const wick_import_node *n)
{
  return keras_is_true(n, "stateful", false);
}

static const char *rnn_state_name(const wick_import_node *n, const keras_layer *l, uint32_t i)
{
  return wick_str_printf(n->c->tmp, "%s/states/%u", *l->path ? l->path : l->name, i);
}

static wick_import_stateful *rnn_state(const wick_import_node *n, const keras_layer *l, uint32_t i)
{
  const char *name = rnn_state_name(n, l, i);
  for (uint32_t k = 0; k < n->c->states.n; k++)
    if (strcmp(n->c->states.at[k].name, name) == 0) return &n->c->states.at[k];
  return NULL;
}

/* Sets the states of a stateful layer as the call or the run before left them, and returns how many there
 * are. Returns 0 for other layers, and in the first try of the import, which finds their types. */
static uint32_t rnn_kept(wick_import_node *n, const keras_layer *l, uint32_t count, rnn_states *s)
{
  for (uint32_t i = 0; i < count; i++) {
    const wick_import_stateful *state = rnn_is_stateful(n) ? rnn_state(n, l, i) : NULL;
    if (!state) return 0;
    s->at[i] = state->last;
  }
  return count;
}

static void rnn_keep(wick_import_node *n, const keras_layer *l, const rnn_states *s)
{
  for (uint32_t i = 0; rnn_is_stateful(n) && i < s->n; i++) {
    const wick_import_stateful *state = rnn_state(n, l, i);
    if (state)
      wick_import_state_set(n->c, state->first, s->at[i]);
    else
      wick_import_state_find(n->c, rnn_state_name(n, l, i), s->at[i]);
  }
}

/* ---- Wick's recurrent operators ---- */

typedef struct rnn_word {
  int word; /* of the operators' activations */
  double alpha, beta;
} rnn_word;

static bool rnn_word_of(wick_import_node *n, const char *which, rnn_word *out)
{
  static const struct {
    const char *name;
    rnn_word word;
  } row[] = {{"tanh", {0, 0, 0}},      {"sigmoid", {1, 0, 0}},       {"relu", {2, 0, 0}},
             {"linear", {3, 1, 0}},    {"elu", {8, 1, 0}},           {"softsign", {9, 0, 0}},
             {"softplus", {10, 0, 0}}, {"hard_sigmoid", {7, 0, 0.5}}};
  const wick_json *j = wick_json_member(keras_of(n)->layer->config, which);
  const char *name = keras_text(n->c, j, NULL);
  if (!name) name = keras_text(n->c, wick_json_member(j, "config"), j ? "" : "linear");
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (strcmp(row[i].name, name) == 0) {
      *out = row[i].word;
      if (out->word == 7) out->alpha = ((keras_model *)n->c->model)->second ? 0.2 : 1.0 / 6;
      return true;
    }
  return false;
}

/* Weights [inputs, gates * units] as [gates * units, inputs], with the gates in another order. */
static wick_value rnn_reordered(wick_import_node *n, wick_value w, uint32_t count, const int *order)
{
  wick_value part[4];
  for (uint32_t k = 0; k < count; k++) part[k] = rnn_part(n, w, order[k], count);
  w = count == 1 ? w : wick_build_concat(n->b, keras_rank(n, w) - 1, count, part);
  return keras_rank(n, w) == 2 ? wick_build_swap(n->b, w) : w;
}

/* The bias of the input's weights, then that of the state's. */
static wick_value rnn_biases(wick_import_node *n, const rnn_cell *cell, uint32_t gates,
                             const int *order, wick_value like)
{
  wick_value both[2];
  int64_t units = rnn_units(n, cell->layer);
  wick_dim all = wick_dim_const(gates * units);
  wick_value zeros = rnn_zeros(n, like, 1, &all);
  both[0] = both[1] = zeros;
  if (rnn_has_bias(n, cell)) {
    wick_value bias = rnn_weight(n, cell, "bias");
    bool two = keras_rank(n, bias) == 2;
    for (int k = 0; k < 1 + two; k++) {
      wick_value row = bias;
      if (two) {
        row = wick_emit_slice(n->b, bias, 0, wick_dim_const(k), wick_dim_const(1));
        row = wick_emit_squeeze(n->b, row, 0);
      }
      both[k] = rnn_reordered(n, row, gates, order);
    }
  }
  return wick_build_concat(n->b, 0, 2, both);
}

typedef struct rnn_kind {
  const char *op;
  wick_opcode build;
  uint32_t gates, nstate;
  int order[4]; /* Wick's gates among Keras' */
} rnn_kind;

/* Builds the whole sequence; x [batch, steps, inputs]. Returns false if the operator cannot do it. */
static bool rnn_native(wick_import_node *n, const rnn_cell *cell, wick_value x, bool reverse,
                       uint32_t ngiven, rnn_states *s, wick_value *out)
{
  static const rnn_kind kinds[] = {{"LSTMCell", WICK_OP_lstm, 4, 2, {0, 3, 1, 2}},
                                   {"GRUCell", WICK_OP_gru, 3, 1, {0, 1, 2}},
                                   {"SimpleRNNCell", WICK_OP_rnn, 1, 1, {0}}};
  const rnn_kind *k = NULL;
  rnn_word word[3] = {{0, 0, 0}};
  for (size_t i = 0; i < WICK_COUNT(kinds); i++)
    if (strcmp(kinds[i].op, cell->op) == 0) k = &kinds[i];
  if (!k || cell->layer != keras_of(n)->layer || !rnn_word_of(n, "activation", &word[0]) ||
      (k->gates > 1 && !rnn_word_of(n, "recurrent_activation", &word[1])))
    return false;
  word[2] = word[0];
  int64_t perm[3] = {1, 0, 2};
  wick_value in[8] = {wick_build_transpose(n->b, x, 3, perm)};
  in[1] = rnn_reordered(n, rnn_weight(n, cell, "kernel"), k->gates, k->order);
  in[2] = rnn_reordered(n, rnn_weight(n, cell, "recurrent_kernel"), k->gates, k->order);
  in[3] = rnn_biases(n, cell, k->gates, k->order, x);
  for (uint32_t i = 0; i < ngiven && i < k->nstate; i++) in[5 + i] = s->at[i];
  wick_emit e = wick_emit_begin(n->b, k->build);
  uint32_t nword = k->gates == 1 ? 1 : k->gates == 3 ? 2 : 3;
  double alpha[3], beta[3];
  for (uint32_t i = 0; i < nword; i++) alpha[i] = word[i].alpha, beta[i] = word[i].beta;
  wick_emit_set_floats(&e, "alpha", nword, alpha);
  wick_emit_set_floats(&e, "beta", nword, beta);
  wick_emit_set_int(&e, "cell", word[0].word);
  if (nword > 1) wick_emit_set_int(&e, "gate", word[1].word);
  if (nword > 2) wick_emit_set_int(&e, "hidden", word[2].word);
  if (k->gates == 3)
    wick_emit_set_int(&e, "late",
                      keras_is_true(n, "reset_after", !((keras_model *)n->c->model)->second));
  wick_emit_set_int(&e, "reverse", reverse);
  wick_value first = wick_emit_end(&e, ngiven ? 5 + k->nstate : 4, in);
  if (!first.id) return true;
  s->n = k->nstate;
  for (uint32_t i = 0; i < k->nstate; i++) s->at[i] = (wick_value){first.id + 1 + i};
  *out = wick_build_transpose(n->b, first, 3, perm);
  return true;
}

/* ---- steps written out ---- */

/* Keeps the old state where the mask is false. mask [batch, 1]. */
static wick_value rnn_masked(wick_import_node *n, wick_value mask, wick_value next, wick_value old)
{
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = keras_rank(n, next);
  dim[0] = keras_dims(n, mask)[0];
  for (uint32_t i = 1; i < rank; i++) dim[i] = wick_dim_const(1);
  if (rank) mask = wick_build_reshape(n->b, mask, rank, dim);
  return wick_build3(n->b, WICK_OP_where, mask, next, old);
}

static wick_value rnn_slice_step(wick_import_node *n, wick_value x, int64_t t)
{
  wick_value step = wick_emit_slice(n->b, x, 1, wick_dim_const(t), wick_dim_const(1));
  return wick_emit_squeeze(n->b, step, 1);
}

/* Results of all steps in the order of the input: out[steps]. */
static void rnn_written(wick_import_node *n, const rnn_cell *cell, wick_value x, bool reverse,
                        rnn_states *s, int64_t steps, wick_value *out)
{
  wick_value mask = keras_of(n)->mask, last = {0};
  bool zero = keras_is_true(n, "zero_output_for_mask", false);
  for (int64_t k = 0; k < steps && !n->failed && !n->b->status; k++) {
    int64_t t = reverse ? steps - 1 - k : k;
    rnn_states old = *s;
    wick_value y = rnn_step(n, cell, rnn_slice_step(n, x, t), s);
    if (mask.id) {
      wick_value m = wick_emit_slice(n->b, mask, 1, wick_dim_const(t), wick_dim_const(1));
      m = wick_build_cast(n->b, m, WICK_BOOL);
      wick_value before = last;
      if (!last.id || zero) before = rnn_zeros(n, y, keras_rank(n, y), keras_dims(n, y));
      y = rnn_masked(n, m, y, before);
      for (uint32_t i = 0; i < s->n; i++) s->at[i] = rnn_masked(n, m, s->at[i], old.at[i]);
    }
    out[t] = last = y;
  }
}

static wick_value rnn_stack(wick_import_node *n, int64_t steps, wick_value *out)
{
  for (int64_t t = 0; t < steps; t++) out[t] = wick_emit_unsqueeze(n->b, out[t], 1);
  return wick_build_concat(n->b, 1, (uint32_t)steps, out);
}

typedef struct rnn_result {
  wick_value all, last; /* [batch, steps, ...] in the order of the input; that of the last step */
  rnn_states states;
} rnn_result;

static bool rnn_run(wick_import_node *n, keras_layer *l, bool reverse, bool sequences,
                    rnn_result *r)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x), at = 0;
  rnn_cell cell = rnn_cell_of(l);
  if (keras_is_true(n, "time_major", false)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "time_major is not supported: build the layer without it");
    return false;
  }
  if (!wick_import_rank(n, 0, 3, 6)) return false;
  uint32_t ngiven = rnn_given(n, 1, &r->states);
  if (!ngiven) ngiven = rnn_kept(n, l, rnn_nstate(&cell), &r->states);
  if (rank == 3 && !keras_of(n)->mask.id &&
      rnn_native(n, &cell, x, reverse, ngiven, &r->states, &r->all)) {
    r->last = r->states.at[0];
    rnn_keep(n, l, &r->states);
    return !n->failed && !n->b->status;
  }
  wick_dim steps = keras_dims(n, x)[1];
  if (!wick_dim_is_const(steps)) return wick_import_must_be_known(n, "the number of steps", steps);
  if (steps.v < 1 || steps.v > RNN_STEPS) {
    wick_import_fail(n, WICK_ELIMIT, "%lld steps are too many for a layer that is written out",
                     (long long)steps.v);
    return false;
  }
  r->states.n = rnn_nstate(&cell);
  if (ngiven != r->states.n) rnn_initial(n, &cell, rnn_slice_step(n, x, 0), &r->states, &at);
  wick_value *out = wick_new(n->c->tmp, wick_value, (size_t)steps.v);
  rnn_written(n, &cell, x, reverse, &r->states, steps.v, out);
  if (n->failed || n->b->status) return false;
  r->last = out[reverse ? 0 : steps.v - 1];
  rnn_keep(n, l, &r->states);
  if (sequences) r->all = rnn_stack(n, steps.v, out);
  return true;
}

/* LSTM, GRU, SimpleRNN, ConvLSTM and RNN. */
void keras_rnn(wick_import_node *n)
{
  keras_layer *l = keras_of(n)->layer;
  bool reverse = keras_is_true(n, "go_backwards", false);
  bool sequences = keras_is_true(n, "return_sequences", false);
  rnn_result r = {{0}, {0}, {0}};
  if (!sequences) *keras_of(n)->out_mask = (wick_value){0};
  if (!rnn_run(n, l, reverse, sequences, &r)) return;
  n->out[0] = sequences ? r.all : r.last;
  if (sequences && reverse && !keras_of(n)->in_order) n->out[0] = keras_reverse(n, r.all, 1);
  if (keras_is_true(n, "return_state", false))
    for (uint32_t i = 0; i < r.states.n; i++) n->out[1 + i] = r.states.at[i];
}

/* A cell as a layer of its own: (inputs, states) to (output, states). */
void keras_cell(wick_import_node *n)
{
  keras_layer *l = keras_of(n)->layer;
  rnn_cell cell = {l, l->op, ""};
  rnn_states s = {.n = rnn_nstate(&cell)};
  if (rnn_given(n, 1, &s) != s.n) {
    wick_import_fail(n, WICK_EPARSE, "it has %u states, expected %u", n->nin - 1, s.n);
    return;
  }
  n->out[0] = rnn_step(n, &cell, n->in[0], &s);
  for (uint32_t i = 0; i < s.n; i++) n->out[1 + i] = s.at[i];
}

/* ---- wrappers ---- */

static uint32_t rnn_direction(wick_import_node *n, keras_layer *l, bool reverse, uint32_t from,
                              uint32_t nstate, wick_value *out)
{
  keras_call call = {.layer = l, .mask = keras_of(n)->mask, .in_order = true};
  wick_import_node in = *n;
  wick_value x[1 + RNN_STATES] = {n->in[0]}, none = {0};
  bool sequences = false, state = false;
  rnn_result r = {{0}, {0}, {0}};
  for (uint32_t i = 0; i < nstate; i++) x[1 + i] = n->in[from + i];
  call.out_mask = &none;
  in.data = &call, in.in = x, in.nin = 1 + nstate;
  sequences = keras_is_true(&in, "return_sequences", false);
  state = keras_is_true(&in, "return_state", false);
  bool good = rnn_run(&in, l, reverse, sequences, &r);
  n->failed = n->failed || in.failed;
  if (!good) return 0;
  uint32_t k = 0;
  out[k++] = sequences ? r.all : r.last;
  for (uint32_t i = 0; state && i < r.states.n; i++) out[k++] = r.states.at[i];
  return k;
}

/* One layer forward, one backward; the results are merged. */
void keras_bidirectional(wick_import_node *n)
{
  keras_layer *l = keras_of(n)->layer;
  wick_value side[2][1 + RNN_STATES];
  uint32_t count[2], nstate = (n->nin - 1) / 2;
  int merge = wick_import_word(n, "merge_mode", "concat sum mul ave");
  bool none = !keras_config(l, "merge_mode");
  if (l->children.n != 2) {
    wick_import_fail(n, WICK_EPARSE, "its layer is missing");
    return;
  }
  if (nstate > RNN_STATES) nstate = RNN_STATES;
  for (uint32_t k = 0; k < 2; k++) {
    keras_call call = {.layer = l->children.at[k], .out_mask = keras_of(n)->out_mask};
    wick_import_node in = *n;
    in.data = &call;
    bool back = k == 1 && !keras_config(l, "backward_layer")
                    ? !keras_is_true(&in, "go_backwards", false)
                    : keras_is_true(&in, "go_backwards", false);
    count[k] = rnn_direction(n, l->children.at[k], back, 1 + k * nstate, nstate, side[k]);
    if (!count[k]) return;
    if (!keras_is_true(&in, "return_sequences", false)) *keras_of(n)->out_mask = (wick_value){0};
  }
  wick_value pair[2] = {side[0][0], side[1][0]};
  uint32_t at = 0;
  if (none) {
    n->out[at++] = pair[0], n->out[at++] = pair[1];
  } else if (merge == 0) {
    n->out[at++] = wick_build_concat(n->b, keras_rank(n, pair[0]) - 1, 2, pair);
  } else {
    wick_value y = wick_build2(n->b, merge == 2 ? WICK_OP_mul : WICK_OP_add, pair[0], pair[1]);
    n->out[at++] = merge == 3 ? keras_by(n, WICK_OP_mul, y, 0.5) : y;
  }
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 1; i < count[k]; i++) n->out[at++] = side[k][i];
}

/* Applies a layer to each step: the steps become part of the batch. Recurrent and stacked layers see
 * [batch * steps, ...], too. */
void keras_time_distributed(wick_import_node *n)
{
  keras_layer *l = keras_of(n)->layer;
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x);
  wick_dims *t = n->c->module->dims;
  wick_dim dim[WICK_MAX_RANK + 1], batch, steps;
  if (!l->children.n || rank < 3) {
    wick_import_fail(n, WICK_EPARSE, rank < 3 ? "the input has no steps" : "its layer is missing");
    return;
  }
  batch = keras_dims(n, x)[0], steps = keras_dims(n, x)[1];
  dim[0] = wick_dim_mul(t, batch, steps);
  for (uint32_t i = 2; i < rank; i++) dim[i - 1] = keras_dims(n, x)[i];
  wick_value flat = wick_build_reshape(n->b, x, rank - 1, dim);
  wick_value y = keras_call1(n->c, l->children.at[0], (keras_tensor){flat, {0}}).v;
  n->b->loc = wick_loc_add(n->c->module, n->location);
  rank = keras_rank(n, y);
  if (!y.id || !rank || rank == WICK_MAX_RANK) {
    n->failed = true;
    return;
  }
  dim[0] = batch, dim[1] = steps;
  for (uint32_t i = 1; i < rank; i++) dim[1 + i] = keras_dims(n, y)[i];
  n->out[0] = wick_build_reshape(n->b, y, rank + 1, dim);
}

/* The layer within, whose weights are stored normalized. */
void keras_spectral(wick_import_node *n)
{
  keras_layer *l = keras_of(n)->layer;
  if (!l->children.n) {
    wick_import_fail(n, WICK_EPARSE, "its layer is missing");
    return;
  }
  n->out[0] = keras_call1(n->c, l->children.at[0], (keras_tensor){n->in[0], keras_of(n)->mask}).v;
  n->failed = !n->out[0].id;
}
