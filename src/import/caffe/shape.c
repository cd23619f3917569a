/* Imports Caffe's layers that move elements. */
#include "import/caffe/ops.h"
#include "import/kit/array.h"

/* The axis, or its older name, which is never negative. */
static bool shape_axis(wick_import_node *n, const char *old, uint32_t *out)
{
  return wick_caffe_axis(n, "axis", wick_import_int(n, old, 1), out);
}

void wick_caffe_concat(wick_import_node *n)
{
  uint32_t axis;
  if (shape_axis(n, "concat_dim", &axis))
    n->out[0] = n->nin == 1 ? n->in[0] : wick_build_concat(n->b, axis, n->nin, n->in);
}

/* Cuts at given points, or into equal parts. */
void wick_caffe_slice(wick_import_node *n)
{
  uint32_t axis;
  wick_import_attr at = wick_import_ints(n, "slice_point");
  if (!shape_axis(n, "slice_dim", &axis)) return;
  wick_dim size = wick_import_info(n, 0)->dim[axis];
  if (!wick_dim_is_const(size)) {
    wick_import_must_be_known(n, "the size of the axis", size);
    return;
  }
  if (at.n ? at.n + 1 != n->nout : !n->nout || size.v % n->nout) {
    wick_import_fail(n, WICK_EPARSE, "%u points do not cut a size of %lld into %u outputs", at.n,
                     (long long)size.v, n->nout);
    return;
  }
  for (uint32_t k = 0; k < n->nout; k++) {
    int64_t part = size.v / n->nout, from = at.n ? (k ? at.ints[k - 1] : 0) : part * k,
            to = k + 1 == n->nout ? size.v
                 : at.n           ? at.ints[k]
                                  : part * (k + 1);
    if (from < 0 || to <= from || to > size.v) {
      wick_import_fail(n, WICK_ERANGE, "a part from %lld to %lld of a size of %lld",
                       (long long)from, (long long)to, (long long)size.v);
      return;
    }
    n->out[k] =
        wick_emit_slice(n->b, n->in[0], axis, wick_dim_const(from), wick_dim_const(to - from));
  }
}

void wick_caffe_flatten(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  uint32_t from, to, rank = 0;
  wick_dim dim[WICK_MAX_RANK];
  if (!wick_caffe_axis(n, "axis", 1, &from) || !wick_caffe_axis(n, "end_axis", -1, &to)) return;
  if (to < from) {
    wick_import_fail(n, WICK_ERANGE, "end_axis %u is before axis %u", to, from);
    return;
  }
  for (uint32_t k = 0; k < from; k++) dim[rank++] = x->dim[k];
  dim[rank++] = wick_array_product(n, to - from + 1, x->dim + from);
  for (uint32_t k = to + 1; k < x->rank; k++) dim[rank++] = x->dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

/* Replaces num_axes axes from `axis` on: 0 keeps a size, -1 is computed. */
void wick_caffe_reshape(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  wick_import_attr shape = wick_import_ints(n, "shape.dim");
  int64_t axis = wick_import_int(n, "axis", 0), count = wick_import_int(n, "num_axes", -1),
          rank = x->rank;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t nout = 0, open = WICK_MAX_RANK;
  if (axis < 0) axis += rank + 1;
  if (count == -1 && axis <= rank) count = rank - axis;
  if (axis < 0 || axis > rank || count < 0 || count > rank - axis ||
      (uint64_t)shape.n + (uint64_t)(rank - count) > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ERANGE, "its axes do not fit an input of rank %lld", (long long)rank);
    return;
  }
  for (uint32_t k = 0; k < axis; k++) dim[nout++] = x->dim[k];
  for (uint32_t k = 0; k < shape.n; k++) {
    int64_t d = shape.ints[k], from = axis + k;
    if (d < -1 || (d == -1 && open != WICK_MAX_RANK) || (d == 0 && from >= rank)) {
      wick_import_fail(n, WICK_ERANGE, "size %u of the new shape is %lld", k, (long long)d);
      return;
    }
    if (d == -1) open = nout;
    dim[nout++] = d > 0 ? wick_dim_const(d) : d ? wick_dim_const(1) : x->dim[from];
  }
  for (int64_t k = axis + count; k < rank; k++) dim[nout++] = x->dim[k];
  if (open != WICK_MAX_RANK)
    dim[open] = wick_dim_floordiv(n->c->module->dims, wick_array_product(n, x->rank, x->dim),
                                  wick_array_product(n, nout, dim));
  n->out[0] = wick_build_reshape(n->b, n->in[0], nout, dim);
}

/* The order of the first axes; the others follow. */
void wick_caffe_permute(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank, count = 0;
  wick_import_attr order = wick_import_ints(n, "order");
  int64_t perm[WICK_MAX_RANK];
  bool used[WICK_MAX_RANK] = {false};
  for (uint32_t k = 0; k < order.n; k++) {
    if (order.ints[k] < 0 || order.ints[k] >= rank || used[order.ints[k]]) {
      wick_import_fail(n, WICK_ERANGE, "its order is no permutation of %u axes", rank);
      return;
    }
    used[order.ints[k]] = true;
    perm[count++] = order.ints[k];
  }
  for (uint32_t k = 0; k < rank; k++)
    if (!used[k]) perm[count++] = k;
  n->out[0] = wick_build_transpose(n->b, n->in[0], rank, perm);
}

/* Cuts the axes from `axis` on to the sizes of the second input. */
void wick_caffe_crop(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0), *like = wick_import_info(n, 1);
  wick_import_attr offset = wick_import_ints(n, "offset");
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  uint32_t axis;
  if (!wick_caffe_axis(n, "axis", 2, &axis)) return;
  if (like->rank != x->rank || (offset.n > 1 && offset.n != x->rank - axis)) {
    wick_import_fail(n, WICK_ETYPE, "%u offsets and ranks %u and %u do not fit", offset.n, x->rank,
                     like->rank);
    return;
  }
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t from = k < axis || !offset.n ? 0 : offset.ints[offset.n > 1 ? k - axis : 0];
    if (from < 0 || from > INT32_MAX) {
      wick_import_fail(n, WICK_ERANGE, "an offset is %lld", (long long)from);
      return;
    }
    begin[k] = wick_dim_const(from);
    shape[k] = k < axis ? x->dim[k] : like->dim[k];
  }
  n->out[0] = wick_build_slice(n->b, n->in[0], x->rank, begin, shape, NULL);
}

void wick_caffe_tile(wick_import_node *n)
{
  uint32_t axis, rank = wick_import_info(n, 0)->rank;
  int64_t tiles = wick_import_int(n, "tiles", 0);
  wick_dim repeats[WICK_MAX_RANK];
  if (!wick_caffe_axis(n, "axis", 1, &axis)) return;
  if (tiles < 1 || tiles > INT32_MAX) {
    wick_import_fail(n, WICK_ERANGE, "tiles is %lld, expected 1 or more", (long long)tiles);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) repeats[k] = wick_dim_const(k == axis ? tiles : 1);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", rank, repeats);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Images of a batch by their numbers, which are floats. */
void wick_caffe_batch_reindex(wick_import_node *n)
{
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK) || !wick_import_rank(n, 1, 1, 1)) return;
  wick_value index = wick_build_cast(n->b, n->in[1], WICK_I64);
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, n->in[0], index, 0);
}

/* A blob of weights as a result. */
void wick_caffe_parameter(wick_import_node *n)
{
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  wick_import_attr shape = wick_import_ints(n, "shape.dim");
  if (shape.n && shape.n <= WICK_MAX_RANK)
    n->out[0] = wick_caffe_weight(n, 0, shape.n, shape.ints);
  else if (wick_caffe_shape(n, 0, &rank, dim))
    n->out[0] = wick_caffe_weight(n, 0, rank, dim);
}

void wick_caffe_shuffle(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_channel_shuffle);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "groups", wick_import_int(n, "group", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}
