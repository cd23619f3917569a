/* The parts that the operators of attention have in common (attention_core.c). Functions return
 * value 0, or their operand, after a failure. */
#ifndef WICK_IMPORT_ONNX_ATTENTION_H
#define WICK_IMPORT_ONNX_ATTENTION_H

#include "import/onnx/import.h"

typedef struct wick_onnx_attention {
  wick_onnx_op *o;
  wick_value q, k, v; /* [batch, heads, length, size] */
  wick_dim nq, nk;
  wick_elem elem;
  wick_value bias;   /* added to the scores; 0: none */
  bool may_be_empty; /* a row of the bias may be -inf everywhere */
} wick_onnx_attention;

/* [batch, length, heads * size] -> [batch, heads, length, size]; joined: the inverse. */
wick_value wick_onnx_heads(wick_onnx_op *o, wick_value x, int64_t heads);
wick_value wick_onnx_heads_joined(wick_onnx_op *o, wick_value x);

/* Adds to the bias of the scores. */
void wick_onnx_attention_add(wick_onnx_attention *a, wick_value bias);
/* Returns 0 for each allowed key, else -inf. */
wick_value wick_onnx_attention_allowed(wick_onnx_attention *a, wick_value allowed);
/* Multiplies heads. If several query heads share one key head, they become additional rows of it. */
wick_value wick_onnx_attention_product(wick_onnx_attention *a, wick_value x, wick_value y);
/* Computes the softmax of scores. Rows that attend to no key are 0, not NaN. */
wick_value wick_onnx_attention_softmax(wick_onnx_attention *a, wick_value scores,
                                       wick_elem precision);
/* cap * tanh(x / cap), or x if cap is not positive */
wick_value wick_onnx_attention_softcap(wick_onnx_attention *a, wick_value x, double cap);

/* microsoft_attention.c */
/* Appends x to past, along the positions of heads; past may be 0. */
wick_value wick_microsoft_appended(wick_onnx_op *o, wick_value past, wick_value x);
/* Reads the sizes of the heads after the operands are complete. */
bool wick_microsoft_attention_complete(wick_onnx_attention *a);
/* 0 where `keep` is true, else the number that the attributes give for excluded keys. */
wick_value wick_microsoft_attention_filter(wick_onnx_attention *a, wick_value keep);
/* Multiplies by the attribute `scale`, or by 1 / sqrt(size of a head). */
wick_value wick_microsoft_attention_scaled(wick_onnx_attention *a, wick_value x);

/* Rotates pairs of numbers of x, the last axis of four, by an angle. Pairs are corresponding elements of
 * the two halves, or neighbours if `interleaved`. cos and sin broadcast to x without its last axis, and
 * have half as many numbers as are rotated; the numbers of x after these stay. */
wick_value wick_onnx_rotated(wick_onnx_op *o, wick_value x, wick_value cos, wick_value sin,
                             bool interleaved);

#endif
