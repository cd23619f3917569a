/* The table of all rows: by operator and opset. */
#include <string.h>

#include "import/onnx/import.h"

static const wick_onnx_row *const rows_families[] = {
    wick_onnx_activation_rows, wick_onnx_arith_rows,     wick_onnx_constant_rows,
    wick_onnx_conv_rows,       wick_onnx_generate_rows,  wick_onnx_index_rows,
    wick_onnx_matmul_rows,     wick_onnx_norm_rows,      wick_onnx_pool_rows,
    wick_onnx_quantize_rows,   wick_onnx_recurrent_rows, wick_onnx_reduce_rows,
    wick_onnx_resize_rows,     wick_onnx_shape_rows,     wick_onnx_softmax_rows,
};

const wick_onnx_row *wick_onnx_row_find(wick_span op_type, int64_t opset, bool *out_known)
{
  const wick_onnx_row *found = NULL;
  *out_known = false;
  for (size_t f = 0; f < WICK_COUNT(rows_families) && !*out_known; f++)
    for (const wick_onnx_row *r = rows_families[f]; r->op_type; r++) {
      if (!wick_span_is(op_type, r->op_type)) continue;
      *out_known = true;
      if (r->since <= opset) found = r;
    }
  return found;
}

bool wick_onnx_supported(size_t i, wick_onnx_support *out)
{
  for (size_t f = 0; f < WICK_COUNT(rows_families); f++)
    for (const wick_onnx_row *r = rows_families[f]; r->op_type; r++) {
      if (!r->import || i--) continue;
      bool more = r[1].op_type && strcmp(r[1].op_type, r->op_type) == 0;
      *out = (wick_onnx_support){r->op_type, r->since, more ? r[1].since - 1 : WICK_ONNX_OPSET};
      return true;
    }
  return false;
}
