/* A beam search over the orders that the dependences allow. Each depth keeps the states with the
 * lowest peak, then with the fewest bytes in use. States with the same set of steps are merged. */
#include "low/reorder_for_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ir/copy.h"
#include "low/plan_memory.h"
#include "low/reorder_graph.h"

enum {
  REORDER_FOR_MEMORY_BEAM = 32,
  REORDER_FOR_MEMORY_READY = 64,
  REORDER_FOR_MEMORY_FEW = 16 /* users of a root that are looked at one by one */
};
#define REORDER_FOR_MEMORY_STEPS ((uint64_t)1 << 26)

typedef struct reorder_for_memory_state {
  uint64_t *done;  /* a bit for each step */
  uint32_t *ready; /* in the function's order */
  uint32_t nready;
  uint32_t *left; /* for each root of many users: how many are still to come */
  uint64_t live, peak, hash;
} reorder_for_memory_state;

typedef struct reorder_for_memory_next { /* a step that can follow a state of the beam */
  uint32_t state, step;
  uint64_t live, peak, hash;
} reorder_for_memory_next;

typedef struct reorder_for_memory_search {
  const wick_reorder_graph *g;
  uint32_t nword, width;
  uint32_t nmany, *many; /* by root: its index among those of many users, or UINT32_MAX */
  reorder_for_memory_state *now, *then; /* [width] */
  uint32_t nnow;
  reorder_for_memory_next *next; /* [width * REORDER_FOR_MEMORY_READY] */
  uint32_t nnext;
  struct reorder_for_memory_taken {
    uint32_t state, step;
  } * taken; /* [nstep * width] */
  uint64_t budget;
  uint64_t limit; /* states that reach this peak are no improvement */
} reorder_for_memory_search;

static bool reorder_for_memory_done(const reorder_for_memory_state *s, uint32_t step)
{
  return s->done[step / 64] >> (step % 64) & 1;
}

/* Finds the roots of many users. Each state counts those that are left, because a step may use such
 * a root, and as many steps do as it has users. */
static void reorder_for_memory_count(reorder_for_memory_search *o, wick_arena *tmp)
{
  o->many = wick_new(tmp, uint32_t, o->g->nroot + 1);
  for (uint32_t r = 0; r < o->g->nroot; r++)
    o->many[r] = o->g->root[r].nuser > REORDER_FOR_MEMORY_FEW ? o->nmany++ : UINT32_MAX;
}

/* Marks a step as done. */
static void reorder_for_memory_mark(const reorder_for_memory_search *o, reorder_for_memory_state *s,
                                    uint32_t step)
{
  const wick_order_step *x = &o->g->step[step];
  s->done[step / 64] |= (uint64_t)1 << (step % 64);
  for (uint32_t k = 0; k < x->nneeds; k++)
    if (o->many[x->needs[k]] != UINT32_MAX) s->left[o->many[x->needs[k]]]--;
}

/* Computes the bytes in use during a step and after it. */
static void reorder_for_memory_cost(const reorder_for_memory_search *o,
                                    const reorder_for_memory_state *s, uint32_t step,
                                    uint64_t *out_at, uint64_t *out_behind)
{
  const wick_order_step *x = &o->g->step[step];
  uint64_t at = s->live, gone = 0;
  for (uint32_t k = 0; k < x->nneeds; k++) {
    const wick_order_root *r = &o->g->root[x->needs[k]];
    bool begun = false, ends = true, many = o->many[x->needs[k]] != UINT32_MAX;
    if (many) { /* the step is one of those that are left */
      uint32_t left = s->left[o->many[x->needs[k]]];
      begun = left < r->nuser, ends = left == 1;
    }
    for (uint32_t u = 0; u < r->nuser && !many; u++) {
      if (reorder_for_memory_done(s, r->user[u]))
        begun = true;
      else if (r->user[u] != step)
        ends = false;
    }
    if (!begun) at += r->nbytes;
    if (ends) gone += r->nbytes;
  }
  *out_at = at, *out_behind = at - gone;
}

/* Lists the steps that can follow a state. A step that neither raises the peak nor leaves more
 * bytes in use is always a good choice, and is then the only one. */
static void reorder_for_memory_expand(reorder_for_memory_search *o, uint32_t state)
{
  const reorder_for_memory_state *s = &o->now[state];
  uint32_t first = o->nnext;
  for (uint32_t i = 0; i < s->nready && i < REORDER_FOR_MEMORY_READY; i++) {
    reorder_for_memory_next n = {.state = state, .step = s->ready[i]};
    uint64_t at;
    reorder_for_memory_cost(o, s, n.step, &at, &n.live);
    o->budget -= o->budget > 0;
    n.peak = at > s->peak ? at : s->peak;
    if (n.peak >= o->limit) continue;
    n.hash = s->hash ^ wick_hash_u64(WICK_HASH_SEED, n.step + 1);
    bool right = n.peak == s->peak && n.live <= s->live;
    if (right) o->nnext = first;
    o->next[o->nnext++] = n;
    if (right) return;
  }
}

static int reorder_for_memory_by_hash(const void *a, const void *b)
{
  const reorder_for_memory_next *x = a, *y = b;
  if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
  if (x->peak != y->peak) return x->peak < y->peak ? -1 : 1;
  if (x->state != y->state) return x->state < y->state ? -1 : 1;
  return x->step < y->step ? -1 : x->step > y->step;
}

static int reorder_for_memory_by_cost(const void *a, const void *b)
{
  const reorder_for_memory_next *x = a, *y = b;
  if (x->peak != y->peak) return x->peak < y->peak ? -1 : 1;
  if (x->live != y->live) return x->live < y->live ? -1 : 1;
  if (x->step != y->step) return x->step < y->step ? -1 : 1;
  return reorder_for_memory_by_hash(a, b);
}

/* Keeps the best state of each set of steps. Sets are compared by their hashes; a collision can
 * only lose an order. */
static void reorder_for_memory_choose(reorder_for_memory_search *o)
{
  qsort(o->next, o->nnext, sizeof *o->next, reorder_for_memory_by_hash);
  uint32_t n = 0;
  for (uint32_t i = 0; i < o->nnext; i++)
    if (!n || o->next[n - 1].hash != o->next[i].hash) o->next[n++] = o->next[i];
  qsort(o->next, n, sizeof *o->next, reorder_for_memory_by_cost);
  uint32_t width = o->budget ? o->width : 1;
  o->nnext = n < width ? n : width;
}

static bool reorder_for_memory_is_ready(const reorder_for_memory_search *o,
                                        const reorder_for_memory_state *s, uint32_t step)
{
  const wick_order_step *x = &o->g->step[step];
  for (uint32_t k = 0; k < x->nbefore; k++)
    if (!reorder_for_memory_done(s, x->before[k])) return false;
  return true;
}

static void reorder_for_memory_add_ready(reorder_for_memory_state *s, uint32_t step)
{
  uint32_t at = s->nready;
  while (at > 0 && s->ready[at - 1] > step) at--;
  if (at > 0 && s->ready[at - 1] == step) return;
  memmove(&s->ready[at + 1], &s->ready[at], (s->nready - at) * sizeof *s->ready);
  s->ready[at] = step;
  s->nready++;
}

static void reorder_for_memory_take(const reorder_for_memory_search *o,
                                    const reorder_for_memory_next *n, reorder_for_memory_state *out)
{
  const reorder_for_memory_state *from = &o->now[n->state];
  out->live = n->live, out->peak = n->peak, out->hash = n->hash;
  if (out != from) {
    memcpy(out->done, from->done, o->nword * sizeof *out->done);
    memcpy(out->left, from->left, o->nmany * sizeof *out->left);
  }
  reorder_for_memory_mark(o, out, n->step);
  uint32_t at = 0;
  while (from->ready[at] != n->step) at++;
  if (out != from) memcpy(out->ready, from->ready, at * sizeof *out->ready);
  out->nready = from->nready - 1;
  memmove(out->ready + at, from->ready + at + 1, (out->nready - at) * sizeof *out->ready);
  const wick_order_step *x = &o->g->step[n->step];
  for (uint32_t k = 0; k < x->nafter; k++)
    if (reorder_for_memory_is_ready(o, out, x->after[k]))
      reorder_for_memory_add_ready(out, x->after[k]);
}

static reorder_for_memory_state *reorder_for_memory_states(const reorder_for_memory_search *o,
                                                           wick_arena *tmp)
{
  reorder_for_memory_state *s = wick_new(tmp, reorder_for_memory_state, o->width);
  for (uint32_t i = 0; i < o->width; i++) {
    s[i].done = wick_new(tmp, uint64_t, o->nword);
    s[i].ready = wick_new(tmp, uint32_t, o->g->nstep + 1);
    s[i].left = wick_new(tmp, uint32_t, o->nmany);
    for (uint32_t r = 0; r < o->g->nroot; r++)
      if (o->many[r] != UINT32_MAX) s[i].left[o->many[r]] = o->g->root[r].nuser;
  }
  return s;
}

/* Returns the steps in the best order that was found; NULL if all states reach the limit. */
static const uint32_t *reorder_for_memory_find(const wick_reorder_graph *g, uint64_t limit,
                                               wick_arena *tmp)
{
  reorder_for_memory_search o = {
      .g = g, .nword = g->nstep / 64 + 1, .budget = REORDER_FOR_MEMORY_STEPS, .nnow = 1};
  o.limit = limit;
  uint64_t wide = ((uint64_t)1 << 31) / ((uint64_t)g->nstep * g->nstep + 1);
  o.width = wide < 1                         ? 1
            : wide > REORDER_FOR_MEMORY_BEAM ? REORDER_FOR_MEMORY_BEAM
                                             : (uint32_t)wide;
  reorder_for_memory_count(&o, tmp);
  o.now = reorder_for_memory_states(&o, tmp), o.then = reorder_for_memory_states(&o, tmp);
  o.next = wick_new(tmp, reorder_for_memory_next, (size_t)o.width * REORDER_FOR_MEMORY_READY);
  o.taken = wick_new(tmp, struct reorder_for_memory_taken, (size_t)g->nstep * o.width);
  for (uint32_t i = 0; i < g->nstep; i++)
    if (!g->step[i].nbefore) reorder_for_memory_add_ready(&o.now[0], i);
  for (uint32_t depth = 0; depth < g->nstep; depth++) {
    o.nnext = 0;
    for (uint32_t i = 0; i < o.nnow; i++) reorder_for_memory_expand(&o, i);
    if (!o.nnext) return NULL;
    reorder_for_memory_choose(&o);
    bool alone = o.width == 1; /* the one state changes in its place */
    for (uint32_t i = 0; i < o.nnext; i++) {
      reorder_for_memory_take(&o, &o.next[i], alone ? &o.now[0] : &o.then[i]);
      o.taken[(size_t)depth * o.width + i] =
          (struct reorder_for_memory_taken){o.next[i].state, o.next[i].step};
    }
    if (alone) continue;
    reorder_for_memory_state *swap = o.now;
    o.now = o.then, o.then = swap, o.nnow = o.nnext;
  }
  uint32_t *order = wick_new(tmp, uint32_t, g->nstep + 1);
  for (uint32_t depth = g->nstep, at = 0; depth-- > 0;) {
    struct reorder_for_memory_taken t = o.taken[(size_t)depth * o.width + at];
    order[depth] = t.step, at = t.state;
  }
  return order;
}

/* Returns the peak of the function's own order, computed in the same way. *least: the largest
 * number of bytes that a single step needs, which no order can avoid. */
static uint64_t reorder_for_memory_given(const wick_reorder_graph *g, wick_arena *tmp,
                                         uint64_t *least)
{
  reorder_for_memory_search o = {.g = g, .nword = g->nstep / 64 + 1, .width = 1};
  reorder_for_memory_count(&o, tmp);
  reorder_for_memory_state *s = reorder_for_memory_states(&o, tmp);
  *least = 0;
  for (uint32_t i = 0; i < g->nstep; i++) {
    uint64_t at, own = 0;
    for (uint32_t k = 0; k < g->step[i].nneeds; k++) own += g->root[g->step[i].needs[k]].nbytes;
    if (own > *least) *least = own;
    reorder_for_memory_cost(&o, s, i, &at, &s->live);
    if (at > s->peak) s->peak = at;
    reorder_for_memory_mark(&o, s, i);
  }
  return s->peak;
}

/* ---- the result ---- */

/* Copies the nodes that define v (allocs, constants, views) before its first use. */
static void reorder_for_memory_define(wick_copier *c, const uint32_t *definer, wick_value v)
{
  uint32_t chain[64], n = 0;
  const wick_func *f = c->f;
  for (; v.id && !c->to[v.id].id && definer[v.id] != UINT32_MAX && n < WICK_COUNT(chain);
       v = f->node[definer[v.id]].nin ? f->node[definer[v.id]].in[0] : (wick_value){0})
    chain[n++] = definer[v.id];
  while (n > 0) wick_copy_node(c, &f->node[chain[--n]]);
}

static wick_func *reorder_for_memory_build_func(const wick_func *f, const wick_reorder_graph *g,
                                                const uint32_t *order, wick_arena *mem,
                                                wick_arena *tmp)
{
  const uint32_t *definer = wick_definers_of(f, tmp);
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t k = 0; k < g->nstep; k++) {
    uint32_t begin = g->step[order[k]].node, end = f->node[begin].end;
    for (uint32_t i = begin; i < end; i++)
      for (uint32_t in = 0; in < f->node[i].nin; in++) {
        uint32_t d = definer[f->node[i].in[in].id];
        if (d != UINT32_MAX && (d < begin || d >= end))
          reorder_for_memory_define(&c, definer, f->node[i].in[in]);
      }
    for (uint32_t i = begin; i < end; i++) wick_copy_node(&c, &f->node[i]);
  }
  wick_copy_node(&c, wick_return(f));
  return wick_copy_end(&c);
}

wick_status wick_pass_reorder_for_memory(const wick_pass_context *pass, const wick_func *f,
                                         wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  wick_mark mark = wick_arena_mark(tmp);
  *out = (wick_func *)(uintptr_t)f;
  if (f->procedure) return NULL; /* its scalar code and its effects on objects keep their order */
  wick_reorder_graph g = wick_reorder_graph_of(f, tmp);
  uint64_t least, given = reorder_for_memory_given(&g, tmp, &least);
  const uint32_t *order = given > least ? reorder_for_memory_find(&g, given, tmp) : NULL;
  if (order) {
    wick_func *better = reorder_for_memory_build_func(f, &g, order, pass->mem, tmp);
    if (wick_low_peak(better, 1, tmp) < wick_low_peak(f, 1, tmp)) *out = better;
  }
  wick_arena_rewind(tmp, mark);
  return NULL;
}
