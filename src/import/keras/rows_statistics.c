/* The functions of keras.ops that combine elements: sums, order statistics, products of arrays. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

static wick_value statistics_x(wick_import_node *n)
{
  return keras_operand(n, 0, "x", (wick_value){0});
}

/* Truth values become i32. */
static wick_value statistics_number(wick_import_node *n, wick_value x)
{
  return keras_elem_of(n, x) == WICK_BOOL ? wick_build_cast(n->b, x, WICK_I32) : x;
}

static wick_value statistics_where(wick_import_node *n, wick_value c, double number, wick_value x)
{
  return wick_build3(n->b, WICK_OP_where, c, wick_emit_number(n->b, x, number), x);
}

/* The axes of a reduction, from the attribute `axis`. */
typedef struct statistics_over {
  uint32_t n;
  int64_t axes[WICK_MAX_RANK];
  bool keep;
} statistics_over;

static bool statistics_axes(wick_import_node *n, wick_value x, statistics_over *o)
{
  o->keep = keras_is_true(n, "keepdims", false);
  return !n->failed && !n->b->status && keras_axes(n, "axis", keras_rank(n, x), &o->n, o->axes);
}

static wick_value statistics_fold(wick_import_node *n, wick_opcode op, wick_value x,
                                  const statistics_over *o, bool keep)
{
  return o->n ? wick_emit_reduce(n->b, op, x, o->n, o->axes, keep) : x;
}

/* The axes of a reduction as one last axis. */
static wick_value statistics_last(wick_import_node *n, wick_value x, const statistics_over *o)
{
  uint32_t rank = keras_rank(n, x), k = 0;
  int64_t perm[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  bool over[WICK_MAX_RANK] = {false};
  if (!o->n && rank) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the list of axes is empty");
    return x;
  }
  for (uint32_t i = 0; i < o->n; i++) over[o->axes[i]] = true;
  for (uint32_t i = 0; i < rank; i++)
    if (!over[i]) dim[k] = keras_dims(n, x)[i], perm[k++] = i;
  dim[k] = (wick_dim){-1};
  for (uint32_t i = 0, to = k; i < o->n; i++) perm[to++] = o->axes[i];
  wick_value moved = wick_build_transpose(n->b, x, rank, perm);
  return keras_reshape_to(n, moved, k + 1, dim);
}

/* x [..., 1] as the result of a reduction over the axes, which were moved to the end. */
static wick_value statistics_kept(wick_import_node *n, wick_value y, uint32_t rank,
                                  const statistics_over *o, uint32_t front)
{
  bool over[WICK_MAX_RANK] = {false};
  for (uint32_t i = 0; i < o->n; i++) over[o->axes[i]] = true;
  for (uint32_t i = 0; i < rank && o->keep; i++)
    if (over[i]) y = wick_emit_unsqueeze(n->b, y, i + front);
  return y;
}

/* ---- running sums ---- */

/* NaN as the neutral element, if arg is 1. */
static void statistics_cumulate(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  uint32_t axis;
  if (!keras_axis_or_flat(n, &x, &axis)) return;
  x = wick_build_cast(n->b, x, keras_elem(wick_import_text(n, "dtype", NULL), keras_elem_of(n, x)));
  x = statistics_number(n, x);
  if (n->row->arg && wick_elem_is_float(keras_elem_of(n, x)))
    x = statistics_where(n, wick_build1(n->b, WICK_OP_isnan, x), n->row->op == WICK_OP_cumprod, x);
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end1(&e, x);
}

/* The n-th differences of neighbours. */
static wick_value statistics_differences(wick_import_node *n, wick_value x, uint32_t axis)
{
  wick_dims *t = n->c->module->dims;
  bool truth = keras_elem_of(n, x) == WICK_BOOL;
  wick_dim rest = wick_dim_sub(t, keras_dims(n, x)[axis], wick_dim_const(1));
  rest = wick_dim_max(t, rest, wick_dim_const(0));
  wick_value head = wick_emit_slice(n->b, x, axis, wick_dim_const(0), rest);
  wick_value tail = wick_emit_slice(n->b, x, axis, wick_dim_const(1), rest);
  return wick_build2(n->b, truth ? WICK_OP_xor : WICK_OP_sub, tail, head);
}

static void statistics_diff(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "a", (wick_value){0});
  uint32_t axis;
  int64_t count = wick_import_int(n, "n", 1);
  if (n->failed || !keras_axis(n, "axis", -1, keras_rank(n, x), &axis)) return;
  if (count < 0 || count > 64) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "differences of order %lld", (long long)count);
    return;
  }
  for (; count > 0 && !n->b->status; count--) x = statistics_differences(n, x, axis);
  n->out[0] = x;
}

static void statistics_trapezoid(wick_import_node *n)
{
  wick_value y = keras_floating(n, keras_operand(n, 0, "y", (wick_value){0}));
  const wick_json *given = keras_config(keras_of(n)->layer, "x");
  uint32_t axis, rank = keras_rank(n, y);
  if (n->failed || !keras_axis(n, "axis", -1, rank, &axis)) return;
  y = keras_moved(n, y, axis, rank - 1);
  wick_dims *t = n->c->module->dims;
  wick_dim rest = wick_dim_sub(t, keras_dims(n, y)[rank - 1], wick_dim_const(1));
  wick_value head = wick_emit_slice(n->b, y, rank - 1, wick_dim_const(0), rest);
  wick_value tail = wick_emit_slice(n->b, y, rank - 1, wick_dim_const(1), rest);
  wick_value mean =
      wick_emit_by(n->b, WICK_OP_mul, wick_build2(n->b, WICK_OP_add, head, tail), 0.5);
  if (given) {
    wick_value at = keras_json_value(n, given, y);
    if (n->failed || n->b->status) return;
    if (!keras_rank(n, at)) {
      wick_import_fail(n, WICK_ETYPE, "x is a number, expected an array");
      return;
    }
    mean =
        wick_build2(n->b, WICK_OP_mul, mean, statistics_differences(n, at, keras_rank(n, at) - 1));
  } else {
    mean = wick_emit_by(n->b, WICK_OP_mul, mean, wick_import_real(n, "dx", 1));
  }
  n->out[0] = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, mean, rank - 1, false);
}

/* ---- reductions ---- */

static void statistics_peak_to_peak(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  wick_value most = statistics_fold(n, WICK_OP_reduce_max, x, &o, o.keep);
  wick_value least = statistics_fold(n, WICK_OP_reduce_min, x, &o, o.keep);
  n->out[0] = wick_build2(n->b, WICK_OP_sub, most, least);
}

static void statistics_count_nonzero(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  x = wick_build_cast(n->b, wick_build_cast(n->b, x, WICK_BOOL), WICK_I32);
  n->out[0] = statistics_fold(n, WICK_OP_reduce_sum, x, &o, false);
}

static void statistics_average(wick_import_node *n)
{
  wick_value x = keras_floating(n, statistics_x(n));
  const keras_arg *weights = keras_argument(n, 1, "weights");
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  if (weights->kind == KERAS_NOTHING) {
    n->out[0] = statistics_fold(n, WICK_OP_reduce_mean, x, &o, false);
    return;
  }
  wick_value w = keras_value(n, weights, x);
  if (n->failed) return;
  w = wick_build_cast(n->b, w, keras_elem_of(n, x));
  if (keras_rank(n, w) == 1 && o.n == 1)
    w = keras_along(n, w, (uint32_t)o.axes[0], keras_rank(n, x));
  w = wick_emit_expand(n->b, w, keras_rank(n, x), keras_dims(n, x));
  wick_value weighed = wick_build2(n->b, WICK_OP_mul, x, w);
  wick_value sum = statistics_fold(n, WICK_OP_reduce_sum, weighed, &o, false);
  wick_value all = statistics_fold(n, WICK_OP_reduce_sum, w, &o, false);
  n->out[0] = wick_build2(n->b, WICK_OP_div, sum, all);
}

/* Sums, products and extremes without the elements that are NaN. The extreme of none is NaN. */
static void statistics_nan_fold(wick_import_node *n)
{
  wick_value x = statistics_number(n, statistics_x(n));
  statistics_over o;
  wick_opcode op = n->row->op;
  if (!statistics_axes(n, x, &o)) return;
  if (!wick_elem_is_float(keras_elem_of(n, x))) {
    n->out[0] = statistics_fold(n, op, x, &o, o.keep);
    return;
  }
  bool extreme = op == WICK_OP_reduce_max || op == WICK_OP_reduce_min;
  double neutral = op == WICK_OP_reduce_max   ? -INFINITY
                   : op == WICK_OP_reduce_min ? INFINITY
                                              : op == WICK_OP_reduce_prod;
  wick_value nan = wick_build1(n->b, WICK_OP_isnan, x);
  wick_value y = statistics_fold(n, op, statistics_where(n, nan, neutral, x), &o, o.keep);
  wick_value flag = wick_build_cast(n->b, nan, WICK_I32);
  wick_value all = extreme ? statistics_fold(n, WICK_OP_reduce_min, flag, &o, o.keep) : flag;
  n->out[0] = extreme ? statistics_where(n, wick_build_cast(n->b, all, WICK_BOOL), NAN, y) : y;
}

/* nanmean (arg 0), nanvar (arg 1), nanstd (arg 2) */
static void statistics_nan_moment(wick_import_node *n)
{
  wick_value x = keras_floating(n, statistics_x(n));
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  bool keep = o.keep || n->row->arg;
  wick_value nan = wick_build1(n->b, WICK_OP_isnan, x);
  wick_value there =
      wick_build_cast(n->b, wick_build1(n->b, WICK_OP_not, nan), keras_elem_of(n, x));
  wick_value sum = statistics_fold(n, WICK_OP_reduce_sum, statistics_where(n, nan, 0, x), &o, keep);
  wick_value count = statistics_fold(n, WICK_OP_reduce_sum, there, &o, keep);
  wick_value mean = wick_build2(n->b, WICK_OP_div, sum, count);
  if (!n->row->arg) {
    n->out[0] = mean;
    return;
  }
  wick_value d = statistics_where(n, nan, 0, wick_build2(n->b, WICK_OP_sub, x, mean));
  wick_value square = wick_build2(n->b, WICK_OP_mul, d, d);
  sum = statistics_fold(n, WICK_OP_reduce_sum, square, &o, o.keep);
  count = statistics_fold(n, WICK_OP_reduce_sum, there, &o, o.keep);
  wick_value variance = wick_build2(n->b, WICK_OP_div, sum, count);
  n->out[0] = n->row->arg == 2 ? wick_build1(n->b, WICK_OP_sqrt, variance) : variance;
}

/* The position of the extreme without the elements that are NaN; -1 if all are. */
static void statistics_nan_arg(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  uint32_t axis;
  bool keep = keras_is_true(n, "keepdims", false) && keras_attr(n, "axis", 'i').kind;
  if (!keras_axis_or_flat(n, &x, &axis)) return;
  wick_value nan = {0};
  bool real = wick_elem_is_float(keras_elem_of(n, x));
  if (real) {
    nan = wick_build1(n->b, WICK_OP_isnan, x);
    x = statistics_where(n, nan, n->row->op == WICK_OP_argmax ? -INFINITY : INFINITY, x);
  }
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", keep);
  wick_value y = wick_build_cast(n->b, wick_emit_end1(&e, x), WICK_I32);
  if (real) {
    wick_value flag = wick_build_cast(n->b, nan, WICK_I32);
    wick_value all = wick_emit_reduce1(n->b, WICK_OP_reduce_min, flag, axis, keep);
    y = statistics_where(n, wick_build_cast(n->b, all, WICK_BOOL), -1, y);
  }
  n->out[0] = y;
}

static void statistics_moments(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  uint32_t count;
  int64_t axes[WICK_MAX_RANK];
  if (n->failed || !keras_axes(n, "axes", keras_rank(n, x), &count, axes)) return;
  bool keep = keras_is_true(n, "keepdims", false);
  wick_elem e = keras_elem_of(n, x);
  x = keras_wide(n, x);
  wick_value mean = wick_emit_reduce(n->b, WICK_OP_reduce_mean, x, count, axes, true);
  wick_value d = wick_build2(n->b, WICK_OP_sub, x, mean);
  wick_value square = wick_build2(n->b, WICK_OP_mul, d, d);
  wick_value variance = wick_emit_reduce(n->b, WICK_OP_reduce_mean, square, count, axes, keep);
  if (!keep) mean = wick_emit_reduce(n->b, WICK_OP_reduce_mean, x, count, axes, false);
  n->out[0] = wick_build_cast(n->b, mean, e);
  n->out[1] = wick_build_cast(n->b, variance, e);
}

/* ---- norms ---- */

/* The p-norm of vectors along the axes. */
static wick_value statistics_vector_norm(wick_import_node *n, wick_value x, double p,
                                         const statistics_over *o)
{
  wick_value a = wick_build1(n->b, WICK_OP_abs, x);
  if (p == 2) return statistics_fold(n, WICK_OP_reduce_l2, x, o, o->keep);
  if (isinf(p))
    return statistics_fold(n, p > 0 ? WICK_OP_reduce_max : WICK_OP_reduce_min, a, o, o->keep);
  if (p == 0) {
    wick_value some = wick_build2(n->b, WICK_OP_ne, x, wick_emit_number(n->b, x, 0));
    some = wick_build_cast(n->b, some, keras_elem_of(n, x));
    return statistics_fold(n, WICK_OP_reduce_sum, some, o, o->keep);
  }
  wick_value sum =
      statistics_fold(n, WICK_OP_reduce_sum, wick_emit_by(n->b, WICK_OP_pow, a, p), o, o->keep);
  return wick_emit_by(n->b, WICK_OP_pow, sum, 1 / p);
}

/* The largest or smallest sum of the absolute elements of a row or a column. */
static wick_value statistics_matrix_norm(wick_import_node *n, wick_value x, double p,
                                         const statistics_over *o)
{
  bool rows = isinf(p);
  wick_value a = wick_build1(n->b, WICK_OP_abs, x);
  wick_value sum = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, a, o->axes[rows], true);
  return statistics_fold(n, p > 0 ? WICK_OP_reduce_max : WICK_OP_reduce_min, sum, o, o->keep);
}

/* The largest (p = 2) or least (p = -2) singular value, or their sum. */
static wick_value statistics_singular_norm(wick_import_node *n, wick_value x, double p,
                                           const statistics_over *o)
{
  uint32_t rank = keras_rank(n, x), k = 0;
  int64_t perm[WICK_MAX_RANK];
  for (int64_t i = 0; i < rank; i++)
    if (i != o->axes[0] && i != o->axes[1]) perm[k++] = i;
  perm[rank - 2] = o->axes[0], perm[rank - 1] = o->axes[1];
  x = wick_build_transpose(n->b, x, rank, perm);
  wick_opcode op = p == 2 ? WICK_OP_reduce_max : p == -2 ? WICK_OP_reduce_min : WICK_OP_reduce_sum;
  return statistics_kept(n, keras_singular_norm(n, x, op), rank, o, 0);
}

static void statistics_norm(wick_import_node *n)
{
  wick_value x = keras_floating(n, statistics_x(n));
  wick_import_attr a = keras_attr(n, "ord", 'f');
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  const char *word = a.kind == 's' ? wick_import_text(n, "ord", "") : "";
  double p = !a.kind || strcmp(word, "fro") == 0 ? 2 : a.kind == 's' ? NAN : a.f;
  if (!a.kind || (o.n == 2 && strcmp(word, "fro") == 0)) {
    n->out[0] = statistics_fold(n, WICK_OP_reduce_l2, x, &o, o.keep);
  } else if (o.n == 1 && a.kind != 's' && a.kind != 'o') {
    n->out[0] = statistics_vector_norm(n, x, p, &o);
  } else if (o.n == 2 && (fabs(p) == 1 || isinf(p))) {
    n->out[0] = statistics_matrix_norm(n, x, p, &o);
  } else if (o.n == 2 && (fabs(p) == 2 || strcmp(word, "nuc") == 0)) {
    n->out[0] = statistics_singular_norm(n, x, p, &o);
  } else {
    wick_import_fail(n, WICK_EUNSUPPORTED, "this norm of %u axes is not supported", o.n);
  }
}

static void statistics_normalize(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  double p = wick_import_real(n, "order", 2), epsilon = wick_import_real(n, "epsilon", 1e-7);
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  o.keep = true;
  if (p == 2) {
    wick_value square = wick_build2(n->b, WICK_OP_mul, x, x);
    wick_value sum = statistics_fold(n, WICK_OP_reduce_sum, square, &o, true);
    wick_value by = wick_build1(n->b, WICK_OP_rsqrt, sum);
    n->out[0] = wick_build2(n->b, WICK_OP_mul, x, wick_emit_by(n->b, WICK_OP_min, by, 1 / epsilon));
    return;
  }
  wick_value norm = statistics_vector_norm(n, x, p, &o);
  n->out[0] = wick_build2(n->b, WICK_OP_div, x, wick_emit_by(n->b, WICK_OP_max, norm, epsilon));
}

/* ---- order ---- */

/* The first `count` elements of an axis in order, and their positions. */
static wick_value statistics_sorted(wick_import_node *n, wick_value x, uint32_t axis,
                                    wick_dim count, bool least)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &count);
  wick_emit_set_int(&e, "least", least);
  return wick_emit_end1(&e, x);
}

static wick_value statistics_positions(wick_import_node *n, wick_value sorted)
{
  return n->b->status ? sorted : wick_build_cast(n->b, (wick_value){sorted.id + 1}, WICK_I32);
}

/* sort, and argsort (arg 1) */
static void statistics_sort(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  uint32_t axis;
  if (!keras_axis_or_flat(n, &x, &axis)) return;
  bool truth = keras_elem_of(n, x) == WICK_BOOL;
  if (truth) x = wick_build_cast(n->b, x, WICK_U8);
  wick_value y = statistics_sorted(n, x, axis, keras_dims(n, x)[axis], true);
  y = n->row->arg ? statistics_positions(n, y) : y;
  n->out[0] = truth && !n->row->arg ? wick_build_cast(n->b, y, WICK_BOOL) : y;
}

/* The positions of the least kth + 1 elements in order, then those of the others from the largest one down, as
 * TensorFlow gives them. */
static void statistics_partition(wick_import_node *n)
{
  wick_value x = statistics_x(n), part[2];
  uint32_t axis;
  int64_t kth = wick_import_int(n, "kth", 0);
  if (!keras_axis_or_flat(n, &x, &axis)) return;
  wick_dim size = keras_dims(n, x)[axis];
  if (!keras_known(n, "the size of the axis", size)) return;
  kth = kth < 0 ? 0 : kth >= size.v ? size.v - 1 : kth;
  const wick_dim least = wick_dim_const(kth + 1), rest = wick_dim_const(size.v - kth - 1);
  wick_value sorted = statistics_sorted(n, x, axis, size, true);
  wick_value at = statistics_positions(n, sorted);
  part[0] = wick_emit_slice(n->b, at, axis, wick_dim_const(0), least);
  at = wick_emit_slice(n->b, at, axis, least, rest);
  sorted = wick_emit_slice(n->b, sorted, axis, least, rest);
  wick_value down = statistics_positions(n, statistics_sorted(n, sorted, axis, rest, false));
  down = wick_build_cast(n->b, down, WICK_I64);
  part[1] = wick_emit_gather(n->b, WICK_OP_gather_elements, at, down, axis);
  n->out[0] = wick_build_concat(n->b, axis, 2, part);
}

static void statistics_top_k(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  int64_t k = wick_import_int(n, "k", 1);
  uint32_t rank = keras_rank(n, x);
  if (n->failed) return;
  if (!rank || k < 0) {
    wick_import_fail(n, WICK_ETYPE, "a vector and a positive k are expected");
    return;
  }
  n->out[0] = statistics_sorted(n, x, rank - 1, wick_dim_const(k), false);
  n->out[1] = statistics_positions(n, n->out[0]);
}

static void statistics_in_top_k(wick_import_node *n)
{
  wick_value target = keras_operand(n, 0, "targets", (wick_value){0});
  wick_value x = keras_operand(n, 1, "predictions", (wick_value){0});
  int64_t k = wick_import_int(n, "k", 1);
  if (n->failed) return;
  wick_value at = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, target, WICK_I64), 1);
  wick_value own = wick_emit_gather(n->b, WICK_OP_gather_elements, x, at, 1);
  wick_value above = wick_build_cast(n->b, wick_build2(n->b, WICK_OP_gt, x, own), WICK_I32);
  wick_value count = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, above, 1, false);
  n->out[0] = wick_emit_by(n->b, WICK_OP_lt, count, (double)k);
}

/* Element `at` (a position that need not be whole) of sorted vectors [..., count]. */
static wick_value statistics_between(wick_import_node *n, wick_value sorted, wick_value at,
                                     const char *method)
{
  wick_builder *b = n->b;
  uint32_t last = keras_rank(n, sorted) - 1;
  wick_elem e = keras_elem_of(n, sorted);
  wick_value low = wick_build1(b, WICK_OP_floor, at), high = wick_build1(b, WICK_OP_ceil, at);
  if (strcmp(method, "nearest") == 0) low = high = wick_build1(b, WICK_OP_round_even, at);
  if (strcmp(method, "lower") == 0) high = low;
  if (strcmp(method, "higher") == 0) low = high;
  wick_value i = wick_build_cast(b, low, WICK_I64), j = wick_build_cast(b, high, WICK_I64);
  wick_value x = wick_emit_gather(b, WICK_OP_gather, sorted, i, last);
  if (low.id == high.id) return x;
  wick_value y = wick_emit_gather(b, WICK_OP_gather, sorted, j, last);
  wick_value part = wick_build_cast(b, wick_build2(b, WICK_OP_sub, at, low), e);
  if (strcmp(method, "midpoint") == 0)
    return wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_add, x, y), 0.5);
  wick_value step = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, y, x), part);
  wick_value same = wick_emit_by(b, WICK_OP_eq, part, 0);
  return wick_build3(b, WICK_OP_where, same, x, wick_build2(b, WICK_OP_add, x, step));
}

/* quantile (arg 1), percentile (arg 100) and median (arg 0), NaN if an element is. The quantiles are
 * the first dimension of the result. */
static void statistics_quantile(wick_import_node *n)
{
  static const char *const methods[] = {"linear", "lower", "higher", "nearest", "midpoint"};
  wick_builder *b = n->b;
  wick_value x = keras_floating(n, statistics_x(n)), q = {0};
  const char *method = wick_import_text(n, "method", "linear");
  statistics_over o;
  uint32_t word = 0;
  if (!statistics_axes(n, x, &o)) return;
  if (n->row->arg) q = keras_operand(n, 1, "q", (wick_value){0});
  while (word < WICK_COUNT(methods) && strcmp(methods[word], method) != 0) word++;
  if (!n->failed && word == WICK_COUNT(methods))
    wick_import_fail(n, WICK_EUNSUPPORTED, "the method %s is not known",
                     wick_import_shown(n->c, method));
  if (n->failed) return;
  uint32_t rank = keras_rank(n, x), front = n->row->arg ? keras_rank(n, q) : 0;
  wick_value rows = statistics_last(n, x, &o);
  if (n->failed || n->b->status) return;
  uint32_t last = keras_rank(n, rows) - 1;
  wick_dim size = keras_dims(n, rows)[last];
  wick_value sorted = statistics_sorted(n, rows, last, size, true);
  wick_type scalar = wick_type_tensor(n->c->module, WICK_F64, 0, NULL);
  if (!n->row->arg)
    q = wick_build_const(b, scalar, 0.5, 0);
  else
    q = wick_emit_by(b, WICK_OP_div, wick_build_cast(b, q, WICK_F64), n->row->arg);
  wick_dim most = wick_dim_sub(n->c->module->dims, size, wick_dim_const(1));
  wick_value end = wick_emit_squeeze(b, wick_array_sizes(n, 1, &most, WICK_F64), 0);
  wick_value y = statistics_between(n, sorted, wick_build2(b, WICK_OP_mul, q, end), method);
  wick_value nan = wick_build_cast(b, wick_build1(b, WICK_OP_isnan, rows), WICK_I32);
  nan = wick_emit_reduce1(b, WICK_OP_reduce_max, nan, last, front > 0);
  y = statistics_where(n, wick_build_cast(b, nan, WICK_BOOL), NAN, y);
  if (front) y = keras_moved(n, y, last, 0);
  n->out[0] = statistics_kept(n, y, rank, &o, front);
}

/* nanmedian (arg 0), nanquantile (arg 1), nanpercentile (arg 100), of one quantile that is a number:
 * NaN is sorted to the end, and the position counts the others alone. */
static void statistics_nan_quantile(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_floating(n, statistics_x(n)), q = {0};
  const char *method = wick_import_text(n, "method", "linear");
  statistics_over o;
  if (!statistics_axes(n, x, &o)) return;
  if (n->row->arg) q = keras_operand(n, 1, "q", (wick_value){0});
  if (n->failed) return;
  if (strcmp(method, "linear") != 0 || (n->row->arg && keras_rank(n, q))) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "only one quantile, by the method linear");
    return;
  }
  uint32_t rank = keras_rank(n, x);
  wick_value rows = statistics_last(n, x, &o);
  if (n->failed || n->b->status) return;
  uint32_t last = keras_rank(n, rows) - 1;
  wick_value sorted = statistics_sorted(n, rows, last, keras_dims(n, rows)[last], true);
  wick_value nan = wick_build1(b, WICK_OP_isnan, rows);
  wick_value there = wick_build_cast(b, wick_build1(b, WICK_OP_not, nan), WICK_F64);
  wick_value end = wick_emit_reduce1(b, WICK_OP_reduce_sum, there, last, true);
  end = wick_emit_by(b, WICK_OP_sub, end, 1);
  end = wick_emit_by(b, WICK_OP_max, end, 0);
  wick_value part = n->row->arg
                        ? wick_emit_by(b, WICK_OP_div, wick_build_cast(b, q, WICK_F64), n->row->arg)
                        : wick_emit_number(b, end, 0.5);
  wick_value at = wick_build2(b, WICK_OP_mul, end, part), low = wick_build1(b, WICK_OP_floor, at);
  wick_value i = wick_build_cast(b, low, WICK_I64);
  wick_value j = wick_build_cast(b, wick_build1(b, WICK_OP_ceil, at), WICK_I64);
  wick_value lo = wick_emit_gather(b, WICK_OP_gather_elements, sorted, i, last);
  wick_value hi = wick_emit_gather(b, WICK_OP_gather_elements, sorted, j, last);
  wick_value by = wick_build_cast(b, wick_build2(b, WICK_OP_sub, at, low), keras_elem_of(n, x));
  wick_value step = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, hi, lo), by);
  wick_value y = wick_emit_squeeze(b, wick_build2(b, WICK_OP_add, lo, step), last);
  n->out[0] = statistics_kept(n, y, rank, &o, 0);
}

/* ---- numbers ---- */

static void statistics_round(wick_import_node *n)
{
  wick_value x = statistics_x(n);
  int64_t places = wick_import_int(n, "decimals", 0);
  if (n->failed) return;
  wick_elem e = keras_elem_of(n, x);
  if (!wick_elem_is_float(e) && places >= 0) {
    n->out[0] = x;
    return;
  }
  double factor = pow(10, (double)places);
  x = keras_floating(n, x);
  if (places) x = wick_emit_by(n->b, WICK_OP_mul, x, factor);
  x = wick_build1(n->b, WICK_OP_round_even, x);
  if (places) x = wick_emit_by(n->b, WICK_OP_div, x, factor);
  n->out[0] = wick_build_cast(n->b, x, e);
}

static void statistics_nan_to_num(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = statistics_x(n);
  if (n->failed) return;
  wick_elem e = keras_elem_of(n, x);
  if (!wick_elem_is_float(e)) {
    n->out[0] = x;
    return;
  }
  double most = e == WICK_F64    ? 1.7976931348623157e308
                : e == WICK_F16  ? 65504
                : e == WICK_BF16 ? 3.3895313892515355e38
                                 : 3.4028234663852886e38;
  wick_value nan = wick_build1(b, WICK_OP_isnan, x);
  wick_value up = wick_emit_by(b, WICK_OP_eq, x, INFINITY);
  wick_value down = wick_emit_by(b, WICK_OP_eq, x, -INFINITY);
  x = statistics_where(n, nan, wick_import_real(n, "nan", 0), x);
  x = statistics_where(n, up, wick_import_real(n, "posinf", most), x);
  n->out[0] = statistics_where(n, down, wick_import_real(n, "neginf", -most), x);
}

static double statistics_given(wick_import_node *n, uint32_t at, const char *name, double otherwise)
{
  const keras_arg *a = keras_argument(n, at, name);
  double v = wick_import_real(n, name, otherwise);
  if (a->kind == KERAS_CONST) (void)wick_json_double(a->json, &v);
  return v;
}

/* isclose, and whether all are (arg 1) */
static void statistics_is_close(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x[2] = {{0}, {0}};
  double relative = statistics_given(n, 2, "rtol", 1e-5);
  double absolute = statistics_given(n, 3, "atol", 1e-8);
  keras_operands(n, x);
  if (n->failed) return;
  wick_elem e = keras_common(keras_elem_of(n, x[0]), keras_elem_of(n, x[1]));
  for (int i = 0; i < 2; i++) x[i] = wick_build_cast(b, x[i], e);
  wick_value close = wick_build2(b, WICK_OP_eq, x[0], x[1]);
  if (wick_elem_is_float(e)) {
    wick_value d = wick_build1(b, WICK_OP_abs, wick_build2(b, WICK_OP_sub, x[0], x[1]));
    wick_value limit = wick_emit_by(b, WICK_OP_mul, wick_build1(b, WICK_OP_abs, x[1]), relative);
    limit = wick_emit_by(b, WICK_OP_add, limit, absolute);
    close = wick_build2(b, WICK_OP_le, d, limit);
    if (keras_is_true(n, "equal_nan", false)) {
      wick_value first = wick_build1(b, WICK_OP_isnan, x[0]);
      wick_value second = wick_build1(b, WICK_OP_isnan, x[1]);
      close = wick_build2(b, WICK_OP_or, close, wick_build2(b, WICK_OP_and, first, second));
    }
  }
  if (n->row->arg) {
    wick_value flat = keras_flat(n, wick_build_cast(b, close, WICK_I32));
    flat = wick_emit_reduce1(b, WICK_OP_reduce_min, flat, 0, false);
    close = wick_build_cast(b, flat, WICK_BOOL);
  }
  n->out[0] = close;
}

const wick_import_op keras_statistics[] = {
    KERAS_ROW("AllClose", 1, 2, 1, statistics_is_close, .arg = 1),
    KERAS_ROW("Argpartition", 1, 1, 1, statistics_partition, .arg = 0),
    KERAS_ROW("Argsort", 1, 1, 1, statistics_sort, .arg = 1),
    KERAS_ROW("Average", 1, 2, 1, statistics_average, .arg = 0),
    KERAS_ROW("CountNonzero", 1, 1, 1, statistics_count_nonzero, .arg = 0),
    KERAS_ROW("Cumprod", 1, 1, 1, statistics_cumulate, .op = WICK_OP_cumprod),
    KERAS_ROW("Cumsum", 1, 1, 1, statistics_cumulate, .op = WICK_OP_cumsum),
    KERAS_ROW("Diff", 1, 1, 1, statistics_diff, .arg = 0),
    KERAS_ROW("InTopK", 1, 2, 1, statistics_in_top_k, .arg = 0),
    KERAS_ROW("Isclose", 1, 2, 1, statistics_is_close, .arg = 0),
    KERAS_ROW("Median", 1, 1, 1, statistics_quantile, .arg = 0),
    KERAS_ROW("Moments", 1, 1, 2, statistics_moments, .arg = 0),
    KERAS_ROW("NanToNum", 1, 1, 1, statistics_nan_to_num, .arg = 0),
    KERAS_ROW("Nanargmax", 1, 1, 1, statistics_nan_arg, .op = WICK_OP_argmax),
    KERAS_ROW("Nanargmin", 1, 1, 1, statistics_nan_arg, .op = WICK_OP_argmin),
    KERAS_ROW("Nancumprod", 1, 1, 1, statistics_cumulate, .op = WICK_OP_cumprod, .arg = 1),
    KERAS_ROW("Nancumsum", 1, 1, 1, statistics_cumulate, .op = WICK_OP_cumsum, .arg = 1),
    KERAS_ROW("Nanmax", 1, 1, 1, statistics_nan_fold, .op = WICK_OP_reduce_max),
    KERAS_ROW("Nanmean", 1, 1, 1, statistics_nan_moment, .arg = 0),
    KERAS_ROW("Nanmedian", 1, 1, 1, statistics_nan_quantile, .arg = 0),
    KERAS_ROW("Nanmin", 1, 1, 1, statistics_nan_fold, .op = WICK_OP_reduce_min),
    KERAS_ROW("Nanpercentile", 1, 2, 1, statistics_nan_quantile, .arg = 100),
    KERAS_ROW("Nanprod", 1, 1, 1, statistics_nan_fold, .op = WICK_OP_reduce_prod),
    KERAS_ROW("Nanquantile", 1, 2, 1, statistics_nan_quantile, .arg = 1),
    KERAS_ROW("Nanstd", 1, 1, 1, statistics_nan_moment, .arg = 2),
    KERAS_ROW("Nansum", 1, 1, 1, statistics_nan_fold, .op = WICK_OP_reduce_sum),
    KERAS_ROW("Nanvar", 1, 1, 1, statistics_nan_moment, .arg = 1),
    KERAS_ROW("Norm", 1, 1, 1, statistics_norm, .arg = 0),
    KERAS_ROW("Normalize", 1, 1, 1, statistics_normalize, .arg = 0),
    KERAS_ROW("Percentile", 1, 2, 1, statistics_quantile, .arg = 100),
    KERAS_ROW("Ptp", 1, 1, 1, statistics_peak_to_peak, .arg = 0),
    KERAS_ROW("Quantile", 1, 2, 1, statistics_quantile, .arg = 1),
    KERAS_ROW("Round", 1, 1, 1, statistics_round, .arg = 0),
    KERAS_ROW("Sort", 1, 1, 1, statistics_sort, .arg = 0),
    KERAS_ROW("TopK", 1, 1, 2, statistics_top_k, .arg = 0),
    KERAS_ROW("Trapezoid", 1, 1, 1, statistics_trapezoid, .arg = 0),
    {.name = NULL},
};
