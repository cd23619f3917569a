/* Defunctionalization: names a data type and an apply function for each class of function values,
 * declares all functions with their new types, and then builds them again. */
#include "graph/defunctionalize.h"

#include <string.h>

#include "graph/function_flow.h"
#include "ir/build.h"
#include "ir/call.h"
#include "ir/copy.h"

typedef struct defun_class {
  uint32_t place; /* its representative */
  wick_type data;
  const char *apply;
} defun_class;

typedef struct defun_state {
  wick_function_flow *flow;
  wick_module *m;
  wick_arena *mem, *tmp;
  wick_list(defun_class) classes; /* at[0] is unused */
} defun_state;

/* One function that is built again. */
typedef struct defun_copy {
  wick_copier c; /* first: the copier's functions get it */
  defun_state *s;
  const uint32_t *place; /* of the function's values */
} defun_copy;

/* ---- types ---- */

/* Returns the class of a place of function type, which is named when it is first met. */
static const defun_class *defun_class_of(defun_state *s, uint32_t place)
{
  uint32_t id = wick_flow_class(s->flow, place), *number = &s->flow->places.at[id].data;
  for (uint32_t k = 1; !*number; k++) {
    const char *data = wick_str_printf(s->tmp, "fn.%u", k),
               *apply = wick_str_printf(s->tmp, "apply.%u", k);
    wick_type t = wick_data_type(s->m, data);
    bool taken = wick_data_get(s->m, t)->nctor || wick_module_find(s->m, apply);
    for (uint32_t i = 1; i < s->classes.n; i++)
      taken = taken || wick_type_eq(s->classes.at[i].data, t);
    if (taken) continue;
    *number = s->classes.n;
    wick_push(s->tmp, &s->classes, (defun_class){id, t, wick_intern(s->m, apply)});
  }
  return &s->classes.at[*number];
}

/* Returns whether values of the place, which are functions, become data now. */
static bool defun_acts(defun_state *s, uint32_t place)
{
  return place && !s->flow->places.at[wick_flow_class(s->flow, place)].later;
}

/* Returns the type that values at the place have afterwards. */
static wick_type defun_type(defun_state *s, uint32_t place, wick_type type)
{
  wick_type_info t = *wick_type_get(s->m, type);
  if (!place) return type;
  if (t.kind == WICK_FN) return defun_acts(s, place) ? defun_class_of(s, place)->data : type;
  wick_type *item = wick_new(s->tmp, wick_type, t.nitem);
  for (uint32_t k = 0; k < t.nitem; k++)
    item[k] = defun_type(s, wick_flow_part(s->flow, place, k), t.item[k]);
  return t.kind == WICK_REF ? wick_type_ref(s->m, t.nitem, item)
                            : wick_type_tuple(s->m, t.nitem, item);
}

static const uint32_t *defun_places(const defun_state *s, const wick_func *f)
{
  return s->flow->value[wick_module_index(s->m, f->name)];
}

static wick_type defun_value(defun_state *s, const wick_func *f, wick_value v)
{
  return defun_type(s, defun_places(s, f)[v.id], wick_type_of(f, v));
}

/* Types of parts `from` .. `to`-1 of a function value. */
static wick_type *defun_parts(defun_state *s, uint32_t place, uint32_t from, uint32_t to)
{
  const wick_type_info *t = wick_type_get(s->m, s->flow->places.at[place].type);
  wick_type *type = wick_new(s->tmp, wick_type, to - from + 1);
  for (uint32_t k = from; k < to; k++)
    type[k - from] = defun_type(s, wick_flow_part(s->flow, place, k), t->item[k]);
  return type;
}

/* ---- data types, heads ---- */

/* Defines the data type of a class: a constructor for each function, with what its closures
 * capture. Without a function it has one constructor, of which there is no value. */
static void defun_define_class(defun_state *s, defun_class k)
{
  wick_list(wick_ctor) ctor = {0};
  uint32_t at = s->flow->places.at[k.place].member;
  for (; at; at = s->flow->members.at[at].next) {
    const wick_flow_member *w = &s->flow->members.at[at];
    wick_type *field = wick_new(s->tmp, wick_type, w->closure->nin + 1u);
    for (uint32_t i = 0; i < w->closure->nin; i++)
      field[i] = defun_value(s, w->callee, (wick_value){1 + i});
    wick_push(s->tmp, &ctor,
              (wick_ctor){.name = w->callee->name, .nfield = w->closure->nin, .field = field});
  }
  if (!ctor.n) wick_push(s->tmp, &ctor, (wick_ctor){.name = "never"});
  wick_data_define(s->m, k.data, ctor.n, ctor.at);
}

/* Gives fields of function types their data types. `ndata`: the data types before this pass. */
static void defun_redefine(defun_state *s, uint32_t ndata)
{
  for (uint32_t d = 1; d < ndata; d++) {
    const wick_data old = s->m->data.at[d];
    wick_ctor *ctor = wick_dup(s->tmp, wick_ctor, old.ctor, old.nctor);
    for (uint32_t c = 0; c < old.nctor; c++) {
      wick_type *field = wick_dup(s->tmp, wick_type, old.ctor[c].field, old.ctor[c].nfield);
      for (uint32_t i = 0; i < old.ctor[c].nfield; i++)
        field[i] = defun_type(s, s->flow->field[d][c][i], field[i]);
      ctor[c].field = field;
    }
    if (old.nctor) wick_data_define(s->m, old.type, old.nctor, ctor);
  }
}

/* Declares f with its new types, so that calls of it can be built. */
static void defun_declare(defun_state *s, const wick_func *f)
{
  const wick_node *r = wick_return(f);
  wick_type *take = wick_new(s->tmp, wick_type, f->nparam + 1),
            *give = wick_new(s->tmp, wick_type, r->nin + 1u);
  for (uint32_t i = 0; i < f->nparam; i++) take[i] = defun_value(s, f, (wick_value){1 + i});
  for (uint32_t i = 0; i < r->nin; i++) give[i] = defun_value(s, f, r->in[i]);
  wick_module_set(s->m, wick_func_head(s->m, f->level, f->name, f->nparam, take, f->qual, r->nin,
                                       give, s->mem));
}

/* ---- nodes ---- */

static wick_type defun_retype(const wick_copier *c, wick_value old)
{
  const defun_copy *d = (const defun_copy *)c;
  return defun_type(d->s, d->place[old.id], wick_type_of(c->f, old));
}

static bool defun_changes(const defun_copy *d, const wick_node *n)
{
  bool changes = n->op == WICK_OP_apply || n->op == WICK_OP_closure;
  for (uint32_t k = 0; k < n->nin; k++) changes = changes || d->place[n->in[k].id];
  for (uint32_t k = 0; k < n->nout; k++) changes = changes || d->place[n->first.id + k];
  return changes;
}

/* The position of a closure's function among the constructors of its class. */
static int64_t defun_ctor(const defun_state *s, const defun_class *k, const char *callee)
{
  int64_t ctor = 0;
  uint32_t at = s->flow->places.at[k->place].member;
  for (; s->flow->members.at[at].callee->name != callee; at = s->flow->members.at[at].next) ctor++;
  return ctor;
}

/* Builds a node without regions whose operands or results have other types now. */
static void defun_leaf(defun_copy *d, const wick_node *n)
{
  wick_builder *b = &d->c.b;
  wick_value *in = wick_new(d->s->tmp, wick_value, n->nin + 1u), first;
  wick_type *want = wick_new(d->s->tmp, wick_type, n->nout + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = d->c.to[n->in[k].id];
  for (uint32_t k = 0; k < n->nout; k++)
    want[k] = defun_retype(&d->c, (wick_value){n->first.id + k});
  b->loc = n->loc;
  if (n->op == WICK_OP_closure && defun_acts(d->s, d->place[n->first.id])) {
    const defun_class *k = defun_class_of(d->s, d->place[n->first.id]);
    uint32_t ctor = (uint32_t)defun_ctor(d->s, k, n->attr[WICK_ATTR_closure_callee].s);
    first = wick_build_construct(b, want[0], ctor, n->nin, in);
  } else if (n->op == WICK_OP_apply && defun_acts(d->s, d->place[n->in[0].id])) {
    wick_attr callee = {.s = defun_class_of(d->s, d->place[n->in[0].id])->apply};
    first = wick_build(b, WICK_OP_call, n->nin, in, &callee, n->nout, want);
  } else {
    bool typed = wick_op_of(n)->typed;
    first = wick_build(b, n->op, n->nin, in, n->attr, typed ? n->nout : 0, typed ? want : NULL);
  }
  for (uint32_t k = 0; k < n->nout && !b->status; k++) {
    const wick_value_info *old = &d->c.f->value[n->first.id + k];
    d->c.to[n->first.id + k] = (wick_value){first.id + k};
    wick_build_name(b, (wick_value){first.id + k}, old->name, old->relation);
  }
}

static wick_status defun_func(defun_state *s, const wick_func *f, const uint32_t *place,
                              wick_func **out)
{
  defun_copy d = {.s = s, .place = place};
  wick_builder *b = &d.c.b;
  d.c.f = f, d.c.retype = defun_retype, d.c.to = wick_new(s->mem, wick_value, f->nvalue + 1);
  wick_build_begin(b, s->m, f->level, f->name, s->mem);
  wick_build_keep_constraints(b, f);
  for (uint32_t i = 1; i <= f->nparam; i++) {
    const wick_value_info *old = &f->value[i];
    d.c.to[i] = wick_build_param(b, defun_retype(&d.c, (wick_value){i}), f->qual[i - 1], NULL);
    wick_build_name(b, d.c.to[i], old->name, old->relation);
  }
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!n->nregion && !wick_op_of(n)->terminator && defun_changes(&d, n))
      defun_leaf(&d, n);
    else
      wick_copy_node(&d.c, n);
  }
  return wick_copy_finish(&d.c, out);
}

/* ---- apply functions ---- */

/* Builds a region that calls a function with its captured values and the arguments. */
static void defun_apply_arm(defun_state *s, wick_builder *b, const wick_ctor *ctor,
                            const wick_flow_member *w, uint32_t ntake, uint32_t ngive,
                            const wick_type *give)
{
  wick_value *in = wick_new(s->tmp, wick_value, ctor->nfield + ntake + 1),
             *out = wick_new(s->tmp, wick_value, ngive + 1),
             captured = wick_region_begin(b, ctor->nfield, ctor->field);
  for (uint32_t k = 0; k < ctor->nfield; k++) in[k] = (wick_value){captured.id + k};
  for (uint32_t k = 0; k < ntake; k++) in[ctor->nfield + k] = (wick_value){2 + k};
  b->loc = w->closure->loc;
  wick_attr callee = {.s = w->callee->name};
  wick_value first = wick_build(b, WICK_OP_call, ctor->nfield + ntake, in, &callee, ngive, give);
  for (uint32_t k = 0; k < ngive; k++) out[k] = (wick_value){first.id + k};
  wick_yield(b, ngive, out);
}

/* Builds the apply function of a class to which no function flows: it is never called. A call of
 * itself has results of every type. */
static void defun_apply_never(defun_state *s, wick_builder *b, const defun_class *k, uint32_t ntake,
                              uint32_t ngive, const wick_type *give)
{
  wick_value *in = wick_new(s->tmp, wick_value, ntake + ngive + 1u);
  wick_attr callee = {.s = k->apply};
  for (uint32_t i = 0; i <= ntake; i++) in[i] = (wick_value){1 + i};
  wick_value first = wick_build(b, WICK_OP_call, 1 + ntake, in, &callee, ngive, give);
  for (uint32_t i = 0; i < ngive; i++) in[i] = (wick_value){first.id + i};
  wick_build_return(b, ngive, in);
}

static wick_status defun_apply(defun_state *s, uint32_t class)
{
  const defun_class k = s->classes.at[class];
  const wick_type_info *t = wick_type_get(s->m, s->flow->places.at[k.place].type);
  uint32_t ntake = t->ntake, ngive = t->nitem - ntake;
  wick_type *take = defun_parts(s, k.place, 0, ntake),
            *give = defun_parts(s, k.place, ntake, ntake + ngive);
  wick_builder b;
  wick_func *f;
  wick_build_begin(&b, s->m, WICK_GRAPH, k.apply, s->mem);
  wick_value fn = wick_build_param(&b, k.data, WICK_IN, "f"), first;
  for (uint32_t i = 0; i < ntake; i++) wick_build_param(&b, take[i], WICK_IN, NULL);
  uint32_t at = s->flow->places.at[k.place].member;
  if (!at) {
    defun_apply_never(s, &b, &k, ntake, ngive, give);
  } else {
    wick_build_open(&b, WICK_OP_switch, 1, &fn, NULL, 0, NULL);
    for (uint32_t c = 0; at; c++, at = s->flow->members.at[at].next)
      defun_apply_arm(s, &b, &wick_data_get(s->m, k.data)->ctor[c], &s->flow->members.at[at], ntake,
                      ngive, give);
    b.loc = (wick_loc){0};
    first = wick_build_close(&b);
    wick_value *out = wick_new(s->tmp, wick_value, ngive + 1);
    for (uint32_t i = 0; i < ngive; i++) out[i] = (wick_value){first.id + i};
    wick_build_return(&b, ngive, out);
  }
  WICK_TRY(wick_build_end(&b, &f));
  wick_module_set(s->m, f);
  return NULL;
}

/* ---- the module ---- */

/* Function values do not cross the interface of a program. */
static wick_status defun_entry(const defun_state *s)
{
  const wick_func *f = wick_module_find(s->m, "main");
  const wick_node *r = f && f->level == WICK_GRAPH ? wick_return(f) : NULL;
  const uint32_t *place = r ? defun_places(s, f) : NULL;
  for (uint32_t i = 0; r && i < f->nparam; i++)
    if (place[1 + i])
      return wick_fail(s->tmp, WICK_EUNSUPPORTED, f->name,
                       "parameter %u is a function value or a reference, which only the program "
                       "itself can make",
                       i);
  for (uint32_t i = 0; r && i < r->nin; i++)
    if (place[r->in[i].id])
      return wick_fail(s->tmp, WICK_EUNSUPPORTED, f->name,
                       "result %u is a function value or a reference, which only the program "
                       "itself can use",
                       i);
  return NULL;
}

/* Declares all graphs and data types with their new types, then builds them. */
static wick_status defun_module(defun_state *s)
{
  uint32_t n = s->m->funcs.n;
  const wick_func **f = wick_dup(s->tmp, const wick_func *, s->m->funcs.at, n);
  uint32_t **place = s->flow->value;
  wick_push(s->tmp, &s->classes, (defun_class){0});
  WICK_TRY(s->flow->failed);
  WICK_TRY(defun_entry(s));
  defun_redefine(s, s->m->data.n);
  for (uint32_t i = 0; i < n; i++)
    if (place[i]) defun_declare(s, f[i]);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t v = 1; place[i] && v <= f[i]->nvalue; v++)
      (void)defun_type(s, place[i][v], wick_type_of(f[i], (wick_value){v}));
  for (uint32_t k = 1; k < s->classes.n; k++) defun_define_class(s, s->classes.at[k]);
  for (uint32_t k = 1; k < s->classes.n; k++) WICK_TRY(defun_apply(s, k));
  for (uint32_t i = 0; i < n; i++) {
    wick_func *out;
    if (!place[i]) continue;
    WICK_TRY(defun_func(s, f[i], place[i], &out));
    wick_module_set(s->m, out);
  }
  return NULL;
}

wick_status wick_pass_defunctionalize(const wick_pass_context *pass, const wick_func *f,
                                      wick_func **out)
{
  wick_module *m = f->module;
  defun_state s = {.m = m, .mem = pass->mem, .tmp = pass->tmp};
  uint32_t first = 0;
  while (m->funcs.at[first]->level != WICK_GRAPH) first++;
  *out = (wick_func *)(uintptr_t)f;
  if (m->funcs.at[first] != f) return NULL; /* all were built again when it was the first's turn */
  s.flow = wick_functions_follow(m, pass->tmp);
  if (!s.flow) return NULL;
  WICK_TRY(defun_module(&s));
  *out = (wick_func *)(uintptr_t)wick_module_find(m, f->name);
  return NULL;
}
