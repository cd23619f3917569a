/* Tuning a model from its file to its records: what `wick tune` does. */
#ifndef WICK_TUNE_MODEL_H
#define WICK_TUNE_MODEL_H

#include "tune/tune.h"
#include "wick/wick.h"

typedef struct wick_tune_options {
  const char *records; /* a file: the search goes on from what it holds, and writes it */
  uint32_t nmerge;
  const char *const *merge; /* more files of records to begin with */
  double seconds;
  void (*say)(void *arg, double seconds, const char *line); /* what was found; may be NULL */
  void (*at)(void *arg, double seconds, const char *group); /* what is measured; may be NULL */
  void *arg;
} wick_tune_options;

/* Compiles the model as far as its groups and searches. The file is written whenever something is
 * found, every few seconds, and at the end: beside it, then renamed. Errors live in `mem`. */
WICK_CHECKED wick_status wick_tune_model(wick_model *model, const wick_compile_options *compile,
                                         const wick_tune_options *o, wick_arena *mem,
                                         wick_arena *tmp, wick_tune_report *out);

#endif
