/* Helpers for ONNX operators that are compositions, beside those of import/kit/emit.h. */
#include <string.h>

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

wick_value wick_onnx_as(wick_onnx_op *o, const char *op_type, int64_t opset, uint32_t nin,
                        const wick_value *in)
{
  bool known;
  wick_onnx_op as = *o;
  wick_span name = {(const unsigned char *)op_type, strlen(op_type)};
  as.opset = opset, as.nin = nin;
  as.row = wick_onnx_row_find((wick_span){0}, name, opset, &known);
  if (o->failed || o->b->status || !as.row) return (wick_value){0};
  uint32_t most = as.row->nin[1] == WICK_ANY ? nin : as.row->nin[1];
  wick_value *all = wick_new(o->c->tmp, wick_value, (size_t)(most > nin ? most : nin) + 1);
  for (uint32_t i = 0; i < nin; i++) {
    all[i] = in[i];
    if (!in[i].id && i < as.row->nin[0]) return (wick_value){0};
  }
  as.in = all;
  as.row->import(&as);
  o->failed = as.failed;
  return as.failed ? (wick_value){0} : o->out[0];
}
