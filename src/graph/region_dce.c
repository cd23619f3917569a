/* Eliminates dead results. It first finds the used values by a fixed point iteration. One traversal
 * then copies the function without the others. */
#include "graph/region_dce.h"

#include "ir/call.h"
#include "ir/copy.h"

typedef struct region_dce_state {
  wick_copier c;
  uint32_t *parent; /* per node: the node whose region contains it; UINT32_MAX: none */
  bool *used, more; /* per value; something was marked in this round */
  wick_effects effects;
} region_dce_state;

/* ---- used values ---- */

static void region_dce_parents(region_dce_state *s)
{
  const wick_func *f = s->c.f;
  uint32_t depth = 0, stack[WICK_MAX_DEPTH + 1];
  for (uint32_t i = 0; i < f->nnode; i++) {
    while (depth && f->node[stack[depth - 1]].end <= i) depth--;
    s->parent[i] = depth ? stack[depth - 1] : UINT32_MAX;
    if (f->node[i].nregion) stack[depth++] = i;
  }
}

static void region_dce_mark(region_dce_state *s, wick_value v)
{
  s->more = s->more || !s->used[v.id];
  s->used[v.id] = true;
}

static bool region_dce_carried(const wick_node *n, uint32_t k)
{
  return n->op == WICK_OP_loop && k + 1u < n->nin;
}

/* Returns true if a carried value always is its initial value. A result with a name of its own
 * stays a separate value. */
static bool region_dce_same(const region_dce_state *s, const wick_node *n, uint32_t k)
{
  const wick_func *f = s->c.f;
  return region_dce_carried(n, k) && !f->value[n->first.id + k].name &&
         f->node[n->region[0].end - 1].in[1 + k].id == n->region[0].first.id + 1 + k;
}

/* Returns true if result k is needed. A carried value is also needed if the next step reads it. */
static bool region_dce_asked(const region_dce_state *s, const wick_node *n, uint32_t k)
{
  return s->used[n->first.id + k] ||
         (region_dce_carried(n, k) && s->used[n->region[0].first.id + 1 + k]);
}

static bool region_dce_stays(const region_dce_state *s, const wick_node *n, uint32_t k)
{
  return region_dce_asked(s, n, k) && !region_dce_same(s, n, k);
}

static bool region_dce_live(const region_dce_state *s, const wick_node *n)
{
  const wick_node *node = s->c.f->node;
  bool live = wick_op_of(n)->terminator;
  for (uint32_t k = 0; k < n->nout; k++) live = live || s->used[n->first.id + k];
  return live || wick_nodes_act(&s->effects, s->c.f, (uint32_t)(n - node), n->end);
}

/* Marks the operands of a yield that are needed: those of its node's remaining results, and for a
 * loop also the condition. */
static void region_dce_yield(region_dce_state *s, const wick_node *y, const wick_node *n)
{
  uint32_t before = n->op == WICK_OP_loop;
  if (!region_dce_live(s, n)) return;
  for (uint32_t k = 0; k < y->nin; k++)
    if (k < before || region_dce_stays(s, n, k - before)) region_dce_mark(s, y->in[k]);
}

static void region_dce_round(region_dce_state *s)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = f->nnode; i-- > 0;) {
    const wick_node *n = &f->node[i];
    bool carries = n->op == WICK_OP_loop;
    if (n->op == WICK_OP_yield)
      region_dce_yield(s, n, &f->node[s->parent[i]]);
    else if (region_dce_live(s, n))
      for (uint32_t k = 0; k < n->nin; k++)
        if (!carries || !k || region_dce_asked(s, n, k - 1)) region_dce_mark(s, n->in[k]);
  }
}

/* ---- the copy ---- */

static void region_dce_copy(region_dce_state *s, uint32_t begin, uint32_t end);

/* Lists v[] for those results of n, from `from` on, that are kept. Returns their number. */
static uint32_t region_dce_those(const region_dce_state *s, const wick_node *n, uint32_t from,
                                 uint32_t to, const wick_value *v, wick_value *out)
{
  uint32_t count = 0;
  for (uint32_t k = from; k < to; k++)
    if (region_dce_stays(s, n, k)) out[count++] = s->c.to[v[k - from].id];
  return count;
}

static void region_dce_region(region_dce_state *s, const wick_node *n, const wick_region *g)
{
  const wick_func *f = s->c.f;
  wick_builder *b = &s->c.b;
  const wick_node *y = &f->node[g->end - 1];
  wick_value *v = wick_new(b->mem, wick_value, y->nin + 1u), param;
  wick_type *type = wick_new(b->mem, wick_type, g->nparam + 1u);
  uint32_t np = 0, before = n->op == WICK_OP_loop;
  for (uint32_t k = 0; k < g->nparam; k++)
    if (!before || !k || region_dce_stays(s, n, k - 1))
      type[np++] = wick_type_of(f, (wick_value){g->first.id + k});
  param = wick_region_begin(b, np, type);
  np = 0;
  for (uint32_t k = 0; k < g->nparam; k++)
    if (!before || !k || region_dce_stays(s, n, k - 1))
      s->c.to[g->first.id + k] = (wick_value){param.id + np++};
  region_dce_copy(s, g->begin, g->end - 1);
  if (before) v[0] = s->c.to[y->in[0].id];
  wick_yield(b, before + region_dce_those(s, n, 0, n->nout, y->in + before, v + before), v);
}

/* Maps the results that equal initial values to these. */
static void region_dce_take(region_dce_state *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    if (!region_dce_same(s, n, k) || !region_dce_asked(s, n, k)) continue;
    s->c.to[n->first.id + k] = s->c.to[n->region[0].first.id + 1 + k] = s->c.to[n->in[1 + k].id];
  }
}

static void region_dce_node(region_dce_state *s, const wick_node *n)
{
  wick_builder *b = &s->c.b;
  region_dce_take(s, n);
  bool loop = n->op == WICK_OP_loop;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = 0}, [WICK_ATTR_loop_most] = {.n = 0}};
  in[0] = s->c.to[n->in[0].id];
  uint32_t nin = 1 + region_dce_those(s, n, 0, n->nin - 1u, n->in + 1, in + 1);
  for (uint32_t k = n->nin - 1u; loop && k < n->nout; k++)
    attr[WICK_ATTR_loop_stacked].i += region_dce_stays(s, n, k);
  if (attr[WICK_ATTR_loop_stacked].i) attr[WICK_ATTR_loop_most] = n->attr[WICK_ATTR_loop_most];
  b->loc = n->loc;
  wick_build_open(b, n->op, nin, in, loop ? attr : n->attr, 0, NULL);
  for (uint32_t r = 0; r < n->nregion; r++) region_dce_region(s, n, &n->region[r]);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n->nout && first.id; k++) {
    const wick_value_info *old = &s->c.f->value[n->first.id + k];
    if (!region_dce_stays(s, n, k)) continue;
    wick_build_name(b, first, old->name, old->relation);
    s->c.to[n->first.id + k] = first;
    first.id++;
  }
}

static void region_dce_copy(region_dce_state *s, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = s->c.f->node[i].end) {
    const wick_node *n = &s->c.f->node[i];
    if (!region_dce_live(s, n)) continue;
    if (n->nregion)
      region_dce_node(s, n);
    else
      wick_copy_node(&s->c, n);
  }
}

wick_status wick_pass_region_dce(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  region_dce_state s = {
      .c = wick_copy_begin(f, mem), .more = true, .effects = wick_effects_of(f->module, mem)};
  s.parent = wick_new(mem, uint32_t, f->nnode);
  s.used = wick_new(mem, bool, f->nvalue + 1);
  region_dce_parents(&s);
  while (s.more) {
    s.more = false;
    region_dce_round(&s);
  }
  region_dce_copy(&s, 0, f->nnode);
  return wick_copy_finish(&s.c, out);
}
