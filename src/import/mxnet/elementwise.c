/* Imports MXNet's operators element by element, and those that fill tensors. */
#include <math.h>

#include "import/mxnet/ops.h"

void wick_mxnet_unary(wick_import_node *n) { n->out[0] = wick_build1(n->b, n->row->op, n->in[0]); }

void wick_mxnet_same(wick_import_node *n) { n->out[0] = n->in[0]; }

/* Booleans do not exist: comparisons give numbers of the operands' type. */
static wick_value elementwise_number(wick_import_node *n, wick_value y)
{
  if (n->b->status || wick_built_info(n->b, y)->elem != WICK_BOOL) return y;
  return wick_build_cast(n->b, y, wick_mxnet_type_of(n, 0));
}

static bool elementwise_is_logic(wick_opcode op)
{
  return op == WICK_OP_and || op == WICK_OP_or || op == WICK_OP_xor || op == WICK_OP_not;
}

static wick_value elementwise_truth(wick_import_node *n, wick_value x)
{
  return elementwise_is_logic(n->row->op) ? wick_build_cast(n->b, x, WICK_BOOL) : x;
}

void wick_mxnet_binary(wick_import_node *n)
{
  wick_value x = elementwise_truth(n, n->in[0]);
  wick_value y = n->nin > 1 ? elementwise_truth(n, n->in[1]) : x;
  n->out[0] = elementwise_number(n, n->nin > 1 ? wick_build2(n->b, n->row->op, x, y)
                                               : wick_build1(n->b, n->row->op, x));
}

void wick_mxnet_scalar(wick_import_node *n)
{
  wick_value by = wick_emit_number(n->b, n->in[0], wick_import_real(n, "scalar", 1));
  wick_value x = elementwise_truth(n, n->in[0]), y = elementwise_truth(n, by);
  wick_value first = n->row->arg ? y : x, second = n->row->arg ? x : y;
  n->out[0] = elementwise_number(n, wick_build2(n->b, n->row->op, first, second));
}

void wick_mxnet_sum_of(wick_import_node *n)
{
  n->out[0] = n->in[0];
  for (uint32_t i = 1; i < n->nin; i++)
    n->out[0] = wick_build2(n->b, WICK_OP_add, n->out[0], n->in[i]);
}

void wick_mxnet_activation(wick_import_node *n)
{
  static const wick_opcode ops[] = {WICK_OP_relu,     WICK_OP_sigmoid,  WICK_OP_tanh,
                                    WICK_OP_softplus, WICK_OP_softsign, WICK_OP_mish};
  int k = wick_import_word(n, "act_type", "relu sigmoid tanh softrelu softsign mish");
  if (!n->failed) n->out[0] = wick_build1(n->b, ops[k], n->in[0]);
}

/* One slope for each channel, the second dimension. */
static wick_value elementwise_prelu(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0), *s = wick_import_info(n, 1);
  wick_dim dim[WICK_MAX_RANK];
  wick_value slope = n->in[1];
  if (s->rank == 1 && !wick_dim_is(s->dim[0], 1) && x->rank > 2) {
    dim[0] = s->dim[0];
    for (uint32_t k = 1; k + 1 < x->rank; k++) dim[k] = wick_dim_const(1);
    slope = wick_build_reshape(n->b, slope, x->rank - 1, dim);
  }
  return wick_build2(n->b, WICK_OP_prelu, n->in[0], slope);
}

void wick_mxnet_leaky(wick_import_node *n)
{
  enum { LEAKY, ELU, PRELU, SELU, GELU, RRELU };
  int k = wick_import_word(n, "act_type", "leaky elu prelu selu gelu rrelu");
  double slope = wick_import_real(n, "slope", 0.25);
  if (k == PRELU && n->nin < 2) wick_import_fail(n, WICK_EPARSE, "it has no slopes");
  if (n->failed) return;
  if (k == RRELU)
    slope =
        (wick_import_real(n, "lower_bound", 0.125) + wick_import_real(n, "upper_bound", 0.334)) / 2;
  if (k == PRELU) {
    n->out[0] = elementwise_prelu(n);
    return;
  }
  static const wick_opcode ops[] = {WICK_OP_leaky_relu, WICK_OP_elu,  WICK_OP_prelu,
                                    WICK_OP_selu,       WICK_OP_gelu, WICK_OP_leaky_relu};
  wick_emit e = wick_emit_begin(n->b, ops[k]);
  if (k != SELU && k != GELU) wick_emit_set_float(&e, "alpha", slope);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

void wick_mxnet_clip(wick_import_node *n)
{
  wick_value in[3] = {n->in[0]};
  in[1] = wick_emit_number(n->b, n->in[0], wick_import_real(n, "a_min", -(double)INFINITY));
  in[2] = wick_emit_number(n->b, n->in[0], wick_import_real(n, "a_max", (double)INFINITY));
  n->out[0] = wick_build(n->b, WICK_OP_clip, 3, in, NULL, 0, NULL);
}

bool wick_mxnet_dtype(wick_import_node *n, wick_elem otherwise, wick_elem *out)
{
  const char *name = wick_import_text(n, "dtype", NULL);
  *out = otherwise;
  if (!name || wick_mxnet_elem_named(name, out)) return true;
  wick_import_fail(n, WICK_EUNSUPPORTED, "the element type %s is not supported",
                   wick_import_shown(n->c, name));
  return false;
}

void wick_mxnet_cast(wick_import_node *n)
{
  wick_elem to;
  if (wick_mxnet_dtype(n, WICK_F32, &to)) n->out[0] = wick_build_cast(n->b, n->in[0], to);
}

void wick_mxnet_where(wick_import_node *n)
{
  wick_value is = wick_build_cast(n->b, n->in[0], WICK_BOOL);
  n->out[0] = wick_build3(n->b, WICK_OP_where, is, n->in[1], n->in[2]);
}

void wick_mxnet_hard_sigmoid(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_hard_sigmoid);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 0.2));
  wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0.5));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Functions that Wick has no operator for. */
void wick_mxnet_composed(wick_import_node *n)
{
  enum { SQUARE, CBRT, RCBRT, LOG10, DEGREES, RADIANS, HYPOT, SMOOTH_L1, SQRT_DIM, NOT, RINT };
  wick_builder *b = n->b;
  wick_value x = n->in[0], y;
  double s = wick_import_real(n, "scalar", 1);
  switch (n->row->arg) {
  case SQUARE: n->out[0] = wick_build2(b, WICK_OP_mul, x, x); break;
  case CBRT:
  case RCBRT:
    y = wick_build1(b, WICK_OP_abs, x);
    y = wick_emit_by(b, WICK_OP_pow, y, n->row->arg == CBRT ? 1.0 / 3 : -1.0 / 3);
    x = wick_build1(b, WICK_OP_sign, x);
    n->out[0] = wick_build2(b, WICK_OP_mul, x, y);
    break;
  case LOG10:
    n->out[0] = wick_emit_by(b, WICK_OP_mul, wick_build1(b, WICK_OP_log, x), 1 / log(10));
    break;
  case DEGREES: n->out[0] = wick_emit_by(b, WICK_OP_mul, x, 57.29577951308232); break;
  case RADIANS: n->out[0] = wick_emit_by(b, WICK_OP_mul, x, 0.017453292519943295); break;
  case HYPOT:
    x = wick_build2(b, WICK_OP_mul, x, x);
    y = wick_build2(b, WICK_OP_mul, n->in[1], n->in[1]);
    n->out[0] = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_add, x, y));
    break;
  case SMOOTH_L1: { /* (s x)^2 / 2 if |x| < 1 / s^2, else |x| - 1 / (2 s^2) */
    wick_value size = wick_build1(b, WICK_OP_abs, x);
    wick_value low = wick_emit_by(b, WICK_OP_lt, size, 1 / (s * s));
    y = wick_build2(b, WICK_OP_mul, x, x);
    y = wick_emit_by(b, WICK_OP_mul, y, s * s / 2);
    size = wick_emit_by(b, WICK_OP_sub, size, 0.5 / (s * s));
    n->out[0] = wick_build3(b, WICK_OP_where, low, y, size);
    break;
  }
  case SQRT_DIM: { /* x / sqrt(its last size) */
    const wick_type_info *t = wick_import_info(n, 0);
    wick_dim last = t->rank ? t->dim[t->rank - 1] : wick_dim_const(1);
    if (!wick_dim_is_const(last))
      wick_import_must_be_known(n, "the last size", last);
    else
      n->out[0] = wick_emit_by(b, WICK_OP_div, x, sqrt((double)last.v));
    break;
  }
  case NOT:
    y = wick_emit_by(b, WICK_OP_eq, x, 0);
    n->out[0] = elementwise_number(n, y);
    break;
  default: n->out[0] = wick_build1(b, WICK_OP_round_even, x); break;
  }
}

/* ---- tensors ---- */

/* A size of 0 is one that MXNet infers from later nodes: it becomes 1, which broadcasts. */
void wick_mxnet_full(wick_import_node *n)
{
  wick_elem elem;
  wick_import_attr shape = wick_import_ints(n, "shape");
  wick_dim dim[WICK_MAX_RANK];
  double value = n->row->arg == 2 ? wick_import_real(n, "value", 0) : n->row->arg;
  if (!wick_mxnet_dtype(n, WICK_F32, &elem)) return;
  if (shape.n > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the rank is %u, the most is %d", shape.n,
                     WICK_MAX_RANK);
    return;
  }
  for (uint32_t k = 0; k < shape.n; k++)
    dim[k] = wick_dim_const(shape.ints[k] > 0 ? shape.ints[k] : 1);
  wick_type type = wick_type_tensor(n->c->module, elem, shape.n, dim);
  n->out[0] = wick_build_const(n->b, type, value, wick_whole_i64(value));
}

void wick_mxnet_like(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_type type = wick_type_tensor(n->c->module, t->elem, t->rank, t->dim);
  double value = n->row->arg == 2 ? wick_import_real(n, "fill_value", 0) : n->row->arg;
  n->out[0] = wick_build_const(n->b, type, value, wick_whole_i64(value));
}

/* start, start + step, ... below stop; as long as the operand along `axis` if there is one. */
void wick_mxnet_arange(wick_import_node *n)
{
  double start = wick_import_real(n, "start", 0), step = wick_import_real(n, "step", 1);
  wick_elem elem;
  uint32_t axis;
  wick_dim count;
  if (!wick_mxnet_dtype(n, WICK_F32, &elem)) return;
  if (n->nin) {
    const wick_type_info *t = wick_import_info(n, 0);
    if (!wick_mxnet_axis(n, "axis", 0, t->rank, &axis)) return;
    count = t->dim[axis];
  } else {
    bool ends = wick_import_attr_has(n, "stop");
    double stop = ends ? wick_import_real(n, "stop", 0) : start, size;
    if (!ends) start = 0;
    size = ceil((stop - start) / step);
    if (!(size >= 0 && size < 1e9)) {
      wick_import_fail(n, WICK_ERANGE, "it has %g elements", size);
      return;
    }
    count = wick_dim_const((int64_t)size);
  }
  wick_value y = wick_build_cast(n->b, wick_emit_count(n->b, count), elem);
  y = wick_emit_by(n->b, WICK_OP_mul, y, step);
  n->out[0] = wick_emit_by(n->b, WICK_OP_add, y, start);
}
