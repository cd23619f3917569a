/* The interpreter of loop functions: slow, exact, without LLVM. Scalar rows are evaluated as the
 * registry says, vectors lane by lane, and every access to memory is checked. */
#ifndef WICK_LOOP_INTERPRET_H
#define WICK_LOOP_INTERPRET_H

#include "ir/op.h"

/* A parameter: memory of a buffer, or a number. */
typedef struct wick_interpret_arg {
  void *data;     /* of a buffer: its elements, sub-byte ones packed */
  uint64_t nelem; /* that lie there */
  int64_t number; /* of a scalar */
} wick_interpret_arg;

/* Runs `f`, a verified loop function.
 *   arg  as many as f has parameters
 *   mem  the error; tmp, another arena: values and buffers that f allocates, which are not rewound
 * Buffers that f allocates have constant sizes, and hold no numbers before something is stored.
 * Fails: WICK_EINTERNAL where an access leaves its buffer or names a function that is not there,
 * with the node's place; what a `fail` node says, with its code. */
WICK_CHECKED wick_status wick_interpret(const wick_func *f, uint32_t narg,
                                        const wick_interpret_arg *arg, wick_arena *mem,
                                        wick_arena *tmp);

#endif
