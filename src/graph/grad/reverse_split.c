/* Divides a function and its derivative into two halves. The forward half has what the results need,
 * and its effects. The backward half has the rest. A value of the forward half that the backward half
 * reads is kept, but for constants and element-wise operators on what it has anyway. */
#include "graph/grad/reverse.h"
#include "ir/call.h"

typedef struct split {
  wick_reverse *r;
  wick_reverse_unit *u;
  const wick_func *j;
  uint32_t backward; /* the node of j from which on it is the derivative */
  wick_effects effects;
  uint32_t nparam; /* of u->f; the others are cotangents and sums */
  uint32_t *owner; /* per value: the node of the outermost region that defines it, from 1 */
  bool *forward;   /* per node of the outermost region */
  bool *depends;   /* per value: on cotangents or sums */
  bool *read;      /* per value: the backward half reads it */
  bool *again;     /* per value: the backward half computes it again */
} split;

static void split_mark(const split *s, uint32_t node, bool *mark)
{
  for (uint32_t i = node; i < s->j->node[node].end; i++)
    for (uint32_t k = 0; k < s->j->node[i].nin; k++) mark[s->j->node[i].in[k].id] = true;
}

static bool split_marked(const wick_node *n, const bool *mark)
{
  for (uint32_t k = 0; k < n->nout; k++)
    if (mark[n->first.id + k]) return true;
  return false;
}

/* Returns whether node i of the outermost region has an effect of the backward half. */
static bool split_acts_back(const split *s, uint32_t i)
{
  return i >= s->backward && wick_nodes_act(&s->effects, s->j, i, s->j->node[i].end);
}

/* Finds the values that depend on cotangents, or on effects of the backward half. Returns the nodes of the outermost region, and their
 * number. */
static uint32_t *split_walk(split *s, uint32_t *out_n)
{
  const wick_func *j = s->j;
  uint32_t n = 0, *top = wick_new(s->r->mem, uint32_t, j->nnode + 1);
  for (uint32_t v = s->nparam + 1; v <= j->nparam; v++) s->depends[v] = true;
  for (uint32_t i = 0; i + 1 < j->nnode; i = j->node[i].end) {
    const wick_node *node = &j->node[i];
    bool depends = split_acts_back(s, i);
    for (uint32_t k = i; k < node->end; k++)
      for (uint32_t x = 0; x < j->node[k].nin; x++)
        depends = depends || s->depends[j->node[k].in[x].id];
    for (uint32_t k = 0; k < node->nout; k++) {
      s->owner[node->first.id + k] = i + 1;
      s->depends[node->first.id + k] = depends;
    }
    s->forward[i] = !depends;
    top[n++] = i;
  }
  *out_n = n;
  return top;
}

static void split_sides(split *s, uint32_t n, const uint32_t *top, uint32_t nout)
{
  const wick_func *j = s->j;
  const wick_node *end = wick_return(j);
  bool *need = wick_new(s->r->mem, bool, j->nvalue + 1);
  for (uint32_t k = 0; k < nout; k++) need[end->in[k].id] = true;
  for (uint32_t i = n; i-- > 0;) {
    const wick_node *node = &j->node[top[i]];
    bool acts = wick_nodes_act(&s->effects, j, top[i], node->end);
    s->forward[top[i]] = s->forward[top[i]] && (acts || split_marked(node, need));
    if (s->forward[top[i]]) split_mark(s, top[i], need);
  }
  for (uint32_t k = nout; k < end->nin; k++) s->read[end->in[k].id] = true;
  for (uint32_t i = n; i-- > 0;)
    if (!s->forward[top[i]] &&
        (split_acts_back(s, top[i]) || split_marked(&j->node[top[i]], s->read)))
      split_mark(s, top[i], s->read);
}

/* Returns whether n costs no more than a load, on operands that the backward half has. */
static bool split_is_cheap(const split *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  bool cheap = n->op == WICK_OP_const || n->op == WICK_OP_broadcast_to ||
               op->view_of.kind == WICK_VIEW_SAME || (op->scalar && !op->expand && op->ulp == 0);
  for (uint32_t k = 0; k < n->nin && cheap; k++) {
    uint32_t v = n->in[k].id;
    cheap = v <= s->nparam ? s->u->needs[v - 1] : s->read[v];
  }
  return cheap && n->nout == 1 && !n->nregion;
}

static void split_keep(split *s)
{
  const wick_func *j = s->j;
  wick_reverse_unit *u = s->u;
  u->nkept = 0;
  u->kept = wick_new(s->r->mem, wick_type, j->nvalue + 1);
  u->needs = wick_new(s->r->mem, bool, s->nparam + 1);
  for (uint32_t v = 1; v <= s->nparam; v++) u->needs[v - 1] = s->read[v];
  for (uint32_t v = j->nparam + 1; v <= j->nvalue; v++) {
    if (!s->read[v] || !s->owner[v] || !s->forward[s->owner[v] - 1]) continue;
    s->again[v] = split_is_cheap(s, &j->node[s->owner[v] - 1]);
    if (!s->again[v]) u->kept[u->nkept++] = wick_type_of(j, (wick_value){v});
  }
}

static bool split_is_kept(const split *s, uint32_t v)
{
  return s->read[v] && s->owner[v] && s->forward[s->owner[v] - 1] && !s->again[v];
}

static wick_func *split_forward(split *s, uint32_t n, const uint32_t *top, uint32_t nout,
                                const char *name)
{
  wick_builder b;
  wick_func *made = NULL;
  const wick_func *j = s->j;
  wick_build_begin(&b, j->module, WICK_GRAPH, name, s->r->mem);
  wick_replay to = wick_replay_func(&b, j);
  wick_value *out = wick_new(b.mem, wick_value, nout + s->u->nkept + 1);
  for (uint32_t v = 1; v <= s->nparam; v++)
    to.to[v] = wick_build_param(&b, j->value[v].type, WICK_IN, NULL);
  for (uint32_t i = 0; i < n; i++)
    if (s->forward[top[i]]) wick_replay_nodes(&to, top[i], j->node[top[i]].end);
  for (uint32_t k = 0; k < nout; k++) out[k] = to.to[wick_return(j)->in[k].id];
  for (uint32_t v = 1, at = nout; v <= j->nvalue; v++)
    if (split_is_kept(s, v)) out[at++] = to.to[v];
  wick_build_return(&b, nout + s->u->nkept, out);
  wick_reverse_failed(s->r, wick_build_end(&b, &made));
  return made;
}

static wick_func *split_backward(split *s, uint32_t n, const uint32_t *top, uint32_t nout,
                                 const char *name)
{
  wick_builder b;
  wick_func *made = NULL;
  const wick_func *j = s->j;
  const wick_node *end = wick_return(j);
  wick_build_begin(&b, j->module, WICK_GRAPH, name, s->r->mem);
  wick_replay to = wick_replay_func(&b, j);
  wick_value *out = wick_new(b.mem, wick_value, end->nin + 1u);
  for (uint32_t v = 1; v <= j->nvalue; v++) {
    bool param = v <= s->nparam ? s->u->needs[v - 1] : split_is_kept(s, v);
    if (param) to.to[v] = wick_build_param(&b, j->value[v].type, WICK_IN, NULL);
  }
  for (uint32_t v = s->nparam + 1; v <= j->nparam; v++)
    to.to[v] = wick_build_param(&b, j->value[v].type, WICK_IN, NULL);
  for (uint32_t i = 0; i < n; i++) {
    const wick_node *node = &j->node[top[i]];
    bool needed = s->forward[top[i]] ? node->nout == 1 && s->again[node->first.id]
                                     : split_acts_back(s, top[i]) || split_marked(node, s->read);
    if (needed) wick_replay_nodes(&to, top[i], node->end);
  }
  for (uint32_t k = nout; k < end->nin; k++) out[k - nout] = to.to[end->in[k].id];
  wick_build_return(&b, end->nin - nout, out);
  wick_reverse_failed(s->r, wick_build_end(&b, &made));
  return made;
}

void wick_reverse_split(wick_reverse *r, wick_reverse_unit *u, const wick_func *joint,
                        uint32_t backward)
{
  wick_arena *mem = r->mem;
  uint32_t n, nout = wick_return(u->f)->nin;
  split s = {.r = r,
             .u = u,
             .j = joint,
             .backward = backward,
             .effects = wick_effects_of(joint->module, mem),
             .nparam = u->f->nparam,
             .owner = wick_new(mem, uint32_t, joint->nvalue + 1),
             .forward = wick_new(mem, bool, joint->nnode + 1),
             .depends = wick_new(mem, bool, joint->nvalue + 1),
             .read = wick_new(mem, bool, joint->nvalue + 1),
             .again = wick_new(mem, bool, joint->nvalue + 1)};
  const uint32_t *top = split_walk(&s, &n);
  split_sides(&s, n, top, nout);
  split_keep(&s);
  u->fwd = split_forward(&s, n, top, nout, u->fwd_name ? u->fwd_name : "forward");
  u->bwd = split_backward(&s, n, top, nout, u->bwd_name ? u->bwd_name : "backward");
}
