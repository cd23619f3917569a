/* Element-wise operators, reductions and products. */
#include <math.h>
#include <string.h>

#include "import/tensorflow/ops.h"

/* Builds a node on an operand of a type that the operator takes, and converts the result back. */
wick_value wick_tf_widened(wick_import_node *n, wick_opcode op, wick_value x)
{
  if (n->b->status || !x.id) return (wick_value){0};
  wick_elem e = wick_built_info(n->b, x)->elem;
  wick_value wide = wick_emit_widen(n->b, op, x), y = wick_build1(n->b, op, wide);
  return wide.id == x.id || n->b->status ? y : wick_build_cast(n->b, y, e);
}

void wick_tf_import_unary(wick_import_node *n)
{
  n->out[0] = wick_tf_widened(n, n->row->op, n->in[0]);
}

/* isnan and the like, whose results are bools */
void wick_tf_import_is(wick_import_node *n)
{
  wick_value x = n->in[0];
  n->out[0] = wick_build1(n->b, n->row->op, wick_emit_widen(n->b, n->row->op, x));
}

void wick_tf_import_is_finite(wick_import_node *n)
{
  wick_value x = wick_emit_widen(n->b, WICK_OP_isnan, n->in[0]);
  wick_value nan = wick_build1(n->b, WICK_OP_isnan, x), inf = wick_build1(n->b, WICK_OP_isinf, x);
  n->out[0] = wick_build1(n->b, WICK_OP_not, wick_build2(n->b, WICK_OP_or, nan, inf));
}

void wick_tf_import_binary(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, n->row->op, n->in[0], n->in[1]);
}

/* Comparisons of bools are those of the numbers 0 and 1. */
void wick_tf_import_compare(wick_import_node *n)
{
  wick_value x = n->in[0], y = n->in[1];
  if (wick_import_info(n, 0)->elem == WICK_BOOL &&
      !(wick_ops[n->row->op]->elems & WICK_BIT(WICK_BOOL)))
    x = wick_build_cast(n->b, x, WICK_U8), y = wick_build_cast(n->b, y, WICK_U8);
  n->out[0] = wick_build2(n->b, n->row->op, x, y);
}

void wick_tf_import_div(wick_import_node *n) /* floats divide, integers truncate */
{
  n->out[0] = wick_build2(n->b, WICK_OP_div, n->in[0], n->in[1]);
}

static bool math_is_int(const wick_import_node *n)
{
  return wick_elem_is_int(wick_import_info(n, 0)->elem);
}

void wick_tf_import_floor_div(wick_import_node *n)
{
  wick_value x = n->in[0], y = n->in[1];
  if (!math_is_int(n)) {
    n->out[0] = wick_build1(n->b, WICK_OP_floor, wick_build2(n->b, WICK_OP_div, x, y));
    return;
  }
  n->out[0] = wick_emit_floor_div(n->b, x, y);
}

void wick_tf_import_square(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_mul, n->in[0], n->in[0]);
}

void wick_tf_import_squared_difference(wick_import_node *n)
{
  wick_value d = wick_build2(n->b, WICK_OP_sub, n->in[0], n->in[1]);
  n->out[0] = wick_build2(n->b, WICK_OP_mul, d, d);
}

/* x / y and x * y, or 0 where y is 0. arg: a division */
void wick_tf_import_no_nan(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = n->in[0], y = n->in[1], none = wick_emit_number(b, y, 0);
  wick_value is = wick_build2(b, WICK_OP_eq, y, none);
  wick_value safe =
      n->row->arg ? wick_build3(b, WICK_OP_where, is, wick_emit_number(b, y, 1), y) : y;
  wick_value z = wick_build2(b, n->row->arg ? WICK_OP_div : WICK_OP_mul, x, safe);
  n->out[0] = wick_build3(b, WICK_OP_where, is, wick_emit_number(b, x, 0), z);
}

/* x * log y, x * log(1 + y), x / y, or 0 where x is 0 */
void wick_tf_import_xlog(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = n->in[0], y = n->in[1], none = wick_emit_number(b, x, 0), z;
  wick_value is = wick_build2(b, WICK_OP_eq, x, none);
  if (n->row->op == WICK_OP_div)
    z = wick_build2(b, WICK_OP_div, x, y);
  else
    z = wick_build2(b, WICK_OP_mul, x, wick_tf_widened(n, n->row->op, y));
  n->out[0] = wick_build3(b, WICK_OP_where, is, none, z);
}

void wick_tf_import_atan2(wick_import_node *n)
{
  n->out[0] = wick_emit_atan2(n->b, n->in[0], n->in[1]);
}

void wick_tf_import_erfc(wick_import_node *n)
{
  wick_value one = wick_emit_number(n->b, n->in[0], 1);
  n->out[0] = wick_build2(n->b, WICK_OP_sub, one, wick_tf_widened(n, WICK_OP_erf, n->in[0]));
}

void wick_tf_import_relu6(wick_import_node *n)
{
  wick_value low = wick_emit_number(n->b, n->in[0], 0), high = wick_emit_number(n->b, n->in[0], 6);
  n->out[0] = wick_build3(n->b, WICK_OP_clip, n->in[0], low, high);
}

void wick_tf_import_leaky_relu(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_leaky_relu);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", (double)0.2f));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

void wick_tf_import_clip(wick_import_node *n)
{
  wick_value low = wick_build2(n->b, WICK_OP_max, n->in[0], n->in[1]);
  n->out[0] = wick_build2(n->b, WICK_OP_min, low, n->in[2]);
}

void wick_tf_import_add_n(wick_import_node *n)
{
  n->out[0] = n->in[0];
  for (uint32_t i = 1; i < n->nin; i++)
    n->out[0] = wick_build2(n->b, WICK_OP_add, n->out[0], n->in[i]);
}

void wick_tf_import_cast(wick_import_node *n)
{
  wick_elem e;
  if (wick_tf_complex_cast(n) || !wick_tf_attr_elem(n, "DstT", &e)) return;
  if ((e == WICK_STRING) != (wick_import_info(n, 0)->elem == WICK_STRING))
    wick_import_fail(n, WICK_EUNSUPPORTED, "strings cannot be cast");
  else
    n->out[0] = wick_build_cast(n->b, n->in[0], e);
}

void wick_tf_import_bitcast(wick_import_node *n)
{
  wick_elem e, from = wick_import_info(n, 0)->elem;
  if (!wick_tf_attr_elem(n, "type", &e)) return;
  if (wick_elem_storage[e].bits != wick_elem_storage[from].bits) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "%s and %s have different sizes", wick_elem_name(from),
                     wick_elem_name(e));
    return;
  }
  wick_type want = wick_type_with_elem(n->c->module, wick_built_type(n->b, n->in[0]), e);
  n->out[0] = wick_build(n->b, WICK_OP_bitcast, 1, n->in, NULL, 1, &want);
}

void wick_tf_import_cumulate(wick_import_node *n) /* x, axis */
{
  int64_t axis;
  uint32_t at;
  if (!wick_import_one(n, 1, "the axis", 0, &axis) ||
      !wick_import_axis(n, axis, wick_import_info(n, 0)->rank, &at))
    return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", at);
  wick_emit_set_int(&e, "exclusive", wick_import_int(n, "exclusive", 0));
  wick_emit_set_int(&e, "reverse", wick_import_int(n, "reverse", 0));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* ---- choices ---- */

void wick_tf_import_select(wick_import_node *n) /* arg: the condition of rank 1 chooses rows */
{
  wick_value cond = n->in[0];
  const wick_type_info *c = wick_import_info(n, 0), *x = wick_import_info(n, 1);
  if (n->row->arg && c->rank == 1 && x->rank > 1) {
    wick_dim dim[WICK_MAX_RANK];
    for (uint32_t k = 0; k < x->rank; k++) dim[k] = k ? wick_dim_const(1) : c->dim[0];
    cond = wick_build_reshape(n->b, cond, x->rank, dim);
  }
  n->out[0] = wick_build3(n->b, WICK_OP_where, cond, n->in[1], n->in[2]);
}

/* ---- reductions ---- */

/* The axes of operand i, from 0, each once. False after a failure. */
static bool math_axes(wick_import_node *n, uint32_t i, uint32_t rank, uint32_t *out_n, int64_t *out)
{
  uint32_t count;
  const int64_t *axes;
  *out_n = 0;
  if (!wick_import_numbers(n, i, "the axes", &count, &axes)) return false;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t at, j = 0;
    if (!wick_import_axis(n, axes[k], rank, &at)) return false;
    while (j < *out_n && out[j] != (int64_t)at) j++;
    if (j < *out_n) {
      wick_import_fail(n, WICK_ETYPE, "the axis %lld occurs twice", (long long)axes[k]);
      return false;
    }
    out[(*out_n)++] = at;
  }
  return true;
}

void wick_tf_import_reduce(wick_import_node *n) /* x, axes */
{
  int64_t axes[WICK_MAX_RANK];
  uint32_t count;
  wick_value x = n->in[0];
  const wick_type_info *t = wick_import_info(n, 0);
  if (!math_axes(n, 1, t->rank, &count, axes)) return;
  if (!count) { /* no axis: x itself */
    n->out[0] = n->row->op == WICK_OP_reduce_l2 ? wick_build1(n->b, WICK_OP_abs, x) : x;
    return;
  }
  wick_elem e = t->elem;
  if (e != WICK_BOOL) x = wick_emit_widen(n->b, n->row->op, x);
  wick_value y =
      wick_emit_reduce(n->b, n->row->op, x, count, axes, wick_import_int(n, "keep_dims", 0) != 0);
  n->out[0] = n->b->status ? y : wick_build_cast(n->b, y, e);
}

void wick_tf_import_arg(wick_import_node *n) /* x, axis */
{
  int64_t axis;
  uint32_t at;
  wick_elem e;
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_one(n, 1, "the axis", 0, &axis) || !wick_import_axis(n, axis, t->rank, &at))
    return;
  if (!wick_tf_attr_elem_or(n, "output_type", WICK_I64, &e)) return;
  wick_value x = t->elem == WICK_BOOL ? wick_build_cast(n->b, n->in[0], WICK_U8) : n->in[0];
  wick_emit a = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&a, "axis", at);
  wick_emit_set_int(&a, "keepdims", 0);
  n->out[0] = wick_build_cast(n->b, wick_emit_end1(&a, x), e);
}

void wick_tf_import_l2_loss(wick_import_node *n)
{
  wick_value square = wick_build2(n->b, WICK_OP_mul, n->in[0], n->in[0]);
  int64_t axes[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank;
  for (uint32_t k = 0; k < rank; k++) axes[k] = k;
  if (rank) square = wick_emit_reduce(n->b, WICK_OP_reduce_sum, square, rank, axes, false);
  n->out[0] = wick_emit_by(n->b, WICK_OP_mul, square, 0.5);
}

/* The loss, and its derivative. arg: the labels are the numbers of classes */
void wick_tf_import_cross_entropy(wick_import_node *n) /* logits, labels */
{
  wick_builder *b = n->b;
  const wick_type_info *t = wick_import_info(n, 0);
  wick_value labels = n->in[1];
  if (t->rank != 2) {
    wick_import_fail(n, WICK_ETYPE, "the logits have rank %u, expected 2", t->rank);
    return;
  }
  if (n->row->arg) {
    wick_value one = wick_emit_number(b, n->in[0], 1), none = wick_emit_number(b, n->in[0], 0);
    none = wick_emit_unsqueeze(b, none, 0), one = wick_emit_unsqueeze(b, one, 0);
    wick_value values = wick_build_concat(b, 0, 2, (wick_value[]){none, one});
    wick_emit e = wick_emit_begin(b, WICK_OP_one_hot);
    wick_dim depth = t->dim[1];
    wick_emit_set_dims(&e, "depth", 1, &depth);
    labels = wick_emit_end2(&e, labels, values);
  }
  wick_value p = wick_build1(b, WICK_OP_log_softmax, n->in[0]);
  wick_value loss =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, labels, p), 1, false);
  n->out[0] = wick_build1(b, WICK_OP_neg, loss);
  if (n->nout > 1)
    n->out[1] = wick_build2(b, WICK_OP_sub, wick_build1(b, WICK_OP_softmax, n->in[0]), labels);
}

/* ---- products ---- */

void wick_tf_import_matmul(wick_import_node *n)
{
  const char *const names[][2] = {{"transpose_a", "transpose_b"}, {"adj_x", "adj_y"}};
  wick_value x = n->in[0], y = n->in[1];
  const char *const *name = names[n->row->arg];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK) || !wick_import_rank(n, 1, 2, WICK_MAX_RANK))
    return;
  if (wick_import_int(n, name[0], 0)) x = wick_build_swap(n->b, x);
  if (wick_import_int(n, name[1], 0)) y = wick_build_swap(n->b, y);
  wick_elem e;
  if (wick_import_attr_has(n, "Tout") && wick_tf_attr_elem(n, "Tout", &e))
    x = wick_build_cast(n->b, x, e), y = wick_build_cast(n->b, y, e);
  n->out[0] = wick_build2(n->b, WICK_OP_matmul, x, y);
}

/* log of the running sums of exp(x), which are kept small by the largest element */
void wick_tf_import_cumulate_log(wick_import_node *n) /* x, axis */
{
  wick_builder *b = n->b;
  int64_t axis;
  uint32_t at;
  if (!wick_import_one(n, 1, "the axis", 0, &axis) ||
      !wick_import_axis(n, axis, wick_import_info(n, 0)->rank, &at))
    return;
  wick_value most = wick_emit_reduce1(b, WICK_OP_reduce_max, n->in[0], at, true);
  wick_value power = wick_build1(b, WICK_OP_exp_minus, wick_build2(b, WICK_OP_sub, n->in[0], most));
  wick_emit e = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", at);
  wick_emit_set_int(&e, "exclusive", wick_import_int(n, "exclusive", 0));
  wick_emit_set_int(&e, "reverse", wick_import_int(n, "reverse", 0));
  wick_value sum = wick_build1(b, WICK_OP_log, wick_emit_end1(&e, power));
  n->out[0] = wick_build2(b, WICK_OP_add, sum, most);
}

/* The element that has k smaller ones in each row. */
void wick_tf_import_nth(wick_import_node *n) /* x, k */
{
  int64_t k;
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK) || !wick_import_one(n, 1, "k", 0, &k)) return;
  wick_dim count = wick_dim_const(k + 1), at = wick_dim_const(k);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", -1);
  wick_emit_set_int(&e, "least", !wick_import_int(n, "reverse", 0));
  wick_emit_set_dims(&e, "k", 1, &count);
  wick_value sorted = wick_emit_end1(&e, n->in[0]);
  wick_value last = wick_emit_slice(b, sorted, t.rank - 1u, at, wick_dim_const(1));
  n->out[0] = wick_emit_squeeze(b, last, t.rank - 1u);
}
