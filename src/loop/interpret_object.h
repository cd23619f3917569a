/* The interpreter's operators on counted objects. Blocks that are not valid are errors. */
#ifndef WICK_LOOP_INTERPRET_OBJECT_H
#define WICK_LOOP_INTERPRET_OBJECT_H

#include "ir/op.h"
#include "runtime/heap.h"

/* Runs a node on these operands, each one number, and sets *out to its result.
 *   elem  of the field that is read or written, and of each operand of a new block
 *   what  out: what is wrong, if WICK_EINTERNAL or WICK_ELIMIT is returned */
wick_code wick_interpret_object(wick_heap *heap, const wick_node *n, const wick_elem *elem,
                                const wick_scalar *in, wick_elem result, wick_scalar *out,
                                const char **what);

/* Returns the address of nbytes of a block, from field `at` on; NULL if there are fewer. */
void *wick_interpret_field(wick_heap *heap, int64_t object, int64_t at, uint64_t nbytes);

#endif
