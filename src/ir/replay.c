/* Replays nodes in one walk, which also visits the regions of nodes. */
#include "ir/replay.h"

wick_replay wick_replay_begin(wick_builder *b)
{
  return (wick_replay){.b = b,
                       .node = b->nodes.at,
                       .value = b->values.at,
                       .nvalue = b->values.n,
                       .to = wick_new(b->mem, wick_value, b->values.n)};
}

wick_replay wick_replay_func(wick_builder *b, const wick_func *f)
{
  return (wick_replay){.b = b,
                       .node = f->node,
                       .value = f->value,
                       .nvalue = f->nvalue + 1,
                       .to = wick_new(b->mem, wick_value, f->nvalue + 1)};
}

static bool replay_same(const wick_replay *r, const wick_node *n, const wick_value *in)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    const wick_value_info *old = &r->value[n->in[k].id], *now = &r->b->values.at[in[k].id];
    if (!wick_type_eq(old->type, now->type) || old->content != now->content) return false;
  }
  return true;
}

static wick_value replay_leaf(wick_replay *r, const wick_node *n, const wick_value *in)
{
  wick_builder *b = r->b;
  bool typed = wick_op_of(n)->typed;
  if (replay_same(r, n, in)) {
    wick_value_info *info = wick_dup(b->mem, wick_value_info, &r->value[n->first.id], n->nout);
    for (uint32_t k = 0; k < n->nout; k++) info[k].name = 0, info[k].relation = WICK_REL_NONE;
    return wick_build_raw(b, n, in, info);
  }
  wick_type *want = wick_new(b->mem, wick_type, n->nout + 1u);
  for (uint32_t k = 0; k < n->nout; k++) want[k] = r->value[n->first.id + k].type;
  return wick_build(b, n->op, n->nin, in, n->attr, typed ? n->nout : 0, typed ? want : NULL);
}

static void replay_region(wick_replay *r, const wick_region *g)
{
  wick_builder *b = r->b;
  wick_type *type = wick_new(b->mem, wick_type, g->nparam + 1u);
  for (uint32_t k = 0; k < g->nparam; k++) type[k] = r->value[g->first.id + k].type;
  wick_value param = wick_region_begin(b, g->nparam, type);
  for (uint32_t k = 0; k < g->nparam; k++) r->to[g->first.id + k] = (wick_value){param.id + k};
  wick_replay_nodes(r, g->begin, g->end);
}

void wick_replay_nodes(wick_replay *r, uint32_t begin, uint32_t end)
{
  wick_builder *b = r->b;
  wick_loc loc = b->loc;
  for (uint32_t i = begin; i < end && !b->status;) {
    wick_node n = r->node[i];
    wick_value *in = wick_new(b->mem, wick_value, n.nin + 1u), first = {0};
    for (uint32_t k = 0; k < n.nin; k++) in[k] = wick_replayed(r, n.in[k]);
    wick_value *out = r->instead ? wick_new(b->mem, wick_value, n.nout + 1u) : NULL;
    n.loc = b->loc = wick_loc_inlined(b->module, n.loc, r->call);
    if (out && n.op != WICK_OP_yield && r->instead(r, &r->node[i], in, out)) {
      for (uint32_t k = 0; k < n.nout; k++) r->to[n.first.id + k] = out[k];
      i = n.end;
      continue;
    }
    if (n.op == WICK_OP_yield) {
      wick_yield(b, n.nin, in);
    } else if (n.nregion) {
      wick_build_open(b, n.op, n.nin, in, n.attr, 0, NULL);
      for (uint32_t k = 0; k < n.nregion && !b->status; k++) replay_region(r, &n.region[k]);
      first = wick_build_close(b);
    } else {
      first = replay_leaf(r, &n, in);
    }
    for (uint32_t k = 0; k < n.nout && !b->status; k++)
      r->to[n.first.id + k] = (wick_value){first.id + k};
    i = n.end;
  }
  b->loc = loc;
}

wick_status wick_replay_whole(wick_replay *r, const wick_func *f, wick_func **out)
{
  wick_builder *b = r->b;
  wick_arena *mem = b->mem;
  wick_build_begin(b, f->module, f->level, f->name, mem);
  b->procedure = f->procedure;
  wick_build_keep_constraints(b, f);
  wick_replay fresh = wick_replay_func(b, f);
  fresh.instead = r->instead, fresh.arg = r->arg;
  *r = fresh;
  for (uint32_t i = 1; i <= f->nparam; i++) {
    r->to[i] = wick_build_param(b, f->value[i].type, f->qual[i - 1], NULL);
    b->values.at[r->to[i].id] = f->value[i];
  }
  wick_replay_nodes(r, 0, f->nnode - 1);
  const wick_node *ret = wick_return(f);
  wick_value *in = wick_new(mem, wick_value, ret->nin + 1u);
  for (uint32_t k = 0; k < ret->nin; k++) in[k] = wick_replayed(r, ret->in[k]);
  b->loc = ret->loc;
  wick_build_return(b, ret->nin, in);
  for (uint32_t v = 1; v <= f->nvalue && !b->status; v++)
    if (r->to[v].id && !b->values.at[r->to[v].id].name)
      wick_build_name(b, r->to[v], f->value[v].name, f->value[v].relation);
  return wick_build_end(b, out);
}
