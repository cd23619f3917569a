/* Copies of a program for some of its sizes and for contents of small inputs: the same groups under
 * the same schedules, with numbers in the place of symbols (ir/specialize_dims.h), so that results have the
 * same bits. Of branches that follow from sizes and held contents one way is left (driver/specialization/branch_decisions.h).
 *
 * What copies are made from is a section of the artifact, `generic`: a module in text, with the low
 * function, its groups, and the constants in the order in which they lie in the blob; small ones
 * with their data. A copy is an artifact of its own whose constants are those of the generic one
 * (runtime/specialization.h). */
#ifndef WICK_DRIVER_SPECIALIZATION_SPECIALIZE_H
#define WICK_DRIVER_SPECIALIZATION_SPECIALIZE_H

#include "base/process.h"
#include "driver/pipeline.h"
#include "lower/lower.h"
#include "runtime/compiled.h"

/* The section's text, of a function that has just been lowered so. */
wick_span wick_specialise_source(const wick_func *low, const wick_lowered *l, wick_arena *mem);

typedef struct wick_specialise {
  wick_span source;
  const wick_target *target;
  const wick_program *program; /* the generic one */
  const int64_t *sizes;        /* a value for each of its symbols */
  const int64_t *held;         /* of its watched inputs: runtime/guards.h */
  uint32_t nmore;              /* sections beside the copy's own */
  const wick_section *more;
  wick_process_control control; /* of the code generator */

  wick_module *module; /* made here; freed, after a longjmp, too, by wick_specialise_end */
  wick_pipeline pipeline;
  wick_arena tmp;
} wick_specialise;

enum { WICK_SPECIALISE_SECTIONS = 8 }; /* of a copy, but for `more` */

/* The artifact of a copy; it lives in `mem`. Fails: WICK_EUNSUPPORTED where the runtime does a part
 * of the program; what the code generator says; WICK_ECANCELED. */
WICK_CHECKED wick_status wick_specialise_make(wick_specialise *s, wick_guard *guard,
                                              wick_arena *mem, wick_artifact_parts *out);
void wick_specialise_end(wick_specialise *s); /* legal twice, and of zeros */

#endif
