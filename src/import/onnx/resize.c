/* Imports Resize, and its predecessor Upsample. */
#include <math.h>
#include <string.h>

#include "import/onnx/import.h"

/* Sizes and factors by axis of the input. Axes that the node does not name keep their size. */
typedef struct resize_target {
  wick_dim size[WICK_MAX_RANK];
  double scale[WICK_MAX_RANK], roi[2 * WICK_MAX_RANK];
  bool by_scale; /* otherwise the scale is the ratio of the sizes */
} resize_target;

enum { RESIZE_LARGEST = 1 << 20 }; /* size of an axis whose scale is not a number of few bits */

static int64_t resize_rounded(int64_t in, double scale)
{
  return (int64_t)floorf((float)in * (float)scale);
}

/* Finds the fraction of small numbers that `scale` represents, by its continued fraction. */
static void resize_fraction(double scale, int64_t *over, int64_t *under)
{
  int64_t p[2] = {0, 1}, q[2] = {1, 0};
  double rest = scale;
  for (int k = 0; k < 32 && q[1] < 4096 && rest < RESIZE_LARGEST; k++) {
    int64_t whole = (int64_t)floor(rest), next_p = whole * p[1] + p[0],
            next_q = whole * q[1] + q[0];
    p[0] = p[1], q[0] = q[1], p[1] = next_p, q[1] = next_q;
    double error = fabs((double)p[1] / (double)q[1] - scale);
    if (error <= scale * 0x1p-24 || rest == (double)whole) break;
    rest = 1 / (rest - (double)whole);
  }
  *over = p[1], *under = q[1];
}

/* Builds floor(in * scale) for a symbolic size with such a fraction. All sizes are compared with
 * the rounded product of floats. */
static bool resize_by_fraction(wick_onnx_op *o, wick_dim in, double scale, wick_dim *out)
{
  wick_dims *t = o->c->module->dims;
  int64_t over, under, lo, hi;
  wick_dim largest = wick_dim_const(RESIZE_LARGEST);
  wick_dim_range(t, in, &lo, &hi);
  if (scale * RESIZE_LARGEST < 1 || scale > RESIZE_LARGEST) return false;
  resize_fraction(scale, &over, &under);
  for (int64_t n = wick_max_i64(lo, 0); n <= hi && n <= RESIZE_LARGEST; n++)
    if (wick_floordiv_i64(n * over, under) != resize_rounded(n, scale)) return false;
  *out = wick_dim_floordiv(t, wick_dim_mul(t, in, wick_dim_const(over)), wick_dim_const(under));
  return wick_onnx_equal(o, wick_dim_min(t, in, largest), in);
}

/* Builds floor(in * scale), rounded as in ONNX's shape inference. */
static bool resize_size(wick_onnx_op *o, uint32_t axis, double scale, wick_dim *out)
{
  wick_dim in = wick_onnx_info(o, 0)->dim[axis];
  wick_dims *dims = o->c->module->dims;
  double whole = scale * 4096;
  if (!(scale > 0) || scale > 0x1p30) {
    wick_onnx_fail(o, WICK_ERANGE, "the scale of axis %u is %g", axis, scale);
    return false;
  }
  if (wick_dim_is_const(in)) {
    *out = wick_dim_const(resize_rounded(in.v, scale));
  } else if (whole == floor(whole)) {
    *out = wick_dim_floordiv(dims, wick_dim_mul(dims, in, wick_dim_const((int64_t)whole)),
                             wick_dim_const(4096));
  } else if (!resize_by_fraction(o, in, scale, out)) {
    return wick_onnx_must_be_known(
        o, wick_str_printf(o->c->tmp, "the size that is scaled by %g", scale), in);
  }
  return true;
}

static wick_value resize_once(wick_onnx_op *o, const resize_target *t, int mode,
                              const char *coordinates, int nearest, wick_value x)
{
  static const char *const words[] = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
      "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", rank, t->size);
  if (t->by_scale) wick_emit_set_floats(&e, "scale", rank, t->scale);
  wick_emit_set_int(&e, "mode", mode);
  for (size_t i = 0; i < WICK_COUNT(words); i++)
    if (strcmp(words[i], coordinates) == 0) wick_emit_set_int(&e, "coordinates", (int64_t)i);
  wick_emit_set_int(&e, "nearest", nearest);
  wick_emit_set_float(&e, "cubic", wick_onnx_float(o, "cubic_coeff_a", -0.75f));
  wick_emit_set_int(&e, "exclude", wick_onnx_int(o, "exclude_outside", 0));
  wick_emit_set_int(&e, "antialias", wick_onnx_int(o, "antialias", 0));
  if (strcmp(coordinates, "tf_crop_and_resize") == 0)
    wick_emit_set_floats(&e, "roi", 2 * rank, t->roi);
  wick_emit_set_float(&e, "outside", wick_onnx_float(o, "extrapolation_value", 0));
  return wick_emit_end1(&e, x);
}

/* Resizes all axes. Interpolation is separate for each axis, so that more than three are resized
 * three at a time. */
static wick_value resize_all(wick_onnx_op *o, const resize_target *t, int mode,
                             const char *coordinates, int nearest, wick_value x)
{
  resize_target part = {.by_scale = t->by_scale};
  uint32_t rank = wick_onnx_info(o, 0)->rank, n = 0;
  bool crop = strcmp(coordinates, "tf_crop_and_resize") == 0;
  if (o->b->status || !x.id) return x;
  for (uint32_t k = 0; k < rank; k++) {
    part.size[k] = wick_built_info(o->b, x)->dim[k], part.scale[k] = 1;
    part.roi[k] = 0, part.roi[rank + k] = 1;
  }
  for (uint32_t k = 0; k < rank; k++) {
    bool same = wick_dim_eq(part.size[k], t->size[k]) && (!t->by_scale || t->scale[k] == 1) &&
                (!crop || (t->roi[k] == 0 && t->roi[rank + k] == 1));
    if (same) continue;
    if (mode && n && n % WICK_ONNX_WINDOW == 0) {
      resize_target done = part;
      x = resize_once(o, &part, mode, coordinates, nearest, x);
      for (uint32_t i = 0; i < k; i++) done.scale[i] = 1, done.roi[i] = 0, done.roi[rank + i] = 1;
      part = done;
    }
    n++;
    part.size[k] = t->size[k], part.scale[k] = t->scale[k];
    part.roi[k] = t->roi[k], part.roi[rank + k] = t->roi[rank + k];
  }
  return resize_once(o, &part, mode, coordinates, nearest, x);
}

/* Builds the resize. Interpolated integers are rounded to nearest, ties to even, and saturate. */
static void resize_emit(wick_onnx_op *o, const resize_target *t, int mode, const char *coordinates,
                        int nearest, wick_value x, wick_value *out)
{
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  wick_elem wide = wick_elem_storage[elem].bits > 8 ? WICK_F64 : WICK_F32;
  bool whole = mode && wick_elem_is_int(elem);
  if (whole) x = wick_build_cast(o->b, x, wide);
  x = resize_all(o, t, mode, coordinates, nearest, x);
  *out = whole ? wick_build_cast(o->b, wick_build1(o->b, WICK_OP_round_even, x), elem) : x;
}

/* ---- before opset 11: asymmetric coordinates ---- */

/* Nearest rounds down for an axis that grows and up for one that shrinks. If both occur, resizes
 * the axes in two steps. */
static void resize_asymmetric(wick_onnx_op *o, uint32_t n, const double *scale)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  int linear = wick_onnx_word(o, "mode", "nearest linear bilinear") != 0;
  resize_target up = {.by_scale = true}, down = {.by_scale = true};
  bool grows = false, shrinks = false;
  if (n != x->rank) {
    wick_onnx_fail(o, WICK_ETYPE, "scales has %u numbers, expected %u", n, x->rank);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    wick_dim size;
    bool less = scale[k] < 1 && !linear;
    if (!resize_size(o, k, scale[k], &size)) return;
    up.size[k] = less ? x->dim[k] : size;
    down.size[k] = size;
    up.scale[k] = less ? 1 : scale[k];
    down.scale[k] = less ? scale[k] : 1;
    shrinks |= less;
    grows |= !less && scale[k] != 1;
  }
  wick_value y = o->in[0];
  enum { FLOOR = 2, CEIL = 3 };
  if (grows || !shrinks) resize_emit(o, &up, linear, "asymmetric", FLOOR, y, &y);
  if (shrinks) resize_emit(o, &down, linear, "asymmetric", CEIL, y, &y);
  o->out[0] = y;
}

static void resize_upsample_1(wick_onnx_op *o)
{
  const double scale[] = {1, 1, wick_onnx_float(o, "height_scale", 1),
                          wick_onnx_float(o, "width_scale", 1)};
  resize_asymmetric(o, 4, scale);
}

static void resize_upsample_7(wick_onnx_op *o)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "scales");
  double *scale = wick_new(o->c->tmp, double, a->floats.n);
  for (size_t i = 0; i < a->floats.n; i++) scale[i] = (double)a->floats.at[i];
  resize_asymmetric(o, (uint32_t)a->floats.n, scale);
}

static void resize_scales(wick_onnx_op *o)
{
  uint32_t n;
  const double *scale;
  if (wick_onnx_floats(o, 1, "scales", &n, &scale)) resize_asymmetric(o, n, scale);
}

/* ---- from opset 11 on ---- */

/* Returns whether operand i is present and has elements. */
static bool resize_given(const wick_onnx_op *o, uint32_t i)
{
  return wick_onnx_has(o, i) &&
         !(wick_onnx_info(o, i)->rank == 1 && wick_dim_is(wick_onnx_info(o, i)->dim[0], 0));
}

static bool resize_axes(wick_onnx_op *o, uint32_t *out_n, uint32_t *out)
{
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  *out_n = axes.n ? (uint32_t)axes.n : rank;
  if (axes.n > rank) wick_onnx_fail(o, WICK_ETYPE, "it has %zu axes, the input %u", axes.n, rank);
  for (uint32_t i = 0; i < *out_n && !o->failed; i++)
    wick_onnx_axis(o, axes.n ? axes.at[i] : i, rank, &out[i]);
  return !o->failed;
}

/* Uses one scale for all named axes, so that the result has at most, or at least, the given
 * sizes. */
static void resize_keep_ratio(wick_onnx_op *o, int policy, uint32_t n, const uint32_t *axis,
                              const wick_dim *want, resize_target *t)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  double scale = 0;
  for (uint32_t i = 0; i < n; i++) {
    wick_dim in = x->dim[axis[i]];
    const wick_dim both[] = {in, want[i]};
    for (uint32_t k = 0; k < 2; k++)
      if (!wick_dim_is_const(both[k])) {
        wick_onnx_must_be_known(o, "a size, for keep_aspect_ratio_policy,", both[k]);
        return;
      }
    if (in.v < 1 || want[i].v < 1) {
      wick_onnx_fail(o, WICK_ERANGE, "keep_aspect_ratio_policy has sizes %lld and %lld",
                     (long long)in.v, (long long)want[i].v);
      return;
    }
    double ratio = (double)want[i].v / (double)in.v;
    if (i == 0 || (policy == 1 ? ratio < scale : ratio > scale)) scale = ratio;
  }
  t->by_scale = true;
  for (uint32_t i = 0; i < n; i++) {
    t->scale[axis[i]] = scale;
    t->size[axis[i]] = wick_dim_const((int64_t)floor(scale * (double)x->dim[axis[i]].v + 0.5));
  }
}

/* If more than three axes may change, assumes that the outer ones do not. */
static void resize_outer(wick_onnx_op *o, resize_target *t)
{
  enum { RESIZE_SPATIAL = 3 };
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t n = 0;
  for (uint32_t k = 0; k < x->rank; k++) n += !wick_dim_eq(x->dim[k], t->size[k]);
  for (uint32_t k = 0; k < x->rank && n > RESIZE_SPATIAL; k++)
    if (!wick_dim_eq(x->dim[k], t->size[k]) && wick_onnx_equal(o, x->dim[k], t->size[k]))
      t->size[k] = x->dim[k], n--;
}

static bool resize_by_sizes(wick_onnx_op *o, uint32_t n, const uint32_t *axis, resize_target *t)
{
  uint32_t have;
  const wick_dim *size;
  int policy = wick_onnx_word(o, "keep_aspect_ratio_policy", "stretch not_larger not_smaller");
  if (!wick_onnx_dims(o, 3, "sizes", &have, &size)) return false;
  if (have != n) {
    wick_onnx_fail(o, WICK_ETYPE, "sizes has %u numbers, expected %u", have, n);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) t->size[axis[i]] = size[i];
  if (!policy) resize_outer(o, t);
  if (policy) resize_keep_ratio(o, policy, n, axis, size, t);
  return !o->failed;
}

static bool resize_by_scales(wick_onnx_op *o, uint32_t n, const uint32_t *axis, bool crop,
                             resize_target *t)
{
  uint32_t have, rank = wick_onnx_info(o, 0)->rank;
  const double *scale;
  if (!wick_onnx_floats(o, 2, "scales", &have, &scale)) return false;
  if (have != n) {
    wick_onnx_fail(o, WICK_ETYPE, "scales has %u numbers, expected %u", have, n);
    return false;
  }
  t->by_scale = true;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = axis[i];
    double part = crop ? t->roi[rank + k] - t->roi[k] : 1;
    t->scale[k] = scale[i];
    if (!resize_size(o, k, scale[i] * part, &t->size[k])) return false;
  }
  return true;
}

static bool resize_roi(wick_onnx_op *o, uint32_t n, const uint32_t *axis, resize_target *t)
{
  uint32_t have, rank = wick_onnx_info(o, 0)->rank;
  const double *roi;
  if (!resize_given(o, 1)) {
    wick_onnx_fail(o, WICK_EPARSE, "tf_crop_and_resize has no roi");
    return false;
  }
  if (!wick_onnx_floats(o, 1, "roi", &have, &roi)) return false;
  if (have != 2 * n) {
    wick_onnx_fail(o, WICK_ETYPE, "roi has %u numbers, expected %u", have, 2 * n);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) t->roi[axis[i]] = roi[i], t->roi[rank + axis[i]] = roi[n + i];
  return true;
}

static void resize_resize(wick_onnx_op *o)
{
  static const char words[] =
      "half_pixel pytorch_half_pixel align_corners asymmetric tf_crop_and_resize ";
  static const char *const names[] = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                      "asymmetric", "tf_crop_and_resize", NULL};
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t n, axis[WICK_MAX_RANK];
  resize_target t = {.by_scale = false};
  const char *last = o->opset < 13   ? "tf_half_pixel_for_nn"
                     : o->opset < 19 ? ""
                                     : "half_pixel_symmetric";
  int word = wick_onnx_word(o, "coordinate_transformation_mode",
                            wick_str_printf(o->c->tmp, "%s%s", words, last));
  const char *coordinates = names[word] ? names[word] : last;
  bool crop = strcmp(coordinates, "tf_crop_and_resize") == 0, sizes = resize_given(o, 3),
       scales = resize_given(o, 2);
  if (sizes == scales)
    wick_onnx_fail(o, WICK_EPARSE,
                   sizes ? "it has both scales and sizes" : "it has neither scales nor sizes");
  for (uint32_t k = 0; k < x->rank; k++)
    t.size[k] = x->dim[k], t.scale[k] = 1, t.roi[x->rank + k] = 1;
  if (o->failed || !resize_axes(o, &n, axis) || (crop && !resize_roi(o, n, axis, &t))) return;
  if (!(sizes ? resize_by_sizes(o, n, axis, &t) : resize_by_scales(o, n, axis, crop, &t))) return;
  int mode = wick_onnx_word(o, "mode", "nearest linear cubic");
  int nearest =
      wick_onnx_word(o, "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil");
  resize_emit(o, &t, mode, coordinates, nearest, o->in[0], &o->out[0]);
}

#define RESIZE_11                                                                                  \
  "coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f "      \
  "mode:s nearest_mode:s"

const wick_onnx_row wick_onnx_resize_rows[] = {
    {"Resize", 10, {2, 2}, 1, "mode:s", resize_scales, 0, 0},
    {"Resize", 11, {1, 4}, 1, RESIZE_11, resize_resize, 0, 0},
    {"Resize", 13, {1, 4}, 1, RESIZE_11, resize_resize, 0, 0},
    {"Resize",
     18,
     {1, 4},
     1,
     RESIZE_11 " antialias:i axes:I keep_aspect_ratio_policy:s",
     resize_resize,
     0,
     0},
    {"Upsample", 1, {1, 1}, 1, "height_scale:f! mode:s width_scale:f!", resize_upsample_1, 0, 0},
    {"Upsample", 7, {1, 1}, 1, "mode:s scales:F!", resize_upsample_7, 0, 0},
    {"Upsample", 9, {2, 2}, 1, "mode:s", resize_scales, 0, 0},
    {"Upsample", 10, {2, 2}, 1, "", NULL, 0, 0},
    {0},
};
