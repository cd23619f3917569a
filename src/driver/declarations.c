/* The functions and types of a program. */
#include "driver/model.h"
#include "import/relay/relay.h"
#include "lang/infer.h"

struct wick_declarations {
  wick_context *context;
  wick_guard guard;
  wick_arena mem;
  wick_list(wick_function) functions;
  wick_list(wick_datatype) types;
  wick_list(bool) structs;
};

static void declarations_function(wick_declarations *l, wick_types *t, const wick_lang_entity *e)
{
  const wick_ast *list = e->decl->kid[0];
  const char **param = wick_new(&l->mem, const char *, list->nkid + 1u);
  for (uint32_t i = 0; i < list->nkid; i++) param[i] = wick_str_dup(&l->mem, list->kid[i]->name);
  wick_push(&l->mem, &l->functions,
            ((wick_function){wick_str_dup(&l->mem, e->name),
                             wick_str_dup(&l->mem, wick_lang_signature(t, e)), list->nkid, param}));
}

static void declarations_type(wick_declarations *l, const wick_lang_entity *e)
{
  bool is_struct = e->kind == WICK_ENTITY_STRUCT;
  wick_constructor *c = wick_new(&l->mem, wick_constructor, e->nctor + 1u);
  for (uint32_t k = 0; k < e->nctor; k++) {
    uint32_t n = e->ctor[k]->decl->nkid;
    wick_io *field = wick_new(&l->mem, wick_io, n + 1u);
    for (uint32_t i = 0; i < n; i++)
      field[i].name = is_struct ? wick_str_dup(&l->mem, e->ctor[k]->decl->kid[i]->name)
                                : wick_str_printf(&l->mem, "%u", i);
    c[k].name = wick_str_dup(&l->mem, e->ctor[k]->name);
    c[k].nfield = n, c[k].field = field;
  }
  wick_push(&l->mem, &l->types, ((wick_datatype){wick_str_dup(&l->mem, e->name), e->nctor, c}));
  wick_push(&l->mem, &l->structs, is_struct);
}

static wick_status declarations_read(wick_declarations *l, const char *path, wick_arena *tmp)
{
  wick_lang_program p;
  wick_lang_module *m = NULL;
  wick_types types;
  wick_lang_program_begin(&p, tmp);
  p.reader = &wick_relay_reader;
  WICK_TRY(wick_lang_program_load(&p, path, &m));
  WICK_TRY(wick_lang_problems(&p.sources));
  wick_types_begin(&types, tmp);
  wick_lang_resolve(&p);
  wick_lang_infer(&p, &types);
  wick_status s = wick_lang_problems(&p.sources);
  for (uint32_t i = 0; i < p.fns.n && !s; i++)
    if (p.fns.at[i]->at.source == m->source) declarations_function(l, &types, p.fns.at[i]);
  for (uint32_t i = 0; i < p.datas.n && !s; i++) declarations_type(l, p.datas.at[i]);
  wick_types_end(&types);
  return s;
}

wick_error *wick_declarations_load(wick_context *context, const char *path, wick_declarations **out)
{
  if (!out) return wick_invalid("wick_declarations_load: out_declarations is NULL");
  *out = NULL;
  if (!context || !path)
    return wick_invalid("wick_declarations_load: %s is NULL", context ? "path" : "context");
  wick_allocator a = context->allocator;
  wick_declarations *l = a.alloc(a.self, sizeof *l);
  if (!l) return wick_error_nomem();
  *l = (wick_declarations){.context = context};
  l->guard = wick_context_guard(context);
  l->mem = wick_arena_make(&l->guard);
  wick_arena tmp = wick_arena_make(&l->guard);
  wick_error *e = setjmp(l->guard.where) ? wick_guard_error(&l->guard)
                                         : wick_error_export(declarations_read(l, path, &tmp));
  wick_arena_free(&tmp);
  if (e)
    wick_declarations_free(l);
  else
    *out = l;
  return e;
}

void wick_declarations_free(wick_declarations *l)
{
  if (!l) return;
  wick_allocator a = l->context->allocator;
  wick_arena_free(&l->mem);
  a.free(a.self, l, sizeof *l);
}

const wick_function *wick_declarations_function(const wick_declarations *l, uint32_t i)
{
  return l && i < l->functions.n ? &l->functions.at[i] : NULL;
}

const wick_datatype *wick_declarations_type(const wick_declarations *l, uint32_t i)
{
  return l && i < l->types.n ? &l->types.at[i] : NULL;
}

bool wick_declarations_is_struct(const wick_declarations *l, uint32_t i)
{
  return l && i < l->structs.n && l->structs.at[i];
}
