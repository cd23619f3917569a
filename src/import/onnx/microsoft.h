/* What the importers of com.microsoft's operators share (microsoft.c). Their meaning is that of ONNX
 * Runtime's documentation, docs/ContribOperators.md; most are compositions of ONNX's operators, which
 * the passes fuse again. */
#ifndef WICK_IMPORT_ONNX_MICROSOFT_H
#define WICK_IMPORT_ONNX_MICROSOFT_H

#include "import/onnx/import.h"

/* Imports an operator that equals ONNX's operator of that name at opset row->arg. */
void wick_microsoft_same(wick_onnx_op *o);

/* x + bias, or x if operand i is missing. */
wick_value wick_microsoft_biased(wick_onnx_op *o, wick_value x, uint32_t i);

/* Lowers the score of each token that would repeat an n-gram of the tokens so far, i64 [rows, steps], to
 * `low`. The scores are [rows, vocabulary]. */
wick_value wick_microsoft_unrepeated(wick_onnx_op *o, wick_value tokens, wick_value scores,
                                     int64_t size, double low);

/* Returns rows of a table of angles at positions [batch, length] or [1, length], with an axis for
 * heads. */
wick_value wick_microsoft_angles(wick_onnx_op *o, wick_value table, wick_value at, uint32_t axis);

/* Returns true if the node has all operands whose bits are set; a row's least number does not count
 * those after an optional one. Adds a failure for each that is missing. */
bool wick_microsoft_needs(wick_onnx_op *o, uint32_t operands);

/* Returns operand i, or value 0 if it is missing. */
static inline wick_value wick_microsoft_optional(const wick_onnx_op *o, uint32_t i)
{
  return wick_onnx_has(o, i) ? o->in[i] : (wick_value){0};
}

/* Returns true if somebody may read result k. */
static inline bool wick_microsoft_wants(const wick_onnx_op *o, uint32_t k)
{
  return k < o->nout && o->node->output.at[k].nbytes;
}

#endif
