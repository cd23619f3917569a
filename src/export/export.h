/* Graph functions as ONNX models.
 *
 * The file has opset WICK_EXPORT_OPSET: the newest that ONNX Runtime 1.31 runs, and the first that
 * has BitCast and CumProd beside Attention, RMSNormalization and Swish. Each row becomes one node
 * where ONNX has the operator with the same meaning and element types, else a composition of few
 * nodes, else it is an error that names the node. Names of values, inputs, outputs, sizes and nodes
 * are kept, and the metadata. What the importer of this project reads back are the same rows, so
 * that results are equal to the bit, but where a composition stands for a row. */
#ifndef WICK_EXPORT_EXPORT_H
#define WICK_EXPORT_EXPORT_H

#include "import/wire_write.h"
#include "ir/ir.h"

enum { WICK_EXPORT_OPSET = 26, WICK_EXPORT_IR = 13, WICK_EXPORT_ERRORS = 100 };

typedef struct wick_export_options {
  const char *data_name; /* what the model calls the file of its data, in its own folder */
  bool external;         /* there is such a file, also where everything fits into the model */
} wick_export_options;

typedef struct wick_export_result {
  wick_wire_parts model, data; /* data.n is 0 where there is no such file */
} wick_export_result;

/* The ONNX model of a function of level graph and of those that it calls.
 *   f      verified; its module's constants must have data; lives as long as the result
 *   location  precedes errors that have no location of their own
 * Fails with all nodes that have no form in ONNX, a line each. */
WICK_CHECKED wick_status wick_export_onnx(wick_module *m, const wick_func *f, const char *location,
                                          const wick_export_options *options, wick_arena *mem,
                                          wick_export_result *out);

/* Whether nodes of that row have a form in ONNX. */
bool wick_export_has(wick_opcode op);

#endif
