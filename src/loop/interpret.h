/* The interpreter of loop functions: slow, exact, and without LLVM. It evaluates scalar operators
 * as the registry defines them, vectors lane by lane, and checks every access to memory. */
#ifndef WICK_LOOP_INTERPRET_H
#define WICK_LOOP_INTERPRET_H

#include "ir/op.h"

/* A parameter: memory of a buffer, or a number. */
typedef struct wick_interpret_arg {
  void *data;     /* a buffer's elements; sub-byte ones are packed */
  uint64_t nelem; /* the number of elements in data */
  int64_t number; /* the value of a scalar */
} wick_interpret_arg;

enum {
  WICK_INTERPRET_DEPTH = 2000,   /* the most nested calls */
  WICK_INTERPRET_HEAP = 1 << 20, /* bytes of the heap of objects */
};

/* Runs `f`, a verified loop function.
 *   arg  one for each parameter of f
 *   mem  holds the error
 *   tmp  another arena, for values and for buffers that f allocates; it is not rewound
 * Buffers that f allocates must have constant sizes; they are undefined until something is stored.
 * Fails: WICK_EINTERNAL, with the node's location, if an access is outside its buffer, if what is
 * used as an object is none, or if f names a function that does not exist; the code and message of
 * a `fail` node that is reached; WICK_ELIMIT for calls that are nested deeper than
 * WICK_INTERPRET_DEPTH, and for a full heap. Each call has a heap of its own, and fails with
 * WICK_EINTERNAL if it leaves objects that were not released and that cannot refer to each other. */
WICK_CHECKED wick_status wick_interpret(const wick_func *f, uint32_t narg,
                                        const wick_interpret_arg *arg, wick_arena *mem,
                                        wick_arena *tmp);

#endif
