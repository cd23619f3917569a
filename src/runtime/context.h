/* The context: what every call of the public interface goes by. */
#ifndef WICK_RUNTIME_CONTEXT_H
#define WICK_RUNTIME_CONTEXT_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/arguments.h"

struct wick_context {
  wick_options options;
  wick_allocator allocator; /* never zero */
};

/* For the memory of one call, or of one object; `where` is still to be set. */
wick_guard wick_context_guard(const wick_context *c);
/* The error of an entry point that came back by longjmp, while the guard is watched still. */
wick_error *wick_guard_error(const wick_guard *g);

/* Long work that can be stopped. */
typedef struct wick_work {
  const wick_context *context;
  double deadline; /* seconds of wick_now; 0: none */
} wick_work;
wick_work wick_work_begin(const wick_context *c); /* its limit in seconds counts from now */
WICK_CHECKED wick_status wick_work_check(const wick_work *w, wick_arena *mem); /* cancel, limit */
/* From now on taking memory of this guard looks whether the work is to end; NULL: it does not. What
 * stopped it before is forgotten. */
void wick_work_watch(const wick_work *w, wick_guard *g);
void wick_context_log(const wick_context *c, const char *line);

double wick_now(void); /* seconds of a clock that only goes on */

#endif
