/* The order of inference: data types first, then functions, those that are called before their
 * callers; functions that call each other are inferred together. */
#include "lang/infer_state.h"

/* ---- groups of functions that call each other (Tarjan 1972, without recursion) ---- */

typedef struct order {
  infer *s;
  uint32_t base;                        /* the first function: others count from there */
  wick_list(wick_lang_entity *) callee; /* of all functions */
  uint32_t *first, *end, *low, *at, *stack, *path, nstack, npath, now;
  bool *on;
} order;

static void infer_callees(order *o, const wick_ast *n)
{
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  if (e && (e->kind == WICK_ENTITY_FN || e->kind == WICK_ENTITY_INDEX_OP) && !e->typed)
    wick_push(o->s->mem, &o->callee, n->ref);
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) infer_callees(o, n->kid[i]);
}

/* ---- functions ---- */

static bool infer_is_signed(const wick_lang_entity *e)
{
  const wick_ast *n = e->decl;
  bool all = n->kid[1] != NULL;
  for (uint32_t i = 0; i < n->kid[0]->nkid; i++) all = all && n->kid[0]->kid[i]->kid[0];
  return all;
}

/* Sets the level of the variables that the user named. */
static void infer_levels(infer *s, const wick_typed *f, uint32_t level)
{
  for (uint32_t i = 0; i < f->entity->nvariable; i++) {
    wick_ty *v = f->variable[i];
    if (v && !f->entity->variable[i]->inner && v->kind == WICK_TY_VAR) v->level = level;
  }
  wick_infer_size_levels(s, f, level);
}

wick_typed *wick_infer_typed(infer *s, wick_lang_entity *e)
{
  wick_typed *f = wick_new(s->mem, wick_typed, 1);
  f->entity = e;
  f->type = wick_new(s->mem, wick_ty *, e->nnode);
  f->local = wick_new(s->mem, wick_ty *, e->number);
  f->poly = wick_new(s->mem, wick_scheme *, e->number);
  f->variable = wick_new(s->mem, wick_ty *, e->nvariable);
  return f;
}

/* Makes the function's type from its signature, with unknowns where nothing is said. */
static void infer_begin(infer *s, wick_lang_entity *e)
{
  wick_ast *n = e->decl, *list = n->kid[0];
  wick_typed *f = s->typed = e->typed = wick_infer_typed(s, e);
  wick_ty **param = wick_new(s->mem, wick_ty *, list->nkid), *result;
  for (uint32_t i = 0; i < list->nkid; i++) {
    wick_ast *k = list->kid[i];
    param[i] = k->kid[0] ? wick_infer_annotation(s, k->kid[0]) : wick_ty_var(s->t, WICK_SORT_TYPE);
    if (!k->kid[0]) param[i]->at = k->at;
    f->local[k->ref->number] = f->type[k->id] = param[i];
  }
  result = n->kid[1] ? wick_infer_annotation(s, n->kid[1]) : wick_ty_var(s->t, WICK_SORT_TYPE);
  e->scheme = wick_new(s->mem, wick_scheme, 1);
  e->scheme->type = wick_ty_fn(s->t, list->nkid, param, result);
  e->scheme->monomorphic = !infer_is_signed(e);
  infer_levels(s, f, e->scheme->monomorphic ? 0 : WICK_TY_GENERIC);
}

void wick_infer_body(infer *s, const wick_lang_entity *e, wick_ty *f)
{
  if (e->kind == WICK_ENTITY_INDEX_OP) {
    wick_infer_index_op(s, e, f);
    return;
  }
  wick_ty *result = f->arg[f->n - 1], *body = wick_infer_expr(s, e->decl->kid[2]);
  const wick_ast *block = e->decl->kid[2],
                 *last = block->kind == WICK_AST_BLOCK && block->nkid &&
                                 block->kid[block->nkid - 1]->kind != WICK_AST_LET
                             ? block->kid[block->nkid - 1]
                             : block;
  wick_infer_expect(s, last, body, result, wick_str_printf(s->mem, "the result of `%s`", e->name));
}

/* ---- the end of a group ---- */

static void infer_mark(infer *s, wick_ty *x)
{
  wick_ty *a = wick_ty_of(x);
  if (a->stamp == s->t->stamp) return;
  a->stamp = s->t->stamp, a->copy = a;
  if (a->kind == WICK_TY_SHAPE && a->rest) infer_mark(s, a->rest);
  for (uint32_t i = 0; i < a->n; i++) infer_mark(s, a->arg[i]);
}

static bool infer_marked(infer *s, wick_ty *x)
{
  const wick_ty *a = wick_ty_of(x);
  if (wick_ty_step(s->t)) return false;
  if (a->kind == WICK_TY_VAR) return a->stamp == s->t->stamp;
  if (a->kind == WICK_TY_SHAPE && a->rest && infer_marked(s, a->rest)) return true;
  for (uint32_t i = 0; i < a->n; i++)
    if (infer_marked(s, a->arg[i])) return true;
  return false;
}

static void infer_mark_needs(infer *s, const wick_constraint *c)
{
  for (uint32_t k = 0; k < c->n; k++) infer_mark(s, c->arg[k]);
  if (!c->leaf || !c->leaf->local || wick_ty_step(s->t)) return;
  infer_mark(s, c->leaf->type);
  for (uint32_t k = 0; k < c->leaf->n; k++) infer_mark_needs(s, &c->leaf->needs[k]);
}

/* Literals whose element type nothing decides are f32 or i64, unless the callers decide. */
void wick_infer_defaults(infer *s, uint32_t n, wick_lang_entity *const *group)
{
  for (uint32_t i = 0; i < s->pending.n; i++)
    if (s->pending.at[i].kind == WICK_NEEDS_OPERATOR) wick_infer_from_result(s, &s->pending.at[i]);
  s->t->stamp++;
  for (uint32_t i = 0; i < n; i++) {
    const wick_ty *f = wick_ty_of(group[i]->scheme->type);
    for (uint32_t k = 0; k + 1 < f->n; k++) infer_mark(s, f->arg[k]);
  }
  for (uint32_t round = 0; round < 4; round++)
    for (uint32_t i = 0; i < s->pending.n; i++) {
      const wick_constraint *c = &s->pending.at[i];
      bool any = false;
      for (uint32_t k = 0; k < c->n; k++) any = any || infer_marked(s, c->arg[k]);
      if (any) infer_mark_needs(s, c);
    }
  for (uint32_t i = 0; i < s->literals.n; i++) {
    wick_ty *e = wick_ty_of(s->literals.at[i]);
    if (e->kind != WICK_TY_VAR || !e->literal || e->stamp == s->t->stamp || e->rigid ||
        e->level == WICK_TY_GENERIC)
      continue;
    wick_elem to = e->literal == 2 || !(e->elems & WICK_BIT(WICK_I64)) ? WICK_F32 : WICK_I64;
    if (!(e->elems & WICK_BIT(to))) to = e->elems & WICK_BIT(WICK_F64) ? WICK_F64 : WICK_I64;
    e->link = s->t->elem[to];
  }
  s->literals.n = 0;
  for (uint32_t i = 0; i < s->numbers.n; i++) {
    const wick_ty *e = wick_ty_of(s->numbers.at[i].elem);
    const wick_ast *number = s->numbers.at[i].node;
    if (e->kind == WICK_TY_ELEM && !wick_literal_fits(number, e->elem))
      wick_lang_report(&s->p->sources, number->at, "the number does not fit %s",
                       wick_elem_name(e->elem));
  }
  s->numbers.n = 0;
}

static void infer_end(infer *s, uint32_t n, wick_lang_entity *const *group)
{
  bool open = false;
  wick_infer_solve(s, 0);
  wick_infer_defaults(s, n, group);
  wick_infer_solve(s, 0);
  for (uint32_t i = 0; i < n; i++) {
    const wick_ty *f = wick_ty_of(group[i]->scheme->type);
    for (uint32_t k = 0; k + 1 < f->n; k++)
      open = open || wick_ty_generic(s->t, f->arg[k]) || group[i]->decl->kid[0]->kid[k]->flag;
  }
  if (!open && s->pending.n) {
    s->last = true;
    wick_infer_solve(s, 0);
    s->last = false;
  }
  wick_infer_generalize_needs(s, 0, 0);
  wick_constraint *needs = wick_dup(s->mem, wick_constraint, s->pending.at, s->pending.n);
  for (uint32_t i = 0; i < n; i++) {
    wick_scheme *c = group[i]->scheme;
    infer_levels(s, group[i]->typed, WICK_TY_GENERIC);
    wick_ty_generalize(s->t, c->type, 0);
    c->monomorphic = false;
    c->n = s->pending.n, c->needs = needs;
  }
  wick_infer_capture(s, s->pending.n, needs);
  s->pending.n = 0;
}

static void infer_group(infer *s, uint32_t n, wick_lang_entity *const *group)
{
  if (s->t->exhausted) return;
  s->before = s->p->sources.problems.n;
  s->t->level = 1;
  for (uint32_t i = 0; i < n; i++) {
    s->typed = group[i]->typed;
    infer_levels(s, s->typed, 0);
    group[i]->running = true;
    wick_infer_body(s, group[i], group[i]->scheme->type);
    group[i]->running = false;
    if (!group[i]->scheme->monomorphic) infer_levels(s, group[i]->typed, WICK_TY_GENERIC);
  }
  infer_end(s, n, group);
  wick_infer_effects(s, n, group);
  if (s->t->exhausted)
    wick_lang_report(
        &s->p->sources, group[0]->at,
        "the types of `%s` are too large: give signatures to the functions that it calls",
        group[0]->name);
}

static void infer_visit(order *o, uint32_t root, uint32_t *next)
{
  const wick_lang_program *p = o->s->p;
  o->path[o->npath++] = root;
  while (o->npath) {
    uint32_t v = o->path[o->npath - 1];
    if (!o->at[v]) {
      o->at[v] = o->low[v] = ++o->now;
      o->stack[o->nstack++] = v, o->on[v] = true;
    }
    if (next[v] < o->end[v]) {
      uint32_t w = o->callee.at[next[v]++]->level - o->base;
      if (!o->at[w])
        o->path[o->npath++] = w;
      else if (o->on[w] && o->at[w] < o->low[v])
        o->low[v] = o->at[w];
      continue;
    }
    o->npath--;
    if (o->npath && o->low[v] < o->low[o->path[o->npath - 1]])
      o->low[o->path[o->npath - 1]] = o->low[v];
    if (o->low[v] != o->at[v]) continue;
    uint32_t from = o->nstack;
    do {
      from--;
      o->on[o->stack[from]] = false;
    } while (o->stack[from] != v);
    wick_lang_entity **group = wick_new(o->s->mem, wick_lang_entity *, o->nstack - from);
    for (uint32_t i = from; i < o->nstack; i++) group[i - from] = p->fns.at[o->base + o->stack[i]];
    infer_group(o->s, o->nstack - from, group);
    o->nstack = from;
  }
}

void wick_lang_infer(wick_lang_program *p, wick_types *t)
{
  infer s = {.p = p, .t = t, .mem = p->mem};
  wick_infer_data_sorts(&s);
  for (uint32_t i = 0; i < p->datas.n; i++) wick_infer_data(&s, p->datas.at[i]);
  wick_lang_infer_from(p, t, 0);
}

void wick_lang_infer_from(wick_lang_program *p, wick_types *t, uint32_t first)
{
  infer s = {.p = p, .t = t, .mem = p->mem};
  uint32_t n = p->fns.n - first;
  order o = {.s = &s, .base = first};
  o.first = wick_new(s.mem, uint32_t, n), o.end = wick_new(s.mem, uint32_t, n);
  o.low = wick_new(s.mem, uint32_t, n), o.at = wick_new(s.mem, uint32_t, n);
  o.stack = wick_new(s.mem, uint32_t, n), o.path = wick_new(s.mem, uint32_t, n + 1);
  o.on = wick_new(s.mem, bool, n);
  for (uint32_t i = 0; i < n; i++) {
    wick_lang_entity *e = p->fns.at[first + i];
    e->level = first + i;
    t->most += e->nnode * (uint64_t)500;
    wick_infer_sorts(&s, e);
    o.first[i] = o.callee.n;
    infer_callees(&o, e->decl->kid[2]);
    o.end[i] = o.callee.n;
  }
  s.t->level = 1;
  for (uint32_t i = 0; i < n; i++) infer_begin(&s, p->fns.at[first + i]);
  for (uint32_t i = 0; i < n; i++)
    if (!o.at[i]) infer_visit(&o, i, o.first);
}

const char *wick_lang_signature(wick_types *t, const wick_lang_entity *e)
{
  wick_text out = wick_text_begin(t->mem);
  wick_ty_printer p = {.t = t, .out = &out};
  wick_text_printf(&out, "fn %s(", e->name);
  const wick_ty *f = wick_ty_of(e->scheme->type);
  for (uint32_t i = 0; i + 1 < f->n; i++) {
    if (i) wick_text_add(&out, ", ");
    wick_ty_print(&p, f->arg[i]);
  }
  wick_text_add(&out, ") -> ");
  wick_ty_print(&p, f->arg[f->n - 1]);
  bool any = false;
  for (uint32_t i = 0; i < e->scheme->n && i < 8; i++) {
    const wick_constraint *c = &e->scheme->needs[i];
    if (c->kind != WICK_NEEDS_BROADCAST) continue;
    wick_text_add(&out, any ? ", " : " where ");
    any = true;
    wick_text_char(&out, '[');
    wick_ty_print(&p, c->arg[2]);
    wick_text_add(&out, "] = broadcast([");
    wick_ty_print(&p, c->arg[0]);
    wick_text_add(&out, "], [");
    wick_ty_print(&p, c->arg[1]);
    wick_text_add(&out, "])");
  }
  return out.at;
}
