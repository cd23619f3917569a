/* The table of all rows: by operator and opset. */
#include <string.h>

#include "import/onnx/import.h"

static const wick_onnx_row *const rows_families[] = {
    wick_onnx_activation_rows, wick_onnx_arith_rows,    wick_onnx_attention_rows,
    wick_onnx_constant_rows,   wick_onnx_conv_rows,     wick_onnx_einsum_rows,
    wick_onnx_flow_rows,       wick_onnx_generate_rows, wick_onnx_index_rows,
    wick_onnx_loss_rows,       wick_onnx_matmul_rows,   wick_onnx_norm_rows,
    wick_onnx_pool_rows,       wick_onnx_quantize_rows, wick_onnx_random_rows,
    wick_onnx_recurrent_rows,  wick_onnx_reduce_rows,   wick_onnx_resize_rows,
    wick_onnx_scatter_rows,    wick_onnx_sequence_rows, wick_onnx_shape_rows,
    wick_onnx_signal_rows,     wick_onnx_softmax_rows,  wick_onnx_training_rows,
};

/* "ai.onnx.ml.Binarizer" is Binarizer of ai.onnx.ml. */
static bool rows_is(const char *name, wick_span domain, wick_span op_type)
{
  if (wick_onnx_domain_is_own(domain)) return wick_span_is(op_type, name);
  size_t n = domain.nbytes;
  return strlen(name) == n + 1 + op_type.nbytes && memcmp(name, domain.at, n) == 0 &&
         name[n] == '.' && wick_span_is(op_type, name + n + 1);
}

const wick_onnx_row *wick_onnx_row_find(wick_span domain, wick_span op_type, int64_t opset,
                                        bool *out_known)
{
  const wick_onnx_row *found = NULL;
  *out_known = false;
  for (size_t f = 0; f < WICK_COUNT(rows_families) && !*out_known; f++)
    for (const wick_onnx_row *r = rows_families[f]; r->op_type; r++) {
      if (!rows_is(r->op_type, domain, op_type)) continue;
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
