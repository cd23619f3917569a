/* Tunes a model and writes its file of records, for `wick tune`. */
#ifndef WICK_TUNE_MODEL_H
#define WICK_TUNE_MODEL_H

#include "tune/tune.h"
#include "wick/wick.h"

typedef struct wick_tune_options {
  const char *records; /* a file: the search begins with its records, and writes it */
  uint32_t nmerge;
  const char *const *merge; /* more files of records to begin with */
  double seconds;
  void (*say)(void *arg, double seconds, const char *line); /* reports a result; may be NULL */
  void (*at)(void *arg, double seconds,
             const char *group); /* names the group that is measured next;
                                                               may be NULL */
  void *arg;
} wick_tune_options;

/* Compiles the model up to its groups and searches. The file is written after each result, every
 * few seconds, and at the end, through a temporary file that is renamed. Errors live in `mem`. */
WICK_CHECKED wick_status wick_tune_model(wick_model *model, const wick_compile_options *compile,
                                         const wick_tune_options *o, wick_arena *mem,
                                         wick_arena *tmp, wick_tune_report *out);

#endif
