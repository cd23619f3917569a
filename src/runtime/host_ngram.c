/* Counts n-grams: how often each sequence of a given list occurs in slices of numbers (also numbers
 * of strings). The elements of a sequence may have gaps of equal size between them. */
#include <string.h>

#include "base/hash.h"
#include "runtime/host.h"

enum { NGRAM_POOL, NGRAM_COUNTS, NGRAM_COLUMNS, NGRAM_LEAST, NGRAM_MOST, NGRAM_SKIPS };

typedef struct ngram_entry {
  uint32_t begin, n; /* position and length in the pool; n 0: the slot is free */
  int64_t column;
} ngram_entry;

typedef struct ngram_state {
  ngram_entry *slot;
  uint64_t nslot;
} ngram_state;

static uint64_t ngram_hash(uint64_t h, int64_t v) { return wick_hash_u64(h, (uint64_t)v); }

static void ngram_drop(wick_host_call *c)
{
  ngram_state *s = c->state;
  c->allocator.free(c->allocator.self, s->slot, (size_t)s->nslot * sizeof *s->slot);
  c->allocator.free(c->allocator.self, s, sizeof *s);
}

static bool ngram_equal(const int64_t *a, const int64_t *b, int64_t step, uint32_t n)
{
  for (uint32_t k = 0; k < n; k++)
    if (a[k] != b[k * step]) return false;
  return true;
}

/* Finds the slot of n numbers at v, `step` apart, or the free slot for them. */
static ngram_entry *ngram_find(const wick_host_call *c, const int64_t *v, int64_t step, uint32_t n,
                               uint64_t hash)
{
  const ngram_state *s = c->state;
  uint64_t k = (hash ^ hash >> 32) & (s->nslot - 1);
  while (s->slot[k].n && (s->slot[k].n != n ||
                          !ngram_equal(c->attr[NGRAM_POOL].ints + s->slot[k].begin, v, step, n)))
    k = (k + 1) & (s->nslot - 1);
  return &s->slot[k];
}

/* Makes the table. n-grams of length n begin at counts[n - 1] in the pool, follow each other, and
 * have columns in this order. */
static wick_code ngram_prepare(wick_host_call *c)
{
  const wick_host_attr *pool = &c->attr[NGRAM_POOL], *counts = &c->attr[NGRAM_COUNTS],
                       *columns = &c->attr[NGRAM_COLUMNS];
  uint32_t most = columns->n;
  ngram_state *s = c->allocator.alloc(c->allocator.self, sizeof *s);
  uint64_t nslot = 16;
  while (nslot < 2 * (uint64_t)most) nslot *= 2;
  ngram_entry *slot =
      s ? c->allocator.alloc(c->allocator.self, (size_t)nslot * sizeof *slot) : NULL;
  if (!slot) {
    if (s) c->allocator.free(c->allocator.self, s, sizeof *s);
    return wick_host_fail(c, WICK_ENOMEM, "out of memory");
  }
  memset(slot, 0, (size_t)nslot * sizeof *slot);
  *s = (ngram_state){slot, nslot};
  c->state = s;
  uint32_t column = 0;
  for (uint32_t n = 1; n <= counts->n; n++) {
    int64_t begin = counts->ints[n - 1], end = n < counts->n ? counts->ints[n] : (int64_t)pool->n;
    for (int64_t at = begin; at + n <= end && column < most; at += n, column++) {
      uint64_t h = WICK_HASH_SEED;
      for (uint32_t k = 0; k < n; k++) h = ngram_hash(h, pool->ints[at + k]);
      ngram_entry *e = ngram_find(c, pool->ints + at, 1, n, h);
      if (!e->n) *e = (ngram_entry){(uint32_t)at, n, columns->ints[column]};
    }
  }
  return WICK_OK;
}

/* Counts in one slice, whose elements are `each` apart. Unigrams have no gaps, and are counted
 * once. */
static void ngram_line(const wick_host_call *c, const int64_t *v, int64_t length, int64_t each,
                       float *to, int64_t step)
{
  int64_t least = c->attr[NGRAM_LEAST].i, most = c->attr[NGRAM_MOST].i,
          gaps = c->attr[NGRAM_SKIPS].i + 1;
  if (gaps >= length) gaps = length > 1 ? length - 1 : 1;
  for (int64_t gap = 1; gap <= gaps; gap++)
    for (int64_t at = 0; at < length; at++) {
      uint64_t h = WICK_HASH_SEED;
      for (int64_t n = 1; n <= most && at + (n - 1) * gap < length; n++) {
        h = ngram_hash(h, v[(at + (n - 1) * gap) * each]);
        if (n < least || (n == 1 && gap > 1)) continue;
        const ngram_entry *e = ngram_find(c, v + at * each, gap * each, (uint32_t)n, h);
        if (e->n) to[e->column * step] += 1;
      }
    }
}

static wick_code ngram_counts(wick_host_call *c)
{
  const wick_host_tensor *out = &c->arg[0], *x = &c->arg[1];
  uint32_t last = x->rank - 1u; /* of both */
  int64_t lines = last ? x->dim[0] : 1, columns = out->dim[last], step = out->stride[last];
  for (int64_t i = 0; i < lines; i++) {
    float *to = (float *)out->data + (last ? i * out->stride[0] : 0);
    for (int64_t k = 0; k < columns; k++) to[k * step] = 0;
    const int64_t *v = (const int64_t *)x->data + (last ? i * x->stride[0] : 0);
    ngram_line(c, v, x->dim[last], x->stride[last], to, step);
  }
  return WICK_OK;
}

const wick_host_row wick_host_ngram_rows[] = {
    {"ngram_counts", ngram_prepare, ngram_drop, ngram_counts},
    {0},
};
