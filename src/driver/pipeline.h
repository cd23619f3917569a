/* The passes by name, and the driver that runs them over a module: it verifies, times and shows
 * what each has done, and owns the functions that they return. */
#ifndef WICK_DRIVER_PIPELINE_H
#define WICK_DRIVER_PIPELINE_H

#include "ir/ir.h"
#include "loop/records.h"
#include "target/target.h"

/* What a pass that may fail, or that needs more than the function, gets. */
typedef struct wick_pass_context {
  wick_module *module;
  const wick_target *target;
  bool strict;           /* only rewrites of the classes exact and rounding */
  wick_records *records; /* of schedules; NULL: none */
  wick_arena *mem;       /* of the result, and of functions that the pass adds to the module */
  wick_arena *tmp;       /* scratch, rewound after the pass */
} wick_pass_context;

/* What a pass may do to numbers: nothing, or round in another order or another place. */
typedef enum wick_pass_class { WICK_EXACT, WICK_ROUNDING } wick_pass_class;

/* One row: a simple pass is a pure function of a verified function, and cannot fail. Another sets
 * `out`: to a new version (perhaps of another level), to f itself where nothing changes, or to NULL
 * where the function leaves the module; it may add functions by wick_module_set. */
typedef struct wick_pass {
  const char *name;
  uint32_t levels; /* bits of wick_level: of the functions that it is for; others are left alone */
  wick_func *(*rewrite)(const wick_func *f, wick_arena *mem);
  wick_status (*run)(wick_pass_context *c, const wick_func *f, wick_func **out);
  wick_pass_class cls;
  const char *doc;
} wick_pass;

extern const wick_pass wick_passes[]; /* ends with a row without a name */
const wick_pass *wick_pass_find(const char *name);

typedef struct wick_pass_time {
  const wick_pass *pass;
  double seconds;         /* without verification */
  uint64_t nnode, nbytes; /* of the module after it; memory held then */
  bool acted;             /* a function has changed */
} wick_pass_time;

typedef struct wick_pipeline {
  wick_module *m;
  wick_target target;    /* the host's, unless it is set */
  bool strict;           /* only rewrites of the classes exact and rounding */
  wick_records *records; /* of schedules, owned by the caller; NULL: none */
  bool verify;           /* after each pass; wick_pipeline_begin sets it in debug builds */
  void (*after)(void *arg, const wick_pass *pass, const wick_module *m); /* may be NULL */
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

/* From an imported graph to a low function with its memory planned: names, separated by commas. */
extern const char wick_pipeline_compile[];

/* Runs one pass over all functions of its levels. On failure some functions may be new already. */
WICK_CHECKED wick_status wick_pipeline_run(wick_pipeline *p, const wick_pass *pass,
                                           wick_arena *tmp);

/* "a,b,c": WICK_EINVAL, before anything is run, where there is no such pass. */
WICK_CHECKED wick_status wick_pipeline_run_all(wick_pipeline *p, const char *names,
                                               wick_arena *tmp);

#endif
