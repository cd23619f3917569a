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

const relay_row wick_relay_vision[] = {
    RELAY_WRITE("image.crop_and_resize", 3, 3, vision_crop,
                "crop_size layout method=bilinear extrapolation_value out_dtype", "index notation"),
    RELAY_WRITE("nn.correlation", 2, 2, vision_correlation,
                "kernel_size max_displacement stride1 stride2 padding is_multiply layout=NCHW",
                "index notation"),
    RELAY_WRITE("vision.multibox_prior", 1, 1, vision_prior, "sizes ratios steps offsets clip",
                "index notation"),
    RELAY_WRITE("vision.yolo_reorg", 1, 1, vision_reorg, "stride", "reshape and transpose"),
    RELAY_END_OF_ROWS,
};
