/* Recurrent operators expand into steps: weights in blocks of units, one product for all inputs,
 * and states that pass from step to step. This file also holds the inference and stages that the
 * operators share. */
#include "ops/recurrent/recurrent.h"

#include "ops/tensor.h"

/* ---- inference ---- */

static wick_status recurrent_operand(const wick_infer *c, uint32_t i, const char *what,
                                     uint32_t rank, const wick_dim *dim)
{
  const wick_type_info *t;
  if (i >= c->nin || !c->in[i]) return NULL;
  WICK_TRY(wick_infer_alike(c, i, what, rank, &t));
  bool same = t->rank == rank;
  for (uint32_t k = 0; same && k < rank; k++) same = wick_infer_equal(c, t->dim[k], dim[k]);
  if (same) return NULL;
  wick_type want = wick_type_tensor(c->module, t->elem, rank, dim);
  return wick_infer_fail(c, WICK_ETYPE, "%s is %s, expected %s", what,
                         wick_infer_type_text(c, c->in[i]->type), wick_infer_type_text(c, want));
}

static wick_status recurrent_lengths(const wick_infer *c, wick_dim batch)
{
  uint32_t i = WICK_RECURRENT_LENGTHS;
  if (i >= c->nin || !c->in[i]) return NULL;
  wick_type want = wick_type_tensor(c->module, WICK_I32, 1, &batch);
  const wick_type_info *t = wick_type_get(c->module, c->in[i]->type);
  bool plain = t->kind == WICK_TENSOR && t->elem == WICK_I32 && t->rank == 1;
  if (plain && wick_infer_equal(c, t->dim[0], batch)) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "lengths are %s, expected %s",
                         wick_infer_type_text(c, c->in[i]->type), wick_infer_type_text(c, want));
}

wick_status wick_recurrent_infer(wick_infer *c, uint32_t gates, uint32_t nstate)
{
  const wick_type_info *x, *r;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, WICK_RECURRENT_X, "x", 3, &x));
  WICK_TRY(wick_infer_alike(c, WICK_RECURRENT_R, "r", 2, &r));
  if (x->rank != 3) return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, expected 3", x->rank);
  wick_dim units = r->dim[r->rank - 1], all = wick_dim_mul(t, units, wick_dim_const(gates)),
           weights[2] = {all, x->dim[2]}, state[2] = {x->dim[1], units},
           recurrent[2] = {all, units}, bias = wick_dim_mul(t, all, wick_dim_const(2));
  WICK_TRY(recurrent_operand(c, WICK_RECURRENT_W, "w", 2, weights));
  WICK_TRY(recurrent_operand(c, WICK_RECURRENT_R, "r", 2, recurrent));
  WICK_TRY(recurrent_operand(c, WICK_RECURRENT_B, "the bias", 1, &bias));
  WICK_TRY(recurrent_lengths(c, x->dim[1]));
  for (uint32_t k = 0; k < nstate; k++)
    WICK_TRY(recurrent_operand(c, WICK_RECURRENT_H + k, k ? "c" : "h", 2, state));
  uint32_t nact = 0;
  for (uint32_t i = WICK_RECURRENT_CELL; wick_ops[c->op]->attr[i].kind == WICK_ATTR_ENUM; i++)
    nact++;
  for (uint32_t i = WICK_RECURRENT_ALPHA; i <= WICK_RECURRENT_BETA; i++)
    if (c->attr[i].n && c->attr[i].n != nact)
      return wick_infer_fail(c, WICK_ETYPE, "%s has %u numbers, expected %u",
                             wick_ops[c->op]->attr[i].name, c->attr[i].n, nact);
  wick_dim y[3] = {x->dim[0], x->dim[1], units};
  wick_infer_out(c, 0, x->elem, 3, y);
  for (uint32_t k = 0; k < nstate; k++) wick_infer_out(c, 1 + k, x->elem, 2, state);
  c->nout = 1 + nstate;
  return NULL;
}

/* ---- activations ---- */

enum {
  RECURRENT_TANH,
  RECURRENT_SIGMOID,
  RECURRENT_RELU,
  RECURRENT_AFFINE,
  RECURRENT_LEAKY_RELU,
  RECURRENT_THRESHOLDED_RELU,
  RECURRENT_SCALED_TANH,
  RECURRENT_HARD_SIGMOID,
  RECURRENT_ELU,
  RECURRENT_SOFTSIGN,
  RECURRENT_SOFTPLUS
};

/* The operator of each activation. The first `nattr` of alpha and beta are its attributes. */
static const struct {
  wick_opcode op;
  uint32_t nattr;
  double alpha, beta;
} recurrent_acts[] = {
    [RECURRENT_TANH] = {WICK_OP_tanh, 0, 1, 1},
    [RECURRENT_SIGMOID] = {WICK_OP_sigmoid, 0, 1, 1},
    [RECURRENT_RELU] = {WICK_OP_relu, 0, 1, 1},
    [RECURRENT_AFFINE] = {WICK_OP_none, 0, 1, 0},
    [RECURRENT_LEAKY_RELU] = {WICK_OP_leaky_relu, 1, 0.01, 0},
    [RECURRENT_THRESHOLDED_RELU] = {WICK_OP_thresholded_relu, 1, 1, 0},
    [RECURRENT_SCALED_TANH] = {WICK_OP_none, 0, 1, 1},
    [RECURRENT_HARD_SIGMOID] = {WICK_OP_hard_sigmoid, 2, 0.2, 0.5},
    [RECURRENT_ELU] = {WICK_OP_elu, 1, 1, 0},
    [RECURRENT_SOFTSIGN] = {WICK_OP_softsign, 0, 1, 1},
    [RECURRENT_SOFTPLUS] = {WICK_OP_softplus, 0, 1, 1},
};

void wick_recurrent_defaults(int64_t kind, double *alpha, double *beta)
{
  *alpha = recurrent_acts[kind].alpha, *beta = recurrent_acts[kind].beta;
}

static int64_t recurrent_act_of(const wick_attr *attr, uint32_t k, double *alpha, double *beta)
{
  int64_t kind = attr[WICK_RECURRENT_CELL + k].i;
  wick_recurrent_defaults(kind, alpha, beta);
  if (attr[WICK_RECURRENT_ALPHA].n > k) *alpha = attr[WICK_RECURRENT_ALPHA].floats[k];
  if (attr[WICK_RECURRENT_BETA].n > k) *beta = attr[WICK_RECURRENT_BETA].floats[k];
  return kind;
}

static wick_value recurrent_times(wick_builder *b, wick_value x, double by)
{
  return by == 1 ? x : wick_build2(b, WICK_OP_mul, x, wick_build_like(b, x, by));
}

wick_value wick_recurrent_act(wick_builder *b, const wick_attr *attr, uint32_t k, wick_value x)
{
  double alpha, beta, clip = attr[WICK_RECURRENT_CLIP].f;
  int64_t kind = recurrent_act_of(attr, k, &alpha, &beta);
  if (b->status) return x;
  if (clip > 0 && k != WICK_RECURRENT_HIDDEN) {
    x = wick_build2(b, WICK_OP_max, x, wick_build_like(b, x, -clip));
    x = wick_build2(b, WICK_OP_min, x, wick_build_like(b, x, clip));
  }
  if (kind == RECURRENT_AFFINE) {
    x = recurrent_times(b, x, alpha);
    return wick_build2(b, WICK_OP_add, x, wick_build_like(b, x, beta));
  }
  if (kind == RECURRENT_SCALED_TANH)
    return recurrent_times(b, wick_build1(b, WICK_OP_tanh, recurrent_times(b, x, beta)), alpha);
  wick_attr a[2] = {{.f = alpha}, {.f = beta}};
  return wick_build(b, recurrent_acts[kind].op, 1, &x, recurrent_acts[kind].nattr ? a : NULL, 0,
                    NULL);
}

/* ---- parts of operands ---- */

static wick_value recurrent_reshape(wick_recurrent *r, wick_value x, uint32_t n, const int64_t *dim)
{
  wick_dim d[WICK_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) d[k] = wick_dim_const(dim[k]);
  return wick_build_reshape(r->b, x, n, d);
}

/* Broadcasts x to [batch, ..]. */
static wick_value recurrent_places(wick_recurrent *r, wick_value x, uint32_t n, const int64_t *dim)
{
  wick_dim d[WICK_MAX_RANK] = {r->batch};
  for (uint32_t k = 0; k < n; k++) d[1 + k] = wick_dim_const(dim[k]);
  return wick_build_reshape(r->b, x, n + 1, d);
}

/* Returns elements begin .. begin+size-1 of an axis. */
static wick_value recurrent_slice(wick_recurrent *r, wick_value x, uint32_t axis, int64_t begin,
                                  int64_t size)
{
  if (r->b->status) return x;
  const wick_type_info *t = wick_built_info(r->b, x);
  if (wick_dim_is(t->dim[axis], size)) return x;
  return wick_build_slice_axis(r->b, x, axis, wick_dim_const(begin), wick_dim_const(size), 1);
}

/* Appends zeros along an axis, up to `size`. */
static wick_value recurrent_fill(wick_recurrent *r, wick_value x, uint32_t axis, int64_t size)
{
  if (r->b->status) return x;
  const wick_type_info *t = wick_built_info(r->b, x);
  if (wick_dim_is(t->dim[axis], size)) return x;
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < 2u * t->rank; k++) pad[k] = wick_dim_const(0);
  pad[t->rank + axis] = wick_dim_const(size - t->dim[axis].v);
  wick_attr a[2] = {{.n = 2u * t->rank, .dims = pad}, {.i = 0}};
  return wick_build(r->b, WICK_OP_pad, 1, &x, a, 0, NULL);
}

wick_value wick_recurrent_weights(wick_recurrent *r, wick_value matrix, uint32_t first, uint32_t n,
                                  int64_t inner)
{
  int64_t v = r->block, gate[3] = {n, r->units, inner}, block[4] = {n, r->blocks, v, inner};
  static const int64_t perm[4] = {1, 3, 0, 2};
  matrix = recurrent_slice(r, matrix, 0, first * r->units, n * r->units);
  matrix = recurrent_fill(r, recurrent_reshape(r, matrix, 3, gate), 1, r->blocks * v);
  return wick_build_transpose(r->b, recurrent_reshape(r, matrix, 4, block), 4, perm);
}

wick_value wick_recurrent_numbers(wick_recurrent *r, wick_value v, int64_t begin, uint32_t n)
{
  int64_t gate[2] = {n, r->units}, block[3] = {n, r->blocks, r->block};
  static const int64_t perm[3] = {1, 0, 2};
  v = recurrent_reshape(r, recurrent_slice(r, v, 0, begin, n * r->units), 2, gate);
  v = recurrent_fill(r, v, 1, r->blocks * r->block);
  return wick_build_transpose(r->b, recurrent_reshape(r, v, 3, block), 3, perm);
}

wick_value wick_recurrent_inputs(wick_recurrent *r, uint32_t first, uint32_t n, uint32_t own)
{
  wick_builder *b = r->b;
  wick_dim inputs = wick_dim_const(r->inputs), block = wick_dim_const(r->block),
           rows[2] = {wick_dim_mul(b->module->dims, r->steps, r->batch), inputs},
           place[5] = {r->steps, r->batch, wick_dim_const(r->blocks), wick_dim_const(n), block};
  int64_t columns = r->blocks * n * r->block, all = r->gates * r->units,
          matrix[2] = {r->inputs, columns};
  static const int64_t perm[4] = {1, 0, 2, 3};
  wick_value w = wick_recurrent_weights(r, r->in[WICK_RECURRENT_W], first, n, r->inputs);
  w = recurrent_reshape(r, wick_build_transpose(r->b, w, 4, perm), 2, matrix);
  wick_value y =
      wick_build2(b, WICK_OP_matmul, wick_build_reshape(b, r->in[WICK_RECURRENT_X], 2, rows), w);
  wick_value bias = r->in[WICK_RECURRENT_B];
  if (bias.id && !b->status) {
    wick_value beside = recurrent_slice(r, bias, 0, all, all);
    bias = recurrent_slice(r, bias, 0, 0, all);
    if (own < r->gates)
      beside = recurrent_fill(r, recurrent_slice(r, beside, 0, 0, own * r->units), 0, all);
    bias = wick_build2(b, WICK_OP_add, bias, beside);
    bias = wick_recurrent_numbers(r, bias, first * r->units, n);
    y = wick_build2(b, WICK_OP_add, y, recurrent_reshape(r, bias, 1, &columns));
  }
  return wick_build_reshape(b, y, 5, place);
}

wick_value wick_recurrent_input(wick_recurrent *r, wick_value inputs, int64_t t)
{
  if (r->b->status) return inputs;
  if (r->index.id) {
    wick_value in[2] = {inputs, r->index};
    wick_attr a[2] = {{.i = 0}, {.i = r->reverse}};
    return wick_build(r->b, WICK_OP_dynamic_index, 2, in, a, 0, NULL);
  }
  int64_t dim[3] = {r->blocks, wick_built_info(r->b, inputs)->dim[3].v, r->block};
  return recurrent_places(r, recurrent_slice(r, inputs, 0, t, 1), 3, dim);
}

/* ---- states ---- */

wick_value wick_recurrent_rows(wick_recurrent *r, wick_value state)
{
  int64_t places = r->blocks * r->block;
  return recurrent_places(r, state, 1, &places);
}

static wick_value recurrent_blocks(wick_recurrent *r, wick_value rows)
{
  int64_t dim[2] = {r->blocks, r->block};
  return recurrent_places(r, rows, 2, dim);
}

wick_value wick_recurrent_columns(wick_recurrent *r, wick_value matrix, uint32_t gate)
{
  int64_t dim[3] = {r->blocks, r->units, r->block};
  return recurrent_reshape(r, wick_recurrent_weights(r, matrix, gate, 1, r->units), 3, dim);
}

wick_value wick_recurrent_units(wick_recurrent *r, wick_value input)
{
  return recurrent_blocks(r, input);
}

wick_value wick_recurrent_times(wick_recurrent *r, wick_value state, wick_value columns)
{
  wick_value rows = recurrent_slice(r, wick_recurrent_rows(r, state), 1, 0, r->units);
  return wick_build2(r->b, WICK_OP_matmul_packed, rows, columns);
}

wick_value wick_recurrent_zero(wick_recurrent *r)
{
  wick_dim dim[3] = {r->batch, wick_dim_const(r->blocks), wick_dim_const(r->block)};
  wick_elem e = wick_elem_storage[r->elem].arith;
  return wick_build_const(r->b, wick_type_tensor(r->b->module, e, 3, dim), 0, 0);
}

/* Returns the units in a block: those of a vector, so that a tile of rows reads the weights of a block
 * as whole cache lines that stay in the first cache. A single row reads each weight once, and more
 * sums are in flight with more units. */
static int64_t recurrent_block(const wick_builder *b, const wick_type_info *x)
{
  enum { LEAST = 4 };
  int64_t bits = wick_elem_storage[wick_elem_storage[x->elem].arith].bits,
          lanes = (int64_t)b->vector_bytes * 8 / bits;
  if (wick_dim_is(x->dim[1], 1) || lanes > WICK_RECURRENT_BLOCK || lanes < LEAST)
    return WICK_RECURRENT_BLOCK;
  return lanes;
}

bool wick_recurrent_begin(wick_builder *b, const wick_node *n, const wick_value *in, uint32_t gates,
                          uint32_t nstate, wick_recurrent *out)
{
  int64_t w[WICK_MAX_RANK];
  if (b->status) return false;
  const wick_type_info *t = wick_built_info(b, in[WICK_RECURRENT_X]);
  if (!wick_dim_is_const(t->dim[2]) ||
      !wick_type_const_dims(wick_built_info(b, in[WICK_RECURRENT_R]), w)) {
    wick_build_fail(b, WICK_EUNSUPPORTED, "its weights' sizes must be known when it is compiled");
    return false;
  }
  int64_t block = recurrent_block(b, t);
  *out = (wick_recurrent){.b = b,
                          .n = n,
                          .steps = t->dim[0],
                          .batch = t->dim[1],
                          .inputs = t->dim[2].v,
                          .units = w[1],
                          .gates = gates,
                          .blocks = wick_ceildiv_i64(w[1], block),
                          .block = block,
                          .elem = t->elem,
                          .nstate = nstate};
  for (uint32_t i = 0; i < n->nin; i++)
    if (in[i].id) out->in[i] = i == WICK_RECURRENT_LENGTHS ? in[i] : wick_compose_wide(b, in[i]);
  for (uint32_t k = 0; k < nstate; k++) {
    wick_value s = out->in[WICK_RECURRENT_H + k];
    if (s.id)
      out->state[k] = recurrent_blocks(out, recurrent_fill(out, s, 1, out->blocks * out->block));
  }
  return !b->status;
}

/* ---- from step to step ---- */

/* Builds the number of steps as an i64. */
static wick_value recurrent_steps(wick_recurrent *r)
{
  wick_builder *b = r->b;
  wick_attr first[2] = {{.i = 0}, {.i = 1}};
  wick_value x = r->in[WICK_RECURRENT_X];
  if (wick_dim_is_const(r->steps))
    return wick_build_const(b, wick_type_tensor(b->module, WICK_I64, 0, NULL), 0, r->steps.v);
  return wick_build_reshape(b, wick_build(b, WICK_OP_shape, 1, &x, first, 0, NULL), 0, NULL);
}

/* Builds step t as an i32. */
static wick_value recurrent_now(wick_recurrent *r, int64_t t)
{
  wick_builder *b = r->b;
  wick_type type = wick_type_tensor(b->module, WICK_I32, 0, NULL);
  if (!r->index.id) return wick_build_const(b, type, 0, t);
  wick_value now = wick_build_cast(b, r->index, WICK_I32);
  if (!r->reverse) return now;
  wick_value n = wick_build_cast(b, recurrent_steps(r), WICK_I32);
  wick_value last = wick_build2(b, WICK_OP_sub, n, wick_build_const(b, type, 0, 1));
  return wick_build2(b, WICK_OP_sub, last, now);
}

/* Keeps the states, and sets the result to 0, for sequences that end before step t. */
static wick_value recurrent_mask(wick_recurrent *r, int64_t t, const wick_value *before)
{
  wick_builder *b = r->b;
  wick_value lengths = r->in[WICK_RECURRENT_LENGTHS], y = r->state[0];
  if (!lengths.id || b->status) return y;
  static const int64_t dim[2] = {1, 1};
  wick_value now = recurrent_now(r, t);
  wick_value on = recurrent_places(r, wick_build2(b, WICK_OP_gt, lengths, now), 2, dim);
  y = wick_build3(b, WICK_OP_where, on, y, wick_recurrent_zero(r));
  for (uint32_t k = 0; k < r->nstate; k++)
    r->state[k] = wick_build3(b, WICK_OP_where, on, r->state[k],
                              before[k].id ? before[k] : wick_recurrent_zero(r));
  return y;
}

/* Reshapes to the units alone, in the operands' element type. */
static wick_value recurrent_result(wick_recurrent *r, wick_value x, uint32_t axis)
{
  return wick_build_cast(r->b, recurrent_slice(r, x, axis, 0, r->units), r->elem);
}

/* Reverses axis 0 of x. */
static wick_value recurrent_flip(wick_recurrent *r, wick_value x)
{
  if (r->b->status) return x;
  wick_dim last = wick_dim_sub(r->b->module->dims, r->steps, wick_dim_const(1));
  return wick_build_slice_axis(r->b, x, 0, last, wick_built_info(r->b, x)->dim[0], -1);
}

/* Builds one loop for all steps: it carries the states and stacks the results. */
static wick_value recurrent_loop(wick_recurrent *r, wick_recurrent_step *step, const void *arg)
{
  wick_builder *b = r->b;
  wick_type scalar = wick_type_tensor(b->module, WICK_I64, 0, NULL), type[3] = {scalar};
  wick_value in[3] = {recurrent_steps(r)}, y[4];
  uint32_t n = r->nstate;
  for (uint32_t k = 0; k < n; k++) {
    in[1 + k] = r->state[k].id ? r->state[k] : wick_recurrent_zero(r);
    if (b->status) return in[0];
    type[1 + k] = wick_built_type(b, in[1 + k]);
  }
  wick_attr a[2] = {{.i = 1}, {.n = 1, .dims = &r->steps}};
  wick_build_open(b, WICK_OP_loop, 1 + n, in, a, 0, NULL);
  r->index = wick_region_begin(b, 1 + n, type);
  wick_value before[2] = {{r->index.id + 1}, {r->index.id + 2}};
  for (uint32_t k = 0; k < n; k++) r->state[k] = before[k];
  step(r, arg, 0);
  y[0] = wick_build_const(b, wick_type_tensor(b->module, WICK_BOOL, 0, NULL), 0, 1);
  y[1 + n] = wick_recurrent_rows(r, recurrent_mask(r, 0, before));
  for (uint32_t k = 0; k < n; k++) y[1 + k] = r->state[k];
  wick_yield(b, 2 + n, y);
  r->index = (wick_value){0};
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n; k++) r->state[k] = (wick_value){first.id + k};
  wick_value all = {first.id + n};
  return r->reverse ? recurrent_flip(r, all) : all;
}

/* Builds a node for each step. */
static wick_value recurrent_unrolled(wick_recurrent *r, wick_recurrent_step *step, const void *arg)
{
  wick_builder *b = r->b;
  int64_t steps = r->steps.v;
  wick_dim one[3] = {wick_dim_const(1), r->batch, wick_dim_const(r->blocks * r->block)},
           none[3] = {wick_dim_const(0), one[1], one[2]};
  wick_value *y = wick_new(b->mem, wick_value, (size_t)steps + 1);
  for (int64_t s = 0; s < steps && !b->status; s++) {
    int64_t t = r->reverse ? steps - 1 - s : s;
    wick_value before[2] = {r->state[0], r->state[1]};
    step(r, arg, t);
    y[t] = wick_build_reshape(b, recurrent_mask(r, t, before), 3, one);
  }
  if (b->status) return (wick_value){0};
  wick_elem e = wick_elem_storage[r->elem].arith;
  return steps ? wick_build_concat(b, 0, (uint32_t)steps, y)
               : wick_build_const(b, wick_type_tensor(b->module, e, 3, none), 0, 0);
}

void wick_recurrent_run(wick_recurrent *r, bool reverse, wick_recurrent_step *step, const void *arg,
                        wick_value *out)
{
  r->reverse = reverse;
  bool loop = !wick_dim_is_const(r->steps) || r->steps.v > WICK_RECURRENT_UNROLLED;
  if (r->b->status) return;
  wick_value all = loop ? recurrent_loop(r, step, arg) : recurrent_unrolled(r, step, arg);
  if (r->b->status) return;
  out[0] = recurrent_result(r, all, 2);
  for (uint32_t k = 0; k < r->nstate; k++) {
    wick_value s = r->state[k].id ? r->state[k] : wick_recurrent_zero(r);
    out[1 + k] = recurrent_result(r, wick_recurrent_rows(r, s), 1);
  }
}
