/* Quantized operators, by their definitions: integers minus zero points, products in i32, and a
 * change of scale that rounds as Relay's fixed-point numbers do where the scales are constants. */
#include <math.h>

#include "import/relay/state.h"
#include "import/relay/table.h"

enum { QUANTIZED_MOST = 4096 };

/* The numbers of an operand that the program says; 0: it does not. */
static uint32_t quantized_constant(const relay_member *m, uint32_t k, double *out)
{
  const wick_ast *n = k + 1 < m->use->node->nkid ? m->use->node->kid[k + 1] : NULL;
  if (!n) return 0;
  out[0] = n->kind == WICK_AST_FLOAT ? (double)(float)n->f : (double)n->i;
  if (n->kind == WICK_AST_FLOAT || n->kind == WICK_AST_INT) return 1;
  if (n->kind != WICK_AST_TENSOR || n->tensor->rank > 1) return 0;
  const wick_tensor *t = n->tensor;
  int64_t count = t->rank ? t->dim[0] : 1;
  if (count < 1 || count > QUANTIZED_MOST || !wick_elem_is_float(t->elem)) return 0;
  for (int64_t i = 0; i < count; i++) out[i] = wick_load_elem(t->elem, t->data, (uint64_t)i).f;
  return (uint32_t)count;
}

/* A scale or a zero point, which may be a vector along the axis of a tensor of this rank. */
static const char *quantized_along(relay_member *m, uint32_t k, const char *x, uint32_t rank,
                                   int64_t axis)
{
  int64_t dim[WICK_MAX_RANK];
  if (!wick_relay_rank(m, k)) return x;
  for (uint32_t i = 0; i < rank; i++) dim[i] = i == (uint32_t)axis ? -1 : 1;
  return wick_relay_text(m, "reshape(%s, shape = %s)", x, wick_relay_tuple(m, (int)rank, dim));
}

static int64_t quantized_axis(relay_member *m, const char *name)
{
  uint32_t rank = wick_relay_rank(m, 0);
  return rank ? wick_relay_axis(m, name, -1, rank) : 0;
}

/* x, a float, as a whole number; ties go away from 0. */
static const char *quantized_round(relay_member *m, const char *x)
{
  x = wick_relay_let(m, "%s", x);
  const char *t = wick_relay_let(m, "trunc(%s)", x);
  return wick_relay_text(m, "where(ge(abs(%s - %s), 0.5), %s + sign(%s), %s)", x, t, t, x, t);
}

/* An i32 within the range of the element type. */
static const char *quantized_clamped(relay_member *m, const char *x, wick_elem elem)
{
  const char *name = wick_elem_name(elem);
  uint32_t bits = wick_elem_storage[elem].bits;
  if (bits >= 32) return wick_relay_text(m, "%s(%s)", name, x);
  bool sign = wick_elem_class(elem) == WICK_SINT;
  int64_t most = ((int64_t)1 << (bits - (sign ? 1 : 0))) - 1, least = sign ? -most - 1 : 0;
  return wick_relay_text(m, "%s(min(max(%s, %lldi32), %lldi32))", name, x, (long long)least,
                         (long long)most);
}

static wick_elem quantized_elem(relay_member *m, const char *dflt)
{
  const char *dtype = wick_relay_word(m, "out_dtype", ""),
             *elem = wick_relay_element(*dtype ? dtype : dflt);
  for (int e = 0; elem && e < WICK_NELEM; e++)
    if (strcmp(wick_elem_name((wick_elem)e), elem) == 0) return (wick_elem)e;
  wick_relay_fail(m, "there is no element type `%s`", dtype);
  return WICK_I8;
}

static const char *quantized_real(relay_member *m, uint32_t x, uint32_t scale, uint32_t zero,
                                  int64_t axis)
{
  uint32_t rank = wick_relay_rank(m, x);
  return wick_relay_text(m, "f32(i32(%s) - i32(%s)) * %s", wick_relay_letter(x),
                         quantized_along(m, zero, wick_relay_letter(zero), rank, axis),
                         quantized_along(m, scale, wick_relay_letter(scale), rank, axis));
}

static const char *quantized_of_real(relay_member *m, const char *x, uint32_t scale, uint32_t zero,
                                     uint32_t rank, int64_t axis, wick_elem elem)
{
  const char *s = quantized_along(m, scale, wick_relay_letter(scale), rank, axis),
             *z = quantized_along(m, zero, wick_relay_letter(zero), rank, axis);
  x = quantized_round(m, wick_relay_text(m, "(%s) / %s", x, s));
  x = wick_relay_text(m, "i32(min(max(%s, -2147483648.0), 2147483520.0)) + i32(%s)", x, z);
  return quantized_clamped(m, x, elem);
}

static const char *quantized_quantize(relay_member *m)
{
  return quantized_of_real(m, "a", 1, 2, wick_relay_rank(m, 0), quantized_axis(m, "axis"),
                           quantized_elem(m, "int8"));
}

static const char *quantized_dequantize(relay_member *m)
{
  return quantized_real(m, 0, 1, 2, quantized_axis(m, "axis"));
}

/* ---- changes of scale ---- */

/* An i32 times constants, as fixed-point numbers of 31 bits. */
static const char *quantized_fixed(relay_member *m, const char *x, uint32_t n, const double *factor,
                                   const char *shape, bool upward)
{
  wick_text f = wick_text_begin(m->mem), l = f, r = f, h = f;
  f = wick_text_begin(m->mem), l = wick_text_begin(m->mem), r = wick_text_begin(m->mem),
  h = wick_text_begin(m->mem);
  for (uint32_t i = 0; i < n; i++) {
    int exponent = 0;
    double s = round(frexp(factor[i], &exponent) * 2147483648.0);
    if (s >= 2147483648.0) s /= 2, exponent++;
    int left = exponent > 0 ? exponent : 0, right = 31 - (exponent < 0 ? exponent : 0);
    if (!(factor[i] > 0) || left > 30 || right > 62) {
      wick_relay_fail(m, "the quotient of the scales is out of range");
      return x;
    }
    const char *comma = i ? ", " : "";
    wick_text_printf(&f, "%s%lldi64", comma, (long long)s);
    wick_text_printf(&l, "%s%di64", comma, left);
    wick_text_printf(&r, "%s%di64", comma, right);
    wick_text_printf(&h, "%s%lldi64", comma, (long long)((int64_t)1 << (right - 1)));
  }
  const char *all[4] = {f.at, l.at, r.at, h.at};
  for (int i = 0; i < 4 && n > 1; i++)
    all[i] = wick_relay_text(m, "reshape([%s], shape = %s)", all[i], shape);
  const char *y = wick_relay_let(m, "shift_left(i64(%s), %s) * %s", x, all[1], all[0]);
  const char *half =
      upward ? all[3] : wick_relay_text(m, "where(ge(%s, 0), %s, %s - 1)", y, all[3], all[3]);
  return wick_relay_text(m, "i32(shift_right(%s + %s, %s))", y, half, all[2]);
}

/* x, an i32 without a zero point, from one scale to another; `from` and `by` are operands, whose
 * product is the first scale (by: UINT32_MAX: none). */
static const char *quantized_rescaled(relay_member *m, const char *x, uint32_t rank, int64_t axis,
                                      uint32_t from, uint32_t by, uint32_t to)
{
  double *a = wick_new(m->mem, double, QUANTIZED_MOST), b[1] = {1},
         *d = wick_new(m->mem, double, QUANTIZED_MOST);
  uint32_t na = quantized_constant(m, from, a), nd = quantized_constant(m, to, d),
           nb = by == UINT32_MAX         ? 1
                : wick_relay_rank(m, by) ? 0
                                         : quantized_constant(m, by, b);
  const char *rounding = wick_relay_word(m, "rounding", "None");
  bool upward = strcmp(rounding, "TONEAREST") != 0, same = true;
  if (na && nb && nd && (nd == 1 || nd == na)) {
    int64_t dim[WICK_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) dim[i] = i == (uint32_t)axis ? -1 : 1;
    for (uint32_t i = 0; i < na; i++) {
      double scale = by == UINT32_MAX ? a[i] : (double)((float)a[i] * (float)b[0]);
      a[i] = scale / d[nd == 1 ? 0 : i];
      same = same && a[i] >= 1 && a[i] <= 1;
    }
    return same ? x : quantized_fixed(m, x, na, a, wick_relay_tuple(m, (int)rank, dim), upward);
  }
  const char *s = quantized_along(m, from, wick_relay_letter(from), rank, axis);
  if (by != UINT32_MAX)
    s = wick_relay_text(m, "(%s * %s)", s,
                        quantized_along(m, by, wick_relay_letter(by), rank, axis));
  const char *y = wick_relay_let(m, "f64(%s) * (f64(%s) / f64(%s))", x, s,
                                 quantized_along(m, to, wick_relay_letter(to), rank, axis));
  y = upward ? wick_relay_text(m, "floor(%s + 0.5)", y) : quantized_round(m, y);
  return wick_relay_text(m, "i32(%s)", y);
}

static const char *quantized_requantize(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = quantized_axis(m, "axis");
  const char *x = wick_relay_let(m, "i32(a) - i32(%s)", quantized_along(m, 2, "c", rank, axis));
  const char *y = quantized_rescaled(m, x, rank, axis, 1, UINT32_MAX, 3);
  return quantized_clamped(m, wick_relay_text(m, "%s + i32(e)", y), quantized_elem(m, "int8"));
}

/* Means of i32 after a change of scale; operands as those of `requantize`. */
static const char *quantized_average(relay_member *m)
{
  for (uint32_t k = 1; k < 5; k++)
    if (wick_relay_rank(m, k)) return wick_relay_fail(m, "scales and zero points must be numbers");
  bool typed = *wick_relay_word(m, "out_dtype", "");
  wick_elem elem = typed ? quantized_elem(m, "int8") : wick_relay_elem(m, 0);
  const char *y = quantized_rescaled(m, wick_relay_let(m, "i32(a) - i32(c)"), wick_relay_rank(m, 0),
                                     0, 1, UINT32_MAX, 3);
  y = wick_relay_average(m, wick_relay_let(m, "%s + i32(e)", y));
  return y ? quantized_clamped(m, y, elem) : NULL;
}

/* add, subtract, mul: (x, y, x's scale and zero point, y's, the result's) */
static const char *quantized_binary(relay_member *m)
{
  uint32_t rank =
      wick_relay_rank(m, 0) > wick_relay_rank(m, 1) ? wick_relay_rank(m, 0) : wick_relay_rank(m, 1);
  const char *name = strchr(m->row->name, '.') + 1, *x = wick_relay_let(m, "i32(a) - i32(d)"),
             *y = wick_relay_let(m, "i32(b) - i32(f)");
  for (uint32_t k = 2; k < 8; k++)
    if (wick_relay_rank(m, k)) return wick_relay_fail(m, "scales and zero points must be numbers");
  const char *z =
      strcmp(name, "mul") == 0
          ? quantized_rescaled(m, wick_relay_let(m, "%s * %s", x, y), rank, 0, 2, 4, 6)
          : wick_relay_text(m, "%s %c %s", quantized_rescaled(m, x, rank, 0, 2, UINT32_MAX, 6),
                            name[0] == 'a' ? '+' : '-',
                            quantized_rescaled(m, y, rank, 0, 4, UINT32_MAX, 6));
  return quantized_clamped(m, wick_relay_text(m, "%s + i32(h)", z), wick_relay_elem(m, 0));
}

static const char *quantized_concatenate(relay_member *m)
{
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  if (x->kind != WICK_OPERAND_TUPLE || !x->n || wick_relay_operand(m, 1)->n != x->n ||
      wick_relay_operand(m, 2)->n != x->n)
    return wick_relay_fail(m, "the operands must be tuples of one length");
  int64_t axis = wick_relay_axis(m, "axis", 0, x->item[0].rank);
  wick_text t = wick_text_begin(m->mem);
  for (uint32_t i = 0; i < x->n; i++) {
    const char *y = wick_relay_let(m, "f64(i32(a.%u) - i32(c.%u)) * (f64(b.%u) / f64(d))", i, i, i);
    wick_text_printf(&t, "%s, ",
                     quantized_clamped(m, wick_relay_text(m, "i32(floor(%s + 0.5)) + i32(e)", y),
                                       x->item[i].elem));
  }
  return wick_relay_text(m, "concat(%saxis = %lld)", t.at, (long long)axis);
}

/* ---- products ---- */

/* Operands without zero points; the second one's may be a vector along its axis of outputs. */
static void quantized_operands(relay_member *m, uint32_t axis, const char **x, const char **w)
{
  *x = wick_relay_let(m, "i32(a) - i32(c)");
  *w = wick_relay_let(m, "i32(b) - i32(%s)",
                      quantized_along(m, 3, "d", wick_relay_rank(m, 1), axis));
}

static const char *quantized_dense(relay_member *m)
{
  const char *x, *w;
  uint32_t rank = wick_relay_rank(m, 1);
  bool batch = strstr(m->row->name, "batch") != NULL,
       turn = !batch || wick_relay_int(m, "transpose_b", 1);
  quantized_operands(m, 0, &x, &w);
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  if (rank > 1 && turn) perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
  return wick_relay_text(m, "%s @ %s", x, wick_relay_transpose(m, w, rank, perm));
}

static const char *quantized_conv(relay_member *m)
{
  const char *x, *w;
  const char *layout = wick_relay_word(m, "kernel_layout", "");
  bool turn = strstr(m->row->name, "transpose") != NULL;
  if (!*layout) layout = turn ? "IOHW" : "OIHW";
  const char *o = strchr(layout, 'O');
  quantized_operands(m, o ? (uint32_t)(o - layout) : 0, &x, &w);
  return wick_relay_convolution(m, x, w, turn);
}

/* ---- functions of real numbers ---- */

static const char *quantized_unary(relay_member *m)
{
  const char *name = strchr(m->row->name, '.') + 1;
  int64_t axis = quantized_axis(m, "axis");
  const char *x = wick_relay_let(m, "%s", quantized_real(m, 0, 1, 2, axis));
  const char *y = strcmp(name, "hardswish") == 0
                      ? wick_relay_text(m, "%s * min(max(%s + 3.0, 0.0), 6.0) / 6.0", x, x)
                  : strcmp(name, "softmax") == 0
                      ? wick_relay_text(m, "softmax(%s, axis = %lld)", x, (long long)axis)
                  : strcmp(name, "leaky_relu") == 0
                      ? wick_relay_text(m, "leaky_relu(%s, alpha = %s)", x,
                                        wick_relay_float(m, wick_relay_real(m, "alpha", 0.25)))
                      : wick_relay_text(m, "%s(%s)", name, x);
  return quantized_of_real(m, y, 3, 4, wick_relay_rank(m, 0), axis, wick_relay_elem(m, 0));
}

#define QUANTIZED_CONV                                                                             \
  "strides padding dilation groups kernel_size data_layout kernel_layout out_layout out_dtype "    \
  "channels output_padding"
#define UNARY(name)                                                                                \
  RELAY_WRITE("qnn." name, 5, 5, quantized_unary, "axis alpha", "of real numbers, then rounded")

const relay_row wick_relay_quantized[] = {
    UNARY("abs"),
    RELAY_WRITE("qnn.add", 8, 8, quantized_binary, "lhs_axis rhs_axis", "a sum of changed scales"),
    RELAY_WRITE("qnn.avg_pool2d", 5, 5, quantized_average,
                "pool_size strides padding dilation layout out_layout= ceil_mode "
                "count_include_pad out_dtype rounding",
                "avg_pool of a changed scale"),
    RELAY_WRITE("qnn.batch_matmul", 6, 6, quantized_dense, "transpose_b out_dtype",
                "matmul of i32"),
    RELAY_WRITE("qnn.concatenate", 5, 5, quantized_concatenate, "axis", "concat of changed scales"),
    RELAY_WRITE("qnn.conv2d", 6, 6, quantized_conv, QUANTIZED_CONV, "conv of i32"),
    RELAY_WRITE("qnn.conv2d_transpose", 6, 6, quantized_conv, QUANTIZED_CONV,
                "conv_transpose of i32"),
    RELAY_WRITE("qnn.dense", 6, 6, quantized_dense, "units out_dtype", "matmul of i32"),
    RELAY_WRITE("qnn.dequantize", 3, 3, quantized_dequantize, "axis out_dtype", "f32(a - c) * b"),
    UNARY("erf"),
    UNARY("exp"),
    UNARY("hardswish"),
    UNARY("leaky_relu"),
    UNARY("log"),
    RELAY_WRITE("qnn.mul", 8, 8, quantized_binary, "lhs_axis rhs_axis",
                "a product, then a changed scale"),
    RELAY_WRITE("qnn.quantize", 3, 3, quantized_quantize, "axis out_dtype",
                "a / b, rounded, plus c"),
    RELAY_WRITE("qnn.requantize", 5, 5, quantized_requantize,
                "axis rounding compute_dtype out_dtype",
                "fixed-point arithmetic; f64 where scales are no constants"),
    UNARY("rsqrt"),
    UNARY("sigmoid"),
    UNARY("softmax"),
    UNARY("sqrt"),
    RELAY_WRITE("qnn.subtract", 8, 8, quantized_binary, "lhs_axis rhs_axis",
                "a difference of changed scales"),
    UNARY("tanh"),
    RELAY_END_OF_ROWS,
};
