/* Operators of networks that see: regions, anchors and displacements, in index notation. */
#include <math.h>

#include "import/relay/state.h"
#include "import/relay/table.h"

enum { VISION_MOST = 32 };

/* The reals of a list, or a number as a list of one; -1: there are none. */
static int vision_reals(const relay_member *m, const char *name, double *out)
{
  const wick_ast *list = wick_relay_attr(m, name);
  if (!list) return -1;
  bool many = list->kind == WICK_AST_LIST || list->kind == WICK_AST_TUPLE;
  uint32_t n = many ? list->nkid : 1;
  if (n > VISION_MOST) return -1;
  for (uint32_t i = 0; i < n; i++) {
    const wick_ast *x = many ? list->kid[i] : list;
    bool minus = x->kind == WICK_AST_UNARY && x->nkid == 1;
    if (minus) x = x->kid[0];
    if (x->kind != WICK_AST_FLOAT && x->kind != WICK_AST_INT) return -1;
    out[i] = (x->kind == WICK_AST_FLOAT ? x->f : (double)x->i) * (minus ? -1 : 1);
  }
  return (int)n;
}

/* Products, or differences, of windows of two images whose distance is at most `max_displacement`. */
static const char *vision_correlation(relay_member *m)
{
  int64_t size = wick_relay_int(m, "kernel_size", 1),
          far = wick_relay_int(m, "max_displacement", 1), s1 = wick_relay_int(m, "stride1", 1),
          s2 = wick_relay_int(m, "stride2", 1), pad[4], given[RELAY_MOST_INTS] = {0};
  int n = wick_relay_ints(m, "padding", given);
  for (int i = 0; i < 4; i++) pad[i] = n <= 1 ? given[0] : n == 2 ? given[i % 2] : given[i];
  if (wick_relay_rank(m, 0) != 4 || wick_relay_rank(m, 1) != 4)
    return wick_relay_fail(m, "the operands must have 4 axes");
  if (size < 1 || size % 2 == 0 || far < 0 || s1 < 1 || s2 < 1 || size > 4096 || far > 4096)
    return wick_relay_fail(m, "the sizes and strides must be positive, and `kernel_size` odd");
  int64_t r = far / s2, side = 2 * r + 1, border = 2 * (far + (size - 1) / 2),
          h = wick_relay_known(m, 0, 2) + pad[0] + pad[2] - border,
          w = wick_relay_known(m, 0, 3) + pad[1] + pad[3] - border;
  if (m->use->wrong) return NULL;
  if (h < 1 || w < 1) return wick_relay_fail(m, "the windows do not fit into the images");
  bool product = wick_relay_int(m, "is_multiply", 1) != 0;
  const char *x = wick_relay_text(m, "x[n, c, %lld * i + u + %lld, %lld * j + v + %lld]",
                                  (long long)s1, (long long)far, (long long)s1, (long long)far),
             *y = wick_relay_text(
                 m, "y[n, c, %lld * i + %lld * p + u + %lld, %lld * j + %lld * q + v + %lld]",
                 (long long)s1, (long long)s2, (long long)(far - r * s2), (long long)s1,
                 (long long)s2, (long long)(far - r * s2));
  m->items = wick_relay_text(m,
                             "op correlation(x, y) {\n  z[n, p: %lld, q: %lld, i: %lld, "
                             "j: %lld] = sum(c, u: %lld, v: %lld) %s\n}\n",
                             (long long)side, (long long)side, (long long)((h + s1 - 1) / s1),
                             (long long)((w + s1 - 1) / s1), (long long)size, (long long)size,
                             product ? wick_relay_text(m, "%s * %s", x, y)
                                     : wick_relay_text(m, "abs(%s - %s)", x, y));
  const char *padding =
      wick_relay_text(m, "pad = (0, 0, %lld, %lld, 0, 0, %lld, %lld)", (long long)pad[0],
                      (long long)pad[1], (long long)pad[2], (long long)pad[3]);
  return wick_relay_text(m,
                         "reshape(correlation(pad(a, %s), pad(b, %s)), shape = (%s, %lld, %lld, "
                         "%lld)) / %lld.0",
                         padding, padding, wick_relay_size(m, 0, 0), (long long)(side * side),
                         (long long)((h + s1 - 1) / s1), (long long)((w + s1 - 1) / s1),
                         (long long)(size * size * wick_relay_known(m, 0, 1)));
}

/* Boxes of each size, and of the first size in each further ratio, around each element. */
static const char *vision_prior(relay_member *m)
{
  double size[VISION_MOST] = {1}, ratio[VISION_MOST] = {1}, step[VISION_MOST] = {-1, -1},
         offset[VISION_MOST] = {0.5, 0.5};
  int ns = wick_relay_attr(m, "sizes") ? vision_reals(m, "sizes", size) : 1,
      nr = wick_relay_attr(m, "ratios") ? vision_reals(m, "ratios", ratio) : 1,
      nt = wick_relay_attr(m, "steps") ? vision_reals(m, "steps", step) : 2,
      no = wick_relay_attr(m, "offsets") ? vision_reals(m, "offsets", offset) : 2;
  if (wick_relay_rank(m, 0) != 4) return wick_relay_fail(m, "the operand must have 4 axes");
  if (ns < 1 || nr < 1 || nt != 2 || no != 2)
    return wick_relay_fail(m, "`sizes` and `ratios` must be lists of numbers, `steps` and "
                              "`offsets` of two");
  int64_t h = wick_relay_known(m, 0, 2), w = wick_relay_known(m, 0, 3);
  if (m->use->wrong || h < 1 || w < 1) return NULL;
  wick_text boxes = wick_text_begin(m->mem);
  for (int k = 0; k < ns + nr - 1; k++) {
    double s = size[k < ns ? k : 0], q = k < ns ? 1 : sqrt(ratio[k - ns + 1]);
    double half = s * (double)h / (double)w * q / 2, tall = s / q / 2;
    wick_text_printf(&boxes, "%s[%.17g, %.17g, %.17g, %.17g]", k ? ", " : "", -half, -tall, half,
                     tall);
  }
  double sh = step[0] > 0 ? step[0] : 1 / (double)h, sw = step[1] > 0 ? step[1] : 1 / (double)w;
  m->items = wick_relay_text(
      m,
      "op prior(b) {\n  y[i: %lld, j: %lld, k, r] = b[k, r] + if r %% 2 == 0 { (f64(j) "
      "+ %.17g) * %.17g } else { (f64(i) + %.17g) * %.17g }\n}\n",
      (long long)h, (long long)w, offset[1], sw, offset[0], sh);
  const char *y = wick_relay_text(m, "%s(reshape(prior((([%s]): f64[%d, 4])), shape = (1, -1, 4)))",
                                  wick_elem_name(wick_relay_elem(m, 0)), boxes.at, ns + nr - 1);
  return wick_relay_int(m, "clip", 0) ? wick_relay_text(m, "min(max(%s, 0.0), 1.0)", y) : y;
}

/* Parts of images, given by corners in units of the image, in one size; linear between elements. */
static const char *vision_crop(relay_member *m)
{
  int64_t size[RELAY_MOST_INTS];
  if (wick_relay_ints(m, "crop_size", size) != 2 || size[0] < 1 || size[1] < 1)
    return wick_relay_fail(m, "`crop_size` must have 2 numbers above 0");
  bool last = strcmp(wick_relay_word(m, "layout", "NCHW"), "NHWC") == 0;
  if (wick_relay_rank(m, 0) != 4 || wick_relay_rank(m, 1) != 2 || wick_relay_rank(m, 2) != 1)
    return wick_relay_fail(m, "the operands must have 4, 2 and 1 axes");
  int64_t h = wick_relay_known(m, 0, last ? 1 : 2), w = wick_relay_known(m, 0, last ? 2 : 3);
  if (m->use->wrong) return NULL;
  const char *e = wick_elem_name(wick_relay_elem(m, 1)), *at[2];
  for (int d = 0; d < 2; d++) { /* positions of rows, then of columns, [boxes, size] */
    int64_t n = size[d], all = (d ? w : h) - 1;
    const char *t = n > 1 ? wick_relay_text(m, "%s(range(0.0, 1.0, count = %lld)) * %.17g", e,
                                            (long long)n, 1.0 / (double)(n - 1))
                          : wick_relay_text(m, "%s(range(0.5, 1.0, count = 1))", e);
    at[d] = wick_relay_let(m, "(b[:, %d:%d] + (b[:, %d:%d] - b[:, %d:%d]) * (%s)) * %lld.0", d,
                           d + 1, d + 2, d + 3, d, d + 1, t, (long long)all);
  }
  m->items = wick_relay_text(
      m,
      "op crop(x, at, y, z, v) {\n  r[b, q, i, j] "
      "= if y[b, i] >= 0.0 && y[b, i] <= %lld.0 && z[b, j] >= 0.0 && z[b, j] <= %lld.0 {\n"
      "    (x[at[b], q, i64(floor(y[b, i])), i64(floor(z[b, j]))] * (1.0 - z[b, j] + floor(z[b, "
      "j])) +\n"
      "      x[at[b], q, i64(floor(y[b, i])), i64(ceil(z[b, j]))] * (z[b, j] - floor(z[b, j]))) *\n"
      "      (1.0 - y[b, i] + floor(y[b, i])) +\n"
      "    (x[at[b], q, i64(ceil(y[b, i])), i64(floor(z[b, j]))] * (1.0 - z[b, j] + floor(z[b, "
      "j])) +\n"
      "      x[at[b], q, i64(ceil(y[b, i])), i64(ceil(z[b, j]))] * (z[b, j] - floor(z[b, j]))) *\n"
      "      (y[b, i] - floor(y[b, i]))\n  } else { v }\n}\n",
      (long long)(h - 1), (long long)(w - 1));
  const char *y =
      wick_relay_text(m, "crop(%s(%s), i64(c), %s, %s, %s(%s))", e,
                      last ? "transpose(a, perm = (0, 3, 1, 2))" : "a", at[0], at[1], e,
                      wick_relay_float(m, wick_relay_real(m, "extrapolation_value", 0)));
  return last ? wick_relay_text(m, "transpose(%s, perm = (0, 2, 3, 1))", y) : y;
}

/* Channels become blocks of `stride` rows and columns, which become channels: in images, elements
 * keep their order. Source: TVM's reorg, which is defined for one image. */
static const char *vision_reorg(relay_member *m)
{
  int64_t s = wick_relay_int(m, "stride", 1);
  if (wick_relay_rank(m, 0) != 4) return wick_relay_fail(m, "the operand must have 4 axes");
  int64_t c = wick_relay_known(m, 0, 1), h = wick_relay_known(m, 0, 2),
          w = wick_relay_known(m, 0, 3);
  if (m->use->wrong) return NULL;
  if (s < 1 || s > 4096 || c > INT32_MAX || c % (s * s) || h % s || w % s)
    return wick_relay_fail(m, "`stride` must divide rows and columns, its square the channels");
  const char *n = wick_relay_size(m, 0, 0);
  return wick_relay_text(
      m,
      "reshape(transpose(reshape(a, shape = (%s, %lld, %lld, %lld, %lld, %lld)), "
      "perm = (0, 3, 5, 1, 2, 4)), shape = (%s, %lld, %lld, %lld))",
      n, (long long)(c / (s * s)), (long long)h, (long long)s, (long long)w, (long long)s, n,
      (long long)(c * s * s), (long long)(h / s), (long long)(w / s));
}

/* ---- deformable convolution ---- */

typedef struct vision_deform {
  int64_t c, h, w, o, kernel[2], out[2], pad[4], stride[2], dilation[2], groups, parts;
} vision_deform;

static bool vision_deform_read(relay_member *m, vision_deform *d)
{
  int64_t given[RELAY_MOST_INTS] = {0};
  for (uint32_t k = 0; k < 3; k++)
    if (wick_relay_rank(m, k) != 4) return wick_relay_fail(m, "the operands must have 4 axes");
  if (!wick_relay_spread(m, "strides", 2, 1, d->stride) ||
      !wick_relay_spread(m, "dilation", 2, 1, d->dilation))
    return false;
  int n = wick_relay_ints(m, "padding", given);
  for (int i = 0; i < 4; i++) d->pad[i] = n <= 1 ? given[0] : n == 2 ? given[i % 2] : given[i];
  d->groups = wick_relay_int(m, "groups", 1), d->parts = wick_relay_int(m, "deformable_groups", 1);
  d->c = wick_relay_known(m, 0, 1), d->h = wick_relay_known(m, 0, 2);
  d->w = wick_relay_known(m, 0, 3), d->o = wick_relay_known(m, 2, 0);
  for (uint32_t k = 0; k < 2; k++)
    d->kernel[k] = wick_relay_known(m, 2, 2 + k), d->out[k] = wick_relay_known(m, 1, 2 + k);
  int64_t in = wick_relay_known(m, 2, 1), offsets = wick_relay_known(m, 1, 1);
  if (m->use->wrong) return false;
  bool small = d->groups > 0 && d->parts > 0 && d->groups <= 65536 && d->parts <= 65536 &&
               d->kernel[0] <= 4096 && d->kernel[1] <= 4096 && in <= INT32_MAX;
  if (!small || d->c != in * d->groups || d->o % d->groups || d->c % d->parts ||
      offsets != 2 * d->parts * d->kernel[0] * d->kernel[1])
    return wick_relay_fail(m, "the channels, the offsets and the groups do not fit together");
  for (int k = 0; k < 2; k++)
    if (d->stride[k] < 1 || d->dilation[k] < 1 || d->stride[k] > 4096 || d->dilation[k] > 4096 ||
        d->pad[k] < 0 || d->pad[k] > INT32_MAX || d->out[k] > INT32_MAX)
      return wick_relay_fail(m, "`strides` and `dilation` must be positive, `padding` not "
                                "negative, and none of them large");
  return true;
}

/* The positions along axis k at which the windows read: [images, parts, window, result]. */
static const char *vision_deform_at(relay_member *m, const vision_deform *d, int k)
{
  const char *e = wick_elem_name(wick_relay_elem(m, 0)), *axis = k ? "j" : "i",
             *tap = k ? "v" : "u";
  m->items =
      wick_relay_text(m,
                      "%sop at%d(p) {\n  y[n, g, u: %lld, v: %lld, i, j] = p[n, g, %lld * u "
                      "+ v, %d, i, j] + %s(%lld * %s + %lld * %s - %lld)\n}\n",
                      m->items ? m->items : "", k, (long long)d->kernel[0], (long long)d->kernel[1],
                      (long long)d->kernel[1], k, e, (long long)d->stride[k], axis,
                      (long long)d->dilation[k], tap, (long long)d->pad[k]);
  return wick_relay_text(m, "at%d(reshape(b, shape = (%s, %lld, %lld, 2, %lld, %lld)))", k,
                         wick_relay_size(m, 0, 0), (long long)d->parts,
                         (long long)(d->kernel[0] * d->kernel[1]), (long long)d->out[0],
                         (long long)d->out[1]);
}

/* A convolution whose windows read at positions that are moved by offsets (rows, columns) for each
 * element of the result and of the window: linear between elements, 0 outside of the image.
 * Source: Dai et al. 2017, arXiv:1703.06211; borders as TVM has them. */
static const char *vision_deformable(relay_member *m)
{
  vision_deform d;
  if (!vision_deform_read(m, &d)) return NULL;
  const char *n = wick_relay_size(m, 0, 0), *y = vision_deform_at(m, &d, 0),
             *z = vision_deform_at(m, &d, 1);
  const char *p = "y[n, g, u, v, i, j]", *q = "z[n, g, u, v, i, j]";
  const char *low = wick_relay_text(m, "i64(floor(%s))", p),
             *left = wick_relay_text(m, "i64(floor(%s))", q);
  const char *high = wick_relay_text(m, "min(%s + 1, %lld)", low, (long long)(d.h - 1)),
             *right = wick_relay_text(m, "min(%s + 1, %lld)", left, (long long)(d.w - 1));
  m->items = wick_relay_text(m,
                             "%sop sampled(x, y, z) {\n  s[n, g, c, u, v, i, j] = if %s >= 0.0 && "
                             "%s < %lld.0 && %s >= 0.0 "
                             "&& %s < %lld.0 {\n"
                             "    (x[n, g, c, %s, %s] * (1.0 - %s + floor(%s)) + x[n, g, c, %s, "
                             "%s] * (%s - floor(%s))) *\n"
                             "      (1.0 - %s + floor(%s)) +\n"
                             "    (x[n, g, c, %s, %s] * (1.0 - %s + floor(%s)) + x[n, g, c, %s, "
                             "%s] * (%s - floor(%s))) *\n"
                             "      (%s - floor(%s))\n  } else { 0.0 }\n}\n",
                             m->items, p, p, (long long)d.h, q, q, (long long)d.w, low, left, q, q,
                             low, right, q, q, p, p, high, left, q, q, high, right, q, q, p, p);
  long long taps = (long long)(d.c / d.groups * d.kernel[0] * d.kernel[1]),
            places = (long long)(d.out[0] * d.out[1]);
  const char *s = wick_relay_let(
      m, "sampled(reshape(a, shape = (%s, %lld, %lld, %lld, %lld)), %s, %s)", n, (long long)d.parts,
      (long long)(d.c / d.parts), (long long)d.h, (long long)d.w, y, z);
  return wick_relay_text(
      m,
      "reshape(matmul(reshape(c, shape = (1, %lld, %lld, %lld)), reshape(%s, shape = (%s, %lld, "
      "%lld, %lld))), shape = (%s, %lld, %lld, %lld))",
      (long long)d.groups, (long long)(d.o / d.groups), taps, s, n, (long long)d.groups, taps,
      places, n, (long long)d.o, (long long)d.out[0], (long long)d.out[1]);
}

/* ---- boxes of anchors ---- */

/* The corners of the boxes that the offsets b and the anchors c are, [images, anchors, 4]. */
static const char *vision_boxes(relay_member *m, const double *variance, const char *shape)
{
  const char *l = wick_relay_let(m, "reshape(b, shape = (%s, 4))", shape), *middle[2], *half[2];
  for (int d = 0; d < 2; d++) {
    const char *size = wick_relay_let(m, "c[:, :, %d:%d] - c[:, :, %d:%d]", d + 2, d + 3, d, d + 1);
    middle[d] =
        wick_relay_let(m, "%s[:, :, %d:%d] * %.9g * %s + (c[:, :, %d:%d] + c[:, :, %d:%d]) / 2.0",
                       l, d, d + 1, variance[d], size, d, d + 1, d + 2, d + 3);
    half[d] = wick_relay_let(m, "exp(%s[:, :, %d:%d] * %.9g) * %s / 2.0", l, d + 2, d + 3,
                             variance[d + 2], size);
  }
  const char *y =
      wick_relay_text(m, "concat(%s - %s, %s - %s, %s + %s, %s + %s, axis = 2)", middle[0], half[0],
                      middle[1], half[1], middle[0], half[0], middle[1], half[1]);
  if (wick_relay_int(m, "clip", 1)) y = wick_relay_text(m, "max(min(%s, 1.0), 0.0)", y);
  return wick_relay_let(m, "%s", y);
}

/* The boxes (class, probability, corners) whose most probable class is not the background, first, and
 * their number in each image. The rows after them are -1, where TVM leaves them undefined. */
static const char *vision_transform(relay_member *m)
{
  double variance[VISION_MOST] = {0.1, 0.1, 0.2, 0.2},
         threshold = wick_relay_real(m, "threshold", 0.01);
  int nv = wick_relay_attr(m, "variances") ? vision_reals(m, "variances", variance) : 4;
  if (wick_relay_rank(m, 0) != 3 || wick_relay_rank(m, 1) != 2 || wick_relay_rank(m, 2) != 3)
    return wick_relay_fail(m, "the operands must have 3, 2 and 3 axes");
  if (nv != 4) return wick_relay_fail(m, "`variances` must be a list of 4 numbers");
  if (wick_relay_int(m, "keep_background", 0))
    return wick_relay_fail(m, "`keep_background` is not supported");
  int64_t classes = wick_relay_known(m, 0, 1), anchors = wick_relay_known(m, 0, 2);
  if (m->use->wrong) return NULL;
  if (classes < 2) return wick_relay_fail(m, "there must be a class besides the background");
  const char *n = wick_relay_size(m, 0, 0), *e = wick_elem_name(wick_relay_elem(m, 0)),
             *shape = wick_relay_text(m, "%s, %lld", n, (long long)anchors);
  const char *corners = vision_boxes(m, variance, shape),
             *kind = wick_relay_let(m, "argmax(a[:, 1:, :], axis = 1, keepdims = false)"),
             *score = wick_relay_let(m, "reduce_max(a[:, 1:, :], axes = (1,), keepdims = false)");
  const char *valid = threshold > -1
                          ? wick_relay_let(m, "%s >= %s", score, wick_relay_float(m, threshold))
                          : wick_relay_let(m, "%s > -1.0", score);
  const char *rows = wick_relay_let(
      m, "concat(reshape(%s(%s), shape = (%s, 1)), reshape(%s, shape = (%s, 1)), %s, axis = 2)", e,
      kind, shape, score, shape, corners);
  /* Others are written to one more row, which is left out. */
  const char *row = wick_relay_let(m, "where(%s, cumsum(i64(%s), axis = 1) - 1, %lld)", valid,
                                   valid, (long long)anchors);
  const char *at = wick_relay_let(m, "broadcast_to(reshape(%s, shape = (%s, 1)), shape = (%s, 6))",
                                  row, shape, shape);
  return wick_relay_text(
      m,
      "(scatter_elements(broadcast_to((-1.0 : %s), shape = (%s, %lld, 6)), %s, %s, axis = 1)[:, "
      "0:%lld], i32(reduce_sum(i64(%s), axes = (1,), keepdims = false)))",
      e, n, (long long)anchors + 1, at, rows, (long long)anchors, valid);
}

const relay_row wick_relay_vision[] = {
    RELAY_WRITE("image.crop_and_resize", 3, 3, vision_crop,
                "crop_size layout method=bilinear extrapolation_value out_dtype", "index notation"),
    RELAY_WRITE("nn.correlation", 2, 2, vision_correlation,
                "kernel_size max_displacement stride1 stride2 padding is_multiply layout=NCHW",
                "index notation"),
    RELAY_WRITE("nn.deformable_conv2d", 3, 3, vision_deformable,
                "strides padding dilation deformable_groups groups channels kernel_size "
                "data_layout=NCHW kernel_layout=OIHW out_layout= out_dtype",
                "index notation and matmul"),
    RELAY_WRITE("vision.multibox_prior", 1, 1, vision_prior, "sizes ratios steps offsets clip",
                "index notation"),
    RELAY_WRITE("vision.multibox_transform_loc", 3, 3, vision_transform,
                "clip threshold variances keep_background", "scatter_elements"),
    RELAY_WRITE("vision.yolo_reorg", 1, 1, vision_reorg, "stride", "reshape and transpose"),
    RELAY_END_OF_ROWS,
};
