/* Helpers for ONNX operators that are compositions, beside those of import/kit/emit.h. */
#include "import/onnx/import.h"

/* Some exporters write a vector of one element instead of a scalar. */
wick_value wick_onnx_scalar(wick_onnx_op *o, uint32_t i)
{
  return wick_onnx_info(o, i)->rank ? wick_build_reshape(o->b, o->in[i], 0, NULL) : o->in[i];
}

wick_value wick_onnx_table(wick_onnx_op *o, wick_elem elem, uint32_t rank, const int64_t *dim,
                           const double *numbers)
{
  const char *name = o->nout ? wick_onnx_name(o->c, o->node->output.at[0]) : "";
  return wick_emit_table(o->b, name, elem, rank, dim, numbers);
}
