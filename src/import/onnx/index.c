/* Imports operators that select or extend parts of tensors: gather, slice, pad, expand, tile. */
#include "import/onnx/import.h"
#include "ops/tensor/slice.h"

/* Checks known indices: they must be in [-n, n). So they fail the import and not a run. */
static bool index_known(wick_onnx_op *o, const wick_value_info *v, wick_dim n)
{
  for (uint32_t i = 0; v->content && wick_dim_is_const(n) && i < v->ncontent; i++) {
    wick_dim at = v->content[i];
    if (!wick_dim_is_const(at) || (at.v >= -n.v && at.v < n.v)) continue;
    wick_onnx_fail(o, WICK_ERANGE, "index %lld is outside [%lld, %lld]", (long long)at.v,
                   (long long)-n.v, (long long)n.v - 1);
    return false;
  }
  return true;
}

static void index_gather(wick_onnx_op *o)
{
  uint32_t axis;
  const wick_type_info *x = wick_onnx_info(o, 0);
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), x->rank, &axis) ||
      !index_known(o, &o->b->values.at[o->in[1].id], x->dim[axis]))
    return;
  wick_emit e = wick_emit_begin(o->b, o->row->op);
  wick_emit_set_int(&e, "axis", wick_onnx_int(o, "axis", 0));
  o->out[0] = wick_emit_end2(&e, o->in[0], o->in[1]);
}

static void index_gather_nd(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_gather_nd);
  wick_emit_set_int(&e, "batch", wick_onnx_int(o, "batch_dims", 0));
  o->out[0] = wick_emit_end2(&e, o->in[0], o->in[1]);
}

/* Returns the list attribute as dimensions. */
static const wick_dim *index_attr(wick_onnx_op *o, const char *name, uint32_t *out_n)
{
  wick_wire_i64s v = wick_onnx_ints(o, name);
  wick_dim *dim = wick_new(o->c->tmp, wick_dim, v.n);
  for (size_t i = 0; i < v.n; i++) dim[i] = wick_dim_const(v.at[i]);
  *out_n = (uint32_t)v.n;
  return dim;
}

/* Finds the axes of n numbers: from operand i, from the attribute, or all axes in order. Returns
 * false after it added a failure. */
static bool index_axes(wick_onnx_op *o, uint32_t n, uint32_t given, const int64_t *axes,
                       uint32_t *out)
{
  uint32_t rank = wick_onnx_info(o, 0)->rank, seen = 0;
  if ((axes && given != n) || n > rank) {
    wick_onnx_fail(o, WICK_ETYPE, "it has numbers for %u axes, expected %u", n,
                   axes ? given : rank);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!wick_onnx_axis(o, axes ? axes[i] : i, rank, &out[i])) return false;
    if (seen >> out[i] & 1) {
      wick_onnx_fail(o, WICK_ETYPE, "axis %u occurs twice", out[i]);
      return false;
    }
    seen |= 1u << out[i];
  }
  return true;
}

/* ---- slice ---- */

typedef struct index_slices {
  uint32_t n, nend, naxis, nstep;
  const wick_dim *start, *end;
  const int64_t *axis, *step; /* NULL: all in order; 1 */
} index_slices;

static void index_slice_over(wick_onnx_op *o, const index_slices *s)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  wick_dim begin[WICK_MAX_RANK], size[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t axes[WICK_MAX_RANK];
  bool plain = true;
  if (s->nend != s->n || (s->step && s->nstep != s->n)) {
    wick_onnx_fail(o, WICK_ETYPE, "starts, ends and steps have %u, %u and %u numbers", s->n,
                   s->nend, s->nstep);
    return;
  }
  if (!index_axes(o, s->n, s->naxis, s->axis, axes)) return;
  for (uint32_t k = 0; k < x->rank; k++)
    begin[k] = wick_dim_const(0), size[k] = x->dim[k], step[k] = 1;
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t k = axes[i];
    step[k] = s->step ? s->step[i] : 1;
    plain &= step[k] == 1;
    if (step[k] == 0 || step[k] == INT64_MIN) {
      wick_onnx_fail(o, WICK_ERANGE, "the step of axis %u is %lld", k, (long long)step[k]);
      return;
    }
    if (!wick_slice_resolve(o->c->module->dims, x->dim[k], s->start[i], s->end[i], step[k],
                            &begin[k], &size[k])) {
      wick_onnx_fail(o, WICK_EUNSUPPORTED, "whether the ends of axis %u are negative must be known",
                     k);
      return;
    }
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", x->rank, begin);
  wick_emit_set_dims(&e, "shape", x->rank, size);
  if (!plain) wick_emit_set_ints(&e, "step", x->rank, step);
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

static void index_slice_1(wick_onnx_op *o)
{
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  index_slices s = {.naxis = (uint32_t)axes.n, .axis = axes.n ? axes.at : NULL};
  s.start = index_attr(o, "starts", &s.n);
  s.end = index_attr(o, "ends", &s.nend);
  index_slice_over(o, &s);
}

static void index_slice(wick_onnx_op *o)
{
  index_slices s = {0};
  if (!wick_onnx_dims(o, 1, "starts", &s.n, &s.start) ||
      !wick_onnx_dims(o, 2, "ends", &s.nend, &s.end))
    return;
  if (wick_onnx_has(o, 3) && !wick_onnx_numbers(o, 3, "axes", &s.naxis, &s.axis)) return;
  if (wick_onnx_has(o, 4) && !wick_onnx_numbers(o, 4, "steps", &s.nstep, &s.step)) return;
  index_slice_over(o, &s);
}

/* ---- pad ---- */

/* Slices off the elements that negative pads remove, and sets these pads to 0. Modes that copy
 * elements then copy from the remaining ones. */
static wick_value index_crop(wick_onnx_op *o, wick_value x, wick_dim *pad)
{
  wick_dims *t = o->c->module->dims;
  const wick_type_info *info = wick_onnx_info(o, 0);
  wick_dim none = wick_dim_const(0), begin[WICK_MAX_RANK], size[WICK_MAX_RANK];
  bool cut = false;
  for (uint32_t k = 0; k < info->rank; k++) {
    wick_dim *before = &pad[k], *after = &pad[info->rank + k];
    begin[k] = wick_dim_max(t, wick_dim_sub(t, none, *before), none);
    size[k] = wick_dim_sub(t, wick_dim_sub(t, info->dim[k], begin[k]),
                           wick_dim_max(t, wick_dim_sub(t, none, *after), none));
    cut |= !wick_dim_eq(size[k], info->dim[k]);
    *before = wick_dim_max(t, *before, none), *after = wick_dim_max(t, *after, none);
  }
  if (!cut) return x;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", info->rank, begin);
  wick_emit_set_dims(&e, "shape", info->rank, size);
  return wick_emit_end1(&e, x);
}

/* Pads the given axes. `pad` has all begins, then all ends; value is 0 if there is none. */
static void index_pad_over(wick_onnx_op *o, uint32_t n, const wick_dim *pad, uint32_t naxis,
                           const int64_t *axis, wick_value value)
{
  uint32_t rank = wick_onnx_info(o, 0)->rank, axes[WICK_MAX_RANK];
  wick_dim all[2 * WICK_MAX_RANK];
  if (n % 2) {
    wick_onnx_fail(o, WICK_ETYPE, "pads has %u numbers, expected an even count", n);
    return;
  }
  if (!axis && n / 2 != rank) {
    wick_onnx_fail(o, WICK_ETYPE, "pads has %u numbers, expected %u", n, 2 * rank);
    return;
  }
  if (!index_axes(o, n / 2, naxis, axis, axes)) return;
  for (uint32_t k = 0; k < 2 * rank; k++) all[k] = wick_dim_const(0);
  for (uint32_t i = 0; i < n / 2; i++) all[axes[i]] = pad[i], all[rank + axes[i]] = pad[n / 2 + i];
  int mode = wick_onnx_word(o, "mode",
                            o->opset < 19 ? "constant reflect edge" : "constant reflect edge wrap");
  wick_value x = mode ? index_crop(o, o->in[0], all) : o->in[0];
  wick_emit e = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, all);
  wick_emit_set_int(&e, "mode", mode);
  o->out[0] = wick_emit_end(&e, value.id ? 2 : 1, (wick_value[]){x, value});
}

static void index_pad_1(wick_onnx_op *o)
{
  uint32_t n;
  const wick_dim *pad = index_attr(o, o->opset < 2 ? "paddings" : "pads", &n);
  double fill = wick_onnx_float(o, "value", 0);
  wick_value value = {0};
  if (fill != 0) value = wick_emit_number(o->b, o->in[0], fill);
  index_pad_over(o, n, pad, 0, NULL, value);
}

static void index_pad(wick_onnx_op *o)
{
  uint32_t n, naxis = 0;
  const wick_dim *pad;
  const int64_t *axis = NULL;
  if (!wick_onnx_dims(o, 1, "pads", &n, &pad)) return;
  if (wick_onnx_has(o, 3) && !wick_onnx_numbers(o, 3, "axes", &naxis, &axis)) return;
  wick_value value = wick_onnx_has(o, 2) ? o->in[2] : (wick_value){0};
  if (value.id && wick_onnx_info(o, 2)->rank)
    value = wick_build_reshape(o->b, value, 0, NULL); /* some exporters write [1] */
  index_pad_over(o, n, pad, naxis, axis, value);
}

/* ---- repetition ---- */

static void index_expand(wick_onnx_op *o)
{
  uint32_t n;
  const wick_dim *dim;
  if (!wick_onnx_dims(o, 1, "the shape", &n, &dim)) return;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_broadcast_to);
  wick_emit_set_dims(&e, "shape", n, dim);
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

static void index_tile_by(wick_onnx_op *o, uint32_t n, const wick_dim *repeats)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", n, repeats);
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

static void index_tile(wick_onnx_op *o)
{
  uint32_t n;
  const wick_dim *repeats;
  if (wick_onnx_dims(o, 1, "repeats", &n, &repeats)) index_tile_by(o, n, repeats);
}

/* In opset 1 the operands are the number of repetitions and one axis, both in the input's type. */
static void index_tile_1(wick_onnx_op *o)
{
  uint32_t n, m, axis, rank = wick_onnx_info(o, 0)->rank;
  const double *tiles, *at;
  if (!wick_onnx_floats(o, 1, "tiles", &n, &tiles) || !wick_onnx_floats(o, 2, "axis", &m, &at))
    return;
  if (n != 1 || m != 1 || !(tiles[0] >= 0 && tiles[0] <= INT32_MAX) ||
      !(at[0] >= -WICK_MAX_RANK && at[0] <= WICK_MAX_RANK)) {
    wick_onnx_fail(o, WICK_ERANGE, "tiles and axis are not two numbers in their ranges");
    return;
  }
  if (!wick_onnx_axis(o, (int64_t)at[0], rank, &axis)) return;
  wick_dim repeats[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++)
    repeats[k] = wick_dim_const(k == axis ? (int64_t)tiles[0] : 1);
  index_tile_by(o, rank, repeats);
}

const wick_onnx_row wick_onnx_index_rows[] = {
    {"Expand", 8, {2, 2}, 1, "", index_expand, 0, 0},
    {"Gather", 1, {2, 2}, 1, "axis:i", index_gather, WICK_OP_gather, 0},
    {"GatherElements", 11, {2, 2}, 1, "axis:i", index_gather, WICK_OP_gather_elements, 0},
    {"GatherND", 11, {2, 2}, 1, "", index_gather_nd, 0, 0},
    {"GatherND", 12, {2, 2}, 1, "batch_dims:i", index_gather_nd, 0, 0},
    {"Pad", 1, {1, 1}, 1, "mode:s paddings:I! value:f", index_pad_1, 0, 0},
    {"Pad", 2, {1, 1}, 1, "mode:s pads:I! value:f", index_pad_1, 0, 0},
    {"Pad", 11, {2, 3}, 1, "mode:s", index_pad, 0, 0},
    {"Pad", 18, {2, 4}, 1, "mode:s", index_pad, 0, 0},
    {"Slice", 1, {1, 1}, 1, "axes:I ends:I! starts:I!", index_slice_1, 0, 0},
    {"Slice", 10, {3, 5}, 1, "", index_slice, 0, 0},
    {"Tile", 1, {3, 3}, 1, "", index_tile_1, 0, 0},
    {"Tile", 6, {2, 2}, 1, "", index_tile, 0, 0},
    {0},
};
