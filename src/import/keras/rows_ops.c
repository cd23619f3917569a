/* The functions of keras.ops, which functional models have as nodes. Their tensors are arguments of
 * the call, and other arguments are in the configuration. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

/* An argument of the call by its position or its name, else the member of the configuration. */
wick_value keras_operand(wick_import_node *n, uint32_t at, const char *name, wick_value like)
{
  const keras_arg *a = keras_argument(n, at, name);
  if (a->kind == KERAS_NOTHING && at == 0 && n->nin) return n->in[0]; /* under another name */
  if (a->kind == KERAS_NOTHING) {
    wick_import_fail(n, WICK_EPARSE, "the argument %s is missing", name);
    return (wick_value){0};
  }
  return keras_value(n, a, like);
}

wick_value keras_floating(wick_import_node *n, wick_value x)
{
  wick_elem e = keras_elem_of(n, x);
  return wick_elem_is_float(e) ? x : wick_build_cast(n->b, x, WICK_F32);
}

/* Operators of one float; integers are converted (arg 0), or kept (arg 1). */
void keras_unary(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  if (n->row->arg == 0) x = keras_floating(n, x);
  n->out[0] = wick_build1(n->b, n->row->op, x);
}

/* Both operands of a binary function; a number takes the type of the tensor. */
void keras_operands(wick_import_node *n, wick_value out[2])
{
  const keras_arg *a = keras_argument(n, 0, "x1"), *b = keras_argument(n, 1, "x2");
  if (a->kind == KERAS_NOTHING) a = keras_argument(n, 0, "x");
  if (b->kind == KERAS_NOTHING) b = keras_argument(n, 1, "y");
  wick_value like = a->kind == KERAS_TENSOR   ? a->t.v
                    : b->kind == KERAS_TENSOR ? b->t.v
                                              : (wick_value){0};
  if (a->kind == KERAS_NOTHING || b->kind == KERAS_NOTHING) {
    wick_import_fail(n, WICK_EPARSE, "an operand is missing");
    return;
  }
  out[0] = keras_value(n, a, like);
  out[1] = keras_value(n, b, like);
}

enum { OPS_PLAIN, OPS_FLOAT, OPS_BOOL };

/* Operators of two operands: as they are, as floats (arg 1), or as truth values (arg 2). */
void keras_binary(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  for (int i = 0; i < 2 && !n->failed; i++) {
    if (n->row->arg == OPS_FLOAT) x[i] = keras_floating(n, x[i]);
    if (n->row->arg == OPS_BOOL) x[i] = wick_build_cast(n->b, x[i], WICK_BOOL);
  }
  if (!n->failed) n->out[0] = keras_op2(n, n->row->op, x[0], x[1]);
}

void keras_floor_divide(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  wick_elem e = keras_elem_of(n, x[0]);
  wick_value q = keras_op2(n, WICK_OP_div, keras_floating(n, x[0]), keras_floating(n, x[1]));
  q = wick_build1(n->b, WICK_OP_floor, q);
  n->out[0] = wick_elem_is_int(e) ? wick_build_cast(n->b, q, e) : q;
}

void keras_square(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  n->out[0] = wick_build2(n->b, WICK_OP_mul, x, x);
}

void keras_cast_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  const keras_arg *to = keras_argument(n, 1, "dtype");
  const char *name = to->kind == KERAS_CONST ? keras_text(n->c, to->json, NULL) : NULL;
  if (!name) name = wick_import_text(n, "dtype", NULL);
  n->out[0] = wick_build_cast(n->b, x, keras_elem(name, keras_elem_of(n, x)));
}

/* Reductions. Integers are converted for means (arg 1); truth values for sums, all and any (arg 2,
 * whose result is a truth value again). */
void keras_reduction(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  int64_t axes[WICK_MAX_RANK];
  uint32_t naxis;
  if (n->failed || !keras_axes(n, "axis", keras_rank(n, x), &naxis, axes)) return;
  if (n->row->arg == 1) x = keras_floating(n, x);
  if (n->row->arg == 2) x = wick_build_cast(n->b, wick_build_cast(n->b, x, WICK_BOOL), WICK_I32);
  if (keras_elem_of(n, x) == WICK_BOOL) x = wick_build_cast(n->b, x, WICK_I32);
  wick_value y = naxis ? wick_emit_reduce(n->b, n->row->op, x, naxis, axes,
                                          keras_is_true(n, "keepdims", false))
                       : x;
  n->out[0] = n->row->arg == 2 ? wick_build_cast(n->b, y, WICK_BOOL) : y;
}

/* Variance, and the standard deviation (arg 1). */
void keras_variance(wick_import_node *n)
{
  wick_value x = keras_floating(n, keras_operand(n, 0, "x", (wick_value){0}));
  int64_t axes[WICK_MAX_RANK];
  uint32_t naxis;
  if (n->failed || !keras_axes(n, "axis", keras_rank(n, x), &naxis, axes)) return;
  wick_value mean = wick_emit_reduce(n->b, WICK_OP_reduce_mean, x, naxis, axes, true);
  wick_value d = wick_build2(n->b, WICK_OP_sub, x, mean);
  wick_value square = wick_build2(n->b, WICK_OP_mul, d, d);
  wick_value y = wick_emit_reduce(n->b, WICK_OP_reduce_mean, square, naxis, axes,
                                  keras_is_true(n, "keepdims", false));
  n->out[0] = n->row->arg ? wick_build1(n->b, WICK_OP_sqrt, y) : y;
}

/* arg 1: of TensorFlow, along the first axis by default, with positions in i64 */
void keras_arg_extreme(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  uint32_t rank = keras_rank(n, x), axis = 0;
  bool flat = !n->row->arg && !keras_attr(n, "axis", 'i').kind;
  if (n->failed || (!flat && !keras_axis(n, "axis", 0, rank, &axis))) return;
  if (flat) {
    wick_dim all = (wick_dim){-1};
    x = keras_reshape_to(n, x, 1, &all);
  }
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", !flat && keras_is_true(n, "keepdims", false));
  wick_elem to =
      n->row->arg ? keras_elem(wick_import_text(n, "output_type", NULL), WICK_I64) : WICK_I32;
  n->out[0] = wick_build_cast(n->b, wick_emit_end1(&e, x), to);
}

void keras_clip_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  double least = wick_import_real(n, "x_min", wick_import_real(n, "clip_value_min", 0));
  double most = wick_import_real(n, "x_max", wick_import_real(n, "clip_value_max", 0));
  wick_value lo = wick_emit_number(n->b, x, least);
  wick_value hi = wick_emit_number(n->b, x, most);
  n->out[0] = wick_build3(n->b, WICK_OP_clip, x, lo, hi);
}

/* ---- shapes ---- */

/* Sizes from an attribute or an argument: numbers, -1, or None for the size of the batch. */
bool keras_shape(wick_import_node *n, const char *name, uint32_t *rank, wick_dim *dim)
{
  const wick_json *j = keras_config(keras_of(n)->layer, name);
  const keras_arg *a = keras_argument(n, 1, name);
  if (a->kind == KERAS_NOTHING) a = keras_argument(n, 1, "shape"); /* TensorFlow's name */
  if (!j && a->json) j = a->json;
  *rank = 0;
  int64_t one;
  if (j && wick_json_int(j, &one)) {
    dim[(*rank)++] = one < 0 ? (wick_dim){-1} : wick_dim_const(one);
    return true;
  }
  for (const wick_json *k = j ? j->first : NULL; k; k = k->next) {
    if (*rank == WICK_MAX_RANK || (k->kind != WICK_JSON_NULL && !wick_json_int(k, &one))) break;
    dim[(*rank)++] = k->kind == WICK_JSON_NULL || one < 0 ? (wick_dim){-1} : wick_dim_const(one);
  }
  if (j && j->kind == WICK_JSON_ARRAY && *rank == j->n) return true;
  wick_import_fail(n, WICK_EUNSUPPORTED, "%s is expected to be numbers", name);
  return false;
}

void keras_reshape_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank, open = 0;
  if (n->failed || !keras_shape(n, "newshape", &rank, dim)) return;
  for (uint32_t i = 0; i < rank; i++) open += wick_dim_is(dim[i], -1);
  if (open > 1) {
    wick_import_fail(n, WICK_EPARSE, "the shape has %u sizes that are -1", open);
    return;
  }
  n->out[0] = keras_reshape_to(n, x, rank, dim);
}

void keras_transpose_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  uint32_t rank = keras_rank(n, x), naxis;
  int64_t perm[WICK_MAX_RANK];
  const char *name = keras_attr(n, "perm", 'I').kind ? "perm" : "axes"; /* TensorFlow's, Keras' */
  if (n->failed || !keras_axes(n, name, rank, &naxis, perm)) return;
  for (uint32_t i = 0; i < rank && !keras_attr(n, name, 'I').kind; i++) perm[i] = rank - 1 - i;
  n->out[0] = wick_build_transpose(n->b, x, rank, perm);
}

void keras_swapaxes(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  uint32_t rank = keras_rank(n, x), a, b;
  int64_t perm[WICK_MAX_RANK];
  if (n->failed || !keras_axis(n, "axis1", 0, rank, &a) || !keras_axis(n, "axis2", 1, rank, &b))
    return;
  for (uint32_t i = 0; i < rank; i++) perm[i] = i == a ? b : i == b ? a : i;
  n->out[0] = wick_build_transpose(n->b, x, rank, perm);
}

void keras_expand_dims(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  wick_import_attr a = keras_attr(n, "axis", 'I');
  int64_t axis[WICK_MAX_RANK] = {a.i};
  uint32_t count = a.kind == 'I' ? a.n : 1, rank = keras_rank(n, x);
  bool one[2 * WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK];
  if (n->failed) return;
  if (rank + count > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the result has too many dimensions");
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t k;
    if (a.kind == 'I') axis[i] = a.ints[i];
    if (!wick_import_axis(n, axis[i], rank + count, &k)) return;
    one[k] = true;
  }
  for (uint32_t i = 0, k = 0; i < rank + count; i++)
    dim[i] = one[i] || k >= rank ? wick_dim_const(1) : keras_dims(n, x)[k++];
  n->out[0] = wick_build_reshape(n->b, x, rank + count, dim);
}

void keras_squeeze_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  uint32_t rank = keras_rank(n, x), naxis, k = 0;
  int64_t axes[WICK_MAX_RANK];
  bool given = keras_attr(n, "axis", 'I').kind != 0, gone[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK];
  if (n->failed || !keras_axes(n, "axis", rank, &naxis, axes)) return;
  for (uint32_t i = 0; i < naxis; i++)
    gone[axes[i]] = given || wick_dim_is(keras_dims(n, x)[axes[i]], 1);
  for (uint32_t i = 0; i < rank; i++)
    if (!gone[i]) dim[k++] = keras_dims(n, x)[i];
  n->out[0] = wick_build_reshape(n->b, x, k, dim);
}

/* The tensors of a list; numbers take the type of the first one. */
uint32_t keras_list(wick_import_node *n, const char *name, wick_value *out)
{
  const keras_arg *a = keras_argument(n, 0, name);
  if (a->kind == KERAS_NOTHING) a = keras_argument(n, 0, "values");
  wick_value like = n->nin ? n->in[0] : (wick_value){0};
  if (a->kind != KERAS_LIST || !a->n || a->n > KERAS_MOST) {
    wick_import_fail(n, WICK_EPARSE, "a list of tensors is expected");
    return 0;
  }
  for (uint32_t i = 0; i < a->n; i++) out[i] = keras_value(n, &a->item[i], like);
  return a->n;
}

void keras_concatenate_op(wick_import_node *n)
{
  wick_value all[KERAS_MOST];
  uint32_t count = keras_list(n, "xs", all), axis;
  if (!count || !keras_axis(n, "axis", -1, keras_rank(n, all[0]), &axis)) return;
  keras_common_all(n, count, all);
  n->out[0] = wick_build_concat(n->b, axis, count, all);
}

void keras_stack_op(wick_import_node *n)
{
  wick_value all[KERAS_MOST];
  uint32_t count = keras_list(n, "x", all), axis;
  if (!count || !keras_axis(n, "axis", 0, keras_rank(n, all[0]) + 1, &axis)) return;
  keras_common_all(n, count, all);
  for (uint32_t i = 0; i < count; i++) all[i] = wick_emit_unsqueeze(n->b, all[i], axis);
  n->out[0] = wick_build_concat(n->b, axis, count, all);
}

/* Split into equal parts, or at indices. */
void keras_split_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  /* TensorFlow's function has a list of sizes, Keras' one of positions but the last. */
  wick_import_attr sizes = keras_attr(n, "num_or_size_splits", 'I');
  wick_import_attr a = n->row->arg ? sizes : keras_attr(n, "indices_or_sections", 'I');
  uint32_t axis, count = a.kind != 'I' ? (uint32_t)a.i : n->row->arg ? a.n : a.n + 1;
  if (n->failed || !keras_axis(n, "axis", 0, keras_rank(n, x), &axis)) return;
  wick_dims *t = n->c->module->dims;
  wick_dim size = keras_dims(n, x)[axis], at = wick_dim_const(0);
  if (count < 1 || count > KERAS_MOST || (a.kind == 'i' && a.i < 1)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "more than %d parts are not supported", KERAS_MOST);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    wick_dim end = a.kind != 'I'
                       ? wick_dim_mul(t, wick_dim_floordiv(t, size, wick_dim_const(count)),
                                      wick_dim_const(i + 1))
                   : i + 1 == count ? size
                   : n->row->arg    ? wick_dim_add(t, at, wick_dim_const(a.ints[i]))
                                    : wick_dim_const(a.ints[i]);
    n->out[i] = wick_emit_slice(n->b, x, axis, at, wick_dim_sub(t, end, at));
    at = end;
  }
}

void keras_take(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0}), flat;
  wick_value index = keras_operand(n, 1, "indices", (wick_value){0});
  uint32_t axis = 0;
  if (n->failed) return;
  if (!keras_attr(n, "axis", 'i').kind) {
    wick_dim all = (wick_dim){-1};
    flat = keras_reshape_to(n, x, 1, &all);
  } else {
    flat = x;
    if (!keras_axis(n, "axis", 0, keras_rank(n, x), &axis)) return;
  }
  n->out[0] = wick_emit_gather(n->b, n->row->op, flat, index, axis);
}

void keras_where_op(wick_import_node *n)
{
  wick_value c = keras_operand(n, 0, "condition", (wick_value){0});
  const keras_arg *a = keras_argument(n, 1, "x1"), *b = keras_argument(n, 2, "x2");
  wick_value like = a->kind == KERAS_TENSOR   ? a->t.v
                    : b->kind == KERAS_TENSOR ? b->t.v
                                              : (wick_value){0};
  if (n->failed) return;
  wick_value x = keras_value(n, a, like), y = keras_value(n, b, like);
  if (n->failed) return;
  c = wick_build_cast(n->b, c, WICK_BOOL);
  if (keras_elem_of(n, x) != keras_elem_of(n, y)) {
    x = keras_floating(n, x);
    y = wick_build_cast(n->b, y, keras_elem_of(n, x));
  }
  n->out[0] = wick_build3(n->b, WICK_OP_where, c, x, y);
}

void keras_one_hot_op(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  int64_t classes = wick_import_int(n, "num_classes", 0);
  uint32_t rank = keras_rank(n, x), axis;
  if (n->failed || !keras_axis(n, "axis", -1, rank + 1, &axis)) return;
  wick_value index = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, x, WICK_I64), axis);
  wick_value all = wick_emit_count_along(n->b, wick_dim_const(classes), axis, rank + 1);
  wick_value eq = wick_build2(n->b, WICK_OP_eq, index, all);
  n->out[0] = wick_build_cast(n->b, eq, keras_elem(wick_import_text(n, "dtype", NULL), WICK_F32));
}

void keras_matmul_op(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (!n->failed) n->out[0] = keras_op2(n, WICK_OP_matmul, x[0], x[1]);
}

void keras_softmax_op(wick_import_node *n)
{
  wick_value x = keras_floating(n, keras_operand(n, 0, "x", (wick_value){0}));
  uint32_t axis;
  if (n->failed || !keras_axis(n, "axis", -1, keras_rank(n, x), &axis)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end1(&e, x);
}

/* ---- indexing ---- */

/* Reads the bound of a slice; false if it is a tensor. */
static bool ops_bound(const wick_json *j, int64_t otherwise, int64_t *out)
{
  *out = otherwise;
  return !j || j->kind == WICK_JSON_NULL || wick_json_int(j, out);
}

/* One slice of an axis, with Python's rule for numbers beyond the ends. */
static wick_value ops_slice(wick_import_node *n, wick_value x, uint32_t axis, const wick_json *s)
{
  int64_t begin, end, step;
  const wick_json *stop = wick_json_member(s, "stop");
  wick_dims *t = n->c->module->dims;
  wick_dim size = keras_dims(n, x)[axis], zero = wick_dim_const(0), from, to;
  bool open = !stop || stop->kind == WICK_JSON_NULL;
  if (!ops_bound(wick_json_member(s, "step"), 1, &step) || !step ||
      !ops_bound(wick_json_member(s, "start"), step > 0 ? 0 : -1, &begin) ||
      !ops_bound(stop, 0, &end)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "slices with computed bounds are not supported");
    return x;
  }
  wick_dim last = wick_dim_sub(t, size, wick_dim_const(1));
  from = begin < 0 ? wick_dim_max(t, wick_dim_add(t, size, wick_dim_const(begin)), zero)
                   : wick_dim_min(t, wick_dim_const(begin), step > 0 ? size : last);
  if (step < 0) {
    to = open      ? wick_dim_const(-1)
         : end < 0 ? wick_dim_add(t, size, wick_dim_const(end))
                   : wick_dim_const(end);
    wick_dim span = wick_dim_max(t, wick_dim_sub(t, from, to), zero);
    return wick_build_slice_axis(n->b, x, axis, from,
                                 wick_dim_ceildiv(t, span, wick_dim_const(-step)), step);
  }
  to = open      ? size
       : end < 0 ? wick_dim_max(t, wick_dim_add(t, size, wick_dim_const(end)), zero)
                 : wick_dim_min(t, wick_dim_const(end), size);
  wick_dim span = wick_dim_max(t, wick_dim_sub(t, to, from), zero);
  return wick_build_slice_axis(n->b, x, axis, from, wick_dim_ceildiv(t, span, wick_dim_const(step)),
                               step);
}

static bool ops_is_ellipsis(const keras_arg *a)
{
  const wick_json *j = a->json;
  return j && (wick_json_is(wick_json_member(j, "class_name"), "__ellipsis__") ||
               wick_json_is(j, "..."));
}

/* x[key]: numbers, slices, "...", None. */
void keras_get_item(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  const keras_arg *key = keras_argument(n, 1, "key");
  if (key->kind == KERAS_NOTHING) key = keras_argument(n, 1, "slice_spec");
  keras_arg one = *key;
  bool several = key->kind == KERAS_LIST && key->json->kind == WICK_JSON_ARRAY;
  several = several || (key->kind == KERAS_LIST && wick_json_member(key->json, "class_name"));
  uint32_t count = several ? key->n : 1, axis = 0, used = 0;
  const keras_arg *item = several ? key->item : &one;
  for (uint32_t i = 0; i < count; i++)
    used += item[i].kind != KERAS_NOTHING && !ops_is_ellipsis(&item[i]);
  uint32_t whole = keras_rank(n, x) > used ? keras_rank(n, x) - used : 0;
  for (uint32_t i = 0; i < count && !n->failed && !n->b->status; i++) {
    const keras_arg *a = &item[i];
    int64_t k;
    if (axis >= keras_rank(n, x) && a->kind != KERAS_NOTHING && !ops_is_ellipsis(a)) {
      wick_import_fail(n, WICK_ETYPE, "there are more indices than axes");
    } else if (a->kind == KERAS_NOTHING) {
      x = wick_emit_unsqueeze(n->b, x, axis++);
    } else if (ops_is_ellipsis(a)) {
      axis += whole;
    } else if (a->kind == KERAS_CONST && wick_json_int(a->json, &k)) {
      wick_dim size = keras_dims(n, x)[axis];
      wick_dim at =
          k < 0 ? wick_dim_add(n->c->module->dims, size, wick_dim_const(k)) : wick_dim_const(k);
      x = wick_emit_squeeze(n->b, wick_emit_slice(n->b, x, axis, at, wick_dim_const(1)), axis);
    } else if (a->kind == KERAS_LIST && a->json->kind == WICK_JSON_OBJECT) {
      x = ops_slice(n, x, axis++, a->json);
    } else if (a->kind == KERAS_CONST && wick_json_member(a->json, "config")) {
      x = ops_slice(n, x, axis++, wick_json_member(a->json, "config"));
    } else if (a->kind == KERAS_TENSOR) {
      x = wick_emit_gather(n->b, WICK_OP_gather, x, a->t.v, axis);
      axis += keras_rank(n, a->t.v);
    } else {
      wick_import_fail(n, WICK_EUNSUPPORTED, "this index is not supported");
    }
  }
  n->out[0] = x;
}
