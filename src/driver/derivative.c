/* Derivatives of models: wick_grad. What was asked for is kept with the model, as it is imported
 * again where its sizes are given later. */
#include "driver/model.h"
#include "graph/grad/grad.h"
#include "ir/copy.h"
#include "ir/verify.h"
#include "runtime/context.h"

wick_status wick_model_derive(const wick_model *m, const wick_derivative *d, const wick_func *f,
                              wick_arena *mem, const wick_func **out)
{
  wick_gradient g;
  wick_func *made;
  wick_status s = wick_gradient_find(f, d->of, d->nwrt, d->wrt, mem, &g);
  g.given = d->cotangent;
  if (!s) s = wick_differentiate(f, &g, mem, &made);
  if (!s) s = wick_verify_func(made, mem);
  if (s) return wick_fail(mem, s->code, wick_path_base(m->path), "%s", s->message);
  wick_module_set(f->module, made);
  *out = made;
  return NULL;
}

/* The interface of a model whose sizes are open: the derivatives' types, and zeros. */
static wick_status derivative_described(wick_model *m, const wick_derivative *d,
                                        const wick_func **out)
{
  wick_gradient g;
  wick_func *made;
  WICK_TRY(wick_gradient_find(m->main, d->of, d->nwrt, d->wrt, &m->mem, &g));
  g.given = d->cotangent;
  g.flat = true;
  WICK_TRY(wick_differentiate(m->main, &g, &m->mem, &made));
  *out = made;
  return NULL;
}

static wick_status derivative_add(wick_model *m, const wick_grad_options *o)
{
  wick_derivative d = {.of = o->of ? wick_str_dup(&m->mem, o->of) : NULL,
                       .nwrt = o->nwrt,
                       .cotangent = o->cotangent};
  const char **wrt = wick_new(&m->mem, const char *, o->nwrt + 1);
  for (uint32_t i = 0; i < o->nwrt; i++) wrt[i] = wick_str_dup(&m->mem, o->wrt[i]);
  d.wrt = wrt;
  const wick_func *f = m->main;
  if (m->spent)
    return wick_fail(&m->mem, WICK_EINVAL, wick_path_base(m->path),
                     "it has been compiled: derivatives are asked for before");
  bool open = wick_model_open(m);
  WICK_TRY(open ? derivative_described(m, &d, &f) : wick_model_derive(m, &d, f, &m->mem, &f));
  m->main = f;
  m->described = m->described || open;
  wick_push(&m->mem, &m->derivatives, d);
  wick_model_describe(m->main, &m->mem, &m->ninput, &m->noutput, &m->io);
  return NULL;
}

wick_error *wick_grad(wick_model *m, const wick_grad_options *options)
{
  wick_grad_options o;
  wick_options_take(&o, sizeof o, options, options ? options->size : 0);
  wick_error *e = setjmp(m->guard.where) ? wick_guard_error(&m->guard)
                                         : wick_error_export(derivative_add(m, &o));
  wick_arena_free(&m->tmp);
  return e;
}
