/* Prefetches: after a load, emits prefetches for the next iterations of the loops that ask for
 * them. */
#include "loop/nest_state.h"

enum { NEST_KEY_FETCH = 48 };
enum { FETCH_LINE = 64 }; /* bytes of a cache line */

/* Returns the first open loop inside `level`, or NULL. If a loop has two symbols, it is the first
 * one. */
static const struct nest_symbol *fetch_inside(const nest *t, uint32_t level)
{
  const struct nest_symbol *best = NULL;
  for (uint32_t i = 0; i < t->symbols.n; i++) {
    const struct nest_symbol *s = &t->symbols.at[i];
    if (s->level > level && (!best || s->level <= best->level)) best = s;
  }
  return best;
}

/* The loops over the elements that are read, combined to a single loop: its index, its number of
 * iterations, and the loops, outermost first. */
typedef struct fetch_through {
  wick_dim at;
  int64_t n;
  uint32_t nloop;
  wick_dim loop[WICK_MAX_RANK], zero[WICK_MAX_RANK];
} fetch_through;

/* Adds a loop of `n` iterations, if the loop around it steps by exactly as much as all its
 * iterations. */
static void fetch_through_add(nest *t, fetch_through *all, wick_dim at, wick_dim loop, int64_t n)
{
  wick_dims *dims = t->m->dims;
  wick_dim step, outer, rest;
  bool whole = !all->nloop;
  if (!whole && all->nloop < WICK_MAX_RANK && all->n < (1 << 20) / n)
    whole = wick_dim_linear(dims, at, loop, &step, &rest) &&
            wick_dim_linear(dims, at, all->loop[all->nloop - 1], &outer, &rest) &&
            wick_dim_eq(outer, wick_dim_mul(dims, step, wick_dim_const(n)));
  if (!whole) return;
  all->at = wick_dim_add(dims, wick_dim_mul(dims, all->at, wick_dim_const(n)), loop);
  all->n *= n;
  all->zero[all->nloop] = wick_dim_const(0);
  all->loop[all->nloop++] = loop;
}

/* Spreads prefetches. If loops inside s read the same elements repeatedly, each repetition
 * prefetches its share of the next elements. If the number of repetitions is not known, because an
 * extent is dynamic, the first one prefetches all. */
static wick_dim fetch_spread(nest *t, wick_dim at, const struct nest_symbol *s)
{
  wick_dims *dims = t->m->dims;
  fetch_through all = {.at = wick_dim_const(0), .n = 1};
  wick_dim again = wick_dim_const(0), open = wick_dim_const(0);
  int64_t times = 1, lo, hi;
  for (uint32_t level = s->level;;) {
    const struct nest_symbol *x = fetch_inside(t, level);
    if (!x) break;
    level = x->level;
    wick_dim_range(dims, x->sym, &lo, &hi);
    if (wick_dim_uses(dims, at, x->sym)) {
      fetch_through_add(t, &all, at, x->sym, hi + 1);
    } else if (!wick_dim_is_const(x->most) && !wick_dim_eq(x->most, WICK_DIM_INVALID)) {
      open = wick_dim_max(dims, open, wick_dim_min(dims, x->sym, wick_dim_const(1)));
    } else if (hi < 1 << 20 && times < 1 << 20) {
      again = wick_dim_add(dims, wick_dim_mul(dims, again, wick_dim_const(hi + 1)), x->sym);
      times *= hi + 1;
    }
  }
  bool fixed = wick_dim_is(open, 0);
  if (!all.nloop || (times == 1 && fixed)) return at;
  wick_dim share = wick_dim_mul(dims, again, wick_dim_const(all.n));
  share = wick_dim_floordiv(dims, wick_dim_add(dims, share, all.at), wick_dim_const(times));
  share = wick_dim_max(dims, share, wick_dim_mul(dims, open, wick_dim_const(all.n - 1)));
  all.zero[all.nloop - 1] = share;
  return wick_dim_substitute(dims, at, all.nloop, all.loop, all.zero);
}

void nest_fetch(nest *t, const nest_run *r, const nest_place *p, const nest_address *a, wick_elem e)
{
  int64_t line = FETCH_LINE * 8 / wick_elem_storage[e].bits;
  for (uint32_t i = 0; p->halo && i < t->symbols.n; i++) {
    wick_dim step, rest;
    const struct nest_symbol *s = &t->symbols.at[i];
    if (!s->prefetch || !wick_dim_uses(t->m->dims, a->rest, s->sym) ||
        !wick_dim_linear(t->m->dims, a->rest, s->sym, &step, &rest) || !wick_dim_is_const(step))
      continue;
    wick_dim at = fetch_spread(t, a->rest, s);
    wick_attr offset = {.i = a->offset + step.v};
    uint64_t key[4] = {NEST_KEY_FETCH, p->buffer.id, (uint64_t)at.v,
                       (uint64_t)wick_floordiv_i64(offset.i, line)};
    if (nest_find(t, key, 4)) continue;
    wick_value in[2] = {p->buffer, nest_dim(t, r, at)};
    wick_build(&t->b, WICK_OP_prefetch, 2, in, &offset, 0, NULL);
    nest_remember(t, key, 4, in[1]);
  }
}
