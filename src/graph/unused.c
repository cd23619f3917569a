/* Which values are used, to a fixed point; then one walk, which leaves the others out. */
#include "graph/unused.h"

#include "ir/copy.h"

typedef struct unused_state {
  wick_copier c;
  uint32_t *parent; /* per node: the one whose region holds it; UINT32_MAX: none */
  bool *used, more; /* per value; something was marked in this round */
} unused_state;

/* ---- what is used ---- */

static void unused_parents(unused_state *s)
{
  const wick_func *f = s->c.f;
  uint32_t depth = 0, stack[WICK_MAX_DEPTH + 1];
  for (uint32_t i = 0; i < f->nnode; i++) {
    while (depth && f->node[stack[depth - 1]].end <= i) depth--;
    s->parent[i] = depth ? stack[depth - 1] : UINT32_MAX;
    if (f->node[i].nregion) stack[depth++] = i;
  }
}

static void unused_mark(unused_state *s, wick_value v)
{
  s->more = s->more || !s->used[v.id];
  s->used[v.id] = true;
}

static bool unused_carried(const wick_node *n, uint32_t k)
{
  return n->op == WICK_OP_loop && k + 1u < n->nin;
}

/* It is what the loop begins with, always; a result with a name of its own stays a value. */
static bool unused_same(const unused_state *s, const wick_node *n, uint32_t k)
{
  const wick_func *f = s->c.f;
  return unused_carried(n, k) && !f->value[n->first.id + k].name &&
         f->node[n->region[0].end - 1].in[1 + k].id == n->region[0].first.id + 1 + k;
}

/* Result k is asked for: a carried value also where the next step reads it. */
static bool unused_asked(const unused_state *s, const wick_node *n, uint32_t k)
{
  return s->used[n->first.id + k] ||
         (unused_carried(n, k) && s->used[n->region[0].first.id + 1 + k]);
}

static bool unused_stays(const unused_state *s, const wick_node *n, uint32_t k)
{
  return unused_asked(s, n, k) && !unused_same(s, n, k);
}

static bool unused_live(const unused_state *s, const wick_node *n)
{
  const wick_node *node = s->c.f->node;
  bool live = wick_op_of(n)->terminator;
  for (uint32_t k = 0; k < n->nout; k++) live = live || s->used[n->first.id + k];
  for (const wick_node *i = n; i < node + n->end && !live; i++)
    live = wick_op_of(i)->effect == WICK_EFFECT;
  return live;
}

/* A yield gives what stays of its node's results; a loop's also whether it goes on. */
static void unused_yield(unused_state *s, const wick_node *y, const wick_node *n)
{
  uint32_t before = n->op == WICK_OP_loop;
  if (!unused_live(s, n)) return;
  for (uint32_t k = 0; k < y->nin; k++)
    if (k < before || unused_stays(s, n, k - before)) unused_mark(s, y->in[k]);
}

static void unused_round(unused_state *s)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = f->nnode; i-- > 0;) {
    const wick_node *n = &f->node[i];
    bool carries = n->op == WICK_OP_loop;
    if (n->op == WICK_OP_yield)
      unused_yield(s, n, &f->node[s->parent[i]]);
    else if (unused_live(s, n))
      for (uint32_t k = 0; k < n->nin; k++)
        if (!carries || !k || unused_asked(s, n, k - 1)) unused_mark(s, n->in[k]);
  }
}

/* ---- what stays ---- */

static void unused_copy(unused_state *s, uint32_t begin, uint32_t end);

/* Results of n from `from` on that stay, of what v holds for each; returns how many. */
static uint32_t unused_those(const unused_state *s, const wick_node *n, uint32_t from, uint32_t to,
                             const wick_value *v, wick_value *out)
{
  uint32_t count = 0;
  for (uint32_t k = from; k < to; k++)
    if (unused_stays(s, n, k)) out[count++] = s->c.to[v[k - from].id];
  return count;
}

static void unused_region(unused_state *s, const wick_node *n, const wick_region *g)
{
  const wick_func *f = s->c.f;
  wick_builder *b = &s->c.b;
  const wick_node *y = &f->node[g->end - 1];
  wick_value *v = wick_new(b->mem, wick_value, y->nin + 1u), param;
  wick_type *type = wick_new(b->mem, wick_type, g->nparam + 1u);
  uint32_t np = 0, before = n->op == WICK_OP_loop;
  for (uint32_t k = 0; k < g->nparam; k++)
    if (!k || unused_stays(s, n, k - 1))
      type[np++] = wick_type_of(f, (wick_value){g->first.id + k});
  param = wick_region_begin(b, np, type);
  np = 0;
  for (uint32_t k = 0; k < g->nparam; k++)
    if (!k || unused_stays(s, n, k - 1)) s->c.to[g->first.id + k] = (wick_value){param.id + np++};
  unused_copy(s, g->begin, g->end - 1);
  if (before) v[0] = s->c.to[y->in[0].id];
  wick_yield(b, before + unused_those(s, n, 0, n->nout, y->in + before, v + before), v);
}

/* What stands for values that are what the loop begins with. */
static void unused_take(unused_state *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    if (!unused_same(s, n, k) || !unused_asked(s, n, k)) continue;
    s->c.to[n->first.id + k] = s->c.to[n->region[0].first.id + 1 + k] = s->c.to[n->in[1 + k].id];
  }
}

static void unused_node(unused_state *s, const wick_node *n)
{
  wick_builder *b = &s->c.b;
  unused_take(s, n);
  bool loop = n->op == WICK_OP_loop;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  wick_attr attr[2] = {{.i = 0}, {.i = 0}};
  in[0] = s->c.to[n->in[0].id];
  uint32_t nin = 1 + unused_those(s, n, 0, n->nin - 1u, n->in + 1, in + 1);
  for (uint32_t k = n->nin - 1u; loop && k < n->nout; k++) attr[0].i += unused_stays(s, n, k);
  if (attr[0].i) attr[1] = n->attr[1];
  b->loc = n->loc;
  wick_build_open(b, n->op, nin, in, loop ? attr : n->attr, 0, NULL);
  for (uint32_t r = 0; r < n->nregion; r++) unused_region(s, n, &n->region[r]);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n->nout && first.id; k++) {
    const wick_value_info *old = &s->c.f->value[n->first.id + k];
    if (!unused_stays(s, n, k)) continue;
    wick_build_name(b, first, old->name, old->relation);
    s->c.to[n->first.id + k] = first;
    first.id++;
  }
}

static void unused_copy(unused_state *s, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = s->c.f->node[i].end) {
    const wick_node *n = &s->c.f->node[i];
    if (!unused_live(s, n)) continue;
    if (n->op == WICK_OP_if || n->op == WICK_OP_loop)
      unused_node(s, n);
    else
      wick_copy_node(&s->c, n);
  }
}

wick_func *wick_pass_unused(const wick_func *f, wick_arena *mem)
{
  unused_state s = {.c = wick_copy_begin(f, mem), .more = true};
  s.parent = wick_new(mem, uint32_t, f->nnode);
  s.used = wick_new(mem, bool, f->nvalue + 1);
  unused_parents(&s);
  while (s.more) {
    s.more = false;
    unused_round(&s);
  }
  unused_copy(&s, 0, f->nnode);
  return wick_copy_end(&s.c);
}
