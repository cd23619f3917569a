/* Images [.., height, width]: resizing, cropping, sampling at coordinates. */
#include <math.h>
#include <string.h>

#include "import/coreml/program/ops.h"

/* ---- resizing ---- */

/* How positions of the result correspond to positions of x. */
typedef enum image_mode {
  IMAGE_DEFAULT,
  IMAGE_STRICT_ALIGN,
  IMAGE_ALIGN,
  IMAGE_OFFSET,
  IMAGE_UNALIGN
} image_mode;

static image_mode image_mode_of(wick_import_node *n)
{
  return (image_mode)wick_import_word(
      n, "sampling_mode",
      "DEFAULT STRICT_ALIGN_CORNERS ALIGN_CORNERS OFFSET_CORNERS UNALIGN_CORNERS");
}

/* The position in x of position i of the result. */
static double image_position(image_mode mode, double in, double out, double i)
{
  double p = 0;
  switch (mode) {
  case IMAGE_STRICT_ALIGN: p = out > 1 ? i * (in - 1) / (out - 1) : 0; break;
  case IMAGE_ALIGN: p = out > 1 ? i * (in - 1) / (out - 1) : (in - 1) / 2; break;
  case IMAGE_DEFAULT: p = i * in / out; break;
  case IMAGE_OFFSET: p = (i + 0.5) * (in > 2 ? in - 1 : 1) / out; break;
  case IMAGE_UNALIGN: p = (i + 0.5) * in / out - 0.5; break;
  }
  return p < 0 ? 0 : p > in - 1 ? in - 1 : p;
}

/* Resizes one axis with tables of indices and weights. */
static wick_value image_by_table(wick_import_node *n, wick_value x, uint32_t axis, wick_dim size,
                                 image_mode mode, bool linear)
{
  const wick_type_info t = *wick_mil_info(n, x);
  if (!wick_dim_is_const(t.dim[axis]) || !wick_dim_is_const(size)) {
    wick_import_must_be_known(n, "the size of an image",
                              wick_dim_is_const(size) ? t.dim[axis] : size);
    return x;
  }
  int64_t in = t.dim[axis].v, out = size.v, dim[] = {linear ? 2 : 1, out};
  if (in < 1 || out < 1 || out > 1 << 24) {
    wick_import_fail(n, WICK_ERANGE, "it resizes %lld elements to %lld", (long long)in,
                     (long long)out);
    return x;
  }
  double *index = wick_new(n->c->tmp, double, 2 * (size_t)out),
         *weight = wick_new(n->c->tmp, double, 2 * (size_t)out);
  for (int64_t i = 0; i < out; i++) {
    double p = image_position(mode, (double)in, (double)out, (double)i),
           low = linear ? floor(p) : ceil(p - 0.5);
    index[i] = low, index[out + i] = low + 1 < (double)in ? low + 1 : low;
    weight[i] = 1 - (p - low), weight[out + i] = p - low;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resample);
  wick_emit_set_int(&e, "axis", axis);
  wick_value at = wick_emit_table(n->b, n->name, WICK_I32, 2, dim, index);
  if (!linear) return wick_emit_end2(&e, x, at);
  const wick_value in3[] = {x, at, wick_emit_table(n->b, n->name, t.elem, 2, dim, weight)};
  return wick_emit_end(&e, 3, in3);
}

/* Resizes the last `count` dimensions to `size`. Nearest: DEFAULT takes the position's floor, as the
 * operations for nearest neighbours do; the other modes round it, halves down. */
static wick_value image_resize(wick_import_node *n, wick_value x, uint32_t count,
                               const wick_dim *size, image_mode mode, bool linear)
{
  enum { HALF_PIXEL = 0, ALIGN_CORNERS = 3, ASYMMETRIC = 4, FLOOR = 2 };
  wick_builder *b = n->b;
  if (b->status) return x;
  const wick_type_info t = *wick_mil_info(n, x);
  wick_dim dim[WICK_MAX_RANK];
  bool table = mode == IMAGE_OFFSET, same = true;
  for (uint32_t k = 0; k < t.rank; k++) {
    dim[k] = k + count < t.rank ? t.dim[k] : size[k + count - t.rank];
    same = same && wick_dim_eq(dim[k], t.dim[k]);
    if (mode == IMAGE_ALIGN && k + count >= t.rank) table = table || wick_dim_is(dim[k], 1);
  }
  if (table) {
    for (uint32_t k = t.rank - count; k < t.rank && !n->failed; k++)
      x = image_by_table(n, x, k, dim[k], mode, linear);
    return x;
  }
  if (same) return x;
  wick_emit e = wick_emit_begin(b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", t.rank, dim);
  wick_emit_set_int(&e, "mode", linear);
  wick_emit_set_int(&e, "coordinates",
                    mode == IMAGE_DEFAULT   ? ASYMMETRIC
                    : mode == IMAGE_UNALIGN ? HALF_PIXEL
                                            : ALIGN_CORNERS);
  if (!linear && mode == IMAGE_DEFAULT) wick_emit_set_int(&e, "nearest", FLOOR);
  return wick_emit_end1(&e, x);
}

static bool image_target(wick_import_node *n, wick_dim *size)
{
  int64_t h = wick_import_int(n, "target_size_height", 1),
          w = wick_import_int(n, "target_size_width", 1);
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return false;
  size[0] = wick_dim_const(h), size[1] = wick_dim_const(w);
  if (h >= 1 && w >= 1) return true;
  wick_import_fail(n, WICK_ERANGE, "the target size is %lld x %lld", (long long)h, (long long)w);
  return false;
}

void wick_mil_import_resize_bilinear(wick_import_node *n)
{
  wick_dim size[2];
  image_mode mode = image_mode_of(n);
  if (!n->failed && image_target(n, size))
    n->out[0] = image_resize(n, n->in[0], 2, size, mode, true);
}

void wick_mil_import_resize_nearest(wick_import_node *n)
{
  wick_dim size[2];
  if (image_target(n, size)) n->out[0] = image_resize(n, n->in[0], 2, size, IMAGE_DEFAULT, false);
}

/* floor(size * factor); factors are fractions of a power of 2. */
static bool image_scaled(wick_import_node *n, const char *name, wick_dim size, wick_dim *out)
{
  enum { FRACTION = 20 };
  wick_dims *d = wick_mil_dims(n);
  double factor = wick_import_real(n, name, 1), whole = ldexp(factor, FRACTION);
  if (!(factor > 0) || factor > 1 << 16) {
    wick_import_fail(n, WICK_ERANGE, "%s is %g", name, factor);
    return false;
  }
  if (wick_dim_is_const(size))
    *out = wick_dim_const((int64_t)floor((double)size.v * factor));
  else if (factor == floor(factor))
    *out = wick_dim_mul(d, size, wick_dim_const((int64_t)factor));
  else if (whole == floor(whole))
    *out = wick_dim_floordiv(d, wick_dim_mul(d, size, wick_dim_const((int64_t)whole)),
                             wick_dim_const((int64_t)1 << FRACTION));
  else
    return wick_import_must_be_known(n, "the size of an image", size);
  return true;
}

static bool image_upsampled(wick_import_node *n, wick_dim *size)
{
  const wick_type_info *t = wick_import_info(n, 0);
  return wick_import_rank(n, 0, 2, WICK_MAX_RANK) &&
         image_scaled(n, "scale_factor_height", t->dim[t->rank - 2], &size[0]) &&
         image_scaled(n, "scale_factor_width", t->dim[t->rank - 1], &size[1]);
}

void wick_mil_import_upsample_nearest(wick_import_node *n)
{
  wick_dim size[2];
  if (image_upsampled(n, size))
    n->out[0] = image_resize(n, n->in[0], 2, size, IMAGE_DEFAULT, false);
}

void wick_mil_import_upsample_bilinear(wick_import_node *n)
{
  wick_dim size[2];
  bool align = wick_import_int(n, "align_corners", 1) != 0,
       half = wick_import_int(n, "half_pixel_centers", !align) != 0;
  image_mode mode = align ? IMAGE_STRICT_ALIGN : half ? IMAGE_UNALIGN : IMAGE_DEFAULT;
  if (image_upsampled(n, size)) n->out[0] = image_resize(n, n->in[0], 2, size, mode, true);
}

void wick_mil_import_resize(wick_import_node *n) /* x, shape */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  uint32_t count;
  const wick_dim *shape;
  wick_dim size[WICK_MAX_RANK];
  int64_t last = wick_import_int(n, "resized_dims", 0);
  bool nearest = wick_import_word(n, "interpolation_mode", "LINEAR NEAREST_NEIGHBOR") == 1;
  image_mode mode = image_mode_of(n);
  if (n->failed || !wick_import_dims(n, 1, "the shape", &count, &shape)) return;
  if (last < 0 || last > count || last > t.rank) {
    wick_import_fail(n, WICK_ETYPE, "resized_dims is %lld for a shape of %u numbers",
                     (long long)last, count);
    return;
  }
  for (uint32_t k = 0; k < last; k++) {
    wick_dim want = shape[count - (uint32_t)last + k];
    size[k] = wick_dim_is(want, 0) ? t.dim[t.rank - (uint32_t)last + k] : want;
  }
  bool whole = !nearest && !wick_elem_is_float(t.elem);
  wick_value x = whole ? wick_build_cast(b, n->in[0], WICK_F32) : n->in[0];
  wick_value y = image_resize(n, x, (uint32_t)last, size, mode, !nearest);
  n->out[0] = whole && !b->status ? wick_build_cast(b, y, t.elem) : y;
}

/* Cuts rows and columns off: [before, after] of each. */
void wick_mil_import_crop(wick_import_node *n)
{
  static const char *const name[] = {"crop_height", "crop_width"};
  wick_dims *d = wick_mil_dims(n);
  int64_t cut[2];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  wick_value x = n->in[0];
  for (uint32_t k = 0; k < 2; k++) {
    const wick_type_info *t = wick_mil_info(n, x);
    uint32_t axis = t->rank - 2 + k;
    if (!wick_mil_list_of(n, name[k], 2, 0, cut)) return;
    wick_dim size = wick_dim_sub(d, t->dim[axis], wick_dim_const(cut[0]));
    size = wick_dim_sub(d, size, wick_dim_const(cut[1]));
    x = wick_emit_slice(n->b, x, axis, wick_dim_const(cut[0]), size);
    if (n->b->status) return;
  }
  n->out[0] = x;
}

/* ---- sampling ---- */

/* Joins coordinates of columns and rows, which broadcast against each other, to [.., 2]. */
static wick_value image_grid(wick_import_node *n, wick_value columns, wick_value rows,
                             const wick_dim *dim)
{
  wick_value part[2] = {wick_emit_expand(n->b, columns, 3, dim), {0}};
  part[1] = wick_emit_expand(n->b, rows, 3, dim);
  for (uint32_t k = 0; k < 2; k++) part[k] = wick_emit_unsqueeze(n->b, part[k], 3);
  return wick_build_concat(n->b, 3, 2, part);
}

enum { IMAGE_ZEROS, IMAGE_BORDER, IMAGE_REFLECTION };

static wick_value image_sample(wick_import_node *n, wick_value x, wick_value grid, bool nearest,
                               int padding, bool align, bool elements)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_grid_sample);
  wick_emit_set_int(&e, "mode", nearest);
  wick_emit_set_int(&e, "padding", padding);
  wick_emit_set_int(&e, "align", align);
  wick_emit_set_int(&e, "elements", elements);
  return wick_emit_end2(&e, x, grid);
}

/* The size of an axis as a float of the run. */
static wick_value image_size(wick_import_node *n, wick_value x, uint32_t axis)
{
  wick_value shape = wick_build1(n->b, WICK_OP_shape, x);
  return wick_build_cast(n->b, wick_array_element(n, shape, axis), WICK_F32);
}

/* (a c + b) as elements, or elements as coordinates from -1 to 1. */
static wick_value image_line(wick_import_node *n, wick_value c, wick_value a, wick_value b)
{
  return wick_build2(n->b, WICK_OP_add, wick_build2(n->b, WICK_OP_mul, c, a), b);
}

/* Coordinates along one axis, as elements: 0 is the centre of the first one. */
static wick_value image_elements(wick_import_node *n, wick_value c, wick_value size, int mode,
                                 bool align)
{
  wick_builder *b = n->b;
  if (mode == 0) return c;
  if (mode == 1) c = wick_emit_by(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_add, c, 1), 0.5);
  wick_value scale = align ? wick_emit_by(b, WICK_OP_sub, size, 1) : size;
  return image_line(n, c, scale, wick_emit_number(b, size, align ? 0 : -0.5));
}

/* Elements as coordinates from -1 to 1: of centres with `align`, else of edges. */
static wick_value image_normalized(wick_import_node *n, wick_value e, wick_value size, bool align)
{
  wick_builder *b = n->b;
  wick_value span =
      align ? wick_emit_by(b, WICK_OP_max, wick_emit_by(b, WICK_OP_sub, size, 1), 1) : size;
  e = wick_emit_by(b, WICK_OP_mul, align ? e : wick_emit_by(b, WICK_OP_add, e, 0.5), 2);
  return wick_emit_by(b, WICK_OP_sub, wick_build2(b, WICK_OP_div, e, span), 1);
}

void wick_mil_import_resample(wick_import_node *n) /* x, coordinates */
{
  enum { CONSTANT, BORDER, REFLECTION, SYMMETRIC };
  static const int padding[] = {IMAGE_ZEROS, IMAGE_BORDER, IMAGE_REFLECTION, IMAGE_REFLECTION};
  wick_builder *b = n->b;
  wick_elem elem = wick_import_info(n, 0)->elem;
  bool nearest = wick_import_word(n, "sampling_mode", "bilinear nearest") == 1,
       align = wick_import_int(n, "align_corners", 0) != 0;
  int word = wick_import_word(n, "padding_mode", "constant border reflection symmetric"),
      mode = wick_import_word(n, "coordinates_mode",
                              "unnormalized normalized_minus_one_to_one normalized_zero_to_one");
  double fill = word == CONSTANT ? wick_import_real(n, "padding_value", 0) : 0;
  if (n->failed || !wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 4, 4)) return;
  wick_value x = wick_build_cast(b, n->in[0], WICK_F32), part[2];
  wick_value c = wick_build_cast(b, n->in[1], WICK_F32);
  for (uint32_t k = 0; k < 2; k++) {
    wick_value size = image_size(n, x, 3 - k);
    part[k] = wick_emit_slice(b, c, 3, wick_dim_const(k), wick_dim_const(1));
    part[k] = image_elements(n, part[k], size, mode, align);
    if (word >= REFLECTION) part[k] = image_normalized(n, part[k], size, word == REFLECTION);
  }
  wick_value grid = wick_build_concat(b, 3, 2, part);
  if (fill != 0) x = wick_emit_by(b, WICK_OP_sub, x, fill);
  wick_value y =
      image_sample(n, x, grid, nearest, padding[word], word == REFLECTION, word < REFLECTION);
  if (fill != 0) y = wick_emit_by(b, WICK_OP_add, y, fill);
  n->out[0] = wick_build_cast(b, y, elem);
}

/* `count` numbers from -1 to 1, f32[count], as dimension `axis` of three. */
static wick_value image_linspace(wick_import_node *n, int64_t count, uint32_t axis)
{
  double *at = wick_new(n->c->tmp, double, (size_t)count);
  int64_t dim[] = {1, 1, 1};
  dim[axis] = count;
  for (int64_t i = 0; i < count; i++)
    at[i] = count > 1 ? -1 + 2 * (double)i / (double)(count - 1) : -1;
  return wick_emit_table(n->b, n->name, WICK_F32, 3, dim, at);
}

/* Samples at a linear function of the position: x' = a0 x + a1 y + a2, y' = b0 x + b1 y + b2. */
void wick_mil_import_affine(wick_import_node *n) /* x, transform_matrix */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0), m = *wick_import_info(n, 1);
  int64_t h = wick_import_int(n, "output_height", 1), w = wick_import_int(n, "output_width", 1);
  wick_import_word(n, "sampling_mode", "bilinear");
  wick_import_word(n, "padding_mode", "constant");
  wick_import_word(n, "coordinates_mode", "normalized_minus_one_to_one");
  if (n->failed || !wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 2, 2)) return;
  if (h < 1 || w < 1 || h > 1 << 16 || w > 1 << 16 || !wick_dim_is(m.dim[1], 6)) {
    wick_import_fail(n, WICK_ETYPE, "its size or its matrix [n, 6] does not fit");
    return;
  }
  bool align = wick_import_int(n, "align_corners", 1) != 0;
  if (!align || wick_import_real(n, "padding_value", 0) != 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     align ? "a padding value that is not 0" : "align_corners = false");
    return;
  }
  wick_value matrix = wick_build_cast(b, n->in[1], WICK_F32), line[2];
  wick_value xs = image_linspace(n, w, 2), ys = image_linspace(n, h, 1);
  for (int64_t k = 0; k < 2; k++) {
    wick_value a[3];
    for (int64_t i = 0; i < 3; i++) {
      a[i] = wick_emit_slice(b, matrix, 1, wick_dim_const(3 * k + i), wick_dim_const(1));
      a[i] = wick_emit_unsqueeze(b, a[i], 2);
    }
    line[k] = image_line(n, xs, a[0], image_line(n, ys, a[1], a[2]));
  }
  wick_dim dim[] = {t.dim[0], wick_dim_const(h), wick_dim_const(w)};
  wick_value grid = image_grid(n, line[0], line[1], dim);
  wick_value y = image_sample(n, wick_build_cast(b, n->in[0], WICK_F32), grid, false, IMAGE_ZEROS,
                              true, false);
  n->out[0] = wick_build_cast(b, y, t.elem);
}

/* ---- crop_resize ---- */

/* `count` positions between the first and the last element of a box, [boxes, 1] each: [boxes,
 * count]. A box has last - first + 1 elements. */
static wick_value image_box_positions(wick_import_node *n, wick_value first, wick_value last,
                                      int64_t count, image_mode mode)
{
  wick_builder *b = n->b;
  double out = (double)count;
  wick_value i = wick_emit_count_along(b, wick_dim_const(count), 1, 2);
  i = wick_build_cast(b, i, WICK_F32);
  wick_value span = wick_build2(b, WICK_OP_sub, last, first), at;
  if (mode == IMAGE_STRICT_ALIGN || mode == IMAGE_ALIGN) {
    if (count == 1) i = wick_emit_by(b, WICK_OP_add, i, mode == IMAGE_ALIGN ? 0.5 : 0);
    at =
        wick_build2(b, WICK_OP_mul, i, wick_emit_by(b, WICK_OP_div, span, count > 1 ? out - 1 : 1));
  } else if (mode == IMAGE_OFFSET) {
    wick_value step = wick_emit_by(b, WICK_OP_div, wick_emit_by(b, WICK_OP_max, span, 1), out);
    at = wick_build2(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_add, i, 0.5), step);
  } else {
    wick_value step = wick_emit_by(b, WICK_OP_div, wick_emit_by(b, WICK_OP_add, span, 1), out);
    if (mode == IMAGE_UNALIGN) i = wick_emit_by(b, WICK_OP_add, i, 0.5);
    at = wick_build2(b, WICK_OP_mul, i, step);
    if (mode == IMAGE_UNALIGN) at = wick_emit_by(b, WICK_OP_sub, at, 0.5);
    at = wick_build2(b, WICK_OP_min, wick_emit_by(b, WICK_OP_max, at, 0), span);
  }
  return wick_build2(b, WICK_OP_add, at, first);
}

/* Whether positions lie in an axis of that size. */
static wick_value image_inside(wick_import_node *n, wick_value at, wick_value size)
{
  wick_value low = wick_emit_by(n->b, WICK_OP_ge, at, 0);
  wick_value high = wick_build2(n->b, WICK_OP_le, at, wick_emit_by(n->b, WICK_OP_sub, size, 1));
  return wick_build2(n->b, WICK_OP_and, low, high);
}

typedef struct image_crop {
  wick_value x;     /* [boxes, C, H, W] */
  wick_value boxes; /* [boxes, 4], f32 */
  wick_dim count;
  int64_t size[2]; /* of the result: height, width */
} image_crop;

/* The first and the last row (k 0) or column (k 1) of each box, [boxes, 1], as elements. */
static void image_box_ends(wick_import_node *n, const image_crop *c, uint32_t k, wick_value size,
                           wick_value *first, wick_value *last)
{
  wick_builder *b = n->b;
  int word = wick_import_word(n, "box_coordinate_mode",
                              "CORNERS_HEIGHT_FIRST CORNERS_WIDTH_FIRST CENTER_SIZE_HEIGHT_FIRST "
                              "CENTER_SIZE_WIDTH_FIRST");
  int64_t at = word % 2 ? 1 - (int64_t)k : k;
  wick_value end[2];
  for (int64_t i = 0; i < 2; i++) {
    end[i] = wick_emit_slice(b, c->boxes, 1, wick_dim_const(at + 2 * i), wick_dim_const(1));
    end[i] = wick_emit_by(b, WICK_OP_mul, end[i], wick_import_real(n, "spatial_scale", 1));
  }
  if (word >= 2) {
    wick_value half = wick_emit_by(b, WICK_OP_mul, end[1], 0.5), middle = end[0];
    end[0] = wick_build2(b, WICK_OP_sub, middle, half);
    end[1] = wick_build2(b, WICK_OP_add, middle, half);
  }
  if (wick_import_int(n, "normalized_coordinates", 0)) {
    wick_value most = wick_emit_by(b, WICK_OP_sub, size, 1);
    for (uint32_t i = 0; i < 2; i++) end[i] = wick_build2(b, WICK_OP_mul, end[i], most);
  }
  *first = end[0], *last = end[1];
}

/* Samples each box: [boxes, C, height, width]. Positions outside of the image give `pad_value`. */
static wick_value image_crops(wick_import_node *n, const image_crop *c, image_mode mode)
{
  wick_builder *b = n->b;
  wick_value at[2], there[2];
  wick_dim dim[] = {c->count, wick_dim_const(c->size[0]), wick_dim_const(c->size[1])};
  for (uint32_t k = 0; k < 2; k++) {
    wick_value size = image_size(n, c->x, 2 + k), first, last;
    image_box_ends(n, c, k, size, &first, &last);
    at[k] = image_box_positions(n, first, last, c->size[k], mode);
    there[k] = wick_emit_unsqueeze(b, image_inside(n, at[k], size), k ? 1 : 2);
    at[k] = wick_emit_unsqueeze(b, at[k], k ? 1 : 2);
  }
  wick_value grid = image_grid(n, at[1], at[0], dim);
  wick_value y = image_sample(n, c->x, grid, false, IMAGE_BORDER, false, true);
  wick_value inside = wick_build2(b, WICK_OP_and, there[0], there[1]);
  inside = wick_emit_unsqueeze(b, inside, 1);
  wick_value pad = wick_emit_number(b, y, wick_import_real(n, "pad_value", 0));
  return wick_build3(b, WICK_OP_where, inside, y, pad);
}

/* Boxes before iOS 17, [boxes, 1, 4 or 5, 1, 1]: with an image number before each, or for all
 * images, which become channels. */
static bool image_old_boxes(wick_import_node *n, const wick_type_info *t, image_crop *c,
                            bool *indexed)
{
  wick_builder *b = n->b;
  const wick_type_info r = *wick_import_info(n, 1);
  if (!wick_import_rank(n, 1, 5, 5)) return false;
  *indexed = wick_dim_is(r.dim[2], 5);
  c->count = r.dim[0];
  wick_dim flat[] = {r.dim[0], wick_dim_const(*indexed ? 5 : 4)},
           wide[] = {r.dim[0], wick_dim_mul(wick_mil_dims(n), t->dim[0], t->dim[1]), t->dim[2],
                     t->dim[3]};
  wick_value roi = wick_build_reshape(b, n->in[1], 2, flat);
  c->boxes = wick_emit_slice(b, roi, 1, wick_dim_const(*indexed), wick_dim_const(4));
  if (*indexed) {
    wick_value image = wick_emit_slice(b, roi, 1, wick_dim_const(0), wick_dim_const(1));
    image = wick_build_cast(b, wick_emit_squeeze(b, image, 1), WICK_I64);
    c->x = wick_emit_gather(b, WICK_OP_gather, c->x, image, 0);
  } else {
    c->x =
        wick_build_reshape(b, c->x, 4, (wick_dim[]){wick_dim_const(1), wide[1], wide[2], wide[3]});
    c->x = wick_emit_expand(b, c->x, 4, wide);
  }
  return !b->status;
}

void wick_mil_import_crop_resize(wick_import_node *n) /* x, boxes, indices; arg: 1 before iOS 17 */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  image_mode mode = image_mode_of(n);
  image_crop c = {
      .size = {wick_import_int(n, "target_height", 1), wick_import_int(n, "target_width", 1)}};
  bool indexed = true;
  if (n->failed || !wick_import_rank(n, 0, 4, 4)) return;
  if (c.size[0] < 1 || c.size[1] < 1 || c.size[0] > 1 << 16 || c.size[1] > 1 << 16) {
    wick_import_fail(n, WICK_ERANGE, "the target size is %lld x %lld", (long long)c.size[0],
                     (long long)c.size[1]);
    return;
  }
  c.x = wick_build_cast(b, n->in[0], WICK_F32);
  if (n->row->arg) {
    if (!image_old_boxes(n, &t, &c, &indexed)) return;
  } else {
    if (!wick_import_rank(n, 1, 2, 2)) return;
    c.boxes = n->in[1], c.count = wick_import_info(n, 1)->dim[0];
    wick_value image =
        n->in[2].id ? wick_build_cast(b, n->in[2], WICK_I64) : wick_emit_count(b, c.count);
    c.x = wick_emit_gather(b, WICK_OP_gather, c.x, image, 0);
  }
  c.boxes = wick_build_cast(b, c.boxes, WICK_F32);
  wick_value y = wick_build_cast(b, image_crops(n, &c, mode), t.elem);
  wick_dim out[] = {c.count, indexed ? wick_dim_const(1) : t.dim[0], t.dim[1],
                    wick_dim_const(c.size[0]), wick_dim_const(c.size[1])};
  if (!n->failed) n->out[0] = n->row->arg ? wick_build_reshape(b, y, 5, out) : y;
}
