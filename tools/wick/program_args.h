/* Arguments of a program's function, in the language's syntax: "Cons(1, Nil), [1.0, 2.0], (3, true)".
 * Tensors are read before the function is compiled, because shapes follow from them; data is read
 * when there is a heap. */
#ifndef WICK_TOOLS_PROGRAM_ARGS_H
#define WICK_TOOLS_PROGRAM_ARGS_H

#include "tensor_io.h"

typedef struct wick_program_args {
  uint32_t n; /* of the inputs */
  wick_array *array;
  const char **text; /* of an input that is data; NULL: a tensor */
} wick_program_args;

/* Reads the arguments of a function with these parameters and inputs. Fails with WICK_EINVAL at the
 * character that is wrong. */
WICK_CHECKED wick_status wick_program_args_read(const char *text, const wick_part *parameters,
                                                uint32_t n, const wick_io *const *io,
                                                wick_arena *mem, wick_program_args *out);

/* Reads a value of a data type; `input` names it in messages. *out is freed by the caller. */
WICK_CHECKED wick_status wick_program_args_datum(const char *text, const char *input,
                                                 const wick_datatype *type, wick_data_heap *heap,
                                                 wick_arena *mem, wick_datum **out);

#endif
