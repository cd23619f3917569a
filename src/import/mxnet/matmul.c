/* Imports MXNet's products, softmaxes and recurrent layers. */
#include <string.h>

#include "import/kit/array.h"
#include "import/mxnet/ops.h"

/* x W^T + b, of whole images or of the last dimension. */
void wick_mxnet_dense(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info *t = wick_import_info(n, 0);
  wick_value x = n->in[0];
  if (!t->rank || !wick_import_rank(n, 1, 2, 2)) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "its input has rank 0");
    return;
  }
  if (wick_import_int(n, "flatten", 1) && t->rank != 2) {
    const wick_dim dim[2] = {t->dim[0], wick_array_product(n, t->rank - 1, t->dim + 1)};
    x = wick_build_reshape(b, x, 2, dim);
  }
  wick_value y = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, n->in[1]));
  n->out[0] = wick_import_has(n, 2) ? wick_build2(b, WICK_OP_add, y, n->in[2]) : y;
}

void wick_mxnet_dot(wick_import_node *n)
{
  static const char *const words[] = {"transpose_a", "transpose_b"};
  wick_value x[2] = {n->in[0], n->in[1]};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t rank = wick_import_info(n, i)->rank;
    if (rank > 2 && !n->row->arg) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "operands of rank %u are not supported", rank);
      return;
    }
    if (wick_import_int(n, words[i], 0) && rank > 1) x[i] = wick_build_swap(n->b, x[i]);
  }
  n->out[0] = wick_build2(n->b, WICK_OP_matmul, x[0], x[1]);
}

static wick_value matmul_softmax(wick_import_node *n, wick_opcode op, wick_value x, int64_t axis)
{
  wick_emit e = wick_emit_begin(n->b, op);
  wick_emit_set_int(&e, "axis", axis);
  return wick_emit_end1(&e, x);
}

void wick_mxnet_softmax(wick_import_node *n)
{
  uint32_t axis;
  double t = wick_import_real(n, "temperature", 1);
  if (!wick_mxnet_axis(n, "axis", -1, wick_import_info(n, 0)->rank, &axis)) return;
  if (wick_import_int(n, "use_length", 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "use_length is not supported");
    return;
  }
  wick_value x = t == 1 ? n->in[0] : wick_emit_by(n->b, WICK_OP_div, n->in[0], t);
  if (n->row->arg) x = wick_build1(n->b, WICK_OP_neg, x);
  n->out[0] = matmul_softmax(n, n->row->op, x, axis);
}

/* The loss of training is a softmax in a prediction: over channels, the last dimension, or all but the
 * first. */
void wick_mxnet_softmax_output(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  if (wick_import_int(n, "multi_output", 0)) {
    n->out[0] = matmul_softmax(n, WICK_OP_softmax, n->in[0], 1);
  } else if (wick_import_int(n, "preserve_shape", 0) || t->rank < 3) {
    n->out[0] = matmul_softmax(n, WICK_OP_softmax, n->in[0], -1);
  } else {
    const wick_dim dim[2] = {t->dim[0], wick_array_product(n, t->rank - 1, t->dim + 1)};
    wick_value y =
        matmul_softmax(n, WICK_OP_softmax, wick_build_reshape(n->b, n->in[0], 2, dim), 1);
    n->out[0] = wick_build_reshape(n->b, y, t->rank, t->dim);
  }
}

void wick_mxnet_softmax_activation(wick_import_node *n)
{
  if (wick_import_word(n, "mode", "instance channel"))
    n->out[0] = matmul_softmax(n, WICK_OP_softmax, n->in[0], 1);
  else
    wick_mxnet_softmax_output(n);
}

/* ---- recurrent layers ---- */

typedef struct matmul_rnn {
  wick_import_node *n;
  int mode; /* rnn_relu, rnn_tanh, lstm, gru */
  int64_t layers, ways, units, gates;
  wick_value params; /* [all]: weights of all layers and ways, then their biases */
  int64_t at;        /* the next weight */
  int64_t bias;      /* the first bias */
} matmul_rnn;

/* Takes the next count * width numbers as [count, width]. */
static wick_value matmul_take(matmul_rnn *r, int64_t *at, int64_t count, int64_t width)
{
  wick_builder *b = r->n->b;
  const wick_dim dim[2] = {wick_dim_const(count), wick_dim_const(width)};
  wick_value v =
      wick_emit_slice(b, r->params, 0, wick_dim_const(*at), wick_dim_const(count * width));
  *at += count * width;
  return width == 1 ? v : wick_build_reshape(b, v, 2, dim);
}

/* Orders gates from MXNet's to Wick's: LSTM i f g o to i o f g, GRU r z n to z r n. */
static wick_value matmul_gates(matmul_rnn *r, wick_value w)
{
  static const int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2};
  wick_builder *b = r->n->b;
  wick_value part[4];
  if (r->gates == 1) return w;
  for (int64_t k = 0; k < r->gates; k++)
    part[k] =
        wick_emit_slice(b, w, 0, wick_dim_const((r->gates == 4 ? lstm[k] : gru[k]) * r->units),
                        wick_dim_const(r->units));
  return wick_build_concat(b, 0, (uint32_t)r->gates, part);
}

/* The initial state of a layer and way: a part of operand i [layers * ways, batch, units]. */
static wick_value matmul_state(matmul_rnn *r, uint32_t i, int64_t k, wick_dim batch)
{
  wick_import_node *n = r->n;
  const wick_dim dim[2] = {batch, wick_dim_const(r->units)};
  wick_value v = wick_emit_slice(n->b, n->in[i], 0, wick_dim_const(k), wick_dim_const(1));
  v = wick_emit_squeeze(n->b, v, 0);
  return wick_emit_expand(n->b, v, 2, dim);
}

/* One way of a layer; returns the results' first: the outputs, and the last states follow. */
static wick_value matmul_way(matmul_rnn *r, wick_value x, wick_value w, wick_value u, int64_t k,
                             bool reverse)
{
  static const wick_opcode ops[] = {WICK_OP_rnn, WICK_OP_rnn, WICK_OP_lstm, WICK_OP_gru};
  wick_builder *b = r->n->b;
  wick_dim batch = wick_built_info(b, x)->dim[1];
  int64_t each = r->gates * r->units, at = r->bias + 2 * each * k;
  wick_value first = matmul_gates(r, matmul_take(r, &at, each, 1));
  wick_value second = matmul_gates(r, matmul_take(r, &at, each, 1));
  wick_value bias = wick_build_concat(b, 0, 2, (wick_value[]){first, second});
  wick_emit e = wick_emit_begin(b, ops[r->mode]);
  wick_emit_set_int(&e, "reverse", reverse);
  enum { RELU = 2 };
  if (r->mode == 0) wick_emit_set_int(&e, "cell", RELU);
  if (r->mode == 3) wick_emit_set_int(&e, "late", true);
  wick_value in[7] = {x, w, u, bias, {0}, matmul_state(r, 2, k, batch)};
  if (r->mode == 2) in[6] = matmul_state(r, 3, k, batch);
  return wick_emit_end(&e, r->mode == 2 ? 7 : 6, in);
}

static bool matmul_rnn_read(matmul_rnn *r)
{
  wick_import_node *n = r->n;
  r->mode = wick_import_word(n, "mode", "rnn_relu rnn_tanh lstm gru");
  r->layers = wick_import_int(n, "num_layers", 1), r->units = wick_import_int(n, "state_size", 0);
  r->ways = wick_import_int(n, "bidirectional", 0) ? 2 : 1;
  r->gates = r->mode == 2 ? 4 : r->mode == 3 ? 3 : 1;
  if (n->failed) return false;
  if (r->layers < 1 || r->layers > 1000 || r->units < 1 || r->units > 1 << 20 ||
      n->nin != (r->mode == 2 ? 4u : 3u) || wick_import_attr_has(n, "projection_size") ||
      wick_import_int(n, "use_sequence_length", 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "%lld layers of %lld units with %u inputs are not supported "
                     "(nor projection_size and use_sequence_length)",
                     (long long)r->layers, (long long)r->units, n->nin);
    return false;
  }
  return wick_import_rank(n, 0, 3, 3) && wick_import_rank(n, 1, 1, 1) &&
         wick_import_rank(n, 2, 3, 3) && (r->mode != 2 || wick_import_rank(n, 3, 3, 3));
}

/* Operands: x [steps, batch, inputs], the parameters, the first states. */
void wick_mxnet_rnn(wick_import_node *n)
{
  matmul_rnn r = {.n = n, .params = n->in[1]};
  wick_builder *b = n->b;
  if (!matmul_rnn_read(&r)) return;
  wick_dim input = wick_import_info(n, 0)->dim[2];
  if (!wick_dim_is_const(input)) {
    wick_import_must_be_known(n, "the number of inputs", input);
    return;
  }
  int64_t each = r.gates * r.units, ways = r.layers * r.ways;
  r.bias = r.ways * each * (input.v + r.units) +
           (r.layers - 1) * r.ways * each * (r.ways * r.units + r.units);
  wick_value x = n->in[0], *last[2];
  for (int k = 0; k < 2; k++) last[k] = wick_new(n->c->tmp, wick_value, (size_t)ways);
  for (int64_t l = 0; l < r.layers && !b->status; l++) {
    int64_t width = l ? r.ways * r.units : input.v;
    wick_value y[2];
    for (int64_t d = 0; d < r.ways; d++) {
      wick_value w = matmul_gates(&r, matmul_take(&r, &r.at, each, width));
      wick_value u = matmul_gates(&r, matmul_take(&r, &r.at, each, r.units));
      y[d] = matmul_way(&r, x, w, u, l * r.ways + d, d == 1);
      for (uint32_t k = 0; k < (r.mode == 2 ? 2u : 1u); k++)
        last[k][l * r.ways + d] = wick_emit_unsqueeze(b, (wick_value){y[d].id + 1 + k}, 0);
    }
    x = r.ways > 1 ? wick_build_concat(b, 2, 2, y) : y[0];
  }
  n->out[0] = x;
  for (uint32_t k = 0; k < (r.mode == 2 ? 2u : 1u) && k + 1 < n->nout; k++)
    n->out[1 + k] = ways > 1 ? wick_build_concat(b, 0, (uint32_t)ways, last[k]) : last[k][0];
}
