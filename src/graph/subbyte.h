/* Graph: elements below a byte (i4, u4, i2, u2, f4e2m1) are computed in whole ones: their tensors
 * are packed bytes, seen through `retype`, from which each use takes i8, u8 or f32, and into which
 * results go back. Numbers are the same. Needs constant sizes; control flow is left alone. */
#ifndef WICK_GRAPH_SUBBYTE_H
#define WICK_GRAPH_SUBBYTE_H

#include "ir/ir.h"

wick_func *wick_pass_subbyte(const wick_func *f, wick_arena *mem);

#endif
