/* Facts are edges of a graph, and a query is a search of the shortest path. */
#include "loop/differences.h"

enum { DIFFERENCES_STEPS = 64, DIFFERENCES_FACTS = 512 }; /* that a query visits at most */

void wick_differences_begin(wick_differences *d, uint32_t nvalue, wick_arena *mem)
{
  *d = (wick_differences){.mem = mem};
  wick_push(mem, &d->fact, (wick_difference){0});
  d->first_of_a = wick_new(mem, uint32_t, nvalue + 1);
  d->first_of_b = wick_new(mem, uint32_t, nvalue + 1);
  d->query = wick_new(mem, uint32_t, nvalue + 1);
  d->distance = wick_new(mem, int64_t, nvalue + 1);
}

void wick_difference_add(wick_differences *d, uint32_t a, uint32_t b, int64_t c)
{
  if (a == b) return;
  wick_difference f = {a, b, c, d->first_of_a[a], d->first_of_b[b]};
  d->first_of_a[a] = d->first_of_b[b] = d->fact.n;
  wick_push(d->mem, &d->fact, f);
}

void wick_difference_equal(wick_differences *d, uint32_t a, uint32_t b, int64_t c)
{
  if (c == INT64_MIN) return;
  wick_difference_add(d, a, b, c);
  wick_difference_add(d, b, a, -c);
}

void wick_differences_rewind(wick_differences *d, uint32_t mark)
{
  while (d->fact.n > mark) {
    const wick_difference *f = &d->fact.at[--d->fact.n];
    d->first_of_a[f->a] = f->next_of_a;
    d->first_of_b[f->b] = f->next_of_b;
  }
}

/* The values that a query has reached and not yet visited. */
typedef struct differences_queue {
  uint32_t at[4 * DIFFERENCES_STEPS], n, done, nfact;
} differences_queue;

static void differences_reach(wick_differences *d, differences_queue *q, uint32_t v, int64_t c)
{
  if (d->query[v] == d->nquery && d->distance[v] <= c) return;
  d->query[v] = d->nquery;
  d->distance[v] = c;
  if (q->n < WICK_COUNT(q->at)) q->at[q->n++] = v;
}

/* Finds the shortest path from `from` to `to`, along facts from a to b, or from b to a. Does not
 * pass through the number 0, whose facts are those of all values. */
static bool differences_path(wick_differences *d, uint32_t from, uint32_t to, bool forward,
                             int64_t *out)
{
  differences_queue q = {.n = 0};
  d->nquery++;
  differences_reach(d, &q, from, 0);
  for (; q.done < q.n && q.done < DIFFERENCES_STEPS; q.done++) {
    uint32_t v = q.at[q.done];
    if (v == to || (!v && v != from)) continue;
    uint32_t i = forward ? d->first_of_a[v] : d->first_of_b[v];
    while (i && q.nfact++ < DIFFERENCES_FACTS) {
      const wick_difference *f = &d->fact.at[i];
      int64_t c;
      if (!wick_add_overflows(d->distance[v], f->c, &c))
        differences_reach(d, &q, forward ? f->b : f->a, c);
      i = forward ? f->next_of_a : f->next_of_b;
    }
  }
  *out = d->distance[to];
  return d->query[to] == d->nquery;
}

wick_interval wick_difference_interval(wick_differences *d, uint32_t a)
{
  wick_interval r = {INT64_MIN, INT64_MAX};
  int64_t c;
  if (!a) return (wick_interval){0, 0};
  if (differences_path(d, a, 0, true, &c)) r.hi = c;
  if (differences_path(d, a, 0, false, &c) && c != INT64_MIN) r.lo = -c;
  return r;
}

bool wick_difference_most(wick_differences *d, uint32_t a, uint32_t b, int64_t *out)
{
  bool found = a && b && differences_path(d, a, b, true, out);
  wick_interval x = wick_difference_interval(d, a), y = wick_difference_interval(d, b);
  int64_t c;
  if (x.hi == INT64_MAX || y.lo == INT64_MIN || wick_sub_overflows(x.hi, y.lo, &c)) return found;
  if (!found || c < *out) *out = c;
  return true;
}

bool wick_difference_least(wick_differences *d, uint32_t a, uint32_t b, int64_t *out)
{
  if (!wick_difference_most(d, b, a, out) || *out == INT64_MIN) return false;
  *out = -*out;
  return true;
}
