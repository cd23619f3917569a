/* Finds elements in tables of keys, which are known: a binary search. */
#include <stdlib.h>

#include "import/kit/array.h"

typedef struct lookup_entry {
  int64_t key;
  int64_t at;
} lookup_entry;

static int lookup_order(const void *a, const void *b)
{
  const lookup_entry *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

wick_value wick_array_lookup(wick_import_node *n, const char *name, bool text, uint32_t count,
                             const int64_t *keys, wick_value x, wick_value *found)
{
  wick_builder *b = n->b;
  lookup_entry *e = wick_new(n->c->tmp, lookup_entry, count);
  int64_t dim = count, *key = wick_new(n->c->tmp, int64_t, count);
  int64_t *at = wick_new(n->c->tmp, int64_t, count);
  for (uint32_t i = 0; i < count; i++) e[i] = (lookup_entry){keys[i], i};
  qsort(e, count, sizeof *e, lookup_order);
  for (uint32_t i = 0; i < count; i++) key[i] = e[i].key, at[i] = e[i].at;
  wick_value sorted = wick_import_copied(n->c, name, text ? WICK_STRING : WICK_I64, 1, &dim, key,
                                         count * sizeof *key);
  wick_value order = wick_import_copied(n->c, name, WICK_I64, 1, &dim, at, count * sizeof *at);
  if (!text) x = wick_build_cast(b, x, WICK_I64);
  wick_value place = wick_build2(b, WICK_OP_search_sorted, x, sorted);
  place = wick_emit_by(b, WICK_OP_min, wick_build_cast(b, place, WICK_I64), (double)(dim - 1));
  wick_value nearest = wick_emit_gather(b, WICK_OP_gather, sorted, place, 0);
  *found = wick_build2(b, WICK_OP_eq, nearest, x);
  return wick_emit_gather(b, WICK_OP_gather, order, place, 0);
}
