/* Recurrent layers: LSTM over a sequence, in floats and in 8 bits with a cell of 16 bits.
 *
 * The products of the inputs are computed for all steps at once; a loop does the rest. */
#include <math.h>

#include "import/tflite/fixed_math.h"
#include "import/tflite/quantized.h"

enum { GATE_I, GATE_F, GATE_C, GATE_O, NGATE };
/* The operands of LSTM. */
enum {
  IN_X,
  IN_W, /* of the gates i f c o */
  IN_R = IN_W + NGATE,
  IN_PEEPHOLE = IN_R + NGATE, /* i f o */
  IN_BIAS = IN_PEEPHOLE + 3,
  IN_PROJECTION = IN_BIAS + NGATE,
  IN_PROJECTION_BIAS,
  IN_STATE,
  IN_CELL,
  IN_NORM
};

typedef struct recurrent_lstm {
  wick_import_node *n;
  bool coupled, quantized; /* coupled: no input gate, i = 1 - f */
  bool asymmetric;         /* how floats are quantized for weights of 8 bits */
  double cell_clip, projection_clip;
  int64_t act;
  wick_dim batch, steps, cells, units;
  wick_value x[NGATE]; /* of each gate: products of the inputs, [steps, batch, cells] */
  wick_value r[NGATE]; /* recurrent weights, transposed, as the steps take them */
  wick_value recurrent_bias[NGATE];
  wick_fixed in_factor[NGATE], r_factor[NGATE];
  wick_value sigmoid, tanh, cell_tanh; /* tables of 2^16 entries */
  int cell_exponent;                   /* the cell's scale is 2^cell_exponent */
} recurrent_lstm;

/* ---- floats ---- */

static wick_value lstm_activate(recurrent_lstm *l, wick_value x)
{
  return wick_tflite_activate(l->n, x, l->act);
}

static wick_value lstm_clip(wick_builder *b, wick_value x, double clip)
{
  return clip > 0 ? wick_tflite_clip(b, x, -clip, clip) : x;
}

/* Weights in floats: those of 8 bits are widened. */
static wick_value lstm_weight(wick_import_node *n, uint32_t i)
{
  return wick_elem_is_float(wick_import_info(n, i)->elem)
             ? n->in[i]
             : wick_tflite_real(n, i, n->in[i], (wick_value){0});
}

/* x by the weights of operand i, transposed. Weights of 8 bits: the rows of x are quantized. */
static wick_value lstm_product(recurrent_lstm *l, wick_value x, uint32_t i)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  const int64_t last = -1;
  if (wick_elem_is_float(wick_import_info(n, i)->elem))
    return wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, n->in[i]));
  wick_tflite_hybrid h =
      (l->asymmetric ? wick_tflite_asymmetric : wick_tflite_symmetric)(n, x, 1, &last);
  wick_value w = wick_build_swap(b, wick_build_cast(b, n->in[i], WICK_I32));
  wick_value y = wick_build2(b, WICK_OP_matmul, h.x, w);
  if (b->status) return y;
  wick_value scale = wick_emit_by(b, WICK_OP_mul, h.scale, wick_tflite_in(n, i)->quant.scale[0]);
  return wick_build2(b, WICK_OP_mul, wick_build_cast(b, y, WICK_F32), scale);
}

/* Normalized along the cells, times the coefficients, plus the bias. */
static wick_value lstm_normalize(recurrent_lstm *l, wick_value v, uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_value mean = wick_emit_reduce1(b, WICK_OP_reduce_mean, v, -1, true);
  v = wick_build2(b, WICK_OP_sub, v, mean);
  wick_value square = wick_build2(b, WICK_OP_mul, v, v);
  wick_value variance = wick_emit_reduce1(b, WICK_OP_reduce_mean, square, -1, true);
  variance = wick_build1(b, WICK_OP_rsqrt, wick_emit_by(b, WICK_OP_add, variance, 1e-8));
  v = wick_build2(b, WICK_OP_mul, v, variance);
  v = wick_build2(b, WICK_OP_mul, v, lstm_weight(l->n, IN_NORM + gate));
  return wick_build2(b, WICK_OP_add, v, l->n->in[IN_BIAS + gate]);
}

/* The input of a gate's activation. `cell` is what a peephole reads. */
static wick_value lstm_gate(recurrent_lstm *l, wick_value at, wick_value h, wick_value cell,
                            uint32_t gate)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  bool normal = wick_import_has(n, IN_NORM + gate);
  uint32_t peephole = IN_PEEPHOLE + (gate == GATE_O ? 2 : gate);
  wick_value row = wick_build2(b, WICK_OP_dynamic_index, l->x[gate], at);
  wick_value v = wick_build2(b, WICK_OP_add, row, lstm_product(l, h, IN_R + gate));
  if (gate != GATE_C && wick_import_has(n, peephole))
    v = wick_build2(b, WICK_OP_add, v, wick_build2(b, WICK_OP_mul, cell, lstm_weight(n, peephole)));
  return normal ? lstm_normalize(l, v, gate) : v;
}

static void lstm_step(recurrent_lstm *l, wick_value at, wick_value *h, wick_value *c)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  wick_value f = wick_build1(b, WICK_OP_sigmoid, lstm_gate(l, at, *h, *c, GATE_F)), i;
  if (l->coupled)
    i = wick_build2(b, WICK_OP_sub, wick_emit_number(b, f, 1), f);
  else
    i = wick_build1(b, WICK_OP_sigmoid, lstm_gate(l, at, *h, *c, GATE_I));
  wick_value g = lstm_activate(l, lstm_gate(l, at, *h, *c, GATE_C));
  wick_value kept = wick_build2(b, WICK_OP_mul, f, *c), fresh = wick_build2(b, WICK_OP_mul, i, g);
  *c = lstm_clip(b, wick_build2(b, WICK_OP_add, kept, fresh), l->cell_clip);
  wick_value o = wick_build1(b, WICK_OP_sigmoid, lstm_gate(l, at, *h, *c, GATE_O));
  *h = wick_build2(b, WICK_OP_mul, o, lstm_activate(l, *c));
  if (!wick_import_has(n, IN_PROJECTION)) return;
  *h = lstm_product(l, *h, IN_PROJECTION);
  if (wick_import_has(n, IN_PROJECTION_BIAS))
    *h = wick_build2(b, WICK_OP_add, *h, n->in[IN_PROJECTION_BIAS]);
  *h = lstm_clip(b, *h, l->projection_clip);
}

static void lstm_products(recurrent_lstm *l, wick_value x)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  for (uint32_t g = l->coupled; g < NGATE; g++) {
    l->x[g] = lstm_product(l, x, IN_W + g);
    if (wick_import_has(n, IN_BIAS + g) && !wick_import_has(n, IN_NORM + g))
      l->x[g] = wick_build2(b, WICK_OP_add, l->x[g], n->in[IN_BIAS + g]);
  }
}

/* ---- 8 bits, with gates and a cell of 16 bits ---- */

static wick_value lstm_narrow(wick_builder *b, wick_value x)
{
  return wick_tflite_clip(b, x, INT16_MIN, INT16_MAX);
}

typedef int64_t lstm_function(int64_t x, int integer, int width);

/* The function of each number of 16 bits, from the least on. */
static wick_value lstm_table(wick_import_node *n, lstm_function *fn, int integer)
{
  int64_t dim = 1 << 16;
  int16_t *table = wick_new(n->c->tmp, int16_t, (size_t)dim);
  for (int64_t k = 0; k < dim; k++) table[k] = (int16_t)fn(k + INT16_MIN, integer, 16);
  return wick_import_copied(n->c, n->name, WICK_I16, 1, &dim, table, (uint64_t)dim * sizeof *table);
}

static wick_value lstm_look(wick_builder *b, wick_value table, wick_value x)
{
  wick_value at = wick_emit_by(b, WICK_OP_sub, wick_build_cast(b, x, WICK_I32), INT16_MIN);
  wick_value y = wick_emit_gather(b, WICK_OP_gather, table, at, 0);
  return b->status ? y : wick_build_cast(b, y, WICK_I64);
}

/* The rows of weights summed, times minus the zero point of what they are multiplied with. */
static wick_value lstm_zero_point(wick_builder *b, wick_value w, int64_t zero)
{
  wick_value sum =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, w, WICK_I32), -1, false);
  return wick_emit_by(b, WICK_OP_mul, sum, (double)-zero);
}

static void lstm_products_int8(recurrent_lstm *l, wick_value x)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  const wick_tflite_tensor *tx = wick_tflite_in(n, IN_X), *th = wick_tflite_in(n, IN_STATE);
  x = wick_build_cast(b, x, WICK_I32);
  for (uint32_t g = l->coupled; g < NGATE && !b->status; g++) {
    const double unit = 1.0 / 4096; /* the scale of the gates' inputs */
    l->in_factor[g] =
        wick_fixed_of(tx->quant.scale[0] * wick_tflite_in(n, IN_W + g)->quant.scale[0] / unit);
    l->r_factor[g] =
        wick_fixed_of(th->quant.scale[0] * wick_tflite_in(n, IN_R + g)->quant.scale[0] / unit);
    wick_value w = wick_build_cast(b, n->in[IN_W + g], WICK_I32),
               r = wick_build_cast(b, n->in[IN_R + g], WICK_I32);
    wick_value v = wick_build2(b, WICK_OP_matmul, x, wick_build_swap(b, w));
    v = wick_build2(b, WICK_OP_add, v, lstm_zero_point(b, w, tx->quant.zero[0]));
    if (wick_import_has(n, IN_BIAS + g)) v = wick_build2(b, WICK_OP_add, v, n->in[IN_BIAS + g]);
    l->x[g] = lstm_narrow(b, wick_fixed_mul(b, v, 1, &l->in_factor[g]));
    l->recurrent_bias[g] = lstm_zero_point(b, r, th->quant.zero[0]);
    l->r[g] = wick_build_swap(b, r);
  }
}

static wick_value lstm_gate_int8(recurrent_lstm *l, wick_value at, wick_value h, uint32_t gate)
{
  wick_builder *b = l->n->b;
  wick_value row = wick_build2(b, WICK_OP_dynamic_index, l->x[gate], at);
  wick_value v = wick_build2(b, WICK_OP_matmul, wick_build_cast(b, h, WICK_I32), l->r[gate]);
  v = wick_build2(b, WICK_OP_add, v, l->recurrent_bias[gate]);
  v = wick_fixed_mul(b, v, 1, &l->r_factor[gate]);
  return lstm_narrow(b, wick_build2(b, WICK_OP_add, v, row));
}

static void lstm_step_int8(recurrent_lstm *l, wick_value at, wick_value *h, wick_value *c)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  const wick_tflite_tensor *th = wick_tflite_in(n, IN_STATE);
  const wick_tflite_at *node = n->data;
  wick_value f = lstm_look(b, l->sigmoid, lstm_gate_int8(l, at, *h, GATE_F)), i;
  wick_value g = lstm_look(b, l->tanh, lstm_gate_int8(l, at, *h, GATE_C));
  if (l->coupled)
    i = wick_build2(b, WICK_OP_sub, wick_emit_number(b, f, INT16_MAX), f);
  else
    i = lstm_look(b, l->sigmoid, lstm_gate_int8(l, at, *h, GATE_I));
  wick_value o = lstm_look(b, l->sigmoid, lstm_gate_int8(l, at, *h, GATE_O));
  wick_value cell = wick_build_cast(b, *c, WICK_I64);
  wick_value kept = wick_fixed_divide(b, wick_build2(b, WICK_OP_mul, f, cell), 15);
  wick_value fresh = wick_fixed_divide(b, wick_build2(b, WICK_OP_mul, i, g), 30 + l->cell_exponent);
  cell = lstm_narrow(b, wick_build2(b, WICK_OP_add, kept, fresh));
  if (l->cell_clip > 0) {
    double clip = l->cell_clip / ldexp(1, l->cell_exponent);
    clip = clip > INT16_MAX ? INT16_MAX : floor(clip);
    cell = wick_tflite_clip(b, cell, -clip, clip);
  }
  if (b->status) return;
  *c = wick_build_cast(b, cell, WICK_I16);
  wick_value v = wick_build2(b, WICK_OP_mul, o, lstm_look(b, l->cell_tanh, cell));
  const wick_tflite_op *op = wick_tflite_op_of(n);
  const wick_tflite_tensor *hidden = &node->body->g->tensor[op->intermediate[4]];
  double scale = hidden->quant.n ? hidden->quant.scale[0] : th->quant.scale[0];
  int64_t zero = hidden->quant.n ? hidden->quant.zero[0] : th->quant.zero[0];
  wick_fixed factor = wick_fixed_of(ldexp(1, -30) / scale);
  *h = wick_fixed_end(b, wick_fixed_mul(b, v, 1, &factor), zero, INT8_MIN, INT8_MAX, WICK_I8);
}

/* ---- the sequence ---- */

/* Runs the steps over time; result 0 are the states of all steps [steps, batch, units]. */
static wick_value lstm_loop(recurrent_lstm *l, wick_value h, wick_value c)
{
  wick_import_node *n = l->n;
  wick_builder *b = n->b;
  wick_type whole = wick_type_tensor(n->c->module, WICK_I64, 0, NULL);
  wick_value count = wick_build1(b, WICK_OP_size, wick_emit_count(b, l->steps));
  wick_value in[] = {count, h, c};
  if (b->status) return h;
  wick_type type[] = {whole, wick_built_type(b, h), wick_built_type(b, c)};
  wick_attr attr[] = {
      [WICK_ATTR_loop_stacked] = {.i = 1}, [WICK_ATTR_loop_most] = {.n = 1, .dims = &l->steps}};
  wick_build_open(b, WICK_OP_loop, 3, in, attr, 0, NULL);
  wick_value at = wick_region_begin(b, 3, type);
  if (b->status) return h;
  h = (wick_value){at.id + 1}, c = (wick_value){at.id + 2};
  if (l->quantized)
    lstm_step_int8(l, at, &h, &c);
  else
    lstm_step(l, at, &h, &c);
  wick_value on = wick_build_const(b, wick_type_tensor(n->c->module, WICK_BOOL, 0, NULL), 0, 1);
  const wick_value out[] = {on, h, c, h};
  if (b->status) return h;
  wick_yield(b, 4, out);
  wick_value last = wick_build_close(b);
  wick_tflite_update(n, IN_STATE, last);
  wick_tflite_update(n, IN_CELL, (wick_value){last.id + 1});
  return (wick_value){last.id + 2};
}

/* Checks what the kernel needs. Returns false after a failure. */
static bool lstm_begin(wick_import_node *n, recurrent_lstm *l)
{
  *l = (recurrent_lstm){.n = n,
                        .coupled = !wick_import_has(n, IN_W + GATE_I),
                        .quantized = wick_tflite_is_quantized(wick_tflite_in(n, IN_X)),
                        .asymmetric = wick_tflite_byte(n, 4) != 0,
                        .act = wick_tflite_byte(n, 0),
                        .cell_clip = wick_tflite_f32(n, 1),
                        .projection_clip = wick_tflite_f32(n, 2)};
  const uint32_t needed[] = {IN_W + 1, IN_W + 2, IN_W + 3, IN_R + 1,
                             IN_R + 2, IN_R + 3, IN_STATE, IN_CELL};
  for (size_t k = 0; k < WICK_COUNT(needed); k++)
    if (!wick_import_has(n, needed[k])) {
      wick_import_fail(n, WICK_EPARSE, "input %u is missing", needed[k]);
      return false;
    }
  bool more = wick_import_has(n, IN_PROJECTION) || wick_import_has(n, IN_PEEPHOLE + 1) ||
              wick_import_has(n, IN_NORM + 1);
  if (!l->quantized) return true;
  int exponent;
  const wick_tflite_tensor *cell = wick_tflite_in(n, IN_CELL);
  bool power = cell->quant.n && frexp(cell->quant.scale[0], &exponent) == 0.5;
  if (more || !power || wick_tflite_op_of(n)->nintermediate < 5 || cell->elem != WICK_I16 ||
      wick_tflite_op_of(n)->intermediate[4] < 0) {
    wick_import_fail(
        n, WICK_EUNSUPPORTED,
        "in 8 bits it is supported without projection, peepholes and normalization, with "
        "a cell of 16 bits whose scale is a power of two");
    return false;
  }
  l->cell_exponent = exponent - 1;
  l->sigmoid = lstm_table(n, wick_fixed_logistic, 3);
  l->tanh = lstm_table(n, wick_fixed_tanh, 3);
  l->cell_tanh =
      l->cell_exponent == -12 ? l->tanh : lstm_table(n, wick_fixed_tanh, 15 + l->cell_exponent);
  return true;
}

static void recurrent_sequence_lstm(wick_import_node *n)
{
  wick_builder *b = n->b;
  recurrent_lstm l;
  static const int64_t turn[] = {1, 0, 2};
  bool major = wick_tflite_byte(n, 3) != 0;
  if (!wick_import_rank(n, IN_X, 3, 3) || !lstm_begin(n, &l)) return;
  wick_value x = major ? n->in[IN_X] : wick_build_transpose(b, n->in[IN_X], 3, turn);
  if (b->status) return;
  l.steps = wick_built_info(b, x)->dim[0];
  if (l.quantized)
    lstm_products_int8(&l, x);
  else
    lstm_products(&l, x);
  wick_value y = lstm_loop(&l, n->in[IN_STATE], n->in[IN_CELL]);
  n->out[0] = major ? y : wick_build_transpose(b, y, 3, turn);
}

const wick_import_op wick_tflite_recurrent_ops[] = {
    {"UNIDIRECTIONAL_SEQUENCE_LSTM",
     1,
     {20, 24},
     1,
     NULL,
     recurrent_sequence_lstm,
     WICK_OP_none,
     0,
     NULL,
     NULL},
    {0},
};
