/* Imports com.microsoft's activations, products and moves, and those that ONNX has, too. */
#include "import/onnx/microsoft.h"

#include <string.h>

#include "import/kit/nhwc.h"

static const char microsoft_domain[] = "com.microsoft.";

void wick_microsoft_same(wick_onnx_op *o)
{
  const char *name = o->row->op_type + strlen(microsoft_domain);
  wick_onnx_as(o, name, o->row->arg, o->nin, o->in);
}

wick_value wick_microsoft_biased(wick_onnx_op *o, wick_value x, uint32_t i)
{
  return wick_onnx_has(o, i) ? wick_build2(o->b, WICK_OP_add, x, o->in[i]) : x;
}

bool wick_microsoft_needs(wick_onnx_op *o, uint32_t operands)
{
  for (uint32_t i = 0; i < 32; i++)
    if (operands >> i & 1 && !wick_onnx_has(o, i))
      wick_onnx_fail(o, WICK_EPARSE, "input %u is missing", i);
  return !o->failed;
}

/* ---- activations ---- */

/* gelu(x + bias), exact or by tanh (row->arg) */
static void microsoft_gelu(wick_onnx_op *o)
{
  wick_value x = wick_microsoft_biased(o, o->in[0], 1);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_gelu);
  wick_emit_set_int(&e, "approximate", o->row->arg);
  o->out[0] = wick_emit_end1(&e, x);
}

static void microsoft_quick_gelu(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_swish);
  wick_emit_set_float(&e, "alpha", wick_onnx_float(o, "alpha", 1.702f));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* The activation that a fused operator names, with its parameters. */
typedef struct microsoft_act {
  const char *name;
  double parameter[2];
} microsoft_act;

static wick_value microsoft_by(wick_onnx_op *o, wick_opcode op, wick_value x, const char *alpha,
                               double a, const char *beta, double b)
{
  wick_emit e = wick_emit_begin(o->b, op);
  if (alpha) wick_emit_set_float(&e, alpha, a);
  if (beta) wick_emit_set_float(&e, beta, b);
  return wick_emit_end1(&e, x);
}

/* Applies the attribute `activation`. p has its parameters, of which the first n are given. */
static wick_value microsoft_activated(wick_onnx_op *o, wick_value x, uint32_t n, const double *p)
{
  static const char words[] = "none Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid Elu Selu Softplus "
                              "Softsign ThresholdedRelu ScaledTanh HardSwish";
  enum {
    RELU = 1,
    SIGMOID,
    TANH,
    LEAKY,
    CLIP,
    HARD_SIGMOID,
    ELU,
    SELU,
    SOFTPLUS,
    SOFTSIGN,
    THRESHOLDED,
    SCALED_TANH,
    HARD_SWISH
  };
  wick_builder *b = o->b;
  switch (wick_onnx_attr_find(o, "activation") ? wick_onnx_word(o, "activation", words) : 0) {
  case RELU: return wick_build1(b, WICK_OP_relu, x);
  case SIGMOID: return wick_build1(b, WICK_OP_sigmoid, x);
  case TANH: return wick_build1(b, WICK_OP_tanh, x);
  case LEAKY: return microsoft_by(o, WICK_OP_leaky_relu, x, "alpha", n > 0 ? p[0] : 0.01, NULL, 0);
  case CLIP:
    if (n > 0) x = wick_emit_by(o->b, WICK_OP_max, x, p[0]);
    return n > 1 ? wick_emit_by(o->b, WICK_OP_min, x, p[1]) : x;
  case HARD_SIGMOID:
    return microsoft_by(o, WICK_OP_hard_sigmoid, x, "alpha", n > 0 ? p[0] : 0.2, "beta",
                        n > 1 ? p[1] : 0.5);
  case ELU: return microsoft_by(o, WICK_OP_elu, x, "alpha", n > 0 ? p[0] : 1, NULL, 0);
  case SELU: return wick_build1(b, WICK_OP_selu, x);
  case SOFTPLUS: return wick_build1(b, WICK_OP_softplus, x);
  case SOFTSIGN: return wick_build1(b, WICK_OP_softsign, x);
  case THRESHOLDED:
    return microsoft_by(o, WICK_OP_thresholded_relu, x, "alpha", n > 0 ? p[0] : 1, NULL, 0);
  case SCALED_TANH:
    x = wick_build1(b, WICK_OP_tanh, wick_emit_by(o->b, WICK_OP_mul, x, n > 1 ? p[1] : 1));
    return wick_emit_by(o->b, WICK_OP_mul, x, n > 0 ? p[0] : 1);
  case HARD_SWISH: return wick_build1(b, WICK_OP_hard_swish, x);
  default: return x;
  }
}

/* activation(conv(x, w, bias) + z); if row->arg, x, z and the result have their channels last. */
static void microsoft_conv(wick_onnx_op *o)
{
  const wick_onnx_attr *given = wick_onnx_attr_find(o, "activation_params");
  double p[2] = {0};
  uint32_t n = 0;
  for (; given && n < 2 && n < given->floats.n; n++) p[n] = (double)given->floats.at[n];
  bool last = o->row->arg && wick_onnx_info(o, 0)->rank > 2;
  wick_value in[3] = {o->in[0], o->in[1], wick_microsoft_optional(o, 2)};
  if (last) in[0] = wick_nhwc_move(o->b, in[0], true);
  wick_value y = wick_onnx_as(o, "Conv", 11, in[2].id ? 3 : 2, in);
  if (!y.id) return;
  if (last) y = wick_nhwc_last(o->b, y);
  o->out[0] = microsoft_activated(o, wick_microsoft_biased(o, y, 3), n, p);
}

static void microsoft_gemm(wick_onnx_op *o)
{
  static const char *const names[] = {"activation_alpha", "activation_beta"};
  double p[2] = {0};
  uint32_t n = 0;
  for (; n < 2 && wick_onnx_attr_find(o, names[n]); n++) p[n] = wick_onnx_float(o, names[n], 0);
  wick_value y = wick_onnx_as(o, "Gemm", 13, o->nin, o->in);
  if (y.id) o->out[0] = microsoft_activated(o, y, n, p);
}

/* ---- products ---- */

/* Brings the first dimension of a matrix before its last one, which follows the other dimensions of a
 * batch. */
static wick_value microsoft_batch_last(wick_onnx_op *o, wick_value x)
{
  int64_t perm[WICK_MAX_RANK];
  uint32_t rank = o->b->status ? 0 : wick_built_info(o->b, x)->rank;
  if (rank < 3) return x;
  for (uint32_t k = 0; k + 2 < rank; k++) perm[k] = k + 1;
  perm[rank - 2] = 0, perm[rank - 1] = rank - 1;
  return wick_build_transpose(o->b, x, rank, perm);
}

static wick_value microsoft_factor(wick_onnx_op *o, uint32_t i, const char *swap, const char *batch)
{
  wick_value x = o->in[i];
  if (wick_onnx_int(o, batch, 0)) x = microsoft_batch_last(o, x);
  if (o->b->status || !wick_onnx_int(o, swap, 0) || wick_built_info(o->b, x)->rank < 2) return x;
  return wick_build_swap(o->b, x);
}

static void microsoft_matmul(wick_onnx_op *o)
{
  wick_value a = microsoft_factor(o, 0, "transA", "transBatchA");
  wick_value b = microsoft_factor(o, 1, "transB", "transBatchB");
  wick_value y = wick_build2(o->b, WICK_OP_matmul, a, b);
  double alpha = wick_onnx_float(o, "alpha", 1);
  o->out[0] = alpha == 1 ? y : wick_emit_by(o->b, WICK_OP_mul, y, alpha);
}

/* Products of 16-bit integers, with sums in 32 bits. */
static void microsoft_matmul_16(wick_onnx_op *o)
{
  wick_value a = wick_build_cast(o->b, o->in[0], WICK_I32);
  wick_value b = wick_build_cast(o->b, o->in[1], WICK_I32);
  o->out[0] = wick_build2(o->b, WICK_OP_matmul, a, b);
}

/* Squared distances of the rows of two matrices: each is a sum of squares, which is never negative. */
static void microsoft_distances(wick_onnx_op *o)
{
  int metric = wick_onnx_word(o, "metric", "sqeuclidean euclidean");
  if (wick_onnx_info(o, 0)->rank != 2 || wick_onnx_info(o, 1)->rank != 2) {
    wick_onnx_fail(o, WICK_ETYPE, "ranks %u and %u, expected 2 and 2", wick_onnx_info(o, 0)->rank,
                   wick_onnx_info(o, 1)->rank);
    return;
  }
  wick_value a = wick_emit_unsqueeze(o->b, o->in[0], 1);
  wick_value b = wick_emit_unsqueeze(o->b, o->in[1], 0);
  wick_value d = wick_build2(o->b, WICK_OP_sub, a, b);
  wick_value y = wick_emit_reduce1(o->b, WICK_OP_reduce_sum_square, d, 2, false);
  o->out[0] = metric ? wick_build1(o->b, WICK_OP_sqrt, y) : y;
}

/* ---- gates ---- */

static void microsoft_gated_add(wick_onnx_op *o)
{
  wick_value scaled = wick_build2(o->b, WICK_OP_mul, o->in[1], o->in[2]);
  o->out[0] = wick_build2(o->b, WICK_OP_add, o->in[0], scaled);
}

/* decay_scale * softplus(a + bias), and sigmoid(b); in f32 */
static void microsoft_gate(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_elem e = wick_onnx_info(o, 0)->elem;
  wick_value a = wick_build_cast(b, o->in[0], WICK_F32);
  a = wick_build1(b, WICK_OP_softplus, wick_build2(b, WICK_OP_add, a, o->in[1]));
  o->out[0] = wick_build_cast(b, wick_build2(b, WICK_OP_mul, a, o->in[2]), e);
  if (!wick_microsoft_wants(o, 1)) return;
  if (!wick_onnx_has(o, 3)) {
    wick_onnx_fail(o, WICK_EPARSE, "the output beta needs the input b");
    return;
  }
  wick_value beta = wick_build_cast(b, o->in[3], WICK_F32);
  o->out[1] = wick_build_cast(b, wick_build1(b, WICK_OP_sigmoid, beta), e);
}

/* ---- moves ---- */

/* Inserts an axis of size 1, whose position must be known. */
static void microsoft_expand_dims(wick_onnx_op *o)
{
  int64_t at;
  uint32_t axis;
  if (!wick_onnx_one(o, 1, "the axis", 0, &at) ||
      !wick_onnx_axis(o, at, (int64_t)wick_onnx_info(o, 0)->rank + 1, &axis))
    return;
  o->out[0] = wick_emit_unsqueeze(o->b, o->in[0], axis);
}

/* All slices of `size` elements along an axis, each `step` after the one before; their elements are a
 * new last axis. */
static void microsoft_unfold(wick_onnx_op *o)
{
  int64_t size = wick_onnx_int(o, "size", 1), step = wick_onnx_int(o, "step", 1);
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t axis, rank = x->rank;
  int64_t perm[WICK_MAX_RANK];
  if (!wick_onnx_axis(o, wick_onnx_int(o, "dim", -1), rank, &axis)) return;
  if (size < 1 || step < 1 || rank == WICK_MAX_RANK ||
      (wick_dim_is_const(x->dim[axis]) && x->dim[axis].v < size)) {
    wick_onnx_fail(o, WICK_ERANGE,
                   "size %lld and step %lld, expected 1 or more and no larger size "
                   "than the axis has",
                   (long long)size, (long long)step);
    return;
  }
  wick_dims *t = o->c->module->dims;
  wick_dim count = wick_dim_sub(t, x->dim[axis], wick_dim_const(size));
  count = wick_dim_add(t, wick_dim_floordiv(t, count, wick_dim_const(step)), wick_dim_const(1));
  wick_value first =
      wick_emit_by(o->b, WICK_OP_mul, wick_emit_count_along(o->b, count, 0, 2), (double)step);
  wick_value next = wick_emit_count_along(o->b, wick_dim_const(size), 1, 2);
  wick_value index = wick_build2(o->b, WICK_OP_add, first, next);
  wick_value y = wick_emit_gather(o->b, WICK_OP_gather, o->in[0], index, axis);
  uint32_t n = 0;
  for (uint32_t k = 0; k <= rank; k++)
    if (k != axis + 1) perm[n++] = k;
  perm[n++] = axis + 1;
  o->out[0] = wick_build_transpose(o->b, y, n, perm);
}

/* Numbers may be vectors of one element, and the step is 1 if it is missing. */
static void microsoft_range(wick_onnx_op *o)
{
  wick_value in[3] = {{0}};
  for (uint32_t i = 0; i < o->nin; i++)
    if (wick_onnx_has(o, i)) in[i] = wick_onnx_scalar(o, i);
  if (!in[2].id) in[2] = wick_emit_number(o->b, in[0], 1);
  wick_onnx_as(o, "Range", 11, 3, in);
}

/* ---- pools ---- */

static void microsoft_nhwc_pool(wick_onnx_op *o)
{
  static const int64_t first[] = {0, 3, 1, 2}, last[] = {0, 2, 3, 1};
  if (wick_onnx_info(o, 0)->rank != 4) {
    wick_onnx_fail(o, WICK_ETYPE, "rank %u, expected 4", wick_onnx_info(o, 0)->rank);
    return;
  }
  wick_value x = wick_build_transpose(o->b, o->in[0], 4, first);
  wick_value y = wick_onnx_as(o, "MaxPool", 12, 1, &x);
  if (y.id) o->out[0] = wick_build_transpose(o->b, y, 4, last);
}

#define CONV "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I "
#define SAME(name, least, most, nout, attrs, opset)                                                \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, wick_microsoft_same, 0, opset            \
  }
#define ROW(name, least, most, nout, attrs, import)                                                \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, import, 0, 0                             \
  }

const wick_onnx_row wick_onnx_microsoft_rows[] = {
    ROW("BiasGelu", 2, 2, 1, "", microsoft_gelu),
    ROW("CDist", 2, 2, 1, "metric:s", microsoft_distances),
    ROW("ExpandDims", 2, 2, 1, "", microsoft_expand_dims),
    {"com.microsoft.FastGelu", 1, {1, 2}, 1, "", microsoft_gelu, 0, 1},
    ROW("FusedConv", 2, 4, 1, CONV "activation:s activation_params:F", microsoft_conv),
    ROW("FusedGemm", 2, 3, 1,
        "alpha:f beta:f transA:i transB:i activation:s activation_alpha:f activation_beta:f "
        "activation_gamma:f",
        microsoft_gemm),
    ROW("FusedMatMul", 2, 2, 1, "alpha:f transA:i transB:i transBatchA:i transBatchB:i",
        microsoft_matmul),
    ROW("GatedAdd", 3, 3, 1, "", microsoft_gated_add),
    SAME("GatherND", 2, 2, 1, "", 11),
    ROW("Gelu", 1, 1, 1, "", microsoft_gelu),
    SAME("GridSample", 2, 2, 1, "align_corners:i mode:s padding_mode:s", 16),
    ROW("LinearAttentionGate", 3, 4, 2, "", microsoft_gate),
    ROW("MatMulInteger16", 2, 2, 1, "", microsoft_matmul_16),
    {"com.microsoft.NhwcConv", 1, {2, 3}, 1, CONV, microsoft_conv, 0, 1},
    {"com.microsoft.NhwcFusedConv",
     1,
     {2, 4},
     1,
     CONV "activation:s activation_params:F",
     microsoft_conv,
     0,
     1},
    ROW("NhwcMaxPool", 1, 1, 1, CONV "ceil_mode:i", microsoft_nhwc_pool),
    SAME("Pad", 2, 3, 1, "mode:s", 11),
    ROW("QuickGelu", 1, 1, 1, "alpha:f", microsoft_quick_gelu),
    ROW("Range", 2, 3, 1, "", microsoft_range),
    ROW("SparseToDenseMatMul", 2, 2, 1, "alpha:f transA:i transB:i", microsoft_matmul),
    ROW("TransposeMatMul", 2, 2, 1, "alpha:f transA:i transB:i", microsoft_matmul),
    SAME("Trilu", 1, 2, 1, "upper:i", 14),
    ROW("UnfoldTensor", 1, 1, 1, "dim:i size:i! step:i", microsoft_unfold),
    {0},
};
