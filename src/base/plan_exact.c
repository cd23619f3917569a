/* The exact part of the planner's search: is there a plan of at most `target` bytes?
 *
 * Depth first over plans in which items are placed in the order of their offsets, each at its
 * lowest offset above all placed ones that it collides with (`low`). Every plan becomes such a plan
 * if items drop until none can. So two kinds of branches can be skipped: those in which an unplaced
 * item would fit whole below the next offset (it would drop), and those in which in some section
 * (items that all collide: live at one time, or in one set) the lowest `low` plus the sizes still
 * to come exceeds the target. When no unplaced item is live on both sides of a time, the two sides
 * are solved separately, and a failure of one is not repeated for each plan of the other.
 * Source: MiniMalloc (Moffitt, ASPLOS 2024), which has the canonical form, the dominance rule, the
 * bound per section and the split; pinned items (others skip over them) and sets are additions. */
#include <string.h>

#include "base/plan_fit.h"

/* Bounds the depth of the recursion (a placed item each) and the memory for the lists of unplaced
 * items (half the square); beyond it nothing would end in time anyway. */
enum { EXACT_MOST_ITEMS = 2048 };

typedef struct exact_change {
  uint32_t item;
  int64_t low;
} exact_change;

typedef struct exact_move {
  uint32_t item;
  uint64_t trail; /* its length before the item was placed */
} exact_move;

typedef struct exact {
  wick_plan_task *t;
  const uint32_t *order; /* which item is tried first */
  int64_t target;
  uint64_t until_step;
  int64_t *low; /* of unplaced items: the lowest offset; of placed ones: the offset */
  bool *placed;
  bool any_pin, any_set;
  /* sections: those of time in order, then those of sets */
  uint32_t ntime, nsection;
  uint32_t *section_first, *section_last; /* of each item: its sections of time, both included */
  uint32_t *section_set;                  /* of each item in a set: its section */
  uint32_t *start, *member;               /* items of section s: from member[start[s]] */
  int64_t *left;                          /* size of a section that is not placed */
  uint32_t *cross; /* of a section of time: unplaced items that are in the next one too */
  exact_move *move;
  uint32_t nmove;
  exact_change *trail;
  uint64_t ntrail;
  uint32_t *list; /* a stack of lists of ranks */
} exact;

/* The unplaced items of one side: their ranks, rising, and their sections of time. */
typedef struct exact_part {
  uint32_t *rank, n;
  uint32_t first, last; /* both included */
} exact_part;

/* ---- sections ---- */

/* Finds the sections of time. They begin at those starts of items after which an item ends before
 * the next start: the largest sets of items that are live together occur there. */
static uint32_t exact_sections_of_time(exact *x)
{
  const wick_plan_task *t = x->t;
  /* an item ends after the start of this one and before the next start */
  bool *ends = wick_new(t->tmp, bool, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    uint32_t low = i, high = t->n; /* the last item with first <= item[i].last */
    while (high - low > 1) {
      uint32_t mid = low + (high - low) / 2;
      if (t->item[mid].first <= t->item[i].last)
        low = mid;
      else
        high = mid;
    }
    ends[low] = true;
    x->section_last[i] = low;
  }
  uint32_t n = 0, *number = wick_new(t->tmp, uint32_t, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    number[i] = n;
    n += ends[i];
  }
  /* Items with the same start have no end between them, so they have the same number. */
  for (uint32_t i = 0; i < t->n; i++) {
    x->section_first[i] = number[i];
    x->section_last[i] = number[x->section_last[i]];
  }
  return n;
}

static void exact_sections(exact *x)
{
  const wick_plan_task *t = x->t;
  x->section_first = wick_new(t->tmp, uint32_t, t->n);
  x->section_last = wick_new(t->tmp, uint32_t, t->n);
  x->section_set = wick_new(t->tmp, uint32_t, t->n);
  uint32_t ntime = exact_sections_of_time(x);
  uint32_t *first = wick_new(t->tmp, uint32_t, t->n); /* the first item of each set */
  x->nsection = ntime;
  x->ntime = ntime;
  for (uint32_t i = 0; i < t->n; i++) {
    uint32_t k = 0;
    while (t->item[i].apart && k < x->nsection - ntime &&
           t->item[first[k]].apart != t->item[i].apart)
      k++;
    x->section_set[i] = ntime + k;
    if (!t->item[i].apart || k < x->nsection - ntime) continue;
    first[k] = i;
    x->nsection++;
  }
  x->start = wick_new(t->tmp, uint32_t, (size_t)x->nsection + 1);
  for (uint32_t i = 0; i < t->n; i++) {
    for (uint32_t s = x->section_first[i]; s <= x->section_last[i]; s++) x->start[s]++;
    if (t->item[i].apart) x->start[x->section_set[i]]++;
  }
  for (uint32_t s = 0; s < x->nsection; s++) x->start[s + 1] += x->start[s];
  x->member = wick_new(t->tmp, uint32_t, x->start[x->nsection]);
  for (uint32_t i = t->n; i-- > 0;) {
    for (uint32_t s = x->section_first[i]; s <= x->section_last[i]; s++)
      x->member[--x->start[s]] = i;
    if (t->item[i].apart) x->member[--x->start[x->section_set[i]]] = i;
  }
}

/* ---- moves ---- */

/* Adds `sign` times the item's size to the sums of its sections. */
static void exact_count(exact *x, uint32_t i, int sign)
{
  int64_t size = sign * x->t->item[i].size;
  for (uint32_t s = x->section_first[i]; s <= x->section_last[i]; s++) {
    x->left[s] += size;
    if (s < x->section_last[i]) x->cross[s] += (uint32_t)sign;
  }
  if (x->t->item[i].apart) x->left[x->section_set[i]] += size;
}

/* Returns the lowest offset for i, from `at` on, at which it does not overlap a pinned item. */
static int64_t exact_skip_pins(const exact *x, uint32_t i, int64_t at)
{
  const wick_plan_task *t = x->t;
  for (bool moved = x->any_pin; moved;) {
    moved = false;
    for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++) {
      const wick_plan_item *o = &t->item[t->to[k]];
      if (o->pin < 0 || at + t->item[i].size <= o->pin || at >= o->pin + o->size) continue;
      at = o->pin + o->size;
      moved = true;
    }
  }
  return at;
}

/* Returns whether the unplaced items of section s may still end below the target, all of them at
 * `last` or above. */
static bool exact_section_fits(exact *x, uint32_t s, int64_t last)
{
  if (x->left[s] == 0) return true;
  int64_t floor = INT64_MAX;
  for (uint32_t k = x->start[s]; k < x->start[s + 1]; k++) {
    uint32_t i = x->member[k];
    if (!x->placed[i] && x->low[i] < floor) floor = x->low[i];
  }
  x->t->step += x->start[s + 1] - x->start[s];
  return wick_max_i64(floor, last) + x->left[s] <= x->target;
}

/* Places item i and raises the items that collide with it. Returns whether the rest of the part may
 * fit. */
static bool exact_place(exact *x, const exact_part *p, uint32_t i)
{
  wick_plan_task *t = x->t;
  int64_t last = x->low[i], top = last + t->item[i].size;
  uint32_t first_section = x->section_first[i], last_section = x->section_last[i];
  bool fits = true;
  x->placed[i] = true;
  x->move[x->nmove++] = (exact_move){i, x->ntrail};
  exact_count(x, i, -1);
  for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++) {
    uint32_t j = t->to[k];
    if (x->placed[j] || x->low[j] >= top) continue;
    x->trail[x->ntrail++] = (exact_change){j, x->low[j]};
    x->low[j] = exact_skip_pins(x, j, top);
    fits = fits && x->low[j] + t->item[j].size <= x->target;
    if (x->section_first[j] < first_section) first_section = x->section_first[j];
    if (x->section_last[j] > last_section) last_section = x->section_last[j];
  }
  t->step += t->start[i + 1] - t->start[i] + (p->last - p->first);
  for (uint32_t s = p->first; fits && s <= p->last; s++)
    fits = x->left[s] == 0 || last + x->left[s] <= x->target;
  for (uint32_t s = first_section; fits && s <= last_section; s++)
    fits = exact_section_fits(x, s, last);
  for (uint32_t s = x->ntime; fits && s < x->nsection; s++) fits = exact_section_fits(x, s, last);
  return fits;
}

static void exact_undo(exact *x, uint32_t nmove)
{
  while (x->nmove > nmove) {
    exact_move m = x->move[--x->nmove];
    while (x->ntrail > m.trail) {
      exact_change c = x->trail[--x->ntrail];
      x->low[c.item] = c.low;
    }
    exact_count(x, m.item, 1);
    x->placed[m.item] = false;
  }
}

/* ---- the search ---- */

/* Finds the next independent side of the unplaced items of `p`, from section `first` on, and writes
 * their ranks to `rank`. If there are sets, all times belong to one side. */
static exact_part exact_side(exact *x, const exact_part *p, uint32_t first, uint32_t *rank)
{
  exact_part side = {.rank = rank, .first = first, .last = first};
  if (x->any_set) side.last = p->last;
  while (side.last < p->last && x->cross[side.last]) side.last++;
  for (uint32_t k = 0; k < p->n; k++) {
    uint32_t i = x->order[p->rank[k]];
    if (!x->placed[i] && x->section_first[i] >= side.first && x->section_last[i] <= side.last)
      rank[side.n++] = p->rank[k];
  }
  x->t->step += p->n;
  return side;
}

static bool exact_solve(exact *x, const exact_part *p, int64_t last, uint32_t last_rank);

/* Solves the sides of the unplaced items of `p` separately. */
static bool exact_solve_sides(exact *x, const exact_part *p, int64_t last, uint32_t last_rank)
{
  for (uint32_t s = p->first; s <= p->last;) {
    exact_part side = exact_side(x, p, s, p->rank + p->n);
    if (side.n && !exact_solve(x, &side, last, last_rank)) return false;
    s = side.last + 1;
  }
  return true;
}

/* Finds the unplaced item that follows (last, last_rank) in the order of `low`, then of rank. */
static bool exact_next(exact *x, const exact_part *p, int64_t last, uint32_t last_rank,
                       int64_t least_top, uint32_t *out_rank)
{
  int64_t best = least_top;
  for (uint32_t k = 0; k < p->n; k++) {
    int64_t at = x->low[x->order[p->rank[k]]];
    if (at >= best || at < last || (at == last && p->rank[k] <= last_rank)) continue;
    best = at;
    *out_rank = p->rank[k];
  }
  x->t->step += p->n;
  return best < least_top && x->t->step < x->until_step;
}

/* Places all items of `p`, or none. Each is at `last` or above; at `last` only with a higher rank,
 * because the other order of the two was tried already. */
static bool exact_solve(exact *x, const exact_part *p, int64_t last, uint32_t last_rank)
{
  int64_t least_top = INT64_MAX;
  for (uint32_t k = 0; k < p->n; k++) {
    uint32_t i = x->order[p->rank[k]];
    least_top = wick_min_i64(least_top, x->low[i] + x->t->item[i].size);
  }
  x->t->step += p->n;
  if (least_top <= last) return false;
  uint32_t nmove = x->nmove, rank = 0;
  while (exact_next(x, p, last, last_rank, least_top, &rank)) {
    uint32_t i = x->order[rank];
    last = x->low[i];
    last_rank = rank;
    if (exact_place(x, p, i) && exact_solve_sides(x, p, last, rank)) return true;
    exact_undo(x, nmove);
  }
  return false;
}

wick_plan_answer wick_plan_exact(wick_plan_task *t, const uint32_t *order, int64_t target,
                                 uint64_t until_step, int64_t *offset)
{
  if (t->n > EXACT_MOST_ITEMS || !t->start) return WICK_PLAN_UNKNOWN;
  wick_mark m = wick_arena_mark(t->tmp);
  exact x = {.t = t, .order = order, .target = target, .until_step = until_step, .low = offset};
  exact_sections(&x);
  x.placed = wick_new(t->tmp, bool, t->n);
  x.left = wick_new(t->tmp, int64_t, x.nsection);
  x.cross = wick_new(t->tmp, uint32_t, x.nsection);
  x.move = wick_new(t->tmp, exact_move, t->n);
  x.trail = wick_new(t->tmp, exact_change, t->start[t->n]);
  x.list = wick_new(t->tmp, uint32_t, (size_t)t->n * (t->n + 3) / 2);
  for (uint32_t i = 0; i < t->n; i++) {
    x.placed[i] = t->item[i].pin >= 0;
    x.any_pin |= x.placed[i];
    x.any_set |= t->item[i].apart != 0;
  }
  bool fits = true;
  for (uint32_t i = 0; i < t->n; i++) {
    offset[i] = x.placed[i] ? t->item[i].pin : exact_skip_pins(&x, i, 0);
    if (!x.placed[i]) exact_count(&x, i, 1);
    fits = fits && offset[i] + t->item[i].size <= target;
  }
  exact_part all = {.rank = x.list, .last = x.ntime - 1};
  for (uint32_t k = 0; k < t->n; k++)
    if (!x.placed[order[k]]) all.rank[all.n++] = k;
  bool found = fits && exact_solve_sides(&x, &all, -1, 0);
  wick_arena_rewind(t->tmp, m);
  return found ? WICK_PLAN_FOUND : t->step < until_step ? WICK_PLAN_NONE : WICK_PLAN_UNKNOWN;
}
