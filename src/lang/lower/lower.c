/* The lowering: the entry, and the instances that it reaches. */
#include <stdarg.h>
#include <stdio.h>

#include "ir/verify.h"
#include "lang/lower/state.h"

const lowered *wick_lowering_fail(lowering *s, wick_lang_at at, const char *fmt, ...)
{
  char text[2048];
  va_list args;
  if (s->failed) return wick_lowering_unit(s);
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  s->p->sources.problems.n = 0;
  wick_lang_report(&s->p->sources, at, "%s", text);
  s->failed = wick_lang_problems(&s->p->sources);
  return wick_lowering_unit(s);
}

void wick_lowering_at(lowering *s, lowering_frame *f, wick_lang_at at)
{
  uint32_t line, column;
  if (!at.source || f->placed) return;
  wick_lang_position(&s->p->sources, at, &line, &column);
  f->b->loc =
      wick_loc_add(s->module, wick_str_printf(s->tmp, "%s:%u:%u",
                                              s->p->sources.list.at[at.source].path, line, column));
}

bool wick_lowering_ok(lowering *s, lowering_frame *f)
{
  if (!s->failed) s->failed = f->b->status;
  return !s->failed;
}

/* ---- the entry ---- */

static wick_lang_entity *lower_entry(lowering *s, const wick_lang_module *m, const char *name)
{
  wick_lang_entity *e = NULL;
  for (uint32_t i = 0; i < s->p->fns.n && !e; i++)
    if (s->p->fns.at[i]->at.source == m->source && strcmp(s->p->fns.at[i]->name, name) == 0)
      e = s->p->fns.at[i];
  if (e) return e;
  const char *near = wick_lang_nearest(name, 1, (const wick_lang_map *const[]){&m->own_values});
  s->failed = wick_fail(s->tmp, WICK_EINVAL, m->path, "there is no function `%s`%s%s%s", name,
                        near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return NULL;
}

/* The types of the entry's parameters: sizes are given, or open under the user's names. */
static wick_ty *lower_entry_type(lowering *s, const wick_lang_entity *e,
                                 const wick_lowering_options *o, bool *open)
{
  uint32_t n = e->nvariable;
  wick_ty **to = wick_new(s->tmp, wick_ty *, n), **from = wick_new(s->tmp, wick_ty *, n);
  for (uint32_t i = 0; i < n; i++) {
    const wick_lang_entity *v = e->variable[i];
    from[i] = to[i] = e->typed->variable[i] ? e->typed->variable[i] : s->t->unit;
    if (v->inner || from[i]->kind != WICK_TY_SIZE) continue;
    int64_t least = 0, most = (int64_t)1 << 31;
    for (uint32_t k = 0; k < o->nrange; k++)
      if (strcmp(o->ranges[k].name, v->name) == 0)
        least = o->ranges[k].least, most = o->ranges[k].most;
    wick_dim d = wick_dim_symbol(s->t->dims, v->name, least, most);
    for (uint32_t k = 0; k < o->nsize; k++)
      if (strcmp(o->sizes[k].name, v->name) == 0) d = wick_dim_const(o->sizes[k].value);
    to[i] = wick_ty_size(s->t, d);
    *open = *open || !wick_dim_is_const(d);
  }
  return wick_ty_substitute(s->t, e->scheme->type, n, from, to);
}

static void lower_entry_names(lowering *s, wick_lang_at at, wick_ty *type, const char *name,
                              lowering_frame *f, uint32_t depth)
{
  wick_ty *a = wick_ty_of(type);
  bool is_struct = a->kind == WICK_TY_DATA && a->data->kind == WICK_ENTITY_STRUCT;
  if (a->kind != WICK_TY_TUPLE && !is_struct) {
    wick_type t = wick_lowering_type(s, at, a);
    const char *why = s->failed ? NULL : wick_type_stays(s->module, t, s->tmp);
    if (why)
      wick_lowering_fail(s, at, "the entry `%s` cannot take %s", f->typed->entity->name, why);
    if (!s->failed) wick_build_param(f->b, t, WICK_IN, name);
    return;
  }
  for (uint32_t i = 0; i < wick_lowering_nitem(a) && depth < 100; i++)
    lower_entry_names(
        s, at, wick_lowering_item(s, a, i),
        is_struct ? wick_str_printf(s->tmp, "%s.%s", name, a->data->ctor[0]->decl->kid[i]->name)
                  : wick_str_printf(s->tmp, "%s.%u", name, i),
        f, depth + 1);
}

static void lower_entry_results(lowering *s, const lowered *x, const char *name, lowering_frame *f,
                                lowering_values *out)
{
  const wick_lang_entity *e = f->typed->entity;
  bool is_struct = x->type && x->type->kind == WICK_TY_DATA;
  if (x->kind == LOWERED_FN) {
    wick_lowering_fail(s, e->at, "the entry `%s` cannot give a function", e->name);
    return;
  }
  if (x->kind == LOWERED_ONE) {
    const char *why = wick_type_stays(s->module, wick_built_type(f->b, x->v), s->tmp);
    if (why) wick_lowering_fail(s, e->at, "the entry `%s` cannot give %s", e->name, why);
    if (s->failed) return;
    /* An output is a value of its own. The results of a call that are data are. */
    bool tensor = wick_built_info(f->b, x->v)->kind == WICK_TENSOR;
    wick_value v = tensor ? wick_build_again(f->b, x->v) : x->v;
    wick_build_name(f->b, v, wick_names_add(&s->module->names, name, strlen(name)), WICK_REL_SAME);
    wick_push(s->tmp, out, v);
  }
  for (uint32_t i = 0; i < x->n; i++)
    lower_entry_results(s, x->item[i],
                        is_struct ? wick_str_printf(s->tmp, "%s.%s", name,
                                                    x->type->data->ctor[0]->decl->kid[i]->name)
                                  : wick_str_printf(s->tmp, "%s.%u", name, i),
                        f, out);
}

static bool lower_entry_check(lowering *s, const wick_lang_entity *e, const wick_ty *type)
{
  for (uint32_t i = 0; i + 1 < type->n && !s->failed; i++) {
    wick_ty *p = wick_ty_of(type->arg[i]);
    if (e->decl->kid[0]->kid[i]->flag || wick_lowering_has_fn(s, p))
      wick_lowering_fail(s, e->decl->kid[0]->kid[i]->at,
                         "the entry `%s` cannot have this parameter: it must be known when the "
                         "program is compiled",
                         e->name);
    else if (p->kind == WICK_TY_VAR || (p->kind == WICK_TY_TENSOR && !wick_ty_ready(s->t, p)))
      wick_lowering_fail(s, e->decl->kid[0]->kid[i]->at,
                         "the type of this parameter of the entry `%s` is not known; give it",
                         e->name);
  }
  return !s->failed;
}

/* Describes the parameters and the result. */
static void lower_entry_parts(lowering *s, const wick_lang_entity *e, wick_ty *type)
{
  wick_module *m = s->module;
  lowering_parts param = {0}, result = {0};
  uint32_t narg = type->n - 1;
  wick_push(s->tmp, &param, ((wick_part){.name = "", .type = "", .nitem = narg}));
  for (uint32_t i = 0; i < narg; i++)
    wick_lowering_parts(s, type->arg[i], e->decl->kid[0]->kid[i]->name, &param);
  wick_lowering_parts(s, type->arg[narg], "", &result);
  m->nparam_part = param.n, m->param_part = wick_module_parts(m, param.n, param.at);
  m->nresult_part = result.n, m->result_part = wick_module_parts(m, result.n, result.at);
}

/* Builds "main". `whole`: with a call of the entry's instance; else only its inputs, and outputs of
 * their types. */
static void lower_main(lowering *s, wick_lang_entity *e, wick_ty *type, bool whole)
{
  wick_builder b;
  wick_func *func = NULL;
  lowering_frame f = {.b = &b, .typed = e->typed};
  uint32_t narg = type->n - 1;
  const lowered **arg = wick_new(s->tmp, const lowered *, narg), *x;
  lowering_values out = {0};
  wick_build_begin(&b, s->module, WICK_GRAPH, wick_intern(s->module, "main"), s->mem);
  for (uint32_t i = 0; i < narg && !s->failed; i++)
    lower_entry_names(s, e->decl->kid[0]->kid[i]->at, type->arg[i], e->decl->kid[0]->kid[i]->name,
                      &f, 0);
  if (s->failed) return;
  lower_entry_parts(s, e, type);
  wick_value next = {1};
  for (uint32_t i = 0; i < narg && !s->failed; i++)
    arg[i] = wick_lowering_unflatten(s, &f, type->arg[i], &next);
  if (!wick_lowering_ok(s, &f)) return;
  if (whole) {
    lowered_code code = {.entity = e};
    lowered *fn = wick_lowering_new(s, LOWERED_FN, NULL, 0);
    fn->code = wick_dup(s->tmp, lowered_code, &code, 1);
    f.placed = true; /* no call of the user's program */
    x = wick_lowering_call(s, &f, e->decl, fn, narg, arg, NULL, NULL);
  } else {
    lowering_types types = {0};
    wick_value first = {0};
    wick_lowering_types(s, e->at, type->arg[narg], &types);
    wick_attr callee = {.s = wick_intern(s->module, e->name)}; /* there is no such graph */
    if (types.n && !s->failed)
      first = wick_build(&b, WICK_OP_call, 0, NULL, &callee, types.n, types.at);
    x = s->failed ? wick_lowering_unit(s) : wick_lowering_unflatten(s, &f, type->arg[narg], &first);
  }
  f.placed = false;
  wick_lowering_at(s, &f, e->at);
  if (!s->failed) lower_entry_results(s, x, "result", &f, &out);
  if (!wick_lowering_ok(s, &f)) return;
  wick_build_return(&b, out.n, out.at);
  s->failed = wick_build_end(&b, &func);
  if (!s->failed) wick_module_set(s->module, func);
}

/* Removes the functions that "main" does not reach: those whose calls gave nothing. */
static void lower_reach(lowering *s, const wick_func *f, uint8_t *mark)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t a = 0; a < f->node[i].nattr; a++) {
      if (wick_op_of(&f->node[i])->attr[a].kind != WICK_ATTR_FUNC) continue;
      for (uint32_t k = 0; k < s->module->funcs.n; k++)
        if (!mark[k] && s->module->funcs.at[k]->name == f->node[i].attr[a].s) mark[k] = 1;
    }
}

static void lower_remove(lowering *s)
{
  uint32_t n = s->module->funcs.n;
  uint8_t *mark = wick_new(s->tmp, uint8_t, n); /* 1: reached; 2: and its callees, too */
  const char **name = wick_new(s->tmp, const char *, n);
  bool more = true;
  for (uint32_t k = 0; k < n; k++) {
    name[k] = s->module->funcs.at[k]->name;
    if (strcmp(name[k], "main") == 0) mark[k] = 1;
  }
  while (more) {
    more = false;
    for (uint32_t k = 0; k < n; k++) {
      if (mark[k] != 1) continue;
      mark[k] = 2, more = true;
      lower_reach(s, s->module->funcs.at[k], mark);
    }
  }
  for (uint32_t k = 0; k < n; k++)
    if (!mark[k]) wick_module_remove(s->module, name[k]);
}

static wick_status lower_all(lowering *s, wick_lang_entity *e, wick_ty *type)
{
  lower_main(s, e, type, true);
  while (!s->failed && s->next < s->instances.n) {
    lowering_instance *i = s->instances.at[s->next++];
    if (!i->begun) wick_lowering_body(s, i);
  }
  if (s->failed) return s->failed;
  lower_remove(s);
  return wick_verify_module(s->module, s->tmp);
}

wick_status wick_lang_lower(wick_lang_program *p, wick_types *t, const wick_lang_module *m,
                            const wick_lowering_options *options, bool *out_described,
                            const wick_func **out_main)
{
  char here;
  bool open = false;
  lowering s = {
      .p = p, .t = t, .module = t->module, .mem = options->mem, .tmp = p->mem, .stack = &here};
  wick_lang_entity *e = lower_entry(&s, m, options->entry);
  wick_ty *type = e ? lower_entry_type(&s, e, options, &open) : NULL;
  if (!e || !lower_entry_check(&s, e, type)) return s.failed;
  wick_status bad = lower_all(&s, e, type);
  if (bad && open && out_described) {
    while (t->module->funcs.n) wick_module_remove(t->module, t->module->funcs.at[0]->name);
    s.failed = NULL;
    lower_main(&s, e, type, false);
    *out_described = !s.failed;
    if (!s.failed) bad = NULL;
  }
  *out_main = wick_module_find(s.module, "main");
  return bad;
}
