/* Activations: the element-wise functions of layers and of keras.ops. */
#include <string.h>

#include "import/keras/model.h"

typedef struct activation_call {
  wick_import_node *n;
  const wick_json *config; /* of a layer or an operation; NULL: a name alone */
  wick_value x;
} activation_call;

static double activation_real(const activation_call *a, const char *name, double otherwise)
{
  double d;
  return wick_json_double(wick_json_member(a->config, name), &d) ? d : otherwise;
}

static bool activation_second(const activation_call *a)
{
  return ((keras_model *)a->n->c->model)->second;
}

static wick_value activation_emit(const activation_call *a, wick_opcode op, const char *name,
                                  double value)
{
  wick_emit e = wick_emit_begin(a->n->b, op);
  wick_emit_set_float(&e, name, value);
  return wick_emit_end1(&e, a->x);
}

static wick_value activation_clip(const activation_call *a, wick_value x, double lo, double hi)
{
  wick_value least = wick_emit_number(a->n->b, x, lo);
  wick_value most = wick_emit_number(a->n->b, x, hi);
  return wick_build3(a->n->b, WICK_OP_clip, x, least, most);
}

static wick_value activation_linear(const activation_call *a) { return a->x; }

/* max(x, 0) up to a largest value, with a slope below a threshold. */
static wick_value activation_relu(const activation_call *a)
{
  wick_builder *b = a->n->b;
  double slope = activation_real(a, "negative_slope", 0), most = 0;
  double threshold = activation_real(a, "threshold", 0);
  bool limited = wick_json_double(wick_json_member(a->config, "max_value"), &most);
  wick_value y;
  if (threshold == 0) {
    y = slope == 0 ? wick_build1(b, WICK_OP_relu, a->x)
                   : activation_emit(a, WICK_OP_leaky_relu, "alpha", slope);
    return limited ? wick_emit_by(b, WICK_OP_min, y, most) : y;
  }
  wick_value above = wick_emit_by(b, WICK_OP_ge, a->x, threshold);
  wick_value shifted = wick_emit_by(b, WICK_OP_sub, a->x, threshold);
  wick_value below = wick_emit_by(b, WICK_OP_mul, shifted, slope);
  y = wick_build3(b, WICK_OP_where, above, a->x, below);
  return limited ? wick_emit_by(b, WICK_OP_min, y, most) : y;
}

static wick_value activation_relu6(const activation_call *a)
{
  return activation_clip(a, a->x, 0, 6);
}
static wick_value activation_leaky(const activation_call *a)
{
  double slope = activation_real(a, "negative_slope", activation_real(a, "alpha", 0.2));
  return activation_emit(a, WICK_OP_leaky_relu, "alpha", slope);
}
static wick_value activation_elu(const activation_call *a)
{
  return activation_emit(a, WICK_OP_elu, "alpha", activation_real(a, "alpha", 1));
}
static wick_value activation_celu(const activation_call *a)
{
  return activation_emit(a, WICK_OP_celu, "alpha", activation_real(a, "alpha", 1));
}
static wick_value activation_selu(const activation_call *a)
{
  wick_emit e = wick_emit_begin(a->n->b, WICK_OP_selu);
  wick_emit_set_float(&e, "alpha", 1.6732632423543772);
  wick_emit_set_float(&e, "gamma", 1.0507009873554805);
  return wick_emit_end1(&e, a->x);
}
static wick_value activation_gelu(const activation_call *a)
{
  const wick_json *j = wick_json_member(a->config, "approximate");
  wick_emit e = wick_emit_begin(a->n->b, WICK_OP_gelu);
  wick_emit_set_int(&e, "approximate", j && j->kind == WICK_JSON_TRUE);
  return wick_emit_end1(&e, a->x);
}
static wick_value activation_swish(const activation_call *a)
{
  return activation_emit(a, WICK_OP_swish, "alpha", 1);
}
/* Keras 3: relu6(x + 3) / 6; Keras 2: clip(0.2 x + 0.5). */
static wick_value activation_hard_sigmoid(const activation_call *a)
{
  wick_emit e = wick_emit_begin(a->n->b, WICK_OP_hard_sigmoid);
  wick_emit_set_float(&e, "alpha", activation_second(a) ? 0.2 : 1.0 / 6);
  wick_emit_set_float(&e, "beta", 0.5);
  return wick_emit_end1(&e, a->x);
}
static wick_value activation_hard_silu(const activation_call *a)
{
  return wick_build1(a->n->b, WICK_OP_hard_swish, a->x);
}
static wick_value activation_log_sigmoid(const activation_call *a)
{
  wick_builder *b = a->n->b;
  wick_value minus = wick_build1(b, WICK_OP_neg, a->x);
  return wick_build1(b, WICK_OP_neg, wick_build1(b, WICK_OP_softplus, minus));
}
static wick_value activation_tanh_shrink(const activation_call *a)
{
  return wick_build2(a->n->b, WICK_OP_sub, a->x, wick_build1(a->n->b, WICK_OP_tanh, a->x));
}
static wick_value activation_hard_tanh(const activation_call *a)
{
  return activation_clip(a, a->x, -1, 1);
}
static wick_value activation_shrink(const activation_call *a, bool hard)
{
  double by = activation_real(a, "threshold", 0.5);
  wick_emit e = wick_emit_begin(a->n->b, WICK_OP_shrink);
  wick_emit_set_float(&e, "lambd", by);
  wick_emit_set_float(&e, "bias", hard ? 0 : by);
  return wick_emit_end1(&e, a->x);
}
static wick_value activation_hard_shrink(const activation_call *a)
{
  return activation_shrink(a, true);
}
static wick_value activation_soft_shrink(const activation_call *a)
{
  return activation_shrink(a, false);
}
static wick_value activation_threshold(const activation_call *a)
{
  wick_builder *b = a->n->b;
  wick_value above = wick_emit_by(b, WICK_OP_gt, a->x, activation_real(a, "threshold", 0));
  wick_value other = wick_emit_number(b, a->x, activation_real(a, "default_value", 0));
  return wick_build3(b, WICK_OP_where, above, a->x, other);
}
static wick_value activation_squareplus(const activation_call *a)
{
  wick_builder *b = a->n->b;
  wick_value square = wick_build2(b, WICK_OP_mul, a->x, a->x);
  square = wick_emit_by(b, WICK_OP_add, square, activation_real(a, "b", 4));
  wick_value sum = wick_build2(b, WICK_OP_add, a->x, wick_build1(b, WICK_OP_sqrt, square));
  return wick_emit_by(b, WICK_OP_mul, sum, 0.5);
}
/* 0 below -1, x above 1, (x + 1)^2 / 4 between. */
static wick_value activation_sparse_plus(const activation_call *a)
{
  wick_builder *b = a->n->b;
  wick_value up = wick_emit_by(b, WICK_OP_add, a->x, 1);
  wick_value square = wick_build2(b, WICK_OP_mul, up, up);
  wick_value middle = wick_emit_by(b, WICK_OP_mul, square, 0.25);
  wick_value low = wick_emit_by(b, WICK_OP_le, a->x, -1);
  wick_value high = wick_emit_by(b, WICK_OP_lt, a->x, 1);
  wick_value zero = wick_emit_number(b, a->x, 0);
  wick_value inner = wick_build3(b, WICK_OP_where, high, middle, a->x);
  return wick_build3(b, WICK_OP_where, low, zero, inner);
}
static wick_value activation_sparse_sigmoid(const activation_call *a)
{
  wick_builder *b = a->n->b;
  wick_value half = wick_emit_by(b, WICK_OP_mul, a->x, 0.5);
  return activation_clip(a, wick_emit_by(b, WICK_OP_add, half, 0.5), 0, 1);
}
static uint32_t activation_axis(const activation_call *a)
{
  int64_t axis = -1;
  uint32_t out = 0;
  (void)wick_json_int(wick_json_member(a->config, "axis"), &axis);
  (void)wick_import_axis(a->n, axis, keras_rank(a->n, a->x), &out);
  return out;
}
static wick_value activation_along(const activation_call *a, wick_opcode op)
{
  wick_emit e = wick_emit_begin(a->n->b, op);
  wick_emit_set_int(&e, "axis", activation_axis(a));
  return wick_emit_end1(&e, a->x);
}
static wick_value activation_softmax(const activation_call *a)
{
  return activation_along(a, WICK_OP_softmax);
}
static wick_value activation_log_softmax(const activation_call *a)
{
  return activation_along(a, WICK_OP_log_softmax);
}
static wick_value activation_glu(const activation_call *a)
{
  wick_builder *b = a->n->b;
  uint32_t axis = activation_axis(a);
  wick_dims *t = b->module->dims;
  wick_dim size = keras_dims(a->n, a->x)[axis];
  wick_dim half = wick_dim_floordiv(t, size, wick_dim_const(2));
  wick_value left = wick_emit_slice(b, a->x, axis, wick_dim_const(0), half);
  wick_value right = wick_emit_slice(b, a->x, axis, half, half);
  return wick_build2(b, WICK_OP_mul, left, wick_build1(b, WICK_OP_sigmoid, right));
}

/* max(x - tau, 0), where tau follows from the sorted x and its running sums. For the projection onto
 * the simplex (Martins and Astudillo 2016, arXiv:1602.02068) tau would be the last running sum of
 * the support; Keras adds up all of them, and so does this. */
static wick_value activation_sparsemax(const activation_call *a)
{
  wick_builder *b = a->n->b;
  uint32_t axis = activation_axis(a), rank = keras_rank(a->n, a->x);
  wick_dim size = keras_dims(a->n, a->x)[axis];
  if (!wick_dim_is_const(size)) {
    wick_import_fail(a->n, WICK_EUNSUPPORTED, "sparsemax along a dynamic size is not supported");
    return a->x;
  }
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &size);
  wick_value sorted = wick_emit_end1(&e, a->x);
  wick_emit sums = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&sums, "axis", axis);
  wick_value sum = wick_emit_end1(&sums, sorted);
  wick_value count = wick_emit_count_along(b, size, axis, rank);
  count = wick_emit_by(b, WICK_OP_add, wick_build_cast(b, count, keras_elem_of(a->n, a->x)), 1);
  wick_value scaled = wick_build2(b, WICK_OP_mul, sorted, count);
  wick_value bound = wick_emit_by(b, WICK_OP_add, scaled, 1);
  wick_value in = wick_build2(b, WICK_OP_gt, bound, sum);
  wick_value ones = wick_build_cast(b, in, keras_elem_of(a->n, a->x));
  wick_value k = wick_emit_reduce1(b, WICK_OP_reduce_sum, ones, axis, true);
  wick_value support = wick_build2(b, WICK_OP_mul, sum, ones);
  wick_value total = wick_emit_reduce1(b, WICK_OP_reduce_sum, support, axis, true);
  total = wick_emit_by(b, WICK_OP_sub, total, 1);
  wick_value tau = wick_build2(b, WICK_OP_div, total, k);
  return wick_build1(b, WICK_OP_relu, wick_build2(b, WICK_OP_sub, a->x, tau));
}

typedef struct activation_row {
  const char *name, *class; /* of the function; of the layer or the operation */
  wick_opcode op;           /* an operator of one operand; `const`: none */
  wick_value (*build)(const activation_call *a);
} activation_row;

static const activation_row activation_rows[] = {
    {"linear", "Identity", WICK_OP_const, activation_linear},
    {"relu", "Relu", WICK_OP_const, activation_relu},
    {"relu", "ReLU", WICK_OP_const, activation_relu},
    {"relu6", "Relu6", WICK_OP_const, activation_relu6},
    {"leaky_relu", "LeakyRelu", WICK_OP_const, activation_leaky},
    {"leaky_relu", "LeakyReLU", WICK_OP_const, activation_leaky},
    {"elu", "Elu", WICK_OP_const, activation_elu},
    {"elu", "ELU", WICK_OP_const, activation_elu},
    {"celu", "Celu", WICK_OP_const, activation_celu},
    {"selu", "Selu", WICK_OP_const, activation_selu},
    {"gelu", "Gelu", WICK_OP_const, activation_gelu},
    {"silu", "Silu", WICK_OP_const, activation_swish},
    {"swish", "Swish", WICK_OP_const, activation_swish},
    {"mish", "Mish", WICK_OP_mish, NULL},
    {"sigmoid", "Sigmoid", WICK_OP_sigmoid, NULL},
    {"tanh", "Tanh", WICK_OP_tanh, NULL},
    {"softplus", "Softplus", WICK_OP_softplus, NULL},
    {"softsign", "Softsign", WICK_OP_softsign, NULL},
    {"exponential", "Exp", WICK_OP_exp, NULL},
    {"hard_sigmoid", "HardSigmoid", WICK_OP_const, activation_hard_sigmoid},
    {"hard_silu", "HardSilu", WICK_OP_const, activation_hard_silu},
    {"hard_swish", "HardSwish", WICK_OP_const, activation_hard_silu},
    {"log_sigmoid", "LogSigmoid", WICK_OP_const, activation_log_sigmoid},
    {"tanh_shrink", "TanhShrink", WICK_OP_const, activation_tanh_shrink},
    {"hard_tanh", "HardTanh", WICK_OP_const, activation_hard_tanh},
    {"hard_shrink", "HardShrink", WICK_OP_const, activation_hard_shrink},
    {"soft_shrink", "SoftShrink", WICK_OP_const, activation_soft_shrink},
    {"threshold", "Threshold", WICK_OP_const, activation_threshold},
    {"squareplus", "Squareplus", WICK_OP_const, activation_squareplus},
    {"sparse_plus", "SparsePlus", WICK_OP_const, activation_sparse_plus},
    {"sparse_sigmoid", "SparseSigmoid", WICK_OP_const, activation_sparse_sigmoid},
    {"softmax", "Softmax", WICK_OP_const, activation_softmax},
    {"log_softmax", "LogSoftmax", WICK_OP_const, activation_log_softmax},
    {"glu", "Glu", WICK_OP_const, activation_glu},
    {"sparsemax", "Sparsemax", WICK_OP_const, activation_sparsemax},
};

wick_value keras_activate_named(wick_import_node *n, const char *name, const wick_json *config,
                                wick_value x)
{
  activation_call a = {n, config, x};
  for (size_t i = 0; x.id && i < WICK_COUNT(activation_rows); i++) {
    const activation_row *r = &activation_rows[i];
    if (strcmp(r->name, name) == 0 || strcmp(r->class, name) == 0)
      return r->build ? r->build(&a) : wick_build1(n->b, r->op, x);
  }
  if (x.id)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the activation \"%s\" is not supported",
                     wick_import_shown(n->c, name));
  return x;
}

wick_value keras_activate(wick_import_node *n, const wick_json *j, wick_value x)
{
  wick_import *c = n->c;
  if (!j || j->kind == WICK_JSON_NULL) return x;
  const char *name = keras_text(c, j, NULL);
  if (name) return keras_activate_named(n, name, NULL, x);
  const wick_json *config = wick_json_member(j, "config");
  name = keras_text(c, config, NULL); /* a function, by its name */
  if (name) return keras_activate_named(n, name, NULL, x);
  const char *own = keras_text(c, wick_json_member(j, "registered_name"), NULL);
  name = keras_text(c, wick_json_member(j, "class_name"), "?");
  if (own && strchr(own, '>')) name = own;
  return keras_activate_named(n, name, config, x);
}
