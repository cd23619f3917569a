/* Contexts: allocator, limits, and the callbacks to the user. */
#include "runtime/context.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

wick_error *wick_context_create(const wick_options *options, wick_context **out_context)
{
  if (!out_context) return wick_invalid("wick_context_create: out_context is NULL");
  *out_context = NULL;
  wick_options o;
  wick_error *wrong = wick_options_take("wick_options", &o, sizeof o, options);
  if (wrong) return wrong;
  if (!o.allocator.alloc != !o.allocator.free)
    return wick_invalid("wick_options: the allocator has only one of alloc and free");
  if (!(o.max_seconds >= 0)) return wick_invalid("wick_options: max_seconds is %g", o.max_seconds);
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

/* Returns the error for a time limit. */
static wick_error *context_late(const wick_work *w)
{
  char text[80];
  snprintf(text, sizeof text, "it takes longer than the limit of %g seconds",
           w->context->options.max_seconds);
  const struct wick_error late = {.code = WICK_ELIMIT, .message = text};
  return wick_error_export(&late);
}

wick_error *wick_guard_error(const wick_guard *g)
{
  static struct wick_error limit = {.code = WICK_ELIMIT,
                                    .message = "it needs more memory than the context's limit"},
                           canceled = {.code = WICK_ECANCELED, .message = "canceled"};
  if (g->stopped == WICK_ELIMIT) return context_late(g->stop_arg);
  if (g->stopped) return &canceled;
  return g->limited ? &limit : wick_error_nomem();
}

void wick_context_log(const wick_context *c, const char *line)
{
  if (c->options.log) c->options.log(c->options.arg, line);
}

void wick_context_remark(const wick_context *c, const char *line)
{
  if (c->options.remark) c->options.remark(c->options.arg, line);
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

/* A wick_guard.stop function. */
static wick_code context_stop(void *arg)
{
  const wick_work *w = arg;
  const wick_options *o = &w->context->options;
  if (o->cancel && o->cancel(o->arg)) return WICK_ECANCELED;
  return w->deadline > 0 && wick_now() > w->deadline ? WICK_ELIMIT : WICK_OK;
}

void wick_work_watch(const wick_work *w, wick_guard *g)
{
  bool any = w && (w->context->options.cancel || w->deadline > 0);
  union {
    const void *c;
    void *p;
  } arg = {w};
  g->stop = any ? context_stop : NULL;
  g->stop_arg = arg.p;
  g->stopped = WICK_OK, g->nuntil = 0;
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
