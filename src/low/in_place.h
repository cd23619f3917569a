/* In place: the output of a kernel uses the memory of an operand that is read there for the last
 * time, if the group reads it only at the element that it writes (loop/inplace.h).
 *
 * Needs: a verified low function without `free`, after copy_elim; groups with their schedules.
 * Guarantees: the same results; no more bytes of the arena in use at the worst instruction. Leaves
 * alone: operands that are needed later, that belong to the caller, or that control flow
 * carries. */
#ifndef WICK_LOW_IN_PLACE_H
#define WICK_LOW_IN_PLACE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_in_place(const wick_pass_context *pass, const wick_func *f,
                                            wick_func **out);

#endif
