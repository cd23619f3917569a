/* Instances of functions: one for each combination of types and known functions. */
#include "base/hash.h"
#include "lang/family.h"
#include "lang/lower/state.h"

enum { INSTANCES_MOST = 20000, INSTANCES_MOST_OF_ONE = 3000, INSTANCES_NODES = 4000000 };
enum { INSTANCES_STACK = 4 << 20 };

/* ---- what the instance gets ---- */

const lowered *wick_lowering_argument(lowering *s, lowering_frame *f, wick_lang_at at,
                                      const lowered *x)
{
  if (x->kind == LOWERED_FN && wick_lowering_is_nested(x) && x->type)
    return wick_lowering_plain(s, f, at, x, x->type);
  if (x->kind == LOWERED_ONE || !wick_lowering_is_nested(x)) return x;
  lowered *y = wick_dup(s->tmp, lowered, x, 1);
  y->item = wick_new(s->tmp, const lowered *, x->n);
  for (uint32_t i = 0; i < x->n; i++) y->item[i] = wick_lowering_argument(s, f, at, x->item[i]);
  return y;
}

/* ---- functions that grow ---- */

static void instances_fixed_key(const wick_lang_entity *e, const wick_static *fixed, wick_text *out)
{
  for (uint32_t i = 0; i < e->decl->kid[0]->nkid; i++) {
    if (fixed[i].word) wick_text_printf(out, "\"%s\"", fixed[i].word);
    if (fixed[i].list) wick_text_printf(out, "%d", (int)fixed[i].list);
    for (uint32_t k = 0; k < fixed[i].n; k++)
      wick_text_printf(out, "=%lld,%a", (long long)fixed[i].ints[k], fixed[i].f);
    wick_text_char(out, ';');
  }
}

static bool instances_same_code(const lowered_code *a, const lowered_code *b)
{
  return a->entity == b->entity && a->node == b->node && a->rest == b->rest && a->half == b->half;
}

static bool instances_same(const lowered *a, const lowered *b)
{
  if (a->kind != b->kind || a->n != b->n) return false;
  if (a->kind == LOWERED_ONE && a->in.id != b->in.id) return false;
  if (a->kind == LOWERED_FN && !instances_same_code(a->code, b->code)) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!instances_same(a->item[i], b->item[i])) return false;
  return true;
}

/* Whether a known function in x has captured `part`. */
static bool instances_captures(const lowered *x, const lowered *part, bool captured)
{
  if (captured && instances_same(x, part)) return true;
  captured = captured || x->kind == LOWERED_FN;
  for (uint32_t i = 0; i < x->n; i++)
    if (instances_captures(x->item[i], part, captured)) return true;
  return false;
}

/* Whether x has captured a known function of `old`. */
static bool instances_outgrows(const lowered *x, const lowered *old)
{
  if (old->kind == LOWERED_FN) return instances_captures(x, old, false);
  for (uint32_t i = 0; i < old->n; i++)
    if (instances_outgrows(x, old->item[i])) return true;
  return false;
}

static bool instances_same_types(lowering *s, const lowering_instance *p, const lowered *const *arg,
                                 const wick_static *fixed)
{
  wick_text a = wick_text_begin(s->tmp), b = wick_text_begin(s->tmp);
  for (uint32_t i = 0; i < p->narg; i++) {
    if (p->arg[i]->type) wick_lowering_type_key(s, p->arg[i]->type, &a);
    if (arg[i]->type) wick_lowering_type_key(s, arg[i]->type, &b);
  }
  if (fixed && p->fixed) {
    instances_fixed_key(p->fn->code->entity, p->fixed, &a);
    instances_fixed_key(p->fn->code->entity, fixed, &b);
  }
  return strcmp(a.at, b.at) == 0;
}

/* Returns whether the argument k of a recursive call is a function that has captured one which the
 * caller, or a caller of that, got itself: then there would be no end of instances. */
static bool instances_grows(lowering *s, const lowering_instance *from, const lowered_code *code,
                            uint32_t narg, const lowered *const *arg, const wick_static *fixed,
                            uint32_t k)
{
  for (uint32_t i = 0; i < s->growing.n; i++)
    if (s->growing.at[i].param == k && instances_same_code(s->growing.at[i].code, code))
      return true;
  for (const lowering_instance *p = from; p; p = p->parent) {
    if (!instances_same_code(p->fn->code, code) || p->narg != narg) continue;
    bool grows = false;
    for (uint32_t i = 0; i < narg; i++) grows = grows || instances_outgrows(arg[k], p->arg[i]);
    if (!grows || !instances_same_types(s, p, arg, fixed)) continue;
    wick_push(s->tmp, &s->growing, ((lowering_growth){code, k}));
    return true;
  }
  return false;
}

static bool instances_has_known(const lowered *x)
{
  bool is = x->kind == LOWERED_FN;
  for (uint32_t i = 0; i < x->n; i++) is = is || instances_has_known(x->item[i]);
  return is;
}

/* Makes known functions that grow from call to call values of the graph. */
static void instances_arguments(lowering *s, lowering_frame *f, wick_lang_at at, const lowered *fn,
                                uint32_t narg, const lowered **arg, const wick_static *fixed)
{
  for (uint32_t i = 0; i < narg && !s->failed; i++)
    if (arg[i]->type && instances_has_known(arg[i]) &&
        instances_grows(s, f->instance, fn->code, narg, arg, fixed, i))
      arg[i] = wick_lowering_plain(s, f, at, arg[i], arg[i]->type);
}

/* ---- types ---- */

static wick_ty *instances_want(lowering *s, uint32_t narg, const lowered *const *arg,
                               const wick_ty *fn, wick_ty *result)
{
  wick_ty **type = wick_new(s->tmp, wick_ty *, narg);
  for (uint32_t i = 0; i < narg; i++)
    type[i] = arg[i]->type                                    ? arg[i]->type
              : fn && fn->kind == WICK_TY_FN && i + 1 < fn->n ? fn->arg[i]
                                                              : wick_ty_var(s->t, WICK_SORT_TYPE);
  if (!result && fn && fn->kind == WICK_TY_FN) result = fn->arg[fn->n - 1];
  return wick_ty_fn(s->t, narg, type, result ? result : wick_ty_var(s->t, WICK_SORT_TYPE));
}

/* ---- the table ---- */

static lowering_instance **instances_find(lowering *s, const char *key, uint32_t *slot)
{
  if (s->slots.n < 2 * (s->instances.n + 8)) {
    uint32_t n = s->slots.n ? 2 * s->slots.n : 256;
    s->slots.n = 0;
    while (s->slots.n < n) wick_push(s->tmp, &s->slots, 0);
    for (uint32_t i = 0; i < n; i++) s->slots.at[i] = 0;
    for (uint32_t i = 0; i < s->instances.n; i++) {
      const char *k = s->instances.at[i]->key;
      uint32_t at = (uint32_t)wick_hash_bytes(WICK_HASH_SEED, k, strlen(k)) & (n - 1);
      while (s->slots.at[at]) at = (at + 1) & (n - 1);
      s->slots.at[at] = i + 1;
    }
  }
  uint32_t at = (uint32_t)wick_hash_bytes(WICK_HASH_SEED, key, strlen(key)) & (s->slots.n - 1);
  for (; s->slots.at[at]; at = (at + 1) & (s->slots.n - 1))
    if (strcmp(s->instances.at[s->slots.at[at] - 1]->key, key) == 0)
      return &s->instances.at[s->slots.at[at] - 1];
  *slot = at;
  return NULL;
}

static const char *instances_name(lowering *s, const lowered_code *c)
{
  const char *base = c->entity ? c->entity->name : c->typed->entity->name, *name;
  if (!c->entity) base = wick_str_printf(s->tmp, "%s.fn", base);
  uint32_t count = strcmp(base, "main") == 0, at = 0;
  for (uint32_t i = 0; i < s->instances.n; i++) {
    const lowered_code *o = s->instances.at[i]->fn->code;
    count += o->entity == c->entity && (c->entity || o->typed->entity == c->typed->entity);
  }
  do { /* functions of two modules may have one name */
    name = count ? wick_str_printf(s->tmp, "%s.%u", base, count + 1) : base;
    name = wick_intern(s->module, name);
    for (at = 0; at < s->instances.n && s->instances.at[at]->name != name;) at++;
    count++;
  } while (at < s->instances.n);
  return name;
}

static bool instances_budget(lowering *s, wick_lang_at at, const lowered_code *c)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->instances.n; i++) {
    const lowered_code *o = s->instances.at[i]->fn->code;
    count += c->entity ? o->entity == c->entity : o->node == c->node;
  }
  if (count < INSTANCES_MOST_OF_ONE && s->instances.n < INSTANCES_MOST &&
      s->nnode < INSTANCES_NODES)
    return true;
  wick_lowering_fail(s, at,
                     "the program needs too many versions of `%s`: one for each combination of "
                     "sizes, types and known functions among its arguments",
                     c->entity ? c->entity->name : c->typed->entity->name);
  return false;
}

static void instances_params(lowering *s, const lowered *x, lowering_types *out)
{
  if (x->kind == LOWERED_ONE) wick_push(s->tmp, out, x->in);
  for (uint32_t i = 0; i < x->n; i++) instances_params(s, x->item[i], out);
}

/* The type with the static parameters, which are no arguments. */
static wick_ty *instances_with_fixed(lowering *s, const wick_lang_entity *e, wick_ty *want)
{
  const wick_ast *list = e->decl->kid[0];
  wick_ty **param = wick_new(s->tmp, wick_ty *, list->nkid);
  if (want->n == list->nkid + 1) return want;
  for (uint32_t i = 0, k = 0; i < list->nkid; i++)
    param[i] = list->kid[i]->flag ? wick_ty_var(s->t, WICK_SORT_TYPE) : want->arg[k++];
  return wick_ty_fn(s->t, list->nkid, param, want->arg[want->n - 1]);
}

/* The types in the body follow from those of the arguments, so that instances which differ in known
 * functions share them: then equal literals of theirs are equal functions. */
static const wick_typed *instances_typed(lowering *s, lowering_instance *i, wick_ty *want,
                                         const wick_static *fixed)
{
  const lowered_code *c = i->fn->code;
  bool known = true;
  wick_text key = wick_text_begin(s->tmp);
  wick_text_printf(&key, "%p,%p,%p", (const void *)c->entity, (const void *)c->node,
                   (const void *)c->typed);
  for (uint32_t k = 0; k < want->n; k++) {
    known = known && (k + 1 == want->n || wick_lowering_has_type(s, want->arg[k]));
    wick_lowering_type_key(s, want->arg[k], &key);
  }
  if (fixed && c->entity) instances_fixed_key(c->entity, fixed, &key);
  for (uint32_t k = 0; known && k < s->instances.n; k++)
    if (s->instances.at[k]->typed_key && strcmp(s->instances.at[k]->typed_key, key.at) == 0)
      return s->instances.at[k]->typed;
  i->typed_key = known ? key.at : NULL;
  return c->entity ? wick_lang_instance(s->p, s->t, c->entity, i->at, want, fixed)
                   : wick_lang_instance_literal(s->p, s->t, c->typed, c->node, i->at, want);
}

static void instances_infer(lowering *s, lowering_frame *f, lowering_instance *i, wick_ty *want,
                            const wick_static *fixed)
{
  const lowered_code *c = i->fn->code;
  i->wraps = c->applies || (c->entity && c->entity->kind != WICK_ENTITY_FN &&
                            c->entity->kind != WICK_ENTITY_INDEX_OP);
  if (i->wraps) {
    i->typed = f->typed, i->result_type = wick_ty_of(want->arg[want->n - 1]);
    return;
  }
  if (c->entity) {
    want = instances_with_fixed(s, c->entity, want);
    i->typed = instances_typed(s, i, want, fixed);
  } else if (c->node->kind == WICK_AST_FN) {
    i->typed = instances_typed(s, i, want, NULL);
  } else {
    i->result_type = wick_ty_of(want->arg[want->n - 1]); /* of an arm */
    i->typed = c->typed;
    return;
  }
  if (s->p->sources.problems.n) s->failed = wick_lang_problems(&s->p->sources);
  i->result_type = wick_ty_of(i->typed->fn->arg[i->typed->fn->n - 1]);
}

lowering_instance *wick_lowering_instance(lowering *s, lowering_frame *f, wick_lang_at at,
                                          const lowered *fn, uint32_t narg,
                                          const lowered *const *arg, const wick_static *fixed,
                                          wick_ty *result, bool plain)
{
  wick_ty *want = instances_want(s, narg, arg, fn->type, result);
  wick_text key = wick_text_begin(s->tmp);
  wick_lowering_key(s, fn, &key);
  for (uint32_t i = 0; i < narg; i++) {
    wick_lowering_type_key(s, want->arg[i], &key);
    wick_lowering_key(s, arg[i], &key);
  }
  if (result) wick_lowering_type_key(s, result, &key);
  if (fixed) instances_fixed_key(fn->code->entity, fixed, &key);
  if (plain) wick_text_char(&key, 'p');
  uint32_t slot = 0;
  lowering_instance **found = instances_find(s, key.at, &slot);
  if (found) return *found;
  if (!instances_budget(s, at, fn->code)) return NULL;
  lowering_instance *i = wick_new(s->tmp, lowering_instance, 1);
  lowering_types types = {0};
  instances_params(s, fn, &types);
  for (uint32_t k = 0; k < narg; k++) instances_params(s, arg[k], &types);
  *i = (lowering_instance){.key = key.at,
                           .name = instances_name(s, fn->code),
                           .fn = fn,
                           .narg = narg,
                           .arg = wick_dup(s->tmp, const lowered *, arg, narg),
                           .param = types.at,
                           .nparam = types.n,
                           .plain = plain,
                           .at = at,
                           .parent = f->instance,
                           .fixed = fixed};
  wick_push(s->tmp, &s->instances, i);
  s->slots.at[slot] = s->instances.n;
  instances_infer(s, f, i, want, fixed);
  return s->failed ? NULL : i;
}

/* ---- bodies ---- */

static void instances_locals(lowering *s, lowering_instance *i, lowering_frame *f)
{
  const lowered_code *c = i->fn->code;
  wick_value next = {1};
  if (i->wraps) return;
  const lowered *fn = wick_lowering_replaced(s, i->fn, &next);
  f->matched = fn->item;
  for (uint32_t k = 0; k < c->ncaptured; k++)
    f->local[c->captured[k]->number] = fn->item[c->nmatched + k];
  const wick_ast *decl = c->entity ? c->entity->decl : c->node;
  if (decl->kind != WICK_AST_FN && decl->kind != WICK_AST_OP) return;
  for (uint32_t k = 0, a = 0; k < decl->kid[0]->nkid; k++) {
    const wick_ast *p = decl->kid[0]->kid[k];
    if (p->flag) continue; /* static */
    const lowered *x = wick_lowering_replaced(s, i->arg[a++], &next);
    if (!x->type) {
      lowered *y = wick_dup(s->tmp, lowered, x, 1);
      y->type = wick_ty_of(i->typed->local[p->ref->number]);
      x = y;
    }
    f->local[p->ref->number] = x;
  }
}

static const lowered *instances_wrapped(lowering *s, const lowering_instance *i, lowering_frame *f)
{
  wick_value next = {1};
  const wick_ast place = {.kind = WICK_AST_NAME, .at = i->at, .name_at = i->at};
  const lowered *fn = wick_lowering_replaced(s, i->fn, &next);
  const lowered **arg = wick_new(s->tmp, const lowered *, i->narg);
  for (uint32_t k = 0; k < i->narg; k++) arg[k] = wick_lowering_replaced(s, i->arg[k], &next);
  const wick_ast *keep = wick_dup(s->tmp, wick_ast, &place, 1);
  return wick_lowering_call(s, f, keep, fn, i->narg, arg, NULL, i->result_type);
}

static const lowered *instances_value(lowering *s, lowering_instance *i, lowering_frame *f)
{
  const lowered_code *c = i->fn->code;
  if (i->wraps) return instances_wrapped(s, i, f);
  if (c->entity && c->entity->kind == WICK_ENTITY_INDEX_OP)
    return wick_lowering_notation(s, f, c->entity->decl->kid[2]);
  if (c->rest) return wick_lowering_match_rest(s, f, c->node, c->rest, i->result_type);
  wick_ast *body = c->entity                      ? c->entity->decl->kid[2]
                   : c->node->kind == WICK_AST_FN ? c->node->kid[2]
                                                  : c->node;
  return wick_lowering_expr(s, f, body);
}

typedef wick_list(const char *) instances_names;

static void instances_name_leaves(lowering *s, const lowered *x, const char *name,
                                  instances_names *out)
{
  if (x->kind == LOWERED_ONE) wick_push(s->tmp, out, name);
  for (uint32_t k = 0; k < x->n; k++) instances_name_leaves(s, x->item[k], name, out);
}

/* Returns for each value that the instance takes the name of the parameter, or of what the function
 * has captured; "": it has none. */
static const char *const *instances_param_names(lowering *s, const lowering_instance *i)
{
  const lowered_code *c = i->fn->code;
  const wick_ast *decl = c->entity ? c->entity->decl : c->node;
  bool params = !i->wraps && (decl->kind == WICK_AST_FN || decl->kind == WICK_AST_OP);
  instances_names all = {0};
  for (uint32_t k = 0; k < i->fn->n; k++)
    instances_name_leaves(s, i->fn->item[k],
                          i->wraps || k < c->nmatched ? "" : c->captured[k - c->nmatched]->name,
                          &all);
  for (uint32_t k = 0, a = 0; params && k < decl->kid[0]->nkid; k++)
    if (!decl->kid[0]->kid[k]->flag) /* not static */
      instances_name_leaves(s, i->arg[a++], decl->kid[0]->kid[k]->ref->name, &all);
  while (all.n < i->nparam) wick_push(s->tmp, &all, "");
  return all.at;
}

void wick_lowering_body(lowering *s, lowering_instance *i)
{
  char here;
  int64_t used = s->stack - &here;
  i->begun = true;
  if ((used < 0 ? -used : used) > INSTANCES_STACK) {
    wick_lowering_fail(s, i->at, "functions that return functions are nested too deeply");
    return;
  }
  wick_builder b;
  wick_func *func;
  lowering_frame f = {.b = &b, .typed = i->typed, .instance = i};
  f.local = wick_new(s->tmp, const lowered *, i->typed->entity->number + 1u);
  wick_build_begin(&b, s->module, WICK_GRAPH, i->name, s->mem);
  const char *const *name = instances_param_names(s, i);
  for (uint32_t k = 0; k < i->nparam; k++) wick_build_param(&b, i->param[k], WICK_IN, name[k]);
  instances_locals(s, i, &f);
  const lowered *r = instances_value(s, i, &f);
  bool fixed = !wick_lowering_has_fn(s, i->result_type);
  if (i->plain || fixed) r = wick_lowering_plain(s, &f, i->at, r, i->result_type);
  lowering_values out = {0};
  if (!s->failed) wick_lowering_flatten(s, r, &out);
  if (!wick_lowering_ok(s, &f)) return;
  wick_build_return(&b, out.n, out.at);
  wick_status bad = wick_build_end(&b, &func);
  if (bad) {
    s->failed = bad;
    return;
  }
  s->nnode += func->nnode;
  wick_module_set(s->module, func);
  i->result = r, i->done = true;
}

/* ---- calls ---- */

/* The types of what the instance gives; those of its function once that is built. */
static void instances_results(lowering *s, lowering_instance *i, lowering_types *out)
{
  if (!i->done) {
    wick_lowering_types(s, i->at, i->result_type, out);
    return;
  }
  const wick_func *g = wick_module_find(s->module, i->name);
  const wick_node *r = wick_return(g);
  for (uint32_t k = 0; k < r->nin; k++) wick_push(s->tmp, out, wick_type_of(g, r->in[k]));
}

const lowered *wick_lowering_call_instance(lowering *s, lowering_frame *f, const wick_ast *n,
                                           lowering_instance *i, const lowered *fn, uint32_t narg,
                                           const lowered *const *arg)
{
  bool eager = (!i->plain && wick_lowering_has_fn(s, i->result_type)) ||
               !wick_lowering_is_concrete(s, i->result_type);
  if (eager && !i->begun) wick_lowering_body(s, i);
  if (s->failed) return wick_lowering_unit(s);
  lowering_values in = {0};
  lowering_types out = {0};
  wick_lowering_flatten(s, fn, &in);
  for (uint32_t k = 0; k < narg; k++) wick_lowering_flatten(s, arg[k], &in);
  instances_results(s, i, &out);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_attr callee = {.s = i->name};
  wick_value v = wick_build(f->b, WICK_OP_call, in.n, in.at, &callee, out.n, out.at);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return i->done ? wick_lowering_replaced(s, i->result, &v)
                 : wick_lowering_unflatten(s, f, i->result_type, &v);
}

static const lowered *instances_construct(lowering *s, lowering_frame *f, const wick_ast *n,
                                          const lowered *fn, uint32_t narg,
                                          const lowered *const *arg, wick_ty *result)
{
  const wick_lang_entity *e = fn->code->entity;
  wick_ty *type = result ? wick_ty_of(result) : NULL;
  if (!type && fn->type)
    type = fn->type->kind == WICK_TY_FN ? wick_ty_of(fn->type->arg[fn->type->n - 1]) : fn->type;
  if (!type) return wick_lowering_fail(s, n->at, "the type of `%s` is not known here", e->name);
  if (e->parent->kind == WICK_ENTITY_STRUCT) {
    lowered *x = wick_lowering_new(s, LOWERED_ITEMS, type, narg);
    for (uint32_t i = 0; i < narg; i++) x->item[i] = arg[i];
    return x;
  }
  lowering_values in = {0};
  for (uint32_t i = 0; i < narg && !s->failed; i++) {
    wick_ty *field = wick_lang_field_type(s->t, type, e->index, i);
    wick_lowering_flatten(s, wick_lowering_plain(s, f, n->at, arg[i], field), &in);
  }
  wick_type t = s->failed ? (wick_type){0} : wick_lowering_type(s, n->at, type);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_value v = wick_build_construct(f->b, t, e->index, in.n, in.at);
  return wick_lowering_ok(s, f) ? wick_lowering_one(s, f, v, type) : wick_lowering_unit(s);
}

/* A call of a function value that only the running program knows. */
static const lowered *instances_apply(lowering *s, lowering_frame *f, const wick_ast *n,
                                      const lowered *fn, uint32_t narg, const lowered *const *arg)
{
  lowering_values in = {0};
  const wick_ty *type = fn->type;
  wick_push(s->tmp, &in, fn->v);
  for (uint32_t i = 0; i < narg && !s->failed; i++)
    wick_lowering_flatten(s, wick_lowering_plain(s, f, n->at, arg[i], type->arg[i]), &in);
  if (s->failed) return wick_lowering_unit(s);
  wick_lowering_at(s, f, n->at);
  wick_value v = wick_build(f->b, WICK_OP_apply, in.n, in.at, NULL, 0, NULL);
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  return wick_lowering_unflatten(s, f, type->arg[narg], &v);
}

/* The member of a family for these arguments. */
static const lowered *instances_member(lowering *s, lowering_frame *f, const wick_ast *n,
                                       const wick_lang_entity *family, uint32_t narg,
                                       const lowered *const *arg, wick_ty *result)
{
  wick_lang_operand *operand = wick_new(s->tmp, wick_lang_operand, narg);
  for (uint32_t i = 0; i < narg; i++)
    if (arg[i]->type) wick_lang_operand_of(s->t, arg[i]->type, s->tmp, &operand[i]);
  lowered_code code = {.entity = wick_lang_member(s->p, s->t, family, n, narg, operand)};
  if (s->p->sources.problems.n) s->failed = wick_lang_problems(&s->p->sources);
  if (s->failed) return wick_lowering_unit(s);
  const lowered fn = {.kind = LOWERED_FN, .code = wick_dup(s->tmp, lowered_code, &code, 1)};
  return wick_lowering_call(s, f, n, wick_dup(s->tmp, lowered, &fn, 1), narg, arg, NULL, result);
}

const lowered *wick_lowering_call(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *fn, uint32_t narg, const lowered *const *given,
                                  const wick_static *fixed, wick_ty *result)
{
  if (s->failed) return wick_lowering_unit(s);
  if (fn->kind == LOWERED_FN && fn->code->applies) fn = fn->item[0];
  if (fn->kind == LOWERED_ONE && fn->type->kind == WICK_TY_FN)
    return instances_apply(s, f, n, fn, narg, given);
  if (fn->kind != LOWERED_FN) return wick_lowering_fail(s, n->at, "this is no function");
  wick_lang_entity *e = fn->code->entity;
  wick_entity_kind kind = e ? e->kind : WICK_ENTITY_FN;
  if (kind == WICK_ENTITY_CTOR) return instances_construct(s, f, n, fn, narg, given, result);
  if (kind == WICK_ENTITY_OPERATOR) return wick_lowering_operator(s, f, n, e, narg, given);
  if (kind == WICK_ENTITY_FAMILY) return instances_member(s, f, n, e, narg, given, result);
  if (kind == WICK_ENTITY_FORM) return wick_lowering_transformed(s, f, n, fn, narg, given, result);
  wick_elem elem;
  if (wick_lowering_converts(f, e, &elem)) {
    wick_value v = given[0]->v;
    wick_lowering_at(s, f, n->at);
    return wick_lowering_tensor(s, f, wick_build_cast(f->b, v, elem));
  }
  const lowered **arg = wick_new(s->tmp, const lowered *, narg);
  for (uint32_t i = 0; i < narg; i++) arg[i] = wick_lowering_argument(s, f, n->at, given[i]);
  instances_arguments(s, f, n->at, fn, narg, arg, fixed);
  lowering_instance *i =
      s->failed ? NULL : wick_lowering_instance(s, f, n->at, fn, narg, arg, fixed, result, false);
  bool open = i && wick_lowering_has_fn(s, i->result_type);
  if (open && i->begun && !i->done) /* recursion: its result is not known yet */
    i = wick_lowering_instance(s, f, n->at, fn, narg, arg, fixed, result, true);
  return i ? wick_lowering_call_instance(s, f, n, i, fn, narg, arg) : wick_lowering_unit(s);
}
