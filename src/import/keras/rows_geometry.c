/* The functions of keras.ops.image that compute from where elements come: transforms by matrices,
 * coordinates, scales; and structural similarity. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"
#include "import/kit/linear.h"
#include "import/kit/projective.h"

/* ---- transforms ---- */

/* The image by t [8] or [batch, 8] in f32. */
static void geometry_transform(wick_import_node *n, wick_value x, wick_value t,
                               wick_outside outside)
{
  bool last = keras_channels_last(n), nearest = false, alone = keras_rank(n, x) == 3;
  const char *mode = wick_import_text(n, "interpolation", "bilinear");
  nearest = strcmp(mode, "nearest") == 0;
  if (keras_rank(n, t) == 1) t = wick_emit_unsqueeze(n->b, t, 0);
  if (alone) x = wick_emit_unsqueeze(n->b, x, 0);
  if (!last) x = wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 2, 3, 1});
  if (n->failed || n->b->status) return;
  const wick_dim size[2] = {keras_dims(n, x)[1], keras_dims(n, x)[2]};
  wick_value fill = wick_emit_number(n->b, x, wick_import_real(n, "fill_value", 0));
  x = wick_projective(n, x, t, size, !nearest, outside, fill);
  if (n->failed || n->b->status) return;
  if (!last) x = wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 3, 1, 2});
  n->out[0] = alone ? wick_emit_squeeze(n->b, x, 0) : x;
}

static bool geometry_image(wick_import_node *n, wick_value *x)
{
  *x = keras_operand(n, 0, "images", (wick_value){0});
  if (n->failed || n->b->status) return false;
  uint32_t rank = keras_rank(n, *x);
  if (rank == 3 || rank == 4) return true;
  wick_import_fail(n, WICK_ETYPE, "the rank is %u, expected 3 or 4", rank);
  return false;
}

static void geometry_affine(wick_import_node *n)
{
  wick_value x, t = keras_operand(n, 1, "transform", (wick_value){0});
  const char *mode = wick_import_text(n, "fill_mode", "constant");
  wick_outside outside;
  if (!geometry_image(n, &x)) return;
  if (!wick_outside_named(mode, &outside)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the fill mode \"%s\" is not supported", mode);
    return;
  }
  geometry_transform(n, x, t, outside);
}

/* Column `axis` of point k: [batch, 1, 1]. */
static wick_value geometry_point(wick_import_node *n, wick_value points, uint32_t k, uint32_t axis)
{
  wick_value v = wick_emit_slice(n->b, points, 1, wick_dim_const(k), wick_dim_const(1));
  return wick_emit_slice(n->b, v, 2, wick_dim_const(axis), wick_dim_const(1));
}

/* The transform [batch, 8] that takes the end points [batch, 4, 2] to the start points: eight
 * equations, two for each point. */
static wick_value geometry_homography(wick_import_node *n, wick_value start, wick_value end)
{
  wick_builder *b = n->b;
  wick_value row[8], to[8];
  for (uint32_t k = 0; k < 4 && !b->status; k++) {
    wick_value x = geometry_point(n, end, k, 0), y = geometry_point(n, end, k, 1);
    if (b->status) return start;
    wick_value zero = wick_emit_by(b, WICK_OP_mul, x, 0),
               one = wick_emit_by(b, WICK_OP_add, zero, 1);
    for (uint32_t axis = 0; axis < 2; axis++) {
      wick_value own = geometry_point(n, start, k, axis), minus = wick_build1(b, WICK_OP_neg, own);
      wick_value item[8] = {zero, zero, zero, zero, zero, zero, zero, zero};
      item[3 * axis] = x, item[3 * axis + 1] = y, item[3 * axis + 2] = one;
      item[6] = wick_build2(b, WICK_OP_mul, minus, x);
      item[7] = wick_build2(b, WICK_OP_mul, minus, y);
      row[2 * k + axis] = wick_build_concat(b, 2, 8, item);
      to[2 * k + axis] = own;
    }
  }
  if (b->status) return start;
  wick_value a = wick_linear_batch(b, wick_build_concat(b, 1, 8, row));
  wick_value t = wick_linear_solve(b, a, wick_linear_batch(b, wick_build_concat(b, 1, 8, to)));
  return b->status ? t : wick_build_cast(b, wick_emit_squeeze(b, t, 2), WICK_F32);
}

static void geometry_perspective(wick_import_node *n)
{
  static const char *const names[] = {"start_points", "end_points"};
  wick_value x, points[2];
  if (!geometry_image(n, &x)) return;
  for (uint32_t k = 0; k < 2; k++) {
    points[k] = keras_operand(n, 1 + k, names[k], (wick_value){0});
    if (n->failed || n->b->status) return;
    points[k] = wick_build_cast(n->b, points[k], WICK_F32);
    if (keras_rank(n, points[k]) == 2) points[k] = wick_emit_unsqueeze(n->b, points[k], 0);
    const wick_dim *dim = keras_dims(n, points[k]);
    if (keras_rank(n, points[k]) != 3 || !wick_dim_is(dim[1], 4) || !wick_dim_is(dim[2], 2)) {
      wick_import_fail(n, WICK_ETYPE, "%s must be four points", names[k]);
      return;
    }
  }
  geometry_transform(n, x, geometry_homography(n, points[0], points[1]), WICK_OUTSIDE_CONSTANT);
}

/* ---- map_coordinates ---- */

/* Whole numbers `c` of which an axis has `size`, by the fill mode; *valid: whether the element is one
 * of x, with the mode "constant" (0: always). */
static wick_value geometry_inside(wick_import_node *n, wick_value c, wick_dim size,
                                  const char *mode, wick_value *valid)
{
  wick_builder *b = n->b;
  wick_value own = wick_build_cast(b, wick_array_sizes(n, 1, &size, WICK_I64), WICK_F32);
  if (b->status) return c;
  wick_value zero = wick_emit_number(b, c, 0), last = wick_emit_by(b, WICK_OP_sub, own, 1);
  *valid = (wick_value){0};
  if (strcmp(mode, "constant") == 0)
    *valid = wick_build2(b, WICK_OP_and, wick_build2(b, WICK_OP_ge, c, zero),
                         wick_build2(b, WICK_OP_lt, c, own));
  if (strcmp(mode, "wrap") == 0) c = wick_build2(b, WICK_OP_mod, c, own);
  if (strcmp(mode, "mirror") == 0 || strcmp(mode, "reflect") == 0) {
    wick_value twice = wick_emit_by(b, WICK_OP_mul, own, 2);
    c = wick_build2(b, WICK_OP_mod, wick_build1(b, WICK_OP_abs, c), twice);
    wick_value back = wick_build2(b, WICK_OP_sub, twice, c);
    if (mode[0] == 'r') back = wick_emit_by(b, WICK_OP_sub, back, 1);
    if (b->status) return c;
    c = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, c, own), c, back);
  }
  return wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_min, c, last), zero);
}

typedef struct geometry_node {
  wick_value at[2], weight[2], valid[2]; /* valid: 0 for always */
} geometry_node;

static void geometry_coordinates(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_operand(n, 0, "inputs", (wick_value){0});
  wick_value places = keras_operand(n, 1, "coordinates", (wick_value){0});
  const char *mode = wick_import_text(n, "fill_mode", "constant");
  int64_t order = wick_import_int(n, "order", 1);
  if (n->failed || b->status) return;
  uint32_t rank = keras_rank(n, x), combinations = order ? 1u << rank : 1;
  wick_elem elem = keras_elem_of(n, x);
  if (!wick_import_word(n, "fill_mode", "constant nearest wrap mirror reflect") &&
      strcmp(mode, "constant") != 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the fill mode \"%s\" is not supported", mode);
    return;
  }
  if (order < 0 || order > 1 || keras_rank(n, places) < 2 || !rank ||
      !wick_dim_eq(keras_dims(n, places)[0], wick_dim_const(rank))) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the order or the number of coordinates does not fit");
    return;
  }
  places = wick_build_cast(b, places, WICK_F32);
  geometry_node node[WICK_MAX_RANK];
  wick_dim dims[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dims[i] = keras_dims(n, x)[i];
  for (uint32_t i = 0; i < rank && !b->status; i++) {
    wick_value c = wick_emit_slice(b, places, 0, wick_dim_const(i), wick_dim_const(1));
    c = wick_emit_squeeze(b, c, 0);
    wick_value low = wick_build1(b, order ? WICK_OP_floor : WICK_OP_round_even, c);
    node[i].weight[1] = wick_build2(b, WICK_OP_sub, c, low);
    if (b->status) return;
    wick_value one = wick_emit_number(b, low, 1);
    node[i].weight[0] = order ? wick_build2(b, WICK_OP_sub, one, node[i].weight[1]) : one;
    node[i].at[0] = geometry_inside(n, low, dims[i], mode, &node[i].valid[0]);
    node[i].at[1] =
        geometry_inside(n, wick_emit_by(b, WICK_OP_add, low, 1), dims[i], mode, &node[i].valid[1]);
  }
  wick_value flat = keras_flat(n, x), sum = {0};
  wick_value fill = wick_emit_number(b, node[0].at[0], wick_import_real(n, "fill_value", 0));
  for (uint32_t k = 0; k < combinations && !b->status; k++) {
    wick_value index = {0}, weight = {0}, valid = {0};
    for (uint32_t i = 0; i < rank && !b->status; i++) {
      uint32_t high = k >> i & 1;
      wick_value own = wick_build_cast(b, node[i].at[high], WICK_I64);
      wick_value size = wick_array_sizes(n, 1, &dims[i], WICK_I64);
      index = i ? wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, index, size), own) : own;
      weight = i ? wick_build2(b, WICK_OP_mul, weight, node[i].weight[high]) : node[i].weight[high];
      wick_value in = node[i].valid[high];
      valid = valid.id && in.id ? wick_build2(b, WICK_OP_and, valid, in) : in;
    }
    wick_value v = wick_emit_gather(b, WICK_OP_gather, flat, index, 0);
    v = wick_build_cast(b, v, WICK_F32);
    if (valid.id && !b->status) v = wick_build3(b, WICK_OP_where, valid, v, fill);
    v = wick_build2(b, WICK_OP_mul, weight, v);
    sum = k ? wick_build2(b, WICK_OP_add, sum, v) : v;
  }
  if (b->status) return;
  if (wick_elem_is_int(elem)) sum = wick_build1(b, WICK_OP_round_even, sum);
  n->out[0] = wick_build_cast(b, sum, elem);
}

/* ---- scale_and_translate ---- */

/* The kernel of a method at distances x >= 0. */
static wick_value geometry_kernel(wick_import_node *n, const char *method, wick_value x)
{
  wick_builder *b = n->b;
  wick_value zero = wick_emit_number(b, x, 0), one = wick_emit_number(b, x, 1);
  if (strstr(method, "linear") || strcmp(method, "triangle") == 0)
    return wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_sub, one, x), zero);
  if (strstr(method, "cubic")) { /* Keys', with a = -0.5 */
    static const double of[2][4] = {{1.5, -2.5, 0, 1}, {-0.5, 2.5, -4, 2}};
    wick_value part[2];
    for (int k = 0; k < 2; k++) {
      part[k] = wick_emit_by(b, WICK_OP_mul, x, of[k][0]);
      for (int i = 1; i < 4; i++) {
        part[k] = wick_emit_by(b, WICK_OP_add, part[k], of[k][i]);
        if (i < 3) part[k] = wick_build2(b, WICK_OP_mul, part[k], x);
      }
    }
    if (b->status) return x;
    wick_value y =
        wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_ge, x, 1), part[1], part[0]);
    return wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_ge, x, 2), zero, y);
  }
  const double pi = 3.14159265358979323846, radius = method[strlen(method) - 1] == '5' ? 5 : 3;
  wick_value wave = wick_build1(b, WICK_OP_sin, wick_emit_by(b, WICK_OP_mul, x, pi));
  wick_value slow = wick_emit_by(b, WICK_OP_div, wick_emit_by(b, WICK_OP_mul, x, pi), radius);
  wick_value y = wick_build2(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_mul, wave, radius),
                             wick_build1(b, WICK_OP_sin, slow));
  wick_value by = wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_mul, x, x), pi * pi);
  if (b->status) return x;
  y = wick_build2(b, WICK_OP_div, y,
                  wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_ne, x, 0), by, one));
  y = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_gt, x, 1e-3), y, one);
  return wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_gt, x, radius), zero, y);
}

/* The share of each element of an axis in each element of the result: [in, out]. */
static wick_value geometry_shares(wick_import_node *n, wick_dim in, wick_dim out, wick_value scale,
                                  wick_value move, const char *method)
{
  wick_builder *b = n->b;
  wick_value inverse = wick_build1(b, WICK_OP_reciprocal, scale), wide = inverse;
  wick_value to = wick_build_cast(b, wick_emit_count_along(b, out, 1, 2), WICK_F32);
  wick_value from = wick_build_cast(b, wick_emit_count_along(b, in, 0, 2), WICK_F32);
  wick_value at = wick_build2(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_add, to, 0.5), inverse);
  at = wick_build2(b, WICK_OP_sub, at, wick_build2(b, WICK_OP_mul, move, inverse));
  at = wick_emit_by(b, WICK_OP_sub, at, 0.5);
  wick_value x = wick_build1(b, WICK_OP_abs, wick_build2(b, WICK_OP_sub, at, from));
  if (keras_is_true(n, "antialias", true))
    x = wick_build2(b, WICK_OP_div, x, wick_emit_by(b, WICK_OP_max, wide, 1));
  if (b->status) return x;
  wick_value w = geometry_kernel(n, method, x), zero = wick_emit_number(b, x, 0);
  wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, w, 0, true);
  if (b->status) return x;
  wick_value some = wick_emit_by(b, WICK_OP_ne, sum, 0);
  wick_value by = wick_build3(b, WICK_OP_where, some, sum, wick_emit_number(b, sum, 1));
  wick_value large = wick_emit_by(b, WICK_OP_gt, wick_build1(b, WICK_OP_abs, sum), 1000 * 0x1p-23);
  w = wick_build3(b, WICK_OP_where, large, wick_build2(b, WICK_OP_div, w, by), zero);
  wick_value end = wick_build_cast(b, wick_array_sizes(n, 1, &in, WICK_I64), WICK_F32);
  end = wick_emit_by(b, WICK_OP_sub, end, 0.5);
  wick_value inside = wick_build2(b, WICK_OP_and, wick_emit_by(b, WICK_OP_ge, at, -0.5),
                                  wick_build2(b, WICK_OP_le, at, end));
  return b->status ? w : wick_build3(b, WICK_OP_where, inside, w, zero);
}

static void geometry_scale(wick_import_node *n)
{
  static const char methods[] =
      "linear bilinear trilinear triangle cubic bicubic tricubic lanczos3 lanczos5";
  wick_builder *b = n->b;
  wick_value x = keras_operand(n, 0, "images", (wick_value){0});
  const keras_arg *shape = keras_argument(n, 1, "output_shape");
  wick_value by = keras_operand(n, 2, "scale", (wick_value){0});
  wick_value move = keras_operand(n, 3, "translation", (wick_value){0});
  const char *method = wick_import_text(n, "method", "linear");
  if (n->failed || b->status) return;
  uint32_t rank = keras_rank(n, x), naxis;
  int64_t axes[WICK_MAX_RANK], size;
  wick_elem elem = keras_elem_of(n, x);
  bool known = strcmp(method, "linear") == 0 || wick_import_word(n, "method", methods);
  if (!known || shape->kind != KERAS_LIST || shape->n != rank ||
      !keras_axes(n, "spatial_dims", rank, &naxis, axes) || !wick_elem_is_float(elem)) {
    if (!n->failed)
      wick_import_fail(n, WICK_EUNSUPPORTED,
                       "floats, numbers for output_shape and a known method are expected");
    return;
  }
  by = wick_build_cast(b, by, WICK_F32), move = wick_build_cast(b, move, WICK_F32);
  for (uint32_t i = 0; i < naxis && !b->status; i++) {
    uint32_t axis = (uint32_t)axes[i];
    if (shape->item[axis].kind != KERAS_CONST || !wick_json_int(shape->item[axis].json, &size) ||
        size < 1) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "output_shape must be numbers");
      return;
    }
    wick_value own[2] = {wick_array_element(n, by, i), wick_array_element(n, move, i)};
    if (n->failed || b->status) return;
    wick_value w =
        geometry_shares(n, keras_dims(n, x)[axis], wick_dim_const(size), own[0], own[1], method);
    x = keras_moved(n, x, axis, rank - 1);
    x = wick_build2(b, WICK_OP_matmul, x, wick_build_cast(b, w, elem));
    x = keras_moved(n, x, rank - 1, axis);
  }
  n->out[0] = x;
}

/* ---- similarity ---- */

/* The weighted sums of x [images, height, width] along axes 1 and 2. */
static wick_value geometry_filtered(wick_import_node *n, wick_value x, int64_t size,
                                    const double *taps)
{
  wick_dims *t = n->c->module->dims;
  for (uint32_t axis = 1; axis < 3; axis++) {
    wick_value sum = {0};
    if (n->b->status) return x;
    wick_dim rest = wick_dim_sub(t, keras_dims(n, x)[axis], wick_dim_const(size - 1));
    for (int64_t k = 0; k < size && !n->b->status; k++) {
      wick_value v = wick_emit_slice(n->b, x, axis, wick_dim_const(k), rest);
      v = wick_emit_by(n->b, WICK_OP_mul, v, taps[k]);
      sum = k ? wick_build2(n->b, WICK_OP_add, sum, v) : v;
    }
    x = sum;
  }
  return x;
}

/* [batch * channels, height, width] */
static wick_value geometry_planes(wick_import_node *n, wick_value x, bool last)
{
  if (keras_rank(n, x) == 3) x = wick_emit_unsqueeze(n->b, x, 0);
  if (last) x = wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 3, 1, 2});
  if (n->b->status) return x;
  const wick_dim *d = keras_dims(n, x);
  const wick_dim dim[3] = {wick_dim_mul(n->c->module->dims, d[0], d[1]), d[2], d[3]};
  return wick_build_reshape(n->b, x, 3, dim);
}

static void geometry_similarity(wick_import_node *n)
{
  enum { MOST = 63 };
  wick_builder *b = n->b;
  wick_value in[2] = {keras_operand(n, 0, "image1", (wick_value){0}),
                      keras_operand(n, 1, "image2", (wick_value){0})};
  int64_t size = wick_import_int(n, "filter_size", 11);
  double sigma = wick_import_real(n, "filter_sigma", 1.5), taps[MOST], all = 0, c[2];
  double most = wick_import_real(n, "max_val", 1);
  bool last = keras_channels_last(n);
  if (n->failed || b->status) return;
  uint32_t rank = keras_rank(n, in[0]);
  if (size < 1 || size > MOST || (rank != 3 && rank != 4)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "filter_size %lld or rank %u is not supported",
                     (long long)size, rank);
    return;
  }
  wick_elem elem = keras_elem_of(n, in[0]);
  const wick_dim batch = keras_dims(n, in[0])[0],
                 channels = keras_dims(n, in[0])[last ? rank - 1 : rank - 3];
  c[0] = pow(wick_import_real(n, "k1", 0.01) * most, 2);
  c[1] = pow(wick_import_real(n, "k2", 0.03) * most, 2);
  for (int64_t i = 0; i < size; i++) {
    double at = (double)i - (double)(size - 1) / 2;
    all += taps[i] = exp(-at * at / (2 * sigma * sigma));
  }
  for (int64_t i = 0; i < size; i++) taps[i] /= all;
  for (int i = 0; i < 2; i++) in[i] = geometry_planes(n, keras_floating(n, in[i]), last);
  wick_value mean[2], square[3], part[3]; /* of the first, the second, both */
  for (int i = 0; i < 2; i++) mean[i] = geometry_filtered(n, in[i], size, taps);
  for (int i = 0; i < 3; i++) {
    wick_value p = wick_build2(b, WICK_OP_mul, in[i == 1], in[i > 0]);
    square[i] = wick_build2(b, WICK_OP_mul, mean[i == 1], mean[i > 0]);
    part[i] = wick_build2(b, WICK_OP_sub, geometry_filtered(n, p, size, taps), square[i]);
  }
  if (b->status) return;
  wick_value y[2];
  y[0] = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, square[2], 2), c[0]);
  y[0] = wick_build2(b, WICK_OP_mul, y[0],
                     wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, part[2], 2), c[1]));
  y[1] = wick_emit_by(b, WICK_OP_add, wick_build2(b, WICK_OP_add, square[0], square[1]), c[0]);
  wick_value spread = wick_build2(b, WICK_OP_add, part[0], part[1]);
  y[1] = wick_build2(b, WICK_OP_mul, y[1], wick_emit_by(b, WICK_OP_add, spread, c[1]));
  wick_value map = wick_build2(b, WICK_OP_div, y[0], y[1]);
  map = wick_emit_reduce(b, WICK_OP_reduce_mean, map, 2, (const int64_t[]){1, 2}, false);
  const wick_dim dim[2] = {rank == 3 ? wick_dim_const(1) : batch, channels};
  map = wick_build_reshape(b, map, 2, dim);
  map = wick_emit_reduce1(b, WICK_OP_reduce_mean, map, 1, false);
  if (rank == 3) map = wick_emit_squeeze(b, map, 0);
  n->out[0] = wick_build_cast(b, map, elem);
}

const wick_import_op keras_geometry[] = {
    KERAS_ROW("AffineTransform", 1, 2, 1, geometry_affine, .arg = 0),
    KERAS_ROW("MapCoordinates", 1, 2, 1, geometry_coordinates, .arg = 0),
    KERAS_ROW("PerspectiveTransform", 1, 3, 1, geometry_perspective, .arg = 0),
    KERAS_ROW("ScaleAndTranslate", 1, WICK_ANY, 1, geometry_scale, .arg = 0),
    KERAS_ROW("SSIM", 1, 2, 1, geometry_similarity, .arg = 0),
    {.name = NULL},
};
