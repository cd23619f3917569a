/* One replay of the function, which looks up what the new operands are. Unrolled calls are replays
 * inside it. The nodes of a call that exceeds the limits are taken back. */
#include "graph/partial_eval.h"

#include "ir/call.h"
#include "ir/replay.h"

enum { PARTIAL_NODES = 2000, PARTIAL_CALLS = 2000, PARTIAL_DEPTH = 400, PARTIAL_REGIONS = 32 };

typedef struct partial_state {
  wick_builder b;
  wick_list(uint32_t) definer; /* by new value: the node without regions that defines it, + 1 */
  uint32_t nseen;              /* nodes whose results are in `definer` */
  uint32_t depth, ncall;
  uint32_t base, nopen; /* before the outermost call that is unrolled: nodes; open regions */
  bool exhausted;
  wick_list(const char *) refused; /* functions whose calls exceeded the limits */
} partial_state;

/* ---- what is known ---- */

static void partial_see(partial_state *s)
{
  wick_builder *b = &s->b;
  while (s->definer.n < b->values.n) wick_push(b->mem, &s->definer, 0);
  for (; s->nseen < b->nodes.n; s->nseen++) {
    const wick_node *n = &b->nodes.at[s->nseen];
    bool leaf = wick_op_of(n)->nregion[1] == 0;
    for (uint32_t k = 0; leaf && k < n->nout; k++) s->definer.at[n->first.id + k] = s->nseen + 1;
  }
}

/* Returns the node of that operator that defines v; NULL if another one does. */
static const wick_node *partial_known(partial_state *s, wick_value v, wick_opcode op)
{
  partial_see(s);
  uint32_t at = s->definer.at[v.id];
  return at && s->b.nodes.at[at - 1].op == op ? &s->b.nodes.at[at - 1] : NULL;
}

/* Returns true if v is a single integer or bool that is known. */
static bool partial_number(const partial_state *s, wick_value v, int64_t *out)
{
  const wick_value_info *info = &s->b.values.at[v.id];
  const wick_type_info *t = wick_built_info(&s->b, v);
  if (t->kind != WICK_TENSOR || t->rank || info->ncontent != 1 ||
      !wick_dim_is_const(info->content[0]))
    return false;
  *out = info->content[0].v;
  return true;
}

static bool partial_helps(partial_state *s, wick_value v)
{
  int64_t number;
  return partial_number(s, v, &number) || partial_known(s, v, WICK_OP_construct) ||
         partial_known(s, v, WICK_OP_closure);
}

/* ---- calls ---- */

static bool partial_instead(wick_replay *r, const wick_node *n, const wick_value *in,
                            wick_value *out);

static const wick_func *partial_callee(partial_state *s, const char *name, uint32_t nin,
                                       const wick_value *in)
{
  const wick_func *f = wick_module_find(s->b.module, name);
  bool helps = false;
  if (!f || f->level != WICK_GRAPH || f->head || f->nparam != nin) return NULL;
  for (uint32_t i = 0; i < s->refused.n; i++)
    if (s->refused.at[i] == f->name) return NULL;
  for (uint32_t k = 0; k < nin && !helps; k++) helps = partial_helps(s, in[k]);
  return helps ? f : NULL;
}

static void partial_body(partial_state *s, const wick_func *f, const wick_value *in,
                         wick_value *out)
{
  wick_replay r = wick_replay_func(&s->b, f);
  r.instead = partial_instead, r.arg = s;
  for (uint32_t k = 0; k < f->nparam; k++) r.to[1 + k] = in[k];
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_build_shape_constraint(&s->b, f->constraint[i].a, f->constraint[i].b,
                                f->constraint[i].loc);
  wick_replay_nodes(&r, 0, f->nnode - 1);
  const wick_node *ret = wick_return(f);
  for (uint32_t k = 0; k < ret->nin; k++) out[k] = wick_replayed(&r, ret->in[k]);
}

/* Returns how deep the regions of f are nested. */
static uint32_t partial_nested(const wick_func *f)
{
  uint32_t end[WICK_MAX_DEPTH + 1], depth = 0, most = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    while (depth && end[depth - 1] <= i) depth--;
    if (f->node[i].nregion) end[depth++] = f->node[i].end;
    if (depth > most) most = depth;
  }
  return most;
}

/* Writes out the nodes of f. Returns false if that exceeds a limit: then nothing is built. */
static bool partial_unroll(partial_state *s, const wick_func *f, const wick_value *in,
                           wick_value *out)
{
  wick_builder *b = &s->b;
  uint32_t nnode = b->nodes.n, nvalue = b->values.n, nconstraint = b->constraints.n,
           nbranch = b->branch_constraints.n;
  if (!s->depth) s->base = nnode, s->nopen = b->open.n, s->ncall = 0, s->exhausted = false;
  s->exhausted = s->exhausted || s->depth >= PARTIAL_DEPTH || ++s->ncall > PARTIAL_CALLS ||
                 nnode - s->base > PARTIAL_NODES || b->open.n - s->nopen > PARTIAL_REGIONS ||
                 b->open.n + partial_nested(f) > WICK_MAX_DEPTH;
  if (s->exhausted) return false;
  s->depth++;
  partial_body(s, f, in, out);
  s->depth--;
  if (s->depth || !s->exhausted || b->status) return true;
  b->nodes.n = nnode, b->values.n = nvalue;
  b->constraints.n = nconstraint, b->branch_constraints.n = nbranch;
  s->nseen = s->nseen < nnode ? s->nseen : nnode;
  s->definer.n = s->definer.n < nvalue ? s->definer.n : nvalue;
  wick_push(b->mem, &s->refused, f->name);
  return false;
}

static void partial_call(partial_state *s, const wick_func *of, const wick_node *n,
                         const char *name, uint32_t nin, const wick_value *in, wick_value *out)
{
  wick_builder *b = &s->b;
  const wick_func *f = partial_callee(s, name, nin, in);
  if (f && partial_unroll(s, f, in, out)) return;
  wick_type *want = wick_new(b->mem, wick_type, n->nout + 1u);
  for (uint32_t k = 0; k < n->nout; k++) want[k] = wick_type_of(of, (wick_value){n->first.id + k});
  wick_attr callee = {.s = name};
  b->loc = n->loc;
  wick_value first = wick_build(b, WICK_OP_call, nin, in, &callee, n->nout, want);
  for (uint32_t k = 0; k < n->nout; k++) out[k] = (wick_value){first.id + k};
}

/* ---- nodes ---- */

static bool partial_region(wick_replay *r, const wick_node *n, const wick_region *g,
                           wick_value *out)
{
  const wick_node *y = &r->node[g->end - 1];
  wick_replay_nodes(r, g->begin, g->end - 1);
  for (uint32_t k = 0; k < n->nout; k++) out[k] = wick_replayed(r, y->in[k]);
  return true;
}

static bool partial_switch(wick_replay *r, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  const wick_node *made = partial_known(r->arg, in[0], WICK_OP_construct);
  if (!made) return false;
  const wick_region *g = &n->region[made->attr[WICK_ATTR_construct_ctor].i];
  for (uint32_t k = 0; k < g->nparam; k++) r->to[g->first.id + k] = made->in[k];
  return partial_region(r, n, g, out);
}

static bool partial_if(wick_replay *r, const wick_node *n, const wick_value *in, wick_value *out)
{
  int64_t condition;
  if (!partial_number(r->arg, in[0], &condition)) return false;
  wick_build_taken(r->b, &n->attr[!condition], n->loc);
  return partial_region(r, n, &n->region[!condition], out);
}

static bool partial_apply(partial_state *s, const wick_func *of, const wick_node *n,
                          const wick_value *in, wick_value *out)
{
  const wick_node *made = partial_known(s, in[0], WICK_OP_closure);
  if (!made) return false;
  uint32_t nin = made->nin + n->nin - 1u;
  wick_value *all = wick_new(s->b.mem, wick_value, nin + 1);
  for (uint32_t k = 0; k < made->nin; k++) all[k] = made->in[k];
  for (uint32_t k = 1; k < n->nin; k++) all[made->nin + k - 1] = in[k];
  partial_call(s, of, n, made->attr[WICK_ATTR_closure_callee].s, nin, all, out);
  return true;
}

/* A node on integers whose result inference knows becomes that number. */
static bool partial_fold(wick_replay *r, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_builder *b = r->b;
  const wick_op *op = wick_op_of(n);
  int64_t number;
  bool known = op->scalar && op->effect == WICK_PURE && n->op != WICK_OP_const;
  for (uint32_t k = 0; k < n->nin && known; k++) known = partial_number(r->arg, in[k], &number);
  if (!known) return false;
  wick_type want = r->value[n->first.id].type;
  out[0] = wick_build(b, n->op, n->nin, in, n->attr, op->typed, op->typed ? &want : NULL);
  if (!b->status && partial_number(r->arg, out[0], &number))
    out[0] = wick_build_const(b, wick_built_type(b, out[0]), 0, number);
  return true;
}

static bool partial_instead(wick_replay *r, const wick_node *n, const wick_value *in,
                            wick_value *out)
{
  wick_func of = {.value = r->value}; /* for types of results */
  switch (n->op) {
  case WICK_OP_switch: return partial_switch(r, n, in, out);
  case WICK_OP_if: return partial_if(r, n, in, out);
  case WICK_OP_apply: return partial_apply(r->arg, &of, n, in, out);
  case WICK_OP_call:
    partial_call(r->arg, &of, n, n->attr[WICK_ATTR_call_callee].s, n->nin, in, out);
    return true;
  default: return partial_fold(r, n, in, out);
  }
}

wick_status wick_pass_partial_eval(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  bool any = false;
  for (uint32_t i = 0; i < f->nnode && !any; i++)
    any = f->node[i].op == WICK_OP_call || f->node[i].op == WICK_OP_apply ||
          f->node[i].op == WICK_OP_switch;
  *out = (wick_func *)(uintptr_t)f;
  if (!any) return NULL;
  partial_state s = {.b = {.mem = pass->mem}};
  wick_replay r = {.b = &s.b, .instead = partial_instead, .arg = &s};
  WICK_TRY(wick_replay_whole(&r, f, out));
  wick_func_drop(f, *out, pass->tmp);
  return NULL;
}
