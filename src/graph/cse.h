/* Common subexpressions: of nodes with equal operator, attributes and operands, the first one is
 * kept. Constants with equal bytes are one.
 *
 * Needs: a verified graph function or group: where memory is no matter. Guarantees: no two such
 * nodes see each other (one is before the other, in its region or one around it). Class: exact.
 * Leaves alone: nodes with an effect or with regions. A node that may fail counts: the first one
 * fails then. */
#ifndef WICK_GRAPH_CSE_H
#define WICK_GRAPH_CSE_H

#include "ir/copy.h"

wick_func *wick_pass_cse(const wick_func *f, wick_arena *mem);

#endif
