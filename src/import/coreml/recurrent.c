/* Recurrent layers over x [sequence, batch, inputs, 1, 1]. With reverseInput the sequence is read from
 * its end, and results come in the order in which they are computed. */
#include <string.h>

#include "import/coreml/layers.h"
#include "import/kit/array.h"

enum { RECURRENT_GATES = 4, RECURRENT_ACTIVATIONS = 3, RECURRENT_CLIP = 50 };

typedef struct recurrent {
  int64_t inputs, units;
  uint32_t ngate;
  wick_value x; /* [sequence, batch, inputs] */
  int word[RECURRENT_ACTIVATIONS];
  double alpha[RECURRENT_ACTIVATIONS], beta[RECURRENT_ACTIVATIONS];
  uint32_t rank; /* of the layer's input */
} recurrent;

/* The word of an activation in Wick's recurrent operators. Writers leave out the only parameters that
 * Core ML takes for scaledTanh and sigmoidHard. */
static bool recurrent_word(wick_import_node *n, const wick_coreml_message *activation, recurrent *r,
                           uint32_t k)
{
  static const struct {
    const char *name;
    int word;
    double alpha, beta;
  } words[] = {{"tanh", 0, 0, 0},
               {"sigmoid", 1, 0, 0},
               {"ReLU", 2, 0, 0},
               {"linear", 3, 1, 0},
               {"leakyReLU", 4, 0, 0},
               {"scaledTanh", 6, 1.7159, 2.0 / 3},
               {"sigmoidHard", 7, 0.2, 0.5},
               {"ELU", 8, 0, 0},
               {"softsign", 9, 0, 0},
               {"softplus", 10, 0, 0}};
  wick_coreml_message m;
  const wick_coreml_field *f = wick_coreml_choice(activation, 1, 100, &m);
  const char *kind = f ? wick_str_dupn(n->c->tmp, f->name, f->nname) : "";
  for (uint32_t i = 0; i < WICK_COUNT(words); i++) {
    if (strcmp(words[i].name, kind) != 0) continue;
    r->word[k] = words[i].word;
    r->alpha[k] = wick_coreml_real(&m, "alpha", words[i].alpha);
    r->beta[k] = wick_coreml_real(&m, "beta", words[i].beta);
    return true;
  }
  wick_import_fail(n, WICK_EUNSUPPORTED, "the activation %s of a recurrent layer is not supported",
                   *kind ? kind : "that is absent");
  return false;
}

/* Reads the sizes and the input. */
static bool recurrent_begin(wick_import_node *n, recurrent *r)
{
  wick_value x = wick_coreml_float(n, 0);
  r->inputs = wick_import_int(n, "inputVectorSize", 0);
  r->units = wick_import_int(n, "outputVectorSize", 0);
  if (n->b->status) return false;
  const wick_type_info *t = wick_built_info(n->b, x);
  r->rank = t->rank;
  if (t->rank < 3) {
    wick_import_fail(n, WICK_ETYPE, "the rank of its input is %u, expected 3 to 5", t->rank);
    return false;
  }
  wick_dim dim[] = {t->dim[0], t->dim[1], wick_array_product(n, t->rank - 2u, t->dim + 2)};
  r->x = wick_build_reshape(n->b, x, 3, dim);
  if (wick_import_int(n, "reverseInput", 0)) r->x = wick_array_reverse(n, r->x, 1);
  return !n->b->status && !n->failed;
}

/* Joins the weights of the gates along their first axis; `columns` is 0 for vectors. */
static wick_value recurrent_join(wick_import_node *n, const recurrent *r,
                                 const wick_coreml_message *m, const char *const *names,
                                 uint32_t count, int64_t columns)
{
  wick_value part[RECURRENT_GATES];
  const int64_t dim[] = {r->units, columns};
  for (uint32_t k = 0; k < count; k++) {
    part[k] = wick_coreml_weight(n, m, names[k], columns ? 2 : 1, dim);
    if (n->failed) return part[k];
  }
  return count == 1 ? part[0] : wick_build_concat(n->b, 0, count, part);
}

/* A bias of Wick: that of the input's weights, then 0 for the state's. */
static wick_value recurrent_bias(wick_import_node *n, const recurrent *r, wick_value bias)
{
  int64_t size = r->units * r->ngate;
  wick_type type = wick_type_tensor_const(n->c->module, WICK_F32, 1, &size);
  wick_value zero = wick_build_const(n->b, type, 0, 0);
  if (!bias.id) bias = zero;
  return wick_build_concat(n->b, 0, 2, (wick_value[]){bias, zero});
}

/* The initial state, operand i: [batch, units]; 0 if it is absent. */
static wick_value recurrent_state(wick_import_node *n, const recurrent *r, uint32_t i)
{
  if (!wick_import_has(n, i)) return (wick_value){0};
  wick_dim dim[] = {wick_built_info(n->b, r->x)->dim[1], wick_dim_const(r->units)};
  return wick_build_reshape(n->b, wick_coreml_float(n, i), 2, dim);
}

static void recurrent_activations(wick_import_node *n, wick_emit *e, const recurrent *r,
                                  uint32_t count, const char *const *names)
{
  double *list = wick_new(n->c->mem, double, 2 * (size_t)count);
  for (uint32_t k = 0; k < count; k++) {
    list[k] = r->alpha[k], list[count + k] = r->beta[k];
    wick_emit_set_int(e, names[k], r->word[k]);
  }
  wick_emit_set_floats(e, "alpha", count, list);
  wick_emit_set_floats(e, "beta", count, list + count);
  wick_emit_set_float(e, "clip", RECURRENT_CLIP);
}

/* A result [sequence, batch, units] with the rank of the layer's input. */
static wick_value recurrent_shaped(wick_import_node *n, const recurrent *r, wick_value y)
{
  if (n->b->status) return y;
  const wick_type_info *t = wick_built_info(n->b, y);
  wick_dim dim[WICK_MAX_RANK], one = wick_dim_const(1);
  uint32_t lead = t->rank == 2; /* a state */
  dim[0] = one;
  for (uint32_t k = 0; k < t->rank; k++) dim[lead + k] = t->dim[k];
  for (uint32_t k = 3; k < r->rank; k++) dim[k] = one;
  return wick_build_reshape(n->b, y, r->rank, dim);
}

/* ---- LSTM ---- */

static const char *const recurrent_lstm_w[] = {"inputGateWeightMatrix", "outputGateWeightMatrix",
                                               "forgetGateWeightMatrix", "blockInputWeightMatrix"};
static const char *const recurrent_lstm_r[] = {
    "inputGateRecursionMatrix", "outputGateRecursionMatrix", "forgetGateRecursionMatrix",
    "blockInputRecursionMatrix"};
static const char *const recurrent_lstm_b[] = {"inputGateBiasVector", "outputGateBiasVector",
                                               "forgetGateBiasVector", "blockInputBiasVector"};
static const char *const recurrent_lstm_p[] = {
    "inputGatePeepholeVector", "outputGatePeepholeVector", "forgetGatePeepholeVector"};

/* The cell's state is limited by a threshold that it cannot reach if each step adds at most 1: with
 * gates in [0, 1] and a block input in [-1, 1], in fewer steps. Else there is a remark. */
static void recurrent_threshold(wick_import_node *n, const recurrent *r,
                                const wick_coreml_message *params)
{
  double most = wick_coreml_real(params, "cellClipThreshold", 0);
  wick_dim steps = wick_built_info(n->b, r->x)->dim[0];
  bool gates = r->word[1] == 1 || r->word[1] == 7,
       cell = r->word[0] == 0 || r->word[0] == 1 || r->word[0] == 7 || r->word[0] == 9;
  if (most == 0) most = 50;
  if (gates && cell && wick_dim_is_const(steps) && (double)steps.v <= most) return;
  if (most >= 10000) return; /* as converters write for "no limit" */
  wick_import_remark(n->c, n->location, "the limit of the cell's state, %g, is not applied", most);
}

typedef struct recurrent_lstm_out {
  wick_value y, h, c;
} recurrent_lstm_out;

static recurrent_lstm_out recurrent_lstm(wick_import_node *n, const recurrent *r,
                                         const wick_coreml_message *weights, uint32_t state,
                                         bool reverse)
{
  static const char *const names[] = {"cell", "gate", "hidden"};
  wick_builder *b = n->b;
  wick_coreml_message params = wick_coreml_part(wick_coreml_params(n), "params");
  recurrent_lstm_out out = {{0}, {0}, {0}};
  wick_value in[8] = {r->x}, bias = {0};
  in[1] = recurrent_join(n, r, weights, recurrent_lstm_w, 4, r->inputs);
  if (!n->failed) in[2] = recurrent_join(n, r, weights, recurrent_lstm_r, 4, r->units);
  if (!n->failed && wick_coreml_int(&params, "hasBiasVectors", 0))
    bias = recurrent_join(n, r, weights, recurrent_lstm_b, 4, 0);
  if (n->failed) return out;
  in[3] = recurrent_bias(n, r, bias);
  if (wick_coreml_int(&params, "forgetBias", 0)) {
    int64_t size = 8 * r->units;
    double *one = wick_new(n->c->tmp, double, (size_t)size);
    for (int64_t k = 0; k < r->units; k++) one[2 * r->units + k] = 1;
    in[3] =
        wick_build2(b, WICK_OP_add, in[3], wick_emit_table(b, "forget", WICK_F32, 1, &size, one));
  }
  in[5] = recurrent_state(n, r, state), in[6] = recurrent_state(n, r, state + 1);
  if (wick_coreml_int(&params, "hasPeepholeVectors", 0))
    in[7] = recurrent_join(n, r, weights, recurrent_lstm_p, 3, 0);
  if (n->failed) return out;
  recurrent_threshold(n, r, &params);
  wick_emit e = wick_emit_begin(b, WICK_OP_lstm);
  recurrent_activations(n, &e, r, 3, names);
  wick_emit_set_int(&e, "coupled", wick_coreml_int(&params, "coupledInputAndForgetGate", 0));
  wick_emit_set_int(&e, "reverse", reverse);
  uint32_t nin = in[7].id ? 8 : in[6].id ? 7 : in[5].id ? 6 : 4;
  wick_value first = wick_emit_end(&e, nin, in);
  if (b->status) return out;
  return (recurrent_lstm_out){first, {first.id + 1}, {first.id + 2}};
}

/* Activations are [gate, cell, hidden]. */
static bool recurrent_three(wick_import_node *n, const char *name, recurrent *r)
{
  static const uint32_t at[] = {1, 0, 2};
  wick_coreml_messages list = wick_coreml_parts(wick_coreml_params(n), name, n->c->tmp);
  if (list.n != 3) {
    wick_import_fail(n, WICK_EPARSE, "it has %u activations, expected 3", list.n);
    return false;
  }
  for (uint32_t k = 0; k < 3; k++)
    if (!recurrent_word(n, &list.at[k], r, at[k])) return false;
  return true;
}

static void recurrent_both(wick_import_node *n, recurrent *r)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_message params = wick_coreml_part(p, "params");
  wick_coreml_messages w = wick_coreml_parts(p, "weightParams", n->c->tmp);
  bool whole = wick_coreml_int(&params, "sequenceOutput", 0) != 0;
  if (w.n != 2) {
    wick_import_fail(n, WICK_EPARSE, "it has weights for %u directions, expected 2", w.n);
    return;
  }
  recurrent_lstm_out f = recurrent_lstm(n, r, &w.at[0], 1, false);
  if (n->failed || !recurrent_three(n, "activationsBackwardLSTM", r)) return;
  recurrent_lstm_out k = recurrent_lstm(n, r, &w.at[1], 3, true);
  if (n->failed || n->b->status) return;
  wick_value y[2] = {whole ? f.y : f.h, whole ? k.y : k.h};
  wick_value all[] = {wick_build_concat(n->b, whole ? 2 : 1, 2, y), f.h, f.c, k.h, k.c};
  for (uint32_t i = 0; i < n->nout && i < 5; i++) n->out[i] = recurrent_shaped(n, r, all[i]);
}

void wick_coreml_lstm(wick_import_node *n)
{
  recurrent r = {.ngate = 4};
  const wick_coreml_message *p = wick_coreml_params(n);
  if (!recurrent_begin(n, &r) ||
      !recurrent_three(n, n->row->arg ? "activationsForwardLSTM" : "activations", &r))
    return;
  if (n->row->arg) {
    recurrent_both(n, &r);
    return;
  }
  wick_coreml_message w = wick_coreml_part(p, "weightParams"),
                      params = wick_coreml_part(p, "params");
  recurrent_lstm_out y = recurrent_lstm(n, &r, &w, 1, false);
  if (n->failed || n->b->status) return;
  wick_value all[] = {wick_coreml_int(&params, "sequenceOutput", 0) ? y.y : y.h, y.h, y.c};
  for (uint32_t i = 0; i < n->nout && i < 3; i++) n->out[i] = recurrent_shaped(n, &r, all[i]);
}

/* ---- the others ---- */

/* Runs an operator with one state; its results are all steps and the last one. */
static void recurrent_end(wick_import_node *n, const recurrent *r, wick_opcode op,
                          const char *const *words, uint32_t nword, wick_value *in)
{
  wick_emit e = wick_emit_begin(n->b, op);
  recurrent_activations(n, &e, r, nword, words);
  in[5] = recurrent_state(n, r, 1);
  wick_value first = wick_emit_end(&e, in[5].id ? 6 : 4, in);
  if (n->b->status) return;
  wick_value last = {first.id + 1}, y = wick_import_int(n, "sequenceOutput", 0) ? first : last;
  n->out[0] = recurrent_shaped(n, r, y);
  if (n->nout > 1) n->out[1] = recurrent_shaped(n, r, last);
}

void wick_coreml_gru(wick_import_node *n)
{
  static const char *const w[] = {"updateGateWeightMatrix", "resetGateWeightMatrix",
                                  "outputGateWeightMatrix"};
  static const char *const rec[] = {"updateGateRecursionMatrix", "resetGateRecursionMatrix",
                                    "outputGateRecursionMatrix"};
  static const char *const bias[] = {"updateGateBiasVector", "resetGateBiasVector",
                                     "outputGateBiasVector"};
  static const char *const words[] = {"cell", "gate"};
  recurrent r = {.ngate = 3};
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_messages act = wick_coreml_parts(p, "activations", n->c->tmp);
  if (!recurrent_begin(n, &r)) return;
  if (act.n != 2) {
    wick_import_fail(n, WICK_EPARSE, "it has %u activations, expected 2", act.n);
    return;
  }
  if (!recurrent_word(n, &act.at[0], &r, 1) || !recurrent_word(n, &act.at[1], &r, 0)) return;
  wick_value in[6] = {r.x}, b = {0};
  in[1] = recurrent_join(n, &r, p, w, 3, r.inputs);
  if (!n->failed) in[2] = recurrent_join(n, &r, p, rec, 3, r.units);
  if (!n->failed && wick_import_int(n, "hasBiasVectors", 0))
    b = recurrent_join(n, &r, p, bias, 3, 0);
  if (n->failed) return;
  in[3] = recurrent_bias(n, &r, b);
  recurrent_end(n, &r, WICK_OP_gru, words, 2, in);
}

void wick_coreml_simple(wick_import_node *n)
{
  static const char *const w[] = {"weightMatrix"}, *const rec[] = {"recursionMatrix"},
                           *const bias[] = {"biasVector"}, *const words[] = {"cell"};
  recurrent r = {.ngate = 1};
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_message act = wick_coreml_part(p, "activation");
  if (!recurrent_begin(n, &r) || !recurrent_word(n, &act, &r, 0)) return;
  wick_value in[6] = {r.x}, b = {0};
  in[1] = recurrent_join(n, &r, p, w, 1, r.inputs);
  if (!n->failed) in[2] = recurrent_join(n, &r, p, rec, 1, r.units);
  if (!n->failed && wick_import_int(n, "hasBiasVector", 0))
    b = recurrent_join(n, &r, p, bias, 1, 0);
  if (n->failed) return;
  in[3] = recurrent_bias(n, &r, b);
  recurrent_end(n, &r, WICK_OP_rnn, words, 1, in);
}
