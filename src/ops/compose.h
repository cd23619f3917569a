/* Helpers for the `expand` columns of tensor operators. */
#ifndef WICK_OPS_COMPOSE_H
#define WICK_OPS_COMPOSE_H

#include "ir/build.h"

/* v [C] so that it broadcasts against x [N, C, ...]. */
wick_value wick_compose_channels(wick_builder *b, wick_value v, wick_value x);
/* A reduction that keeps its axes, as size 1. */
wick_value wick_compose_reduce(wick_builder *b, wick_opcode op, wick_value x, uint32_t naxis,
                               const int64_t *axis);
/* f16 and bf16 as f32; others as they are. */
wick_value wick_compose_wide(wick_builder *b, wick_value x);

#endif
