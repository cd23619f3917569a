/* Checks of a node against its operator, and its inference, for the builder and the verifier. */
#ifndef WICK_IR_INFER_H
#define WICK_IR_INFER_H

#include "ir/op.h"

/* Fills defaults, checks kinds, words and ranges, resolves negative axes by the first operand's
 * rank, and copies the attributes' data into the module. `given` is NULL, or has as many elements
 * as the operator declares. */
WICK_CHECKED wick_status wick_attrs_complete(wick_infer *c, wick_level level,
                                             const wick_attr *given, const wick_attr **out);

/* Checks counts, level and element types, then calls the operator's infer. Sets c->out and
 * c->nout. */
WICK_CHECKED wick_status wick_infer_node(wick_infer *c, wick_level level);

/* The capacity for results that callers provide; inference makes more room where it is needed. */
enum { WICK_INFER_CAPACITY = 256 };

#endif
