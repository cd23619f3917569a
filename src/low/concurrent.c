/* Finds concurrent instructions. One walk collects the accesses of all instructions since the last
 * one that had to wait. */
#include "low/concurrent.h"

enum {
  CONCURRENT_MOST = 64, /* most accesses that are remembered */
  CONCURRENT_LINE = 64, /* bytes of a cache line */
  CONCURRENT_RUN = 512, /* of longer runs of bytes, cores share few of the lines */
};

typedef struct concurrent {
  const wick_alias *a;
  wick_access at[CONCURRENT_MOST];
  uint32_t n;
} concurrent;

/* Finds the position of p in the arena. Returns false if the root has memory of its own, with
 * which no other root overlaps. */
static bool concurrent_arena(const concurrent *s, const wick_memref *p, int64_t *lo, int64_t *end)
{
  uint32_t d = s->a->definer[p->root.id];
  if (d == UINT32_MAX || s->a->f->node[d].op != WICK_OP_alloc) return false;
  int64_t base = s->a->f->node[d].attr[WICK_ATTR_alloc_offset].i; /* -1: not planned */
  *lo = base < 0 ? INT64_MIN : base + p->offset;
  *end = base < 0 ? INT64_MAX : base + wick_memref_end(p);
  return true;
}

/* Returns whether the runs of consecutive bytes of p end within lines, and are short. */
static bool concurrent_splits_lines(const wick_memref *p)
{
  int64_t run = p->elem_bytes;
  uint32_t d = p->rank;
  bool aligned = p->offset % CONCURRENT_LINE == 0;
  while (d && (p->dim[d - 1] == 1 || p->stride[d - 1] * p->elem_bytes == run)) run *= p->dim[--d];
  for (uint32_t i = 0; i < d; i++)
    aligned = aligned && p->stride[i] * p->elem_bytes % CONCURRENT_LINE == 0;
  return run < CONCURRENT_RUN && !(aligned && run % CONCURRENT_LINE == 0);
}

/* Returns whether two references that share no byte are interleaved in the same lines, as the
 * columns of a matrix are. Cores that write them at the same time take the lines from each other,
 * which costs more than running one after the other. */
static bool concurrent_shares_lines(const wick_memref *p, const wick_memref *q)
{
  return p->offset < wick_memref_end(q) && q->offset < wick_memref_end(p) &&
         (concurrent_splits_lines(p) || concurrent_splits_lines(q));
}

static bool concurrent_meet(const concurrent *s, const wick_access *x, const wick_access *y)
{
  if (!x->writes && !y->writes) return false;
  wick_memref p = wick_access_memref(s->a, x), q = wick_access_memref(s->a, y);
  if (!p.known || !q.known || s->a->tied[p.root.id] || s->a->tied[q.root.id]) return true;
  if (p.root.id == q.root.id)
    return !wick_memref_disjoint(&p, &q) || concurrent_shares_lines(&p, &q);
  int64_t lo[2], end[2];
  return concurrent_arena(s, &p, &lo[0], &end[0]) && concurrent_arena(s, &q, &lo[1], &end[1]) &&
         lo[0] < end[1] && lo[1] < end[0];
}

/* Collects the accesses of node i to its operands. Returns their number. */
static uint32_t concurrent_accesses(const concurrent *s, uint32_t i, wick_access *out)
{
  const wick_node *n = &s->a->f->node[i];
  uint32_t count = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    const wick_access_list *all = &s->a->access[s->a->memref[n->in[k].id].root.id];
    uint32_t j = 0;
    for (uint32_t hi = all->n; j < hi;) { /* searches for the first access of node i */
      uint32_t mid = (j + hi) / 2;
      if (all->at[mid].node < i)
        j = mid + 1;
      else
        hi = mid;
    }
    for (; j < all->n && all->at[j].node == i; j++) {
      const wick_access *x = &all->at[j];
      if (x->operand != k || (!x->reads && !x->writes)) continue;
      if (count == CONCURRENT_MOST) return UINT32_MAX;
      out[count++] = *x;
    }
  }
  return count;
}

const bool *wick_low_concurrent(const wick_alias *a, wick_arena *mem)
{
  concurrent s = {.a = a};
  bool *out = wick_new(mem, bool, a->f->nnode);
  for (uint32_t i = 0; i < a->f->nnode; i++) {
    const wick_node *n = &a->f->node[i];
    if (n->nregion || n->op == WICK_OP_yield)
      s.n = CONCURRENT_MOST + 1u; /* the next instruction waits */
    if (!wick_op_of(n)->launched) continue;
    wick_access mine[CONCURRENT_MOST];
    uint32_t count = concurrent_accesses(&s, i, mine);
    bool meets = count > CONCURRENT_MOST || s.n + count > CONCURRENT_MOST;
    for (uint32_t x = 0; x < s.n && !meets; x++)
      for (uint32_t y = 0; y < count && !meets; y++)
        meets = concurrent_meet(&s, &s.at[x], &mine[y]);
    out[i] = !meets && s.n;
    if (meets) s.n = 0;
    if (count > CONCURRENT_MOST) {
      s.n = CONCURRENT_MOST + 1u; /* the next instruction waits */
      continue;
    }
    for (uint32_t y = 0; y < count; y++) s.at[s.n++] = mine[y];
  }
  return out;
}
