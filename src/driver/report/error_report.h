/* How far a compiled model is from f64, on given inputs: its outputs, and what each kernel gives
 * that only approximates. */
#ifndef WICK_DRIVER_REPORT_ERROR_REPORT_H
#define WICK_DRIVER_REPORT_ERROR_REPORT_H

#include "base/arena.h"
#include "driver/model.h"

typedef struct wick_error_line {
  const char *what;    /* an output's name, or a location in the model */
  const char *bound;   /* what the contract says of the kernel there; NULL: an output */
  double largest, rms; /* of the differences, over the largest magnitude that f64 gives */
} wick_error_line;

typedef struct wick_error_report {
  uint32_t n;
  wick_error_line *line; /* outputs first; floats only */
} wick_error_report;

/* `options` as they were for `compiled`. Compiles twice more, once in f64, with what the kernels
 * give as outputs; differences are those that have grown up to there. Lines live in `mem`. */
wick_error *wick_error_report_make(wick_model *model, const wick_compile_options *options,
                                   const wick_compiled *compiled, const void *const *inputs,
                                   wick_arena *mem, wick_error_report *out);

#endif
