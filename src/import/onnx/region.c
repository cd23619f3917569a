/* Imports operators on parts of images: center crops, col2im, unpooling, regions of interest,
 * and deformable convolution. */
#include "import/onnx/import.h"

/* ---- CenterCropPad ---- */

/* Pads or crops to the given sizes. Half of it is on each side; if the number is odd, the larger
 * half is at the end. */
static void region_center(wick_onnx_op *o)
{
  wick_dims *t = o->c->module->dims;
  const wick_type_info *x = wick_onnx_info(o, 0);
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  wick_dim pad[2 * WICK_MAX_RANK], none = wick_dim_const(0), two = wick_dim_const(2);
  const wick_dim *shape;
  uint32_t n, axis;
  if (!wick_onnx_dims(o, 1, "shape", &n, &shape)) return;
  if (n != (wick_onnx_attr_find(o, "axes") ? axes.n : x->rank)) {
    wick_onnx_fail(o, WICK_ETYPE, "shape has %u numbers, expected one for each axis", n);
    return;
  }
  for (uint32_t k = 0; k < 2u * x->rank; k++) pad[k] = none;
  for (uint32_t k = 0; k < n; k++) {
    if (!wick_onnx_axis(o, axes.n ? axes.at[k] : (int64_t)k, x->rank, &axis)) return;
    wick_dim more = wick_dim_sub(t, shape[k], x->dim[axis]), less = wick_dim_sub(t, none, more);
    pad[axis] = wick_dim_sub(t, wick_dim_floordiv(t, wick_dim_max(t, more, none), two),
                             wick_dim_floordiv(t, wick_dim_max(t, less, none), two));
    pad[x->rank + axis] = wick_dim_sub(t, more, pad[axis]);
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2u * x->rank, pad);
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* ---- Col2Im, MaxUnpool ---- */

/* Reads a list of n numbers, by default all `otherwise`. Returns NULL after it added a failure. */
static const int64_t *region_list(wick_onnx_op *o, const char *name, uint32_t n, int64_t least,
                                  int64_t otherwise)
{
  wick_wire_i64s v = wick_onnx_ints(o, name);
  int64_t *list = wick_new(o->c->tmp, int64_t, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    list[k] = v.n == n ? v.at[k] : otherwise;
    if (list[k] >= least && list[k] <= INT32_MAX) continue;
    wick_onnx_fail(o, WICK_ERANGE, "%s has %lld, expected %lld to %d", name, (long long)list[k],
                   (long long)least, INT32_MAX);
    return NULL;
  }
  if (!v.n || v.n == n) return list;
  wick_onnx_fail(o, WICK_ETYPE, "%s has %zu numbers, expected %u", name, v.n, n);
  return NULL;
}

/* For bools, a sum is true if any element is. */
static void region_col2im(wick_onnx_op *o)
{
  uint32_t n, nimage;
  const wick_dim *image;
  const int64_t *block;
  if (!wick_onnx_dims(o, 1, "image_shape", &nimage, &image) ||
      !wick_onnx_numbers(o, 2, "block_shape", &n, &block))
    return;
  const int64_t *stride = region_list(o, "strides", n, 1, 1),
                *dilation = region_list(o, "dilations", n, 1, 1),
                *pad = region_list(o, "pads", 2 * n, 0, 0);
  if (!stride || !dilation || !pad) return;
  wick_value x = o->in[0];
  bool logic = wick_onnx_info(o, 0)->elem == WICK_BOOL;
  if (logic) x = wick_build_cast(o->b, x, WICK_I64);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_col2im);
  wick_emit_set_ints(&e, "stride", n, stride);
  wick_emit_set_ints(&e, "dilation", n, dilation);
  wick_emit_set_ints(&e, "pad", 2 * n, pad);
  wick_emit_set_ints(&e, "kernel", n, block);
  wick_emit_set_dims(&e, "image", nimage, image);
  o->out[0] = wick_emit_end1(&e, x);
  if (logic) o->out[0] = wick_build_cast(o->b, o->out[0], WICK_BOOL);
}

/* Indices count the elements of the result that the windows and pads give. It is placed at the
 * corner of a larger output_shape. */
static void region_unpool(wick_onnx_op *o)
{
  wick_onnx_window w;
  wick_dims *t = o->c->module->dims;
  if (!wick_onnx_window_read(o, NULL, &w)) return;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_max_unpool);
  wick_onnx_window_set(&e, &w);
  wick_emit_set_ints(&e, "kernel", w.n, w.kernel);
  wick_value y = wick_emit_end2(&e, o->in[0], o->in[1]);
  o->out[0] = y;
  if (!wick_onnx_has(o, 2) || o->b->status) return;
  uint32_t n;
  const wick_dim *shape;
  const wick_type_info *have = wick_built_info(o->b, y);
  wick_dim pad[2 * WICK_MAX_RANK];
  if (!wick_onnx_dims(o, 2, "output_shape", &n, &shape)) return;
  if (n != have->rank) {
    wick_onnx_fail(o, WICK_ETYPE, "output_shape has %u numbers, expected %u", n, have->rank);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    pad[k] = wick_dim_const(0);
    pad[n + k] = wick_dim_sub(t, shape[k], have->dim[k]);
  }
  wick_emit more = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_dims(&more, "pad", 2 * n, pad);
  o->out[0] = wick_emit_end1(&more, y);
}

/* ---- regions of interest ---- */

static void region_align(wick_onnx_op *o)
{
  int64_t *shape = wick_new(o->c->tmp, int64_t, 2);
  shape[0] = wick_onnx_int(o, "output_height", 1), shape[1] = wick_onnx_int(o, "output_width", 1);
  const char *modes = o->opset < 16 ? "output_half_pixel" : "half_pixel output_half_pixel";
  bool half = !wick_onnx_word(o, "coordinate_transformation_mode", modes) && o->opset >= 16;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_roi_align);
  wick_emit_set_ints(&e, "shape", 2, shape);
  wick_emit_set_float(&e, "scale", wick_onnx_float(o, "spatial_scale", 1));
  wick_emit_set_int(&e, "ratio", wick_onnx_int(o, "sampling_ratio", 0));
  wick_emit_set_int(&e, "mode", wick_onnx_word(o, "mode", "avg max"));
  wick_emit_set_int(&e, "half", half);
  o->out[0] = wick_emit_end(&e, 3, o->in);
}

static void region_max_pool(wick_onnx_op *o)
{
  wick_wire_i64s shape = wick_onnx_ints(o, "pooled_shape");
  wick_emit e = wick_emit_begin(o->b, WICK_OP_roi_max_pool);
  wick_emit_set_ints(&e, "shape", (uint32_t)shape.n, shape.at);
  wick_emit_set_float(&e, "scale", wick_onnx_float(o, "spatial_scale", 1));
  o->out[0] = wick_emit_end2(&e, o->in[0], o->in[1]);
}

/* ---- DeformConv ---- */

enum { REGION_TAPS = 1 << 20, REGION_GROUPS = 1 << 20 };

typedef struct region_deform {
  wick_onnx_op *o;
  wick_onnx_window w;
  const wick_type_info *x, *offset;
  wick_dim batch; /* images times groups of offsets */
  int64_t taps;
  wick_elem elem; /* of the coordinates */
} region_deform;

/* Builds the position of each tap without an offset, for the window that begins at 0: [1, taps,
 * n, 1...]. */
static wick_value region_taps(const region_deform *d)
{
  const uint32_t n = d->w.n;
  int64_t dim[WICK_MAX_RANK] = {1, d->taps, n};
  double *at = wick_new(d->o->c->tmp, double, (size_t)d->taps *n);
  for (uint32_t k = 0; k < n; k++) dim[3 + k] = 1;
  for (int64_t t = 0; t < d->taps; t++) {
    int64_t rest = t;
    for (uint32_t k = n; k-- > 0; rest /= d->w.kernel[k])
      at[t * n + k] = (double)(rest % d->w.kernel[k] * d->w.dilation[k] - d->w.pad[k]);
  }
  return wick_onnx_table(d->o, d->elem, 3 + n, dim, at);
}

/* Converts the offsets to sampling positions in elements, [batch, taps * out..., out..., n]; the
 * last dimension's coordinate comes first. */
static wick_value region_grid(const region_deform *d)
{
  wick_onnx_op *o = d->o;
  const uint32_t n = d->w.n;
  wick_dims *t = o->c->module->dims;
  wick_dim dim[WICK_MAX_RANK] = {d->batch, wick_dim_const(d->taps), wick_dim_const(n)},
           begin[WICK_MAX_RANK];
  int64_t one[WICK_MAX_RANK], perm[WICK_MAX_RANK] = {0, 1}, step[WICK_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) dim[3 + k] = d->offset->dim[2 + k];
  wick_value at = wick_build_reshape(o->b, wick_build_cast(o->b, o->in[2], d->elem), 3 + n, dim);
  at = wick_build2(o->b, WICK_OP_add, at, region_taps(d));
  for (uint32_t k = 0; k < 3 + n; k++)
    one[k] = k == 2 ? n : 1, begin[k] = wick_dim_const(0), step[k] = 1;
  for (uint32_t k = 0; k < n && !o->b->status; k++) {
    double own[WICK_ONNX_SPATIAL] = {0};
    own[k] = (double)d->w.stride[k];
    wick_value along = wick_build_cast(
        o->b, wick_emit_count_along(o->b, d->offset->dim[2 + k], 3 + k, 3 + n), d->elem);
    along = wick_build2(o->b, WICK_OP_mul, along, wick_onnx_table(o, d->elem, 3 + n, one, own));
    at = wick_build2(o->b, WICK_OP_add, at, along);
  }
  begin[2] = wick_dim_const(n - 1), step[2] = -1;
  wick_emit turned = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&turned, "begin", 3 + n, begin);
  wick_emit_set_dims(&turned, "shape", 3 + n, dim);
  wick_emit_set_ints(&turned, "step", 3 + n, step);
  for (uint32_t k = 0; k < n; k++) perm[2 + k] = 3 + k;
  perm[2 + n] = 2;
  at = wick_build_transpose(o->b, wick_emit_end1(&turned, at), 3 + n, perm);
  dim[1] = wick_dim_mul(t, dim[1], dim[3]);
  for (uint32_t k = 1; k < n; k++) dim[1 + k] = d->offset->dim[2 + k];
  dim[1 + n] = wick_dim_const(n);
  return wick_build_reshape(o->b, at, 2 + n, dim);
}

/* Samples the elements under the windows: [N, C, taps, positions]. */
static wick_value region_columns(const region_deform *d, wick_dim groups, wick_dim positions)
{
  wick_onnx_op *o = d->o;
  wick_dims *t = o->c->module->dims;
  wick_dim dim[WICK_MAX_RANK] = {d->batch, wick_dim_floordiv(t, d->x->dim[1], groups)},
           taps = wick_dim_const(d->taps);
  for (uint32_t k = 0; k < d->w.n; k++) dim[2 + k] = d->x->dim[2 + k];
  wick_value x =
      wick_build_reshape(o->b, wick_build_cast(o->b, o->in[0], d->elem), 2 + d->w.n, dim);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_grid_sample);
  wick_emit_set_int(&e, "elements", 1);
  wick_value v = wick_emit_end2(&e, x, region_grid(d));
  const wick_dim parts[] = {d->batch, dim[1], taps, positions},
                 mask[] = {d->batch, wick_dim_const(1), taps, positions},
                 whole[] = {d->x->dim[0], d->x->dim[1], taps, positions};
  if (wick_onnx_has(o, 4)) {
    wick_value by = wick_build_reshape(o->b, wick_build_cast(o->b, o->in[4], d->elem), 4, mask);
    v = wick_build2(o->b, WICK_OP_mul, wick_build_reshape(o->b, v, 4, parts), by);
  }
  return wick_build_reshape(o->b, v, 4, whole);
}

/* Checks the shapes. Returns false after it added a failure. */
static bool region_deform_fits(region_deform *d, const wick_type_info *w, int64_t group,
                               int64_t offsets)
{
  wick_dims *t = d->o->c->module->dims;
  bool fits = d->offset->rank == d->x->rank && w->rank == d->x->rank && group > 0 && offsets > 0 &&
              group <= REGION_GROUPS && offsets <= REGION_GROUPS;
  if (fits) {
    wick_dim channels = wick_dim_mul(t, w->dim[1], wick_dim_const(group));
    fits = wick_onnx_equal(d->o, channels, d->x->dim[1]) &&
           wick_onnx_divides(d->o, channels, wick_dim_const(offsets)) &&
           wick_onnx_divides(d->o, w->dim[0], wick_dim_const(group)) &&
           wick_onnx_equal(d->o, d->offset->dim[1], wick_dim_const(offsets * d->taps * d->w.n));
  }
  if (!fits) wick_onnx_fail(d->o, WICK_ETYPE, "its input, weights, offsets and groups do not fit");
  for (uint32_t k = 0; k < d->w.n && fits; k++) {
    int64_t reach =
                d->w.dilation[k] * (d->w.kernel[k] - 1) + 1 - d->w.pad[k] - d->w.pad[d->w.n + k],
            s = d->w.stride[k];
    wick_dim size = wick_dim_add(t, d->x->dim[2 + k], wick_dim_const(s - reach));
    fits =
        wick_onnx_equal(d->o, wick_dim_floordiv(t, size, wick_dim_const(s)), d->offset->dim[2 + k]);
    if (!fits)
      wick_onnx_fail(d->o, WICK_ETYPE, "its offsets are for another size of axis %u", 2 + k);
  }
  return fits;
}

/* Builds a matrix product of the weights and the sampled elements. */
static void region_deform_conv(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_dims *t = o->c->module->dims;
  const wick_dim *kernel = wick_onnx_conv_kernel(o, 1);
  region_deform d = {.o = o, .x = wick_onnx_info(o, 0), .offset = wick_onnx_info(o, 2), .taps = 1};
  const wick_type_info *w = wick_onnx_info(o, 1);
  int64_t group = wick_onnx_int(o, "group", 1), offsets = wick_onnx_int(o, "offset_group", 1);
  if (!kernel || !wick_onnx_window_read(o, kernel, &d.w)) return;
  for (uint32_t k = 0; k < d.w.n && d.taps <= REGION_TAPS; k++) d.taps *= d.w.kernel[k];
  if (d.taps > REGION_TAPS) {
    wick_onnx_fail(o, WICK_ELIMIT, "windows of more than %d elements", REGION_TAPS);
    return;
  }
  if (!region_deform_fits(&d, w, group, offsets)) return;
  d.elem = wick_elem_storage[d.x->elem].arith;
  d.batch = wick_dim_mul(t, d.x->dim[0], wick_dim_const(offsets));
  wick_dim positions = wick_dim_const(1), g = wick_dim_const(group), dim[WICK_MAX_RANK],
           depth = wick_dim_mul(t, w->dim[1], wick_dim_const(d.taps));
  for (uint32_t k = 0; k < d.w.n; k++) positions = wick_dim_mul(t, positions, d.offset->dim[2 + k]);
  wick_value v = region_columns(&d, wick_dim_const(offsets), positions),
             by = wick_build_cast(b, o->in[1], d.elem);
  v = wick_build_reshape(o->b, v, 4, (const wick_dim[]){d.x->dim[0], g, depth, positions});
  by = wick_build_reshape(o->b, by, 3,
                          (const wick_dim[]){g, wick_dim_floordiv(t, w->dim[0], g), depth});
  v = wick_build2(b, WICK_OP_matmul, by, v);
  dim[0] = d.x->dim[0], dim[1] = w->dim[0];
  for (uint32_t k = 0; k < d.w.n; k++) dim[2 + k] = d.offset->dim[2 + k];
  v = wick_build_reshape(o->b, v, 2 + d.w.n, dim);
  if (wick_onnx_has(o, 3)) {
    for (uint32_t k = 0; k < d.w.n; k++) dim[2 + k] = wick_dim_const(1);
    wick_value bias = wick_build_cast(b, o->in[3], d.elem);
    v = wick_build2(b, WICK_OP_add, v, wick_build_reshape(o->b, bias, 1 + d.w.n, dim + 1));
  }
  o->out[0] = wick_build_cast(b, v, d.x->elem);
}

static void region_det(wick_onnx_op *o) { o->out[0] = wick_build1(o->b, WICK_OP_det, o->in[0]); }

#define ALIGN "mode:s output_height:i output_width:i sampling_ratio:i spatial_scale:f"

const wick_onnx_row wick_onnx_region_rows[] = {
    {"CenterCropPad", 18, {2, 2}, 1, "axes:I", region_center, 0, 0},
    {"Col2Im", 18, {3, 3}, 1, "dilations:I pads:I strides:I", region_col2im, 0, 0},
    {"DeformConv",
     19,
     {3, 5},
     1,
     "dilations:I group:i kernel_shape:I offset_group:i pads:I strides:I",
     region_deform_conv,
     0,
     0},
    {"Det", 11, {1, 1}, 1, "", region_det, 0, 0},
    {"MaxRoiPool", 1, {2, 2}, 1, "pooled_shape:I! spatial_scale:f", region_max_pool, 0, 0},
    {"MaxUnpool", 9, {2, 3}, 1, "kernel_shape:I! pads:I strides:I", region_unpool, 0, 0},
    {"RoiAlign", 10, {3, 3}, 1, ALIGN, region_align, 0, 0},
    {"RoiAlign", 16, {3, 3}, 1, "coordinate_transformation_mode:s " ALIGN, region_align, 0, 0},
    {0},
};
