/* Images of another size. What has no operator in Wick is a product with a matrix of weights along
 * each axis, whose rows are computed as TensorFlow's kernels compute them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "import/tensorflow/ops.h"

/* ---- as an operator ---- */

/* arg: 0 nearest, 1 linear, as the words of Wick's `mode`. Operands: x [N, H, W, C], size */
void wick_tf_import_resize(wick_import_node *n)
{
  enum { HALF_PIXEL, ALIGN = 3, ASYMMETRIC, TF_HALF_PIXEL = 6, ROUND_UP = 1, FLOOR };
  uint32_t count;
  const wick_dim *size;
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_dims(n, 1, "the size", &count, &size)) return;
  if (count != 2) {
    wick_import_fail(n, WICK_ETYPE, "the size has %u numbers, expected 2", count);
    return;
  }
  bool align = wick_import_int(n, "align_corners", 0) != 0,
       half = wick_import_int(n, "half_pixel_centers", 0) != 0;
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dim shape[] = {t.dim[0], t.dim[3], size[0], size[1]};
  wick_value x = wick_tf_channels_first(n, n->in[0]);
  if (n->row->arg) x = wick_build_cast(n->b, x, WICK_F32); /* interpolation gives f32 */
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", 4, shape);
  wick_emit_set_int(&e, "mode", n->row->arg);
  bool nearest = n->row->arg == 0;
  wick_emit_set_int(&e, "coordinates",
                    align     ? ALIGN
                    : !half   ? ASYMMETRIC
                    : nearest ? TF_HALF_PIXEL
                              : HALF_PIXEL);
  wick_emit_set_int(&e, "nearest", align ? ROUND_UP : FLOOR);
  n->out[0] = wick_tf_channels_last(n, wick_emit_end1(&e, x));
}

/* ---- as products ---- */

typedef struct resize_axis {
  int64_t in, out;
  double *weight; /* [out, in] */
} resize_axis;

enum { RESIZE_MOST = 1 << 24 }; /* weights of an axis */

/* Reads the known sizes of both axes; false after a failure. */
static bool resize_axes(wick_import_node *n, resize_axis axis[2])
{
  uint32_t count;
  const int64_t *size;
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_numbers(n, 1, "the size", &count, &size))
    return false;
  if (count != 2 || size[0] < 1 || size[1] < 1) {
    wick_import_fail(n, WICK_ETYPE, "the size is no two numbers above 0");
    return false;
  }
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim d = wick_import_info(n, 0)->dim[1 + k];
    if (!wick_dim_is_const(d)) return wick_import_must_be_known(n, "the size of the images", d);
    if (d.v < 1 || d.v > RESIZE_MOST / size[k]) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "images of %lld elements along an axis become %lld",
                       (long long)d.v, (long long)size[k]);
      return false;
    }
    axis[k] = (resize_axis){d.v, size[k], NULL};
    axis[k].weight = wick_new(n->c->tmp, double, (size_t)(d.v * size[k]));
  }
  return true;
}

static wick_value resize_weights(wick_import_node *n, const resize_axis *a)
{
  return wick_emit_table(n->b, n->name, WICK_F32, 2, (int64_t[]){a->out, a->in}, a->weight);
}

/* Multiplies the images by the weights of both axes. The result is f32. */
static void resize_apply(wick_import_node *n, const resize_axis axis[2])
{
  wick_builder *b = n->b;
  wick_dims *d = n->c->module->dims;
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dim rows = wick_dim_mul(d, t.dim[2], t.dim[3]),
           out[] = {wick_dim_const(axis[0].out), wick_dim_const(axis[1].out)};
  wick_dim whole[] = {t.dim[0], t.dim[1], rows},
           one[] = {wick_dim_mul(d, t.dim[0], out[0]), t.dim[2], t.dim[3]},
           shape[] = {t.dim[0], out[0], out[1], t.dim[3]};
  wick_value x = wick_build_reshape(b, wick_build_cast(b, n->in[0], WICK_F32), 3, whole);
  wick_value w = resize_weights(n, &axis[0]);
  x = wick_build_reshape(b, wick_build2(b, WICK_OP_matmul, w, x), 3, one);
  w = resize_weights(n, &axis[1]);
  n->out[0] = wick_build_reshape(b, wick_build2(b, WICK_OP_matmul, w, x), 4, shape);
}

static int64_t resize_within(const resize_axis *a, int64_t i)
{
  return i < 0 ? 0 : i < a->in ? i : a->in - 1;
}

/* ---- bicubic ---- */

enum { RESIZE_STEPS = 1024 }; /* of a position between two elements */

/* The cubic kernel at i / RESIZE_STEPS, or 1 beyond it, in f32 as TensorFlow's table has it. */
static float resize_cubic(float a, long i, bool beyond)
{
  float x = (float)i / RESIZE_STEPS;
  if (!beyond) return ((a + 2) * x - (a + 3)) * x * x + 1;
  x += 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* Keys' kernel with half pixels drops what is outside of the image, the older one repeats the border.
 * Source: TensorFlow, core/kernels/image/resize_bicubic_op.cc. */
static void resize_bicubic_axis(const resize_axis *a, bool align, bool half)
{
  float coefficient = half ? -0.5f : -0.75f;
  float scale =
      align && a->out > 1 ? (float)(a->in - 1) / (float)(a->out - 1) : (float)a->in / (float)a->out;
  for (int64_t y = 0; y < a->out; y++) {
    float at = half ? ((float)y + 0.5f) * scale - 0.5f : (float)y * scale, low = floorf(at);
    long step = lrintf((at - low) * RESIZE_STEPS);
    float w[4] = {resize_cubic(coefficient, step, true), resize_cubic(coefficient, step, false),
                  resize_cubic(coefficient, RESIZE_STEPS - step, false),
                  resize_cubic(coefficient, RESIZE_STEPS - step, true)};
    float sum = 0;
    for (int k = 0; k < 4; k++) {
      int64_t i = (int64_t)low - 1 + k;
      if (half && i != resize_within(a, i)) w[k] = 0;
      sum += w[k];
    }
    for (int k = 0; k < 4; k++) {
      if (half && fabsf(sum) >= 1000 * FLT_MIN) w[k] /= sum;
      a->weight[y * a->in + resize_within(a, (int64_t)low - 1 + k)] += w[k];
    }
  }
}

void wick_tf_import_resize_bicubic(wick_import_node *n)
{
  resize_axis axis[2];
  bool align = wick_import_int(n, "align_corners", 0) != 0,
       half = wick_import_int(n, "half_pixel_centers", 0) != 0;
  if (!resize_axes(n, axis)) return;
  for (uint32_t k = 0; k < 2; k++) resize_bicubic_axis(&axis[k], align, half);
  resize_apply(n, axis);
}

/* ---- means of areas ---- */

/* Source: TensorFlow, core/kernels/image/resize_area_op.cc. */
void wick_tf_import_resize_area(wick_import_node *n)
{
  resize_axis axis[2];
  bool align = wick_import_int(n, "align_corners", 0) != 0;
  if (!resize_axes(n, axis)) return;
  for (uint32_t k = 0; k < 2; k++) {
    const resize_axis *a = &axis[k];
    float scale = align && a->out > 1 ? (float)(a->in - 1) / (float)(a->out - 1)
                                      : (float)a->in / (float)a->out;
    for (int64_t y = 0; y < a->out; y++) {
      float begin = (float)y * scale, end = (float)(y + 1) * scale;
      for (int64_t i = (int64_t)floorf(begin); (float)i < ceilf(end); i++) {
        float from = fmaxf(begin, (float)i), to = fminf(end, (float)(i + 1));
        if (scale > 0) a->weight[y * a->in + resize_within(a, i)] += (to - from) / scale;
      }
    }
  }
  resize_apply(n, axis);
}

/* ---- scale and translation ---- */

typedef struct resize_kernel {
  const char *name;
  double radius;
  double (*at)(double x, double radius); /* x >= 0 */
} resize_kernel;

static double resize_lanczos(double x, double radius)
{
  const double pi = 3.14159265358979323846;
  if (x > radius) return 0;
  return x <= 1e-3 ? 1 : radius * sin(pi * x) * sin(pi * x / radius) / (pi * pi * x * x);
}

static double resize_gaussian(double x, double radius)
{
  double sigma = radius / 3;
  return x >= radius ? 0 : exp(-x * x / (2 * sigma * sigma));
}

static double resize_box(double x, double radius)
{
  return x < radius / 2 ? 1 : x == radius / 2 ? 0.5 : 0;
}

static double resize_triangle(double x, double radius) { return x < radius ? radius - x : 0; }

static double resize_keys(double x, double radius)
{
  if (x >= radius) return 0;
  return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
}

static double resize_mitchell(double x, double radius)
{
  if (x >= radius) return 0;
  return x >= 1 ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9
                : (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
}

/* In the order of the words that the importer reads. */
static const resize_kernel resize_kernels[] = {
    {"lanczos3", 3, resize_lanczos}, {"triangle", 1, resize_triangle},
    {"keyscubic", 2, resize_keys},   {"lanczos1", 1, resize_lanczos},
    {"lanczos5", 5, resize_lanczos}, {"gaussian", 1.5, resize_gaussian},
    {"box", 1, resize_box},          {"mitchellcubic", 2, resize_mitchell},
};

/* In f32, since the kernel box has ties. Source: TensorFlow, core/kernels/image/scale_and_translate_op.cc. */
static void resize_scaled_axis(const resize_axis *a, const resize_kernel *kernel, float scale,
                               float move, bool antialias)
{
  float back = 1 / scale, wide = antialias ? fmaxf(back, 1) : 1, narrow = 1 / wide;
  float radius = (float)kernel->radius * wide, away = -back * move;
  for (int64_t y = 0; y < a->out; y++) {
    double *row = a->weight + y * a->in;
    float at = ((float)y + 0.5f) * back + away, total = 0;
    if (!(at >= 0 && at <= (float)a->in)) continue;
    float lo = fmaxf(ceilf(at - radius - 0.5f), 0), hi = fmaxf(floorf(at + radius - 0.5f), 0);
    int64_t end = hi < (float)a->in ? (int64_t)hi : a->in - 1;
    for (int64_t i = lo < (float)a->in ? (int64_t)lo : a->in - 1; i <= end; i++) {
      row[i] = kernel->at(fabsf(((float)i + 0.5f - at) * narrow), kernel->radius);
      total += (float)row[i];
    }
    for (int64_t i = 0; i < a->in && fabsf(total) >= 1000 * FLT_MIN; i++) row[i] /= total;
  }
}

/* images, size, scale, translation. tf.image.resize writes it with the scale of the whole image. */
void wick_tf_import_scale(wick_import_node *n)
{
  uint32_t nscale, nmove;
  const double *scale, *move;
  resize_axis axis[2];
  if (!resize_axes(n, axis) || !wick_import_reals(n, 2, "the scale", &nscale, &scale) ||
      !wick_import_reals(n, 3, "the translation", &nmove, &move))
    return;
  int kernel = wick_import_word(
      n, "kernel_type", "lanczos3 triangle keyscubic lanczos1 lanczos5 gaussian box mitchellcubic");
  if (n->failed) return;
  if (nscale != 2 || nmove != 2 || !(scale[0] > 1e-6 && scale[1] > 1e-6)) {
    wick_import_fail(n, WICK_ETYPE, "the scale or the translation is no two numbers");
    return;
  }
  for (uint32_t k = 0; k < 2; k++)
    resize_scaled_axis(&axis[k], &resize_kernels[kernel], (float)scale[k], (float)move[k],
                       wick_import_int(n, "antialias", 1) != 0);
  resize_apply(n, axis);
}
