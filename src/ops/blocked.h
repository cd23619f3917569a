/* Building blocked layouts. */
#ifndef WICK_OPS_BLOCKED_H
#define WICK_OPS_BLOCKED_H

#include "ir/build.h"

wick_value wick_build_pack(wick_builder *b, wick_value x, int64_t axis, int64_t block);
wick_value wick_build_unpack(wick_builder *b, wick_value x, int64_t axis, wick_dim extent);

#endif
