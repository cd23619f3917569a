/* Slices, and updates of slices. */
#include "import/coreml/program/ops.h"

/* The entries of a slice: a bit of each mask for each dimension. */
typedef struct slice_spec {
  uint32_t n;
  int64_t stride[WICK_MAX_RANK], begin_mask, end_mask, squeeze_mask;
} slice_spec;

static bool slice_mask(wick_import_node *n, const char *name, uint32_t count, int64_t *out)
{
  int64_t bit[WICK_MAX_RANK];
  *out = 0;
  if (!wick_mil_list_of(n, name, count, 0, bit)) return false;
  for (uint32_t k = 0; k < count; k++) *out |= (int64_t)(bit[k] != 0) << k;
  return true;
}

/* Reads the strides and masks for an input of that rank. */
static bool slice_spec_read(wick_import_node *n, uint32_t rank, slice_spec *s)
{
  *s = (slice_spec){.n = rank};
  return wick_mil_list_of(n, "stride", rank, 1, s->stride) &&
         slice_mask(n, "begin_mask", rank, &s->begin_mask) &&
         slice_mask(n, "end_mask", rank, &s->end_mask) &&
         slice_mask(n, "squeeze_mask", rank, &s->squeeze_mask);
}

static bool slice_length(wick_import_node *n, uint32_t i, uint32_t rank)
{
  const wick_type_info *t = wick_import_info(n, i);
  if (t->rank == 1 && wick_dim_is(t->dim[0], rank)) return true;
  wick_import_fail(n, WICK_ETYPE, "input %u is expected to have %u numbers", i, rank);
  return false;
}

/* An entry of one element whose index only the run knows: x keeps that element alone. */
static wick_value slice_run_index(wick_import_node *n, wick_value x, wick_value index,
                                  uint32_t axis)
{
  wick_value at = wick_build_cast(n->b, index, WICK_I64);
  return wick_emit_unsqueeze(n->b, wick_emit_gather(n->b, WICK_OP_gather, x, at, axis), axis);
}

void wick_mil_import_slice_by_index(wick_import_node *n) /* x, begin, end */
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_value x = n->in[0];
  slice_spec s;
  wick_dim begin[WICK_MAX_RANK], end[WICK_MAX_RANK];
  if (!slice_spec_read(n, rank, &s) || !slice_length(n, 1, rank) || !slice_length(n, 2, rank))
    return;
  for (uint32_t k = 0; k < rank; k++) {
    bool squeeze = s.squeeze_mask >> k & 1;
    begin[k] = end[k] = wick_dim_const(0);
    if (!(s.begin_mask >> k & 1) && !wick_array_element_dim(n, n->in[1], k, &begin[k])) {
      if (!squeeze) {
        wick_import_unknown(n, n->in[1], "the begin of a slice that is no single index");
        return;
      }
      x = slice_run_index(n, x, wick_array_element(n, n->in[1], k), k);
    }
    if (!squeeze && !(s.end_mask >> k & 1) && !wick_array_element_dim(n, n->in[2], k, &end[k])) {
      wick_import_unknown(n, n->in[2], "the end of a slice");
      return;
    }
  }
  const wick_array_strided a = {.n = rank,
                                .begin = begin,
                                .end = end,
                                .stride = s.stride,
                                .begin_mask = s.begin_mask & ~s.squeeze_mask,
                                .end_mask = s.end_mask,
                                .shrink_mask = s.squeeze_mask};
  n->out[0] = wick_array_strided_slice(n, x, &a);
}

/* A size of -1 reaches to the end. Where only the run knows the begin, the size must be known. */
void wick_mil_import_slice_by_size(wick_import_node *n) /* x, begin, size */
{
  wick_dims *d = wick_mil_dims(n);
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dim begin[WICK_MAX_RANK], size[WICK_MAX_RANK];
  wick_value x = n->in[0];
  if (!slice_length(n, 1, t.rank) || !slice_length(n, 2, t.rank)) return;
  for (uint32_t k = 0; k < t.rank; k++) {
    bool known = wick_array_element_dim(n, n->in[1], k, &begin[k]);
    if (!wick_array_element_dim(n, n->in[2], k, &size[k])) {
      wick_import_unknown(n, n->in[2], "the size of a slice");
      return;
    }
    bool rest = wick_dim_is_const(size[k]) && size[k].v < 0;
    if (!known && rest) {
      wick_import_unknown(n, n->in[1], "the begin of a slice that reaches to the end");
      return;
    }
    if (known && wick_dim_is_const(begin[k]) && begin[k].v < 0)
      begin[k] = wick_dim_add(d, t.dim[k], begin[k]);
    if (rest) size[k] = wick_dim_sub(d, t.dim[k], begin[k]);
    if (known) continue;
    begin[k] = wick_dim_const(0);
    wick_value from = wick_build_cast(n->b, wick_array_element(n, n->in[1], k), WICK_I64);
    wick_value index = wick_build2(n->b, WICK_OP_add, from, wick_emit_count(n->b, size[k]));
    x = wick_emit_gather(n->b, WICK_OP_gather, x, index, k);
  }
  n->out[0] = wick_build_slice(n->b, x, t.rank, begin, size, NULL);
}

/* The first index of an entry, as a number of the run: i64[]. */
static wick_value slice_first(wick_import_node *n, const slice_spec *s, uint32_t k, wick_value size)
{
  wick_builder *b = n->b;
  if (s->begin_mask >> k & 1 && !(s->squeeze_mask >> k & 1))
    return s->stride[k] > 0 ? wick_emit_number(b, size, 0) : wick_emit_by(b, WICK_OP_sub, size, 1);
  wick_value at = wick_build_cast(b, wick_array_element(n, n->in[2], k), WICK_I64);
  wick_value below = wick_emit_by(b, WICK_OP_lt, at, 0);
  wick_value turned = wick_build2(b, WICK_OP_add, at, size);
  return wick_build3(b, WICK_OP_where, below, turned, at);
}

/* The places of the update's elements in x, counted through x: [update's shape with the squeezed
 * dimensions]. */
static wick_value slice_places(wick_import_node *n, const slice_spec *s, const wick_dim *size)
{
  wick_builder *b = n->b;
  wick_value shape = wick_build1(b, WICK_OP_shape, n->in[0]), place = {0};
  for (uint32_t k = 0; k < s->n && !b->status; k++) {
    wick_value have = wick_array_element(n, shape, k);
    wick_value first = slice_first(n, s, k, have);
    wick_value step = wick_emit_count_along(b, size[k], k, s->n);
    step = wick_emit_by(b, WICK_OP_mul, step, (double)s->stride[k]);
    wick_value at = wick_build2(b, WICK_OP_add, step, first);
    if (place.id) {
      place = wick_build2(b, WICK_OP_mul, place, have);
      at = wick_build2(b, WICK_OP_add, place, at);
    }
    place = at;
  }
  return place;
}

/* The update's sizes are those of the slice: Core ML requires it. */
void wick_mil_import_slice_update(wick_import_node *n) /* x, update, begin, end */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0), u = *wick_import_info(n, 1);
  wick_dim size[WICK_MAX_RANK], all = wick_type_numel(b->module, wick_mil_type_of(n, n->in[0])),
                                part = wick_type_numel(b->module, wick_mil_type_of(n, n->in[1]));
  slice_spec s;
  uint32_t at = 0;
  if (!slice_spec_read(n, t.rank, &s) || !slice_length(n, 2, t.rank)) return;
  for (uint32_t k = 0; k < t.rank; k++) {
    bool squeeze = s.squeeze_mask >> k & 1;
    if (!squeeze && at >= u.rank) break;
    size[k] = squeeze ? wick_dim_const(1) : u.dim[at++];
    if (squeeze) s.stride[k] = 1;
  }
  uint32_t squeezed = 0;
  for (uint32_t k = 0; k < t.rank; k++) squeezed += s.squeeze_mask >> k & 1;
  if (u.rank + squeezed != t.rank) {
    wick_import_fail(n, WICK_ETYPE, "the update has rank %u, expected %u", u.rank,
                     t.rank - squeezed);
    return;
  }
  if (!t.rank) {
    n->out[0] = n->in[1];
    return;
  }
  wick_value place = wick_build_reshape(b, slice_places(n, &s, size), 1, &part);
  wick_value flat = wick_build_reshape(b, n->in[0], 1, &all);
  wick_value update = wick_build_reshape(b, n->in[1], 1, &part);
  wick_value y = wick_build3(b, WICK_OP_scatter_elements, flat, place, update);
  n->out[0] = wick_build_reshape(b, y, t.rank, t.dim);
}

/* Windows of `size` elements along an axis, `stride` apart: [.., windows, size, ..]. */
void wick_mil_import_sliding_windows(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_dims *d = wick_mil_dims(n);
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t size = wick_import_int(n, "size", 1), stride = wick_import_int(n, "stride", 1);
  uint32_t at;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), t.rank, &at)) return;
  if (size < 1 || stride < 1 || size > INT32_MAX || stride > INT32_MAX) {
    wick_import_fail(n, WICK_ERANGE, "its windows have size %lld and stride %lld", (long long)size,
                     (long long)stride);
    return;
  }
  wick_dim count = wick_dim_sub(d, t.dim[at], wick_dim_const(size));
  count = wick_dim_add(d, wick_dim_floordiv(d, count, wick_dim_const(stride)), wick_dim_const(1));
  wick_value row = wick_emit_count_along(b, count, 0, 2);
  row = wick_emit_by(b, WICK_OP_mul, row, (double)stride);
  wick_value index =
      wick_build2(b, WICK_OP_add, row, wick_emit_count_along(b, wick_dim_const(size), 1, 2));
  n->out[0] = wick_emit_gather(b, WICK_OP_gather, n->in[0], index, at);
}
