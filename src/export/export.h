/* Exports graph functions as ONNX models.
 *
 * The file has opset WICK_EXPORT_OPSET: the newest that ONNX Runtime 1.31 runs, and the first that
 * has BitCast and CumProd in addition to Attention, RMSNormalization and Swish. An operator becomes
 * one node if ONNX has an operator with the same meaning and element types, else a composition of
 * few nodes; if neither exists, the export fails with an error that names the node. The file keeps
 * the names of values, inputs, outputs, sizes and nodes, and the metadata. Wick's importer reads
 * the same operators back, so that results are equal to the bit, except for compositions. */
#ifndef WICK_EXPORT_EXPORT_H
#define WICK_EXPORT_EXPORT_H

#include "import/wire_write.h"
#include "ir/ir.h"

enum { WICK_EXPORT_OPSET = 26, WICK_EXPORT_IR = 13, WICK_EXPORT_ERRORS = 100 };

typedef struct wick_export_options {
  const char *data_name; /* the name of the data file, which is in the model's folder */
  bool external;         /* write a data file even if all data fits into the model */
} wick_export_options;

typedef struct wick_export_result {
  wick_wire_parts model, data; /* data.n is 0 if no data file is needed */
} wick_export_result;

/* Builds the ONNX model of a function of level graph and of the functions that it calls.
 *   f         verified; its module's constants must have data; must live as long as the result
 *   location  begins errors that have no location of their own
 * Fails with all nodes that ONNX cannot express, a line each. */
WICK_CHECKED wick_status wick_export_onnx(wick_module *m, const wick_func *f, const char *location,
                                          const wick_export_options *options, wick_arena *mem,
                                          wick_export_result *out);

/* Returns whether ONNX can express the operator. */
bool wick_export_has(wick_opcode op);

#endif
