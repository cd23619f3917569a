/* Helpers for operators that build loop nests: 1-D slices of tensors, numbers, comparisons. */
#ifndef WICK_OPS_LOOP_LOOP_NEST_H
#define WICK_OPS_LOOP_LOOP_NEST_H

#include "ops/elementwise/scalar.h"

/* The line of tensors along an axis at the walk's point; `at` >= rank: there is none. */
typedef struct wick_line {
  uint32_t rank, at;
  wick_dim index[WICK_MAX_RANK]; /* WICK_DIM_ANY along the axis */
} wick_line;

/* Opens a walk over all axes of the first result but one, with `nscratch` results of its own after
 * those of the row; gives the first result as the region sees it. */
wick_value wick_lines_begin(const wick_compute *c, const char *name, uint32_t axis,
                            uint32_t nscratch, const wick_type *scratch, wick_line *out);
/* Place `i` of a tensor's line. */
wick_value wick_line_read(wick_builder *b, const wick_line *line, wick_value tensor, wick_value i);
void wick_line_put(wick_builder *b, const wick_line *line, wick_value tensor, wick_value i,
                   wick_value v);

/* Scratch of one dimension. */
wick_value wick_cell_get(wick_builder *b, wick_value cells, wick_value i);
void wick_cell_put(wick_builder *b, wick_value cells, wick_value i, wick_value v);

/* An operator and a number. */
wick_value wick_loop_nest_by(wick_builder *b, wick_opcode op, wick_value x, int64_t number);

#endif
