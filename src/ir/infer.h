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

enum { WICK_INFER_ROOM = 256 };

#endif
