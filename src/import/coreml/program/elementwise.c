/* Operations on each element: arithmetic, comparisons, activations, conversions. */
#include <string.h>

#include "import/coreml/program/ops.h"

/* ---- what all files share ---- */

wick_value wick_mil_widened(wick_import_node *n, wick_opcode op, wick_value x)
{
  if (n->b->status || !x.id) return x;
  wick_elem e = wick_mil_info(n, x)->elem;
  wick_value y = wick_build1(n->b, op, wick_emit_widen(n->b, op, x));
  return n->b->status || wick_mil_info(n, y)->elem == e ? y : wick_build_cast(n->b, y, e);
}

bool wick_mil_axes(wick_import_node *n, const char *name, uint32_t rank, uint32_t *out_n,
                   int64_t *out)
{
  wick_import_attr a = wick_import_ints(n, name);
  uint32_t at;
  bool seen[WICK_MAX_RANK] = {false};
  *out_n = 0;
  if (!wick_import_attr_has(n, name)) {
    for (uint32_t k = 0; k < rank; k++) out[(*out_n)++] = k;
    return true;
  }
  for (uint32_t k = 0; k < a.n; k++) {
    if (!wick_import_axis(n, a.ints[k], rank, &at)) return false;
    if (seen[at]) continue;
    seen[at] = true;
    out[(*out_n)++] = at;
  }
  return true;
}

bool wick_mil_list_of(wick_import_node *n, const char *name, uint32_t count, int64_t otherwise,
                      int64_t *out)
{
  wick_import_attr a = wick_import_ints(n, name);
  bool given = wick_import_attr_has(n, name);
  if (given && a.n != count) {
    wick_import_fail(n, WICK_ETYPE, "%s has %u numbers, expected %u", name, a.n, count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) out[k] = given ? a.ints[k] : otherwise;
  return true;
}

bool wick_mil_dtype_of(wick_import_node *n, const char *name, wick_elem otherwise, wick_elem *out)
{
  static const struct {
    const char *word;
    wick_elem elem;
  } row[] = {{"fp16", WICK_F16},   {"fp32", WICK_F32},  {"fp64", WICK_F64},   {"bf16", WICK_BF16},
             {"int8", WICK_I8},    {"int16", WICK_I16}, {"int32", WICK_I32},  {"int64", WICK_I64},
             {"int", WICK_I32},    {"uint8", WICK_U8},  {"uint16", WICK_U16}, {"uint32", WICK_U32},
             {"uint64", WICK_U64}, {"bool", WICK_BOOL}, {"float", WICK_F32},  {"int4", WICK_I8},
             {"uint4", WICK_U8}};
  const char *text = wick_import_text(n, name, NULL);
  *out = otherwise;
  if (!text) return true;
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (strcmp(row[i].word, text) == 0) {
      *out = row[i].elem;
      return true;
    }
  wick_import_fail(n, WICK_EUNSUPPORTED, "elements of type %s are not supported",
                   wick_import_shown(n->c, text));
  return false;
}

/* ---- one operand ---- */

void wick_mil_import_identity(wick_import_node *n)
{
  const wick_mil_arg *a = wick_mil_arg_find(n, "x");
  if (a && a->n && n->nout) wick_mil_op_of(n)->out[0] = a->item[0];
}

void wick_mil_import_const(wick_import_node *n)
{
  const wick_mil_arg *a = wick_mil_arg_find(n, "val");
  if (a && a->n && n->nout) wick_mil_op_of(n)->out[0] = a->item[0];
}

void wick_mil_import_unary(wick_import_node *n)
{
  n->out[0] = wick_mil_widened(n, n->row->op, n->in[0]);
}

void wick_mil_import_square(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_mul, n->in[0], n->in[0]);
}

void wick_mil_import_cast(wick_import_node *n)
{
  wick_elem e;
  if (wick_mil_dtype_of(n, n->row->arg ? "output_dtype" : "dtype", WICK_F32, &e))
    n->out[0] = wick_build_cast(n->b, n->in[0], e);
}

/* op(x + epsilon) */
void wick_mil_import_epsilon(wick_import_node *n)
{
  static const double otherwise[] = {1e-45, 1e-12, 1e-4}; /* log, rsqrt, inverse */
  double epsilon = wick_import_real(n, "epsilon", otherwise[n->row->arg]);
  n->out[0] = wick_mil_widened(n, n->row->op, wick_emit_by(n->b, WICK_OP_add, n->in[0], epsilon));
}

/* ---- two operands ---- */

/* Gives both operands the wider of their types, as coremltools does when it builds programs. */
static bool elementwise_pair(wick_import_node *n, wick_value *x, wick_value *y)
{
  wick_elem a = wick_mil_info(n, *x)->elem, b = wick_mil_info(n, *y)->elem;
  static const wick_elem order[] = {WICK_BOOL, WICK_U8,  WICK_I8,  WICK_U16, WICK_I16, WICK_U32,
                                    WICK_I32,  WICK_U64, WICK_I64, WICK_F16, WICK_F32, WICK_F64};
  uint32_t i = 0, k = 0;
  if (a == b) return true;
  for (uint32_t at = 0; at < WICK_COUNT(order); at++) {
    if (order[at] == a) i = at;
    if (order[at] == b) k = at;
  }
  if (i < k)
    *x = wick_build_cast(n->b, *x, b);
  else
    *y = wick_build_cast(n->b, *y, a);
  return !n->b->status;
}

void wick_mil_import_binary(wick_import_node *n)
{
  wick_value x = n->in[0], y = n->in[1];
  if (elementwise_pair(n, &x, &y)) n->out[0] = wick_build2(n->b, n->row->op, x, y);
}

/* Rounds towards minus infinity. The quotient of narrow floats is not rounded before. */
void wick_mil_import_floor_div(wick_import_node *n)
{
  wick_value x = n->in[0], y = n->in[1];
  if (!elementwise_pair(n, &x, &y)) return;
  wick_elem e = wick_mil_info(n, x)->elem;
  if (!wick_elem_is_float(e)) {
    wick_value rest = wick_build2(n->b, WICK_OP_mod, x, y);
    wick_value whole = wick_build2(n->b, WICK_OP_sub, x, rest);
    n->out[0] = wick_build2(n->b, WICK_OP_div, whole, y);
    return;
  }
  wick_elem wide = e == WICK_F64 ? e : WICK_F32;
  x = wick_build_cast(n->b, x, wide);
  y = wick_build_cast(n->b, y, wide);
  wick_value q = wick_build2(n->b, WICK_OP_div, x, y);
  n->out[0] = wick_build_cast(n->b, wick_build1(n->b, WICK_OP_floor, q), e);
}

void wick_mil_import_select(wick_import_node *n) /* cond, a, b */
{
  wick_value a = n->in[1], b = n->in[2];
  wick_value cond = wick_build_cast(n->b, n->in[0], WICK_BOOL);
  if (elementwise_pair(n, &a, &b)) n->out[0] = wick_build3(n->b, WICK_OP_where, cond, a, b);
}

/* ---- activations ---- */

void wick_mil_import_clip(wick_import_node *n) /* arg: 0 clip, 1 relu6, 2 threshold */
{
  bool six = n->row->arg == 1;
  double low = six ? 0 : wick_import_real(n, "alpha", 0),
         high = six ? 6 : wick_import_real(n, "beta", 0);
  wick_value y = n->in[0];
  y = wick_emit_by(n->b, WICK_OP_max, y, low);
  n->out[0] = n->row->arg == 2 ? y : wick_emit_by(n->b, WICK_OP_min, y, high);
}

void wick_mil_import_gelu(wick_import_node *n)
{
  int mode = wick_import_word(n, "mode", "EXACT TANH_APPROXIMATION SIGMOID_APPROXIMATION");
  wick_emit e = wick_emit_begin(n->b, mode == 2 ? WICK_OP_swish : WICK_OP_gelu);
  if (mode == 2)
    wick_emit_set_float(&e, "alpha", 1.702);
  else
    wick_emit_set_int(&e, "approximate", mode);
  if (!n->failed) n->out[0] = wick_emit_end1(&e, n->in[0]);
}

static wick_value elementwise_with(wick_import_node *n, wick_opcode op, double alpha)
{
  wick_emit e = wick_emit_begin(n->b, op);
  wick_emit_set_float(&e, "alpha", alpha);
  return wick_emit_end1(&e, n->in[0]);
}

typedef enum elementwise_activation {
  ELEMENTWISE_ELU,
  ELEMENTWISE_LEAKY,
  ELEMENTWISE_LINEAR,
  ELEMENTWISE_SCALED_TANH,
  ELEMENTWISE_HARD_SIGMOID,
  ELEMENTWISE_CLAMPED_RELU,
  ELEMENTWISE_THRESHOLDED
} elementwise_activation;

/* min(x, beta) where x >= 0, else min(alpha x, beta) */
static wick_value elementwise_clamped(wick_import_node *n, double alpha, double beta)
{
  return wick_emit_by(n->b, WICK_OP_min, elementwise_with(n, WICK_OP_leaky_relu, alpha), beta);
}

void wick_mil_import_activation(wick_import_node *n) /* arg: elementwise_activation */
{
  wick_builder *b = n->b;
  double alpha = wick_import_real(n, "alpha", 1), beta = wick_import_real(n, "beta", 1);
  wick_value x = n->in[0], y = {0};
  switch ((elementwise_activation)n->row->arg) {
  case ELEMENTWISE_ELU: y = elementwise_with(n, WICK_OP_elu, alpha); break;
  case ELEMENTWISE_LEAKY: y = elementwise_with(n, WICK_OP_leaky_relu, alpha); break;
  case ELEMENTWISE_LINEAR:
    y = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, x, alpha), beta);
    break;
  case ELEMENTWISE_SCALED_TANH:
    y = wick_build1(b, WICK_OP_tanh, wick_emit_by(b, WICK_OP_mul, x, beta));
    y = wick_emit_by(b, WICK_OP_mul, y, alpha);
    break;
  case ELEMENTWISE_HARD_SIGMOID: {
    wick_emit e = wick_emit_begin(b, WICK_OP_hard_sigmoid);
    wick_emit_set_float(&e, "alpha", alpha);
    wick_emit_set_float(&e, "beta", beta);
    y = wick_emit_end1(&e, x);
    break;
  }
  case ELEMENTWISE_CLAMPED_RELU: y = elementwise_clamped(n, alpha, beta); break;
  case ELEMENTWISE_THRESHOLDED: {
    wick_value above = wick_emit_by(b, WICK_OP_ge, x, alpha);
    y = wick_build3(b, WICK_OP_where, above, x, wick_emit_number(b, x, 0));
    break;
  }
  }
  n->out[0] = y;
}

/* A vector of channels, shaped to broadcast with x [N, C, ...]. */
static wick_value elementwise_channels(wick_import_node *n, wick_value v)
{
  const wick_type_info *x = wick_import_info(n, 0), *t = wick_mil_info(n, v);
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank != 1 || x->rank < 2) return v;
  for (uint32_t k = 0; k + 1 < x->rank; k++) dim[k] = wick_dim_const(1);
  dim[0] = t->dim[0];
  return wick_build_reshape(n->b, v, x->rank - 1, dim);
}

void wick_mil_import_prelu(wick_import_node *n) /* x, alpha */
{
  n->out[0] = wick_build2(n->b, WICK_OP_prelu, n->in[0], elementwise_channels(n, n->in[1]));
}

void wick_mil_import_softplus_parametric(wick_import_node *n) /* x, alpha, beta */
{
  wick_value alpha = elementwise_channels(n, n->in[1]), beta = elementwise_channels(n, n->in[2]);
  wick_value y = wick_build2(n->b, WICK_OP_mul, n->in[0], beta);
  n->out[0] = wick_build2(n->b, WICK_OP_mul, wick_build1(n->b, WICK_OP_softplus, y), alpha);
}

void wick_mil_import_softmax(wick_import_node *n)
{
  uint32_t at;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_softmax);
  if (!wick_import_axis(n, wick_import_int(n, "axis", -1), wick_import_info(n, 0)->rank, &at))
    return;
  wick_emit_set_int(&e, "axis", at);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* ---- filled tensors ---- */

static wick_value elementwise_zero(wick_import_node *n)
{
  return wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL), 0, 0);
}

void wick_mil_import_fill(wick_import_node *n) /* shape, value */
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 0, "the shape", &rank, &dim)) return;
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
    return;
  }
  n->out[0] = wick_emit_expand(n->b, n->in[1].id ? n->in[1] : elementwise_zero(n), rank, dim);
}

void wick_mil_import_fill_like(wick_import_node *n) /* ref_tensor, value */
{
  const wick_type_info *t = wick_import_info(n, 0);
  n->out[0] = wick_emit_expand(n->b, n->in[1].id ? n->in[1] : elementwise_zero(n), t->rank, t->dim);
}
