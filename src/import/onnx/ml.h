/* What the operators of ai.onnx.ml share: inputs as matrices of f32, attributes as tables, scores
 * made into results. Where the definitions leave something open, it is as in ONNX Runtime. */
#ifndef WICK_IMPORT_ONNX_ML_H
#define WICK_IMPORT_ONNX_ML_H

#include "import/onnx/import.h"

/* Operand i as [rows, columns] of that element type: one of rank 1 is one row. 0 after a failure.
 */
wick_value wick_ml_matrix(wick_onnx_op *o, uint32_t i, wick_elem elem);
/* A list of floats; .n 0 where it is absent. */
wick_wire_f32s wick_ml_floats(const wick_onnx_op *o, const char *name);
/* The floats of an attribute as a constant [rows, columns] (rank 1 where rows is 0), in f32. */
wick_value wick_ml_table(wick_onnx_op *o, wick_wire_f32s list, int64_t rows, int64_t columns);
wick_value wick_ml_ints(wick_onnx_op *o, wick_wire_i64s list); /* i64, of rank 1 */

typedef enum wick_ml_post {
  WICK_ML_NONE,
  WICK_ML_LOGISTIC,
  WICK_ML_SOFTMAX,
  WICK_ML_SOFTMAX_ZERO,
  WICK_ML_PROBIT
} wick_ml_post;
#define WICK_ML_POST_WORDS "NONE LOGISTIC SOFTMAX SOFTMAX_ZERO PROBIT"

/* Scores [rows, n] transformed; one score alone only by PROBIT. */
wick_value wick_ml_post_apply(wick_onnx_op *o, wick_value scores, wick_ml_post post);
/* One score [rows, 1] of the second of two classes as those of both; `odds`: the first one's is the
 * negative, else what is left to 1. */
wick_value wick_ml_post_two(wick_onnx_op *o, wick_value score, wick_ml_post post, bool odds);

/* The labels of classes: attributes of these names, one of which is there. 0 after a failure. */
wick_value wick_ml_labels(wick_onnx_op *o, const char *ints, const char *strings, int64_t *out_n);
/* The label for each index, i64 of any shape. */
wick_value wick_ml_label_at(wick_onnx_op *o, wick_value labels, wick_value index);

#endif
