/* Forward mode: one walk over a function builds its nodes again, each followed by its tangents. */
#include "graph/grad/forward.h"

#include "graph/grad/activity.h"
#include "graph/grad/shadow.h"
#include "graph/grad/transform.h"
#include "ir/call.h"
#include "ir/copy.h"
#include "ir/replay.h"
#include "ops/gradient/grad.h"

enum { FORWARD_ROUNDS = 16, FORWARD_DEPTH = 500 };

typedef wick_list(const char *) forward_names;

typedef struct forward {
  wick_builder *b;
  const wick_func *f;
  wick_replay r;
  wick_value *tangent; /* per value of f; 0: all zeros */
  bool *active;        /* per value of f: it may have a tangent */
  bool *needed;        /* per value of f: a result may depend on its tangent */
  forward_names *made; /* functions NAME.jvp that exist or are being built */
  uint32_t depth;
} forward;

static wick_value forward_to(const forward *w, wick_value v) { return w->r.to[v.id]; }

/* Returns v's tangent, with zeros where it has none. */
static wick_value forward_tangent(const forward *w, wick_value v)
{
  return w->tangent[v.id].id ? w->tangent[v.id] : wick_grad_fill(w->b, forward_to(w, v), 0);
}

static void forward_nodes(forward *w, uint32_t begin, uint32_t end);
static void forward_function(forward *w, const wick_func *f, const wick_value *in,
                             const wick_value *tangent, wick_value *out, wick_value *out_tangent);

/* The type in the builder of a value of f. */
static wick_type forward_type(const forward *w, wick_value v)
{
  return wick_shadow_type(w->b->module, w->f->value[v.id].type, w->b->mem);
}

/* ---- branches and loops ---- */

/* Adds the values v[0..n), then the tangents of those among `like` that are active. */
static void forward_pairs(const forward *w, uint32_t n, const wick_value *v, const wick_value *like,
                          wick_value *to, uint32_t *nto)
{
  for (uint32_t k = 0; k < n; k++) to[(*nto)++] = forward_to(w, v[k]);
  for (uint32_t k = 0; k < n && !w->b->status; k++)
    if (w->active[like[k].id]) to[(*nto)++] = forward_tangent(w, v[k]);
}

/* Maps n values from `first` on to `made` and the values after it, and active ones to the tangents
 * after these. Returns the value after them. */
static wick_value forward_set(forward *w, uint32_t n, wick_value first, wick_value made)
{
  for (uint32_t k = 0; k < n; k++) w->r.to[first.id + k] = (wick_value){made.id++};
  for (uint32_t k = 0; k < n; k++)
    if (w->active[first.id + k]) w->tangent[first.id + k] = (wick_value){made.id++};
  return made;
}

static wick_value *forward_values(const forward *w, uint32_t n, wick_value first)
{
  wick_value *v = wick_new(w->b->mem, wick_value, n + 1);
  for (uint32_t k = 0; k < n; k++) v[k] = (wick_value){first.id + k};
  return v;
}

/* Begins region r of a branch. The fields of data have parts of the data's tangent. */
static void forward_region(forward *w, const wick_node *n, uint32_t r)
{
  wick_builder *b = w->b;
  const wick_region *g = &n->region[r];
  wick_type *type = wick_new(b->mem, wick_type, g->nparam + 1u);
  for (uint32_t k = 0; k < g->nparam; k++) type[k] = forward_type(w, (wick_value){g->first.id + k});
  wick_value param = wick_region_begin(b, g->nparam, type);
  for (uint32_t k = 0; k < g->nparam; k++) w->r.to[g->first.id + k] = (wick_value){param.id + k};
  if (w->tangent[n->in[0].id].id)
    wick_cotangent_fields(b, w->tangent[n->in[0].id], forward_type(w, n->in[0]), r,
                          &w->tangent[g->first.id]);
}

static void forward_branch(forward *w, const wick_node *n)
{
  wick_builder *b = w->b;
  wick_value of = forward_to(w, n->in[0]), *like = forward_values(w, n->nout, n->first),
             *y = wick_new(b->mem, wick_value, 2u * n->nout + 1u);
  wick_build_open(b, n->op, 1, &of, n->nattr ? n->attr : NULL, 0, NULL);
  for (uint32_t r = 0; r < n->nregion && !b->status; r++) {
    uint32_t ny = 0;
    forward_region(w, n, r);
    forward_nodes(w, n->region[r].begin, n->region[r].end - 1);
    if (b->status) return;
    forward_pairs(w, n->nout, w->f->node[n->region[r].end - 1].in, like, y, &ny);
    wick_yield(b, ny, y);
  }
  forward_set(w, n->nout, n->first, wick_build_close(b));
}

static void forward_loop(forward *w, const wick_node *n)
{
  wick_builder *b = w->b;
  const wick_region *g = &n->region[0];
  const wick_value *yield = w->f->node[g->end - 1].in;
  uint32_t nc = n->nin - 1u, ns = n->nout - nc, nin = 1, ny = 1;
  wick_value *in = wick_new(b->mem, wick_value, 2u * n->nin), first = {g->first.id + 1},
             *carried = forward_values(w, nc, first),
             *stacked = forward_values(w, ns, (wick_value){n->first.id + nc}),
             *y = wick_new(b->mem, wick_value, 2u * (n->nout + 1u));
  in[0] = forward_to(w, n->in[0]);
  forward_pairs(w, nc, n->in + 1, carried, in, &nin);
  if (b->status) return;
  wick_type *type = wick_new(b->mem, wick_type, nin);
  for (uint32_t k = 0; k < nin; k++) type[k] = wick_built_type(b, in[k]);
  wick_attr *attr = wick_dup(b->mem, wick_attr, n->attr, n->nattr);
  for (uint32_t k = 0; k < ns; k++) attr[WICK_ATTR_loop_stacked].i += w->active[stacked[k].id];
  wick_build_open(b, n->op, nin, in, attr, 0, NULL);
  wick_value index = wick_region_begin(b, nin, type);
  w->r.to[g->first.id] = index;
  forward_set(w, nc, first, (wick_value){index.id + 1});
  forward_nodes(w, g->begin, g->end - 1);
  if (b->status) return;
  y[0] = forward_to(w, yield[0]);
  forward_pairs(w, nc, yield + 1, carried, y, &ny);
  forward_pairs(w, ns, yield + 1 + nc, stacked, y, &ny);
  wick_yield(b, ny, y);
  wick_value made = wick_build_close(b);
  made = forward_set(w, nc, n->first, made);
  forward_set(w, ns, (wick_value){n->first.id + nc}, made);
}

/* ---- calls ---- */

/* Builds the function that takes the arguments of f, then the tangents of active ones, and returns
 * the results of f, then the tangents of those that have some. */
static void forward_make(forward *w, const wick_func *f, const bool *active, const char *name)
{
  wick_builder b;
  wick_func *made = NULL;
  wick_arena *mem = w->b->mem;
  wick_build_begin(&b, w->b->module, WICK_GRAPH, name, mem);
  uint32_t nout = wick_return(f)->nin, n = nout;
  wick_value *in = wick_new(mem, wick_value, f->nparam + 1),
             *tangent = wick_new(mem, wick_value, f->nparam + 1),
             *out = wick_new(mem, wick_value, 2u * nout + 1u),
             *got = wick_new(mem, wick_value, nout + 1u);
  wick_type *type = wick_new(mem, wick_type, f->nparam + 1);
  for (uint32_t k = 0; k < f->nparam; k++) {
    type[k] = wick_shadow_type(b.module, f->value[1 + k].type, mem);
    in[k] = wick_build_param(&b, type[k], WICK_IN, NULL);
  }
  for (uint32_t k = 0; k < f->nparam; k++)
    if (active[k])
      tangent[k] = wick_build_param(&b, wick_cotangent_type(b.module, type[k], mem), WICK_IN, NULL);
  forward inner = {.b = &b, .made = w->made, .depth = w->depth};
  forward_function(&inner, f, in, tangent, out, got);
  for (uint32_t k = 0; k < nout && !b.status; k++)
    if (wick_has_cotangent(b.module, wick_type_of(f, wick_return(f)->in[k])))
      out[n++] = got[k].id ? got[k] : wick_grad_fill(&b, out[k], 0);
  wick_build_return(&b, n, out);
  wick_status s = wick_build_end(&b, &made);
  if (s && !w->b->status) w->b->status = s;
  if (!s) wick_module_set(b.module, made);
}

/* Calls f.jvp, which is made at its first call. Its name tells the parameters that are active. */
static void forward_call(forward *w, const wick_node *n, const wick_func *f)
{
  wick_builder *b = w->b;
  wick_module *m = b->module;
  wick_value *in = wick_new(b->mem, wick_value, 2u * n->nin + 1u);
  wick_type *type = wick_new(b->mem, wick_type, 2u * n->nout + 1u);
  bool *active = wick_new(b->mem, bool, n->nin + 1u), known = false;
  uint32_t nin = n->nin, nout = n->nout;
  wick_text name = wick_text_begin(b->mem);
  wick_text_printf(&name, "%s.jvp", f->name);
  for (uint32_t k = 0; k < n->nin; k++) {
    in[k] = forward_to(w, n->in[k]);
    active[k] = w->active[n->in[k].id];
    if (active[k]) in[nin++] = forward_tangent(w, n->in[k]);
    if (active[k]) wick_text_printf(&name, ".%u", k);
  }
  for (uint32_t k = 0; k < n->nout; k++) type[k] = forward_type(w, (wick_value){n->first.id + k});
  for (uint32_t k = 0; k < n->nout; k++)
    if (wick_has_cotangent(m, type[k])) type[nout++] = wick_cotangent_type(m, type[k], b->mem);
  wick_attr callee = {.s = wick_intern(m, name.at)};
  for (uint32_t i = 0; i < w->made->n && !known; i++) known = w->made->at[i] == callee.s;
  if (!known) wick_push(b->mem, w->made, callee.s);
  if (!known && !wick_module_find(m, callee.s)) forward_make(w, f, active, callee.s);
  wick_value made = wick_build(b, WICK_OP_call, nin, in, &callee, nout, type);
  for (uint32_t k = 0, at = n->nout; k < n->nout && !b->status; k++) {
    wick_value v = {n->first.id + k};
    w->r.to[v.id] = (wick_value){made.id + k};
    if (wick_has_cotangent(m, type[k])) w->tangent[v.id] = (wick_value){made.id + at++};
  }
}

static void forward_callee(forward *w, const wick_node *n)
{
  wick_builder *b = w->b;
  const char *name = n->attr[WICK_ATTR_call_callee].s;
  const wick_func *f = wick_module_find(b->module, name);
  if (!f || f->level != WICK_GRAPH) {
    wick_build_fail(b, WICK_EINVAL, "there is no function @%s", name);
  } else if (wick_func_recurs(f, b->mem) || wick_func_is_large(f, b->mem) ||
             w->depth > FORWARD_DEPTH) {
    forward_call(w, n, f);
  } else {
    wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u),
               *tangent = wick_new(b->mem, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++)
      in[k] = forward_to(w, n->in[k]), tangent[k] = w->tangent[n->in[k].id];
    forward inner = {.b = b, .made = w->made, .depth = w->depth};
    forward_function(&inner, f, in, tangent, &w->r.to[n->first.id], &w->tangent[n->first.id]);
  }
}

/* Builds the tangents of a with_vjp, which has been built, from those of its operands. */
static bool forward_with_vjp(forward *w, const wick_node *n, const wick_value *tangent)
{
  wick_value *in = wick_new(w->b->mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = forward_to(w, n->in[k]);
  return wick_tangent_with_vjp(w->b, n, in, forward_to(w, n->first), tangent,
                               &w->tangent[n->first.id]);
}

/* ---- references ---- */

/* The shadow of a reference holds the tangents of what it holds. */
static void forward_ref(forward *w, const wick_node *n)
{
  wick_builder *b = w->b;
  bool made = n->op == WICK_OP_ref_new;
  uint32_t skip = n->op == WICK_OP_ref_set;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u),
             *tangent = wick_new(b->mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] = forward_to(w, n->in[k]), tangent[k] = w->tangent[n->in[k].id];
  wick_shadow of = {{0}, {0}};
  if (!made) of = wick_shadow_open(b, in[0]), in[0] = of.primal;
  wick_value v = wick_build(b, n->op, n->nin, in, NULL, 0, NULL);
  if (made) {
    w->r.to[n->first.id] = wick_shadow_pair(b, v, tangent, NULL);
  } else if (skip) {
    wick_shadow_set(b, of, tangent + skip);
  } else {
    for (uint32_t k = 0; k < n->nout; k++) w->r.to[n->first.id + k] = (wick_value){v.id + k};
    wick_shadow_get(b, of, &w->tangent[n->first.id]);
  }
}

/* Builds a node without regions and calls that moves references to floats, or values with such. */
static void forward_moves(forward *w, uint32_t i)
{
  const wick_node *n = &w->f->node[i];
  wick_builder *b = w->b;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = w->tangent[n->in[k].id];
  wick_shadow_replay(&w->r, i);
  if (!b->status) wick_tangent_of_node(b, b->nodes.n - 1, in, &w->tangent[n->first.id]);
}

/* ---- the walk ---- */

static void forward_node(forward *w, uint32_t i)
{
  wick_builder *b = w->b;
  const wick_node *n = &w->f->node[i];
  bool moves = wick_shadow_moves(w->f, n), any = moves;
  for (uint32_t k = 0; k < n->nout; k++) any = any || w->active[n->first.id + k];
  if (any) b->loc = wick_loc_inlined(b->module, n->loc, w->r.call);
  if (any && (n->op == WICK_OP_if || n->op == WICK_OP_switch)) {
    forward_branch(w, n);
  } else if (any && n->op == WICK_OP_loop) {
    forward_loop(w, n);
  } else if (any && (n->op == WICK_OP_call || n->op == WICK_OP_checkpoint)) {
    forward_callee(w, n);
  } else if (wick_shadow_on(w->f, n)) {
    forward_ref(w, n);
  } else if (moves) {
    forward_moves(w, i);
  } else {
    bool needed = false;
    for (uint32_t k = 0; k < n->nout; k++) needed = needed || w->needed[n->first.id + k];
    wick_replay_nodes(&w->r, i, n->end);
    if (!any || !needed || b->status) return;
    wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = w->tangent[n->in[k].id];
    if (n->op != WICK_OP_with_vjp || !forward_with_vjp(w, n, in))
      wick_tangent_of_node(b, b->nodes.n - 1, in, &w->tangent[n->first.id]);
  }
}

static void forward_nodes(forward *w, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end && !w->b->status; i = w->f->node[i].end) forward_node(w, i);
}

/* Replaces operators without a rule of their own by their definitions, in rounds. */
static wick_status forward_open(const wick_func *f, wick_arena *mem, const wick_func **out)
{
  bool again = true;
  for (uint32_t round = 0; again && round < FORWARD_ROUNDS; round++) {
    wick_func *next;
    again = false;
    for (uint32_t i = 0; i < f->nnode; i++) again = again || wick_grad_opens(&f->node[i]);
    if (!again) break;
    wick_copier c = wick_copy_begin(f, mem);
    for (uint32_t i = 0; i < f->nnode; i++)
      if (wick_grad_opens(&f->node[i]))
        wick_copy_opened(&c, &f->node[i]);
      else
        wick_copy_node(&c, &f->node[i]);
    WICK_TRY(wick_copy_finish(&c, &next));
    f = next;
  }
  *out = f;
  return NULL;
}

/* The same as wick_forward_body; w has the builder. */
static void forward_function(forward *w, const wick_func *f, const wick_value *in,
                             const wick_value *tangent, wick_value *out, wick_value *out_tangent)
{
  wick_builder *b = w->b;
  wick_loc loc = b->loc;
  if (b->status) return;
  b->status = forward_open(f, b->mem, &f);
  w->f = f;
  w->depth++;
  w->r = wick_replay_func(b, f);
  w->r.call = loc;
  w->tangent = wick_new(b->mem, wick_value, f->nvalue + 1);
  w->active = wick_new(b->mem, bool, f->nvalue + 1);
  w->needed = wick_new(b->mem, bool, f->nvalue + 1);
  for (uint32_t k = 0; k < f->nparam; k++) {
    w->r.to[1 + k] = in[k], w->tangent[1 + k] = tangent[k];
    w->active[1 + k] =
        tangent[k].id && wick_has_cotangent(b->module, wick_type_of(f, (wick_value){1 + k}));
  }
  for (uint32_t i = 0; i < f->nconstraint && !b->status; i++)
    wick_build_shape_constraint(b, f->constraint[i].a, f->constraint[i].b, f->constraint[i].loc);
  wick_activity(f, w->active);
  wick_tangents_needed(f, w->needed);
  wick_refuse_hidden(b, f, w->active);
  forward_nodes(w, 0, f->nnode - 1);
  for (uint32_t k = 0; k < wick_return(f)->nin; k++) {
    wick_value v = wick_return(f)->in[k];
    out[k] = forward_to(w, v), out_tangent[k] = w->tangent[v.id];
  }
  w->depth--;
  b->loc = loc;
}

void wick_forward_body(wick_builder *b, const wick_func *f, const wick_value *in,
                       const wick_value *tangent, wick_value *out, wick_value *out_tangent)
{
  forward_names made = {0};
  forward w = {.b = b, .made = &made};
  forward_function(&w, f, in, tangent, out, out_tangent);
}
