/* The functions of keras.ops.image. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"
#include "import/kit/nhwc.h"

/* The image, and whether its channels are the last axis; ranks 3 and 4, or 5 if `volumes`. */
static bool image_of(wick_import_node *n, bool volumes, wick_value *x, bool *last)
{
  *x = keras_operand(n, 0, "images", (wick_value){0});
  *last = keras_channels_last(n);
  uint32_t rank = keras_rank(n, *x);
  if (n->failed) return false;
  if (rank >= 3 && rank <= 4u + volumes) return true;
  wick_import_fail(n, WICK_ETYPE, "the rank is %u, expected 3 or 4", rank);
  return false;
}

static uint32_t image_channels(wick_import_node *n, wick_value x, bool last)
{
  return last ? keras_rank(n, x) - 1 : keras_rank(n, x) - 3;
}

/* ---- colours ---- */

static void image_gray(wick_import_node *n)
{
  static const double share[] = {0.2989, 0.5870, 0.1140};
  wick_value x;
  bool last;
  if (!image_of(n, false, &x, &last)) return;
  uint32_t axis = image_channels(n, x, last);
  wick_elem e = keras_elem_of(n, x);
  if (wick_dim_is(keras_dims(n, x)[axis], 1)) {
    n->out[0] = x;
    return;
  }
  const int64_t three = 3;
  if (!wick_import_equal(n, keras_dims(n, x)[axis], wick_dim_const(three))) return;
  x = keras_floating(n, x);
  wick_value w = wick_emit_table(n->b, n->name, keras_elem_of(n, x), 1, &three, share);
  x = wick_build2(n->b, WICK_OP_mul, x, keras_along(n, w, axis, keras_rank(n, x)));
  n->out[0] = wick_build_cast(n->b, wick_emit_reduce1(n->b, WICK_OP_reduce_sum, x, axis, true), e);
}

/* rgb_to_hsv, and hsv_to_rgb (arg 1) */
static void image_colors(wick_import_node *n)
{
  wick_value x;
  bool last;
  if (!image_of(n, false, &x, &last)) return;
  uint32_t axis = image_channels(n, x, last), end = keras_rank(n, x) - 1;
  x = keras_moved(n, x, axis, end);
  x = n->row->arg ? wick_array_hsv_to_rgb(n, x) : wick_array_rgb_to_hsv(n, x);
  if (!n->failed && !n->b->status) n->out[0] = keras_moved(n, x, end, axis);
}

/* ---- sizes ---- */

wick_value keras_fit_aspect(wick_import_node *n, wick_value x, bool last, const int64_t *size,
                            bool pad, double fill)
{
  wick_dims *t = n->c->module->dims;
  uint32_t rank = keras_rank(n, x), at = rank - (last ? 3 : 2);
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK], one = wick_dim_const(1),
                                                        two = wick_dim_const(2);
  wick_dim own[2] = {keras_dims(n, x)[at], keras_dims(n, x)[at + 1]};
  for (uint32_t i = 0; i < rank; i++) before[i] = after[i] = wick_dim_const(0);
  for (uint32_t k = 0; k < 2; k++) { /* own[k] : own[1 - k] as size[k] : size[1 - k] */
    wick_dim fit = wick_dim_mul(t, own[1 - k], wick_dim_const(size[k]));
    fit = wick_dim_floordiv(t, fit, wick_dim_const(size[1 - k]));
    if (pad) { /* the same number on both sides, so that an odd one is dropped, as in TensorFlow */
      wick_dim more = wick_dim_sub(t, wick_dim_max(t, fit, own[k]), own[k]);
      before[at + k] = after[at + k] = wick_dim_floordiv(t, more, two);
    } else {
      fit = wick_dim_max(t, wick_dim_min(t, own[k], fit), one);
      wick_dim begin = wick_dim_floordiv(t, wick_dim_sub(t, own[k], fit), two);
      x = wick_emit_slice(n->b, x, at + k, begin, fit);
    }
  }
  return pad ? wick_array_pad(n, x, before, after, wick_emit_number(n->b, x, fill)) : x;
}

static void image_resize(wick_import_node *n)
{
  wick_value x;
  bool last;
  int64_t size[2];
  if (!image_of(n, false, &x, &last) || !keras_sizes(n, "size", 2, 0, size)) return;
  if (size[0] < 1 || size[1] < 1) {
    wick_import_fail(n, WICK_EPARSE, "the size is not positive");
    return;
  }
  const char *mode = wick_import_text(n, "interpolation", "bilinear");
  wick_elem e = keras_elem_of(n, x);
  bool crop = keras_is_true(n, "crop_to_aspect_ratio", false);
  bool pad = keras_is_true(n, "pad_to_aspect_ratio", false);
  x = keras_floating(n, x);
  if (crop || pad)
    x = keras_fit_aspect(n, x, last, size, pad, wick_import_real(n, "fill_value", 0));
  if (n->b->status) return;
  x = keras_resize_to(n, x, last, size[0], size[1], mode, keras_is_true(n, "antialias", false));
  n->out[0] = strcmp(mode, "nearest") == 0 ? wick_build_cast(n->b, x, e) : x;
}

/* Reads the number of rows or columns that a side changes by, or what is left of the target. */
static bool image_sides(wick_import_node *n, wick_dim own, const char *const *names, bool pad,
                        wick_dim *before, wick_dim *after)
{
  wick_dims *t = n->c->module->dims;
  bool has[3];
  int64_t v[3];
  for (int i = 0; i < 3; i++) {
    has[i] = keras_attr(n, names[i], 'i').kind == 'i';
    v[i] = wick_import_int(n, names[i], 0);
    if (v[i] < 0 || v[i] > INT32_MAX) return false;
  }
  if (has[0] + has[1] + has[2] != 2) return false;
  wick_dim lo = wick_dim_const(v[0]), hi = wick_dim_const(v[1]), target = wick_dim_const(v[2]);
  wick_dim change = pad ? wick_dim_sub(t, target, own) : wick_dim_sub(t, own, target);
  *before = has[0] ? lo : wick_dim_sub(t, change, hi);
  *after = has[1] ? hi : wick_dim_sub(t, change, lo);
  return true;
}

/* pad_images (arg 1), crop_images */
static void image_borders(wick_import_node *n)
{
  static const char *const names[2][2][3] = {{{"top_cropping", "bottom_cropping", "target_height"},
                                              {"left_cropping", "right_cropping", "target_width"}},
                                             {{"top_padding", "bottom_padding", "target_height"},
                                              {"left_padding", "right_padding", "target_width"}}};
  wick_dims *t = n->c->module->dims;
  wick_value x;
  bool last, pad = n->row->arg;
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  if (!image_of(n, false, &x, &last)) return;
  uint32_t rank = keras_rank(n, x), at = rank - (last ? 3 : 2);
  for (uint32_t i = 0; i < rank; i++) before[i] = after[i] = wick_dim_const(0);
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim own = keras_dims(n, x)[at + k];
    if (!image_sides(n, own, names[pad][k], pad, &before[at + k], &after[at + k])) {
      wick_import_fail(n, WICK_EPARSE, "two of %s, %s and %s are expected", names[pad][k][0],
                       names[pad][k][1], names[pad][k][2]);
      return;
    }
    if (pad) continue;
    wick_dim rest = wick_dim_sub(t, own, wick_dim_add(t, before[at + k], after[at + k]));
    x = wick_emit_slice(n->b, x, at + k, before[at + k], rest);
  }
  n->out[0] = pad ? wick_array_pad(n, x, before, after, (wick_value){0}) : x;
}

/* ---- filters ---- */

/* Every channel by one kernel, with the channels last and padding SAME. */
static wick_value image_filtered(wick_import_node *n, wick_value x, bool mirror,
                                 const int64_t *size, const double *taps)
{
  wick_dim pad[2][4];
  wick_dim own[] = {keras_dims(n, x)[0], keras_dims(n, x)[1], keras_dims(n, x)[2],
                    keras_dims(n, x)[3]};
  for (uint32_t i = 0; i < 4; i++) {
    int64_t more = i == 1 || i == 2 ? size[i - 1] - 1 : 0;
    pad[0][i] = wick_dim_const(more / 2), pad[1][i] = wick_dim_const(more - more / 2);
  }
  x = mirror ? wick_array_mirror_pad(n, x, pad[0], pad[1], false)
             : wick_array_pad(n, x, pad[0], pad[1], (wick_value){0});
  wick_value sum = {0};
  for (int64_t k = 0; k < size[0] * size[1] && !n->b->status; k++) {
    if (taps[k] == 0) continue;
    wick_value v = wick_emit_slice(n->b, x, 1, wick_dim_const(k / size[1]), own[1]);
    v = wick_emit_slice(n->b, v, 2, wick_dim_const(k % size[1]), own[2]);
    v = wick_emit_by(n->b, WICK_OP_mul, v, taps[k]);
    sum = sum.id ? wick_build2(n->b, WICK_OP_add, sum, v) : v;
  }
  return sum;
}

/* x [N, H, W, C], from rank 3 or 4 and either order. */
static wick_value image_last(wick_import_node *n, wick_value x, bool last)
{
  if (keras_rank(n, x) == 3) x = wick_emit_unsqueeze(n->b, x, 0);
  return last ? x : wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 2, 3, 1});
}

static void image_blur(wick_import_node *n)
{
  enum { MOST = 63 };
  double row[2][MOST], taps[MOST * MOST], sigma[2];
  wick_import_attr s = keras_attr(n, "sigma", 'F');
  int64_t size[2];
  wick_value x;
  bool last;
  if (!image_of(n, false, &x, &last) || !keras_sizes(n, "kernel_size", 2, 3, size)) return;
  for (int i = 0; i < 2; i++)
    sigma[i] = s.kind == 'F' && s.n == 2 ? s.floats[i] : s.kind == 'F' ? 0 : s.kind ? s.f : 1;
  if (size[0] < 1 || size[1] < 1 || size[0] > MOST || size[1] > MOST || !(sigma[0] > 0) ||
      !(sigma[1] > 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "kernels from 1 to %d are supported", MOST);
    return;
  }
  for (int i = 0; i < 2; i++) {
    double sum = 0, middle = (double)(size[i] - 1) / 2;
    for (int64_t k = 0; k < size[i]; k++) {
      double d = ((double)k - middle) / sigma[i];
      sum += row[i][k] = exp(-0.5 * d * d);
    }
    for (int64_t k = 0; k < size[i]; k++) row[i][k] /= sum;
  }
  /* The kernel is [size 0, size 1], filled with the outer product of the second and the first row. */
  for (int64_t k = 0; k < size[0] * size[1]; k++)
    taps[k] = row[1][k / size[0]] * row[0][k % size[0]];
  uint32_t rank = keras_rank(n, x);
  x = image_last(n, x, last);
  if (n->b->status) return;
  x = image_filtered(n, x, false, size, taps);
  if (!last) x = wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 3, 1, 2});
  n->out[0] = rank == 3 ? wick_emit_squeeze(n->b, x, 0) : x;
}

static void image_sobel(wick_import_node *n)
{
  static const double taps[2][9] = {{-1, -2, -1, 0, 0, 0, 1, 2, 1}, {-1, 0, 1, -2, 0, 2, -1, 0, 1}};
  static const int64_t size[] = {3, 3};
  wick_value x, edge[2];
  bool last;
  if (!image_of(n, false, &x, &last)) return;
  if (keras_rank(n, x) != 4) {
    wick_import_fail(n, WICK_ETYPE, "a batch of images is expected");
    return;
  }
  x = image_last(n, x, last);
  for (int k = 0; k < 2 && !n->b->status; k++) edge[k] = image_filtered(n, x, true, size, taps[k]);
  if (n->b->status) return;
  x = wick_array_stack(n, 2, edge, 4);
  n->out[0] = last ? x : wick_build_transpose(n->b, x, 5, (const int64_t[]){0, 3, 1, 2, 4});
}

/* ---- patches ---- */

/* Windows of two or three dimensions; their elements and the channels become the channels. */
static void image_patches(wick_import_node *n)
{
  wick_value x;
  bool last;
  wick_import_attr given = keras_attr(n, "size", 'I');
  uint32_t count = given.kind == 'I' && given.n == 3 ? 3 : 2;
  int64_t size[3], stride[3], dilation[3], perm[WICK_MAX_RANK];
  bool same = strcmp(wick_import_text(n, "padding", "valid"), "same") == 0;
  wick_dims *t = n->c->module->dims;
  if (!image_of(n, count == 3, &x, &last) || !keras_sizes(n, "size", count, 0, size) ||
      !keras_sizes(n, "strides", count, 0, stride) ||
      !keras_sizes(n, "dilation_rate", count, 1, dilation))
    return;
  uint32_t rank = keras_rank(n, x), first = rank - count - 1;
  if (!last) x = keras_moved(n, x, first, rank - 1);
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK], dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) before[i] = after[i] = wick_dim_const(0);
  int64_t elements = 1;
  for (uint32_t k = 0; k < count; k++) {
    if (!stride[k]) stride[k] = size[k];
    if (size[k] < 1 || size[k] > 1 << 10 || dilation[k] < 1 || rank + count > WICK_MAX_RANK) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "patches of size %lld", (long long)size[k]);
      return;
    }
    elements *= size[k];
    wick_dim own = keras_dims(n, x)[first + k], step = wick_dim_const(stride[k]);
    wick_dim more = wick_dim_sub(t, wick_dim_ceildiv(t, own, step), wick_dim_const(1));
    more = wick_dim_add(t, wick_dim_mul(t, more, step),
                        wick_dim_const((size[k] - 1) * dilation[k] + 1));
    more = wick_dim_max(t, wick_dim_sub(t, more, own), wick_dim_const(0));
    if (!same) more = wick_dim_const(0);
    before[first + k] = wick_dim_floordiv(t, more, wick_dim_const(2));
    after[first + k] = wick_dim_sub(t, more, before[first + k]);
  }
  if (same) x = wick_array_pad(n, x, before, after, (wick_value){0});
  for (uint32_t k = count; k-- > 0 && !n->b->status;)
    x = keras_windows(n, x, first + k, size[k], stride[k], dilation[k]);
  if (n->b->status) return;
  for (uint32_t i = 0; i < first; i++) perm[i] = i, dim[i] = keras_dims(n, x)[i];
  for (uint32_t k = 0; k < count; k++) {
    perm[first + k] = first + 2 * k, perm[first + count + k] = first + 2 * k + 1;
    dim[first + k] = keras_dims(n, x)[first + 2 * k];
  }
  perm[rank + count - 1] = rank + count - 1;
  dim[rank - 1] = wick_dim_mul(t, keras_dims(n, x)[rank + count - 1], wick_dim_const(elements));
  x = wick_build_transpose(n->b, x, rank + count, perm);
  x = wick_build_reshape(n->b, x, rank, dim);
  n->out[0] = last ? x : keras_moved(n, x, rank - 1, first);
}

#define NO_RANDOM "it draws random numbers"

const wick_import_op keras_images[] = {
    KERAS_ROW("CropImages", 1, 1, 1, image_borders, .arg = 0),
    KERAS_ROW("ElasticTransform", 0, WICK_ANY, 1, NULL, .why = NO_RANDOM),
    KERAS_ROW("ExtractPatches", 1, 1, 1, image_patches, .arg = 0),
    KERAS_ROW("GaussianBlur", 1, 1, 1, image_blur, .arg = 0),
    KERAS_ROW("HSVToRGB", 1, 1, 1, image_colors, .arg = 1),
    KERAS_ROW("PadImages", 1, 1, 1, image_borders, .arg = 1),
    KERAS_ROW("RGBToGrayscale", 1, 1, 1, image_gray, .arg = 0),
    KERAS_ROW("RGBToHSV", 1, 1, 1, image_colors, .arg = 0),
    KERAS_ROW("Resize", 1, 1, 1, image_resize, .arg = 0),
    KERAS_ROW("SobelEdges", 1, 1, 1, image_sobel, .arg = 0),
    {.name = NULL},
};
