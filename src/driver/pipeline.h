/* Runs passes over a module, verifies and times each of them, and owns the functions that they
 * return. driver/passes.c has the passes and their order. */
#ifndef WICK_DRIVER_PIPELINE_H
#define WICK_DRIVER_PIPELINE_H

#include "driver/passes.h"
#include "loop/tuning_records.h"
#include "target/target.h"

typedef struct wick_pass_time {
  const wick_pass *pass;
  double seconds;         /* without verification */
  uint64_t nnode, nbytes; /* after the pass: nodes of the module; allocated memory */
  bool acted;             /* it changed a function */
} wick_pass_time;

typedef struct wick_pipeline {
  wick_module *m;
  wick_target target; /* the host by default */
  /* Parameters of the passes (ir/pass.h); the caller owns the objects. */
  const char *precision;
  bool strict, planned;
  wick_tuning_records *records;
  struct wick_lowered *lowered;
  const struct wick_program *base;
  wick_arena *keep; /* the arena of *lowered; NULL: it lives as long as the pipeline */
  bool verify;      /* verify after each pass; wick_pipeline_begin sets it in debug builds */
  /* Called after each pass; an error ends the run. May be NULL. */
  wick_status (*after)(void *arg, const wick_pass_time *done, const wick_module *m);
  void *arg;
  wick_arena mem;
  wick_list(wick_pass_time) times;
  wick_remarks remarks; /* of the passes; they live as long as *lowered */
  /* Each pass writes its results into a new arena. An arena is freed when no current function lives
   * in it, so that there are mostly two of them. */
  wick_list(struct wick_generation *) generations;
  wick_list(struct wick_version) versions; /* by name in the module */
  uint32_t naccount;
} wick_pipeline;

/* Functions that passes return live until wick_pipeline_free, which accepts a zeroed struct. */
void wick_pipeline_begin(wick_pipeline *p, wick_module *m);
void wick_pipeline_free(wick_pipeline *p);

/* Runs one pass over all functions of its levels. After a failure some functions may be
 * replaced. */
WICK_CHECKED wick_status wick_pipeline_run(wick_pipeline *p, const wick_pass *pass,
                                           wick_arena *tmp);

/* Runs the passes in a list "a,b,c". Fails with WICK_EINVAL, before any pass runs, if one of them
 * does not exist. */
WICK_CHECKED wick_status wick_pipeline_run_all(wick_pipeline *p, const char *names,
                                               wick_arena *tmp);

/* Runs a pipeline of driver/passes.c to its end, or until a pass has run: "constant_fold" for the
 * first time, "constant_fold:2" for the second. Fails with WICK_EINVAL if the pipeline or the pass
 * does not exist, or if the pass did not run. */
WICK_CHECKED wick_status wick_pipeline_run_named(wick_pipeline *p, const char *name,
                                                 const char *until, wick_arena *tmp);

#endif
