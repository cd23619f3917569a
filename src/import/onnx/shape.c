/* Imports operators on shapes: reshape and similar ones, transpose, concat, split, and those that
 * read shapes. */
#include "import/onnx/import.h"

/* ---- reshape ---- */

/* Reshapes. 0 is the input's size of the same axis unless `allowzero`; -1 is inferred. */
static void shape_reshape_to(wick_onnx_op *o, uint32_t n, const wick_dim *want)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  bool zero = wick_onnx_int(o, "allowzero", 0) != 0;
  wick_dim *dim = wick_new(o->c->tmp, wick_dim, n);
  for (uint32_t k = 0; k < n; k++) {
    bool copy = wick_dim_is(want[k], 0) && !zero;
    if (copy && k >= x->rank) {
      wick_onnx_fail(o, WICK_ETYPE, "size %u is to be copied (0), but the input has rank %u", k,
                     x->rank);
      return;
    }
    dim[k] = copy ? x->dim[k] : want[k];
  }
  o->out[0] = wick_build_reshape(o->b, o->in[0], n, dim);
}

static void shape_reshape_1(wick_onnx_op *o)
{
  wick_wire_i64s shape = wick_onnx_ints(o, "shape");
  wick_dim *dim = wick_new(o->c->tmp, wick_dim, shape.n);
  for (size_t i = 0; i < shape.n; i++) dim[i] = wick_dim_const(shape.at[i]);
  shape_reshape_to(o, (uint32_t)shape.n, dim);
}

static void shape_reshape(wick_onnx_op *o)
{
  uint32_t n;
  const wick_dim *dim;
  if (wick_onnx_dims(o, 1, "the shape", &n, &dim)) shape_reshape_to(o, n, dim);
}

/* Flattens to a matrix: the dimensions before `axis`, and those from `axis` on. */
static void shape_flatten(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  int64_t axis = wick_onnx_int(o, "axis", 1), rank = x->rank;
  if (axis < -rank || axis > rank) {
    wick_onnx_fail(o, WICK_ETYPE, "axis %lld is outside [%lld, %lld]", (long long)axis,
                   (long long)-rank, (long long)rank);
    return;
  }
  wick_dim dim[2] = {wick_dim_const(1), wick_dim_const(1)};
  for (int64_t i = 0; i < rank; i++) {
    wick_dim *side = &dim[i >= (axis < 0 ? axis + rank : axis)];
    *side = wick_dim_mul(o->c->module->dims, *side, x->dim[i]);
  }
  o->out[0] = wick_build_reshape(o->b, o->in[0], 2, dim);
}

/* Sets `out` to the set of axes. Returns false after it added a failure. */
static bool shape_axes(wick_onnx_op *o, uint32_t n, const int64_t *axes, uint32_t rank,
                       uint32_t *out)
{
  *out = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t axis;
    if (!wick_onnx_axis(o, axes[i], rank, &axis)) return false;
    if (*out >> axis & 1) {
      wick_onnx_fail(o, WICK_ETYPE, "axis %u occurs twice", axis);
      return false;
    }
    *out |= 1u << axis;
  }
  return true;
}

static void shape_squeeze_over(wick_onnx_op *o, bool given, uint32_t n, const int64_t *axes)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t drop = 0, rank = 0;
  if (given && !shape_axes(o, n, axes, x->rank, &drop)) return;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < x->rank; k++) {
    bool one = wick_dim_is(x->dim[k], 1);
    if (!given && !one) wick_onnx_not_one(o, x->dim[k]);
    if (drop >> k & 1 && !one && wick_dim_is_const(x->dim[k])) {
      wick_onnx_fail(o, WICK_ETYPE, "axis %u is of size %lld, expected 1", k,
                     (long long)x->dim[k].v);
      return;
    }
    if (given ? !(drop >> k & 1) : !one) dim[rank++] = x->dim[k];
  }
  o->out[0] = wick_build_reshape(o->b, o->in[0], rank, dim);
}

static void shape_unsqueeze_over(wick_onnx_op *o, uint32_t n, const int64_t *axes)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t add, rank = x->rank + n, from = 0;
  if (rank > WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
    return;
  }
  if (!shape_axes(o, n, axes, rank, &add)) return;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) dim[k] = add >> k & 1 ? wick_dim_const(1) : x->dim[from++];
  o->out[0] = wick_build_reshape(o->b, o->in[0], rank, dim);
}

static void shape_squeeze_1(wick_onnx_op *o)
{
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  shape_squeeze_over(o, axes.n > 0, (uint32_t)axes.n, axes.at);
}

static void shape_squeeze(wick_onnx_op *o)
{
  uint32_t n = 0;
  const int64_t *axes = NULL;
  bool given = wick_onnx_has(o, 1);
  if (!given || wick_onnx_numbers(o, 1, "axes", &n, &axes)) shape_squeeze_over(o, given, n, axes);
}

static void shape_unsqueeze_1(wick_onnx_op *o)
{
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  shape_unsqueeze_over(o, axes.n > WICK_MAX_RANK ? WICK_MAX_RANK + 1 : (uint32_t)axes.n, axes.at);
}

static void shape_unsqueeze(wick_onnx_op *o)
{
  uint32_t n;
  const int64_t *axes;
  if (wick_onnx_numbers(o, 1, "axes", &n, &axes)) shape_unsqueeze_over(o, n, axes);
}

/* ---- depth and space ---- */

static void shape_depth_to_space(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_depth_to_space);
  wick_emit_set_int(&e, "block", wick_onnx_int(o, "blocksize", 0));
  wick_emit_set_int(&e, "order", wick_onnx_word(o, "mode", "DCR CRD"));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* In the mode CRD, channels are ordered by channel first, then by position in the block. */
static void shape_space_to_depth(wick_onnx_op *o)
{
  static const int64_t swap[] = {0, 2, 1, 3, 4};
  wick_emit e = wick_emit_begin(o->b, WICK_OP_space_to_depth);
  int64_t block = wick_onnx_int(o, "blocksize", 0);
  wick_emit_set_int(&e, "block", block);
  wick_value y = o->out[0] = wick_emit_end1(&e, o->in[0]);
  if (!wick_onnx_word(o, "mode", "DCR CRD") || o->b->status) return;
  const wick_type_info *x = wick_onnx_info(o, 0), *t = wick_built_info(o->b, y);
  const wick_dim split[] = {t->dim[0], wick_dim_const(block * block), x->dim[1], t->dim[2],
                            t->dim[3]};
  o->out[0] = wick_build_reshape(
      o->b, wick_build_transpose(o->b, wick_build_reshape(o->b, y, 5, split), 5, swap), 4, t->dim);
}

/* ---- order, parts ---- */

static void shape_transpose(wick_onnx_op *o)
{
  wick_wire_i64s perm = wick_onnx_ints(o, "perm");
  o->out[0] = wick_build_transpose(o->b, o->in[0], (uint32_t)perm.n, perm.at);
}

static void shape_concat(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_concat);
  wick_emit_set_int(&e, "axis",
                    wick_onnx_int(o, "axis", 1)); /* there is no default from opset 4 on */
  o->out[0] = wick_emit_end(&e, o->nin, o->in);
}

/* Sizes are in an attribute or in the second operand. Without sizes the parts are equal, except
 * that the last one may be smaller. */
static void shape_split(wick_onnx_op *o)
{
  wick_wire_i64s list = o->opset < 13 ? wick_onnx_ints(o, "split") : (wick_wire_i64s){0};
  uint32_t n = (uint32_t)list.n;
  const wick_dim *dim = NULL;
  wick_dim *sizes = wick_new(o->c->tmp, wick_dim, list.n);
  for (size_t i = 0; i < list.n; i++) sizes[i] = wick_dim_const(list.at[i]);
  dim = sizes;
  if (wick_onnx_has(o, 1) && !wick_onnx_dims(o, 1, "split", &n, &dim)) return;
  int64_t parts = wick_onnx_int(o, "num_outputs", o->nout);
  if ((n && n != o->nout) || parts != o->nout) {
    wick_onnx_fail(o, WICK_ETYPE, "it has %u outputs, expected %lld", o->nout,
                   n ? (long long)n : (long long)parts);
    return;
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_split);
  wick_emit_set_int(&e, "axis", wick_onnx_int(o, "axis", 0));
  if (n)
    wick_emit_set_dims(&e, "sizes", n, dim);
  else
    wick_emit_set_int(&e, "parts", parts);
  wick_value first = wick_emit_end1(&e, o->in[0]);
  for (uint32_t k = 0; k < o->nout && first.id; k++) o->out[k] = (wick_value){first.id + k};
}

/* ---- about shapes ---- */

static void shape_shape(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_shape);
  wick_emit_set_int(&e, "start", wick_onnx_int(o, "start", 0));
  wick_emit_set_int(&e, "end", wick_onnx_int(o, "end", WICK_MAX_RANK));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

static void shape_size(wick_onnx_op *o) { o->out[0] = wick_build1(o->b, WICK_OP_size, o->in[0]); }

const wick_onnx_row wick_onnx_shape_rows[] = {
    {"Concat", 1, {1, WICK_ANY}, 1, "axis:i", shape_concat, 0, 0},
    {"Concat", 4, {1, WICK_ANY}, 1, "axis:i!", shape_concat, 0, 0},
    {"DepthToSpace", 1, {1, 1}, 1, "blocksize:i!", shape_depth_to_space, 0, 0},
    {"DepthToSpace", 11, {1, 1}, 1, "blocksize:i! mode:s", shape_depth_to_space, 0, 0},
    {"Flatten", 1, {1, 1}, 1, "axis:i", shape_flatten, 0, 0},
    {"Reshape", 1, {1, 1}, 1, "shape:I", shape_reshape_1, 0, 0},
    {"Reshape", 5, {2, 2}, 1, "", shape_reshape, 0, 0},
    {"Reshape", 14, {2, 2}, 1, "allowzero:i", shape_reshape, 0, 0},
    {"Shape", 1, {1, 1}, 1, "", shape_shape, 0, 0},
    {"Shape", 15, {1, 1}, 1, "end:i start:i", shape_shape, 0, 0},
    {"Size", 1, {1, 1}, 1, "", shape_size, 0, 0},
    {"SpaceToDepth", 1, {1, 1}, 1, "blocksize:i!", shape_space_to_depth, 0, 0},
    {"SpaceToDepth", 28, {1, 1}, 1, "blocksize:i! mode:s", shape_space_to_depth, 0, 0},
    {"Split", 1, {1, 2}, WICK_ANY, "axis:i split:I", shape_split, 0, 0},
    {"Split", 2, {1, 1}, WICK_ANY, "axis:i split:I", shape_split, 0, 0},
    {"Split", 13, {1, 2}, WICK_ANY, "axis:i", shape_split, 0, 0},
    {"Split", 18, {1, 2}, WICK_ANY, "axis:i num_outputs:i", shape_split, 0, 0},
    {"Squeeze", 1, {1, 1}, 1, "axes:I", shape_squeeze_1, 0, 0},
    {"Squeeze", 13, {1, 2}, 1, "", shape_squeeze, 0, 0},
    {"Transpose", 1, {1, 1}, 1, "perm:I", shape_transpose, 0, 0},
    {"Unsqueeze", 1, {1, 1}, 1, "axes:I!", shape_unsqueeze_1, 0, 0},
    {"Unsqueeze", 13, {2, 2}, 1, "", shape_unsqueeze, 0, 0},
    {0},
};
