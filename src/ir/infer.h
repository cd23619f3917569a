/* What builder and verifier share: a node against its row, and its inference. */
#ifndef WICK_IR_INFER_H
#define WICK_IR_INFER_H

#include "ir/op.h"

/* Fills defaults, checks kinds, words and ranges, resolves negative axes by the first operand's
 * rank, and moves what attributes point to into the module. `given` is NULL, or as many as the row
 * declares. */
WICK_CHECKED wick_status wick_attrs_complete(wick_infer *c, wick_level level,
                                             const wick_attr *given, const wick_attr **out);

/* Counts, level, element types, then the row's infer; c->out and c->nout are set. */
WICK_CHECKED wick_status wick_infer_node(wick_infer *c, wick_level level);

/* Results that there is room for: for those of nodes with regions, which these make, as many as
 * they may be. */
enum { WICK_INFER_ROOM = 256 };
void wick_infer_out_room(wick_infer *c, wick_arena *mem);

#endif
