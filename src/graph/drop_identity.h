/* Graph: x*1 and x/1 become x. Not x+0: -0 + 0 is +0. Broadcasting ones stay: the types must be
 * equal. Exact. Cannot fail; leaves all else alone. */
#ifndef WICK_GRAPH_DROP_IDENTITY_H
#define WICK_GRAPH_DROP_IDENTITY_H

#include "ir/ir.h"

wick_func *wick_pass_drop_identity(const wick_func *f, wick_arena *mem);

#endif
