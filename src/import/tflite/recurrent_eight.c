/* Steps of LSTM in 8 bits whose products are of 8 bits, too, with normalized gates in f32, bit for bit.
 *
 * LiteRT runs this kernel with a projection and its bias, and with an input gate, of which it reads nothing: the
 * gate is 1 - f. Without one of them it reads memory that it does not have. Peepholes are not read either.
 * Source: lstm.cc, lstm_eval.cc and portable_tensor_utils.cc of LiteRT. */
#include <math.h>

#include "import/tflite/recurrent.h"

enum { EIGHT_SUM, EIGHT_X, EIGHT_R, EIGHT_EACH }; /* the intermediate results of a gate */

static const wick_tflite_quant *eight_quant(const wick_lstm *l, uint32_t gate, uint32_t which)
{
  return &wick_lstm_fixed_intermediate(l, EIGHT_EACH * gate + which)->quant;
}

/* From a product's scale to that of the sum. */
static wick_fixed eight_factor(const wick_lstm *l, uint32_t gate, uint32_t which)
{
  float unit = (float)eight_quant(l, gate, which)->scale[0];
  return wick_fixed_of((double)(unit / (float)eight_quant(l, gate, EIGHT_SUM)->scale[0]));
}

static int64_t eight_logistic(int64_t x, int integer, int width)
{
  float y = 1.0F / (1.0F + expf(-ldexpf((float)x, integer - width + 1)));
  return y < 1 ? (int64_t)ldexpf(y, 15) : INT16_MAX;
}

static int64_t eight_tanh(int64_t x, int integer, int width)
{
  float y = tanhf(ldexpf((float)x, integer - width + 1));
  return y < 1 ? (int64_t)ldexpf(y, 15) : INT16_MAX;
}

/* ---- before the steps ---- */

static bool eight_is_whole(const wick_lstm *l)
{
  const wick_tflite_op *op = wick_tflite_op_of(l->n);
  bool good = wick_lstm_fixed_is_typed(l) && !l->coupled &&
              wick_lstm_has(l, WICK_LSTM_PROJECTION) && wick_lstm_has(l, WICK_LSTM_PROJECTION_BIAS);
  for (uint32_t g = 0; g < WICK_LSTM_GATES; g++)
    good = good && wick_lstm_has(l, WICK_LSTM_NORM + g) && wick_lstm_has(l, WICK_LSTM_BIAS + g);
  for (uint32_t k = 0; good && k < WICK_LSTM_EIGHT; k++)
    good = op->intermediate[k] >= 0 && wick_lstm_fixed_intermediate(l, k)->quant.n == 1;
  return good;
}

bool wick_lstm_eight_begin(wick_lstm *l)
{
  enum { MOST = 15 };
  wick_import_node *n = l->n;
  if (!eight_is_whole(l)) {
    wick_import_fail(
        n, WICK_EUNSUPPORTED,
        "with twelve intermediate results it is supported with an input gate, normalized "
        "gates, a projection and its bias, and one scale for each tensor");
    return false;
  }
  if (!wick_dim_is_const(wick_import_info(n, l->at[WICK_LSTM_R + WICK_LSTM_F])->dim[0])) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the number of cells must be known");
    return false;
  }
  l->cell_exponent = -15;
  if (wick_lstm_tensor(l, WICK_LSTM_CELL)->quant.scale[0] != ldexp(1, l->cell_exponent)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the cell's scale is %g, expected 2^%d",
                     wick_lstm_tensor(l, WICK_LSTM_CELL)->quant.scale[0], l->cell_exponent);
    return false;
  }
  /* Beyond this, the product that eight_gate leaves out is not 0. */
  if (eight_factor(l, WICK_LSTM_O, EIGHT_R).shift > MOST) {
    wick_import_fail(
        n, WICK_EUNSUPPORTED,
        "the scale of the output gate's recurrent product is more than 2^%d that of its sum", MOST);
    return false;
  }
  if (l->cell_clip >= 1) l->cell_clip = 0;
  l->sigmoid = wick_lstm_fixed_table(n, eight_logistic, 3);
  l->tanh = wick_lstm_fixed_table(n, eight_tanh, 3);
  l->cell_tanh = wick_lstm_fixed_table(n, eight_tanh, 0);
  return true;
}

/* Products in 8 bits, as parts of the gate's sum. */
static wick_value eight_part(wick_lstm *l, wick_value v, uint32_t gate, uint32_t which)
{
  wick_builder *b = l->n->b;
  int64_t zero = eight_quant(l, gate, which)->zero[0];
  wick_fixed f = which == EIGHT_X ? l->in_factor[gate] : l->r_factor[gate],
             more = eight_factor(l, gate, which);
  v = wick_fixed_mul(b, v, 1, &f);
  v = wick_tflite_clip(b, v, (double)(INT8_MIN - zero), (double)(INT8_MAX - zero));
  return wick_fixed_mul(b, v, 1, &more);
}

void wick_lstm_eight_products(wick_lstm *l, wick_value x)
{
  wick_builder *b = l->n->b;
  float in = wick_lstm_fixed_scale(l, WICK_LSTM_X),
        state = wick_lstm_fixed_scale(l, WICK_LSTM_STATE);
  int64_t in_zero = wick_lstm_tensor(l, WICK_LSTM_X)->quant.zero[0],
          zero = wick_lstm_tensor(l, WICK_LSTM_STATE)->quant.zero[0];
  x = wick_build_cast(b, x, WICK_I32);
  for (uint32_t g = WICK_LSTM_F; g < WICK_LSTM_GATES && !b->status; g++) {
    float w_scale = wick_lstm_fixed_scale(l, WICK_LSTM_W + g) * in,
          r_scale = wick_lstm_fixed_scale(l, WICK_LSTM_R + g) * state;
    l->in_factor[g] =
        wick_fixed_of((double)(w_scale / (float)eight_quant(l, g, EIGHT_X)->scale[0]));
    l->r_factor[g] = wick_fixed_of((double)(r_scale / (float)eight_quant(l, g, EIGHT_R)->scale[0]));
    wick_value w = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_W + g), WICK_I32);
    wick_value v = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, w));
    wick_value more = wick_lstm_fixed_zero_point(b, w, in_zero);
    l->x[g] = eight_part(l, wick_build2(b, WICK_OP_add, v, more), g, EIGHT_X);
    wick_value r = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_R + g), WICK_I32);
    l->recurrent_bias[g] = wick_lstm_fixed_zero_point(b, r, zero);
    l->r[g] = wick_build_swap(b, r);
  }
  wick_value w = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_PROJECTION), WICK_I64);
  l->projection = wick_build_swap(b, w);
  l->projection_bias = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_PROJECTION_BIAS), WICK_I64);
}

/* ---- a step ---- */

/* Numbers of f32 are computed in f64 and rounded each time, which gives the same bits and cannot be fused. */
static wick_value eight_rounded(wick_builder *b, wick_value x)
{
  return wick_build_cast(b, wick_build_cast(b, x, WICK_F32), WICK_F64);
}

static wick_value eight_op(wick_builder *b, wick_opcode op, wick_value x, wick_value y)
{
  return eight_rounded(b, wick_build2(b, op, x, y));
}

static wick_value eight_by(wick_builder *b, wick_opcode op, wick_value x, double number)
{
  return eight_rounded(b, wick_emit_by(b, op, x, number));
}

typedef struct eight_sums {
  wick_builder *b;
  wick_value column; /* f64 [cells, batch] */
} eight_sums;

/* Adds a cell of each row, and its square. */
static void eight_add(void *sums, wick_value at, wick_value *state)
{
  eight_sums *s = sums;
  wick_value x = wick_build2(s->b, WICK_OP_dynamic_index, s->column, at);
  state[0] = eight_op(s->b, WICK_OP_add, state[0], x);
  state[1] = eight_op(s->b, WICK_OP_add, state[1], eight_op(s->b, WICK_OP_mul, x, x));
}

/* Minus the mean, by the deviation; f64 [batch, cells]. The sums are f32 in the order of the cells. */
static wick_value eight_centered(wick_lstm *l, wick_value v)
{
  wick_builder *b = l->n->b;
  if (b->status) return v;
  wick_dim batch = wick_built_info(b, v)->dim[0], cells = wick_built_info(b, v)->dim[1];
  eight_sums s = {.b = b, .column = wick_build_swap(b, v)};
  wick_value none = wick_emit_expand(b, wick_emit_number(b, v, 0), 1, &batch);
  wick_value state[WICK_RECURRENT_STATES] = {none, none};
  wick_recurrent_loop(l->n, cells, 2, state, eight_add, &s);
  double count = (double)(float)cells.v;
  wick_value mean = eight_by(b, WICK_OP_div, state[0], count);
  wick_value square = eight_op(b, WICK_OP_mul, mean, mean);
  wick_value variance = eight_op(b, WICK_OP_sub, eight_by(b, WICK_OP_div, state[1], count), square);
  if (b->status) return v;
  wick_value root = eight_rounded(b, wick_build1(b, WICK_OP_sqrt, variance));
  wick_value same = wick_emit_by(b, WICK_OP_eq, variance, 0);
  wick_value one = wick_emit_number(b, root, 1),
             most = wick_emit_number(b, root, (double)(float)(1 / sqrt(1e-8)));
  root = wick_build3(b, WICK_OP_where, same, one, root);
  root = wick_build3(b, WICK_OP_where, same, most, eight_op(b, WICK_OP_div, one, root));
  v = eight_op(b, WICK_OP_sub, v, wick_emit_unsqueeze(b, mean, 1));
  return eight_op(b, WICK_OP_mul, v, wick_emit_unsqueeze(b, root, 1));
}

static wick_value eight_normalize(wick_lstm *l, wick_value v, uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_fixed f = wick_fixed_of((double)wick_lstm_fixed_scale(l, WICK_LSTM_NORM + gate));
  float scale = (float)ldexp(f.multiplier, f.shift - 31);
  wick_value w = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_NORM + gate), WICK_F64);
  wick_value bias = wick_build_cast(b, wick_lstm_in(l, WICK_LSTM_BIAS + gate), WICK_F64);
  bias = eight_by(b, WICK_OP_mul, eight_rounded(b, bias), (double)ldexpf(scale, -10));
  v = eight_op(b, WICK_OP_mul, eight_centered(l, wick_build_cast(b, v, WICK_F64)), w);
  v = eight_op(b, WICK_OP_add, eight_by(b, WICK_OP_mul, v, (double)scale), bias);
  v = wick_emit_by(b, WICK_OP_mul, v, 1 << 12);
  wick_value size = wick_build1(b, WICK_OP_abs, v);
  wick_value fits = wick_emit_by(b, WICK_OP_lt, size, ldexp(1, 31)); /* else, the least number */
  wick_value low = wick_emit_number(b, v, INT16_MIN);
  v = wick_build3(b, WICK_OP_where, fits, v, low);
  return wick_build_cast(b, wick_tflite_round(b, v, INT16_MIN, INT16_MAX), WICK_I32);
}

/* The output gate has no recurrent part: the kernel reads a shift in place of its factor's multiplier, and a number
 * below 2^5 in place of 2^30 makes its products 0. */
static wick_value eight_gate(wick_lstm *l, wick_value at, wick_value h, uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_value v = wick_build2(b, WICK_OP_dynamic_index, l->x[gate], at);
  if (gate != WICK_LSTM_O) {
    wick_value r = wick_build2(b, WICK_OP_matmul, wick_build_cast(b, h, WICK_I32), l->r[gate]);
    r = wick_build2(b, WICK_OP_add, r, l->recurrent_bias[gate]);
    v = wick_build2(b, WICK_OP_add, v, eight_part(l, r, gate, EIGHT_R));
  }
  v = wick_tflite_clip(b, v, INT16_MIN, INT16_MAX);
  if (b->status) return v;
  return wick_lstm_fixed_look(b, gate == WICK_LSTM_C ? l->tanh : l->sigmoid,
                              eight_normalize(l, v, gate));
}

static wick_value eight_project(wick_lstm *l, wick_value h)
{
  wick_builder *b = l->n->b;
  const wick_tflite_quant *state = &wick_lstm_tensor(l, WICK_LSTM_STATE)->quant;
  double scale = ldexp((double)wick_lstm_fixed_scale(l, WICK_LSTM_PROJECTION), -15);
  wick_fixed f = wick_fixed_of((double)(float)(scale / (double)(float)state->scale[0]));
  h = wick_build2(b, WICK_OP_matmul, h, l->projection);
  h = wick_fixed_mul_wide(b, wick_build2(b, WICK_OP_add, h, l->projection_bias), 1, &f);
  h = wick_fixed_end(b, h, state->zero[0], INT8_MIN, INT8_MAX, WICK_I8);
  return wick_lstm_fixed_clipped(l, h);
}

void wick_lstm_eight_step(void *layer, wick_value at, wick_value *state)
{
  wick_lstm *l = layer;
  wick_builder *b = l->n->b;
  wick_value h = state[0], f = eight_gate(l, at, h, WICK_LSTM_F);
  wick_value g = eight_gate(l, at, h, WICK_LSTM_C);
  if (b->status) return;
  wick_value i = wick_build2(b, WICK_OP_sub, wick_emit_number(b, f, INT16_MAX), f);
  wick_value cell = wick_lstm_fixed_cell(l, f, i, g, state[1]);
  wick_value o = eight_gate(l, at, h, WICK_LSTM_O);
  if (b->status) return;
  o = wick_build2(b, WICK_OP_mul, o, wick_lstm_fixed_look(b, l->cell_tanh, cell));
  state[0] = eight_project(l, wick_fixed_divide(b, o, 15));
  state[1] = wick_build_cast(b, cell, WICK_I16);
}
