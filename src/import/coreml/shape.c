/* Layers that change the shape of a tensor, join tensors, or take them apart. */
#include "import/coreml/layers.h"
#include "import/kit/array.h"

enum { SHAPE_CHW = 3 };

static const wick_type_info *shape_info(wick_import_node *n, wick_value x, uint32_t least)
{
  if (n->b->status) return NULL;
  const wick_type_info *t = wick_built_info(n->b, x);
  if (t->rank >= least) return t;
  wick_import_fail(n, WICK_ETYPE, "the rank of its input is %u, expected %u or more", t->rank,
                   least);
  return NULL;
}

/* Moves the channels, axis -3, to the end, or from there back. */
static wick_value shape_turn(wick_import_node *n, wick_value x, bool last)
{
  const wick_type_info *t = shape_info(n, x, SHAPE_CHW);
  int64_t perm[WICK_MAX_RANK];
  if (!t) return x;
  uint32_t c = t->rank - 3u;
  for (uint32_t k = 0; k < c; k++) perm[k] = k;
  for (uint32_t k = 0; k < 3; k++) perm[c + k] = c + (k + (last ? 1u : 2u)) % 3;
  return wick_build_transpose(n->b, x, t->rank, perm);
}

void wick_coreml_flatten(wick_import_node *n)
{
  wick_value x = n->in[0];
  if (wick_import_int(n, "mode", 0) == 1) x = shape_turn(n, x, true);
  const wick_type_info *t = shape_info(n, x, SHAPE_CHW);
  wick_dim dim[WICK_MAX_RANK];
  if (!t) return;
  uint32_t c = t->rank - 3u;
  for (uint32_t k = 0; k < c; k++) dim[k] = t->dim[k];
  dim[c] = wick_array_product(n, 3, t->dim + c);
  dim[c + 1] = dim[c + 2] = wick_dim_const(1);
  n->out[0] = wick_build_reshape(n->b, x, t->rank, dim);
}

/* Replaces one -1 of a shape by what remains of x's elements, and 0 by x's size if `keep`. */
static bool shape_complete(wick_import_node *n, const wick_type_info *t, uint32_t count,
                           wick_dim *dim, bool keep)
{
  wick_dims *d = n->c->module->dims;
  wick_dim rest = wick_array_product(n, t->rank, t->dim), product = wick_dim_const(1);
  uint32_t open = WICK_MAX_RANK;
  if (count > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its shape has %u sizes, the most is %d", count,
                     WICK_MAX_RANK);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    if (keep && wick_dim_is(dim[k], 0) && k < t->rank) dim[k] = t->dim[k];
    bool negative = wick_dim_is_const(dim[k]) && dim[k].v < 0;
    if (negative && (dim[k].v != -1 || open < WICK_MAX_RANK)) {
      wick_import_fail(n, WICK_ERANGE, "its shape has the size %lld", (long long)dim[k].v);
      return false;
    }
    if (negative)
      open = k;
    else
      product = wick_dim_mul(d, product, dim[k]);
  }
  if (open == WICK_MAX_RANK) return true;
  if (wick_dim_is(product, 0) || wick_dim_eq(product, WICK_DIM_INVALID)) {
    wick_import_fail(n, WICK_ERANGE, "a size of -1 follows from no other size");
    return false;
  }
  dim[open] = wick_dim_floordiv(d, rest, product);
  return true;
}

static void shape_numbers(wick_import_attr a, wick_dim *out)
{
  for (uint32_t k = 0; k < a.n && k < WICK_MAX_RANK; k++) out[k] = wick_dim_const(a.ints[k]);
}

/* The target [C, H, W] or [sequence, C, H, W] of a value of rank 5. */
void wick_coreml_reshape(wick_import_node *n)
{
  wick_import_attr target = wick_import_ints(n, "targetShape");
  bool last = wick_import_int(n, "mode", 0) == 1;
  wick_value x = last ? shape_turn(n, n->in[0], true) : n->in[0];
  const wick_type_info *t = shape_info(n, x, 1);
  wick_dim dim[WICK_MAX_RANK] = {{0}}, four[WICK_MAX_RANK];
  if (!t) return;
  if (target.n != 3 && target.n != 4) {
    wick_import_fail(n, WICK_EPARSE, "targetShape has %u sizes, expected 3 or 4", target.n);
    return;
  }
  shape_numbers(target, four);
  const wick_dim *chw = four + target.n - 3;
  uint32_t at = 0;
  if (t->rank == 5) {
    dim[at++] = target.n == 4 ? four[0] : t->dim[0];
    dim[at++] = t->dim[1];
  } else if (target.n == 4 || t->rank > SHAPE_CHW) {
    dim[at++] = target.n == 4 ? four[0] : t->dim[0];
  }
  for (uint32_t k = 0; k < 3; k++) dim[at + k] = chw[last ? (k + 1) % 3 : k];
  if (!shape_complete(n, t, at + 3, dim, false)) return;
  x = wick_build_reshape(n->b, x, at + 3, dim);
  n->out[0] = last ? shape_turn(n, x, false) : x;
}

void wick_coreml_reshape_to(wick_import_node *n)
{
  enum { LIKE, STATIC, DYNAMIC, SAME_RANK };
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr target = wick_import_ints(n, "targetShape");
  uint32_t count = target.n;
  const wick_dim *from = dim;
  shape_numbers(target, dim);
  if (n->row->arg == DYNAMIC && !wick_coreml_sizes(n, 1, "the shape", &count, &from)) return;
  if (n->row->arg == LIKE) count = wick_import_info(n, 1)->rank, from = wick_import_info(n, 1)->dim;
  t = wick_import_info(n, 0);
  if (n->row->arg == SAME_RANK && count != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "targetShape has %u sizes, the rank of its input is %u", count,
                     t->rank);
    return;
  }
  for (uint32_t k = 0; k < count && k < WICK_MAX_RANK && from != dim; k++) dim[k] = from[k];
  if (shape_complete(n, t, count, dim, n->row->arg == SAME_RANK))
    n->out[0] = wick_build_reshape(n->b, n->in[0], count, dim);
}

void wick_coreml_flatten_2d(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t axis = wick_import_int(n, "axis", 0);
  if (axis < 0) axis += t->rank;
  if (axis < 0 || axis > t->rank) {
    wick_import_fail(n, WICK_ETYPE, "axis %lld is outside [0, %u]", (long long)axis, t->rank);
    return;
  }
  uint32_t a = (uint32_t)axis;
  wick_dim dim[2] = {wick_array_product(n, a, t->dim),
                     wick_array_product(n, t->rank - a, t->dim + a)};
  n->out[0] = wick_build_reshape(n->b, n->in[0], 2, dim);
}

/* Marks axes of a tensor of that rank. */
static bool shape_axes(wick_import_node *n, uint32_t rank, bool *marked, uint32_t *out_n)
{
  wick_import_attr axes = wick_import_ints(n, "axes");
  for (uint32_t k = 0; k < WICK_MAX_RANK; k++) marked[k] = false;
  *out_n = 0;
  for (uint32_t k = 0; k < axes.n; k++) {
    uint32_t a;
    if (!wick_import_axis(n, axes.ints[k], rank, &a)) return false;
    if (!marked[a]) ++*out_n;
    marked[a] = true;
  }
  return true;
}

void wick_coreml_expand_dims(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t more = wick_import_ints(n, "axes").n, rank = t->rank + more, count, at = 0;
  bool marked[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its result has rank %u, the most is %d", rank,
                     WICK_MAX_RANK);
    return;
  }
  if (!shape_axes(n, rank, marked, &count)) return;
  if (count != more) {
    wick_import_fail(n, WICK_EPARSE, "an axis occurs twice");
    return;
  }
  for (uint32_t k = 0; k < rank; k++) dim[k] = marked[k] ? wick_dim_const(1) : t->dim[at++];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

/* A result without dimensions keeps one of size 1. */
void wick_coreml_squeeze(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  bool all = wick_import_int(n, "squeezeAll", 0) != 0, marked[WICK_MAX_RANK];
  uint32_t count, at = 0;
  wick_dim dim[WICK_MAX_RANK] = {{0}};
  if (!shape_axes(n, t->rank, marked, &count)) return;
  for (uint32_t k = 0; k < t->rank; k++) {
    bool one = wick_dim_is(t->dim[k], 1);
    if (!all && marked[k] && !one) {
      wick_import_fail(n, WICK_ETYPE, "axis %u has not the size 1", k);
      return;
    }
    if (all ? !one : !marked[k]) dim[at++] = t->dim[k];
  }
  if (!at) dim[at++] = wick_dim_const(1);
  n->out[0] = wick_build_reshape(n->b, n->in[0], at, dim);
}

/* Of rank 5: a permutation of the axes without the batch, axis 1. */
void wick_coreml_permute(wick_import_node *n)
{
  wick_import_attr axes = wick_import_ints(n, n->row->arg ? "axis" : "axes");
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t perm[WICK_MAX_RANK];
  bool taken[WICK_MAX_RANK] = {false};
  uint32_t count = n->row->arg ? 4 : t->rank;
  if (n->row->arg && !axes.n) {
    n->out[0] = n->in[0];
    return;
  }
  if (axes.n != count) {
    wick_import_fail(n, WICK_EPARSE, "it has %u axes, expected %u", axes.n, count);
    return;
  }
  for (uint32_t k = 0; k < count; k++) {
    if (axes.ints[k] < 0 || axes.ints[k] >= count || taken[axes.ints[k]]) {
      wick_import_fail(n, WICK_EPARSE, "its axes are no permutation");
      return;
    }
    taken[axes.ints[k]] = true;
  }
  for (uint32_t k = 0; k < count && !n->row->arg; k++) perm[k] = axes.ints[k];
  if (n->row->arg) { /* of rank 4: [sequence or batch, C, H, W] */
    bool five = t->rank == 5;
    perm[five] = five; /* the batch stays */
    for (uint32_t k = 0; k < 4; k++) {
      int64_t from = axes.ints[k];
      perm[k ? k + five : 0] = from ? from + five : 0;
    }
  }
  n->out[0] = wick_build_transpose(n->b, n->in[0], t->rank, perm);
}

void wick_coreml_shape(wick_import_node *n)
{
  wick_value x = wick_build1(n->b, WICK_OP_shape, n->in[0]);
  n->out[0] = wick_coreml_as(n, x, WICK_I64);
}

/* ---- several tensors ---- */

/* Gives operands one type: i64 if all are, else f32. */
static wick_value *shape_alike(wick_import_node *n)
{
  bool whole = true;
  wick_value *x = wick_new(n->c->tmp, wick_value, (size_t)n->nin + 1);
  for (uint32_t i = 0; i < n->nin; i++) whole = whole && wick_import_info(n, i)->elem == WICK_I64;
  for (uint32_t i = 0; i < n->nin; i++)
    x[i] = wick_coreml_as(n, n->in[i], whole ? WICK_I64 : WICK_F32);
  return x;
}

void wick_coreml_concat(wick_import_node *n)
{
  bool nd = n->row->arg, interleave = nd && wick_import_int(n, "interleave", 0) != 0;
  int64_t axis = nd                                        ? wick_import_int(n, "axis", 0)
                 : wick_import_int(n, "sequenceConcat", 0) ? -5
                                                           : -3;
  uint32_t a;
  if (!wick_import_axis(n, axis, wick_import_info(n, 0)->rank, &a)) return;
  wick_value *x = shape_alike(n);
  if (!interleave) {
    n->out[0] = wick_build_concat(n->b, a, n->nin, x);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_interleave);
  wick_emit_set_int(&e, "axis", a);
  n->out[0] = wick_emit_end(&e, n->nin, x);
}

void wick_coreml_split(wick_import_node *n)
{
  wick_import_attr sizes = wick_import_ints(n, "splitSizes");
  wick_dim dim[1], *part = wick_new(n->c->tmp, wick_dim, (size_t)n->nout + sizes.n + 1);
  uint32_t axis;
  int64_t count = wick_import_int(n, n->row->arg ? "numSplits" : "nOutputs", 0);
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_axis(n, n->row->arg ? wick_import_int(n, "axis", 0) : -3, t->rank, &axis))
    return;
  dim[0] = t->dim[axis];
  if (sizes.n) count = sizes.n;
  if (count != n->nout) {
    wick_import_fail(n, WICK_EPARSE, "it has %u outputs, expected %lld", n->nout, (long long)count);
    return;
  }
  wick_dims *d = n->c->module->dims;
  for (uint32_t k = 0; k < n->nout; k++)
    part[k] = sizes.n ? wick_dim_const(sizes.ints[k])
                      : wick_dim_floordiv(d, dim[0], wick_dim_const(count));
  wick_emit e = wick_emit_begin(n->b, WICK_OP_split);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "sizes", n->nout, part);
  wick_value first = wick_emit_end1(&e, n->in[0]);
  for (uint32_t k = 0; k < n->nout && !n->b->status; k++) n->out[k] = (wick_value){first.id + k};
}

void wick_coreml_stack(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), wick_import_info(n, 0)->rank + 1, &axis))
    return;
  n->out[0] = wick_array_stack(n, n->nin, shape_alike(n), axis);
}

static void shape_repeated(wick_import_node *n, uint32_t rank, const wick_dim *repeats)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", rank, repeats);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

void wick_coreml_repeat(wick_import_node *n)
{
  wick_dim repeats[WICK_MAX_RANK];
  int64_t times = wick_import_int(n, "nRepetitions", 0);
  uint32_t axis, rank = wick_import_info(n, 0)->rank;
  if (!wick_import_axis(n, -5, rank, &axis)) return;
  for (uint32_t k = 0; k < rank; k++) repeats[k] = wick_dim_const(k == axis && times ? times : 1);
  shape_repeated(n, rank, repeats);
}

void wick_coreml_tile(wick_import_node *n)
{
  uint32_t count, rank = wick_import_info(n, 0)->rank;
  const wick_dim *dim;
  wick_dim repeats[WICK_MAX_RANK];
  wick_import_attr reps = wick_import_ints(n, "reps");
  count = reps.n, dim = repeats;
  shape_numbers(reps, repeats);
  if (n->nin > 1 && !wick_coreml_sizes(n, 1, "the repetitions", &count, &dim)) return;
  if (count != rank)
    wick_import_fail(n, WICK_ETYPE, "it has %u repetitions, the rank of its input is %u", count,
                     rank);
  else
    shape_repeated(n, rank, dim);
}
