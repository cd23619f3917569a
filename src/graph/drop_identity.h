/* x*1 and x/1 become x.
 *
 * Guarantees: exact results; the pass cannot fail. Leaves alone: x+0, because -0 + 0 is +0, and
 * multiplications that broadcast, because the types must be equal. */
#ifndef WICK_GRAPH_DROP_IDENTITY_H
#define WICK_GRAPH_DROP_IDENTITY_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_drop_identity(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
