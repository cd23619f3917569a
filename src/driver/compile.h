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
  wick_given given; /* sizes and contents that the options give */
  uint32_t nprocess;
  bool strict;              /* the public option */
  const char *precision;    /* NULL: none */
  uint32_t nspecialize_dim; /* sizes to specialize for */
  const wick_size *specialize_dims;
  uint32_t nspecialize_input; /* contents of inputs to specialize for */
  const wick_content *specialize_inputs;
  uint32_t ndonate; /* inputs that are donated */
  const char *const *donate;
  bool planned; /* memory is planned for the largest sizes, for bundles */
  uint32_t nshow;
  struct wick_shown *show;
  wick_tuning_records *records; /* read from the file that the options name; NULL: none */
  uint64_t records_hash;        /* of its bytes */
  wick_work work;
  void (*stage)(void *arg, const char *name, double seconds);
  void *arg;
  const struct wick_cache *cache; /* whose section is added to the artifact; NULL: none */
  struct wick_draft *draft;       /* the file in the cache that is being written; NULL: none */
  wick_weights *weights;          /* constants that are being computed; NULL: none */
  wick_specialize specialized;    /* the specialization that is being compiled */

  wick_arena mem, tmp; /* for results and errors; for scratch data */
  wick_module *module;
  bool borrowed; /* the module belongs to the model */
  wick_pipeline pipeline;
  const wick_func *graph; /* as imported */
  double begun;           /* the time when the stage began */
} wick_compilation;

void wick_compilation_begin(wick_compilation *c, wick_model *model); /* the target is the host */
void wick_compilation_free(wick_compilation *c);

/* Sets the public options. */
WICK_CHECKED wick_status wick_compilation_take(wick_compilation *c, const wick_compile_options *o);

/* ---- the stages; each is timed, and can be cancelled ---- */

/* Imports the model into c->module and runs a pipeline of driver/passes.c. *out describes the
 * kernels if the pipeline lowers them. */
WICK_CHECKED wick_status wick_compile_passes(wick_compilation *c, const char *pipeline,
                                             wick_lowered *out);
/* Compiles to loop functions: runs the pipeline `default`. */
WICK_CHECKED wick_status wick_compile_loops(wick_compilation *c, wick_lowered *out);
/* Compiles loop functions to objects. Sets the options that affect numbers, so that they are the
 * same for artifacts and bundles; the caller sets the other options. */
WICK_CHECKED wick_status wick_compile_objects(wick_compilation *c,
                                              const wick_codegen_options *options,
                                              wick_span **out_object, uint32_t *out_n);
/* Begins to compute the constants, in the layout that the code reads, at `to`: l->constant_bytes
 * bytes of zeros. */
void wick_compile_constants(wick_compilation *c, const wick_lowered *l, void *to);
/* Waits until the constants are complete. */
WICK_CHECKED wick_status wick_compile_constants_end(wick_compilation *c);
/* Returns the program's descriptions of l's kernels. */
const wick_program_kernel *wick_compile_kernels(const wick_module *m, const wick_lowered *l,
                                                wick_arena *mem);
/* Ends a stage that has no function here. */
WICK_CHECKED wick_status wick_compilation_stage(wick_compilation *c, const char *name);

typedef struct wick_shown { /* a location in the model whose value becomes an output */
  const char *location;
  uint32_t output; /* out: the output's index; UINT32_MAX: no node has this location */
} wick_shown;

/* Compiles as wick_compile does, with further outputs after the model's: the results of the last
 * nodes at these locations. Does not use the cache. */
wick_error *wick_compile_shown(wick_model *model, const wick_compile_options *options,
                               uint32_t nshow, wick_shown *show, wick_compiled **out_compiled);

/* Runs all stages. The artifact's parts and errors live as long as the compilation and the
 * model. */
WICK_CHECKED wick_status wick_compile_model(wick_compilation *c, wick_artifact_parts *out);

#endif
