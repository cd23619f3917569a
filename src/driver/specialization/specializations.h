/* Which copies of a program there are: those that are asked for ahead, and those that are made
 * while sessions run. */
#ifndef WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_H
#define WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_H

#include "driver/compile.h"

typedef struct wick_copy {
  const int64_t *sizes; /* a value for each symbol */
  const int64_t *held;  /* of watched inputs: runtime/guards.h */
} wick_copy;

typedef struct wick_copies {
  uint32_t n;
  wick_copy *at;
} wick_copies;

/* The combinations of the values that the options give. Fails: WICK_EINVAL for a size that does not
 * vary, or that varies and has no value, for an input that is not there, is not of small whole
 * numbers, or that no branch follows from, and for what is given twice; WICK_ERANGE outside of a
 * range; WICK_ELIMIT beyond 256. */
WICK_CHECKED wick_status wick_copies_of(wick_compilation *c, const wick_program *p,
                                        wick_copies *out);

/* From now on *k has copies made as the options say. */
void wick_copies_begin(const wick_compilation *c, const wick_compile_options *o, wick_compiled *k);

#endif
