/* The simple recurrent operator: a step is one product of blocks, followed by element-wise
 * operators. */
#include "ops/batch/batch.h"
#include "ops/recurrent/recurrent.h"
#include "ops/work.h"

static wick_status rnn_infer(wick_infer *c) { return wick_recurrent_infer(c, 1, 1); }

static void rnn_cell(wick_recurrent_ref *r, double *const *state)
{
  for (int64_t k = 0; k < r->units; k++)
    state[0][k] = wick_recurrent_act_ref(r->c->attr, r->c->in[WICK_RECURRENT_X].elem, 0,
                                         r->from_input[k] + r->from_state[k]);
}

static wick_status rnn_ref(wick_ref *c)
{
  return wick_recurrent_run_ref(c, 1, 1, c->attr[WICK_ATTR_rnn_reverse].i != 0, rnn_cell);
}

typedef struct rnn_parts {
  wick_value inputs, weights;
} rnn_parts;

static void rnn_next(wick_recurrent *r, const void *arg, int64_t t)
{
  const rnn_parts *p = arg;
  wick_value x = wick_recurrent_units(r, wick_recurrent_input(r, p->inputs, t));
  if (r->state[0].id)
    x = wick_build2(r->b, WICK_OP_add, wick_recurrent_times(r, r->state[0], p->weights), x);
  r->state[0] = wick_recurrent_act(r->b, r->n->attr, 0, x);
}

static void rnn_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_recurrent r;
  if (!wick_recurrent_begin(b, n, in, 1, 1, &r)) return;
  rnn_parts p = {wick_recurrent_inputs(&r, 0, 1, 1),
                 wick_recurrent_columns(&r, r.in[WICK_RECURRENT_R], 0)};
  wick_recurrent_run(&r, n->attr[WICK_ATTR_rnn_reverse].i != 0, rnn_next, &p, out);
}

const wick_op wick_op_rnn = {
    .name = "rnn",
    .doc = "A recurrent layer over a sequence, in one direction: h' = cell(w x + r h + biases). "
           "The operands are x [steps, batch, inputs]; w [units, inputs]; r [units, units]; a "
           "bias [2 units] (that of w, then that of r); lengths [batch] (i32); and the initial "
           "state h [batch, units] (default 0). `clip` limits the input of the activation (0: no "
           "limit). After the end of a sequence the state stays and the result is 0. The results "
           "are h of all steps [steps, batch, units], and the last h",
    .nin = {3, 6},
    .nout = {2, 2},
    .attr = {WICK_RECURRENT_ATTRS, {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << WICK_RECURRENT_LENGTHS,
    .infer = rnn_infer,
    .ref = rnn_ref,
    .products = wick_products_recurrent,
    .expand = rnn_expand,
    .grad = wick_grad_opened,
    .batch = {wick_batch_merge, .in = {2, 0, 0, 0, 1, 1}, .out = {2, 1}},
};
