/* Operators on quantized tensors, as LiteRT's reference kernels compute them.
 *
 * The functions that return bool return whether the node was theirs: its operands are quantized, and
 * its results are set, or a failure was added. */
#ifndef WICK_IMPORT_TFLITE_QUANTIZED_H
#define WICK_IMPORT_TFLITE_QUANTIZED_H

#include "import/kit/nhwc.h"
#include "import/tflite/fixed.h"
#include "import/tflite/ops.h"

/* Is the tensor one of integers with scales? */
bool wick_tflite_is_quantized(const wick_tflite_tensor *t);

/* quantized.c: element-wise operators, by the row's name. */
bool wick_tflite_quantized(wick_import_node *n);
void wick_tflite_quantize(wick_import_node *n);
void wick_tflite_dequantize(wick_import_node *n);
/* Rounds to the nearest integer, ties away from 0, and clamps. */
wick_value wick_tflite_round(wick_builder *b, wick_value x, double lo, double hi);
/* Operand i in the scale of result 0. */
wick_value wick_tflite_rescaled(wick_import_node *n, uint32_t i);
/* The zero point of operand i as a value of its type, rank 0; 0 if it is not quantized. */
wick_value wick_tflite_zero(wick_import_node *n, uint32_t i);
/* The reals in f32 that x, integers of operand i's tensor, stand for. `rows` are the indices of
 * gathered rows if x was gathered along the axis of the scales, else 0. */
wick_value wick_tflite_real(wick_import_node *n, uint32_t i, wick_value x, wick_value rows);
/* The least and the largest number of result 0, after a fused activation. */
void wick_tflite_range(wick_import_node *n, int64_t act, int64_t *lo, int64_t *hi);

/* The least and the largest number of an integer type. */
void wick_tflite_limits(wick_elem e, int64_t *lo, int64_t *hi);

/* A function of one operand of 8 or 16 bits, looked up in a table of all its results; they are
 * clamped to the type of result 0. */
typedef struct wick_tflite_unary {
  double in_scale, out_scale;
  int64_t in_zero, out_zero, lo, hi; /* lo, hi: the limits of the result's type */
} wick_tflite_unary;
typedef int64_t wick_tflite_function(const wick_tflite_unary *u, int64_t x, const void *arg);
void wick_tflite_lookup(wick_import_node *n, wick_tflite_function *fn, const void *arg);

/* quantized_wide.c: functions of 16 bits; and softmax of them. */
bool wick_tflite_quantized_wide(wick_import_node *n);
void wick_tflite_softmax_wide(wick_import_node *n);

/* quantized_row.c: operators along the last axis whose rows are scaled by what the run computes. */
void wick_tflite_softmax_fixed(wick_import_node *n);
void wick_tflite_log_softmax(wick_import_node *n);
void wick_tflite_normalize(wick_import_node *n);

/* quantized_nn.c: floats that are quantized in the run, with one scale for each row; the axes are those
 * within a row. Symmetric numbers have no zero point. */
typedef struct wick_tflite_hybrid {
  wick_value x;     /* whole numbers, i32, without their zero point */
  wick_value scale; /* f32; the axes have size 1 */
  wick_value bytes; /* i8, with their zero point */
  wick_value zero;  /* i8, as the scale; 0: there is none */
} wick_tflite_hybrid;
wick_tflite_hybrid wick_tflite_symmetric(wick_import_node *n, wick_value x, uint32_t naxes,
                                         const int64_t *axes);
wick_tflite_hybrid wick_tflite_asymmetric(wick_import_node *n, wick_value x, uint32_t naxes,
                                          const int64_t *axes);

bool wick_tflite_quantized_conv(wick_import_node *n, const int64_t *perm, const wick_nhwc_window *w,
                                int64_t group, int64_t act);
bool wick_tflite_quantized_transpose_conv(wick_import_node *n, const int64_t *perm,
                                          const wick_nhwc_window *w, const wick_dim *size);
bool wick_tflite_quantized_fully_connected(wick_import_node *n);
bool wick_tflite_quantized_batch_matmul(wick_import_node *n);
bool wick_tflite_quantized_softmax(wick_import_node *n);
bool wick_tflite_quantized_reduce(wick_import_node *n, uint32_t count, const int64_t *axes,
                                  bool keep);

/* quantized_image.c */
bool wick_tflite_quantized_pool(wick_import_node *n, const wick_nhwc_window *w);
bool wick_tflite_quantized_bilinear(wick_import_node *n, const wick_dim *size, bool align,
                                    bool half);
/* nn.c: x as [rows, depth], and the result of a fully connected layer in the shape that is asked
 * for. */
wick_value wick_tflite_rows(wick_import_node *n, wick_value x, wick_dim depth, wick_dim *out_rows);
wick_value wick_tflite_unrows(wick_import_node *n, wick_value y, wick_dim units);

#endif
