/* Imports ONNX models, opset 1 to 28, as graph functions.
 *
 * The import includes the main graph with its initializers (external ones too), local functions
 * (expanded at their calls), names of values, locations and metadata. The rows in this folder's
 * files define the meaning of each operator by opset. Sequences, optionals and maps at the
 * interface become tensors (ports.c). Sparse constants become dense; sparse inputs and outputs are
 * errors that name them. */
#ifndef WICK_IMPORT_ONNX_ONNX_H
#define WICK_IMPORT_ONNX_ONNX_H

#include "import/kit/options.h"
#include "import/onnx/tensor.h"
#include "ir/ir.h"

enum { WICK_ONNX_OPSET = 28 };

WICK_CHECKED wick_import_read wick_import_onnx;

/* Lists the supported operators: returns row i, from 0, or false after the last row. The rows of
 * one operator are consecutive. */
typedef struct wick_onnx_support {
  const char *op_type;
  int since, until; /* opsets, both included */
} wick_onnx_support;
bool wick_onnx_supported(size_t i, wick_onnx_support *out);

/* Activations of recurrent layers, in the order of the operators' words. Names are ONNX's and match
 * in any case. nattr is the number of attributes (alpha, then beta) that an activation has. The
 * last entry has no name. */
typedef struct wick_onnx_act {
  const char *name;
  uint32_t nattr;
} wick_onnx_act;
extern const wick_onnx_act wick_onnx_acts[];

#endif
