/* First fit, and its inputs: the lower bound, and the items that collide.
 *
 * With lists of colliding pairs a placement costs as much as the item has neighbours, which are few
 * in a network. If nearly all items collide with each other, a scan over the placed items in the
 * order of their offsets is faster, and stops at the first gap. */
#include "base/plan_fit.h"

#include <stdlib.h>
#include <string.h>

enum { FIT_MOST_PAIRS = 1 << 22, FIT_SMALL = 32 };

typedef struct fit_sorted {
  int64_t key, key2;
  uint32_t i;
} fit_sorted;

static int fit_compare(const void *pa, const void *pb)
{
  const fit_sorted *a = pa, *b = pb;
  if (a->key != b->key) return a->key > b->key ? -1 : 1;
  if (a->key2 != b->key2) return a->key2 > b->key2 ? -1 : 1;
  return a->i < b->i ? -1 : a->i > b->i;
}

void wick_plan_order(const wick_plan_task *t, const int64_t *key, uint32_t *order)
{
  wick_mark m = wick_arena_mark(t->tmp);
  fit_sorted *s = wick_new(t->tmp, fit_sorted, t->n);
  for (uint32_t i = 0; i < t->n; i++) s[i] = (fit_sorted){key[i], t->item[i].size, i};
  qsort(s, t->n, sizeof *s, fit_compare);
  for (uint32_t i = 0; i < t->n; i++) order[i] = s[i].i;
  wick_arena_rewind(t->tmp, m);
}

/* ---- the bound, and how many pairs collide ---- */

/* Visits the items in the order of their starts, and ends others in the order of `last`. */
static void fit_measure_time(wick_plan_task *t)
{
  int64_t *key = wick_new(t->tmp, int64_t, t->n), live = 0;
  uint64_t nbytes = 0;
  uint32_t *ends = wick_new(t->tmp, uint32_t, t->n);
  for (uint32_t i = 0; i < t->n; i++) key[i] = -(int64_t)t->item[i].last;
  wick_plan_order(t, key, ends);
  for (uint32_t i = 0, e = 0; i < t->n; i++) {
    for (; t->item[ends[e]].last < t->item[i].first; e++) {
      live -= t->item[ends[e]].size;
      nbytes -= t->item[ends[e]].nbytes;
    }
    t->ncollision += i - e;
    live += t->item[i].size;
    nbytes += t->item[i].nbytes;
    if (nbytes > t->live_nbytes) t->live_nbytes = nbytes;
    t->bound = wick_max_i64(t->bound, live);
  }
}

/* Returns the items sorted by `apart`, those without a set last, so that sets are consecutive.
 * Returns NULL if there is no set. */
static const uint32_t *fit_measure_apart(wick_plan_task *t)
{
  int64_t *key = wick_new(t->tmp, int64_t, t->n);
  bool any = false;
  for (uint32_t i = 0; i < t->n; i++) {
    key[i] = t->item[i].apart;
    any |= t->item[i].apart != 0;
  }
  if (!any) return NULL;
  uint32_t *order = wick_new(t->tmp, uint32_t, t->n);
  wick_plan_order(t, key, order);
  int64_t sum = 0;
  uint64_t run = 0;
  for (uint32_t k = 0; k < t->n && t->item[order[k]].apart; k++) {
    const wick_plan_item *it = &t->item[order[k]];
    bool same = k > 0 && t->item[order[k - 1]].apart == it->apart;
    run = same ? run + 1 : 0;
    sum = same ? sum + it->size : it->size;
    t->ncollision += run;
    t->bound = wick_max_i64(t->bound, sum);
  }
  return order;
}

/* ---- lists of pairs ---- */

typedef struct fit_pairs {
  uint64_t *at; /* one entry for each direction of a pair: 2 * ncollision is enough */
  uint64_t n;
} fit_pairs;

static void fit_pairs_of_time(const wick_plan_task *t, fit_pairs *p)
{
  uint32_t *live = wick_new(t->tmp, uint32_t, t->n), nlive = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    uint32_t keep = 0;
    for (uint32_t k = 0; k < nlive; k++) {
      if (t->item[live[k]].last < t->item[i].first) continue;
      p->at[p->n++] = (uint64_t)live[k] << 32 | i;
      live[keep++] = live[k];
    }
    live[keep] = i;
    nlive = keep + 1;
  }
}

static void fit_pairs_of_sets(const wick_plan_task *t, const uint32_t *by_apart, fit_pairs *p)
{
  for (uint32_t k = 0; k < t->n && t->item[by_apart[k]].apart; k++) {
    const wick_plan_item *a = &t->item[by_apart[k]];
    for (uint32_t m = k + 1; m < t->n && t->item[by_apart[m]].apart == a->apart; m++) {
      const wick_plan_item *b = &t->item[by_apart[m]];
      if (a->first <= b->last && b->first <= a->last) continue;
      p->at[p->n++] = (uint64_t)by_apart[k] << 32 | by_apart[m];
    }
  }
}

static void fit_build_lists(wick_plan_task *t, const fit_pairs *p)
{
  uint64_t *start = wick_new(t->tmp, uint64_t, (size_t)t->n + 1);
  uint32_t *to = wick_new(t->tmp, uint32_t, p->n * 2);
  for (uint64_t k = 0; k < p->n; k++) {
    start[p->at[k] >> 32]++;
    start[(uint32_t)p->at[k]]++;
  }
  for (uint32_t i = 0; i < t->n; i++) start[i + 1] += start[i];
  /* filled from the end: start[i] moves to its final position */
  for (uint64_t k = p->n; k-- > 0;) {
    uint32_t a = (uint32_t)(p->at[k] >> 32), b = (uint32_t)p->at[k];
    to[--start[a]] = b;
    to[--start[b]] = a;
  }
  t->start = start;
  t->to = to;
}

void wick_plan_task_measure(wick_plan_task *t)
{
  fit_measure_time(t);
  const uint32_t *by_apart = fit_measure_apart(t);
  for (uint32_t i = 0; i < t->n; i++)
    if (t->item[i].pin >= 0) t->bound = wick_max_i64(t->bound, t->item[i].pin + t->item[i].size);
  t->dense = t->n > FIT_SMALL && t->ncollision > (uint64_t)t->n * t->n / 16;
  if (t->ncollision > FIT_MOST_PAIRS) {
    t->dense = true;
    return;
  }
  fit_pairs p = {.at = wick_new(t->tmp, uint64_t, t->ncollision)};
  fit_pairs_of_time(t, &p);
  if (by_apart) fit_pairs_of_sets(t, by_apart, &p);
  fit_build_lists(t, &p);
}

/* ---- first fit ---- */

enum { FIT_UNPLACED = -1 };

/* An offset at which the item overlaps a neighbour must rise to the neighbour's end. When a whole
 * round changes nothing, it is the lowest free offset. */
static int64_t fit_by_lists(wick_plan_task *t, uint32_t i, const int64_t *offset)
{
  int64_t at = 0, size = t->item[i].size;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++) {
      uint32_t j = t->to[k];
      int64_t low = offset[j], high = low + t->item[j].size;
      if (low == FIT_UNPLACED || at + size <= low || at >= high) continue;
      at = high;
      moved = true;
    }
    t->step += t->start[i + 1] - t->start[i];
  }
  return at;
}

/* by_offset has the nplaced items, lowest first. */
static int64_t fit_by_scan(wick_plan_task *t, uint32_t i, const int64_t *offset,
                           const uint32_t *by_offset, uint32_t nplaced)
{
  const wick_plan_item *it = &t->item[i];
  int64_t at = 0;
  uint32_t k = 0;
  for (; k < nplaced; k++) {
    uint32_t j = by_offset[k];
    if (!wick_plan_collide(it, &t->item[j])) continue;
    if (at + it->size <= offset[j]) break;
    at = wick_max_i64(at, offset[j] + t->item[j].size);
  }
  t->step += k;
  return at;
}

static void fit_insert(uint32_t *by_offset, uint32_t nplaced, const int64_t *offset, uint32_t i)
{
  uint32_t low = 0, high = nplaced;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (offset[by_offset[mid]] <= offset[i])
      low = mid + 1;
    else
      high = mid;
  }
  memmove(&by_offset[low + 1], &by_offset[low], (nplaced - low) * sizeof *by_offset);
  by_offset[low] = i;
}

int64_t wick_plan_first_fit(wick_plan_task *t, const uint32_t *order, int64_t *offset)
{
  wick_mark m = wick_arena_mark(t->tmp);
  uint32_t *by_offset = t->dense ? wick_new(t->tmp, uint32_t, t->n) : NULL, nplaced = 0;
  int64_t end = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    offset[i] = t->item[i].pin >= 0 ? t->item[i].pin : FIT_UNPLACED;
    if (offset[i] == FIT_UNPLACED) continue;
    if (by_offset) fit_insert(by_offset, nplaced++, offset, i);
    end = wick_max_i64(end, offset[i] + t->item[i].size);
  }
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t i = order[k];
    if (t->item[i].pin >= 0) continue;
    offset[i] =
        by_offset ? fit_by_scan(t, i, offset, by_offset, nplaced) : fit_by_lists(t, i, offset);
    if (by_offset) fit_insert(by_offset, nplaced++, offset, i);
    end = wick_max_i64(end, offset[i] + t->item[i].size);
  }
  wick_arena_rewind(t->tmp, m);
  return end;
}
