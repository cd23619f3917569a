/* Gated recurrent units: the operator on a sequence, and its step for the form in which the
 * product with the state precedes the reset. In that form the three gates are one product, and
 * are combined in registers. */
#include "ops/batch/batch.h"
#include "ops/layout/layout.h"
#include "ops/recurrent/recurrent.h"
#include "ops/ref.h"
#include "ops/work.h"

enum { GRU_CELL, GRU_GATE };  /* activations */
enum { GRU_Z, GRU_R, GRU_N }; /* gates */

#define GRU_ATTRS WICK_RECURRENT_ATTRS, WICK_RECURRENT_ACT("gate", 1)

static wick_status gru_infer(wick_infer *c) { return wick_recurrent_infer(c, 3, 1); }

/* ---- reference ---- */

static void gru_cell(wick_recurrent_ref *r, double *const *state)
{
  const wick_attr *attr = r->c->attr;
  wick_elem e = r->c->in[WICK_RECURRENT_X].elem;
  int64_t n = r->units;
  bool begun = r->begun[(state[0] - r->state[0]) / n], late = attr[WICK_ATTR_gru_late].i;
  double *z = wick_new(r->c->mem, double, (size_t)n * 3 + 1), *reset = z + n, *next = z + 2 * n;
  for (int64_t k = 0; k < n; k++) {
    z[k] = wick_recurrent_act_ref(attr, e, GRU_GATE, r->from_input[k] + r->from_state[k]);
    reset[k] =
        wick_recurrent_act_ref(attr, e, GRU_GATE, r->from_input[n + k] + r->from_state[n + k]);
  }
  for (int64_t k = 0; k < n; k++) {
    const wick_scalar *bias = r->in[WICK_RECURRENT_B],
                      *u = r->in[WICK_RECURRENT_R] + (2 * n + k) * n;
    double s = bias ? bias[5 * n + k].f : 0;
    for (int64_t i = 0; i < n && begun && !late; i++)
      s = wick_ref_range(e, s + wick_ref_range(e, reset[i] * state[0][i]) * u[i].f);
    if (late) s = bias || begun ? reset[k] * r->from_state[2 * n + k] : 0;
    double g = wick_recurrent_act_ref(attr, e, GRU_CELL, r->from_input[2 * n + k] + s);
    next[k] = wick_recurrent_mix_ref(e, 1 - z[k], g, begun || late ? z[k] : 0, state[0][k]);
  }
  for (int64_t k = 0; k < n; k++) state[0][k] = next[k];
}

static wick_status gru_ref(wick_ref *c)
{
  return wick_recurrent_run_ref(c, 3, 1, c->attr[WICK_ATTR_gru_reverse].i != 0, gru_cell);
}

/* ---- expansion ---- */

typedef struct gru_parts {
  wick_value inputs, weights, bias;     /* `late`: of all gates */
  wick_value gates[2], gate_weights[2]; /* otherwise: of z and of r */
} gru_parts;

static void gru_next_late(wick_recurrent *r, const void *arg, int64_t t)
{
  const gru_parts *p = arg;
  wick_value h = r->state[0].id ? r->state[0] : wick_recurrent_zero(r);
  wick_value in[5] = {wick_recurrent_input(r, p->inputs, t), h};
  if (r->state[0].id) in[2] = wick_recurrent_rows(r, h), in[3] = p->weights;
  in[4] = p->bias;
  uint32_t nin = p->bias.id ? 5 : r->state[0].id ? 4 : 2;
  r->state[0] = wick_build(r->b, WICK_OP_gru_step, nin, in, r->n->attr, 0, NULL);
}

/* Builds the operand of a gate's activation: its inputs plus `state` times its weights. */
static wick_value gru_sum(wick_recurrent *r, wick_value inputs, wick_value weights, int64_t t,
                          wick_value state)
{
  wick_value x = wick_recurrent_units(r, wick_recurrent_input(r, inputs, t));
  if (!state.id) return x;
  return wick_build2(r->b, WICK_OP_add, wick_recurrent_times(r, state, weights), x);
}

static void gru_next(wick_recurrent *r, const void *arg, int64_t t)
{
  const gru_parts *p = arg;
  wick_builder *b = r->b;
  const wick_attr *attr = r->n->attr;
  wick_value h = r->state[0], gate[2] = {{0}}, back = {0};
  for (uint32_t k = 0; k < 2; k++)
    gate[k] =
        wick_recurrent_act(b, attr, GRU_GATE, gru_sum(r, p->gates[k], p->gate_weights[k], t, h));
  if (h.id) back = wick_build2(b, WICK_OP_mul, gate[GRU_R], h);
  wick_value g = wick_recurrent_act(b, attr, GRU_CELL, gru_sum(r, p->inputs, p->weights, t, back)),
             one = wick_build_like(b, gate[GRU_Z], 1);
  wick_value y = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, one, gate[GRU_Z]), g);
  if (h.id) y = wick_build2(b, WICK_OP_add, y, wick_build2(b, WICK_OP_mul, gate[GRU_Z], h));
  r->state[0] = y;
}

static void gru_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_recurrent r;
  if (!wick_recurrent_begin(b, n, in, 3, 1, &r)) return;
  wick_value weights = r.in[WICK_RECURRENT_R], bias = r.in[WICK_RECURRENT_B];
  gru_parts p = {0};
  bool late = n->attr[WICK_ATTR_gru_late].i;
  if (late) {
    p.inputs = wick_recurrent_inputs(&r, 0, 3, 2);
    p.weights = wick_recurrent_weights(&r, weights, 0, 3, r.units);
    if (bias.id) p.bias = wick_recurrent_numbers(&r, bias, 5 * r.units, 1);
  } else {
    for (uint32_t k = 0; k < 2; k++) {
      p.gates[k] = wick_recurrent_inputs(&r, k, 1, 3);
      p.gate_weights[k] = wick_recurrent_columns(&r, weights, k);
    }
    p.inputs = wick_recurrent_inputs(&r, GRU_N, 1, 3);
    p.weights = wick_recurrent_columns(&r, weights, GRU_N);
  }
  wick_recurrent_run(&r, n->attr[WICK_ATTR_gru_reverse].i != 0, late ? gru_next_late : gru_next, &p,
                     out);
}

const wick_op wick_op_gru = {
    .name = "gru",
    .doc = "Gated recurrent units over a sequence, in one direction. The operands are x [steps, "
           "batch, inputs]; the weights w [3 units, inputs] and r [3 units, units], with the "
           "gates z, r, n one after another; a bias [6 units] (that of w, then that of r); "
           "lengths [batch] (i32); and the initial state h [batch, units] (default 0). The input "
           "of n is w x + r (reset h) + biases, or with `late` w x + bias + reset (r h + bias). "
           "The new state is (1 - z) n + z h. `clip` limits the inputs of activations (0: no "
           "limit). alpha and beta have one number per activation: cell, gate. After the end of a "
           "sequence the state stays and the result is 0. The results are h of all steps [steps, "
           "batch, units], and the last h",
    .nin = {3, 6},
    .nout = {2, 2},
    .attr = {GRU_ATTRS,
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"late", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << WICK_RECURRENT_LENGTHS,
    .infer = gru_infer,
    .ref = gru_ref,
    .products = wick_products_recurrent,
    .expand = gru_expand,
    .grad = wick_grad_opened,
    .batch = {wick_batch_merge, .in = {2, 0, 0, 0, 1, 1}, .out = {2, 1}},
};

/* ---- the step for `late`: `more` is the state's bias of n ---- */

static wick_status gru_step_infer(wick_infer *c) { return wick_step_infer(c, 3, 1, 1); }

static wick_status gru_step_ref(wick_ref *c)
{
  const wick_tensor *state = &c->in[WICK_STEP_STATE];
  wick_elem e = state->elem;
  int64_t at[3] = {0};
  uint64_t place = 0;
  bool more = c->nin > WICK_STEP_R && (c->in[WICK_STEP_R].data || c->nin > WICK_STEP_MORE);
  if (wick_ref_numel(state) == 0) return NULL;
  do {
    double x[3], s[3], h = wick_load_elem(state->elem, state->data, place).f;
    for (int64_t g = 0; g < 3; g++)
      x[g] = wick_step_input_ref(c, at, g), s[g] = wick_step_sum_ref(c, at, g);
    double z = wick_recurrent_act_ref(c->attr, e, GRU_GATE, x[GRU_Z] + s[GRU_Z]),
           reset = wick_recurrent_act_ref(c->attr, e, GRU_GATE, x[GRU_R] + s[GRU_R]),
           late = more ? reset * wick_ref_range(e, s[GRU_N] + wick_step_more_ref(c, at, 0)) : 0,
           n = wick_recurrent_act_ref(c->attr, e, GRU_CELL, x[GRU_N] + late);
    wick_scalar next = {.f = wick_recurrent_mix_ref(e, 1 - z, n, z, h)};
    wick_store_elem(e, c->out[0].data, place++, next);
  } while (wick_ref_next(3, state->dim, at));
  return NULL;
}

static void gru_step_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_step s = wick_step_begin(c, "gru_step");
  wick_value x[3], h = wick_step_state(&s), bias = wick_step_more(&s, 0);
  for (int64_t g = 0; g < 3; g++) {
    wick_value sum = wick_step_sum(&s, g);
    x[g] = wick_step_input(&s, g);
    if (g != GRU_N && sum.id) x[g] = wick_build2(b, WICK_OP_add, sum, x[g]);
    if (g != GRU_N) x[g] = wick_recurrent_act(b, c->attr, GRU_GATE, x[g]);
    if (g == GRU_N && sum.id && bias.id) sum = wick_build2(b, WICK_OP_add, sum, bias);
    if (g == GRU_N && !sum.id) sum = bias;
    if (g == GRU_N && sum.id) x[g] = wick_build3(b, WICK_OP_muladd, x[GRU_R], sum, x[g]);
  }
  wick_value n = wick_recurrent_act(b, c->attr, GRU_CELL, x[GRU_N]),
             rest = wick_build2(b, WICK_OP_sub, wick_build_like(b, x[GRU_Z], 1), x[GRU_Z]);
  n = wick_build2(b, WICK_OP_mul, rest, n);
  n = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x[GRU_Z], h), n);
  c->out[0] = wick_map_end(b, 1, &n);
}

/* ---- the step's derivative ---- */

static void gru_step_rows(wick_builder *b, const wick_node *n, const wick_value *in,
                          wick_value *out)
{
  wick_step_rows s = wick_step_rows_of(b, n, in);
  wick_value z = wick_recurrent_act(b, n->attr, GRU_GATE, wick_step_rows_gate(&s, GRU_Z)),
             r = wick_recurrent_act(b, n->attr, GRU_GATE, wick_step_rows_gate(&s, GRU_R)),
             x = wick_step_rows_input(&s, GRU_N), late = wick_step_rows_sum(&s, GRU_N),
             bias = wick_step_rows_more(&s, 0);
  if (b->status) return;
  if (late.id && bias.id) late = wick_build2(b, WICK_OP_add, late, bias);
  if (!late.id) late = bias;
  if (late.id) x = wick_build3(b, WICK_OP_muladd, r, late, x);
  x = wick_recurrent_act(b, n->attr, GRU_CELL, x);
  wick_value rest = wick_build2(b, WICK_OP_sub, wick_build_like(b, z, 1), z),
             own = wick_build2(b, WICK_OP_mul, rest, x);
  out[0] = wick_build3(b, WICK_OP_muladd, z, in[WICK_STEP_STATE], own);
}

static void gru_step_grad(wick_adjoint *a) { wick_step_grad(a, gru_step_rows); }

const wick_op wick_op_gru_step = {
    .name = "gru_step",
    .doc = "One step of `gru` with `late`, on units in blocks of v. x [B, N, 3, v] holds what the "
           "inputs contribute to the gates. The other operands are the state [B, N, v]; the state "
           "again as rows [B, units] and its weights r [N, K, 3, v], both or neither; and the "
           "bias of n [N, 1, v]. Weights of narrower floats may also be r [N, K / k, 3, v, k], "
           "for dot products of k neighbours. Sums run along K in order, each step one fma. The "
           "result is the new state [B, N, v]",
    .nin = {2, 5},
    .nout = {1, 1},
    .attr = {GRU_ATTRS},
    .level = WICK_GRAPH,
    .grad = gru_step_grad,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .aux_operands = 1u << WICK_STEP_H | 1u << WICK_STEP_R,
    .product_operands = wick_step_factors,
    .layout = wick_layout_step,
    .infer = gru_step_infer,
    .ref = gru_step_ref,
    .compute = gru_step_compute,
    .batch = {wick_batch_merge, .in = {1, 1, 1}, .out = {1}},
};
