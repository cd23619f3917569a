/* The context: the allocator, limits and callbacks that every call of the public interface uses. */
#ifndef WICK_RUNTIME_CONTEXT_H
#define WICK_RUNTIME_CONTEXT_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/arguments.h"

struct wick_context {
  wick_options options;
  wick_allocator allocator; /* never zero: malloc and free by default */
};

/* Returns a guard for the memory of one call or one object. The caller sets `where`. */
wick_guard wick_context_guard(const wick_context *c);
/* Returns the error of an entry point that was left by longjmp. Call it while the guard is still
 * watched. */
wick_error *wick_guard_error(const wick_guard *g);

/* Long work that the cancel function or a time limit can stop. */
typedef struct wick_work {
  const wick_context *context;
  double deadline; /* seconds of wick_now; 0: none */
} wick_work;
wick_work wick_work_begin(const wick_context *c); /* its time limit counts from now */
/* Fails with WICK_ECANCELED or WICK_ELIMIT if the work must stop. */
WICK_CHECKED wick_status wick_work_check(const wick_work *w, wick_arena *mem);
/* Makes each allocation with this guard check whether the work must stop, from now on (w NULL: no
 * longer). Forgets an earlier reason to stop. */
void wick_work_watch(const wick_work *w, wick_guard *g);
void wick_context_log(const wick_context *c, const char *line);
void wick_context_remark(const wick_context *c, const char *line);

double wick_now(void); /* seconds of a monotonic clock */

#endif
