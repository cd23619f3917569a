/* Imports Caffe2's operators that move elements, and those that make tensors. */
#include <string.h>

#include "import/caffe2/ops.h"
#include "import/kit/array.h"

/* ---- sizes ---- */

/* Reads sizes: an argument, or else an operand. */
static bool shape_sizes(wick_import_node *n, const char *name, uint32_t i, uint32_t *out_n,
                        const wick_dim **out)
{
  wick_import_attr a = wick_import_ints(n, name);
  if (n->nin > i) return wick_import_dims(n, i, name, out_n, out);
  wick_dim *dim = wick_new(n->c->tmp, wick_dim, (size_t)a.n + 1);
  for (uint32_t k = 0; k < a.n; k++) dim[k] = wick_dim_const(a.ints[k]);
  *out_n = a.n, *out = dim;
  return true;
}

/* ---- reshaping ---- */

/* 0 keeps a size, -1 is computed from the others. */
void wick_caffe2_reshape(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_dims *t = n->c->module->dims;
  uint32_t rank, open = UINT32_MAX;
  const wick_dim *want;
  wick_dim dim[WICK_MAX_RANK], known = wick_dim_const(1);
  if (!shape_sizes(n, "shape", 1, &rank, &want)) return;
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the new rank is %u, the most is %d", rank,
                     WICK_MAX_RANK);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) {
    dim[k] = wick_dim_is(want[k], 0) && k < x->rank ? x->dim[k] : want[k];
    if (wick_dim_is(want[k], -1) && open != UINT32_MAX) {
      wick_import_fail(n, WICK_ETYPE, "two sizes of the new shape are -1");
      return;
    }
    if (wick_dim_is(want[k], -1))
      open = k;
    else
      known = wick_dim_mul(t, known, dim[k]);
  }
  if (open != UINT32_MAX)
    dim[open] = wick_dim_floordiv(t, wick_array_product(n, x->rank, x->dim), known);
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
  if (n->nout > 1) n->out[1] = wick_array_sizes(n, x->rank, x->dim, WICK_I64);
}

void wick_caffe2_flatten(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_dim all = wick_array_product(n, x->rank, x->dim);
  int64_t axis = wick_import_int(n, "axis", 1);
  if (n->row->arg) {
    n->out[0] = wick_build_reshape(n->b, n->in[0], 1, &all);
  } else if (axis < 0 || axis > x->rank) {
    wick_import_fail(n, WICK_ERANGE, "the axis %lld is outside [0, %u]", (long long)axis, x->rank);
  } else {
    n->out[0] = wick_array_matrix(n, n->in[0], (uint32_t)axis);
  }
}

/* Marks dims among `rank` axes. Returns false after a failure. */
static bool shape_marked(wick_import_node *n, uint32_t rank, bool *at)
{
  wick_import_attr dims = wick_import_ints(n, "dims");
  for (uint32_t k = 0; k < dims.n; k++) {
    uint32_t axis;
    if (!wick_import_axis(n, dims.ints[k], rank, &axis)) return false;
    at[axis] = true;
  }
  return true;
}

void wick_caffe2_expand_dims(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  uint32_t rank = x->rank + wick_import_ints(n, "dims").n, k = 0;
  bool at[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK];
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the new rank is %u, the most is %d", rank,
                     WICK_MAX_RANK);
    return;
  }
  if (!shape_marked(n, rank, at)) return;
  for (uint32_t i = 0; i < rank; i++)
    dim[i] = at[i] || k >= x->rank ? wick_dim_const(1) : x->dim[k++];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_caffe2_squeeze(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  bool at[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  if (!shape_marked(n, x->rank, at)) return;
  for (uint32_t k = 0; k < x->rank; k++)
    if (!at[k]) dim[rank++] = x->dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_caffe2_transpose(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_import_attr axes = wick_import_ints(n, "axes");
  int64_t perm[WICK_MAX_RANK];
  bool seen[WICK_MAX_RANK] = {false};
  if (axes.n && axes.n != x->rank) {
    wick_import_fail(n, WICK_ETYPE, "axes has %u numbers for rank %u", axes.n, x->rank);
    return;
  }
  for (uint32_t k = 0; k < x->rank; k++) {
    perm[k] = axes.n ? axes.ints[k] : x->rank - 1 - (int64_t)k;
    if (perm[k] < 0 || perm[k] >= x->rank || seen[perm[k]]) {
      wick_import_fail(n, WICK_ETYPE, "axes is no permutation");
      return;
    }
    seen[perm[k]] = true;
  }
  n->out[0] = wick_build_transpose(n->b, n->in[0], x->rank, perm);
}

/* ---- parts ---- */

/* The axis of a concatenation or a split: given, or the channels by the order. */
static bool shape_channels(wick_import_node *n, uint32_t rank, uint32_t *out)
{
  bool last = wick_import_word(n, "order", "NCHW NHWC") == 1;
  return !n->failed && wick_import_axis(n, wick_import_int(n, "axis", last ? -1 : 1), rank, out);
}

void wick_caffe2_concat(wick_import_node *n)
{
  uint32_t axis, rank = wick_import_info(n, 0)->rank;
  bool add = wick_import_int(n, "add_axis", 0) != 0;
  wick_value *part = wick_new(n->c->tmp, wick_value, (size_t)n->nin + 1);
  wick_dim *size = wick_new(n->c->tmp, wick_dim, (size_t)n->nin + 1);
  if (!shape_channels(n, rank + add, &axis)) return;
  for (uint32_t i = 0; i < n->nin; i++) {
    const wick_type_info *t = wick_import_info(n, i);
    if (t->rank != rank) {
      wick_import_fail(n, WICK_ETYPE, "input %u has rank %u, the first one %u", i, t->rank, rank);
      return;
    }
    part[i] = add ? wick_emit_unsqueeze(n->b, n->in[i], axis) : n->in[i];
    size[i] = add ? wick_dim_const(1) : t->dim[axis];
  }
  n->out[0] = wick_build_concat(n->b, axis, n->nin, part);
  if (n->nout > 1 && n->nin <= WICK_MAX_RANK)
    n->out[1] = wick_array_sizes(n, n->nin, size, WICK_I32);
}

/* By sizes, an argument or the second operand, or in equal parts. */
void wick_caffe2_split(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_dims *t = n->c->module->dims;
  uint32_t axis, count;
  const wick_dim *sizes;
  if (!shape_channels(n, x->rank, &axis) || !shape_sizes(n, "split", 1, &count, &sizes)) return;
  if (count && count != n->nout) {
    wick_import_fail(n, WICK_EPARSE, "split has %u numbers for %u results", count, n->nout);
    return;
  }
  wick_dim begin = wick_dim_const(0),
           each = wick_dim_floordiv(t, x->dim[axis], wick_dim_const(n->nout));
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_dim size = count ? sizes[k] : each;
    n->out[k] = wick_emit_slice(n->b, n->in[0], axis, begin, size);
    begin = wick_dim_add(t, begin, size);
  }
  if (!count && !wick_import_equal(n, begin, x->dim[axis]))
    wick_import_fail(n, WICK_ETYPE, "the axis does not split into %u equal parts", n->nout);
}

/* starts and ends: negative ends count from the end, -1 is the end itself. */
void wick_caffe2_slice(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_dims *t = n->c->module->dims;
  uint32_t count[2];
  const wick_dim *bound[2];
  wick_value y = n->in[0];
  if (!shape_sizes(n, "starts", 1, &count[0], &bound[0]) ||
      !shape_sizes(n, "ends", 2, &count[1], &bound[1]))
    return;
  if (count[0] != count[1] || count[0] > x->rank) {
    wick_import_fail(n, WICK_ETYPE, "%u starts and %u ends for rank %u", count[0], count[1],
                     x->rank);
    return;
  }
  for (uint32_t k = 0; k < count[0]; k++) {
    wick_dim at[2] = {bound[0][k], bound[1][k]};
    for (uint32_t i = 0; i < 2; i++)
      if (wick_dim_is_const(at[i]) && at[i].v < 0)
        at[i] = wick_dim_add(t, x->dim[k], wick_dim_const(at[i].v + 1));
    at[1] = wick_dim_min(t, at[1], x->dim[k]);
    y = wick_emit_slice(n->b, y, k, at[0], wick_dim_sub(t, at[1], at[0]));
  }
  n->out[0] = y;
}

void wick_caffe2_tile(wick_import_node *n)
{
  uint32_t axis;
  int64_t tiles = wick_import_int(n, "tiles", 1);
  if (!wick_caffe2_axis(n, 0, &axis)) return;
  if (tiles < 1 || tiles > 1 << 20) {
    wick_import_fail(n, WICK_ERANGE, "tiles is %lld, expected 1 or more", (long long)tiles);
    return;
  }
  wick_value *part = wick_new(n->c->tmp, wick_value, (size_t)tiles);
  for (int64_t k = 0; k < tiles; k++) part[k] = n->in[0];
  n->out[0] = wick_build_concat(n->b, axis, (uint32_t)tiles, part);
}

void wick_caffe2_gather(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_caffe2_axis(n, n->row->arg, &axis)) return;
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, n->in[0], n->in[1], axis);
}

void wick_caffe2_shape(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_dim all = wick_array_product(n, x->rank, x->dim);
  wick_import_attr axes = wick_import_ints(n, "axes");
  wick_dim dim[WICK_MAX_RANK];
  if (n->row->op == WICK_OP_size) {
    n->out[0] = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, all));
    return;
  }
  uint32_t count = axes.n ? axes.n : x->rank;
  for (uint32_t k = 0; k < count && k < WICK_MAX_RANK; k++) {
    uint32_t axis = k;
    if (axes.n && !wick_import_axis(n, axes.ints[k], x->rank, &axis)) return;
    dim[k] = x->dim[axis];
  }
  if (count > WICK_MAX_RANK || !count)
    wick_import_fail(n, WICK_ETYPE, "the shape of rank %u has %u numbers", x->rank, count);
  else
    n->out[0] = wick_array_sizes(n, count, dim, WICK_I64);
}

/* ---- tensors ---- */

/* The shape is an argument, or that of an operand, whose contents it is if input_as_shape is set. */
void wick_caffe2_fill(wick_import_node *n)
{
  wick_elem elem;
  uint32_t rank;
  const wick_dim *dim;
  wick_import_attr extra = wick_import_ints(n, "extra_shape");
  wick_dim all[WICK_MAX_RANK];
  if (!wick_caffe2_elem(n, wick_import_int(n, "dtype", 1), &elem)) return;
  if (n->nin && !wick_import_int(n, "input_as_shape", 0)) {
    rank = wick_import_info(n, 0)->rank, dim = wick_import_info(n, 0)->dim;
  } else if (!shape_sizes(n, "shape", 0, &rank, &dim)) {
    return;
  }
  if (rank + extra.n > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the rank is %u, the most is %d", rank + extra.n,
                     WICK_MAX_RANK);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) all[k] = dim[k];
  for (uint32_t k = 0; k < extra.n; k++) all[rank + k] = wick_dim_const(extra.ints[k]);
  wick_import_attr value = wick_import_attr_of(n, "value", 'f');
  wick_type type = wick_type_tensor(n->c->module, elem, rank + extra.n, all);
  double f = value.kind == 'f' ? value.f : (double)value.i;
  int64_t i = value.kind == 'f' ? wick_whole_i64(value.f) : value.i;
  n->out[0] = wick_build_const(n->b, type, wick_elem_is_float(elem) ? f : 0,
                               wick_elem_is_float(elem) ? 0 : i);
}

/* A weight: its shape and its values are arguments. */
void wick_caffe2_given(wick_import_node *n)
{
  const caffe2_op *op = n->data;
  wick_elem elem = (wick_elem)n->row->arg;
  wick_import_attr shape = wick_import_ints(n, "shape");
  const caffe2_arg *values = NULL;
  int64_t numel = 1;
  for (size_t i = 0; i < op->arg.n; i++)
    if (wick_span_is(op->arg.at[i].name, "values")) values = &op->arg.at[i];
  for (uint32_t k = 0; k < shape.n; k++)
    if (shape.ints[k] < 0 || __builtin_mul_overflow(numel, shape.ints[k], &numel)) numel = -1;
  bool floats = elem == WICK_F32 || elem == WICK_F64;
  size_t have = values ? (floats ? values->floats.n : values->ints.n) : 0;
  if (shape.n > WICK_MAX_RANK || numel < 0 || (uint64_t)numel != have) {
    wick_import_fail(n, WICK_EPARSE, "it has %zu values, and its shape %lld", have,
                     (long long)numel);
    return;
  }
  size_t size = wick_elem_storage[elem].bits / 8;
  char *data = wick_module_alloc(n->c->module, have * size + 1);
  for (size_t k = 0; k < have; k++) {
    if (elem == WICK_F64)
      ((double *)(void *)data)[k] = (double)values->floats.at[k];
    else if (elem == WICK_I32)
      ((int32_t *)(void *)data)[k] = (int32_t)values->ints.at[k];
    else if (elem == WICK_BOOL)
      data[k] = values->ints.at[k] != 0;
  }
  if (have && elem == WICK_F32) memcpy(data, values->floats.at, have * size);
  if (have && elem == WICK_I64) memcpy(data, values->ints.at, have * size);
  wick_type type = wick_type_tensor_const(n->c->module, elem, shape.n, shape.ints);
  const char *name = n->nout ? wick_wire_text(n->c->tmp, op->output.at[0]) : n->name;
  uint32_t k = wick_emit_constant(n->c->module, name, type, data, have * size);
  n->out[0] = wick_build_constant(n->b, k);
}
