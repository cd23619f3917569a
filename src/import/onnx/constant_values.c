/* Values that are known during the import: constants, and what given contents of inputs determine. */
#include "import/onnx/import.h"
#include "ops/elementwise/scalar.h"
#include "ops/ref.h"

bool wick_onnx_known(wick_onnx_context *c, wick_value v, wick_tensor *out)
{
  return wick_known_value(&c->b, c->tmp, v, out) || wick_onnx_given_value(c, v, out);
}

bool wick_onnx_known_int(wick_onnx_context *c, wick_value v, int64_t *out)
{
  wick_tensor t;
  if (!v.id || !wick_onnx_known(c, v, &t) || wick_ref_numel(&t) != 1 || wick_elem_is_float(t.elem))
    return false;
  *out = wick_load_elem(t.elem, t.data, 0).i;
  return true;
}
