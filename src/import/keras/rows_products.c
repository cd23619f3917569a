/* The functions of keras.ops for products of arrays, and sums of segments. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

static wick_value products_x(wick_import_node *n)
{
  return keras_operand(n, 0, "x", (wick_value){0});
}

/* ---- products of arrays ---- */

/* Sums products over pairs of axes: of x [..., axes], y [axes, ...]. */
static wick_value products_contract(wick_import_node *n, wick_value x, wick_value y, uint32_t count,
                                    const int64_t *ax, const int64_t *ay)
{
  wick_value v[2] = {x, y};
  const int64_t *axes[2] = {ax, ay};
  wick_dim dim[2 * WICK_MAX_RANK];
  uint32_t ndim = 0;
  if (n->b->status) return x;
  wick_elem e = keras_common(keras_elem_of(n, x), keras_elem_of(n, y));
  for (int k = 0; k < 2; k++) {
    uint32_t rank = keras_rank(n, v[k]), rest = rank - count, at = k ? count : 0;
    int64_t perm[WICK_MAX_RANK];
    bool over[WICK_MAX_RANK] = {false};
    for (uint32_t i = 0; i < count; i++)
      over[axes[k][i]] = true, perm[k ? i : rest + i] = axes[k][i];
    wick_dim sides[2] = {wick_dim_const(1), wick_dim_const(1)};
    for (uint32_t i = 0; i < rank; i++) {
      wick_dim size = keras_dims(n, v[k])[i];
      wick_dim *side = &sides[over[i] != (k == 1)];
      *side = wick_dim_mul(n->c->module->dims, *side, size);
      if (!over[i]) dim[ndim++] = size, perm[at++] = i;
    }
    v[k] = wick_build_transpose(n->b, wick_build_cast(n->b, v[k], e), rank, perm);
    v[k] = wick_build_reshape(n->b, v[k], 2, sides);
  }
  if (ndim > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the result has too many dimensions");
    return x;
  }
  return wick_build_reshape(n->b, wick_build2(n->b, WICK_OP_matmul, v[0], v[1]), ndim, dim);
}

/* The sum of x over the labels that are not in the result, and its dimensions in that order. Returns 0
 * after a failure. */
static wick_value products_einsum1(wick_import_node *n, wick_value x, const char *in,
                                   const char *out)
{
  uint32_t rank = keras_rank(n, x), count = 0, nsum = 0;
  int64_t perm[WICK_MAX_RANK], sum[WICK_MAX_RANK];
  bool good = strlen(in) == rank && strlen(out) <= rank;
  for (uint32_t i = 0; good && i < rank; i++) {
    good = !strchr(in + i + 1, in[i]);
    if (!strchr(out, in[i])) sum[nsum++] = i;
  }
  for (const char *o = out; good && *o; o++) {
    const char *at = strchr(in, *o);
    good = at && !strchr(o + 1, *o);
    if (good) perm[count] = at - in;
    for (uint32_t k = 0; good && k < nsum; k++) perm[count] -= sum[k] < at - in;
    count++;
  }
  if (!good) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the equation %s of one operand is not supported",
                     wick_import_shown(n->c, wick_import_text(n, "subscripts", "")));
    return (wick_value){0};
  }
  if (nsum) x = wick_emit_reduce(n->b, WICK_OP_reduce_sum, x, nsum, sum, false);
  return wick_build_transpose(n->b, x, count, perm);
}

enum { PRODUCTS_LABELS = 64 };

/* Products of more than two tensors multiply the first two, and keep the labels that occur later. */
static void products_einsum(wick_import_node *n)
{
  wick_text t = wick_text_begin(n->c->tmp);
  for (const char *c = wick_import_text(n, "subscripts", ""); *c; c++)
    if (*c != ' ') wick_text_char(&t, *c);
  const char *arrow = strstr(t.at, "->"), *rest = t.at;
  if (n->nin == 2 || !n->nin) {
    if (n->nin) n->out[0] = wick_array_einsum(n, t.at, n->in[0], n->in[1]);
    return;
  }
  if (!arrow || strchr(t.at, '.') || t.n > PRODUCTS_LABELS) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the equation of %u operands is not supported", n->nin);
    return;
  }
  char first[PRODUCTS_LABELS + 1], kept[PRODUCTS_LABELS + 1];
  size_t size = strcspn(rest, ",-");
  memcpy(first, rest, size), first[size] = 0;
  wick_value x = n->in[0];
  for (uint32_t i = 1; i < n->nin && !n->failed && !n->b->status; i++) {
    rest += size + (rest[size] == ',');
    size = strcspn(rest, ",-");
    const char *next = wick_str_dupn(n->c->tmp, rest, size), *later = rest + size;
    size_t count = 0;
    for (const char *c = first; *c; c++)
      if (strchr(later, *c)) kept[count++] = *c;
    for (const char *c = next; *c; c++)
      if (strchr(later, *c) && !memchr(kept, *c, count)) kept[count++] = *c;
    kept[count] = 0;
    x = wick_array_einsum(n, wick_str_printf(n->c->tmp, "%s,%s->%s", first, next, kept), x,
                          n->in[i]);
    memcpy(first, kept, count + 1);
  }
  if (!n->failed && !n->b->status) n->out[0] = products_einsum1(n, x, first, arrow + 2);
}

/* dot (arg 0): the last axis of x, the second last of y; inner (arg 1): the last of both; vdot
 * (arg 2): of flat arrays */
static void products_dot(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  for (int i = 0; i < 2 && n->row->arg == 2; i++) x[i] = keras_flat(n, x[i]);
  uint32_t a = keras_rank(n, x[0]), b = keras_rank(n, x[1]);
  if (!a || !b) {
    n->out[0] = keras_op2(n, WICK_OP_mul, x[0], x[1]);
    return;
  }
  int64_t ax = a - 1, ay = b == 1 || n->row->arg ? b - 1 : b - 2;
  n->out[0] = products_contract(n, x[0], x[1], 1, &ax, &ay);
}

static bool products_pair_axes(wick_import_node *n, const wick_json *j, uint32_t rank,
                               uint32_t *count, int64_t *out)
{
  bool seen[WICK_MAX_RANK] = {false};
  bool list = j && j->kind == WICK_JSON_ARRAY;
  *count = 0;
  for (const wick_json *k = list ? j->first : j; k; k = list ? k->next : NULL) {
    int64_t axis;
    uint32_t at;
    if (*count == rank || !wick_json_int(k, &axis) || !wick_import_axis(n, axis, rank, &at) ||
        seen[at])
      return false;
    seen[at] = true;
    out[(*count)++] = at;
  }
  return j != NULL;
}

static void products_tensordot(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  const wick_json *j = keras_config(keras_of(n)->layer, "axes");
  int64_t ax[WICK_MAX_RANK], ay[WICK_MAX_RANK], last = 2;
  uint32_t count, other;
  keras_operands(n, x);
  if (n->failed) return;
  uint32_t a = keras_rank(n, x[0]), b = keras_rank(n, x[1]);
  bool good;
  if (!j || wick_json_int(j, &last)) {
    good = last >= 0 && last <= a && last <= b;
    count = good ? (uint32_t)last : 0;
    for (uint32_t i = 0; i < count; i++) ax[i] = a - count + i, ay[i] = i;
  } else {
    good = products_pair_axes(n, j->first, a, &count, ax) &&
           products_pair_axes(n, wick_json_item(j, 1), b, &other, ay) && count == other;
  }
  if (n->failed) return;
  if (good)
    n->out[0] = products_contract(n, x[0], x[1], count, ax, ay);
  else
    wick_import_fail(n, WICK_EPARSE, "axes are expected to be pairs of axes of both operands");
}

static void products_outer(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  wick_value column = wick_emit_unsqueeze(n->b, keras_flat(n, x[0]), 1);
  n->out[0] = keras_op2(n, WICK_OP_mul, column, keras_flat(n, x[1]));
}

static void products_kron(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  uint32_t a = keras_rank(n, x[0]), b = keras_rank(n, x[1]), rank = a > b ? a : b;
  if (2 * rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the operands have too many dimensions");
    return;
  }
  wick_dim whole[WICK_MAX_RANK], dim[2][WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    wick_dim one = wick_dim_const(1);
    wick_dim p = i + a < rank ? one : keras_dims(n, x[0])[i + a - rank];
    wick_dim q = i + b < rank ? one : keras_dims(n, x[1])[i + b - rank];
    dim[0][2 * i] = p, dim[0][2 * i + 1] = one;
    dim[1][2 * i] = one, dim[1][2 * i + 1] = q;
    whole[i] = wick_dim_mul(n->c->module->dims, p, q);
  }
  for (int k = 0; k < 2; k++) x[k] = wick_build_reshape(n->b, x[k], 2 * rank, dim[k]);
  n->out[0] = wick_build_reshape(n->b, keras_op2(n, WICK_OP_mul, x[0], x[1]), rank, whole);
}

/* The cross product of vectors of 3 elements, or of 2, whose third one is 0. */
static void products_cross(wick_import_node *n)
{
  static const char *const names[] = {"axisa", "axisb"};
  wick_value x[2] = {{0}, {0}}, part[2][3], y[3];
  bool both = keras_attr(n, "axis", 'i').kind != 0, flat = true;
  keras_operands(n, x);
  for (int k = 0; k < 2 && !n->failed; k++) {
    uint32_t rank = keras_rank(n, x[k]), axis;
    if (!keras_axis(n, both ? "axis" : names[k], -1, rank, &axis)) return;
    wick_dim size = keras_dims(n, x[k])[axis];
    if (!wick_dim_is(size, 2) && !wick_dim_is(size, 3)) {
      wick_import_fail(n, WICK_ETYPE, "vectors of 2 or 3 elements are expected");
      return;
    }
    bool third = wick_dim_is(size, 3);
    flat = flat && !third;
    for (int64_t i = 0; i < 2 + third; i++) {
      wick_value v = wick_emit_slice(n->b, x[k], axis, wick_dim_const(i), wick_dim_const(1));
      part[k][i] = wick_emit_squeeze(n->b, v, axis);
    }
    if (!third) part[k][2] = wick_emit_number(n->b, x[k], 0);
  }
  for (uint32_t i = 0; i < 3 && !n->failed; i++) {
    uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
    wick_value plus = keras_op2(n, WICK_OP_mul, part[0][j], part[1][k]);
    wick_value minus = keras_op2(n, WICK_OP_mul, part[0][k], part[1][j]);
    y[i] = keras_op2(n, WICK_OP_sub, plus, minus);
  }
  if (n->failed || n->b->status) return;
  uint32_t axis, rank = keras_rank(n, y[2]);
  if (!keras_axis(n, both ? "axis" : "axisc", -1, rank + 1, &axis)) return;
  for (uint32_t i = 0; i < 2; i++) y[i] = wick_emit_expand(n->b, y[i], rank, keras_dims(n, y[2]));
  n->out[0] = flat ? y[2] : wick_array_stack(n, 3, y, axis);
}

static void products_distances(wick_import_node *n)
{
  wick_value x = products_x(n), y = keras_operand(n, 1, "y", (wick_value){0});
  uint32_t a = keras_rank(n, x), b = keras_rank(n, y);
  if (n->failed) return;
  if (a < 2 || b < 2) {
    wick_import_fail(n, WICK_ETYPE, "matrices are expected");
    return;
  }
  x = wick_emit_unsqueeze(n->b, x, a - 1);
  y = wick_emit_unsqueeze(n->b, y, b - 2);
  wick_value d = keras_op2(n, WICK_OP_sub, x, y);
  n->out[0] = wick_emit_reduce1(n->b, WICK_OP_reduce_l2, d, keras_rank(n, d) - 1, false);
}

static void products_corrcoef(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_floating(n, products_x(n));
  if (n->failed || keras_rank(n, x) != 2) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "a matrix is expected");
    return;
  }
  wick_value d =
      wick_build2(b, WICK_OP_sub, x, wick_emit_reduce1(b, WICK_OP_reduce_mean, x, 1, true));
  wick_value c = wick_build2(b, WICK_OP_matmul, d, wick_build_swap(b, d));
  wick_value norm = wick_emit_reduce1(b, WICK_OP_reduce_l2, d, 1, true);
  wick_value scale = wick_build2(b, WICK_OP_mul, norm, wick_build_swap(b, norm));
  c = wick_build2(b, WICK_OP_div, c, scale);
  wick_value lo = wick_emit_number(b, c, -1), hi = wick_emit_number(b, c, 1);
  n->out[0] = wick_build3(b, WICK_OP_clip, c, lo, hi);
}

static void products_correlate(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  const char *mode = wick_import_text(n, "mode", "valid");
  wick_dims *t = n->c->module->dims;
  keras_operands(n, x);
  if (n->failed) return;
  for (int k = 0; k < 2; k++) {
    x[k] = keras_floating(n, x[k]);
    if (keras_rank(n, x[k]) != 1) {
      wick_import_fail(n, WICK_ETYPE, "vectors are expected");
      return;
    }
  }
  wick_dim size = keras_dims(n, x[0])[0], taps = keras_dims(n, x[1])[0], one = wick_dim_const(1);
  wick_dim most = wick_dim_sub(t, taps, one);
  bool full = strcmp(mode, "valid") != 0;
  if (full) x[0] = wick_array_pad(n, x[0], &most, &most, (wick_value){0});
  for (int k = 0; k < 2; k++)
    x[k] = wick_emit_unsqueeze(n->b, wick_emit_unsqueeze(n->b, x[k], 0), 0);
  wick_value y = keras_op2(n, WICK_OP_conv, x[0], x[1]);
  y = keras_flat(n, y);
  if (strcmp(mode, "same") == 0) {
    wick_dim all = wick_dim_add(t, size, most), want = wick_dim_max(t, size, taps);
    wick_dim begin = wick_dim_floordiv(t, wick_dim_sub(t, all, want), wick_dim_const(2));
    y = wick_emit_slice(n->b, y, 0, begin, want);
  }
  n->out[0] = y;
}

/* ---- segments ---- */

static double products_neutral(wick_elem e, int how)
{
  if (how == 1) return 0;
  if (how == 2) return 1;
  double most = e == WICK_F64           ? 1.7976931348623157e308
                : wick_elem_is_float(e) ? 3.4028234663852886e38
                                        : INFINITY;
  return how == 3 ? -most : most;
}

/* arg: the reduction of scatter_nd. The number of segments is given, or the ids are known. */
static void products_segment(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "data", (wick_value){0});
  wick_value ids = keras_operand(n, 1, "segment_ids", (wick_value){0});
  int64_t count = wick_import_int(n, "num_segments", -1);
  uint32_t rank = keras_rank(n, x);
  if (n->failed) return;
  if (count < 0 || count > INT32_MAX || rank < 1 || keras_rank(n, ids) != 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     count < 0 ? "num_segments must be given"
                               : "the ids are expected to be a vector");
    return;
  }
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dim[i] = keras_dims(n, x)[i];
  dim[0] = wick_dim_const(count + 1); /* the last one takes what is outside */
  wick_elem e = keras_elem_of(n, x);
  wick_value zero = wick_emit_number(n->b, x, products_neutral(e, n->row->arg));
  ids = wick_build_cast(n->b, ids, WICK_I64);
  wick_value below = wick_emit_by(n->b, WICK_OP_lt, ids, 0);
  wick_value above = wick_emit_by(n->b, WICK_OP_ge, ids, (double)count);
  wick_value outside = wick_build2(n->b, WICK_OP_or, below, above);
  wick_value last = wick_emit_number(n->b, ids, (double)count);
  ids = wick_build3(n->b, WICK_OP_where, outside, last, ids);
  wick_emit s = wick_emit_begin(n->b, WICK_OP_scatter_nd);
  wick_emit_set_int(&s, "reduction", n->row->arg);
  wick_value base = wick_emit_expand(n->b, zero, rank, dim);
  wick_value at = wick_emit_unsqueeze(n->b, ids, 1);
  wick_value y = wick_emit_end(&s, 3, (wick_value[]){base, at, x});
  n->out[0] = wick_emit_slice(n->b, y, 0, wick_dim_const(0), wick_dim_const(count));
}

/* The counts of elements between the edges of equal bins, and the edges. */
static void products_histogram(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_flat(n, keras_floating(n, products_x(n))), lo, hi;
  int64_t bins = wick_import_int(n, "bins", 10);
  wick_import_attr range = keras_attr(n, "range", 'F');
  if (n->failed) return;
  if (bins < 1 || bins > 1 << 20 || (range.kind && (range.kind != 'F' || range.n != 2))) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "bins and range are expected to be numbers");
    return;
  }
  lo = range.kind ? wick_emit_number(b, x, range.floats[0])
                  : wick_emit_reduce1(b, WICK_OP_reduce_min, x, 0, false);
  hi = range.kind ? wick_emit_number(b, x, range.floats[1])
                  : wick_emit_reduce1(b, WICK_OP_reduce_max, x, 0, false);
  wick_value at =
      wick_build_cast(b, wick_emit_count(b, wick_dim_const(bins + 1)), keras_elem_of(n, x));
  wick_value width = wick_build2(b, WICK_OP_sub, hi, lo);
  width = wick_emit_by(b, WICK_OP_div, width, (double)bins);
  wick_value edges = wick_build2(b, WICK_OP_add, lo, wick_build2(b, WICK_OP_mul, at, width));
  wick_value inner = wick_emit_slice(b, edges, 0, wick_dim_const(1), wick_dim_const(bins - 1));
  wick_value each = wick_emit_unsqueeze(b, x, 1);
  wick_value before = wick_build_cast(b, wick_build2(b, WICK_OP_le, inner, each), WICK_I64);
  wick_value bin = wick_emit_reduce1(b, WICK_OP_reduce_sum, before, 1, false);
  wick_value above = wick_build2(b, WICK_OP_ge, x, lo), below = wick_build2(b, WICK_OP_le, x, hi);
  wick_value inside =
      wick_build_cast(b, wick_build2(b, WICK_OP_and, above, below), keras_elem_of(n, x));
  wick_value own = wick_emit_count_along(b, wick_dim_const(bins), 1, 2);
  wick_value hit = wick_build2(b, WICK_OP_eq, wick_emit_unsqueeze(b, bin, 1), own);
  wick_value weight = wick_build_cast(b, hit, keras_elem_of(n, x));
  weight = wick_build2(b, WICK_OP_mul, weight, wick_emit_unsqueeze(b, inside, 1));
  n->out[0] = wick_emit_reduce1(b, WICK_OP_reduce_sum, weight, 0, false);
  n->out[1] = edges;
}

const wick_import_op keras_products[] = {
    KERAS_ROW("CDist", 1, 2, 1, products_distances, .arg = 0),
    KERAS_ROW("Corrcoef", 1, 1, 1, products_corrcoef, .arg = 0),
    KERAS_ROW("Correlate", 1, 2, 1, products_correlate, .arg = 0),
    KERAS_ROW("Cross", 1, 2, 1, products_cross, .arg = 0),
    KERAS_ROW("Dot", 1, 2, 1, products_dot, .arg = 0),
    KERAS_ROW("Histogram", 1, 1, 2, products_histogram, .arg = 0),
    KERAS_ROW("Einsum", 1, WICK_ANY, 1, products_einsum, .arg = 0),
    KERAS_ROW("Inner", 1, 2, 1, products_dot, .arg = 1),
    KERAS_ROW("Kron", 1, 2, 1, products_kron, .arg = 0),
    KERAS_ROW("Outer", 1, 2, 1, products_outer, .arg = 0),
    KERAS_ROW("SegmentMax", 1, 2, 1, products_segment, .arg = 3),
    KERAS_ROW("SegmentMin", 1, 2, 1, products_segment, .arg = 4),
    KERAS_ROW("SegmentProd", 1, 2, 1, products_segment, .arg = 2),
    KERAS_ROW("SegmentSum", 1, 2, 1, products_segment, .arg = 1),
    KERAS_ROW("Tensordot", 1, 2, 1, products_tensordot, .arg = 0),
    KERAS_ROW("Vdot", 1, 2, 1, products_dot, .arg = 2),
    {.name = NULL},
};
