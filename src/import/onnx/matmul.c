/* Imports matrix products. */
#include "import/onnx/import.h"

static void matmul_matmul(wick_onnx_op *o)
{
  o->out[0] = wick_build2(o->b, WICK_OP_matmul, o->in[0], o->in[1]);
}

static wick_value matmul_side(wick_onnx_op *o, uint32_t i, const char *flag)
{
  static const int64_t swap[] = {1, 0};
  if (wick_onnx_info(o, i)->rank != 2)
    wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 2", i,
                   wick_onnx_info(o, i)->rank);
  return wick_onnx_int(o, flag, 0) && !o->failed ? wick_build_transpose(o->b, o->in[i], 2, swap)
                                                 : o->in[i];
}

static wick_value matmul_scale(wick_onnx_op *o, wick_value x, const char *name)
{
  double factor = wick_onnx_float(o, name, 1);
  if (factor == 1) return x;
  if (!wick_elem_is_float(wick_onnx_info(o, 0)->elem))
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "%s is %g, expected 1 for integers", name, factor);
  return wick_build2(o->b, WICK_OP_mul, x, wick_emit_number(o->b, x, factor));
}

/* Returns true if y still has the type `want` after an addition. Sizes that may differ get a
 * check at run time. */
static bool matmul_kept(wick_onnx_op *o, wick_value y, wick_type want)
{
  const wick_type_info *t = wick_built_info(o->b, y), *w = wick_type_get(o->c->module, want);
  bool same = t->rank == w->rank;
  for (uint32_t k = 0; same && k < t->rank; k++) same = wick_onnx_equal(o, t->dim[k], w->dim[k]);
  return same;
}

/* alpha * A' * B' + beta * C. C broadcasts. Before opset 7 ONNX requires the attribute `broadcast`
 * for that, which is not checked. */
static void matmul_gemm(wick_onnx_op *o)
{
  wick_value a = matmul_side(o, 0, "transA"), b = matmul_side(o, 1, "transB");
  if (o->failed) return;
  wick_value y = matmul_scale(o, wick_build2(o->b, WICK_OP_matmul, a, b), "alpha");
  if (wick_onnx_has(o, 2) && wick_onnx_float(o, "beta", 1) != 0) {
    wick_type want = wick_built_type(o->b, y);
    y = wick_build2(o->b, WICK_OP_add, y, matmul_scale(o, o->in[2], "beta"));
    if (!o->b->status && !matmul_kept(o, y, want))
      wick_onnx_fail(o, WICK_ETYPE, "C does not broadcast to the product");
  }
  o->out[0] = y;
}

const wick_onnx_row wick_onnx_matmul_rows[] = {
    {"Gemm", 1, {3, 3}, 1, "alpha:f beta:f broadcast:i transA:i transB:i", matmul_gemm, 0, 0},
    {"Gemm", 7, {3, 3}, 1, "alpha:f beta:f transA:i transB:i", matmul_gemm, 0, 0},
    {"Gemm", 11, {2, 3}, 1, "alpha:f beta:f transA:i transB:i", matmul_gemm, 0, 0},
    {"MatMul", 1, {2, 2}, 1, "", matmul_matmul, 0, 0},
    {0},
};
