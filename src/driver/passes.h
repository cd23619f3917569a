/* The tables of passes and of pipelines. */
#ifndef WICK_DRIVER_PASSES_H
#define WICK_DRIVER_PASSES_H

#include "ir/pass.h"

/* The effect of a pass on numbers: none, or rounding at another point or in another order. */
typedef enum wick_pass_class { WICK_EXACT, WICK_ROUNDING } wick_pass_class;

typedef struct wick_pass {
  const char *name;
  uint32_t levels; /* bits of wick_level: the levels of functions that it runs on */
  wick_pass_run *run;
  wick_pass_class cls;
  const char *doc;
} wick_pass;

extern const wick_pass wick_passes[]; /* ends with a row without a name */
const wick_pass *wick_pass_find(const char *name);

typedef struct wick_condition {
  const char *name; /* as docs/passes.md and `wick opt --passes` show it */
  bool (*holds)(const wick_pass_context *c);
} wick_condition;

typedef struct wick_step {
  const char *pass;           /* or a pipeline */
  const wick_condition *when; /* NULL: always */
} wick_step;

typedef struct wick_named_pipeline {
  const char *name;
  const wick_step *step; /* ends with a step without a pass */
  const char *doc;
} wick_named_pipeline;

extern const wick_named_pipeline wick_pipelines[]; /* ends with a row without a name */
const wick_named_pipeline *wick_pipeline_find(const char *name);

#endif
