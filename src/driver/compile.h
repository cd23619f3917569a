/* The compiler: from a model to an artifact, stage by stage. */
#ifndef WICK_DRIVER_COMPILE_H
#define WICK_DRIVER_COMPILE_H

#include "codegen/options.h"
#include "driver/model.h"
#include "driver/pipeline.h"
#include "driver/specialization/specialize.h"
#include "driver/weights.h"
#include "lower/lower.h"
#include "runtime/compiled.h"
#include "target/target.h"

/* Owned by the entry point, so that it is freed after a longjmp, too. */
typedef struct wick_compilation {
  wick_model *model;
  wick_target target;
  wick_given given; /* of the model's sizes */
  uint32_t nprocess;
  bool strict;              /* as the public option */
  const char *precision;    /* NULL: none */
  uint32_t nspecialize_dim; /* sizes to specialize for */
  const wick_size *specialize_dims;
  uint32_t nspecialize_input; /* contents of inputs to specialize for */
  const wick_content *specialize_inputs;
  bool planned; /* memory has a plan for the most that sizes can be: bundles */
  uint32_t nshow;
  struct wick_shown *show;
  wick_tuning_records *records; /* read from the file that the options name; NULL: none */
  uint64_t records_hash;        /* of its bytes */
  wick_work work;
  void (*stage)(void *arg, const char *name, double seconds);
  void *arg;
  const struct wick_cache *cache; /* whose sections go into the artifact; NULL: none */
  struct wick_draft *draft;       /* the file in the cache that is being written; NULL: none */
  wick_weights *weights;          /* that are being made; NULL: none */
  wick_specialize specialized;    /* the specialization that is being compiled */

  wick_arena mem, tmp; /* of results and errors; scratch */
  wick_module *module;
  bool borrowed; /* the module is the model's */
  wick_pipeline pipeline;
  const wick_func *graph; /* as imported */
  double begun;           /* of the stage */
} wick_compilation;

void wick_compilation_begin(wick_compilation *c, wick_model *model); /* for the host */
void wick_compilation_free(wick_compilation *c);

/* What the public options say. */
WICK_CHECKED wick_status wick_compilation_take(wick_compilation *c, const wick_compile_options *o);

/* ---- the stages; each is timed, and may be cancelled ---- */

/* Import, and a pipeline of driver/passes.c, in c->module; *out is what is said of kernels where
 * they are lowered. */
WICK_CHECKED wick_status wick_compile_passes(wick_compilation *c, const char *pipeline,
                                             wick_lowered *out);
/* To loop functions: the pipeline `default`. */
WICK_CHECKED wick_status wick_compile_loops(wick_compilation *c, wick_lowered *out);
/* These to objects. What changes numbers is set here, and the same for artifacts and bundles; the
 * rest of the options is the caller's. */
WICK_CHECKED wick_status wick_compile_objects(wick_compilation *c,
                                              const wick_codegen_options *options,
                                              wick_span **out_object, uint32_t *out_n);
/* Begins to make the constants as the code wants them at `to`, l->constant_bytes of zeros. */
void wick_compile_constants(wick_compilation *c, const wick_lowered *l, void *to);
/* Until they are made. */
WICK_CHECKED wick_status wick_compile_constants_end(wick_compilation *c);
/* What the program says of l's kernels. */
const wick_program_kernel *wick_compile_kernels(const wick_module *m, const wick_lowered *l,
                                                wick_arena *mem);
/* The end of a stage that is none of these. */
WICK_CHECKED wick_status wick_compilation_stage(wick_compilation *c, const char *name);

typedef struct wick_shown { /* a location in the model whose value becomes an output */
  const char *location;
  uint32_t output; /* out: its number; UINT32_MAX: no node is there */
} wick_shown;

/* wick_compile, but with more outputs after the model's: the results of the last nodes at these locations.
 * Not cached. */
wick_error *wick_compile_shown(wick_model *model, const wick_compile_options *options,
                               uint32_t nshow, wick_shown *show, wick_compiled **out_compiled);

/* All of them. The artifact's parts live as long as the compilation and the model; errors too. */
WICK_CHECKED wick_status wick_compile_model(wick_compilation *c, wick_artifact_parts *out);

#endif
