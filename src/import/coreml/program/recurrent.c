/* Recurrent layers: x [steps, batch, inputs], in one direction or in both. */
#include <string.h>

#include "import/coreml/program/ops.h"

typedef struct recurrent_word {
  int word; /* of Wick's operators */
  double alpha, beta;
} recurrent_word;

/* Core ML does not say the numbers of scaled_tanh; these are the usual ones. */
static bool recurrent_activation(wick_import_node *n, const char *name, const char *otherwise,
                                 recurrent_word *out)
{
  static const struct {
    const char *name;
    recurrent_word word;
  } row[] = {{"tanh", {0, 0, 0}},
             {"sigmoid", {1, 0, 0}},
             {"relu", {2, 0, 0}},
             {"linear", {3, 1, 0}},
             {"scaled_tanh", {6, 1.7159, 2.0 / 3}},
             {"hard_sigmoid", {7, 0.2, 0.5}},
             {"sigmoid_hard", {7, 0.2, 0.5}}};
  const char *text = wick_import_text(n, name, otherwise);
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (strcmp(row[i].name, text) == 0) {
      *out = row[i].word;
      return true;
    }
  wick_import_fail(n, WICK_EUNSUPPORTED, "the activation \"%s\" is not supported",
                   wick_import_shown(n->c, text));
  return false;
}

/* A layer in one direction. */
typedef struct recurrent_layer {
  wick_opcode op;
  uint32_t gates;
  const int *order; /* of Wick's gates among Core ML's */
  wick_value x, w, r, h, c;
  wick_value bias, second; /* the bias of w; that of r. 0: none */
  wick_value peephole;
  recurrent_word act[3]; /* cell, gate, hidden */
  bool late;
} recurrent_layer;

typedef struct recurrent_result {
  wick_value all, h, c;
} recurrent_result;

/* The gates, one after another along the first axis, in another order. */
static wick_value recurrent_ordered(wick_import_node *n, wick_value v, uint32_t count,
                                    const int *order)
{
  wick_value part[4];
  if (n->b->status || count == 1) return v;
  wick_dim by = wick_dim_const(count),
           size = wick_dim_floordiv(wick_mil_dims(n), wick_mil_info(n, v)->dim[0], by);
  for (uint32_t k = 0; k < count; k++)
    part[k] = wick_emit_slice(n->b, v, 0,
                              wick_dim_mul(wick_mil_dims(n), size, wick_dim_const(order[k])), size);
  return wick_build_concat(n->b, 0, count, part);
}

static wick_value recurrent_biases(wick_import_node *n, const recurrent_layer *l)
{
  wick_value both[2] = {l->bias, l->second};
  if (n->b->status) return l->bias;
  wick_value zeros =
      wick_emit_expand(n->b, wick_emit_number(n->b, l->x, 0), 1, &wick_mil_info(n, l->w)->dim[0]);
  for (uint32_t k = 0; k < 2; k++)
    both[k] = both[k].id ? recurrent_ordered(n, both[k], l->gates, l->order) : zeros;
  return wick_build_concat(n->b, 0, 2, both);
}

static bool recurrent_ranks(wick_import_node *n, const recurrent_layer *l)
{
  const wick_value v[] = {l->x, l->w, l->r, l->h, l->c};
  static const uint32_t rank[] = {3, 2, 2, 2, 2};
  for (uint32_t k = 0; k < WICK_COUNT(v); k++)
    if (v[k].id && wick_mil_info(n, v[k])->rank != rank[k]) {
      wick_import_fail(n, WICK_ETYPE, "the ranks of its operands do not fit");
      return false;
    }
  wick_dim all = wick_mil_info(n, l->w)->dim[0];
  if (wick_import_equal(n, wick_dim_mod(wick_mil_dims(n), all, wick_dim_const(l->gates)),
                        wick_dim_const(0)))
    return true;
  wick_import_fail(n, WICK_ETYPE, "its weights do not have %u gates", l->gates);
  return false;
}

/* The results are in the order in which the steps are processed, except that `reverse` gives them in
 * the order of x. */
static bool recurrent_build(wick_import_node *n, const recurrent_layer *l, bool reverse,
                            recurrent_result *out)
{
  static const int peepholes[] = {0, 2, 1};
  if (!recurrent_ranks(n, l)) return false;
  bool lstm = l->op == WICK_OP_lstm;
  uint32_t nact = lstm ? 3 : l->op == WICK_OP_gru ? 2 : 1;
  double alpha[3], beta[3];
  wick_value in[8] = {l->x, {0}, {0}, {0}, {0}, l->h, l->c, {0}};
  in[1] = recurrent_ordered(n, l->w, l->gates, l->order);
  in[2] = recurrent_ordered(n, l->r, l->gates, l->order);
  in[3] = recurrent_biases(n, l);
  if (l->peephole.id) in[7] = recurrent_ordered(n, l->peephole, 3, peepholes);
  wick_emit e = wick_emit_begin(n->b, l->op);
  for (uint32_t k = 0; k < nact; k++) alpha[k] = l->act[k].alpha, beta[k] = l->act[k].beta;
  wick_emit_set_floats(&e, "alpha", nact, alpha);
  wick_emit_set_floats(&e, "beta", nact, beta);
  wick_emit_set_int(&e, "cell", l->act[0].word);
  if (nact > 1) wick_emit_set_int(&e, "gate", l->act[1].word);
  if (nact > 2) wick_emit_set_int(&e, "hidden", l->act[2].word);
  if (l->op == WICK_OP_gru) wick_emit_set_int(&e, "late", l->late);
  wick_emit_set_int(&e, "reverse", reverse);
  wick_value y = wick_emit_end(&e, l->peephole.id ? 8 : lstm ? 7 : 6, in);
  *out = (recurrent_result){y, {y.id + 1}, {lstm ? y.id + 2 : 0}};
  return !n->b->status;
}

/* Sets the results: those of all steps, or of the last one, which then has size 1 along the steps. */
static void recurrent_finish(wick_import_node *n, const recurrent_result *r)
{
  bool all = wick_import_int(n, "output_sequence", 0) != 0;
  n->out[0] = all ? r->all : wick_emit_unsqueeze(n->b, r->h, 0);
  if (n->nout > 1) n->out[1] = r->h;
  if (n->nout > 2) n->out[2] = r->c;
}

/* forward or reverse: x is turned, so that results come in the order of processing. */
static bool recurrent_direction(wick_import_node *n, wick_value *x)
{
  int word = wick_import_word(n, "direction", "forward reverse");
  if (n->failed) return false;
  *x = word ? wick_array_reverse(n, n->in[0], 1) : n->in[0];
  return true;
}

void wick_mil_import_rnn(wick_import_node *n) /* x, initial_h, weight_ih, weight_hh, bias */
{
  static const int order[] = {0};
  recurrent_result r;
  recurrent_layer l = {WICK_OP_rnn,     1, order, .w = n->in[2], .r = n->in[3], .h = n->in[1],
                       .bias = n->in[4]};
  if (recurrent_activation(n, "activation", "tanh", &l.act[0]) && recurrent_direction(n, &l.x) &&
      recurrent_build(n, &l, false, &r))
    recurrent_finish(n, &r);
}

/* Core ML's gates are r, o, z. With reset_after, `bias` is that of the state's product. */
void wick_mil_import_gru(wick_import_node *n) /* x, h, weight_ih, weight_hh, bias, input_bias */
{
  static const int order[] = {2, 0, 1};
  recurrent_result r;
  recurrent_layer l = {
      WICK_OP_gru,       3, order, .w = n->in[2], .r = n->in[3], .h = n->in[1], .bias = n->in[5],
      .second = n->in[4]};
  l.late = wick_import_int(n, "reset_after", 0) != 0;
  if (recurrent_activation(n, "activation", "tanh", &l.act[0]) &&
      recurrent_activation(n, "recurrent_activation", "sigmoid", &l.act[1]) &&
      recurrent_direction(n, &l.x) && recurrent_build(n, &l, false, &r))
    recurrent_finish(n, &r);
}

/* Half k of the last axis: the state of one direction. */
static wick_value recurrent_half(wick_import_node *n, wick_value v, int64_t k)
{
  if (n->b->status) return v;
  const wick_type_info *t = wick_mil_info(n, v);
  if (t->rank != 2) return v;
  wick_dim size = wick_dim_floordiv(wick_mil_dims(n), t->dim[1], wick_dim_const(2));
  return wick_emit_slice(n->b, v, 1, wick_dim_mul(wick_mil_dims(n), size, wick_dim_const(k)), size);
}

/* Both directions: the second one's steps are in the order of x. */
static void recurrent_both(wick_import_node *n, const recurrent_layer *first)
{
  recurrent_layer l[2] = {*first, *first};
  recurrent_result r[2], joined;
  if (!n->in[7].id || !n->in[8].id) {
    wick_import_fail(n, WICK_EPARSE, "it has no weights for the backward direction");
    return;
  }
  l[1].w = n->in[7], l[1].r = n->in[8], l[1].bias = n->in[9], l[1].peephole = n->in[10];
  for (uint32_t k = 0; k < 2; k++) {
    l[k].h = recurrent_half(n, first->h, k);
    l[k].c = recurrent_half(n, first->c, k);
    if (!recurrent_build(n, &l[k], k == 1, &r[k])) return;
  }
  joined.all = wick_build_concat(n->b, 2, 2, (wick_value[]){r[0].all, r[1].all});
  joined.h = wick_build_concat(n->b, 1, 2, (wick_value[]){r[0].h, r[1].h});
  joined.c = wick_build_concat(n->b, 1, 2, (wick_value[]){r[0].c, r[1].c});
  recurrent_finish(n, &joined);
}

/* x, h, c, weight_ih, weight_hh, bias, peephole, then the last four of the backward direction. Core
 * ML's gates are i, f, o, z. */
void wick_mil_import_lstm(wick_import_node *n)
{
  enum { FORWARD, REVERSE, BOTH, NO_LIMIT = 10000 };
  static const int order[] = {0, 2, 1, 3};
  recurrent_result r;
  recurrent_layer l = {WICK_OP_lstm,
                       4,
                       order,
                       .w = n->in[3],
                       .r = n->in[4],
                       .h = n->in[1],
                       .c = n->in[2],
                       .bias = n->in[5],
                       .peephole = n->in[6]};
  int direction = wick_import_word(n, "direction", "forward reverse bidirectional");
  double clip = wick_import_real(n, "clip", NO_LIMIT);
  if (clip < NO_LIMIT) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a limit of the cell's state (clip = %g)", clip);
    return;
  }
  if (n->failed || !recurrent_activation(n, "cell_activation", "tanh", &l.act[0]) ||
      !recurrent_activation(n, "recurrent_activation", "sigmoid", &l.act[1]) ||
      !recurrent_activation(n, "activation", "tanh", &l.act[2]))
    return;
  l.x = direction == REVERSE ? wick_array_reverse(n, n->in[0], 1) : n->in[0];
  if (direction == BOTH)
    recurrent_both(n, &l);
  else if (recurrent_build(n, &l, false, &r))
    recurrent_finish(n, &r);
}
