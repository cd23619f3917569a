/* Contexts: allocator, limits, and the ways to the user. */
#include "runtime/context.h"

#include <string.h>
#include <time.h>

void wick_options_take(void *out, size_t nout, const void *given, size_t ngiven)
{
  memset(out, 0, nout);
  if (given) memcpy(out, given, ngiven < nout ? ngiven : nout);
}

wick_error *wick_context_create(const wick_options *options, wick_context **out_context)
{
  *out_context = NULL;
  wick_options o;
  wick_options_take(&o, sizeof o, options, options ? options->size : 0);
  wick_allocator a = o.allocator.alloc ? o.allocator : wick_allocator_malloc();
  wick_context *c = a.alloc(a.self, sizeof *c);
  if (!c) return wick_error_nomem();
  *c = (wick_context){o, a};
  *out_context = c;
  return NULL;
}

void wick_context_free(wick_context *context)
{
  if (context) context->allocator.free(context->allocator.self, context, sizeof *context);
}

wick_guard wick_context_guard(const wick_context *c)
{
  return (wick_guard){.allocator = c->allocator, .limit_bytes = c->options.max_bytes};
}

wick_error *wick_guard_error(const wick_guard *g)
{
  static struct wick_error limit = {WICK_ELIMIT, "it needs more memory than the context's limit",
                                    false};
  return g->limited ? &limit : wick_error_nomem();
}

void wick_context_log(const wick_context *c, const char *line)
{
  if (c->options.log) c->options.log(c->options.arg, line);
}

double wick_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

wick_work wick_work_begin(const wick_context *c)
{
  return (wick_work){c, c->options.max_seconds > 0 ? wick_now() + c->options.max_seconds : 0};
}

wick_status wick_work_check(const wick_work *w, wick_arena *mem)
{
  const wick_options *o = &w->context->options;
  if (o->cancel && o->cancel(o->arg)) return wick_fail(mem, WICK_ECANCELED, NULL, "canceled");
  if (w->deadline > 0 && wick_now() > w->deadline)
    return wick_fail(mem, WICK_ELIMIT, NULL, "it takes longer than the limit of %g seconds",
                     o->max_seconds);
  return NULL;
}
