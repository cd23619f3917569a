/* Specializes a program for some of its sizes and for contents of small inputs. The groups and
 * their schedules stay the same and numbers replace symbols (ir/specialize_dims.h), so that results
 * have the same bits. Of a branch that sizes or guarded contents decide, only the region that runs
 * is left (driver/specialization/branch_decisions.h).
 *
 * The artifact's section `source` holds the text that is specialized: a module with the low
 * function, its groups, and the constants in the order of the blob, small ones with their data. A
 * specialization is an artifact of its own that uses the constants of the base program
 * (runtime/specialization.h). */
#ifndef WICK_DRIVER_SPECIALIZATION_SPECIALIZE_H
#define WICK_DRIVER_SPECIALIZATION_SPECIALIZE_H

#include "base/process.h"
#include "driver/pipeline.h"
#include "lower/lower.h"
#include "runtime/compiled.h"

/* The text of the section `source` for a function that has just been lowered. */
wick_span wick_specialize_source(const wick_func *low, const wick_lowered *l, wick_arena *mem);

typedef struct wick_specialize {
  wick_span source;
  const wick_target *target;
  const wick_program *program; /* the base program */
  const int64_t *sizes;        /* a value for each of its symbols */
  const int64_t *guards;       /* runtime/guards.h */
  uint32_t nmore;              /* further sections to write */
  const wick_section *more;
  wick_process_control control; /* of the code generator */

  wick_module *module; /* created here; wick_specialize_end frees it, also after a longjmp */
  wick_pipeline pipeline;
  wick_arena tmp;
} wick_specialize;

enum { WICK_SPECIALIZE_SECTIONS = 8 }; /* sections of a specialization, without `more` */

/* Compiles the specialization's artifact into `mem`. Fails with WICK_EUNSUPPORTED if the runtime
 * executes a part of the program, with WICK_ECANCELED, or as the code generator does. */
WICK_CHECKED wick_status wick_specialize_make(wick_specialize *s, wick_guard *guard,
                                              wick_arena *mem, wick_artifact_parts *out);
void wick_specialize_end(wick_specialize *s); /* legal twice, and of zeros */

#endif
