/* Repeats a traversal that moves each construct one level in. */
#include "graph/sink_constructs.h"

#include "ir/copy.h"

enum { SINK_LEVELS = 16 };

typedef struct sink_level {
  const wick_func *f;
  wick_arena *mem;
  uint32_t *depth; /* per value: how many nodes are open where it is defined */
  uint32_t *into;  /* per value: the node in whose arms all uses are, + 1; 0: none is known yet */
  bool *stays;     /* per value */
  wick_list(uint32_t) open;
} sink_level;

static void sink_use(sink_level *s, wick_value v)
{
  uint32_t depth = s->depth[v.id];
  if (depth >= s->open.n) {
    s->stays[v.id] = true;
    return;
  }
  uint32_t at = s->open.at[depth];
  bool arms = s->f->node[at].op == WICK_OP_if || s->f->node[at].op == WICK_OP_switch;
  s->stays[v.id] = s->stays[v.id] || !arms || (s->into[v.id] && s->into[v.id] != at + 1);
  s->into[v.id] = at + 1;
}

static void sink_uses(sink_level *s)
{
  const wick_func *f = s->f;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    while (s->open.n && f->node[s->open.at[s->open.n - 1]].end <= i) s->open.n--;
    for (uint32_t k = 0; k < n->nin; k++)
      if (n->in[k].id) sink_use(s, n->in[k]);
    for (uint32_t k = 0; k < n->nout; k++) s->depth[n->first.id + k] = s->open.n;
    if (n->nregion) wick_push(s->mem, &s->open, i);
  }
}

static bool sink_moves(const sink_level *s, const wick_node *n)
{
  return n->op == WICK_OP_construct && n->nin && s->into[n->first.id] && !s->stays[n->first.id];
}

static bool sink_is_used(const wick_func *f, const wick_region *g, wick_value v)
{
  for (uint32_t i = g->begin; i < g->end; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++)
      if (f->node[i].in[k].id == v.id) return true;
  return false;
}

/* Copies the constructs that move to the beginning of the arm whose first node is i. */
static void sink_begin(const sink_level *s, wick_copier *c, uint32_t i)
{
  const wick_func *f = s->f;
  if (!c->open.n) return;
  const struct wick_copy_open *o = &c->open.at[c->open.n - 1];
  const wick_region *g = &o->node->region[o->region];
  if (g->begin != i) return;
  uint32_t at = (uint32_t)(o->node - f->node);
  for (uint32_t k = 0; k < at; k++) {
    const wick_node *n = &f->node[k];
    if (sink_moves(s, n) && s->into[n->first.id] == at + 1 && sink_is_used(f, g, n->first))
      wick_copy_node(c, n);
  }
}

static wick_status sink_once(const wick_func *f, wick_arena *mem, bool *again, wick_func **out)
{
  sink_level s = {.f = f,
                  .mem = mem,
                  .depth = wick_new(mem, uint32_t, f->nvalue + 1),
                  .into = wick_new(mem, uint32_t, f->nvalue + 1),
                  .stays = wick_new(mem, bool, f->nvalue + 1)};
  wick_copier c = wick_copy_begin(f, mem);
  sink_uses(&s);
  *again = false;
  for (uint32_t i = 0; i < f->nnode; i++) {
    sink_begin(&s, &c, i);
    if (sink_moves(&s, &f->node[i]))
      *again = true;
    else
      wick_copy_node(&c, &f->node[i]);
  }
  return wick_copy_finish(&c, out);
}

wick_status wick_pass_sink_constructs(const wick_pass_context *pass, const wick_func *f,
                                      wick_func **out)
{
  bool again = false;
  *out = (wick_func *)(uintptr_t)f;
  for (uint32_t i = 0; i < f->nnode && !again; i++) again = f->node[i].op == WICK_OP_construct;
  for (uint32_t level = 0; again && level < SINK_LEVELS; level++)
    WICK_TRY(sink_once(*out, pass->mem, &again, out));
  return NULL;
}
