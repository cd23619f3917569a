/* Steps of LSTM in 8 bits, with gates and a cell of 16 bits, bit for bit.
 * Source: lstm_eval.cc, unidirectional_sequence_lstm.cc and portable_tensor_utils.cc of LiteRT. */
#include <math.h>

#include "import/tflite/fixed_math.h"
#include "import/tflite/recurrent.h"

static wick_value fixed_narrow(wick_builder *b, wick_value x)
{
  return wick_tflite_clip(b, x, INT16_MIN, INT16_MAX);
}

wick_value wick_lstm_fixed_sum(wick_builder *b, wick_value x, wick_value y)
{
  return fixed_narrow(b, wick_build2(b, WICK_OP_add, x, y));
}

wick_value wick_lstm_fixed_table(wick_import_node *n, wick_lstm_function *fn, int integer)
{
  int64_t dim = 1 << 16;
  int16_t *table = wick_new(n->c->tmp, int16_t, (size_t)dim);
  for (int64_t k = 0; k < dim; k++) table[k] = (int16_t)fn(k + INT16_MIN, integer, 16);
  return wick_import_copied(n->c, n->name, WICK_I16, 1, &dim, table, (uint64_t)dim * sizeof *table);
}

wick_value wick_lstm_fixed_look(wick_builder *b, wick_value table, wick_value x)
{
  wick_value at = wick_emit_by(b, WICK_OP_sub, wick_build_cast(b, x, WICK_I32), INT16_MIN);
  wick_value y = wick_emit_gather(b, WICK_OP_gather, table, at, 0);
  return b->status ? y : wick_build_cast(b, y, WICK_I64);
}

wick_value wick_lstm_fixed_zero_point(wick_builder *b, wick_value w, int64_t zero)
{
  wick_value sum =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, w, WICK_I32), -1, false);
  return wick_emit_by(b, WICK_OP_mul, sum, (double)-zero);
}

float wick_lstm_fixed_scale(const wick_lstm *l, uint32_t k)
{
  return (float)wick_lstm_tensor(l, k)->quant.scale[0];
}

const wick_tflite_tensor *wick_lstm_fixed_intermediate(const wick_lstm *l, uint32_t k)
{
  const wick_tflite_at *node = l->n->data;
  return &node->body->g->tensor[node->op->intermediate[k]];
}

/* The scale of a gate's sums. */
static float fixed_unit(const wick_lstm *l, uint32_t gate)
{
  return wick_lstm_has(l, WICK_LSTM_NORM + gate)
             ? (float)wick_lstm_fixed_intermediate(l, gate)->quant.scale[0]
             : 1.0F / 4096;
}

/* ---- before the steps ---- */

bool wick_lstm_fixed_is_typed(const wick_lstm *l)
{
  bool good = true;
  for (uint32_t k = 0; k < WICK_LSTM_AUX_X; k++) {
    bool bias = (k >= WICK_LSTM_BIAS && k < WICK_LSTM_PROJECTION) || k == WICK_LSTM_PROJECTION_BIAS;
    if (bias || !wick_lstm_has(l, k)) continue;
    good = good && wick_lstm_tensor(l, k)->quant.n == 1;
    bool matrix = (k >= WICK_LSTM_W && k < WICK_LSTM_PEEPHOLE) || k == WICK_LSTM_PROJECTION;
    good = good && (!matrix || wick_import_info(l->n, l->at[k])->rank == 2);
  }
  return good && wick_tflite_out(l->n, 0)->quant.n == 1 &&
         wick_lstm_tensor(l, WICK_LSTM_X)->elem == WICK_I8 &&
         wick_lstm_tensor(l, WICK_LSTM_STATE)->elem == WICK_I8 &&
         wick_lstm_tensor(l, WICK_LSTM_CELL)->elem == WICK_I16;
}

/* The intermediate results that are read have scales, too. */
static bool fixed_is_whole(const wick_lstm *l)
{
  const wick_tflite_op *op = wick_tflite_op_of(l->n);
  bool norm = wick_lstm_has(l, WICK_LSTM_NORM + WICK_LSTM_F),
       good = wick_lstm_fixed_is_typed(l) && op->nintermediate == WICK_LSTM_GATES + 1;
  for (uint32_t k = norm ? 0 : WICK_LSTM_GATES; k <= WICK_LSTM_GATES; k++)
    good = good && op->intermediate[k] >= 0 &&
           ((norm && !k && l->coupled) || wick_lstm_fixed_intermediate(l, k)->quant.n == 1);
  for (uint32_t g = l->coupled; norm && g < WICK_LSTM_GATES; g++)
    good = good && wick_lstm_has(l, WICK_LSTM_NORM + g) && wick_lstm_has(l, WICK_LSTM_BIAS + g);
  return good;
}

bool wick_lstm_fixed_begin(wick_lstm *l)
{
  wick_import_node *n = l->n;
  if (!fixed_is_whole(l)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "in 8 bits it is supported with a cell of 16 bits, one scale for each "
                     "tensor, and the scales of five intermediate results");
    return false;
  }
  double power = log2(wick_lstm_tensor(l, WICK_LSTM_CELL)->quant.scale[0]);
  if (!(fabs(power - round(power)) < 1e-3) || power > -8.5 || power < -15.5) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the cell's scale is 2^%g, expected 2^-15 to 2^-9",
                     power);
    return false;
  }
  l->cell_exponent = (int)round(power);
  l->sigmoid = wick_lstm_fixed_table(n, wick_fixed_logistic, 3);
  l->tanh = wick_lstm_fixed_table(n, wick_fixed_tanh, 3);
  l->cell_tanh = l->cell_exponent == -12
                     ? l->tanh
                     : wick_lstm_fixed_table(n, wick_fixed_tanh, 15 + l->cell_exponent);
  return true;
}

static void fixed_projection(wick_lstm *l)
{
  wick_builder *b = l->n->b;
  int64_t zero = wick_lstm_fixed_intermediate(l, WICK_LSTM_GATES)->quant.zero[0];
  wick_value w = wick_lstm_in(l, WICK_LSTM_PROJECTION);
  l->projection_bias = wick_lstm_fixed_zero_point(b, w, -zero);
  if (wick_lstm_has(l, WICK_LSTM_PROJECTION_BIAS))
    l->projection_bias =
        wick_build2(b, WICK_OP_add, l->projection_bias, wick_lstm_in(l, WICK_LSTM_PROJECTION_BIAS));
  l->projection = wick_build_swap(b, wick_build_cast(b, w, WICK_I32));
}

void wick_lstm_fixed_products(wick_lstm *l, wick_value x)
{
  wick_builder *b = l->n->b;
  float in = wick_lstm_fixed_scale(l, WICK_LSTM_X),
        state = wick_lstm_fixed_scale(l, WICK_LSTM_STATE);
  int64_t in_zero = wick_lstm_tensor(l, WICK_LSTM_X)->quant.zero[0],
          zero = wick_lstm_tensor(l, WICK_LSTM_STATE)->quant.zero[0];
  x = wick_build_cast(b, x, WICK_I32);
  for (uint32_t g = l->coupled; g < WICK_LSTM_GATES && !b->status; g++) {
    float unit = fixed_unit(l, g);
    l->in_factor[g] =
        wick_fixed_of((double)(wick_lstm_fixed_scale(l, WICK_LSTM_W + g) * in / unit));
    l->r_factor[g] =
        wick_fixed_of((double)(wick_lstm_fixed_scale(l, WICK_LSTM_R + g) * state / unit));
    wick_value w = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_W + g), WICK_I32),
               r = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_R + g), WICK_I32);
    wick_value v = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, w));
    v = wick_build2(b, WICK_OP_add, v, wick_lstm_fixed_zero_point(b, w, in_zero));
    if (wick_lstm_has(l, WICK_LSTM_BIAS + g) && !wick_lstm_has(l, WICK_LSTM_NORM + g))
      v = wick_build2(b, WICK_OP_add, v, wick_lstm_in(l, WICK_LSTM_BIAS + g));
    l->x[g] = fixed_narrow(b, wick_fixed_mul(b, v, 1, &l->in_factor[g]));
    l->recurrent_bias[g] = wick_lstm_fixed_zero_point(b, r, zero);
    l->r[g] = wick_build_swap(b, r);
  }
  if (!b->status && wick_lstm_has(l, WICK_LSTM_PROJECTION)) fixed_projection(l);
}

/* ---- a step ---- */

/* The weights of a peephole for all cells of the batch. The kernel takes the number of units for that
 * of the cells: of a smaller number, it reaches the first units * batch cells alone, with the first
 * `units` weights in turn. */
static wick_value fixed_peephole_weights(wick_lstm *l, uint32_t k, wick_value cell)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  wick_value w = wick_build_cast(b, wick_lstm_in(l, k), WICK_I32);
  const wick_dim *shape = wick_built_info(b, cell)->dim;
  wick_dim units = wick_import_info(n, l->at[WICK_LSTM_STATE])->dim[1];
  if (b->status || !wick_dim_is_const(shape[0]) || !wick_dim_is_const(shape[1]) ||
      !wick_dim_is_const(units) || units.v >= shape[1].v || units.v < 1)
    return w;
  enum { MOST = 1 << 20 };
  int64_t numel = shape[0].v <= MOST && shape[1].v <= MOST ? shape[0].v * shape[1].v : MOST + 1;
  if (numel > MOST) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "peepholes of more than %d cells are not supported",
                     MOST);
    return w;
  }
  const int64_t dim[] = {shape[0].v, shape[1].v};
  double *at = wick_new(n->c->tmp, double, (size_t)numel + 1),
         *on = wick_new(n->c->tmp, double, (size_t)numel + 1);
  for (int64_t i = 0; i < numel; i++)
    at[i] = (double)(i % units.v), on[i] = i < shape[0].v * units.v ? 1 : 0;
  wick_value index = wick_emit_table(b, n->name, WICK_I32, 2, dim, at);
  wick_value mask = wick_emit_table(b, n->name, WICK_I32, 2, dim, on);
  return wick_build2(b, WICK_OP_mul, wick_emit_gather(b, WICK_OP_gather, w, index, 0), mask);
}

static wick_value fixed_peephole(wick_lstm *l, wick_value v, wick_value cell, uint32_t gate)
{
  wick_builder *b = l->n->b;
  uint32_t k = WICK_LSTM_PEEPHOLE + (gate == WICK_LSTM_O ? 2 : gate);
  if (b->status || gate == WICK_LSTM_C || !wick_lstm_has(l, k)) return v;
  double real =
      ldexp((double)wick_lstm_fixed_scale(l, k), l->cell_exponent) / (double)fixed_unit(l, gate);
  wick_fixed f = wick_fixed_of((double)(float)real);
  wick_value w = fixed_peephole_weights(l, k, cell);
  wick_value more = wick_build2(b, WICK_OP_mul, w, wick_build_cast(b, cell, WICK_I32));
  return wick_lstm_fixed_sum(b, v, wick_fixed_mul(b, more, 1, &f));
}

static wick_value fixed_quotient(wick_builder *b, wick_value x, int64_t by)
{
  return wick_emit_by(b, WICK_OP_div, x, (double)by);
}

/* Minus the mean times 2^10, by the deviation, times the weights, plus the bias. In i64. */
static wick_value fixed_normalize(wick_lstm *l, wick_value v, uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_dim cells = wick_built_info(b, v)->dim[1];
  wick_value right;
  if (b->status || !wick_dim_is_const(cells) || cells.v < 1) return v;
  v = wick_build_cast(b, v, WICK_I64);
  wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, v, -1, true);
  wick_value mean = fixed_quotient(b, wick_emit_by(b, WICK_OP_mul, sum, 1024), cells.v);
  wick_value squares =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, v, v), -1, true);
  squares = wick_emit_by(b, WICK_OP_mul, squares, (double)((1 << 20) / cells.v));
  wick_value variance =
      wick_build2(b, WICK_OP_sub, squares, wick_build2(b, WICK_OP_mul, mean, mean));
  variance = fixed_quotient(b, variance, 1 << 20);
  float scale = wick_lstm_fixed_scale(l, WICK_LSTM_NORM + gate);
  double least = scale * 10000 < 1 ? 1 : floor((double)(scale * 10000));
  wick_value small = wick_build2(b, WICK_OP_lt, variance, wick_emit_number(b, variance, 1));
  variance = wick_build3(b, WICK_OP_where, small, wick_emit_number(b, variance, least), variance);
  wick_value root = wick_fixed_live_inverse_root(b, variance, &right);
  v = wick_build2(b, WICK_OP_sub, wick_emit_by(b, WICK_OP_mul, v, 1024), mean);
  v = wick_fixed_divide_by(b, wick_fixed_live_mul(b, v, root), right);
  if (b->status) return v;
  v = wick_build_cast(b, v, WICK_I32);
  wick_value w = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_NORM + gate), WICK_I32);
  v = wick_build2(b, WICK_OP_mul, v, w);
  v = wick_build2(b, WICK_OP_add, v, wick_lstm_in(l, WICK_LSTM_BIAS + gate));
  if (b->status) return v;
  v = wick_build_cast(b, v, WICK_I64);
  wick_value up = wick_build2(b, WICK_OP_gt, v, wick_emit_number(b, v, 0));
  wick_value half =
      wick_build3(b, WICK_OP_where, up, wick_emit_number(b, v, 512), wick_emit_number(b, v, -512));
  v = fixed_quotient(b, wick_build2(b, WICK_OP_add, v, half), 1024);
  if (b->status) return v;
  wick_fixed f = wick_fixed_of((double)scale);
  f.shift += 12;
  return fixed_narrow(b, wick_fixed_mul(b, wick_build_cast(b, v, WICK_I32), 1, &f));
}

static wick_value fixed_gate(wick_lstm *l, wick_value at, wick_value h, wick_value cell,
                             uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_value row = wick_build2(b, WICK_OP_dynamic_index, l->x[gate], at);
  wick_value v = wick_build2(b, WICK_OP_matmul, wick_build_cast(b, h, WICK_I32), l->r[gate]);
  v = wick_build2(b, WICK_OP_add, v, l->recurrent_bias[gate]);
  v = wick_lstm_fixed_sum(b, wick_fixed_mul(b, v, 1, &l->r_factor[gate]), row);
  v = fixed_peephole(l, v, cell, gate);
  if (b->status) return v;
  if (wick_lstm_has(l, WICK_LSTM_NORM + gate)) v = fixed_normalize(l, v, gate);
  return wick_lstm_fixed_look(b, gate == WICK_LSTM_C ? l->tanh : l->sigmoid, v);
}

wick_value wick_lstm_fixed_cell(wick_lstm *l, wick_value f, wick_value i, wick_value g,
                                wick_value c)
{
  wick_builder *b = l->n->b;
  wick_value cell = wick_build_cast(b, c, WICK_I64);
  wick_value kept = wick_fixed_divide(b, wick_build2(b, WICK_OP_mul, f, cell), 15);
  wick_value fresh = wick_fixed_divide(b, wick_build2(b, WICK_OP_mul, i, g), 30 + l->cell_exponent);
  cell = wick_lstm_fixed_sum(b, kept, fresh);
  if (l->cell_clip > 0) {
    double clip = (double)((float)l->cell_clip / wick_lstm_fixed_scale(l, WICK_LSTM_CELL));
    clip = clip > INT16_MAX ? INT16_MAX : floor(clip);
    if (clip > 0) cell = wick_tflite_clip(b, cell, -clip, clip);
  }
  return cell;
}

wick_value wick_lstm_fixed_clipped(wick_lstm *l, wick_value h)
{
  if (!(l->projection_clip > 0)) return h;
  double clip =
      (double)((float)l->projection_clip / (float)wick_tflite_out(l->n, 0)->quant.scale[0]);
  clip = clip > INT8_MAX ? INT8_MAX : floor(clip);
  return clip > 0 ? wick_tflite_clip(l->n->b, h, -clip, clip) : h;
}

/* h: numbers of the hidden result without a zero point. */
static wick_value fixed_project(wick_lstm *l, wick_value h, float hidden)
{
  wick_builder *b = l->n->b;
  const wick_tflite_tensor *state = wick_lstm_tensor(l, WICK_LSTM_STATE);
  float scale = wick_lstm_fixed_scale(l, WICK_LSTM_PROJECTION) * hidden /
                wick_lstm_fixed_scale(l, WICK_LSTM_STATE);
  wick_fixed f = wick_fixed_of((double)scale);
  if (b->status) return h;
  h = wick_build2(b, WICK_OP_matmul, wick_build_cast(b, h, WICK_I32), l->projection);
  h = wick_fixed_mul(b, wick_build2(b, WICK_OP_add, h, l->projection_bias), 1, &f);
  return wick_lstm_fixed_clipped(
      l, wick_fixed_end(b, h, state->quant.zero[0], INT8_MIN, INT8_MAX, WICK_I8));
}

void wick_lstm_fixed_step(void *layer, wick_value at, wick_value *state)
{
  wick_lstm *l = layer;
  wick_builder *b = l->n->b;
  wick_value h = state[0], c = state[1], i;
  wick_value f = fixed_gate(l, at, h, c, WICK_LSTM_F), g = fixed_gate(l, at, h, c, WICK_LSTM_C);
  if (l->coupled)
    i = wick_build2(b, WICK_OP_sub, wick_emit_number(b, f, INT16_MAX), f);
  else
    i = fixed_gate(l, at, h, c, WICK_LSTM_I);
  wick_value cell = wick_lstm_fixed_cell(l, f, i, g, c);
  if (b->status) return;
  c = wick_build_cast(b, cell, WICK_I16);
  wick_value o = fixed_gate(l, at, h, c, WICK_LSTM_O);
  wick_value v = wick_build2(b, WICK_OP_mul, o, wick_lstm_fixed_look(b, l->cell_tanh, cell));
  const wick_tflite_quant *hidden = &wick_lstm_fixed_intermediate(l, WICK_LSTM_GATES)->quant;
  bool project = wick_lstm_has(l, WICK_LSTM_PROJECTION);
  wick_fixed factor = wick_fixed_of((double)(float)(ldexp(1, -30) / hidden->scale[0]));
  v = wick_fixed_end(b, wick_fixed_mul(b, v, 1, &factor),
                     project ? -hidden->zero[0] : hidden->zero[0], INT8_MIN, INT8_MAX, WICK_I8);
  state[0] = project ? fixed_project(l, v, (float)hidden->scale[0]) : v;
  state[1] = c;
}

/* ---- the basic kernel ---- */

/* The product of two fractions of 15 bits, ties upwards. */
static wick_value fixed_fraction(wick_builder *b, wick_value x, wick_value y)
{
  x = wick_emit_by(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x, y), 1 << 14);
  return wick_emit_by(b, WICK_OP_shift_right, x, 15);
}

/* The weights' sums for the gates, with three integer bits. */
static wick_value fixed_basic_sums(wick_import_node *n, wick_value x)
{
  wick_builder *b = n->b;
  const wick_tflite_quant *w = &wick_tflite_in(n, 2)->quant, *bias = &wick_tflite_in(n, 3)->quant;
  wick_fixed f = wick_fixed_of(4096 * bias->scale[0]);
  x = wick_emit_by(b, WICK_OP_sub, wick_build_cast(b, x, WICK_I32), 128);
  wick_value weights = wick_build_cast(b, n->in[2], WICK_I32);
  weights = wick_emit_by(b, WICK_OP_sub, weights, (double)w->zero[0]);
  wick_value sum = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, weights));
  sum = wick_build2(b, WICK_OP_add, sum, n->in[3]);
  return fixed_narrow(b, wick_fixed_mul_up(b, sum, 1, &f, 0));
}

void wick_lstm_fixed_basic(wick_import_node *n)
{
  enum { INTEGER = 4 }; /* bits of the state */
  wick_builder *b = n->b;
  const wick_tflite_quant *state = &wick_tflite_in(n, 4)->quant;
  bool good = wick_tflite_in(n, 2)->quant.n == 1 && wick_tflite_in(n, 3)->quant.n == 1 &&
              wick_import_info(n, 1)->elem == WICK_U8 && wick_import_info(n, 2)->elem == WICK_U8 &&
              wick_import_info(n, 3)->elem == WICK_I32 && wick_import_info(n, 4)->elem == WICK_I16;
  if (!good || state->n != 1 || fabs(log2(state->scale[0]) + 15 - INTEGER) > 1e-3) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "the basic kernel in 8 bits is supported with weights and a bias that have "
                     "one scale, and a state of 16 bits with the scale 2^-11");
    return;
  }
  wick_dim cells = wick_import_info(n, 4)->dim[1];
  wick_value x = wick_build_concat(b, 1, 2, n->in), sums = fixed_basic_sums(n, x), gate[4];
  wick_value sigmoid = wick_lstm_fixed_table(n, wick_fixed_logistic, 3);
  wick_value tanh_of = wick_lstm_fixed_table(n, wick_fixed_tanh, 3);
  for (uint32_t k = 0; k < 4 && !b->status; k++) {
    wick_dim from = wick_dim_mul(n->c->module->dims, cells, wick_dim_const(k));
    gate[k] = wick_lstm_fixed_look(b, k == 1 ? tanh_of : sigmoid,
                                   wick_emit_slice(b, sums, 1, from, cells));
  }
  if (b->status) return;
  wick_value kept = fixed_fraction(b, gate[2], wick_build_cast(b, n->in[4], WICK_I64));
  wick_value fresh = wick_fixed_divide(b, fixed_fraction(b, gate[0], gate[1]), INTEGER);
  wick_value cell = wick_lstm_fixed_sum(b, fresh, kept);
  wick_value y = fixed_narrow(b, wick_emit_by(b, WICK_OP_mul, cell, 1 << (INTEGER - 3)));
  y = fixed_fraction(b, gate[3], wick_lstm_fixed_look(b, tanh_of, y));
  n->out[0] = wick_fixed_end(b, wick_fixed_divide(b, y, 8), 128, 0, UINT8_MAX, WICK_U8);
  if (b->status) return;
  n->out[1] = wick_build_cast(b, cell, WICK_I16);
  n->out[2] = x, n->out[3] = wick_build_cast(b, sums, WICK_I16);
}
