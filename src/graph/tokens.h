/* Strings become i64: their numbers among the module's strings, and in a run among the session's
 * (base/strings.h). All rows that move or compare elements then work on them as they are.
 * Leaves functions without strings alone. */
#ifndef WICK_GRAPH_TOKENS_H
#define WICK_GRAPH_TOKENS_H

#include "ir/ir.h"

WICK_CHECKED wick_status wick_pass_tokens(const wick_func *f, wick_arena *mem, wick_func **out);

#endif
