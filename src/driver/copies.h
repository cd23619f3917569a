/* Which copies of a program there are: those that are asked for ahead, and those that are made
 * while sessions run. */
#ifndef WICK_DRIVER_COPIES_H
#define WICK_DRIVER_COPIES_H

#include "driver/compile.h"

typedef struct wick_copies {
  uint32_t n;
  const int64_t **at; /* of each: a value for each symbol */
} wick_copies;

/* The combinations of the values that the options give. Fails: WICK_EINVAL for a size that does not
 * vary, or that varies and has no value; WICK_ERANGE outside of a range; WICK_ELIMIT beyond 256. */
WICK_CHECKED wick_status wick_copies_of(wick_compilation *c, const wick_program_sizes *sizes,
                                        wick_copies *out);

/* From now on *k has copies made as the options say. */
void wick_copies_begin(const wick_compilation *c, const wick_compile_options *o, wick_compiled *k);

#endif
