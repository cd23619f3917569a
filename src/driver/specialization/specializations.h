/* Selects specializations: those that the options request ahead of time, and those that are
 * compiled while sessions run. */
#ifndef WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_H
#define WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_H

#include "driver/compile.h"

typedef struct wick_specialization_key {
  const int64_t *sizes;  /* a value for each symbol */
  const int64_t *guards; /* runtime/guards.h */
} wick_specialization_key;

typedef struct wick_specialization_keys {
  uint32_t n;
  wick_specialization_key *at;
} wick_specialization_keys;

/* Lists all combinations of the values that the options give. Fails with WICK_EINVAL for a size
 * that is not dynamic, a dynamic size without a value, an input that does not exist, is not of
 * small whole numbers or decides no branch, and for a value that is given twice; with WICK_ERANGE
 * for a value outside of its range; with WICK_ELIMIT for more than 256 combinations. */
WICK_CHECKED wick_status wick_specialization_keys_of(wick_compilation *c, const wick_program *p,
                                                     wick_specialization_keys *out);

/* Begins to specialize *k in the background, if the options request it. */
void wick_auto_specialize_begin(const wick_compilation *c, const wick_compile_options *o,
                                wick_compiled *k);

#endif
