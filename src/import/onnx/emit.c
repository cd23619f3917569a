/* Builds constants from tensors of the file. */
#include "import/onnx/import.h"

/* Builds the constant. Returns 0 and adds an error if reading failed. */
static wick_value emit_data(wick_onnx_context *c, wick_status s, const wick_onnx_data *d,
                            const char *name, const char *location)
{
  if (s) {
    wick_errors_add(&c->errors, s);
    wick_onnx_problem_add(c, NULL, s, location);
    return (wick_value){0};
  }
  wick_type type = wick_type_tensor_const(c->module, d->elem, d->rank, d->dim);
  return wick_build_constant(&c->b, wick_emit_constant(c->module, name, type, d->data, d->nbytes));
}

wick_value wick_onnx_constant(wick_onnx_context *c, const wick_onnx_tensor *t, const char *name,
                              const char *location)
{
  wick_onnx_data d;
  wick_status s = wick_onnx_tensor_read(t, &c->outside, location, &c->module->mem, &d);
  return emit_data(c, s, &d, name, location);
}

wick_value wick_onnx_sparse_constant(wick_onnx_context *c, const wick_onnx_sparse_tensor *t,
                                     const char *name, const char *location)
{
  wick_onnx_data d;
  wick_status s = wick_onnx_sparse_read(t, &c->outside, location, &c->module->mem, &d);
  return emit_data(c, s, &d, name, location);
}
