/* The flow of function values: a union-find structure over places with parts. Every node joins the
 * places of the values that it moves. */
#include "graph/function_flow.h"

#include <string.h>

#include "ir/call.h"

/* ---- places ---- */

static uint32_t flow_place(wick_function_flow *s, wick_type type)
{
  const wick_type_info *t = wick_type_get(s->m, type);
  if (t->kind != WICK_FN && t->kind != WICK_REF && t->kind != WICK_TUPLE) return 0;
  uint32_t *part = wick_new(s->mem, uint32_t, t->nitem);
  for (uint32_t i = 0; i < t->nitem; i++)
    part[i] = flow_place(s, wick_type_get(s->m, type)->item[i]);
  uint32_t id = s->places.n;
  wick_push(s->mem, &s->places, (wick_flow_place){.parent = id, .type = type, .first = s->parts.n});
  for (uint32_t i = 0; i < t->nitem; i++) wick_push(s->mem, &s->parts, part[i]);
  return id;
}

uint32_t wick_flow_class(wick_function_flow *s, uint32_t place)
{
  wick_flow_place *p = s->places.at;
  while (p[place].parent != place) place = p[place].parent = p[p[place].parent].parent;
  return place;
}

/* Functions of the class, and of its parts, stay function values for now. */
static void flow_mark_later(wick_function_flow *s, uint32_t place)
{
  uint32_t a = place ? wick_flow_class(s, place) : 0;
  if (!a || s->places.at[a].later) return;
  s->places.at[a].later = true;
  for (uint32_t k = 0; k < wick_type_get(s->m, s->places.at[a].type)->nitem; k++)
    flow_mark_later(s, wick_flow_part(s, a, k));
}

/* Adds the closures from `member` on to class `a`, each function once. */
static void flow_add_members(wick_function_flow *s, uint32_t a, uint32_t member)
{
  for (uint32_t next; member; member = next) {
    wick_flow_member *w = &s->members.at[member];
    uint32_t *at = &s->places.at[a].member;
    next = w->next;
    while (*at && s->members.at[*at].callee != w->callee) at = &s->members.at[*at].next;
    if (*at) continue;
    w->next = 0;
    *at = member;
  }
}

static void flow_join(wick_function_flow *s, uint32_t a, uint32_t b)
{
  if (!a || !b) return;
  a = wick_flow_class(s, a), b = wick_flow_class(s, b);
  if (a == b) return;
  if (b < a) {
    uint32_t swap = a;
    a = b, b = swap;
  }
  bool later = s->places.at[a].later || s->places.at[b].later;
  s->places.at[b].parent = a;
  flow_add_members(s, a, s->places.at[b].member);
  for (uint32_t k = 0; k < wick_type_get(s->m, s->places.at[a].type)->nitem; k++)
    flow_join(s, wick_flow_part(s, a, k), wick_flow_part(s, b, k));
  s->places.at[a].later = false;
  if (later) flow_mark_later(s, a);
}

/* ---- nodes ---- */

typedef struct flow_at { /* a function, and the places of its values */
  const wick_func *f;
  const uint32_t *value;
} flow_at;

static flow_at flow_of(const wick_function_flow *s, const wick_func *f)
{
  return (flow_at){f, s->value[wick_module_index(s->m, f->name)]};
}

static uint32_t flow_in(const flow_at *at, const wick_node *n, uint32_t k)
{
  return at->value[n->in[k].id];
}

/* The node passes its operands from `from` on to `callee`, after `skip` parameters. */
static void flow_arguments(wick_function_flow *s, const flow_at *at, const wick_node *n,
                           uint32_t from, const wick_func *callee)
{
  flow_at to = flow_of(s, callee);
  for (uint32_t k = from; k < n->nin; k++) flow_join(s, flow_in(at, n, k), to.value[1 + k - from]);
}

static void flow_call(wick_function_flow *s, const flow_at *at, const wick_node *n,
                      const wick_func *callee)
{
  flow_at to = flow_of(s, callee);
  flow_arguments(s, at, n, 0, callee);
  for (uint32_t k = 0; k < n->nout; k++)
    flow_join(s, at->value[n->first.id + k], flow_in(&to, wick_return(callee), k));
}

static void flow_closure(wick_function_flow *s, const flow_at *at, const wick_node *n,
                         const wick_func *callee)
{
  flow_at to = flow_of(s, callee);
  uint32_t place = at->value[n->first.id];
  const wick_type_info *t = wick_type_get(s->m, s->places.at[place].type);
  flow_arguments(s, at, n, 0, callee);
  for (uint32_t k = 0; k < t->ntake; k++)
    flow_join(s, wick_flow_part(s, place, k), to.value[1 + n->nin + k]);
  for (uint32_t k = t->ntake; k < t->nitem; k++)
    flow_join(s, wick_flow_part(s, place, k), flow_in(&to, wick_return(callee), k - t->ntake));
  wick_push(s->mem, &s->members, (wick_flow_member){at->f, callee, n, 0});
  flow_add_members(s, wick_flow_class(s, place), s->members.n - 1);
}

static void flow_apply(wick_function_flow *s, const flow_at *at, const wick_node *n)
{
  uint32_t place = flow_in(at, n, 0);
  for (uint32_t k = 1; k < n->nin; k++)
    flow_join(s, wick_flow_part(s, place, k - 1), flow_in(at, n, k));
  for (uint32_t k = 0; k < n->nout; k++)
    flow_join(s, wick_flow_part(s, place, n->nin - 1u + k), at->value[n->first.id + k]);
}

/* The regions of a node yield its results. A loop also carries them; the fields of data enter the
 * regions of a switch. */
static void flow_regions(wick_function_flow *s, const flow_at *at, const wick_node *n)
{
  bool loop = n->op == WICK_OP_loop;
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    const wick_node *y = &at->f->node[g->end - 1];
    for (uint32_t k = 0; k < n->nout; k++)
      flow_join(s, at->value[n->first.id + k], flow_in(at, y, loop + k));
    for (uint32_t k = 0; n->op == WICK_OP_switch && k < g->nparam; k++) {
      uint32_t data = wick_type_get(s->m, wick_type_of(at->f, n->in[0]))->data;
      flow_join(s, at->value[g->first.id + k], s->field[data][r][k]);
    }
  }
  for (uint32_t k = 0; loop && k + 1 < n->nin; k++) {
    flow_join(s, at->value[n->first.id + k], flow_in(at, n, 1 + k));
    flow_join(s, at->value[n->first.id + k], at->value[n->region[0].first.id + 1 + k]);
  }
}

/* Items of one operand or result, a reference or a tuple, are the others. */
static void flow_items(wick_function_flow *s, uint32_t whole, uint32_t n, const uint32_t *item)
{
  for (uint32_t k = 0; k < n; k++) flow_join(s, wick_flow_part(s, whole, k), item[k]);
}

static void flow_operands(wick_function_flow *s, const flow_at *at, const wick_node *n,
                          const wick_func *callee)
{
  flow_at to = flow_of(s, callee);
  for (uint32_t k = 0; k < n->nin && k < callee->nparam; k++)
    flow_join(s, flow_in(at, n, k), to.value[1 + k]);
}

/* A transformation of a function (vjp, ...) passes its first operands to it, and gives its results
 * first. The function that vjp gives does not exist before vjp is expanded. The derivative of a
 * with_vjp has the operands, too. */
static void flow_transformed(wick_function_flow *s, const flow_at *at, const wick_node *n,
                             const wick_func *callee)
{
  flow_at to = flow_of(s, callee);
  flow_operands(s, at, n, callee);
  const wick_func *own =
      n->op == WICK_OP_with_vjp ? wick_module_find(s->m, n->attr[WICK_ATTR_with_vjp_vjp].s) : NULL;
  if (own) flow_operands(s, at, n, own);
  for (uint32_t k = 0; k < n->nout && k < wick_return(callee)->nin; k++)
    flow_join(s, at->value[n->first.id + k], flow_in(&to, wick_return(callee), k));
  for (uint32_t k = wick_return(callee)->nin; k < n->nout; k++)
    if (at->value[n->first.id + k]) flow_mark_later(s, at->value[n->first.id + k]);
}

static void flow_other(wick_function_flow *s, const flow_at *at, const wick_node *n)
{
  bool moves = false;
  for (uint32_t k = 0; k < n->nin; k++) moves = moves || flow_in(at, n, k);
  for (uint32_t k = 0; k < n->nout; k++) moves = moves || at->value[n->first.id + k];
  if (moves && !s->failed)
    s->failed = wick_fail(s->mem, WICK_EUNSUPPORTED, wick_loc_text(s->m, n->loc),
                          "%s: a function value, or a reference, does not become data here",
                          wick_op_of(n)->name);
}

static void flow_node(wick_function_flow *s, const flow_at *at, const wick_node *n)
{
  const char *name = wick_named_func(n, 0);
  const wick_func *callee = name ? wick_module_find(s->m, name) : NULL;
  bool graph = callee && callee->level == WICK_GRAPH;
  uint32_t *in = wick_new(s->mem, uint32_t, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = flow_in(at, n, k);
  const uint32_t *out = at->value + n->first.id;
  switch (name && !graph ? WICK_OP_none : n->op) {
  case WICK_OP_call: flow_call(s, at, n, callee); return;
  case WICK_OP_closure: flow_closure(s, at, n, callee); return;
  case WICK_OP_apply: flow_apply(s, at, n); return;
  case WICK_OP_if:
  case WICK_OP_loop:
  case WICK_OP_switch: flow_regions(s, at, n); return;
  case WICK_OP_ref_new:
  case WICK_OP_tuple: flow_items(s, out[0], n->nin, in); return;
  case WICK_OP_ref_get: flow_items(s, in[0], n->nout, out); return;
  case WICK_OP_ref_set: flow_items(s, in[0], n->nin - 1u, in + 1); return;
  case WICK_OP_tuple_get:
    flow_join(s, out[0], wick_flow_part(s, in[0], (uint32_t)n->attr[WICK_ATTR_tuple_get_index].i));
    return;
  case WICK_OP_construct: {
    uint32_t data = wick_type_get(s->m, wick_type_of(at->f, n->first))->data;
    for (uint32_t k = 0; k < n->nin; k++)
      flow_join(s, s->field[data][n->attr[WICK_ATTR_construct_ctor].i][k], in[k]);
    return;
  }
  case WICK_OP_yield:
  case WICK_OP_return:
  case WICK_OP_print:
  case WICK_OP_assert: return;
  default:
    if (graph)
      flow_transformed(s, at, n, callee);
    else
      flow_other(s, at, n);
  }
}

/* ---- the module ---- */

static void flow_fields(wick_function_flow *s)
{
  s->field = wick_new(s->mem, uint32_t **, s->m->data.n);
  for (uint32_t d = 1; d < s->m->data.n; d++) {
    const wick_data *data = &s->m->data.at[d];
    s->field[d] = wick_new(s->mem, uint32_t *, data->nctor);
    for (uint32_t c = 0; c < data->nctor; c++) {
      s->field[d][c] = wick_new(s->mem, uint32_t, data->ctor[c].nfield);
      for (uint32_t k = 0; k < data->ctor[c].nfield; k++)
        s->field[d][c][k] = flow_place(s, data->ctor[c].field[k]);
    }
  }
}

/* Returns whether a graph names a function for a value, or takes, holds or gives one, and not only
 * such that are followed later. */
static bool flow_any(wick_function_flow *s)
{
  bool any = false;
  for (uint32_t i = 1; i < s->places.n; i++)
    any = any || (wick_type_get(s->m, s->places.at[i].type)->kind == WICK_FN &&
                  !s->places.at[wick_flow_class(s, i)].later);
  return any;
}

wick_function_flow *wick_functions_follow(wick_module *m, wick_arena *mem)
{
  wick_function_flow *s = wick_new(mem, wick_function_flow, 1);
  *s = (wick_function_flow){.m = m, .mem = mem, .value = wick_new(mem, uint32_t *, m->funcs.n)};
  wick_push(mem, &s->places, (wick_flow_place){0});
  wick_push(mem, &s->members, (wick_flow_member){0});
  flow_fields(s);
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    const wick_func *f = m->funcs.at[i];
    if (f->level != WICK_GRAPH) continue;
    s->value[i] = wick_new(mem, uint32_t, f->nvalue + 1);
    for (uint32_t v = 1; v <= f->nvalue; v++) s->value[i][v] = flow_place(s, f->value[v].type);
  }
  if (!flow_any(s)) return NULL;
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    flow_at at = {m->funcs.at[i], s->value[i]};
    for (uint32_t k = 0; at.value && k < at.f->nnode; k++) flow_node(s, &at, &at.f->node[k]);
  }
  return flow_any(s) ? s : NULL;
}
