/* Imports Caffe's recurrent layers: x [steps, batch, ...], and for each step and image whether a
 * sequence goes on (1) or begins (0). Source: recurrent_layer.cpp, lstm_layer.cpp, rnn_layer.cpp. */
#include "import/caffe/ops.h"
#include "import/kit/array.h"

typedef struct recurrent {
  wick_import_node *n;
  bool lstm;
  int64_t units;
  wick_dim steps, batch;
  wick_value gates; /* what the inputs contribute, [steps, batch, gates of all units] */
  wick_value cont;  /* [steps, batch, 1] */
  wick_value w, out_w, out_b;
} recurrent;

static wick_value recurrent_weight(wick_import_node *n, uint32_t i, int64_t rows, int64_t columns)
{
  const int64_t dim[2] = {rows, columns};
  wick_value w = wick_caffe_weight(n, i, 2, dim);
  return w.id ? wick_build_swap(n->b, w) : w;
}

/* Takes row `at` of x [steps, ...]. */
static wick_value recurrent_at(wick_builder *b, wick_value x, wick_value at)
{
  return wick_emit_gather(b, WICK_OP_gather, x, at, 0);
}

/* One step: sets the next states, and returns the step's result. */
static wick_value recurrent_step(recurrent *r, wick_value at, wick_value *h, wick_value *c)
{
  wick_builder *b = r->n->b;
  wick_value cont = recurrent_at(b, r->cont, at);
  wick_value x = wick_build2(b, WICK_OP_mul, *h, cont);
  x = wick_build2(b, WICK_OP_matmul, x, r->w);
  x = wick_build2(b, WICK_OP_add, recurrent_at(b, r->gates, at), x);
  if (!r->lstm) {
    *h = wick_build1(b, WICK_OP_tanh, x);
    wick_value y = wick_build2(b, WICK_OP_matmul, *h, r->out_w);
    return wick_build1(b, WICK_OP_tanh, wick_build2(b, WICK_OP_add, y, r->out_b));
  }
  wick_value gate[4];
  wick_dim units = wick_dim_const(r->units);
  for (uint32_t k = 0; k < 4; k++) {
    gate[k] = wick_emit_slice(b, x, 1, wick_dim_const(r->units * k), units);
    gate[k] = wick_build1(b, k == 3 ? WICK_OP_tanh : WICK_OP_sigmoid, gate[k]);
  }
  wick_value kept = wick_build2(b, WICK_OP_mul, *c, cont);
  kept = wick_build2(b, WICK_OP_mul, kept, gate[1]);
  wick_value fresh = wick_build2(b, WICK_OP_mul, gate[0], gate[3]);
  *c = wick_build2(b, WICK_OP_add, kept, fresh);
  *h = wick_build2(b, WICK_OP_mul, gate[2], wick_build1(b, WICK_OP_tanh, *c));
  return *h;
}

/* Runs all steps. Sets the last states, and returns the results of all steps. */
static wick_value recurrent_loop(recurrent *r, wick_value *h, wick_value *c)
{
  wick_module *m = r->n->c->module;
  wick_builder *b = r->n->b;
  wick_type whole = wick_type_tensor(m, WICK_I64, 0, NULL);
  wick_value count = wick_build1(b, WICK_OP_size, wick_emit_count(b, r->steps));
  wick_value in[] = {count, *h, *c};
  if (b->status) return *h;
  uint32_t n = r->lstm ? 3 : 2;
  wick_type type[] = {whole, wick_built_type(b, *h), wick_built_type(b, *c)};
  wick_attr attr[] = {
      [WICK_ATTR_loop_stacked] = {.i = 1}, [WICK_ATTR_loop_most] = {.n = 1, .dims = &r->steps}};
  wick_build_open(b, WICK_OP_loop, n, in, attr, 0, NULL);
  wick_value at = wick_region_begin(b, n, type);
  if (b->status) return *h;
  wick_value next_h = {at.id + 1}, next_c = {at.id + 2};
  wick_value y = recurrent_step(r, at, &next_h, &next_c);
  wick_value on = wick_build_const(b, wick_type_tensor(m, WICK_BOOL, 0, NULL), 0, 1);
  if (b->status) return *h;
  if (r->lstm)
    wick_yield(b, 4, (wick_value[]){on, next_h, next_c, y});
  else
    wick_yield(b, 3, (wick_value[]){on, next_h, y});
  *h = wick_build_close(b);
  *c = (wick_value){h->id + 1};
  return (wick_value){h->id + (r->lstm ? 2 : 1)};
}

/* What x and the static input contribute to the gates. Returns false after a failure. */
static bool recurrent_inputs(recurrent *r, bool is_static)
{
  wick_import_node *n = r->n;
  wick_builder *b = n->b;
  int64_t rows = r->units * (r->lstm ? 4 : 1);
  wick_value w = recurrent_weight(n, 0, rows, -1), bias = {0}, fixed = {0};
  if (!n->failed) bias = wick_caffe_weight(n, 1, 1, &rows);
  if (is_static && !n->failed) fixed = recurrent_weight(n, 2, rows, -1);
  if (n->failed) return false;
  const wick_dim dim[3] = {r->steps, r->batch, wick_dim_const(rows)}, one = wick_dim_const(1);
  wick_value x = wick_build2(b, WICK_OP_matmul, wick_array_matrix(n, n->in[0], 2), w);
  x = wick_build_reshape(b, wick_build2(b, WICK_OP_add, x, bias), 3, dim);
  if (is_static) {
    wick_value s = wick_build2(b, WICK_OP_matmul, wick_array_matrix(n, n->in[2], 1), fixed);
    x = wick_build2(b, WICK_OP_add, x, s);
  }
  r->gates = x;
  r->cont = wick_build_reshape(b, n->in[1], 3, (wick_dim[]){r->steps, r->batch, one});
  return !b->status;
}

/* The state that an input gives, or zeros; [batch, units]. */
static wick_value recurrent_state(recurrent *r, uint32_t i)
{
  wick_import_node *n = r->n;
  const wick_dim dim[2] = {r->batch, wick_dim_const(r->units)};
  if (i) return wick_build_reshape(n->b, n->in[i], 2, dim);
  wick_value zero = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL), 0, 0);
  return wick_emit_expand(n->b, zero, 2, dim);
}

/* Inputs: x, cont, the static input if there is one, and the states if they are exposed (for an LSTM h
 * and c). Results: those of all steps, and the last states. */
void wick_caffe_recurrent(wick_import_node *n)
{
  recurrent r = {.n = n, .lstm = n->row->arg, .units = wick_import_int(n, "num_output", 0)};
  uint32_t nstate = wick_import_int(n, "expose_hidden", 0) ? (r.lstm ? 2 : 1) : 0;
  if (!wick_import_rank(n, 0, 3, WICK_MAX_RANK) || !wick_import_rank(n, 1, 2, 2)) return;
  if (n->nin < 2 + nstate || n->nin > 3 + nstate || n->nout != 1 + nstate || r.units < 1 ||
      r.units > INT32_MAX / 4) {
    wick_import_fail(n, WICK_EPARSE, "%u inputs, %u outputs and num_output %lld do not fit", n->nin,
                     n->nout, (long long)r.units);
    return;
  }
  bool is_static = n->nin == 3 + nstate;
  uint32_t at = 2 + is_static;
  if (is_static && !wick_import_rank(n, 2, 2, WICK_MAX_RANK)) return;
  r.steps = wick_import_info(n, 0)->dim[0], r.batch = wick_import_info(n, 0)->dim[1];
  if (!recurrent_inputs(&r, is_static)) return;
  r.w = recurrent_weight(n, at, r.units * (r.lstm ? 4 : 1), r.units);
  if (!n->failed && !r.lstm) r.out_w = recurrent_weight(n, at + 1, r.units, r.units);
  if (!n->failed && !r.lstm) r.out_b = wick_caffe_weight(n, at + 2, 1, &r.units);
  if (n->failed) return;
  wick_value h = recurrent_state(&r, nstate ? at : 0),
             c = recurrent_state(&r, nstate > 1 ? at + 1 : 0);
  n->out[0] = recurrent_loop(&r, &h, &c);
  if (n->b->status) return;
  const wick_dim dim[3] = {wick_dim_const(1), r.batch, wick_dim_const(r.units)};
  if (nstate) n->out[1] = wick_build_reshape(n->b, h, 3, dim);
  if (nstate > 1) n->out[2] = wick_build_reshape(n->b, c, 3, dim);
}
