/* Compiled models: an artifact in memory, its code ready to be called. */
#ifndef WICK_RUNTIME_COMPILED_H
#define WICK_RUNTIME_COMPILED_H

#include "base/file.h"
#include "runtime/context.h"
#include "runtime/flow_counters.h"
#include "runtime/load.h"
#include "runtime/program.h"
#include "runtime/specialization.h"

struct wick_compiled {
  const wick_context *context;
  wick_guard guard;
  wick_arena mem;
  wick_files files; /* the artifact's, where it comes from one */
  wick_span bytes;  /* of the artifact */
  wick_artifact artifact;
  wick_image image;
  wick_program program;
  const void *constants;
  wick_flow_counters *flows; /* NULL: the program decides nothing, or there was no memory */
  wick_specializations *specializations; /* NULL: no size varies, or there was no memory */
  bool cached;
  bool foreign; /* in: code for another processor is taken, too; then it is not mapped, there are no
                   specializations, and sessions are refused */
};

/* Empty; NULL where there is no memory. Freed by wick_compiled_free at any time. Whoever fills it
 * sets guard.where before. */
wick_compiled *wick_compiled_new(const wick_context *context);

/* The artifact in `bytes`, which live as long as *k; `place` names it in messages. */
WICK_CHECKED wick_status wick_compiled_take(wick_compiled *k, wick_span bytes,
                                            const char *location);
/* The artifact in a file. */
WICK_CHECKED wick_status wick_compiled_map(wick_compiled *k, const char *path);

#endif
