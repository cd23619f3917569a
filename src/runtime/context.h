/* The context: what every call of the public interface goes by. */
#ifndef WICK_RUNTIME_CONTEXT_H
#define WICK_RUNTIME_CONTEXT_H

#include "base/arena.h"
#include "base/status.h"

struct wick_context {
  wick_options options;
  wick_allocator allocator; /* never zero */
};

/* For the memory of one call, or of one object; `where` is still to be set. */
wick_guard wick_context_guard(const wick_context *c);
/* The error of an entry point that came back by longjmp. */
wick_error *wick_guard_error(const wick_guard *g);

/* A struct of the public interface, which may be of another version: the fields that the caller
 * knows are taken, the others are 0. */
void wick_options_take(void *out, size_t nout, const void *given, size_t ngiven);

/* Long work that can be stopped. */
typedef struct wick_work {
  const wick_context *context;
  double deadline; /* seconds of wick_now; 0: none */
} wick_work;
wick_work wick_work_begin(const wick_context *c); /* its limit in seconds counts from now */
WICK_CHECKED wick_status wick_work_check(const wick_work *w, wick_arena *mem); /* cancel, limit */
void wick_context_log(const wick_context *c, const char *line);

double wick_now(void); /* seconds of a clock that only goes on */

#endif
