/* Imports LSTM, GRU and RNN: one operator of Wick for each direction, and the concatenation of
 * their results. */
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

static wick_value recurrent_direction(recurrent *r, wick_value x, int64_t direction, bool reverse)
{
  wick_onnx_op *o = r->o;
  uint32_t axis = r->batch_first ? 1 : 0, nin = 3;
  wick_value in[RECURRENT_MOST] = {x,
                                   recurrent_part(r, 1, 0, 3, direction, "W"),
                                   recurrent_part(r, 2, 0, 3, direction, "R"),
                                   recurrent_part(r, 3, 0, 2, direction, "B"),
                                   wick_onnx_has(o, 4) && !r->equal ? o->in[4] : (wick_value){0},
                                   recurrent_part(r, 5, axis, 3, direction, "initial_h"),
                                   recurrent_part(r, 6, axis, 3, direction, "initial_c"),
                                   recurrent_part(r, 7, 0, 2, direction, "P")};
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
    wick_value y = recurrent_direction(&r, x, d, way == 1 || d == 1);
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
    {0},
};
