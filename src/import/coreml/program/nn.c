/* Layers: convolutions, pools, products, normalizations, attention. Images have the channels second,
 * as Wick's have. */
#include <math.h>
#include <string.h>

#include "import/coreml/program/ops.h"
#include "import/kit/nhwc.h"

/* ---- windows ---- */

typedef enum nn_padding { NN_VALID, NN_SAME, NN_SAME_LOWER, NN_CUSTOM } nn_padding;

/* Reads strides, dilations and padding for an input of spatial sizes size[w->n]. w->kernel is set.
 * Returns false after a failure. */
static bool nn_window(wick_import_node *n, wick_nhwc_window *w, const wick_dim *size,
                      nn_padding *out)
{
  int64_t pad[2 * WICK_NHWC_SPATIAL];
  *out = (nn_padding)wick_import_word(n, "pad_type", "valid same same_lower custom");
  if (n->failed || !wick_mil_list_of(n, "strides", w->n, 1, w->stride) ||
      !wick_mil_list_of(n, "dilations", w->n, 1, w->dilation) || !wick_nhwc_window_check(n, w))
    return false;
  if (*out != NN_CUSTOM) {
    static const wick_nhwc_padding words[] = {WICK_NHWC_VALID, WICK_NHWC_SAME,
                                              WICK_NHWC_SAME_LOWER};
    wick_nhwc_pad(n->c, w, size, words[*out]);
    return true;
  }
  if (!wick_mil_list_of(n, "pad", 2 * w->n, 0, pad)) return false;
  for (uint32_t k = 0; k < 2 * w->n; k++)
    if (pad[k] < 0 || pad[k] > INT32_MAX) {
      wick_import_fail(n, WICK_ERANGE, "its padding has the number %lld", (long long)pad[k]);
      return false;
    }
  for (uint32_t k = 0; k < w->n; k++)
    w->before[k] = wick_dim_const(pad[2 * k]), w->after[k] = wick_dim_const(pad[2 * k + 1]);
  return true;
}

/* ---- convolutions ---- */

static bool nn_conv_begin(wick_import_node *n, wick_nhwc_window *w)
{
  const wick_type_info *x = wick_import_info(n, 0), *f = wick_import_info(n, 1);
  if (!wick_import_rank(n, 0, 3, 5) || !wick_import_rank(n, 1, x->rank, x->rank)) return false;
  *w = wick_nhwc_window_of(x->rank - 2u);
  for (uint32_t k = 0; k < w->n; k++) {
    if (!wick_dim_is_const(f->dim[k + 2]))
      return wick_import_must_be_known(n, "the size of the window", f->dim[k + 2]);
    w->kernel[k] = f->dim[k + 2].v;
  }
  return true;
}

static const int64_t nn_in_order[] = {0, 1, 2, 3, 4};

/* x, weight, bias; weight: as floats */
static void nn_conv(wick_import_node *n, wick_value weight, wick_value bias)
{
  wick_nhwc_window w;
  nn_padding word;
  if (!nn_conv_begin(n, &w) || !nn_window(n, &w, wick_import_info(n, 0)->dim + 2, &word)) return;
  wick_value x = wick_nhwc_last(n->b, n->in[0]);
  wick_value y =
      wick_nhwc_conv(n, x, weight, nn_in_order, bias, &w, wick_import_int(n, "groups", 1));
  if (!n->failed) n->out[0] = wick_nhwc_first(n->c, y);
}

void wick_mil_import_conv(wick_import_node *n) { nn_conv(n, n->in[1], n->in[2]); }

/* A vector of the first dimension of x, or a number, shaped to broadcast with x. */
static wick_value nn_first(wick_import_node *n, wick_value v, wick_value x)
{
  if (n->b->status) return v;
  const wick_type_info *t = wick_mil_info(n, v);
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank != 1) return v;
  for (uint32_t k = 0; k < wick_mil_info(n, x)->rank; k++)
    dim[k] = k ? wick_dim_const(1) : t->dim[0];
  return wick_build_reshape(n->b, v, wick_mil_info(n, x)->rank, dim);
}

/* The weights are bytes: weight * quant_scale + quant_bias. */
void wick_mil_import_conv_quantized(wick_import_node *n) /* x, weight, bias, scale, offset */
{
  wick_elem e = wick_import_info(n, 0)->elem;
  if (wick_import_word(n, "quantization_type", "linear lut") == 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "weights of the quantization type lut are not supported");
    return;
  }
  if (n->failed) return;
  if (wick_import_int(n, "nbits", 8) != 8) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "weights of %lld bits are not supported",
                     (long long)wick_import_int(n, "nbits", 8));
    return;
  }
  wick_value w = wick_build_cast(n->b, n->in[1], e);
  wick_value scale = nn_first(n, n->in[3], w), offset = nn_first(n, n->in[4], w);
  w = wick_build2(n->b, WICK_OP_mul, w, scale);
  w = wick_build2(n->b, WICK_OP_add, w, offset);
  nn_conv(n, w, n->in[2].id ? wick_build_cast(n->b, n->in[2], e) : n->in[2]);
}

/* The spatial sizes of a transposed convolution: as asked for, stride times those of x, or what the
 * padding leaves. For `same`, sets the padding, too. */
static bool nn_transposed_size(wick_import_node *n, wick_nhwc_window *w, nn_padding word,
                               const wick_dim *in, wick_dim *out)
{
  wick_dims *d = wick_mil_dims(n);
  wick_import_attr shape = wick_import_ints(n, "output_shape");
  for (uint32_t k = 0; k < w->n; k++) {
    wick_dim stride = wick_dim_const(w->stride[k]),
             reach = wick_dim_const((w->kernel[k] - 1) * w->dilation[k] + 1);
    wick_dim full = wick_dim_mul(d, wick_dim_sub(d, in[k], wick_dim_const(1)), stride);
    full = wick_dim_add(d, full, reach);
    out[k] = word == NN_SAME ? wick_dim_mul(d, in[k], stride)
                             : wick_dim_sub(d, wick_dim_sub(d, full, w->before[k]), w->after[k]);
    if (!shape.n) continue;
    if (shape.n < w->n || shape.ints[shape.n - w->n + k] < 0) {
      wick_import_fail(n, WICK_ETYPE, "its output shape does not fit");
      return false;
    }
    out[k] = wick_dim_const(shape.ints[shape.n - w->n + k]);
  }
  if (word == NN_SAME) wick_nhwc_pad(n->c, w, out, WICK_NHWC_SAME);
  return true;
}

void wick_mil_import_conv_transpose(wick_import_node *n) /* x, weight, bias */
{
  wick_nhwc_window w;
  nn_padding word;
  wick_dim size[WICK_NHWC_SPATIAL];
  if (!nn_conv_begin(n, &w)) return;
  const wick_dim *in = wick_import_info(n, 0)->dim + 2;
  if (!nn_window(n, &w, in, &word)) return;
  if (word == NN_SAME_LOWER) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "pad_type same_lower is not supported");
    return;
  }
  if (!nn_transposed_size(n, &w, word, in, size)) return;
  wick_value x = wick_nhwc_last(n->b, n->in[0]);
  wick_value y = wick_nhwc_conv_transpose(n, x, n->in[1], nn_in_order, n->in[2], &w, size,
                                          wick_import_int(n, "groups", 1));
  if (!n->failed) n->out[0] = wick_nhwc_first(n->c, y);
}

/* ---- pools ---- */

/* Sets the attributes of a pool, whose padding is known. */
static void nn_pool_set(wick_import_node *n, wick_emit *e, const wick_nhwc_window *w)
{
  int64_t *list = wick_new(n->c->mem, int64_t, 4 * (size_t)w->n);
  for (uint32_t k = 0; k < w->n; k++) {
    list[k] = w->stride[k], list[w->n + k] = w->kernel[k];
    list[2 * w->n + k] = w->before[k].v, list[3 * w->n + k] = w->after[k].v;
  }
  wick_emit_set_ints(e, "stride", w->n, list);
  wick_emit_set_ints(e, "kernel", w->n, list + w->n);
  wick_emit_set_ints(e, "pad", 2 * w->n, list + 2 * w->n);
}

/* x with zeros around it, for means that count the padding of open sizes. */
static wick_value nn_padded(wick_import_node *n, wick_nhwc_window *w)
{
  wick_dim before[WICK_MAX_RANK] = {{0}}, after[WICK_MAX_RANK] = {{0}};
  before[0] = before[1] = after[0] = after[1] = wick_dim_const(0);
  for (uint32_t k = 0; k < w->n; k++) {
    before[k + 2] = w->before[k], after[k + 2] = w->after[k];
    w->before[k] = w->after[k] = wick_dim_const(0);
  }
  return wick_array_pad(n, n->in[0], before, after, (wick_value){0});
}

void wick_mil_import_pool(wick_import_node *n)
{
  wick_nhwc_window w;
  nn_padding word;
  bool mean = n->row->op == WICK_OP_avg_pool, known = true,
       count = mean && !wick_import_int(n, "exclude_padding_from_average", 0),
       ceil = wick_import_int(n, "ceil_mode", 0) != 0;
  wick_value x = n->in[0];
  if (!wick_import_rank(n, 0, 3, 5)) return;
  const wick_type_info *t = wick_import_info(n, 0);
  w = wick_nhwc_window_of(t->rank - 2u);
  if (!wick_mil_list_of(n, "kernel_sizes", w.n, 1, w.kernel) ||
      !nn_window(n, &w, t->dim + 2, &word))
    return;
  for (uint32_t k = 0; k < w.n; k++)
    known = known && wick_dim_is_const(w.before[k]) && wick_dim_is_const(w.after[k]);
  if (!known && !count) {
    wick_value y = wick_nhwc_pool(n, n->row->op, wick_nhwc_last(n->b, x), &w);
    n->out[0] = wick_nhwc_first(n->c, y);
    return;
  }
  if (!known) x = nn_padded(n, &w);
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  nn_pool_set(n, &e, &w);
  wick_emit_set_int(&e, "ceil", ceil && (word == NN_VALID || word == NN_CUSTOM));
  if (count) wick_emit_set_int(&e, "count_pad", 1);
  n->out[0] = wick_emit_end1(&e, x);
}

/* ---- products ---- */

void wick_mil_import_linear(wick_import_node *n) /* x, weight [out, in], bias */
{
  if (!wick_import_rank(n, 1, 2, 2)) return;
  wick_value w = wick_build_swap(n->b, n->in[1]);
  wick_value y = wick_build2(n->b, WICK_OP_matmul, n->in[0], w);
  n->out[0] = n->in[2].id ? wick_build2(n->b, WICK_OP_add, y, n->in[2]) : y;
}

void wick_mil_import_matmul(wick_import_node *n) /* x, y */
{
  static const char *const names[] = {"transpose_x", "transpose_y"};
  wick_value in[2] = {n->in[0], n->in[1]};
  for (uint32_t i = 0; i < 2; i++)
    if (wick_import_int(n, names[i], 0) && wick_import_info(n, i)->rank > 1)
      in[i] = wick_build_swap(n->b, in[i]);
  n->out[0] = wick_build2(n->b, WICK_OP_matmul, in[0], in[1]);
}

/* Operand i of a product by an equation: dimensions of size 1 become as large as those of the other
 * operand that have the same letter. label: both terms, without spaces. */
static wick_value nn_einsum_operand(wick_import_node *n, uint32_t i, const char *const label[2])
{
  const wick_type_info t = *wick_import_info(n, i), o = *wick_import_info(n, 1 - i);
  size_t mine = strlen(label[i]), other = strlen(label[1 - i]);
  wick_dim dim[WICK_MAX_RANK];
  bool wider = false;
  for (uint32_t k = 0; k < t.rank; k++) {
    dim[k] = t.dim[k];
    for (uint32_t j = 0; j < o.rank && j < other && k < mine && wick_dim_is(t.dim[k], 1); j++)
      if (label[i][k] == label[1 - i][j] && !wick_dim_is(o.dim[j], 1))
        dim[k] = o.dim[j], wider = true;
  }
  return wider ? wick_emit_expand(n->b, n->in[i], t.rank, dim) : n->in[i];
}

void wick_mil_import_einsum(wick_import_node *n)
{
  const char *equation = wick_import_text(n, "equation", "");
  size_t first = strcspn(equation, ","), rest = first + (equation[first] == ',');
  const char *const label[2] = {
      wick_str_dupn(n->c->tmp, equation, first),
      wick_str_dupn(n->c->tmp, equation + rest, strcspn(equation + rest, "-"))};
  wick_value in[2];
  if (n->nin != 2) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "it has %u values, expected 2", n->nin);
    return;
  }
  for (uint32_t i = 0; i < 2; i++) in[i] = nn_einsum_operand(n, i, label);
  n->out[0] = wick_array_einsum(n, equation, in[0], in[1]);
}

/* softmax(q k^T / sqrt(d) + mask) v */
void wick_mil_import_attention(wick_import_node *n) /* query, key, value, mask */
{
  const wick_type_info *q = wick_import_info(n, 0);
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  wick_dim d = q->dim[q->rank - 1];
  if (!wick_dim_is_const(d) || d.v < 1) {
    wick_import_must_be_known(n, "the size of a head", d);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_attention);
  wick_emit_set_float(&e, "scale", 1 / sqrt((double)d.v));
  n->out[0] = wick_emit_end(&e, n->in[3].id ? 4 : 3, n->in);
}

/* ---- normalizations ---- */

/* v, or a vector of that number for each channel of x. */
static wick_value nn_vector(wick_import_node *n, wick_value v, double otherwise)
{
  if (v.id || n->b->status) return v;
  wick_value number = wick_emit_number(n->b, n->in[0], otherwise);
  return wick_emit_expand(n->b, number, 1, &wick_import_info(n, 0)->dim[1]);
}

void wick_mil_import_batch_norm(wick_import_node *n) /* x, mean, variance, gamma, beta */
{
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  wick_value in[] = {n->in[0], {0}, {0}, n->in[1], n->in[2]};
  in[1] = nn_vector(n, n->in[3], 1);
  in[2] = nn_vector(n, n->in[4], 0);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_batch_norm);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "epsilon", 1e-5));
  n->out[0] = wick_emit_end(&e, 5, in);
}

void wick_mil_import_instance_norm(wick_import_node *n) /* x, gamma, beta */
{
  if (!wick_import_rank(n, 0, 3, WICK_MAX_RANK)) return;
  wick_value in[] = {n->in[0], {0}, {0}};
  in[1] = nn_vector(n, n->in[1], 1);
  in[2] = nn_vector(n, n->in[2], 0);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_instance_norm);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "epsilon", 1e-5));
  n->out[0] = wick_emit_end(&e, 3, in);
}

/* x / sqrt(sum x^2 + epsilon) over the last three dimensions. */
void wick_mil_import_l2_norm(wick_import_node *n)
{
  static const int64_t axes[] = {-3, -2, -1};
  wick_builder *b = n->b;
  wick_elem e = wick_import_info(n, 0)->elem;
  if (!wick_import_rank(n, 0, 3, WICK_MAX_RANK)) return;
  wick_value x = wick_build_cast(b, n->in[0], e == WICK_F64 ? e : WICK_F32);
  wick_value sum = wick_emit_reduce(b, WICK_OP_reduce_sum_square, x, 3, axes, true);
  sum = wick_emit_by(b, WICK_OP_add, sum, wick_import_real(n, "epsilon", 1e-6));
  wick_value y = wick_build2(b, WICK_OP_div, x, wick_build1(b, WICK_OP_sqrt, sum));
  n->out[0] = wick_build_cast(b, y, e);
}

/* Normalizes over any axes, step by step. */
static wick_value nn_normalized(wick_import_node *n, uint32_t count, const int64_t *axes,
                                double epsilon)
{
  wick_builder *b = n->b;
  wick_elem e = wick_import_info(n, 0)->elem;
  wick_value x = wick_build_cast(b, n->in[0], e == WICK_F64 ? e : WICK_F32);
  wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, x, count, axes, true);
  wick_value off = wick_build2(b, WICK_OP_sub, x, mean);
  wick_value square = wick_build2(b, WICK_OP_mul, off, off);
  wick_value variance = wick_emit_reduce(b, WICK_OP_reduce_mean, square, count, axes, true);
  variance = wick_emit_by(b, WICK_OP_add, variance, epsilon);
  wick_value y = wick_build2(b, WICK_OP_div, off, wick_build1(b, WICK_OP_sqrt, variance));
  return wick_build_cast(b, y, e);
}

/* gamma or beta has a dimension for each axis; those of x between them have size 1. */
static wick_value nn_along(wick_import_node *n, wick_value v, uint32_t count, const int64_t *axes)
{
  const wick_type_info *x = wick_import_info(n, 0), *t = wick_mil_info(n, v);
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank != count) {
    wick_import_fail(n, WICK_ETYPE, "its scale or offset has rank %u, expected %u", t->rank, count);
    return v;
  }
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = wick_dim_const(1);
  for (uint32_t k = 0; k < count; k++) dim[axes[k]] = t->dim[k];
  return wick_build_reshape(n->b, v, x->rank, dim);
}

void wick_mil_import_layer_norm(wick_import_node *n) /* x, gamma, beta */
{
  const wick_type_info *t = wick_import_info(n, 0);
  double epsilon = wick_import_real(n, "epsilon", 1e-5);
  int64_t axes[WICK_MAX_RANK];
  uint32_t count;
  if (!wick_mil_axes(n, "axes", t->rank, &count, axes)) return;
  bool last = count > 0;
  for (uint32_t k = 0; k < count; k++) last = last && axes[k] == (int64_t)(t->rank - count + k);
  if (last && n->in[1].id) {
    wick_emit e = wick_emit_begin(n->b, WICK_OP_layer_norm);
    wick_emit_set_float(&e, "epsilon", epsilon);
    wick_emit_set_int(&e, "axis", axes[0]);
    n->out[0] = wick_emit_end(&e, n->in[2].id ? 3 : 2, n->in);
    return;
  }
  wick_value y = nn_normalized(n, count, axes, epsilon);
  if (n->in[1].id) y = wick_build2(n->b, WICK_OP_mul, y, nn_along(n, n->in[1], count, axes));
  if (n->in[2].id) y = wick_build2(n->b, WICK_OP_add, y, nn_along(n, n->in[2], count, axes));
  if (!n->failed) n->out[0] = y;
}

void wick_mil_import_lrn(wick_import_node *n)
{
  int64_t size = wick_import_int(n, "size", 1);
  if (size < 1 || size > 1 << 30) {
    wick_import_fail(n, WICK_ERANGE, "its size is %lld", (long long)size);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", size);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 1e-4));
  wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0.75));
  wick_emit_set_float(&e, "bias", wick_import_real(n, "k", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}
