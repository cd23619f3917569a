/* Functions that the operators of ai.onnx.ml share: they read inputs as matrices, attributes as
 * tables, and transform scores to results. If ONNX's definition leaves a case undefined, Wick does
 * what ONNX Runtime does. */
#ifndef WICK_IMPORT_ONNX_ML_H
#define WICK_IMPORT_ONNX_ML_H

#include "import/onnx/import.h"

/* Returns operand i as a matrix [rows, columns] of that element type. An operand of rank 1 is one
 * row. Returns 0 after a failure. */
wick_value wick_ml_matrix(wick_onnx_op *o, uint32_t i, wick_elem elem);
/* Returns an attribute's list of floats; .n is 0 if the attribute is absent. */
wick_wire_f32s wick_ml_floats(const wick_onnx_op *o, const char *name);
/* Builds a constant f32 [rows, columns] of an attribute's floats (rank 1 if rows is 0). */
wick_value wick_ml_table(wick_onnx_op *o, wick_wire_f32s list, int64_t rows, int64_t columns);
/* Builds a constant i64 of rank 1 of an attribute's integers. */
wick_value wick_ml_ints(wick_onnx_op *o, wick_wire_i64s list);

typedef enum wick_ml_post {
  WICK_ML_NONE,
  WICK_ML_LOGISTIC,
  WICK_ML_SOFTMAX,
  WICK_ML_SOFTMAX_ZERO,
  WICK_ML_PROBIT
} wick_ml_post;
#define WICK_ML_POST_WORDS "NONE LOGISTIC SOFTMAX SOFTMAX_ZERO PROBIT"

/* Transforms scores [rows, n]. If n is 1, only PROBIT has an effect. */
wick_value wick_ml_post_apply(wick_onnx_op *o, wick_value scores, wick_ml_post post);
/* Returns the scores [rows, 2] of two classes, given the score s [rows, 1] of the second. The first
 * class has the score -s if `odds`, else 1 - s. */
wick_value wick_ml_post_two(wick_onnx_op *o, wick_value score, wick_ml_post post, bool odds);

/* Returns the labels of classes as a constant. They are in the attribute `ints` or `strings`; one
 * of the two must be present. Returns 0 after a failure. */
wick_value wick_ml_labels(wick_onnx_op *o, const char *ints, const char *strings, int64_t *out_n);
/* Returns the label for each index; `index` is i64 of any shape. */
wick_value wick_ml_label_at(wick_onnx_op *o, wick_value labels, wick_value index);

#endif
