/* Recurrent cells of version 1. Layers of Keras are loops. */
#include "import/tensorflow/ops.h"

static wick_value rnn_part(wick_import_node *n, wick_value x, uint32_t axis, uint32_t k,
                           wick_dim size)
{
  wick_dim begin = wick_dim_mul(n->c->module->dims, size, wick_dim_const(k));
  return wick_emit_slice(n->b, x, axis, begin, size);
}

static wick_value rnn_join(wick_import_node *n, wick_value x, wick_value h)
{
  return wick_build_concat(n->b, 1, 2, (wick_value[]){x, h});
}

typedef struct rnn_lstm { /* what the steps of an LSTM share */
  wick_value weights, peep[3],
      bias; /* of x and h; of i, f and o; gates are i, g, f, o, or i, f, g, o */
  bool peephole, forget_second;
  double forget, clip;
  wick_dim units;
} rnn_lstm;

static wick_value rnn_gate(wick_import_node *n, const rnn_lstm *l, wick_value gate,
                           wick_value state, uint32_t k)
{
  if (l->peephole)
    gate = wick_build2(n->b, WICK_OP_add, gate, wick_build2(n->b, WICK_OP_mul, state, l->peep[k]));
  return wick_build1(n->b, WICK_OP_sigmoid, gate);
}

enum { RNN_CELL = 1, RNN_HIDDEN = 6, RNN_NOUT = 7 };

/* One step: out is i, c, f, o, g, tanh c, h. */
static void rnn_lstm_step(wick_import_node *n, const rnn_lstm *l, wick_value x, wick_value c,
                          wick_value h, wick_value *out)
{
  wick_builder *b = n->b;
  wick_value all = wick_build2(b, WICK_OP_matmul, rnn_join(n, x, h), l->weights);
  all = wick_build2(b, WICK_OP_add, all, l->bias);
  wick_value i = rnn_part(n, all, 1, 0, l->units),
             g = rnn_part(n, all, 1, l->forget_second ? 2 : 1, l->units),
             f = rnn_part(n, all, 1, l->forget_second ? 1 : 2, l->units),
             o = rnn_part(n, all, 1, 3, l->units);
  i = rnn_gate(n, l, i, c, 0);
  if (l->forget != 0) f = wick_emit_by(b, WICK_OP_add, f, l->forget);
  f = rnn_gate(n, l, f, c, 1);
  g = wick_build1(b, WICK_OP_tanh, g);
  wick_value keep = wick_build2(b, WICK_OP_mul, f, c), add = wick_build2(b, WICK_OP_mul, i, g);
  wick_value next = wick_build2(b, WICK_OP_add, keep, add);
  if (l->clip > 0) {
    wick_value low = wick_emit_number(b, next, -l->clip), high = wick_emit_number(b, next, l->clip);
    next = wick_build3(b, WICK_OP_clip, next, low, high);
  }
  o = rnn_gate(n, l, o, next, 2);
  wick_value shown = wick_build1(b, WICK_OP_tanh, next), y = wick_build2(b, WICK_OP_mul, o, shown);
  const wick_value made[RNN_NOUT] = {i, next, f, o, g, shown, y};
  for (uint32_t k = 0; k < RNN_NOUT; k++) out[k] = made[k];
}

/* Operands from `first` on: weights, peepholes of i, f and o, bias. */
static rnn_lstm rnn_lstm_read(wick_import_node *n, uint32_t first, uint32_t state)
{
  return (rnn_lstm){.weights = n->in[first],
                    .peep = {n->in[first + 1], n->in[first + 2], n->in[first + 3]},
                    .bias = n->in[first + 4],
                    .peephole = wick_import_int(n, "use_peephole", 0),
                    .forget = wick_import_real(n, "forget_bias", 1),
                    .clip = wick_import_real(n, "cell_clip", -1),
                    .units = wick_import_info(n, state)->dim[1]};
}

/* x, c, h, weights, peepholes of i, f, o, bias -> i, c, f, o, g, tanh c, h */
void wick_tf_import_lstm_cell(wick_import_node *n)
{
  wick_value out[RNN_NOUT] = {{0}};
  if (!wick_import_rank(n, 1, 2, 2)) return;
  const rnn_lstm l = rnn_lstm_read(n, 3, 1);
  rnn_lstm_step(n, &l, n->in[0], n->in[1], n->in[2], out);
  for (uint32_t k = 0; k < n->nout && k < RNN_NOUT; k++) n->out[k] = out[k];
}

/* The number of steps, x [steps, batch, inputs], and then as the cell; results are those of all steps, which are
 * 0 from that number on. arg 1: the second version, without a bias of f. */
void wick_tf_import_block_lstm(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value step[RNN_NOUT] = {{0}};
  if (!wick_import_rank(n, 0, 0, 0) || !wick_import_rank(n, 1, 3, 3) ||
      !wick_import_rank(n, 2, 2, 2))
    return;
  rnn_lstm l = rnn_lstm_read(n, 4, 2);
  l.forget_second = n->row->arg;
  if (n->row->arg) l.forget = 0;
  l.clip = wick_import_real(n, "cell_clip", n->row->arg ? 0 : 3);
  wick_dim steps = wick_import_info(n, 1)->dim[0];
  const wick_dim one = wick_dim_const(1);
  wick_value count = wick_array_sizes(n, 1, &steps, WICK_I64);
  count = wick_build_reshape(b, count, 0, NULL);
  wick_value first =
      wick_emit_loop_begin(b, count, 2, (wick_value[]){n->in[2], n->in[3]}, RNN_NOUT, steps);
  if (b->status) return;
  wick_value at = wick_build_reshape(b, first, 1, &one);
  wick_value x = wick_emit_gather(b, WICK_OP_gather, n->in[1], at, 0);
  rnn_lstm_step(n, &l, wick_emit_squeeze(b, x, 0), (wick_value){first.id + 1},
                (wick_value){first.id + 2}, step);
  wick_value next[2 + RNN_NOUT] = {step[RNN_CELL], step[RNN_HIDDEN]};
  for (uint32_t k = 0; k < RNN_NOUT; k++) next[2 + k] = step[k];
  wick_value y = wick_emit_loop_end(b, 2 + RNN_NOUT, next);
  if (b->status) return;
  wick_value on = wick_emit_count_along(b, steps, 0, 3);
  on = wick_build2(b, WICK_OP_lt, on, wick_build_cast(b, n->in[0], WICK_I64));
  for (uint32_t k = 0; k < n->nout && k < RNN_NOUT && !b->status; k++) {
    wick_value all = {y.id + 2 + k};
    n->out[k] = wick_build3(b, WICK_OP_where, on, all, wick_emit_number(b, all, 0));
  }
}

/* x, h, weights of r and u, weights of c, their biases -> r, u, c, h */
void wick_tf_import_gru_cell(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value h = n->in[1];
  if (!wick_import_rank(n, 1, 2, 2)) return;
  wick_dim units = wick_import_info(n, 1)->dim[1];
  wick_value both = wick_build2(b, WICK_OP_matmul, rnn_join(n, n->in[0], h), n->in[2]);
  both = wick_build1(b, WICK_OP_sigmoid, wick_build2(b, WICK_OP_add, both, n->in[4]));
  wick_value r = rnn_part(n, both, 1, 0, units), u = rnn_part(n, both, 1, 1, units);
  wick_value part = rnn_join(n, n->in[0], wick_build2(b, WICK_OP_mul, r, h));
  wick_value c = wick_build2(b, WICK_OP_matmul, part, n->in[3]);
  c = wick_build1(b, WICK_OP_tanh, wick_build2(b, WICK_OP_add, c, n->in[5]));
  wick_value rest = wick_build2(b, WICK_OP_sub, wick_emit_number(b, u, 1), u);
  wick_value keep = wick_build2(b, WICK_OP_mul, u, h), add = wick_build2(b, WICK_OP_mul, rest, c);
  const wick_value out[] = {r, u, c, wick_build2(b, WICK_OP_add, keep, add)};
  for (uint32_t k = 0; k < n->nout && k < WICK_COUNT(out); k++) n->out[k] = out[k];
}
