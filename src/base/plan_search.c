/* The planner's search: first fit by several orders, then rounds of a local search over orders (the
 * climb) and of the exact search, each with more steps than the one before.
 *
 * The climb is driven by conflicts: an item that ends above the target moves to an earlier, random
 * position in the order, and the new order is kept if the bytes above the target do not grow (or,
 * rarely, if they do). It finds the plans of networks, in which few items make the peak; the exact
 * search finds tight packings that orders miss, and proves that no smaller plan exists. Sources:
 * orders by size and by breadth, Pisarchyk and Lee 2020, arXiv:2001.03288; moving items that do not
 * fit forward in the order, squeaky wheel optimization, Joslin and Clements 1999. */
#include <string.h>

#include "base/plan_fit.h"

typedef struct search {
  wick_plan_task *t;
  uint64_t random;
  int64_t *best; /* offsets */
  int64_t best_end;
  int64_t least; /* no plan ends below it: the bound, or what is proven since */
} search;

/* xorshift64*, Vigna 2016 (arXiv:1402.6246); n is not 0. */
static uint32_t search_random(search *s, uint32_t n)
{
  s->random ^= s->random >> 12;
  s->random ^= s->random << 25;
  s->random ^= s->random >> 27;
  return (uint32_t)(((s->random * 0x2545f4914f6cdd1du) >> 32) * n >> 32);
}

static bool search_done(const search *s, uint64_t until_step)
{
  return s->best_end <= s->least || s->t->step >= until_step;
}

static int64_t search_end(const wick_plan_task *t, const int64_t *offset)
{
  int64_t end = 0;
  for (uint32_t i = 0; i < t->n; i++) end = wick_max_i64(end, offset[i] + t->item[i].size);
  return end;
}

static void search_keep(search *s, const int64_t *offset, int64_t end)
{
  if (end >= s->best_end) return;
  s->best_end = end;
  memcpy(s->best, offset, s->t->n * sizeof *offset);
}

/* ---- orders for first fit ---- */

static int64_t search_mul(int64_t a, int64_t b)
{
  int64_t c;
  return wick_mul_overflows(a, b, &c) ? INT64_MAX : c;
}

static bool search_lives(const wick_plan_task *t, uint32_t i, uint32_t now)
{
  return t->item[i].first <= now && now <= t->item[i].last;
}

/* Computes, for each item, the largest sum of sizes that are live at one time of its life; 0
 * without the lists. */
static void search_breadth(const wick_plan_task *t, int64_t *breadth)
{
  /* the sum increases only where an item begins */
  for (uint32_t i = 0; t->start && i < t->n; i++) {
    uint32_t now = t->item[i].first;
    int64_t live = t->item[i].size;
    for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++)
      if (search_lives(t, t->to[k], now)) live += t->item[t->to[k]].size;
    breadth[i] = wick_max_i64(breadth[i], live);
    for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++)
      if (search_lives(t, t->to[k], now)) breadth[t->to[k]] = wick_max_i64(breadth[t->to[k]], live);
  }
}

enum { SEARCH_BY_AREA, SEARCH_BY_LENGTH, SEARCH_BY_START, SEARCH_BY_BREADTH, SEARCH_NORDER };

static void search_order(const wick_plan_task *t, int kind, const int64_t *breadth, uint32_t *order)
{
  wick_mark m = wick_arena_mark(t->tmp);
  int64_t *key = wick_new(t->tmp, int64_t, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    const wick_plan_item *it = &t->item[i];
    int64_t length = (int64_t)it->last - it->first + 1;
    key[i] = kind == SEARCH_BY_AREA     ? search_mul(it->size, length)
             : kind == SEARCH_BY_LENGTH ? length
             : kind == SEARCH_BY_START  ? -(int64_t)it->first
                                        : breadth[i];
  }
  wick_plan_order(t, key, order);
  wick_arena_rewind(t->tmp, m);
}

/* ---- the climb ---- */

/* Returns the sum over all items of the bytes above the target, and lists the items that have
 * some. */
static int64_t search_excess(const search *s, const int64_t *offset, uint32_t *over,
                             uint32_t *nover)
{
  int64_t sum = 0;
  *nover = 0;
  for (uint32_t i = 0; i < s->t->n; i++) {
    int64_t above = offset[i] + s->t->item[i].size - s->least;
    if (above <= 0) continue;
    over[(*nover)++] = i;
    if (wick_add_overflows(sum, above, &sum)) sum = INT64_MAX;
  }
  return sum;
}

static void search_move(uint32_t *order, uint32_t from, uint32_t to)
{
  uint32_t i = order[from];
  if (to < from)
    memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
  else
    memmove(&order[from], &order[from + 1], (to - from) * sizeof *order);
  order[to] = i;
}

static uint32_t search_position(const uint32_t *order, uint32_t i)
{
  uint32_t k = 0;
  while (order[k] != i) k++;
  return k;
}

static void search_climb(search *s, uint32_t *order, uint64_t until_step)
{
  wick_plan_task *t = s->t;
  wick_mark m = wick_arena_mark(t->tmp);
  uint32_t *trial = wick_new(t->tmp, uint32_t, t->n), *over = wick_new(t->tmp, uint32_t, t->n);
  uint32_t *trial_over = wick_new(t->tmp, uint32_t, t->n), nover, ntrial_over;
  int64_t *offset = wick_new(t->tmp, int64_t, t->n);
  search_keep(s, offset, wick_plan_first_fit(t, order, offset));
  int64_t excess = search_excess(s, offset, over, &nover);
  while (!search_done(s, until_step)) {
    memcpy(trial, order, t->n * sizeof *order);
    uint32_t from = search_position(trial, over[search_random(s, nover)]);
    search_move(trial, from, search_random(s, from + 1));
    if (search_random(s, 4) == 0)
      search_move(trial, search_random(s, t->n), search_random(s, t->n));
    search_keep(s, offset, wick_plan_first_fit(t, trial, offset));
    t->step += t->n;
    int64_t e = search_excess(s, offset, trial_over, &ntrial_over);
    if (e > excess && search_random(s, 50) != 0) continue;
    excess = e;
    memcpy(order, trial, t->n * sizeof *order);
    memcpy(over, trial_over, ntrial_over * sizeof *over);
    nover = ntrial_over;
  }
  wick_arena_rewind(t->tmp, m);
}

/* ---- both, in rounds of twice the steps ---- */

enum { SEARCH_FIRST_ROUND = 1 << 13 };

/* Returns the step at which a part of a round ends: at most a third of the remaining steps, so that
 * all parts of a round run. */
static uint64_t search_until(const search *s, uint64_t nstep)
{
  const wick_plan_task *t = s->t;
  uint64_t third = t->step < t->most_step ? (t->most_step - t->step) / 3 + 1 : 0;
  return t->step + (nstep < third ? nstep : third);
}

/* Searches for plans at the least end that is not ruled out, and halfway between it and the best
 * one. */
static void search_exact(search *s, const uint32_t *order, int64_t *trial, uint64_t nstep)
{
  for (int halfway = 0; halfway < 2; halfway++) {
    uint64_t until = search_until(s, nstep);
    while (s->least < s->best_end) {
      int64_t target = halfway ? s->least + (s->best_end - 1 - s->least) / 2 : s->least;
      wick_plan_answer a = wick_plan_exact(s->t, order, target, until, trial);
      if (a == WICK_PLAN_UNKNOWN) break;
      if (a == WICK_PLAN_FOUND) search_keep(s, trial, search_end(s->t, trial));
      if (a == WICK_PLAN_NONE) s->least = target + 1;
      if (a == WICK_PLAN_NONE) halfway = 1;
    }
  }
}

/* Repeats rounds until the best plan is proven optimal, or the steps are used up. */
static void search_rounds(search *s, uint32_t *climb_order, const int64_t *breadth)
{
  wick_plan_task *t = s->t;
  int64_t *trial = wick_new(t->tmp, int64_t, t->n);
  uint32_t *order = wick_new(t->tmp, uint32_t, t->n);
  uint64_t nstep = SEARCH_FIRST_ROUND;
  for (int k = 0; !search_done(s, t->most_step); k++) {
    search_climb(s, climb_order, search_until(s, 2 * nstep));
    search_order(t, SEARCH_NORDER - 1 - k % SEARCH_NORDER, breadth, order);
    search_exact(s, order, trial, nstep);
    if (k % SEARCH_NORDER == SEARCH_NORDER - 1) nstep *= 4;
  }
}

int64_t wick_plan_search(wick_plan_task *t, int64_t *offset, int64_t end)
{
  search s = {
      .t = t, .random = 0x9e3779b97f4a7c15u, .best = offset, .best_end = end, .least = t->bound};
  int64_t *breadth = wick_new(t->tmp, int64_t, t->n);
  int64_t *trial = wick_new(t->tmp, int64_t, t->n); /* all 0: a key that orders by size */
  uint32_t *order = wick_new(t->tmp, uint32_t, t->n), *by_size = wick_new(t->tmp, uint32_t, t->n);
  wick_plan_order(t, trial, by_size);
  search_breadth(t, breadth);
  for (int k = 0; k < SEARCH_NORDER && !search_done(&s, t->most_step); k++) {
    search_order(t, k, breadth, order);
    search_keep(&s, trial, wick_plan_first_fit(t, order, trial));
  }
  search_rounds(&s, by_size, breadth);
  return s.best_end;
}
