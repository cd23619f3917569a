/* Derivatives of models: wick_grad. The model keeps the arguments of each call, because it is
 * imported again if its sizes are given later. */
#include <string.h>

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

/* Finds the type and the name of a tensor of a model with dynamic sizes, in its interface or among
 * its constants. Returns false if it finds none. */
static bool derivative_known(const wick_func *f, const char *name, wick_type *out_type,
                             uint32_t *out_name)
{
  const wick_module *m = f->module;
  uint32_t constant = wick_constant_find(m, name);
  *out_name = wick_names_find(&m->names, name, strlen(name));
  for (uint32_t i = 1; *out_name && i <= f->nvalue; i++)
    if (f->value[i].name == *out_name) {
      *out_type = f->value[i].type;
      return true;
    }
  if (constant) *out_type = wick_constant_get(m, constant)->type;
  return constant != 0;
}

/* Builds the interface of a model with dynamic sizes, with zeros as derivatives. */
static wick_status derivative_described(wick_model *m, const wick_derivative *d,
                                        const wick_func **out)
{
  wick_gradient g;
  const wick_func *f = m->main;
  WICK_TRY(wick_gradient_find(f, d->of, 0, NULL, &m->mem, &g));
  wick_copier c = wick_copy_begin(f, &m->mem);
  const wick_node *end = wick_return(f);
  uint32_t n = end->nin, nwrt = d->nwrt ? d->nwrt : g.nwrt;
  wick_value *result = wick_new(&m->mem, wick_value, n + nwrt);
  const wick_value_info *y = &f->value[g.of[0].id];
  uint32_t given = wick_gradient_name(&c.b, y->name);
  if (d->cotangent)
    wick_build_param(&c.b, y->type, WICK_IN,
                     given ? wick_names_get(&m->module->names, given) : NULL);
  for (uint32_t i = 0; i + 1 < f->nnode; i++) wick_copy_node(&c, &f->node[i]);
  for (uint32_t i = 0; i < n; i++) result[i] = c.to[end->in[i].id];
  for (uint32_t i = 0; i < nwrt; i++) {
    wick_type type = d->nwrt ? (wick_type){0} : wick_type_of(f, g.wrt[i]);
    uint32_t name = d->nwrt ? 0 : f->value[g.wrt[i].id].name;
    if (d->nwrt && !derivative_known(f, d->wrt[i], &type, &name))
      return wick_fail(&m->mem, WICK_EINVAL, wick_path_base(m->path),
                       "there is no tensor \"%s\", as far as is known before sizes are given",
                       d->wrt[i]);
    if (!name && d->nwrt) name = wick_names_add(&m->module->names, d->wrt[i], strlen(d->wrt[i]));
    result[n + i] = wick_build_const(&c.b, type, 0, 0);
    wick_build_name(&c.b, result[n + i], wick_gradient_name(&c.b, name), WICK_REL_SAME);
  }
  wick_build_return(&c.b, n + nwrt, result);
  wick_func *made;
  WICK_TRY(wick_copy_finish(&c, &made));
  *out = made;
  return NULL;
}

static wick_status derivative_add(wick_model *m, const wick_grad_options *o)
{
  WICK_TRY(wick_arguments_names("wrt", o->nwrt, o->wrt, &m->mem));
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
  bool dynamic = wick_model_needs_shapes(m);
  WICK_TRY(dynamic ? derivative_described(m, &d, &f) : wick_model_derive(m, &d, f, &m->mem, &f));
  WICK_TRY(wick_model_take(m, f));
  m->described = m->described || dynamic;
  wick_push(&m->mem, &m->derivatives, d);
  return NULL;
}

wick_error *wick_grad(wick_model *m, const wick_grad_options *options)
{
  if (!m) return wick_invalid("wick_grad: model is NULL");
  wick_grad_options o;
  wick_error *wrong = wick_options_take("wick_grad_options", &o, sizeof o, options);
  if (wrong) return wrong;
  /* without the time limit, which is for compiling */
  const wick_work work = {.context = m->context};
  wick_work_watch(&work, &m->guard);
  wick_error *e = setjmp(m->guard.where) ? wick_guard_error(&m->guard)
                                         : wick_error_export(derivative_add(m, &o));
  wick_work_watch(NULL, &m->guard);
  wick_arena_free(&m->tmp);
  return e;
}
