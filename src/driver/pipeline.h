/* Runs passes over a module: verifies, times and shows what each has done, and owns the functions
 * that they return. driver/passes.c has the passes and their order. */
#ifndef WICK_DRIVER_PIPELINE_H
#define WICK_DRIVER_PIPELINE_H

#include "driver/passes.h"
#include "loop/tuning_records.h"
#include "target/target.h"

typedef struct wick_pass_time {
  const wick_pass *pass;
  double seconds;         /* without verification */
  uint64_t nnode, nbytes; /* of the module after it; memory held then */
  bool acted;             /* a function has changed */
} wick_pass_time;

typedef struct wick_pipeline {
  wick_module *m;
  wick_target target; /* the host's, unless it is set */
  /* As the passes see them (ir/pass.h); what they point to is the caller's. */
  const char *precision;
  bool strict, planned;
  wick_tuning_records *records;
  struct wick_lowered *lowered;
  const struct wick_program *base;
  wick_arena *keep; /* of *lowered; NULL: it lives as long as the pipeline */
  bool verify;      /* after each pass; wick_pipeline_begin sets it in debug builds */
  /* After each pass; what it returns ends the run. May be NULL. */
  wick_status (*after)(void *arg, const wick_pass_time *done, const wick_module *m);
  void *arg;
  wick_arena mem;
  wick_list(wick_pass_time) times;
  /* Each pass writes its results into a new arena; an arena goes when no current function lives in
   * it, so that mostly two alternate. */
  wick_list(struct wick_generation *) generations;
  wick_list(struct wick_version) versions; /* by name in the module */
  uint32_t naccount;
} wick_pipeline;

/* Functions that passes return live until wick_pipeline_free, which a zeroed struct may be given
 * to.
 */
void wick_pipeline_begin(wick_pipeline *p, wick_module *m);
void wick_pipeline_free(wick_pipeline *p);

/* Runs one pass over all functions of its levels. On failure some functions may be new already. */
WICK_CHECKED wick_status wick_pipeline_run(wick_pipeline *p, const wick_pass *pass,
                                           wick_arena *tmp);

/* "a,b,c": WICK_EINVAL, before anything is run, where there is no such pass. */
WICK_CHECKED wick_status wick_pipeline_run_all(wick_pipeline *p, const char *names,
                                               wick_arena *tmp);

/* A pipeline of driver/passes.c, to its end or until a pass has run: "constant_fold" for the first
 * time, "constant_fold:2" for the second. WICK_EINVAL where there is no such pipeline or pass, or
 * it did not run.
 */
WICK_CHECKED wick_status wick_pipeline_run_named(wick_pipeline *p, const char *name,
                                                 const char *until, wick_arena *tmp);

#endif
