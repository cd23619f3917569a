/* Loops as ONNX has them, built as Wick's. */
#ifndef WICK_IMPORT_ONNX_FLOW_H
#define WICK_IMPORT_ONNX_FLOW_H

#include "import/onnx/import.h"

typedef struct wick_onnx_scanned { /* the body gets one index of x at a time */
  wick_value x;
  uint32_t axis;
  bool reverse;
} wick_onnx_scanned;

typedef struct wick_onnx_loop {
  const wick_onnx_graph *body;
  bool conditional; /* the body takes index and condition first, and gives a condition first */
  uint32_t ncarried, nscan;
  const wick_value *carried;
  const wick_onnx_scanned *scan;
  wick_value count;   /* i64[] */
  int64_t steps;      /* -1: not known */
  wick_dim most;      /* rows of what is stacked */
  wick_value *result; /* to be set: the carried values, then what is stacked */
} wick_onnx_loop;

/* So many steps; none, where that is negative. */
void wick_onnx_loop_counted(wick_onnx_op *o, wick_dim n, wick_onnx_loop *l);
/* False after a failure was added. */
bool wick_onnx_loop_build(wick_onnx_op *o, const wick_onnx_loop *l);

void wick_onnx_scan(wick_onnx_op *o);         /* since opset 9 */
void wick_onnx_scan_batched(wick_onnx_op *o); /* opset 8 */

#endif
