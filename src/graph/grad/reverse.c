/* Builds functions in a form whose derivative keeps values instead of computing them again. */
#include "graph/grad/reverse.h"

#include <string.h>

#include "graph/grad/activity.h"
#include "graph/grad/shadow.h"
#include "graph/promote_refs.h"
#include "ir/call.h"
#include "ir/copy.h"

enum {
  REVERSE_NODES = 1 << 20, /* most nodes of a function with those that it calls */
  REVERSE_ROUNDS = 16
};

/* ---- functions whose calls are inlined ---- */

static bool reverse_inlines(wick_reverse *r, const wick_node *n)
{
  const wick_func *g = n->op == WICK_OP_call ? wick_callee(r->m, n) : NULL;
  return g && !wick_func_recurs(g, r->mem) && !wick_func_is_large(g, r->mem);
}

wick_type wick_reverse_type(const wick_reverse *r, wick_type t)
{
  return wick_shadow_type(r->m, t, r->mem);
}

/* Returns whether n is a checkpoint of a function with effects, or one that takes or gives references
 * to floats. They must not be repeated, so that it keeps values, as a call does. */
static bool reverse_is_call(wick_reverse *r, const wick_node *n)
{
  const wick_func *g = n->op == WICK_OP_checkpoint
                           ? wick_module_find(r->m, n->attr[WICK_ATTR_checkpoint_callee].s)
                           : NULL;
  if (!g) return false;
  const wick_effects effects = wick_effects_of(r->m, r->mem);
  return wick_nodes_act(&effects, g, 0, g->nnode) || wick_shadow_crosses(g);
}

static bool reverse_opens(wick_reverse *r, const wick_node *n)
{
  return wick_op_of(n)->grad == wick_grad_opened || reverse_inlines(r, n) || reverse_is_call(r, n);
}

static wick_status reverse_open_once(wick_reverse *r, const wick_func *f, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, r->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (c.b.status || !reverse_opens(r, n)) {
      wick_copy_node(&c, n);
    } else if (n->op == WICK_OP_checkpoint) {
      wick_node *call = wick_dup(r->mem, wick_node, n, 1);
      call->op = WICK_OP_call, call->nattr = 1;
      wick_copy_node(&c, call);
    } else if (n->op != WICK_OP_call) {
      wick_copy_opened(&c, n);
    } else {
      wick_value *in = wick_new(r->mem, wick_value, n->nin + 1u);
      for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
      c.b.loc = n->loc;
      wick_build_body(&c.b, wick_callee(r->m, n), n, in, &c.to[n->first.id]);
    }
    if (c.b.nodes.n > REVERSE_NODES)
      wick_build_fail(&c.b, WICK_ELIMIT,
                      "together with the functions that it calls it has more than %d nodes",
                      REVERSE_NODES);
  }
  return wick_copy_finish(&c, out);
}

const wick_func *wick_reverse_open(wick_reverse *r, const wick_func *f)
{
  const wick_func *of = f;
  for (uint32_t i = 0; i < r->opened.n; i++)
    if (r->opened.at[i].of == of) return r->opened.at[i].f;
  for (bool again = true; again && !r->status;) {
    wick_func *next;
    again = false;
    for (uint32_t i = 0; i < f->nnode; i++) again = again || reverse_opens(r, &f->node[i]);
    if (!again) break;
    wick_reverse_failed(r, reverse_open_once(r, f, &next));
    if (!r->status) f = next;
  }
  const wick_pass_context pass = {.mem = r->mem, .tmp = r->mem};
  wick_func *promoted = NULL; /* references that calls took are known now */
  if (!r->status) wick_reverse_failed(r, wick_pass_promote_refs(&pass, f, &promoted));
  if (!r->status) f = promoted;
  wick_push(r->mem, &r->opened, (wick_reverse_opened){of, f});
  return f;
}

const wick_func *wick_reverse_caller(wick_reverse *r, const wick_func *f)
{
  wick_builder c;
  wick_func *made = NULL;
  const wick_node *end = wick_return(f);
  if (r->status || !wick_func_recurs(f, r->mem)) return f;
  wick_build_begin(&c, r->m, WICK_GRAPH, f->name, r->mem);
  wick_value *v = wick_new(r->mem, wick_value, (size_t)f->nparam + end->nin + 1);
  wick_type *type = wick_new(r->mem, wick_type, end->nin + 1u);
  for (uint32_t k = 0; k < f->nparam; k++)
    v[k] = wick_build_param(&c, f->value[1 + k].type, WICK_IN, NULL);
  for (uint32_t k = 0; k < end->nin; k++) type[k] = wick_type_of(f, end->in[k]);
  wick_attr callee = {.s = f->name};
  wick_value first = wick_build(&c, WICK_OP_call, f->nparam, v, &callee, end->nin, type);
  for (uint32_t k = 0; k < end->nin; k++) v[k] = (wick_value){first.id + k};
  wick_build_return(&c, end->nin, v);
  wick_reverse_failed(r, wick_build_end(&c, &made));
  return made;
}

/* ---- calls ---- */

/* Returns whether f passes its parameter k on as it is, to a function that calls itself. */
static bool reverse_passes(const wick_func *f, uint32_t k)
{
  const wick_type_info *t = wick_info_of(f, (wick_value){k + 1});
  bool passes = false;
  for (uint32_t i = 0; i < f->nnode && t->kind == WICK_TENSOR && t->rank; i++)
    for (uint32_t x = 0; x < f->node[i].nin && f->node[i].op == WICK_OP_call; x++)
      passes = passes || f->node[i].in[x].id == k + 1;
  return passes;
}

static wick_reverse_unit *reverse_unit(wick_reverse *r, const wick_func *g, const bool *active)
{
  wick_text mask = wick_text_begin(r->mem);
  for (uint32_t k = 0; k < g->nparam; k++)
    if (active[k]) wick_text_printf(&mask, ".%u", k);
  for (uint32_t i = 0; i < r->units.n; i++)
    if (r->units.at[i]->source == g->name && strcmp(r->units.at[i]->mask, mask.at) == 0)
      return r->units.at[i];
  wick_reverse_unit *u = wick_new(r->mem, wick_reverse_unit, 1);
  u->source = g->name, u->mask = mask.at;
  /* Functions of an expansion before this one have calls, which know what they keep: they stay. */
  for (uint32_t k = 0; !k || wick_module_find(r->m, u->fwd_name); k++) {
    const char *more = k ? wick_str_printf(r->mem, ".v%u", k) : "";
    u->fwd_name = wick_intern(r->m, wick_str_printf(r->mem, "%s.fwd%s%s", g->name, mask.at, more));
    u->bwd_name = wick_intern(r->m, wick_str_printf(r->mem, "%s.bwd%s%s", g->name, mask.at, more));
  }
  u->f = wick_reverse_open(r, g);
  u->active = wick_dup(r->mem, bool, active, g->nparam + 1u);
  u->sum = wick_new(r->mem, wick_type, g->nparam + 1u);
  u->needs = wick_new(r->mem, bool, g->nparam + 1u);
  for (uint32_t k = 0; k < g->nparam; k++)
    if (active[k] && reverse_passes(u->f, k)) u->sum[k] = wick_reverse_sum_type(r, u->f, k);
  wick_push(r->mem, &r->units, u);
  return u;
}

wick_value *wick_reverse_operands(wick_builder *b, const wick_reverse_unit *u,
                                  const wick_value *param, const wick_value *kept,
                                  const wick_value *dout, const wick_value *sum, uint32_t *out_n)
{
  const wick_func *f = u->f;
  const wick_node *end = wick_return(f);
  uint32_t n = 0;
  wick_value *in = wick_new(b->mem, wick_value, 2u * f->nparam + u->nkept + (size_t)end->nin + 1);
  for (uint32_t k = 0; k < f->nparam; k++)
    if (u->needs[k]) in[n++] = param[k];
  for (uint32_t k = 0; k < u->nkept; k++) in[n++] = kept[k];
  for (uint32_t k = 0; k < end->nin; k++) {
    wick_type t = wick_shadow_type(b->module, wick_type_of(f, end->in[k]), b->mem);
    if (wick_has_cotangent(b->module, t))
      in[n++] = dout[k].id ? dout[k] : wick_cotangent_zero(b, t);
  }
  for (uint32_t k = 0; k < f->nparam; k++)
    if (u->sum[k].id)
      in[n++] = wick_reverse_sum_fits(b, sum[k], u->sum[k]) ? sum[k]
                                                            : wick_reverse_sum_zero(b, u->sum[k]);
  *out_n = n;
  return in;
}

typedef struct reverse_called { /* a call of a forward half */
  const wick_reverse_unit *u;
  const wick_value *arg;
  wick_value first;
} reverse_called;

static void reverse_called_grad(wick_adjoint *a, void *arg)
{
  const reverse_called *c = arg;
  const wick_reverse_unit *u = c->u;
  wick_builder *b = a->b;
  uint32_t np = u->f->nparam, nout = wick_return(u->f)->nin, n, at = 0;
  wick_value *kept = wick_new(b->mem, wick_value, u->nkept + 1),
             *sum = wick_new(b->mem, wick_value, np + 1);
  wick_type *type = wick_new(b->mem, wick_type, np + 1);
  for (uint32_t k = 0; k < u->nkept; k++) kept[k] = (wick_value){c->first.id + nout + k};
  for (uint32_t k = 0; k < np; k++) {
    if (!u->active[k]) continue;
    sum[k] = a->sum[at];
    wick_type own = wick_shadow_type(b->module, u->f->value[1 + k].type, b->mem);
    type[at++] = u->sum[k].id ? u->sum[k] : wick_cotangent_type(b->module, own, b->mem);
  }
  wick_value *in = wick_reverse_operands(b, u, c->arg, kept, a->dout, sum, &n);
  wick_attr callee = {.s = u->bwd_name};
  wick_value v = wick_build(b, WICK_OP_call, n, in, &callee, at, type);
  for (uint32_t k = 0, i = 0; k < np && !b->status; k++) {
    if (!u->active[k]) continue;
    wick_reverse_sum_give(a, i, (wick_value){v.id + i}, u->sum[k]);
    i++;
  }
}

static void reverse_call(wick_reverse_walk *w, const wick_node *n, const wick_func *g)
{
  wick_builder *b = w->b;
  wick_arena *mem = b->mem;
  bool *active = wick_new(mem, bool, n->nin + 1u);
  wick_value *arg = wick_new(mem, wick_value, n->nin + 1u),
             *in = wick_new(mem, wick_value, n->nin + 1u);
  uint32_t nin = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    arg[k] = wick_replayed(&w->to, n->in[k]);
    active[k] = w->active[n->in[k].id];
    if (active[k]) in[nin++] = arg[k];
  }
  const wick_reverse_unit *u = reverse_unit(w->r, g, active);
  wick_type *type = wick_new(mem, wick_type, n->nout + u->nkept + 1u);
  for (uint32_t k = 0; k < n->nout; k++)
    type[k] = wick_reverse_type(w->r, wick_type_of(w->f, (wick_value){n->first.id + k}));
  for (uint32_t k = 0; k < u->nkept; k++) type[n->nout + k] = u->kept[k];
  wick_attr callee = {.s = u->fwd_name};
  wick_value v = wick_build(b, WICK_OP_call, n->nin, arg, &callee, n->nout + u->nkept, type);
  reverse_called *c = wick_new(mem, reverse_called, 1);
  *c = (reverse_called){u, arg, v};
  for (uint32_t k = 0; k < n->nout; k++) w->to.to[n->first.id + k] = (wick_value){v.id + k};
  wick_push(mem, &w->own,
            (wick_grad_own){.node = b->nodes.n - 1,
                            .nin = nin,
                            .in = in,
                            .grad = reverse_called_grad,
                            .arg = c,
                            .always = wick_shadow_moves(w->f, n)});
}

/* ---- checkpoints ---- */

/* Finds the functions that the derivative of f calls. */
static void reverse_discover(wick_reverse *r, const wick_func *f, const bool *active,
                             const char *prefix)
{
  wick_builder b;
  uint32_t ntype = 0;
  wick_build_begin(&b, r->m, WICK_GRAPH, f->name, r->mem);
  wick_value *in = wick_new(r->mem, wick_value, f->nparam + 1),
             *out = wick_new(r->mem, wick_value, wick_return(f)->nin + 1u);
  for (uint32_t k = 0; k < f->nparam; k++)
    in[k] = wick_build_param(&b, wick_reverse_type(r, f->value[1 + k].type), WICK_IN, NULL);
  wick_reverse_walk w = {.r = r, .b = &b, .prefix = prefix, .ntype = &ntype};
  wick_reverse_body(&w, f, in, active, NULL, out);
  wick_reverse_failed(r, b.status);
}

typedef struct reverse_checkpoint {
  wick_reverse *r;
  const wick_func *f;
  const wick_value *arg;
  const bool *active;
  const char *prefix;
} reverse_checkpoint;

/* Builds the function again on operands that are not merged with the arguments, and differentiates
 * that. */
static void reverse_checkpoint_grad(wick_adjoint *a, void *arg)
{
  const reverse_checkpoint *c = arg;
  wick_builder *b = a->b;
  uint32_t np = c->f->nparam, nout = wick_return(c->f)->nin, nwrt = 0, nof = 0, ntype = 0;
  wick_value *in = wick_new(b->mem, wick_value, np + 1),
             *out = wick_new(b->mem, wick_value, nout + 1),
             *wrt = wick_new(b->mem, wick_value, np + 1),
             *dout = wick_new(b->mem, wick_value, nout + 1);
  for (uint32_t k = 0; k < np && !b->status; k++) {
    bool tensor = wick_built_info(b, c->arg[k])->kind == WICK_TENSOR;
    in[k] = tensor ? wick_build1(b, WICK_OP_barrier, c->arg[k]) : c->arg[k];
    if (c->active[k]) wrt[nwrt++] = in[k];
  }
  uint32_t begin = b->nodes.n;
  wick_reverse_walk w = {.r = c->r, .b = b, .prefix = c->prefix, .ntype = &ntype};
  wick_reverse_body(&w, c->f, in, c->active, NULL, out);
  for (uint32_t k = 0; k < nout; k++)
    if (a->dout[k].id) out[nof] = out[k], dout[nof++] = a->dout[k];
  const wick_grad_request q = {.begin = begin,
                               .end = b->nodes.n,
                               .nof = nof,
                               .of = out,
                               .cotangent = dout,
                               .nwrt = nwrt,
                               .wrt = wrt,
                               .nown = w.own.n,
                               .own = w.own.at};
  if (!b->status) wick_grad_build(b, &q, a->din);
}

static void reverse_checkpoint_call(wick_reverse_walk *w, uint32_t i, const wick_func *g)
{
  wick_arena *mem = w->b->mem;
  const wick_node *n = &w->f->node[i];
  reverse_checkpoint *c = wick_new(mem, reverse_checkpoint, 1);
  wick_value *arg = wick_new(mem, wick_value, n->nin + 1u),
             *in = wick_new(mem, wick_value, n->nin + 1u);
  bool *active = wick_new(mem, bool, n->nin + 1u);
  uint32_t nin = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    arg[k] = wick_replayed(&w->to, n->in[k]);
    active[k] = w->active[n->in[k].id];
    if (active[k]) in[nin++] = arg[k];
  }
  g = wick_reverse_caller(w->r, g);
  if (w->r->status || w->b->status) return;
  *c = (reverse_checkpoint){w->r, wick_reverse_open(w->r, g), arg, active,
                            wick_str_printf(mem, "%s.%u", w->prefix, (*w->ntype)++)};
  if (w->r->status) return;
  reverse_discover(w->r, c->f, active, c->prefix);
  wick_replay_nodes(&w->to, i, n->end);
  wick_push(mem, &w->own,
            (wick_grad_own){.node = w->b->nodes.n - 1,
                            .nin = nin,
                            .in = in,
                            .grad = reverse_checkpoint_grad,
                            .arg = c});
}

/* ---- the walk ---- */

static void reverse_node(wick_reverse_walk *w, uint32_t i)
{
  const wick_node *n = &w->f->node[i];
  wick_builder *b = w->b;
  const wick_func *g = n->op == WICK_OP_call || n->op == WICK_OP_checkpoint
                           ? wick_module_find(w->r->m, n->attr[WICK_ATTR_call_callee].s)
                           : NULL;
  bool moves = wick_shadow_moves(w->f, n), any = moves;
  for (uint32_t k = 0; k < n->nout; k++) any = any || w->active[n->first.id + k];
  if (any) b->loc = wick_loc_inlined(b->module, n->loc, w->to.call);
  if (any && n->op == WICK_OP_call && g) {
    reverse_call(w, n, g);
  } else if (any && n->op == WICK_OP_checkpoint && g) {
    reverse_checkpoint_call(w, i, g);
  } else if (n->nregion && (moves || (any && wick_reverse_keeps(w->f, n)))) {
    if (n->op == WICK_OP_loop)
      wick_reverse_loop(w, i);
    else
      wick_reverse_branch(w, i);
  } else if (wick_shadow_on(w->f, n)) {
    wick_reverse_ref(w, n);
  } else if (moves) {
    wick_shadow_replay(&w->to, i);
  } else {
    wick_replay_nodes(&w->to, i, n->end);
  }
}

void wick_reverse_body(wick_reverse_walk *w, const wick_func *f, const wick_value *in,
                       const bool *active, const wick_type *sum, wick_value *out)
{
  wick_builder *b = w->b;
  wick_loc loc = b->loc;
  bool *act = wick_new(b->mem, bool, f->nvalue + 1);
  wick_type *add = wick_new(b->mem, wick_type, f->nvalue + 1);
  if (b->status || w->r->status) return;
  w->f = f;
  w->to = wick_replay_func(b, f);
  w->to.call = loc;
  for (uint32_t k = 0; k < f->nparam; k++) {
    w->to.to[1 + k] = in[k];
    act[1 + k] = active[k] && wick_has_cotangent(b->module, f->value[1 + k].type);
    if (sum) add[1 + k] = sum[k];
  }
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_build_shape_constraint(b, f->constraint[i].a, f->constraint[i].b, f->constraint[i].loc);
  wick_activity(f, act);
  w->active = act, w->sum = add;
  wick_refuse_hidden(b, f, act);
  for (uint32_t i = 0; i + 1 < f->nnode && !b->status; i = f->node[i].end) reverse_node(w, i);
  for (uint32_t k = 0; k < wick_return(f)->nin; k++)
    out[k] = wick_replayed(&w->to, wick_return(f)->in[k]);
  b->loc = loc;
}

/* ---- halves ---- */

void wick_reverse_halves(wick_reverse *r, wick_reverse_unit *u, const char *prefix, uint32_t *ntype)
{
  wick_builder b;
  wick_func *joint;
  const wick_func *f = u->f;
  const wick_node *end = wick_return(f);
  uint32_t np = f->nparam, nout = end->nin, nwrt = 0, nof = 0;
  wick_build_begin(&b, r->m, WICK_GRAPH, f->name, r->mem);
  wick_value *in = wick_new(r->mem, wick_value, np + 1),
             *wrt = wick_new(r->mem, wick_value, np + 1),
             *initial = wick_new(r->mem, wick_value, np + 1),
             *out = wick_new(r->mem, wick_value, (size_t)nout + np + 1),
             *of = wick_new(r->mem, wick_value, nout + 1u),
             *dout = wick_new(r->mem, wick_value, nout + 1u);
  for (uint32_t k = 0; k < np; k++) {
    wick_type t = f->value[1 + k].type;
    in[k] = wick_build_param(&b, u->outside ? t : wick_reverse_type(r, t), WICK_IN, NULL);
  }
  for (uint32_t k = 0; k < nout; k++) {
    wick_type t = wick_reverse_type(r, wick_type_of(f, end->in[k]));
    if (wick_has_cotangent(r->m, t))
      dout[k] = wick_build_param(&b, wick_cotangent_type(r->m, t, r->mem), WICK_IN, NULL);
  }
  wick_reverse_walk w = {.r = r, .b = &b, .prefix = prefix, .ntype = ntype};
  for (uint32_t k = 0; k < np && u->outside; k++) in[k] = wick_reverse_enter(&w, f, k, in[k]);
  for (uint32_t k = 0; k < np; k++) {
    if (!u->active[k]) continue;
    if (u->sum[k].id) initial[nwrt] = wick_build_param(&b, u->sum[k], WICK_IN, NULL);
    wrt[nwrt++] = in[k];
  }
  wick_reverse_body(&w, f, in, u->active, u->sum, out);
  wick_reverse_failed(r, b.status);
  if (r->status) return;
  for (uint32_t k = 0; k < nout; k++)
    if (dout[k].id) of[nof] = out[k], dout[nof++] = dout[k];
  for (uint32_t k = 0; k < nout && u->outside; k++)
    out[k] = wick_shadow_leave(&b, out[k], wick_type_of(f, end->in[k]));
  const wick_grad_request q = {.end = b.nodes.n,
                               .nof = nof,
                               .of = of,
                               .cotangent = dout,
                               .nwrt = nwrt,
                               .wrt = wrt,
                               .initial = initial,
                               .nown = w.own.n,
                               .own = w.own.at};
  wick_grad_build(&b, &q, out + nout);
  for (uint32_t i = 0; i < nwrt && !b.status; i++)
    if (!out[nout + i].id) out[nout + i] = wick_cotangent_zero(&b, wick_built_type(&b, wrt[i]));
  wick_build_return(&b, nout + nwrt, out);
  wick_reverse_failed(r, wick_build_end(&b, &joint));
  if (!r->status) wick_reverse_split(r, u, joint, q.end);
}

/* Builds the halves of a function anew. Returns whether what callers know about them has changed. */
static bool reverse_again(wick_reverse *r, wick_reverse_unit *u)
{
  wick_reverse_unit old = *u;
  uint32_t ntype = 0;
  wick_reverse_unit now = *u;
  wick_reverse_halves(r, &now, wick_str_printf(r->mem, "%s.kept", u->fwd_name), &ntype);
  if (r->status) return false;
  *u = now;
  wick_module_set(r->m, u->fwd);
  wick_module_set(r->m, u->bwd);
  bool same = old.nkept == u->nkept && memcmp(old.needs, u->needs, u->f->nparam) == 0;
  for (uint32_t k = 0; k < u->nkept && same; k++) same = wick_type_eq(old.kept[k], u->kept[k]);
  return !same;
}

void wick_reverse_functions(wick_reverse *r, const wick_func *f, const bool *active,
                            const char *prefix)
{
  reverse_discover(r, f, active, prefix);
  for (uint32_t round = 0; r->units.n && !r->status; round++) {
    bool changed = false;
    uint32_t n = r->units.n;
    for (uint32_t i = 0; i < r->units.n && !r->status; i++)
      changed = reverse_again(r, r->units.at[i]) || changed;
    if (!changed && n == r->units.n) return;
    if (round == REVERSE_ROUNDS && !r->status)
      r->status = wick_fail(r->mem, WICK_EUNSUPPORTED, f->name,
                            "it calls itself whatever its operands are, or a function that does");
  }
}
