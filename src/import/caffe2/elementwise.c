/* Imports Caffe2's operators element by element. */
#include <math.h>

#include "import/caffe2/ops.h"

void wick_caffe2_unary(wick_import_node *n) { n->out[0] = wick_build1(n->b, n->row->op, n->in[0]); }

void wick_caffe2_same(wick_import_node *n) { n->out[0] = n->in[0]; }

/* Aligns the second operand for the form of broadcasting that networks before NumPy's have: its first
 * dimension is dimension `axis` of the first operand. */
static wick_value elementwise_aligned(wick_import_node *n)
{
  const wick_type_info *a = wick_import_info(n, 0), *b = wick_import_info(n, 1);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t axis;
  if (!wick_import_int(n, "broadcast", 0) || !wick_import_attr_has(n, "axis") || !b->rank)
    return n->in[1];
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), a->rank, &axis)) return n->in[1];
  if (b->rank > a->rank - axis) {
    wick_import_fail(n, WICK_ETYPE, "an operand of rank %u does not fit at axis %u of rank %u",
                     b->rank, axis, a->rank);
    return n->in[1];
  }
  for (uint32_t k = 0; k < a->rank - axis; k++)
    dim[k] = k < b->rank ? b->dim[k] : wick_dim_const(1);
  return wick_build_reshape(n->b, n->in[1], a->rank - axis, dim);
}

void wick_caffe2_binary(wick_import_node *n)
{
  wick_value y = elementwise_aligned(n);
  if (!n->failed) n->out[0] = wick_build2(n->b, n->row->op, n->in[0], y);
}

void wick_caffe2_compare(wick_import_node *n)
{
  wick_caffe2_binary(n);
  if (n->row->arg && !n->failed) n->out[0] = wick_build1(n->b, WICK_OP_not, n->out[0]);
}

void wick_caffe2_nary(wick_import_node *n)
{
  wick_value y = n->in[0];
  for (uint32_t i = 1; i < n->nin; i++) y = wick_build2(n->b, n->row->op, y, n->in[i]);
  n->out[0] = n->row->arg ? wick_emit_by(n->b, WICK_OP_div, y, (double)n->nin) : y;
}

void wick_caffe2_scaled(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  static const double alpha[] = {[0] = 1, [1] = 0.2, [2] = 0.01, [3] = 1.6732632423543772};
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", alpha[n->row->arg]));
  if (n->row->arg == 1) wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0.5));
  if (n->row->arg == 3)
    wick_emit_set_float(&e, "gamma", wick_import_real(n, "scale", 1.0507009873554805));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* One slope, or one for each channel, which are the last dimension in NHWC. */
void wick_caffe2_prelu(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0), *s = wick_import_info(n, 1);
  wick_dim dim[WICK_MAX_RANK];
  wick_value slope = n->in[1];
  bool last = wick_import_word(n, "order", "NCHW NHWC") == 1;
  if (s->rank == 1 && !wick_dim_is(s->dim[0], 1) && x->rank > 2 && !last) {
    dim[0] = s->dim[0];
    for (uint32_t k = 1; k + 1 < x->rank; k++) dim[k] = wick_dim_const(1);
    slope = wick_build_reshape(n->b, slope, x->rank - 1, dim);
  }
  n->out[0] = wick_build2(n->b, WICK_OP_prelu, n->in[0], slope);
}

void wick_caffe2_clip(wick_import_node *n)
{
  wick_value in[3] = {n->in[0]};
  in[1] = wick_emit_number(n->b, n->in[0], wick_import_real(n, "min", -(double)INFINITY));
  in[2] = wick_emit_number(n->b, n->in[0], wick_import_real(n, "max", (double)INFINITY));
  n->out[0] = wick_build(n->b, WICK_OP_clip, 3, in, NULL, 0, NULL);
}

void wick_caffe2_scale(wick_import_node *n)
{
  n->out[0] = wick_emit_by(n->b, WICK_OP_mul, n->in[0], wick_import_real(n, "scale", 1));
}

void wick_caffe2_pow(wick_import_node *n)
{
  if (n->nin > 1)
    wick_caffe2_binary(n);
  else
    n->out[0] = wick_emit_by(n->b, WICK_OP_pow, n->in[0], wick_import_real(n, "exponent", 1));
}

void wick_caffe2_sqr(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_mul, n->in[0], n->in[0]);
}

/* sign(x) * |x|^(1/3) */
void wick_caffe2_cbrt(wick_import_node *n)
{
  wick_value size = wick_build1(n->b, WICK_OP_abs, n->in[0]);
  size = wick_emit_by(n->b, WICK_OP_pow, size, 1.0 / 3);
  wick_value sign = wick_build1(n->b, WICK_OP_sign, n->in[0]);
  n->out[0] = wick_build2(n->b, WICK_OP_mul, sign, size);
}

void wick_caffe2_swish(wick_import_node *n)
{
  wick_value gate = wick_build1(n->b, WICK_OP_sigmoid, n->in[0]);
  n->out[0] = wick_build2(n->b, WICK_OP_mul, n->in[0], gate);
}

bool wick_caffe2_elem(wick_import_node *n, int64_t type, wick_elem *out)
{
  static const struct {
    int type;
    wick_elem elem;
  } types[] = {{1, WICK_F32},  {2, WICK_I32},  {3, WICK_U8},  {5, WICK_BOOL},
               {6, WICK_U8},   {7, WICK_I8},   {8, WICK_U16}, {9, WICK_I16},
               {10, WICK_I64}, {12, WICK_F16}, {13, WICK_F64}};
  for (size_t i = 0; i < WICK_COUNT(types); i++)
    if (types[i].type == type) return *out = types[i].elem, true;
  wick_import_fail(n, WICK_EUNSUPPORTED, "elements of type %lld are not supported",
                   (long long)type);
  return false;
}

/* `to` is a number, or a name in files of later versions. */
void wick_caffe2_cast(wick_import_node *n)
{
  static const char words[] = "undefined float int32 byte string none bool uint8 int8 uint16 int16 "
                              "int64 none float16 double";
  static const int types[] = {0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 9, 10, 0, 12, 13};
  wick_elem to;
  wick_import_attr a = wick_import_attr_of(n, "to", 'i');
  int64_t type = a.kind == 's' ? types[wick_import_word(n, "to", words)] : a.i;
  if (!n->failed && wick_caffe2_elem(n, type, &to)) n->out[0] = wick_build_cast(n->b, n->in[0], to);
}

void wick_caffe2_where(wick_import_node *n)
{
  n->out[0] = wick_build3(n->b, WICK_OP_where, n->in[0], n->in[1], n->in[2]);
}

void wick_caffe2_replace_nan(wick_import_node *n)
{
  wick_value is = wick_build1(n->b, WICK_OP_isnan, n->in[0]);
  wick_value by = wick_emit_number(n->b, n->in[0], wick_import_real(n, "value", 0));
  n->out[0] = wick_build3(n->b, WICK_OP_where, is, by, n->in[0]);
}
