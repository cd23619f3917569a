/* Builds loops of Wick from ONNX's Loop and Scan. */
#ifndef WICK_IMPORT_ONNX_FLOW_H
#define WICK_IMPORT_ONNX_FLOW_H

#include "import/onnx/import.h"

typedef struct wick_onnx_scanned { /* each step passes one slice of x along `axis` to the body */
  wick_value x;
  uint32_t axis;
  bool reverse;
} wick_onnx_scanned;

typedef struct wick_onnx_loop {
  const wick_onnx_graph *body;
  bool conditional; /* the body's first inputs are index and condition, its first output is the
                       next condition */
  uint32_t ncarried, nscan;
  const wick_value *carried;
  const wick_onnx_scanned *scan;
  wick_value count;   /* i64[] */
  int64_t steps;      /* -1: not known */
  wick_dim most;      /* the capacity of the stacked results along their first axis */
  wick_value *result; /* out: the carried values, then the stacked results */
} wick_onnx_loop;

/* Sets the number of steps of the loop to n, or to 0 if n is negative. */
void wick_onnx_loop_counted(wick_onnx_op *o, wick_dim n, wick_onnx_loop *l);
/* Builds the loop. Returns false after it added a failure. */
bool wick_onnx_loop_build(wick_onnx_op *o, const wick_onnx_loop *l);

void wick_onnx_scan(wick_onnx_op *o);         /* since opset 9 */
void wick_onnx_scan_batched(wick_onnx_op *o); /* opset 8 */

#endif
