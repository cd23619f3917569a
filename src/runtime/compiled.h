/* Compiled models: an artifact in memory whose code is ready to be called. */
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
  wick_files files; /* the artifact's file, if it was read from one */
  wick_span bytes;  /* of the artifact */
  wick_artifact artifact;
  wick_image image;
  wick_program program;
  const void *constants;
  wick_flow_counters *flows;             /* NULL: no branches or loops, or memory ran out */
  wick_specializations *specializations; /* NULL: nothing to specialize for, or memory ran out */
  bool cached;
  bool foreign; /* in: code for another processor is accepted, too. It is then not mapped, has no
                   specializations, and sessions are refused */
};

/* Returns an empty one that wick_compiled_free frees at any time; NULL if there is no memory. Set
 * guard.where before filling it. */
wick_compiled *wick_compiled_new(const wick_context *context);

/* Fills *k from the artifact in `bytes`, which must outlive *k. `location` names it in messages. */
WICK_CHECKED wick_status wick_compiled_take(wick_compiled *k, wick_span bytes,
                                            const char *location);
/* Maps a file and fills *k from the artifact in it. */
WICK_CHECKED wick_status wick_compiled_map(wick_compiled *k, const char *path);

#endif
