/* Long short-term memory: the operator on a sequence, and its step, in which the four gates are
 * one product and are combined in registers. */
#include "ops/batch/batch.h"
#include "ops/layout/layout.h"
#include "ops/recurrent/recurrent.h"
#include "ops/ref.h"
#include "ops/tensor.h"
#include "ops/work.h"

enum { LSTM_CELL, LSTM_GATE, LSTM_HIDDEN }; /* activations */
enum { LSTM_I, LSTM_O, LSTM_F, LSTM_G };    /* gates */

#define LSTM_ATTRS                                                                                 \
  WICK_RECURRENT_ATTRS, WICK_RECURRENT_ACT("gate", 1), WICK_RECURRENT_ACT("hidden", 0),            \
  {                                                                                                \
    "coupled", WICK_ATTR_BOOL, 0, false, NULL, 0, 0                                                \
  }

static wick_status lstm_infer(wick_infer *c)
{
  const wick_type_info *p;
  WICK_TRY(wick_recurrent_infer(c, 4, 2));
  if (c->nin <= WICK_RECURRENT_P || !c->in[WICK_RECURRENT_P]) return NULL;
  WICK_TRY(wick_infer_alike(c, WICK_RECURRENT_P, "the peepholes", 1, &p));
  wick_dim units = wick_type_get(c->module, c->out[1].type)->dim[1];
  if (p->rank != 1 ||
      !wick_dim_eq(p->dim[0], wick_dim_mul(c->module->dims, units, wick_dim_const(3))))
    return wick_infer_fail(c, WICK_ETYPE, "the peepholes are %s, expected 3 times %s",
                           wick_infer_type_text(c, c->in[WICK_RECURRENT_P]->type),
                           wick_infer_dim_text(c, units));
  return NULL;
}

/* ---- reference ---- */

/* a: sums of the gates i, o, f and g; peep: peepholes of i, o and f. */
/* Returns a gate's sum plus its peephole times the state. If `peep` is NULL nothing is
 * multiplied: an infinite state would give NaN. */
static double lstm_sum(double a, const double *peep, int64_t k, double c)
{
  return peep ? a + peep[k] * c : a;
}

static void lstm_unit(const wick_attr *attr, wick_elem e, const double *a, const double *peep,
                      double *h, double *c)
{
  double i = wick_recurrent_act_ref(attr, e, LSTM_GATE, lstm_sum(a[LSTM_I], peep, 0, *c)),
         f = wick_recurrent_act_ref(attr, e, LSTM_GATE, lstm_sum(a[LSTM_F], peep, 2, *c)),
         g = wick_recurrent_act_ref(attr, e, LSTM_CELL, a[LSTM_G]);
  if (attr[WICK_ATTR_lstm_coupled].i) f = 1 - i;
  *c = wick_recurrent_mix_ref(e, f, *c, i, g);
  *h = wick_recurrent_act_ref(attr, e, LSTM_GATE, lstm_sum(a[LSTM_O], peep, 1, *c)) *
       wick_recurrent_act_ref(attr, e, LSTM_HIDDEN, *c);
  *h = wick_ref_range(e, *h);
}

static void lstm_cell(wick_recurrent_ref *r, double *const *state)
{
  const wick_scalar *p = r->in[WICK_RECURRENT_P];
  for (int64_t k = 0; k < r->units; k++) {
    double a[4], peep[3] = {0};
    for (int64_t g = 0; g < 4; g++)
      a[g] = r->from_input[g * r->units + k] + r->from_state[g * r->units + k];
    for (int64_t g = 0; p && g < 3; g++) peep[g] = p[g * r->units + k].f;
    lstm_unit(r->c->attr, r->c->in[WICK_RECURRENT_X].elem, a, p ? peep : NULL, &state[0][k],
              &state[1][k]);
  }
}

static wick_status lstm_ref(wick_ref *c)
{
  return wick_recurrent_run_ref(c, 4, 2, c->attr[WICK_ATTR_lstm_reverse].i != 0, lstm_cell);
}

/* ---- expansion ---- */

typedef struct lstm_parts {
  wick_value inputs, weights, peepholes;
} lstm_parts;

static void lstm_next(wick_recurrent *r, const void *arg, int64_t t)
{
  const lstm_parts *p = arg;
  wick_value h = r->state[0], c = r->state[1].id ? r->state[1] : wick_recurrent_zero(r);
  wick_value in[5] = {wick_recurrent_input(r, p->inputs, t), c};
  if (h.id) in[2] = wick_recurrent_rows(r, h), in[3] = p->weights;
  in[4] = p->peepholes;
  uint32_t nin = p->peepholes.id ? 5 : h.id ? 4 : 2;
  r->state[0] = wick_build(r->b, WICK_OP_lstm_step, nin, in, r->n->attr, 0, NULL);
  r->state[1] = (wick_value){r->state[0].id ? r->state[0].id + 1 : 0};
}

static void lstm_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_recurrent r;
  if (!wick_recurrent_begin(b, n, in, 4, 2, &r)) return;
  lstm_parts p = {.inputs = wick_recurrent_inputs(&r, 0, 4, 4),
                  .weights = wick_recurrent_weights(&r, r.in[WICK_RECURRENT_R], 0, 4, r.units)};
  if (r.in[WICK_RECURRENT_P].id)
    p.peepholes = wick_recurrent_numbers(&r, r.in[WICK_RECURRENT_P], 0, 3);
  wick_recurrent_run(&r, n->attr[WICK_ATTR_lstm_reverse].i != 0, lstm_next, &p, out);
}

const wick_op wick_op_lstm = {
    .name = "lstm",
    .doc = "Long short-term memory over a sequence, in one direction. The operands are x [steps, "
           "batch, inputs]; the weights w [4 units, inputs] and r [4 units, units], with the "
           "gates i, o, f, g one after another; a bias [8 units] (that of w, then that of r); "
           "lengths [batch] (i32); the initial states h and c [batch, units] (default 0); and the "
           "peepholes of i, o, f [3 units]. The new states are c' = f c + i g and h' = o "
           "hidden(c'). The peephole of o reads c'. `coupled` sets f = 1 - i. `clip` limits the "
           "inputs of cell and gate (0: no limit). alpha and beta have one number per activation: "
           "cell, gate, hidden. After the end of a sequence the states stay and the result is 0. "
           "The results are h of all steps [steps, batch, units], the last h, and the last c",
    .nin = {3, 8},
    .nout = {3, 3},
    .attr = {LSTM_ATTRS, {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << WICK_RECURRENT_LENGTHS,
    .infer = lstm_infer,
    .ref = lstm_ref,
    .products = wick_products_recurrent,
    .expand = lstm_expand,
    .grad = wick_grad_opened,
    .batch = {wick_batch_merge, .in = {2, 0, 0, 0, 1, 1, 1}, .out = {2, 1, 1}},
};

/* ---- the step: `more` are the peepholes ---- */

static wick_status lstm_step_infer(wick_infer *c) { return wick_step_infer(c, 4, 3, 2); }

static wick_status lstm_step_ref(wick_ref *c)
{
  const wick_tensor *state = &c->in[WICK_STEP_STATE];
  int64_t at[3] = {0};
  uint64_t place = 0;
  if (wick_ref_numel(state) == 0) return NULL;
  do {
    double a[4], peep[3], h, s = wick_load_elem(state->elem, state->data, place).f;
    for (int64_t g = 0; g < 4; g++)
      a[g] = wick_step_input_ref(c, at, g) + wick_step_sum_ref(c, at, g);
    for (int64_t g = 0; g < 3; g++) peep[g] = wick_step_more_ref(c, at, g);
    bool has = c->nin > WICK_STEP_MORE && c->in[WICK_STEP_MORE].data;
    lstm_unit(c->attr, state->elem, a, has ? peep : NULL, &h, &s);
    wick_store_elem(state->elem, c->out[0].data, place, (wick_scalar){.f = h});
    wick_store_elem(state->elem, c->out[1].data, place++, (wick_scalar){.f = s});
  } while (wick_ref_next(3, state->dim, at));
  return NULL;
}

/* Builds a gate: the activation of its sum plus its peephole times the state. */
static wick_value lstm_step_gate(const wick_step *s, int64_t gate, wick_value state)
{
  wick_builder *b = s->c->b;
  wick_value x = wick_step_input(s, gate), sum = wick_step_sum(s, gate),
             peep = gate == LSTM_G ? (wick_value){0} : wick_step_more(s, gate);
  if (sum.id) x = wick_build2(b, WICK_OP_add, sum, x);
  if (peep.id) x = wick_build3(b, WICK_OP_muladd, peep, state, x);
  return wick_recurrent_act(b, s->c->attr, gate == LSTM_G ? LSTM_CELL : LSTM_GATE, x);
}

static void lstm_step_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_step s = wick_step_begin(c, "lstm_step");
  wick_value state = wick_step_state(&s), i = lstm_step_gate(&s, LSTM_I, state),
             f = c->attr[WICK_ATTR_lstm_coupled].i
                     ? wick_build2(b, WICK_OP_sub, wick_build_like(b, i, 1), i)
                     : lstm_step_gate(&s, LSTM_F, state),
             g = lstm_step_gate(&s, LSTM_G, state);
  wick_value kept = wick_build2(b, WICK_OP_mul, f, state),
             added = wick_build2(b, WICK_OP_mul, i, g);
  wick_value next = wick_build2(b, WICK_OP_add, added, kept);
  wick_value o = lstm_step_gate(&s, LSTM_O, next),
             shown = wick_recurrent_act(b, c->attr, LSTM_HIDDEN, next);
  wick_value out[2] = {wick_build2(b, WICK_OP_mul, o, shown), next};
  c->out[0] = wick_map_end(b, 2, out);
  c->out[1] = (wick_value){c->out[0].id ? c->out[0].id + 1 : 0};
}

/* ---- the step's derivative ---- */

static wick_value lstm_rows_gate(const wick_step_rows *s, int64_t gate, wick_value state)
{
  wick_value x = wick_step_rows_gate(s, gate),
             peep = gate == LSTM_G ? (wick_value){0} : wick_step_rows_more(s, gate);
  if (peep.id) x = wick_build3(s->b, WICK_OP_muladd, peep, state, x);
  return wick_recurrent_act(s->b, s->n->attr, gate == LSTM_G ? LSTM_CELL : LSTM_GATE, x);
}

static void lstm_step_rows(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  wick_step_rows s = wick_step_rows_of(b, n, in);
  wick_value state = in[WICK_STEP_STATE], i = lstm_rows_gate(&s, LSTM_I, state);
  if (b->status) return;
  wick_value f = n->attr[WICK_ATTR_lstm_coupled].i
                     ? wick_build2(b, WICK_OP_sub, wick_build_like(b, i, 1), i)
                     : lstm_rows_gate(&s, LSTM_F, state),
             g = lstm_rows_gate(&s, LSTM_G, state), kept = wick_build2(b, WICK_OP_mul, f, state);
  out[1] = wick_build3(b, WICK_OP_muladd, i, g, kept);
  wick_value o = lstm_rows_gate(&s, LSTM_O, out[1]),
             shown = wick_recurrent_act(b, n->attr, LSTM_HIDDEN, out[1]);
  out[0] = wick_build2(b, WICK_OP_mul, o, shown);
}

static void lstm_step_grad(wick_adjoint *a) { wick_step_grad(a, lstm_step_rows); }

const wick_op wick_op_lstm_step = {
    .name = "lstm_step",
    .doc = "One step of `lstm` on units in blocks of v. x [B, N, 4, v] holds what the inputs "
           "contribute to the gates. The other operands are c [B, N, v]; the state h [B, units] "
           "and its weights r [N, K, 4, v], both or neither; and the peepholes p [N, 3, v]. "
           "Weights of narrower floats may also be r [N, K / k, 4, v, k], for dot products of k "
           "neighbours. Sums run along K in order, each step one fma. The results are h and c [B, "
           "N, v]",
    .nin = {2, 5},
    .nout = {2, 2},
    .attr = {LSTM_ATTRS},
    .level = WICK_GRAPH,
    .grad = lstm_step_grad,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .aux_operands = 1u << WICK_STEP_H | 1u << WICK_STEP_R,
    .product_operands = wick_step_factors,
    .layout = wick_layout_step,
    .infer = lstm_step_infer,
    .ref = lstm_step_ref,
    .compute = lstm_step_compute,
    .batch = {wick_batch_merge, .in = {1, 1, 1}, .out = {1, 1}},
};
