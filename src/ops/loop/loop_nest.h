/* Helpers for operators that build loop nests: 1-D slices of tensors, numbers, comparisons. */
#ifndef WICK_OPS_LOOP_LOOP_NEST_H
#define WICK_OPS_LOOP_LOOP_NEST_H

#include "ops/elementwise/scalar.h"

/* A 1-D slice of tensors along an axis, at the current point of the loop nest. If `at` >= rank, the
 * tensors have no such axis. */
typedef struct wick_line {
  uint32_t rank, at;
  wick_dim index[WICK_MAX_RANK]; /* WICK_DIM_ANY along the axis */
} wick_line;

/* Opens a loop nest over all axes of the first result but one. It has `nscratch` results of its own
 * after those of the operator. Returns the first result as it is visible in the region. */
wick_value wick_lines_begin(const wick_compute *c, const char *name, uint32_t axis,
                            uint32_t nscratch, const wick_type *scratch, wick_line *out);
/* Reads element `i` of a slice of a tensor. */
wick_value wick_line_read(wick_builder *b, const wick_line *line, wick_value tensor, wick_value i);
void wick_line_put(wick_builder *b, const wick_line *line, wick_value tensor, wick_value i,
                   wick_value v);

/* Reads scratch memory with one dimension. */
wick_value wick_cell_get(wick_builder *b, wick_value cells, wick_value i);
void wick_cell_put(wick_builder *b, wick_value cells, wick_value i, wick_value v);

/* Builds an operator with x and a number as operands. */
wick_value wick_loop_nest_by(wick_builder *b, wick_opcode op, wick_value x, int64_t number);

#endif
