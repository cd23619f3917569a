/* Exports recurrent layers. ONNX's operands have an axis of directions; an operator of Wick is one
 * direction. */
#include "ops/recurrent/recurrent.h"
#include "export/write.h"
#include "import/onnx/onnx.h"

enum { RECURRENT_OPERANDS = 8, RECURRENT_ACTS = 3 };

/* The operator's attributes of activations, in ONNX's order, and their indices in alpha and
 * beta. */
static const struct {
  const char *attr;
  uint32_t position;
} recurrent_order[][RECURRENT_ACTS] = {
    {{"cell", 0}},                             /* RNN */
    {{"gate", 1}, {"cell", 0}},                /* GRU */
    {{"gate", 1}, {"cell", 0}, {"hidden", 2}}, /* LSTM */
};

static void recurrent_set_acts(wick_export_op *o, wick_onnx_node *n, uint32_t kind)
{
  const wick_attr *given_a = wick_export_attr(o, "alpha"), *given_b = wick_export_attr(o, "beta");
  const char *name[RECURRENT_ACTS];
  double alpha[RECURRENT_ACTS], beta[RECURRENT_ACTS];
  uint32_t nalpha = 0, nbeta = 0;
  for (uint32_t k = 0; k <= kind; k++) {
    int64_t act = wick_export_attr(o, recurrent_order[kind][k].attr)->i;
    uint32_t position = recurrent_order[kind][k].position, nattr = wick_onnx_acts[act].nattr;
    double a, b;
    wick_recurrent_defaults(act, &a, &b);
    name[k] = wick_onnx_acts[act].name;
    if (nattr > 0) alpha[nalpha++] = position < given_a->n ? given_a->floats[position] : a;
    if (nattr > 1) beta[nbeta++] = position < given_b->n ? given_b->floats[position] : b;
  }
  wick_export_set_words(o, n, "activations", kind + 1, name);
  if (nalpha && given_a->n) wick_export_set_floats(o, n, "activation_alpha", nalpha, alpha);
  if (nbeta && given_b->n) wick_export_set_floats(o, n, "activation_beta", nbeta, beta);
}

/* Returns operand i with a new first axis. If the operand is a reshape that removes that axis,
 * returns the operand of the reshape. */
static const char *recurrent_turned(wick_export_op *o, uint32_t i)
{
  const wick_node *n = wick_export_given(o, i) ? wick_export_definer(o, o->n->in[i]) : NULL;
  if (n && n->op == WICK_OP_reshape) {
    const wick_type_info *x = wick_info_of(o->x->f, n->in[0]), *y = wick_export_info(o, i);
    bool same = x->rank == y->rank + 1 && wick_dim_is(x->dim[0], 1);
    for (uint32_t k = 0; same && k < y->rank; k++) same = wick_dim_eq(x->dim[k + 1], y->dim[k]);
    if (same) return wick_export_value(o->x, n->in[0]);
  }
  return wick_export_unsqueeze(o, wick_export_in(o, i), 0);
}

void wick_export_recurrent(wick_export_op *o)
{
  static const bool turned[RECURRENT_OPERANDS] = {
      [WICK_RECURRENT_W] = true, [WICK_RECURRENT_R] = true, [WICK_RECURRENT_B] = true,
      [WICK_RECURRENT_H] = true, [WICK_RECURRENT_C] = true, [WICK_RECURRENT_P] = true};
  uint32_t kind = o->n->op == WICK_OP_rnn ? 0 : o->n->op == WICK_OP_gru ? 1 : 2;
  const char *in[RECURRENT_OPERANDS];
  for (uint32_t i = 0; i < o->n->nin; i++) {
    in[i] = turned[i] ? recurrent_turned(o, i) : wick_export_in(o, i);
  }
  wick_dim units = wick_export_info(o, WICK_RECURRENT_R)->dim[1];
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, o->n->nin, in);
  recurrent_set_acts(o, n, kind);
  if (wick_dim_is_const(units)) wick_export_set_int(o, n, "hidden_size", units.v);
  if (wick_export_attr(o, "clip")->f > 0) wick_export_set_attrs(o, n, "clip");
  if (wick_export_attr(o, "reverse")->i) wick_export_set_word(o, n, "direction", "reverse");
  wick_export_set_attrs(o, n, o->row->attrs);
  const char *out[3];
  uint32_t nout = o->n->nout;
  wick_export_end_list(o, n, nout, out);
  for (uint32_t k = 0; k < nout; k++)
    wick_export_result_is(o, k, wick_export_squeeze(o, out[k], k == 0 ? 1 : 0));
}
