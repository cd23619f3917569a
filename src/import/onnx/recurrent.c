/* Imports LSTM, GRU and RNN: one operator of Wick for each direction, and the concatenation of
 * their results; and LSTM with attention, a loop over its steps. */
#include <ctype.h>
#include <string.h>

#include "import/onnx/import.h"
#include "ops/recurrent/recurrent.h"

enum { RECURRENT_MOST = 8, RECURRENT_ACTS = 3 };

const wick_onnx_act wick_onnx_acts[] = {
    {"Tanh", 0},      {"Sigmoid", 0},         {"Relu", 0},       {"Affine", 2},
    {"LeakyRelu", 1}, {"ThresholdedRelu", 1}, {"ScaledTanh", 2}, {"HardSigmoid", 2},
    {"Elu", 1},       {"Softsign", 0},        {"Softplus", 0},   {NULL, 0},
};

/* A kind of layer: its operator, the numbers of gates and states, and its activations in ONNX's
 * order. Each has a default, an attribute, and a position among the operator's activations. */
typedef struct recurrent_kind {
  wick_opcode op;
  uint32_t gates, nstate, nact;
  struct {
    int64_t kind;
    const char *attr;
    uint32_t position;
  } act[RECURRENT_ACTS];
} recurrent_kind;

static const recurrent_kind recurrent_lstm = {
    WICK_OP_lstm, 4, 2, 3, {{1, "gate", 1}, {0, "cell", 0}, {0, "hidden", 2}}};
static const recurrent_kind recurrent_gru = {
    WICK_OP_gru, 3, 1, 2, {{1, "gate", 1}, {0, "cell", 0}}};
static const recurrent_kind recurrent_rnn = {WICK_OP_rnn, 1, 1, 1, {{0, "cell", 0}}};

typedef struct recurrent {
  wick_onnx_op *o;
  const recurrent_kind *kind;
  int64_t directions;
  bool batch_first;
  wick_dim steps, longest; /* known lengths: of the sequences' tensor, and of the longest one */
  bool equal;              /* all sequences are that long: no lengths are needed */
  size_t alpha, beta;      /* elements of the lists that were read */
} recurrent;

/* ---- activations ---- */

static bool recurrent_named(wick_span s, const char *name)
{
  if (s.nbytes != strlen(name)) return false;
  for (size_t i = 0; i < s.nbytes; i++)
    if (tolower(s.at[i]) != tolower((unsigned char)name[i])) return false;
  return true;
}

static int64_t recurrent_word(recurrent *r, wick_span s)
{
  for (int64_t i = 0; wick_onnx_acts[i].name; i++)
    if (recurrent_named(s, wick_onnx_acts[i].name)) return i;
  wick_onnx_fail(r->o, WICK_EPARSE, "there is no activation \"%s\"",
                 wick_wire_text(r->o->c->tmp, s));
  return 0;
}

/* Reads the next element of a list, in which only activations with this parameter have an
 * element. */
static double recurrent_take(wick_onnx_op *o, const char *name, size_t *at, double otherwise)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return a && *at < a->floats.n ? (double)a->floats.at[(*at)++] : otherwise;
}

static void recurrent_set_acts(recurrent *r, wick_emit *e, int64_t direction)
{
  wick_onnx_op *o = r->o;
  uint32_t n = r->kind->nact;
  const wick_onnx_attr *given = wick_onnx_attr_find(o, "activations");
  double *alpha = wick_new(o->c->tmp, double, n), *beta = wick_new(o->c->tmp, double, n);
  if (given && given->strings.n && given->strings.n != n * (size_t)r->directions) {
    wick_onnx_fail(o, WICK_EPARSE, "activations has %zu names, expected %zu", given->strings.n,
                   n * (size_t)r->directions);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    int64_t kind = r->kind->act[k].kind;
    if (given && given->strings.n)
      kind = recurrent_word(r, given->strings.at[(size_t)direction * n + k]);
    uint32_t nattr = wick_onnx_acts[kind].nattr, position = r->kind->act[k].position;
    wick_recurrent_defaults(kind, &alpha[position], &beta[position]);
    if (nattr > 0)
      alpha[position] = recurrent_take(o, "activation_alpha", &r->alpha, alpha[position]);
    if (nattr > 1) beta[position] = recurrent_take(o, "activation_beta", &r->beta, beta[position]);
    wick_emit_set_int(e, r->kind->act[k].attr, kind);
  }
  if (r->alpha) wick_emit_set_floats(e, "alpha", n, alpha);
  if (r->beta) wick_emit_set_floats(e, "beta", n, beta);
}

/* ---- operands ---- */

/* Returns operand i of one direction. Removes `axis`, along which directions are. Returns 0 if
 * it is missing. */
static wick_value recurrent_part(recurrent *r, uint32_t i, uint32_t axis, uint32_t rank,
                                 int64_t direction, const char *what)
{
  wick_onnx_op *o = r->o;
  if (!wick_onnx_has(o, i) || o->failed || o->b->status) return (wick_value){0};
  const wick_type_info *t = wick_onnx_info(o, i);
  if (t->rank != rank) {
    wick_onnx_fail(o, WICK_ETYPE, "%s has rank %u, expected %u", what, t->rank, rank);
    return (wick_value){0};
  }
  if (!wick_onnx_equal(o, t->dim[axis], wick_dim_const(r->directions))) {
    wick_onnx_fail(o, WICK_ETYPE, "axis %u of %s is not the number of directions, %lld", axis, what,
                   (long long)r->directions);
    return (wick_value){0};
  }
  wick_dim begin[3], shape[3], left[2];
  uint32_t n = 0;
  for (uint32_t k = 0; k < rank; k++) {
    begin[k] = wick_dim_const(k == axis ? direction : 0);
    shape[k] = k == axis ? wick_dim_const(1) : t->dim[k];
    if (k != axis) left[n++] = t->dim[k];
  }
  wick_value x = o->in[i];
  if (r->directions > 1) {
    wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
    wick_emit_set_dims(&e, "begin", rank, begin);
    wick_emit_set_dims(&e, "shape", rank, shape);
    x = wick_emit_end1(&e, x);
  }
  return wick_build_reshape(o->b, x, n, left);
}

/* ---- results ---- */

/* Inserts a dimension of size 1 before `axis` of a direction's result. */
static wick_value recurrent_place(recurrent *r, wick_value x, uint32_t axis)
{
  wick_onnx_op *o = r->o;
  if (o->b->status) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  wick_dim dim[4];
  for (uint32_t k = 0; k <= t->rank; k++)
    dim[k] = k == axis ? wick_dim_const(1) : t->dim[k - (k > axis)];
  return wick_build_reshape(o->b, x, t->rank + 1u, dim);
}

static wick_value recurrent_join(recurrent *r, const wick_value *x, uint32_t axis)
{
  if (r->directions == 1) return x[0];
  wick_emit e = wick_emit_begin(r->o->b, WICK_OP_concat);
  wick_emit_set_int(&e, "axis", axis);
  return wick_emit_end(&e, 2, x);
}

/* ---- lengths ---- */

/* Finds the longest sequence if all lengths are known, so that no steps after it are computed. */
static void recurrent_lengths(recurrent *r, wick_value x)
{
  wick_onnx_op *o = r->o;
  r->steps = r->longest = wick_built_info(o->b, x)->dim[0];
  if (!wick_onnx_has(o, 4)) return;
  const wick_value_info *v = &o->b->values.at[o->in[4].id];
  int64_t most = 0, least = INT64_MAX;
  for (uint32_t k = 0; k < v->ncontent; k++) {
    if (!wick_dim_is_const(v->content[k])) return;
    most = wick_max_i64(most, v->content[k].v), least = wick_min_i64(least, v->content[k].v);
  }
  if (!v->ncontent || !wick_dim_is_const(r->steps) || least < 0 || most < 1 || most > r->steps.v)
    return;
  r->longest = wick_dim_const(most), r->equal = least == most;
}

/* Takes the first steps of a tensor [steps, ...]: those of the longest sequence. */
static wick_value recurrent_shorten(recurrent *r, wick_value x)
{
  wick_dim begin[3] = {{0}}, shape[3];
  if (r->o->b->status || wick_dim_eq(r->longest, r->steps)) return x;
  const wick_type_info *t = wick_built_info(r->o->b, x);
  for (uint32_t k = 0; k < 3; k++) shape[k] = k ? t->dim[k] : r->longest;
  wick_emit e = wick_emit_begin(r->o->b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", 3, begin);
  wick_emit_set_dims(&e, "shape", 3, shape);
  return wick_emit_end1(&e, x);
}

/* Adds zeros for the steps that were not computed. */
static wick_value recurrent_lengthen(recurrent *r, wick_value y)
{
  wick_dim pad[6] = {{0}};
  if (r->o->b->status || wick_dim_eq(r->longest, r->steps)) return y;
  pad[3] = wick_dim_const(r->steps.v - r->longest.v);
  wick_emit e = wick_emit_begin(r->o->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 6, pad);
  return wick_emit_end1(&e, y);
}

/* ---- a layer ---- */

/* Sets the operands of one direction but the first. */
static void recurrent_operands(recurrent *r, int64_t direction, wick_value *in)
{
  wick_onnx_op *o = r->o;
  uint32_t axis = r->batch_first ? 1 : 0;
  in[1] = recurrent_part(r, 1, 0, 3, direction, "W");
  in[2] = recurrent_part(r, 2, 0, 3, direction, "R");
  in[3] = recurrent_part(r, 3, 0, 2, direction, "B");
  in[4] = wick_onnx_has(o, 4) && !r->equal ? o->in[4] : (wick_value){0};
  in[5] = recurrent_part(r, 5, axis, 3, direction, "initial_h");
  in[6] = recurrent_part(r, 6, axis, 3, direction, "initial_c");
  in[7] = recurrent_part(r, 7, 0, 2, direction, "P");
}

static wick_value recurrent_direction(recurrent *r, const wick_value *in, int64_t direction,
                                      bool reverse)
{
  wick_onnx_op *o = r->o;
  uint32_t nin = 3;
  for (uint32_t i = 3; i < RECURRENT_MOST; i++)
    if (in[i].id) nin = i + 1;
  wick_emit e = wick_emit_begin(o->b, r->kind->op);
  recurrent_set_acts(r, &e, direction);
  if (wick_onnx_attr_find(o, "clip"))
    wick_emit_set_float(&e, "clip", wick_onnx_float(o, "clip", 0));
  if (reverse) wick_emit_set_int(&e, "reverse", 1);
  if (r->kind->op == WICK_OP_lstm && wick_onnx_int(o, "input_forget", 0))
    wick_emit_set_int(&e, "coupled", 1);
  if (r->kind->op == WICK_OP_gru && wick_onnx_int(o, "linear_before_reset", 0))
    wick_emit_set_int(&e, "late", 1);
  if (o->failed) return (wick_value){0};
  return wick_emit_end(&e, nin, in);
}

static void recurrent_check(recurrent *r)
{
  wick_onnx_op *o = r->o;
  int64_t units = wick_onnx_int(o, "hidden_size", 0);
  if (wick_onnx_info(o, 0)->rank != 3) {
    wick_onnx_fail(o, WICK_ETYPE, "X has rank %u, expected 3", wick_onnx_info(o, 0)->rank);
    return;
  }
  const wick_type_info *w = wick_onnx_info(o, 2);
  if (units && w->rank == 3 && !wick_onnx_equal(o, w->dim[2], wick_dim_const(units)))
    wick_onnx_fail(o, WICK_ETYPE, "hidden_size is %lld, R is for another", (long long)units);
  if (wick_onnx_float(o, "clip", 1) <= 0)
    wick_onnx_fail(o, WICK_ERANGE, "clip is %g, expected more than 0",
                   wick_onnx_float(o, "clip", 1));
}

static void recurrent_layer(wick_onnx_op *o, const recurrent_kind *kind)
{
  int way = wick_onnx_word(o, "direction", "forward reverse bidirectional");
  recurrent r = {.o = o,
                 .kind = kind,
                 .directions = way == 2 ? 2 : 1,
                 .batch_first = wick_onnx_int(o, "layout", 0) != 0};
  static const int64_t swap[] = {1, 0, 2};
  recurrent_check(&r);
  if (o->failed) return;
  wick_value x = r.batch_first ? wick_build_transpose(o->b, o->in[0], 3, swap) : o->in[0],
             part[3][2] = {{{0}}};
  if (o->b->status) return;
  recurrent_lengths(&r, x);
  x = recurrent_shorten(&r, x);
  for (int64_t d = 0; d < r.directions; d++) {
    wick_value in[RECURRENT_MOST] = {x};
    recurrent_operands(&r, d, in);
    wick_value y = recurrent_direction(&r, in, d, way == 1 || d == 1);
    if (o->failed || o->b->status || !y.id) return;
    for (uint32_t k = 0; k <= kind->nstate; k++) {
      wick_value v = {y.id + k};
      if (k == 0) v = recurrent_lengthen(&r, v);
      if (k == 0 && r.batch_first) v = wick_build_transpose(o->b, v, 3, swap);
      part[k][d] = recurrent_place(&r, v, k == 0 ? 1 + r.batch_first : r.batch_first);
    }
  }
  for (uint32_t k = 0; k <= kind->nstate && k < o->nout; k++)
    o->out[k] = recurrent_join(&r, part[k], k == 0 ? 1 + r.batch_first : r.batch_first);
}

static void recurrent_import_lstm(wick_onnx_op *o) { recurrent_layer(o, &recurrent_lstm); }
static void recurrent_import_gru(wick_onnx_op *o) { recurrent_layer(o, &recurrent_gru); }
static void recurrent_import_rnn(wick_onnx_op *o) { recurrent_layer(o, &recurrent_rnn); }

/* ---- LSTM with attention to a memory (Bahdanau, Cho and Bengio 2014), of com.microsoft ---- */

/* Operands. */
enum {
  WRAPPED_QUERY = 8,
  WRAPPED_MEMORY_LAYER,
  WRAPPED_V,
  WRAPPED_MEMORY,
  WRAPPED_LENGTHS,
  WRAPPED_LAYER
};

/* A direction: the cell reads an input and what the attention gave in the step before. */
typedef struct recurrent_wrapped {
  recurrent *r;
  int64_t direction;
  wick_value cell[RECURRENT_MOST];
  wick_value query, v, layer; /* weights; layer: 0 without one */
  wick_value keys, values;    /* [batch, memory steps, depth] */
  wick_value valid;           /* which steps of the memory there are; 0: all */
  wick_value lengths;         /* of the sequences, i64; 0: all are whole */
} recurrent_wrapped;

/* Which of `steps` come before the lengths, [batch, steps]. */
static wick_value wrapped_valid(wick_builder *b, wick_value lengths, wick_dim steps)
{
  wick_value at = wick_build_cast(b, wick_emit_count_along(b, steps, 1, 2), WICK_I64);
  return wick_build2(b, WICK_OP_lt, at, wick_emit_unsqueeze(b, lengths, 1));
}

static wick_value wrapped_lengths(wick_onnx_op *o, uint32_t i)
{
  return wick_onnx_has(o, i) ? wick_build_cast(o->b, o->in[i], WICK_I64) : (wick_value){0};
}

static void wrapped_memory(recurrent_wrapped *w)
{
  wick_onnx_op *o = w->r->o;
  wick_builder *b = o->b;
  wick_value memory_layer = recurrent_part(w->r, WRAPPED_MEMORY_LAYER, 0, 3, w->direction, "MW");
  w->query = recurrent_part(w->r, WRAPPED_QUERY, 0, 3, w->direction, "QW");
  w->v = recurrent_part(w->r, WRAPPED_V, 0, 2, w->direction, "V");
  w->layer = recurrent_part(w->r, WRAPPED_LAYER, 0, 3, w->direction, "AW");
  if (o->failed || b->status) return;
  w->values = o->in[WRAPPED_MEMORY];
  wick_value lengths = wrapped_lengths(o, WRAPPED_LENGTHS);
  if (lengths.id) {
    w->valid = wrapped_valid(b, lengths, wick_onnx_info(o, WRAPPED_MEMORY)->dim[1]);
    wick_value zero = wick_emit_number(b, w->values, 0);
    wick_value deep = wick_emit_unsqueeze(b, w->valid, 2);
    w->values = wick_build3(b, WICK_OP_where, deep, w->values, zero);
  }
  w->keys = wick_build2(b, WICK_OP_matmul, w->values, memory_layer);
}

/* What the attention gives for a hidden state. */
static wick_value wrapped_attend(recurrent_wrapped *w, wick_value h)
{
  wick_builder *b = w->r->o->b;
  wick_value q = wick_emit_unsqueeze(b, wick_build2(b, WICK_OP_matmul, h, w->query), 1);
  wick_value s = wick_build1(b, WICK_OP_tanh, wick_build2(b, WICK_OP_add, w->keys, q));
  s = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, s, w->v), 2, false);
  if (w->valid.id) /* weights of what is far below all scores are 0 */
    s = wick_build3(b, WICK_OP_where, w->valid, s, wick_emit_number(b, s, -3e38));
  wick_emit e = wick_emit_begin(b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", 1);
  s = wick_emit_unsqueeze(b, wick_emit_end1(&e, s), 1);
  const wick_value part[] = {h,
                             wick_emit_squeeze(b, wick_build2(b, WICK_OP_matmul, s, w->values), 1)};
  if (b->status || !w->layer.id) return part[1];
  return wick_build2(b, WICK_OP_matmul, wick_build_concat(b, 1, 2, part), w->layer);
}

/* The states h, c and the attention after a step; next[3] becomes the result of the step. */
static void wrapped_step(recurrent_wrapped *w, wick_value x, wick_value at, const wick_value *state,
                         wick_value *next)
{
  wick_builder *b = w->r->o->b;
  const wick_value part[] = {wick_build2(b, WICK_OP_dynamic_index, x, at), state[2]};
  wick_value in[RECURRENT_MOST];
  for (uint32_t k = 0; k < RECURRENT_MOST; k++) in[k] = w->cell[k];
  if (b->status) return;
  in[0] = wick_emit_unsqueeze(b, wick_build_concat(b, 1, 2, part), 0);
  in[4] = (wick_value){0}, in[5] = state[0], in[6] = state[1];
  wick_value y = recurrent_direction(w->r, in, w->direction, false);
  if (b->status || w->r->o->failed) return;
  next[0] = next[3] = (wick_value){y.id + 1}, next[1] = (wick_value){y.id + 2};
  if (w->lengths.id) { /* states stay after the end, and results are 0 */
    wick_value live = wick_build2(b, WICK_OP_lt, at, w->lengths);
    live = wick_emit_unsqueeze(b, live, 1);
    for (uint32_t k = 0; k < 2; k++)
      next[k] = wick_build3(b, WICK_OP_where, live, next[k], state[k]);
    next[3] = wick_build3(b, WICK_OP_where, live, next[3], wick_emit_number(b, next[3], 0));
  }
  next[2] = wrapped_attend(w, next[0]);
}

/* Zeros [batch, units], if the operand that would say otherwise is missing. */
static wick_value wrapped_zeros(recurrent *r, wick_value given, wick_dim units)
{
  wick_onnx_op *o = r->o;
  const wick_dim dim[] = {wick_onnx_info(o, 0)->dim[1], units};
  if (given.id || o->b->status) return given;
  return wick_emit_expand(o->b, wick_emit_number(o->b, o->in[0], 0), 2, dim);
}

/* Runs the steps; state: h, c and the attention. Returns all results [steps, batch, units]. */
static wick_value wrapped_loop(recurrent_wrapped *w, wick_value x, wick_value *state)
{
  enum { STATES = 3 };
  wick_onnx_op *o = w->r->o;
  wick_builder *b = o->b;
  wick_dim steps = wick_onnx_info(o, 0)->dim[0];
  wick_value in[1 + STATES] = {wick_onnx_size(o, steps)}, out[2 + STATES] = {{0}}, param[STATES];
  wick_type type[1 + STATES] = {wick_type_tensor(o->c->module, WICK_I64, 0, NULL)};
  if (b->status) return x;
  for (uint32_t k = 0; k < STATES; k++)
    in[1 + k] = state[k], type[1 + k] = wick_built_type(b, state[k]);
  const wick_attr attr[] = {
      [WICK_ATTR_loop_stacked] = {.i = 1}, [WICK_ATTR_loop_most] = {.n = 1, .dims = &steps}};
  wick_build_open(b, WICK_OP_loop, 1 + STATES, in, attr, 0, NULL);
  wick_value at = wick_region_begin(b, 1 + STATES, type);
  if (b->status) return x;
  for (uint32_t k = 0; k < STATES; k++) param[k] = (wick_value){at.id + 1 + k};
  wrapped_step(w, x, at, param, out + 1);
  if (b->status || o->failed) return x;
  out[0] = wick_build_const(b, wick_type_tensor(o->c->module, WICK_BOOL, 0, NULL), 0, 1);
  wick_yield(b, 2 + STATES, out);
  wick_value last = wick_build_close(b);
  for (uint32_t k = 0; k < STATES; k++) state[k] = (wick_value){last.id + k};
  return (wick_value){last.id + STATES};
}

/* Turns each sequence of [steps, batch, ...] around. */
static wick_value wrapped_turn(recurrent_wrapped *w, wick_value x)
{
  wick_onnx_op *o = w->r->o;
  const wick_dim *dim = wick_onnx_info(o, 0)->dim;
  wick_value in[] = {x, w->lengths};
  if (!in[1].id) in[1] = wick_emit_expand(o->b, wick_onnx_size(o, dim[0]), 1, &dim[1]);
  if (o->b->status || o->failed) return x;
  wick_onnx_as(o, "ReverseSequence", 10, 2, in);
  return o->out[0];
}

static void wrapped_check(recurrent *r)
{
  wick_onnx_op *o = r->o;
  static const char *const name[] = {"QW", "MW", "V", "M"};
  recurrent_check(r);
  for (uint32_t k = 0; k < WICK_COUNT(name); k++)
    if (!wick_onnx_has(o, WRAPPED_QUERY + k))
      wick_onnx_fail(o, WICK_EPARSE, "%s is missing", name[k]);
  if (o->failed) return;
  const wick_type_info *m = wick_onnx_info(o, WRAPPED_MEMORY), *weight = wick_onnx_info(o, 2);
  if (m->rank != 3 || weight->rank != 3)
    wick_onnx_fail(o, WICK_ETYPE, "M has rank %u and R %u, expected 3", m->rank, weight->rank);
  for (uint32_t k = 4; k <= WRAPPED_LENGTHS; k += WRAPPED_LENGTHS - 4)
    if (wick_onnx_has(o, k) && wick_onnx_info(o, k)->rank != 1)
      wick_onnx_fail(o, WICK_ETYPE, "lengths have rank %u, expected 1", wick_onnx_info(o, k)->rank);
}

static void recurrent_import_wrapped(wick_onnx_op *o)
{
  int way = wick_onnx_word(o, "direction", "forward reverse bidirectional");
  recurrent r = {.o = o, .kind = &recurrent_lstm, .directions = way == 2 ? 2 : 1};
  wick_value part[3][2] = {{{0}}};
  wrapped_check(&r);
  for (int64_t d = 0; d < r.directions && !o->failed && !o->b->status; d++) {
    recurrent_wrapped w = {.r = &r, .direction = d, .lengths = wrapped_lengths(o, 4)};
    bool reverse = way == 1 || d == 1;
    recurrent_operands(&r, d, w.cell);
    wrapped_memory(&w);
    if (o->failed || o->b->status) return;
    wick_dim units = wick_onnx_info(o, 2)->dim[2],
             depth = w.layer.id ? wick_built_info(o->b, w.layer)->dim[1]
                                : wick_onnx_info(o, WRAPPED_MEMORY)->dim[2];
    wick_value state[3];
    state[0] = wrapped_zeros(&r, w.cell[5], units);
    state[1] = wrapped_zeros(&r, w.cell[6], units);
    state[2] = wrapped_zeros(&r, (wick_value){0}, depth);
    wick_value x = reverse ? wrapped_turn(&w, o->in[0]) : o->in[0];
    wick_value y = wrapped_loop(&w, x, state);
    if (o->failed || o->b->status) return;
    part[0][d] = recurrent_place(&r, reverse ? wrapped_turn(&w, y) : y, 1);
    for (uint32_t k = 1; k < 3; k++) part[k][d] = recurrent_place(&r, state[k - 1], 0);
  }
  if (o->failed || o->b->status) return;
  for (uint32_t k = 0; k < 3 && k < o->nout; k++)
    o->out[k] = recurrent_join(&r, part[k], k == 0 ? 1 : 0);
}

#define RECURRENT_ATTRS                                                                            \
  "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i"
#define RECURRENT_ROW(type, since, most, nout, attrs, import)                                      \
  {                                                                                                \
    type, since, {3, most}, nout, RECURRENT_ATTRS attrs, import, 0, 0                              \
  }

/* `output_sequence` says whether the first result is used. It is ignored, because its users show
 * that. */
const wick_onnx_row wick_onnx_recurrent_rows[] = {
    RECURRENT_ROW("GRU", 1, 6, 2, " output_sequence:i", recurrent_import_gru),
    RECURRENT_ROW("GRU", 3, 6, 2, " linear_before_reset:i output_sequence:i", recurrent_import_gru),
    RECURRENT_ROW("GRU", 7, 6, 2, " linear_before_reset:i", recurrent_import_gru),
    RECURRENT_ROW("GRU", 14, 6, 2, " layout:i linear_before_reset:i", recurrent_import_gru),
    RECURRENT_ROW("LSTM", 1, 8, 3, " input_forget:i output_sequence:i", recurrent_import_lstm),
    RECURRENT_ROW("LSTM", 7, 8, 3, " input_forget:i", recurrent_import_lstm),
    RECURRENT_ROW("LSTM", 14, 8, 3, " input_forget:i layout:i", recurrent_import_lstm),
    RECURRENT_ROW("RNN", 1, 6, 2, " output_sequence:i", recurrent_import_rnn),
    RECURRENT_ROW("RNN", 7, 6, 2, "", recurrent_import_rnn),
    RECURRENT_ROW("RNN", 14, 6, 2, " layout:i", recurrent_import_rnn),
    {"com.microsoft.AttnLSTM",
     1,
     {3, 14},
     3,
     RECURRENT_ATTRS " input_forget:i",
     recurrent_import_wrapped,
     0,
     0},
    {0},
};
