/* Operators that move elements: shapes, slices, pads, concatenation. Quantized tensors keep their
 * numbers; where the scales of operands and results may differ, quantized.c rescales. */
#include <math.h>

#include "import/kit/array.h"
#include "import/tflite/ops.h"
#include "import/tflite/quantized.h"

/* ---- reshape ---- */

/* One size may be -1. The shape is an operand, else an option. */
static void shape_reshape(wick_import_node *n)
{
  uint32_t count = 0;
  const wick_dim *dim = NULL;
  if (wick_import_has(n, 1)) {
    if (!wick_import_dims(n, 1, "the shape", &count, &dim)) return;
  } else {
    wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options, 0, 4);
    wick_dim *own = wick_new(n->c->tmp, wick_dim, l.n + 1u);
    for (uint32_t k = 0; k < l.n; k++) own[k] = wick_dim_const(wick_flat_item_int(l, k, 4));
    count = l.n, dim = own;
  }
  n->out[0] = wick_build_reshape(n->b, n->in[0], count, dim);
}

/* Without axes all dimensions of size 1 go. */
static void shape_squeeze(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options, 0, 4);
  uint32_t drop = 0, rank = 0, axis;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < l.n; k++) {
    if (!wick_import_axis(n, wick_flat_item_int(l, k, 4), t->rank, &axis)) return;
    drop |= 1u << axis;
  }
  for (uint32_t k = 0; k < t->rank; k++)
    if (l.n ? !(drop >> k & 1) : !wick_dim_is(t->dim[k], 1)) dim[rank++] = t->dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

static void shape_expand_dims(wick_import_node *n)
{
  int64_t axis;
  uint32_t at;
  if (!wick_import_one(n, 1, "the axis", 0, &axis) ||
      !wick_import_axis(n, axis, wick_import_info(n, 0)->rank + 1, &at))
    return;
  n->out[0] = wick_emit_unsqueeze(n->b, n->in[0], at);
}

static void shape_transpose(wick_import_node *n)
{
  uint32_t count;
  const int64_t *perm;
  int64_t own[WICK_MAX_RANK];
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_numbers(n, 1, "the permutation", &count, &perm)) return;
  if (count != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "the permutation has %u numbers, expected %u", count, t->rank);
    return;
  }
  for (uint32_t k = 0; k < count; k++) own[k] = perm[k] < 0 ? perm[k] + count : perm[k];
  n->out[0] = wick_build_transpose(n->b, n->in[0], count, own);
}

/* ---- joining and splitting ---- */

static void shape_concat(wick_import_node *n)
{
  uint32_t axis;
  wick_value *in = wick_new(n->c->tmp, wick_value, n->nin + 1);
  if (!wick_import_axis(n, wick_tflite_i32(n, 0, 0), wick_import_info(n, 0)->rank, &axis)) return;
  for (uint32_t i = 0; i < n->nin; i++) in[i] = wick_tflite_rescaled(n, i);
  wick_value y = wick_build_concat(n->b, axis, n->nin, in);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 1));
}

static void shape_pack(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_import_axis(n, wick_tflite_i32(n, 1, 0), wick_import_info(n, 0)->rank + 1, &axis))
    return;
  n->out[0] = wick_array_stack(n, n->nin, n->in, axis);
}

static void shape_unpack(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_import_axis(n, wick_tflite_i32(n, 1, 0), wick_import_info(n, 0)->rank, &axis)) return;
  wick_array_unstack(n, n->in[0], axis, n->nout, n->out);
}

/* SPLIT's axis is operand 0; SPLIT_V has the sizes as operand 1 (one may be -1), the axis as
 * operand 2. */
static void shape_split(wick_import_node *n)
{
  bool sized = n->row->arg;
  uint32_t x = sized ? 0 : 1, axis, count = n->nout;
  int64_t at;
  const int64_t *sizes = NULL;
  if (!wick_import_one(n, sized ? 2 : 0, "the axis", 0, &at) ||
      !wick_import_axis(n, at, wick_import_info(n, x)->rank, &axis) ||
      (sized && !wick_import_numbers(n, 1, "the sizes", &count, &sizes)))
    return;
  wick_dims *t = n->c->module->dims;
  wick_dim size = wick_import_info(n, x)->dim[axis], begin = wick_dim_const(0), rest = size,
           equal = wick_dim_floordiv(t, size, wick_dim_const(n->nout ? n->nout : 1));
  if (count != n->nout) {
    wick_import_fail(n, WICK_ETYPE, "it has %u sizes for %u outputs", count, n->nout);
    return;
  }
  for (uint32_t k = 0; sized && k < count; k++)
    if (sizes[k] >= 0) rest = wick_dim_sub(t, rest, wick_dim_const(sizes[k]));
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_dim part = !sized ? equal : sizes[k] < 0 ? rest : wick_dim_const(sizes[k]);
    n->out[k] = wick_emit_slice(n->b, n->in[x], axis, begin, part);
    begin = wick_dim_add(t, begin, part);
  }
}

/* ---- slices ---- */

/* A size of -1 is the rest. */
static void shape_slice(wick_import_node *n)
{
  uint32_t nbegin, nsize;
  const wick_dim *begin, *size;
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dim shape[WICK_MAX_RANK];
  if (!wick_import_dims(n, 1, "the begin", &nbegin, &begin) ||
      !wick_import_dims(n, 2, "the size", &nsize, &size))
    return;
  if (nbegin != t->rank || nsize != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "begin and size have %u and %u numbers, expected %u", nbegin,
                     nsize, t->rank);
    return;
  }
  for (uint32_t k = 0; k < t->rank; k++)
    shape[k] =
        wick_dim_is(size[k], -1) ? wick_dim_sub(n->c->module->dims, t->dim[k], begin[k]) : size[k];
  n->out[0] = wick_build_slice(n->b, n->in[0], t->rank, begin, shape, NULL);
}

static void shape_strided_slice(wick_import_node *n)
{
  wick_array_strided s = {.at = n->in[1],
                          .begin_mask = wick_tflite_i32(n, 0, 0),
                          .end_mask = wick_tflite_i32(n, 1, 0),
                          .ellipsis_mask = wick_tflite_i32(n, 2, 0),
                          .new_axis_mask = wick_tflite_i32(n, 3, 0),
                          .shrink_mask = wick_tflite_i32(n, 4, 0),
                          .offset = wick_tflite_byte(n, 5)};
  uint32_t nend = 0;
  const wick_type_info *begin = wick_import_info(n, 1);
  if (!wick_import_rank(n, 1, 1, 1) || !wick_import_numbers(n, 3, "the strides", &s.n, &s.stride))
    return;
  if (!wick_dim_is(begin->dim[0], s.n)) {
    wick_import_fail(n, WICK_ETYPE, "begin and strides have different numbers of entries");
    return;
  }
  wick_tensor known;
  wick_import *c = n->c;
  bool have =
           n->b->values.at[n->in[1].id].content || wick_known_value(n->b, c->tmp, n->in[1], &known),
       have_end =
           n->b->values.at[n->in[2].id].content || wick_known_value(n->b, c->tmp, n->in[2], &known);
  uint32_t nbegin = s.n;
  if (have && !wick_import_dims(n, 1, "the begin", &nbegin, &s.begin)) return;
  if (have_end && !wick_import_dims(n, 2, "the end", &nend, &s.end)) return;
  if (nbegin != s.n || (have_end && nend != s.n)) {
    wick_import_fail(n, WICK_ETYPE, "begin, end and strides have different numbers of entries");
    return;
  }
  n->out[0] = wick_array_strided_slice(n, n->in[0], &s);
}

/* ---- pads ---- */

/* Reads pairs [before, after] for each dimension. */
static bool shape_pairs(wick_import_node *n, uint32_t i, const char *what, uint32_t count,
                        wick_dim *before, wick_dim *after)
{
  uint32_t have;
  const wick_dim *v;
  if (!wick_import_dims(n, i, what, &have, &v)) return false;
  if (have != 2 * count) {
    wick_import_fail(n, WICK_ETYPE, "%s has %u numbers, expected %u", what, have, 2 * count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) before[k] = v[2 * k], after[k] = v[2 * k + 1];
  return true;
}

/* Quantized tensors are padded with their zero point. */
static void shape_pad(wick_import_node *n)
{
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (!shape_pairs(n, 1, "the padding", rank, before, after)) return;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0);
  wick_value fill = {0};
  if (wick_import_has(n, 2))
    fill = wick_import_info(n, 2)->rank ? wick_build_reshape(n->b, n->in[2], 0, NULL) : n->in[2];
  else if (x->quant.n && wick_elem_is_int(x->elem))
    fill = wick_emit_number(n->b, n->in[0], (double)x->quant.zero[0]);
  n->out[0] = wick_array_pad(n, n->in[0], before, after, fill);
}

static void shape_mirror_pad(wick_import_node *n)
{
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  if (!shape_pairs(n, 1, "the padding", wick_import_info(n, 0)->rank, before, after)) return;
  n->out[0] = wick_array_mirror_pad(n, n->in[0], before, after, wick_tflite_byte(n, 0) == 1);
}

static void shape_space_batch(wick_import_node *n)
{
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  uint32_t count;
  const int64_t *block;
  if (!wick_import_numbers(n, 1, "the block shape", &count, &block)) return;
  if (count >= WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "the block shape has %u numbers", count);
    return;
  }
  if (!shape_pairs(n, 2, n->row->arg ? "the crops" : "the padding", count, before, after)) return;
  n->out[0] = n->row->arg ? wick_array_batch_to_space(n, n->in[0], count, block, before, after)
                          : wick_array_space_to_batch(n, n->in[0], count, block, before, after,
                                                      wick_tflite_zero(n, 0));
}

/* ---- repetition ---- */

static void shape_tile(wick_import_node *n)
{
  uint32_t count;
  const wick_dim *times;
  if (!wick_import_dims(n, 1, "the multiples", &count, &times)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", count, times);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

static void shape_broadcast_to(wick_import_node *n)
{
  uint32_t count;
  const wick_dim *dim;
  if (wick_import_dims(n, 1, "the shape", &count, &dim))
    n->out[0] = wick_emit_expand(n->b, n->in[0], count, dim);
}

static void shape_fill(wick_import_node *n)
{
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 0, "the shape", &count, &dim)) return;
  wick_value x = n->in[1];
  if (wick_import_info(n, 1)->rank) x = wick_build_reshape(n->b, x, 0, NULL);
  n->out[0] = wick_emit_expand(n->b, x, count, dim);
}

static wick_value shape_sizes(wick_import_node *n, uint32_t count, const wick_dim *dim, wick_elem e)
{
  wick_dim shape[2] = {wick_dim_const(count)};
  wick_value part[2 * WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k < count; k++) {
    wick_value one = wick_emit_count(n->b, dim[k]);
    one = wick_build1(n->b, WICK_OP_size, one);
    part[k] = wick_emit_unsqueeze(n->b, one, 0);
  }
  if (!count) return wick_build_const(n->b, wick_type_tensor(n->c->module, e, 1, shape), 0, 0);
  wick_value all = count == 1 ? part[0] : wick_build_concat(n->b, 0, count, part);
  return n->b->status ? all : wick_build_cast(n->b, all, e);
}

static void shape_broadcast_args(wick_import_node *n)
{
  uint32_t na, nb, count;
  const wick_dim *a, *b;
  wick_dim out[2 * WICK_MAX_RANK];
  if (!wick_import_dims(n, 0, "the first shape", &na, &a) ||
      !wick_import_dims(n, 1, "the second shape", &nb, &b))
    return;
  if (na > WICK_MAX_RANK || nb > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "a shape has more than %d numbers", WICK_MAX_RANK);
    return;
  }
  if (wick_array_broadcast(n, na, a, nb, b, &count, out))
    n->out[0] = shape_sizes(n, count, out, wick_import_info(n, 0)->elem);
}

static void shape_shape(wick_import_node *n)
{
  wick_value y = wick_build1(n->b, WICK_OP_shape, n->in[0]);
  n->out[0] = n->b->status ? y : wick_build_cast(n->b, y, wick_tflite_out(n, 0)->elem);
}

static void shape_rank(wick_import_node *n)
{
  n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I32, 0, NULL), 0,
                               wick_import_info(n, 0)->rank);
}

/* The number of elements is that of start, start + delta, ... before the limit. */
static void shape_range(wick_import_node *n)
{
  wick_elem e = wick_import_info(n, 0)->elem;
  uint32_t n0, n1, n2;
  wick_dim count;
  if (wick_elem_is_float(e)) {
    const double *a, *z, *d;
    if (!wick_import_reals(n, 0, "the start", &n0, &a) ||
        !wick_import_reals(n, 1, "the limit", &n1, &z) ||
        !wick_import_reals(n, 2, "the delta", &n2, &d))
      return;
    double span = n0 == 1 && n1 == 1 && n2 == 1 && d[0] != 0 ? ceil((z[0] - a[0]) / d[0]) : -1;
    if (!(span <= 1e9)) {
      wick_import_fail(n, WICK_ERANGE, "the range has %g elements", span);
      return;
    }
    count = wick_dim_const(span < 0 ? 0 : (int64_t)span);
  } else {
    const wick_dim *a, *z, *d;
    wick_dims *t = n->c->module->dims;
    if (!wick_import_dims(n, 0, "the start", &n0, &a) ||
        !wick_import_dims(n, 1, "the limit", &n1, &z) ||
        !wick_import_dims(n, 2, "the delta", &n2, &d))
      return;
    if (n0 != 1 || n1 != 1 || n2 != 1 || !wick_dim_is_const(d[0]) || !d[0].v ||
        d[0].v == INT64_MIN) {
      wick_import_fail(n, WICK_ERANGE, "the delta of the range must be a number other than 0");
      return;
    }
    wick_dim span = d[0].v > 0 ? wick_dim_sub(t, z[0], a[0]) : wick_dim_sub(t, a[0], z[0]);
    count = wick_dim_ceildiv(t, span, wick_dim_const(d[0].v > 0 ? d[0].v : -d[0].v));
    count = wick_dim_max(t, count, wick_dim_const(0));
  }
  wick_value start = n->in[0], delta = n->in[2];
  if (wick_import_info(n, 0)->rank) start = wick_build_reshape(n->b, start, 0, NULL);
  if (wick_import_info(n, 2)->rank) delta = wick_build_reshape(n->b, delta, 0, NULL);
  wick_emit r = wick_emit_begin(n->b, WICK_OP_range);
  wick_emit_set_dims(&r, "count", 1, &count);
  n->out[0] = wick_emit_end2(&r, start, delta);
}

/* ---- reversals ---- */

static void shape_reverse(wick_import_node *n)
{
  uint32_t count, axis, axes = 0;
  const int64_t *list;
  if (!wick_import_numbers(n, 1, "the axes", &count, &list)) return;
  for (uint32_t k = 0; k < count; k++) {
    if (!wick_import_axis(n, list[k], wick_import_info(n, 0)->rank, &axis)) return;
    axes |= 1u << axis;
  }
  n->out[0] = wick_array_reverse(n, n->in[0], axes);
}

static void shape_reverse_sequence(wick_import_node *n)
{
  uint32_t seq, batch, rank = wick_import_info(n, 0)->rank;
  if (wick_import_axis(n, wick_tflite_i32(n, 0, 0), rank, &seq) &&
      wick_import_axis(n, wick_tflite_i32(n, 1, 0), rank, &batch))
    n->out[0] = wick_array_reverse_sequence(n, n->in[0], n->in[1], seq, batch);
}

#define F NULL

const wick_import_op wick_tflite_shape_ops[] = {
    {"BATCH_TO_SPACE_ND", 1, {3, 3}, 1, NULL, shape_space_batch, WICK_OP_none, 1, F, NULL},
    {"BROADCAST_ARGS", 1, {2, 2}, 1, NULL, shape_broadcast_args, WICK_OP_none, 0, F, NULL},
    {"BROADCAST_TO", 1, {2, 2}, 1, NULL, shape_broadcast_to, WICK_OP_none, 0, F, NULL},
    {"CONCATENATION", 1, {1, WICK_ANY}, 1, NULL, shape_concat, WICK_OP_none, 0, F, NULL},
    {"EXPAND_DIMS", 1, {2, 2}, 1, NULL, shape_expand_dims, WICK_OP_none, 0, F, NULL},
    {"FILL", 1, {2, 2}, 1, NULL, shape_fill, WICK_OP_none, 0, F, NULL},
    {"MIRROR_PAD", 1, {2, 2}, 1, NULL, shape_mirror_pad, WICK_OP_none, 0, F, NULL},
    {"PACK", 1, {1, WICK_ANY}, 1, NULL, shape_pack, WICK_OP_none, 0, F, NULL},
    {"PAD", 1, {2, 2}, 1, NULL, shape_pad, WICK_OP_none, 0, F, NULL},
    {"PADV2", 1, {3, 3}, 1, NULL, shape_pad, WICK_OP_none, 0, F, NULL},
    {"RANGE", 1, {3, 3}, 1, NULL, shape_range, WICK_OP_none, 0, F, NULL},
    {"RANK", 1, {1, 1}, 1, NULL, shape_rank, WICK_OP_none, 0, F, NULL},
    {"RESHAPE", 1, {1, 2}, 1, NULL, shape_reshape, WICK_OP_none, 0, F, NULL},
    {"REVERSE_SEQUENCE", 1, {2, 2}, 1, NULL, shape_reverse_sequence, WICK_OP_none, 0, F, NULL},
    {"REVERSE_V2", 1, {2, 2}, 1, NULL, shape_reverse, WICK_OP_none, 0, F, NULL},
    {"SHAPE", 1, {1, 1}, 1, NULL, shape_shape, WICK_OP_none, 0, F, NULL},
    {"SLICE", 1, {3, 3}, 1, NULL, shape_slice, WICK_OP_none, 0, F, NULL},
    {"SPACE_TO_BATCH_ND", 1, {3, 3}, 1, NULL, shape_space_batch, WICK_OP_none, 0, F, NULL},
    {"SPLIT", 1, {2, 2}, WICK_ANY, NULL, shape_split, WICK_OP_none, 0, F, NULL},
    {"SPLIT_V", 1, {3, 3}, WICK_ANY, NULL, shape_split, WICK_OP_none, 1, F, NULL},
    {"SQUEEZE", 1, {1, 1}, 1, NULL, shape_squeeze, WICK_OP_none, 0, F, NULL},
    {"STRIDED_SLICE", 1, {4, 4}, 1, NULL, shape_strided_slice, WICK_OP_none, 0, F, NULL},
    {"TILE", 1, {2, 2}, 1, NULL, shape_tile, WICK_OP_none, 0, F, NULL},
    {"TRANSPOSE", 1, {2, 2}, 1, NULL, shape_transpose, WICK_OP_none, 0, F, NULL},
    {"UNPACK", 1, {1, 1}, WICK_ANY, NULL, shape_unpack, WICK_OP_none, 0, F, NULL},
    {0},
};
