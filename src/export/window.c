/* Exports convolutions, pools, resizing, normalizations and attention. */
#include <string.h>

#include <math.h>

#include "export/write.h"

/* ---- integer convolutions: bytes without their zero points ---- */

/* If v, an i32, is a cast of bytes minus the cast of a zero point, returns the names of both;
 * *out_zero is "" if there is no zero point. Returns NULL if v has another form. */
static const char *window_bytes(wick_export_op *o, wick_value v, const char **out_zero)
{
  const wick_node *n = wick_export_definer(o, v);
  const wick_node *zero = NULL;
  *out_zero = "";
  if (n && n->op == WICK_OP_sub) {
    zero = wick_export_definer(o, n->in[1]);
    n = wick_export_definer(o, n->in[0]);
    if (!zero || zero->op != WICK_OP_cast) return NULL;
  }
  if (!n || n->op != WICK_OP_cast) return NULL;
  const wick_type_info *x = wick_info_of(o->x->f, n->in[0]);
  if (x->elem != WICK_I8 && x->elem != WICK_U8) return NULL;
  if (!zero) return wick_export_value(o->x, n->in[0]);
  const wick_type_info *z = wick_info_of(o->x->f, zero->in[0]);
  wick_dim many = wick_type_numel(o->x->m, wick_type_of(o->x->f, zero->in[0]));
  bool one = wick_dim_is(many, 1);
  if (z->elem != x->elem || (!one && !(z->rank == x->rank && wick_dim_eq(many, z->dim[0]))))
    return NULL;
  *out_zero = wick_export_reshape(o, wick_export_value(o->x, zero->in[0]), one ? 0 : 1, &many);
  return wick_export_value(o->x, n->in[0]);
}

/* Exports an integer convolution. Returns NULL if the operands are not bytes. */
static const char *window_of_bytes(wick_export_op *o)
{
  const char *in[4];
  if (wick_export_info(o, 0)->elem != WICK_I32 || o->n->op != WICK_OP_conv) return NULL;
  for (uint32_t i = 0; i < 2; i++) {
    in[i] = window_bytes(o, o->n->in[i], &in[2 + i]);
    if (!in[i]) return NULL;
  }
  wick_onnx_node *n = wick_export_begin(o, "ConvInteger", 4, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  return wick_export_end(o, n);
}

/* ---- integer convolutions: exact sums in f64 ---- */

/* Exports a convolution of integers of at most 17 bits; the result is i64. */
static const char *window_exact(wick_export_op *o, const char *x, const char *w, wick_elem e)
{
  const char *in[] = {wick_export_cast(o, x, e, WICK_F64), wick_export_cast(o, w, e, WICK_F64)};
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, 2, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  return wick_export_cast(o, wick_export_end(o, n), WICK_F64, WICK_I64);
}

/* Splits x into its lower 16 bits and the upper bits. */
static void window_halves(wick_export_op *o, const char *x, wick_elem e, const char *out_half[2])
{
  const char *low = wick_export_2(o, "BitwiseAnd", x, wick_export_number(o->x, e, 0xffff)),
             *rest = wick_export_2(o, "Sub", x, low);
  out_half[0] = low;
  out_half[1] = wick_export_2(o, "Div", rest, wick_export_number(o->x, e, 0x10000));
}

/* Exports a convolution of integers by halves. Integers wrap, so the product of the upper halves
 * contributes nothing. */
static const char *window_of_integers(wick_export_op *o, wick_elem e)
{
  const char *x[2] = {wick_export_in(o, 0)}, *w[2] = {wick_export_in(o, 1)};
  if (wick_elem_storage[e].bits <= 16)
    return wick_export_cast(o, window_exact(o, x[0], w[0], e), WICK_I64, e);
  window_halves(o, wick_export_in(o, 0), e, x);
  window_halves(o, wick_export_in(o, 1), e, w);
  const char *low = window_exact(o, x[0], w[0], e), *left = window_exact(o, x[0], w[1], e),
             *right = window_exact(o, x[1], w[0], e), *high = wick_export_2(o, "Add", left, right);
  high = wick_export_2(o, "Mul", high, wick_export_i64(o->x, 0x10000));
  return wick_export_cast(o, wick_export_2(o, "Add", low, high), WICK_I64, e);
}

static void window_integers(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 0)->elem;
  if (wick_elem_storage[e].bits > 32) {
    wick_export_fail(o, "ONNX has no convolution of %s", wick_elem_name(e));
    return;
  }
  const char *y = window_of_bytes(o);
  if (!y) y = window_of_integers(o, e);
  if (wick_export_given(o, 2)) { /* the bias, aligned with the channels */
    const wick_type_info *t = wick_export_out_info(o, 0);
    wick_dim dim[WICK_MAX_RANK] = {t->dim[1]};
    for (uint32_t k = 1; k + 1 < t->rank; k++) dim[k] = wick_dim_const(1);
    const char *bias = wick_export_reshape(o, wick_export_in(o, 2), t->rank - 1u, dim);
    y = wick_export_2(o, "Add", y, bias);
  }
  wick_export_result_is(o, 0, y);
}

void wick_export_window(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 0)->elem;
  bool conv = o->n->op == WICK_OP_conv || o->n->op == WICK_OP_conv_transpose;
  if (conv && wick_elem_is_int(e)) {
    window_integers(o);
    return;
  }
  wick_elem wide = wick_export_wide(o, e, o->row->elems);
  const char *in[3];
  if (o->failed) return;
  for (uint32_t i = 0; i < o->n->nin; i++)
    in[i] = wick_export_cast(o, wick_export_in(o, i), e, wide);
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, o->n->nin, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  const char *out[2];
  uint32_t nout = o->n->nout;
  if (wide == e) {
    wick_export_end_results(o, n, nout);
    return;
  }
  wick_export_end_list(o, n, nout, out);
  wick_export_result_is(o, 0, wick_export_cast(o, out[0], wide, e));
  if (nout > 1) wick_export_result_is(o, 1, out[1]);
}

/* ---- resize ---- */

static const char *window_f32s(wick_export_op *o, const char *stem, uint32_t n, const double *v)
{
  float *data = wick_new(o->x->mem, float, n);
  for (uint32_t i = 0; i < n; i++) data[i] = (float)v[i];
  return wick_export_tensor(o->x, stem, WICK_F32, 1, (const int64_t[]){n}, data, 4 * (uint64_t)n);
}

/* Returns whether ONNX computes the result's sizes from the scales, with its rounding. */
static bool window_scales_fit(const wick_export_op *o, const wick_attr *scale, const wick_attr *roi)
{
  const wick_type_info *x = wick_export_info(o, 0), *y = wick_export_out_info(o, 0);
  for (uint32_t k = 0; k < x->rank; k++) {
    double part = roi->n ? roi->floats[x->rank + k] - roi->floats[k] : 1;
    if (wick_dim_is_const(x->dim[k]) && wick_dim_is_const(y->dim[k]) &&
        (int64_t)floorf((float)x->dim[k].v * (float)(scale->floats[k] * part)) != y->dim[k].v)
      return false;
  }
  return true;
}

/* For one scale that is common to several axes: if it fits one axis exactly, ONNX derives it from
 * that axis's size, and the other sizes may be larger. */
static const char *window_ratio(wick_export_op *o, wick_onnx_node *n, const wick_attr *scale)
{
  const wick_type_info *x = wick_export_info(o, 0), *y = wick_export_out_info(o, 0);
  int64_t axis[WICK_MAX_RANK], size[WICK_MAX_RANK];
  uint32_t count = 0;
  bool exact = false;
  double ratio = 1;
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t from, to;
    if (scale->floats[k] == 1 && wick_dim_eq(x->dim[k], y->dim[k])) continue;
    if (!wick_dim_is_const(x->dim[k]) || !wick_dim_is_const(y->dim[k])) return NULL;
    from = x->dim[k].v, to = y->dim[k].v;
    if (count && scale->floats[k] != ratio) return NULL;
    ratio = scale->floats[k];
    bool fits = from > 0 && (double)to / (double)from == ratio;
    axis[count] = k;
    size[count++] = fits ? to : 1 << 30;
    exact |= fits;
  }
  if (!exact) return NULL;
  wick_export_set_ints(o, n, "axes", count, axis);
  wick_export_set_word(o, n, "keep_aspect_ratio_policy", "not_larger");
  return wick_export_i64s(o->x, count, size);
}

void wick_export_resize(wick_export_op *o)
{
  static const char crop[] = "crop";
  const wick_attr *shape = wick_export_attr(o, "shape"), *scale = wick_export_attr(o, "scale"),
                  *roi = wick_export_attr(o, "roi");
  const char *coordinates = wick_export_word(o, "coordinates");
  if (strcmp(coordinates, "tf_half_pixel") == 0) {
    wick_export_fail(o, "ONNX has no resize with the coordinates %s after opset 12", coordinates);
    return;
  }
  const char *in[] = {wick_export_in(o, 0),
                      roi->n ? window_f32s(o, "roi", roi->n, roi->floats) : "", "", ""};
  wick_onnx_node *n = wick_export_begin(o, "Resize", 1, in);
  if (!scale->n) {
    in[3] = wick_export_dims(o, shape->n, shape->dims);
  } else if (window_scales_fit(o, scale, roi)) {
    in[2] = window_f32s(o, "scales", scale->n, scale->floats);
  } else {
    const char *sizes = window_ratio(o, n, scale);
    if (!sizes) {
      wick_export_fail(o, "ONNX has no resize by scales to other sizes than theirs");
      return;
    }
    in[3] = sizes;
  }
  wick_onnx_node *inputs = wick_export_begin(o, "Resize", 4, in);
  n->input = inputs->input;
  wick_export_set_attrs(o, n, o->row->attrs);
  wick_export_set_word(o, n, "coordinate_transformation_mode",
                       coordinates[0] == crop[0] ? "tf_crop_and_resize" : coordinates);
  wick_export_set_word(o, n, "nearest_mode", wick_export_word(o, "nearest"));
  if (roi->n) wick_export_set_attrs(o, n, "outside=extrapolation_value");
  wick_export_end_results(o, n, 1);
}

/* ---- normalization ---- */

/* Exports normalizations. ONNX requires a scale; a missing one becomes a constant of ones. */
void wick_export_norm(wick_export_op *o)
{
  const wick_type_info *x = wick_export_info(o, 0);
  uint32_t axis = (uint32_t)wick_export_attr(o, "axis")->i;
  const char *in[] = {wick_export_in(o, 0), wick_export_in(o, 1), wick_export_in(o, 2)};
  if (!*in[1]) {
    const char *shape = wick_export_dims(o, x->rank - axis, x->dim + axis);
    in[1] = wick_export_2(o, "Expand", wick_export_number(o->x, x->elem, 1), shape);
  }
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, 3, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  wick_export_end_results(o, n, 1);
}

/* ---- attention ---- */

/* Exports attention as softmax(q k^T * scale + mask) v in matrix products, because ONNX's Attention
 * requires four dimensions. */
void wick_export_attention(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 0)->elem;
  uint32_t rank = wick_export_info(o, 1)->rank;
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) perm[k] = k;
  perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
  const char *k = wick_export_transpose(o, wick_export_in(o, 1), rank, perm),
             *s = wick_export_2(o, "MatMul", wick_export_in(o, 0), k);
  s = wick_export_2(o, "Mul", s, wick_export_number(o->x, e, wick_export_attr(o, "scale")->f));
  if (wick_export_given(o, 3)) {
    const char *mask = wick_export_in(o, 3);
    if (wick_export_info(o, 3)->elem == WICK_BOOL)
      s = wick_export_3(o, "Where", mask, s,
                        wick_export_number(o->x, e, wick_export_attr(o, "fill")->f));
    else
      s = wick_export_2(o, "Add", s, mask);
  }
  wick_onnx_node *n = wick_export_begin(o, "Softmax", 1, &s);
  wick_export_set_int(o, n, "axis", -1);
  s = wick_export_end(o, n);
  if (wick_export_attr(o, "empty")->i)
    s = wick_export_3(o, "Where", wick_export_1(o, "IsNaN", s), wick_export_number(o->x, e, 0), s);
  wick_export_result_is(o, 0, wick_export_2(o, "MatMul", s, wick_export_in(o, 2)));
}
