/* Complex numbers of 64 bits: two tensors, as far as models for signals have them between real inputs
 * and outputs. */
#include <string.h>

#include "import/kit/complex.h"
#include "import/kit/dft.h"
#include "import/tensorflow/ops.h"
#include "import/tensorflow/state.h"

/* ---- operands and results ---- */

/* Operand i, also if it is real. */
static wick_complex complex_in(wick_import_node *n, uint32_t i)
{
  const wick_tf_value *v = &wick_tf_op_of(n)->in[i];
  if (v->kind == WICK_TF_COMPLEX) return (wick_complex){v->v, v->im};
  wick_value x = wick_build_cast(n->b, n->in[i], WICK_F32);
  return (wick_complex){x, wick_emit_by(n->b, WICK_OP_mul, x, 0)};
}

static void complex_out(wick_import_node *n, wick_complex x)
{
  if (!n->failed && !n->b->status)
    wick_tf_op_of(n)->out[0] = (wick_tf_value){.kind = WICK_TF_COMPLEX, .v = x.re, .im = x.im};
}

static bool complex_any(const wick_import_node *n)
{
  for (uint32_t i = 0; i < n->nin; i++)
    if (wick_tf_op_of(n)->in[i].kind == WICK_TF_COMPLEX) return true;
  return false;
}

/* ---- operators that treat both parts alike ---- */

/* Sorted as rows.c is. What looks at the type alone takes the real part: `shape`. */
static const struct {
  const char *op;
  enum { COMPLEX_PARTS, COMPLEX_SHAPE, COMPLEX_ROW } how;
} complex_ops[] = {
    {"Add", COMPLEX_PARTS},
    {"AddN", COMPLEX_PARTS},
    {"AddV2", COMPLEX_PARTS},
    {"Angle", COMPLEX_ROW},
    {"BroadcastTo", COMPLEX_PARTS},
    {"Cast", COMPLEX_ROW},
    {"ComplexAbs", COMPLEX_ROW},
    {"ConcatV2", COMPLEX_PARTS},
    {"Conj", COMPLEX_ROW},
    {"Exp", COMPLEX_ROW},
    {"ExpandDims", COMPLEX_PARTS},
    {"FFT", COMPLEX_ROW},
    {"FFT2D", COMPLEX_ROW},
    {"FFT3D", COMPLEX_ROW},
    {"GatherV2", COMPLEX_PARTS},
    {"IFFT", COMPLEX_ROW},
    {"IFFT2D", COMPLEX_ROW},
    {"IFFT3D", COMPLEX_ROW},
    {"IRFFT", COMPLEX_ROW},
    {"IRFFT2D", COMPLEX_ROW},
    {"IRFFT3D", COMPLEX_ROW},
    {"Identity", COMPLEX_ROW},
    {"IdentityN", COMPLEX_ROW},
    {"Imag", COMPLEX_ROW},
    {"Mean", COMPLEX_PARTS},
    {"Mul", COMPLEX_ROW},
    {"Neg", COMPLEX_PARTS},
    {"Pack", COMPLEX_PARTS},
    {"Pad", COMPLEX_PARTS},
    {"PartitionedCall", COMPLEX_ROW},
    {"Rank", COMPLEX_SHAPE},
    {"Real", COMPLEX_ROW},
    {"Reshape", COMPLEX_PARTS},
    {"ReverseV2", COMPLEX_PARTS},
    {"Roll", COMPLEX_PARTS},
    {"Shape", COMPLEX_SHAPE},
    {"Size", COMPLEX_SHAPE},
    {"Slice", COMPLEX_PARTS},
    {"Split", COMPLEX_PARTS},
    {"Squeeze", COMPLEX_PARTS},
    {"StatefulPartitionedCall", COMPLEX_ROW},
    {"StopGradient", COMPLEX_ROW},
    {"StridedSlice", COMPLEX_PARTS},
    {"Sub", COMPLEX_PARTS},
    {"Sum", COMPLEX_PARTS},
    {"Tile", COMPLEX_PARTS},
    {"Transpose", COMPLEX_PARTS},
    {"Unpack", COMPLEX_PARTS},
};

bool wick_tf_complex_run(wick_import *c, const char *op, const wick_tf_op *o, wick_value *plain,
                         bool broken, wick_value *out)
{
  const wick_tf_vertex *v = o->vertex;
  bool any = false;
  for (uint32_t k = 0; k < v->nin; k++) any = any || o->in[k].kind == WICK_TF_COMPLEX;
  if (!any || broken) return false;
  size_t i = 0;
  while (i < WICK_COUNT(complex_ops) && strcmp(complex_ops[i].op, op) != 0) i++;
  if (i == WICK_COUNT(complex_ops)) {
    wick_import_error(c, WICK_EUNSUPPORTED, wick_import_place(c, v->name, v->op),
                      "it takes no complex numbers here");
    for (uint32_t k = 0; k < v->nout; k++) o->out[k].kind = WICK_TF_BROKEN;
    return true;
  }
  if (complex_ops[i].how == COMPLEX_ROW) return false;
  wick_value *imaginary = wick_new(c->tmp, wick_value, v->nout + 1u);
  for (uint32_t part = 0; part < 2; part++) {
    for (uint32_t k = 0; k < v->nin; k++)
      if (o->in[k].kind == WICK_TF_COMPLEX) plain[k] = part ? o->in[k].im : o->in[k].v;
    if (!wick_import_run(c, op, 1, v->name, o, v->nin, plain, false, v->nout,
                         part ? imaginary : out))
      return true;
    if (complex_ops[i].how == COMPLEX_SHAPE) return true;
  }
  for (uint32_t k = 0; k < v->nout; k++)
    o->out[k] = (wick_tf_value){.kind = WICK_TF_COMPLEX, .v = out[k], .im = imaginary[k]};
  return true;
}

/* ---- parts ---- */

void wick_tf_import_complex(wick_import_node *n) /* from two parts */
{
  complex_out(n, (wick_complex){wick_build_cast(n->b, n->in[0], WICK_F32),
                                wick_build_cast(n->b, n->in[1], WICK_F32)});
}

enum { COMPLEX_RE, COMPLEX_IM, COMPLEX_ABS, COMPLEX_ANGLE };

/* arg: which of these numbers */
void wick_tf_import_complex_part(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_complex x = complex_in(n, 0);
  if (n->row->arg == COMPLEX_RE) n->out[0] = x.re;
  if (n->row->arg == COMPLEX_IM) n->out[0] = x.im;
  if (n->row->arg == COMPLEX_ANGLE) n->out[0] = wick_emit_atan2(b, x.im, x.re);
  if (n->row->arg != COMPLEX_ABS) return;
  wick_value re = wick_build2(b, WICK_OP_mul, x.re, x.re);
  wick_value im = wick_build2(b, WICK_OP_mul, x.im, x.im);
  n->out[0] = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_add, re, im));
}

void wick_tf_import_conj(wick_import_node *n)
{
  wick_complex x = complex_in(n, 0);
  if (complex_any(n))
    complex_out(n, (wick_complex){x.re, wick_build1(n->b, WICK_OP_neg, x.im)});
  else
    n->out[0] = n->in[0];
}

/* ---- arithmetic ---- */

void wick_tf_import_mul(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!complex_any(n)) {
    wick_tf_import_binary(n);
    return;
  }
  wick_complex x = complex_in(n, 0), y = complex_in(n, 1);
  wick_value a = wick_build2(b, WICK_OP_mul, x.re, y.re),
             d = wick_build2(b, WICK_OP_mul, x.im, y.im);
  wick_value e = wick_build2(b, WICK_OP_mul, x.re, y.im),
             f = wick_build2(b, WICK_OP_mul, x.im, y.re);
  wick_value re = wick_build2(b, WICK_OP_sub, a, d), im = wick_build2(b, WICK_OP_add, e, f);
  complex_out(n, (wick_complex){re, im});
}

void wick_tf_import_exp(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!complex_any(n)) {
    wick_tf_import_unary(n);
    return;
  }
  wick_complex x = complex_in(n, 0);
  wick_value size = wick_build1(b, WICK_OP_exp, x.re);
  wick_value c = wick_build1(b, WICK_OP_cos, x.im), s = wick_build1(b, WICK_OP_sin, x.im);
  wick_value re = wick_build2(b, WICK_OP_mul, size, c), im = wick_build2(b, WICK_OP_mul, size, s);
  complex_out(n, (wick_complex){re, im});
}

/* A cast from or to complex numbers; false: neither. */
bool wick_tf_complex_cast(wick_import_node *n)
{
  const wick_tf_attr *to = wick_tf_attr_find(n, "DstT");
  wick_elem e;
  if (to && to->type == WICK_TF_COMPLEX64)
    complex_out(n, complex_in(n, 0));
  else if (complex_any(n) && wick_tf_attr_elem(n, "DstT", &e))
    n->out[0] = wick_build_cast(n->b, complex_in(n, 0).re, e);
  else
    return complex_any(n);
  return true;
}

/* Elements of two floats each, in the bytes or the list of the tensor. */
bool wick_tf_complex_const(wick_import_node *n, const wick_tf_tensor *t)
{
  if (t->dtype != WICK_TF_COMPLEX64) return false;
  wick_tf_tensor pairs = *t;
  wick_tf_shape shape = t->tensor_shape ? *t->tensor_shape : (wick_tf_shape){0};
  wick_tf_dim two = {.size = 2};
  size_t rank = shape.dim.n;
  if (rank >= WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its tensor has too many dimensions");
    return true;
  }
  wick_tf_dim *dim = wick_new(n->c->tmp, wick_tf_dim, rank + 1);
  for (size_t i = 0; i < rank; i++) dim[i] = shape.dim.at[i];
  dim[rank] = two;
  shape.dim.at = dim, shape.dim.n = rank + 1;
  pairs.tensor_shape = &shape, pairs.dtype = WICK_TF_FLOAT, pairs.float_val = t->scomplex_val;
  uint32_t constant = 0;
  wick_value x = wick_tf_constant(n->c, &pairs, n->name, n->location, &constant), part[2];
  if (!x.id || n->b->status) {
    n->failed = n->failed || !x.id;
    return true;
  }
  for (uint32_t k = 0; k < 2; k++)
    part[k] = wick_emit_squeeze(
        n->b, wick_emit_slice(n->b, x, (uint32_t)rank, wick_dim_const(k), wick_dim_const(1)),
        (uint32_t)rank);
  complex_out(n, (wick_complex){part[0], part[1]});
  return true;
}

/* ---- Fourier transforms ---- */

/* The numbers of elements to transform along the last `count` axes: operand 1, else the sizes. */
static bool complex_sizes(wick_import_node *n, wick_value x, uint32_t count, int64_t *size)
{
  const wick_type_info *t = wick_built_info(n->b, x);
  uint32_t given = 0;
  const int64_t *sizes = NULL;
  if (n->b->status || t->rank < count) {
    if (!n->b->status)
      wick_import_fail(n, WICK_ETYPE, "the operand has %u dimensions, expected %u", t->rank, count);
    return false;
  }
  if (n->nin > 1 && !wick_import_numbers(n, 1, "the length", &given, &sizes)) return false;
  if (n->nin > 1 && given != count) {
    wick_import_fail(n, WICK_ETYPE, "%u lengths, expected %u", given, count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    wick_dim d = t->dim[t->rank - count + k];
    if (!wick_dim_is_const(d))
      return wick_import_must_be_known(n, "the number of elements to transform", d);
    size[k] = given ? sizes[k] : d.v;
    if (size[k] >= 1 && size[k] <= WICK_DFT_LARGEST && d.v >= 1) continue;
    wick_import_fail(n, WICK_EUNSUPPORTED, "a transform of %lld elements, expected 1 to %d",
                     (long long)size[k], WICK_DFT_LARGEST);
    return false;
  }
  return true;
}

/* x with its last axis and that one exchanged. */
static wick_value complex_swapped(wick_import_node *n, wick_value x, uint32_t axis)
{
  int64_t perm[WICK_MAX_RANK];
  if (n->b->status) return x;
  uint32_t last = wick_built_info(n->b, x)->rank - 1u;
  for (uint32_t k = 0; k <= last; k++) perm[k] = k == axis ? last : k == last ? axis : k;
  return axis == last ? x : wick_build_transpose(n->b, x, last + 1, perm);
}

/* Transforms the last axes but the last one; the inverse is divided by the size. */
static wick_complex complex_outer(wick_import_node *n, wick_complex x, uint32_t count,
                                  const int64_t *size, bool inverse)
{
  for (uint32_t k = 0; k + 1 < count && !n->b->status; k++) {
    uint32_t axis = wick_built_info(n->b, x.re)->rank - count + k;
    x.re = complex_swapped(n, x.re, axis), x.im = complex_swapped(n, x.im, axis);
    if (n->b->status) break;
    x = wick_complex_dft(n, x, size[k], inverse);
    if (inverse) {
      x.re = wick_emit_by(n->b, WICK_OP_div, x.re, (double)size[k]);
      x.im = wick_emit_by(n->b, WICK_OP_div, x.im, (double)size[k]);
    }
    x.re = complex_swapped(n, x.re, axis), x.im = complex_swapped(n, x.im, axis);
  }
  return x;
}

/* arg of the rows that follow: how many axes, and 16 for the inverse */
static uint32_t complex_axes(const wick_import_node *n) { return (uint32_t)n->row->arg & 15; }

void wick_tf_import_rfft(wick_import_node *n)
{
  int64_t size[WICK_MAX_RANK];
  uint32_t count = complex_axes(n);
  wick_value x = wick_build_cast(n->b, n->in[0], WICK_F32);
  if (!complex_sizes(n, x, count, size)) return;
  wick_complex y = wick_complex_rfft(n, x, size[count - 1]);
  complex_out(n, complex_outer(n, y, count, size, false));
}

void wick_tf_import_irfft(wick_import_node *n)
{
  int64_t size[WICK_MAX_RANK];
  uint32_t count = complex_axes(n);
  wick_complex x = complex_in(n, 0);
  if (!complex_sizes(n, x.re, count, size)) return;
  x = complex_outer(n, x, count, size, true);
  if (!n->b->status) n->out[0] = wick_complex_irfft(n, x, size[count - 1]);
}

void wick_tf_import_fft(wick_import_node *n)
{
  int64_t size[WICK_MAX_RANK];
  uint32_t count = complex_axes(n);
  bool inverse = n->row->arg & 16;
  wick_complex x = complex_in(n, 0);
  if (!complex_sizes(n, x.re, count, size)) return;
  x = complex_outer(n, x, count, size, inverse);
  if (n->b->status) return;
  x = wick_complex_dft(n, x, size[count - 1], inverse);
  if (inverse) {
    x.re = wick_emit_by(n->b, WICK_OP_div, x.re, (double)size[count - 1]);
    x.im = wick_emit_by(n->b, WICK_OP_div, x.im, (double)size[count - 1]);
  }
  complex_out(n, x);
}
