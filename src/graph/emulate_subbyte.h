/* Elements smaller than a byte (i4, u4, i2, u2, f4e2m1) are computed in whole bytes. Their tensors
 * are packed bytes, seen through `reinterpret`. Each use unpacks them to i8, u8 or f32, and results
 * are packed again.
 *
 * Needs: constant sizes. Guarantees: the same numbers. Leaves alone: functions with control flow.
 */
#ifndef WICK_GRAPH_EMULATE_SUBBYTE_H
#define WICK_GRAPH_EMULATE_SUBBYTE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_emulate_subbyte(const wick_pass_context *pass,
                                                   const wick_func *f, wick_func **out);

#endif
