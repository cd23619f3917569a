/* Compares a compiled model with f64 on given inputs: its outputs, and the results of each kernel
 * that approximates. */
#ifndef WICK_DRIVER_REPORT_ERROR_REPORT_H
#define WICK_DRIVER_REPORT_ERROR_REPORT_H

#include "base/arena.h"
#include "driver/model.h"

typedef struct wick_error_line {
  const char *what;    /* an output's name, or a location in the model */
  const char *bound;   /* the contract of the kernel there; NULL: an output */
  double largest, rms; /* of the differences, divided by the largest magnitude in f64 */
} wick_error_line;

typedef struct wick_error_report {
  uint32_t n;
  wick_error_line *line; /* outputs first; floats only */
} wick_error_report;

/* `options` are those of `compiled`. Compiles the model twice more, once in f64, with the results
 * of these kernels as outputs. A difference includes the errors of all earlier kernels. Lines live
 * in `mem`. */
wick_error *wick_error_report_make(wick_model *model, const wick_compile_options *options,
                                   const wick_compiled *compiled, const void *const *inputs,
                                   wick_arena *mem, wick_error_report *out);

#endif
