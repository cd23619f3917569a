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

/* The peephole of a gate: its weights times the state. */
static wick_value rnn_peep(wick_import_node *n, wick_value gate, wick_value state, uint32_t weights)
{
  if (!wick_import_int(n, "use_peephole", 0)) return gate;
  wick_value more = wick_build2(n->b, WICK_OP_mul, state, n->in[weights]);
  return wick_build2(n->b, WICK_OP_add, gate, more);
}

/* x, c, h, weights, peepholes of i, f, o, bias -> i, c, f, o, g, tanh c, h. The gates are i, g, f, o. */
void wick_tf_import_lstm_cell(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value c = n->in[1];
  if (!wick_import_rank(n, 1, 2, 2)) return;
  wick_dim units = wick_import_info(n, 1)->dim[1];
  double clip = wick_import_real(n, "cell_clip", -1);
  wick_value all = wick_build2(b, WICK_OP_matmul, rnn_join(n, n->in[0], n->in[2]), n->in[3]);
  all = wick_build2(b, WICK_OP_add, all, n->in[7]);
  wick_value i = rnn_part(n, all, 1, 0, units), g = rnn_part(n, all, 1, 1, units),
             f = rnn_part(n, all, 1, 2, units), o = rnn_part(n, all, 1, 3, units);
  i = wick_build1(b, WICK_OP_sigmoid, rnn_peep(n, i, c, 4));
  f = wick_emit_by(b, WICK_OP_add, f, wick_import_real(n, "forget_bias", 1));
  f = wick_build1(b, WICK_OP_sigmoid, rnn_peep(n, f, c, 5));
  g = wick_build1(b, WICK_OP_tanh, g);
  wick_value keep = wick_build2(b, WICK_OP_mul, f, c), add = wick_build2(b, WICK_OP_mul, i, g);
  wick_value next = wick_build2(b, WICK_OP_add, keep, add);
  if (clip > 0) {
    wick_value low = wick_emit_number(b, next, -clip), high = wick_emit_number(b, next, clip);
    next = wick_build3(b, WICK_OP_clip, next, low, high);
  }
  o = wick_build1(b, WICK_OP_sigmoid, rnn_peep(n, o, next, 6));
  wick_value shown = wick_build1(b, WICK_OP_tanh, next), h = wick_build2(b, WICK_OP_mul, o, shown);
  const wick_value out[] = {i, next, f, o, g, shown, h};
  for (uint32_t k = 0; k < n->nout && k < WICK_COUNT(out); k++) n->out[k] = out[k];
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
