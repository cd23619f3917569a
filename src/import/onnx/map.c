/* Represents maps, and sequences of maps with the same keys, during the import: a `tuple` of an
 * empty tuple, keys [n], and values [n], or [rows, n] for a sequence. Known keys are a constant.
 *
 * If all nodes that read an input map name the keys that they need, the input becomes a tensor of
 * the values of these keys. The import finds these keys as it goes and then begins again (`asks`).
 * If a node needs all keys, keys and values become inputs of dynamic size. */
#include "import/onnx/import.h"

#include <stdlib.h>
#include <string.h>

wick_value wick_onnx_map_make(wick_builder *b, wick_value keys, wick_value values)
{
  wick_value mark = wick_build(b, WICK_OP_tuple, 0, NULL, NULL, 0, NULL);
  const wick_value item[] = {mark, keys, values};
  return wick_build(b, WICK_OP_tuple, 3, item, NULL, 0, NULL);
}

bool wick_onnx_is_map(const wick_builder *b, wick_value v)
{
  const wick_type_info *t = wick_built_info(b, v);
  if (t->kind != WICK_TUPLE || t->nitem != 3) return false;
  return wick_type_get(b->module, t->item[0])->kind == WICK_TUPLE;
}

/* Returns the record of requested keys if v is an input itself. */
static wick_onnx_ask *map_ask(const wick_onnx_context *c, wick_value v)
{
  for (uint32_t i = 0; i < c->lists.n; i++)
    if (c->lists.at[i].ask && c->lists.at[i].whole.id == v.id) return c->lists.at[i].ask;
  return NULL;
}

static wick_onnx_map map_parts(const wick_onnx_context *c, wick_value v)
{
  const wick_node *n = wick_emit_definer(&c->b, v);
  wick_onnx_map m = {.keys = n->in[1], .values = n->in[2]};
  const wick_type_info *k = wick_built_info(&c->b, m.keys), *x = wick_built_info(&c->b, m.values);
  m.seq = x->rank == 2;
  m.key = k->elem, m.elem = x->elem;
  const wick_node *d = wick_emit_definer(&c->b, m.keys);
  if (!d || d->op != WICK_OP_const || !wick_dim_is_const(k->dim[0])) return m;
  uint32_t constant = wick_const_imm(d)->constant;
  m.known = constant && wick_constant_get(c->module, constant)->data;
  m.n = m.known ? (uint32_t)k->dim[0].v : 0;
  m.at = m.known ? wick_constant_bytes(c->module, constant) : NULL;
  return m;
}

wick_onnx_map wick_onnx_map_all(wick_onnx_context *c, wick_value v)
{
  wick_onnx_ask *ask = map_ask(c, v);
  if (ask && !ask->all) c->again = ask->all = true;
  return map_parts(c, v);
}

wick_value wick_onnx_keys(wick_onnx_context *c, wick_elem elem, uint32_t n, const int64_t *key)
{
  wick_module *m = c->module;
  int64_t dim = n;
  size_t nbytes = (size_t)n * sizeof *key;
  int64_t *kept = wick_arena_alloc(&m->mem, nbytes + sizeof *key, 64);
  if (n) memcpy(kept, key, nbytes);
  wick_type type = wick_type_tensor_const(m, elem, 1, &dim);
  return wick_build_constant(&c->b, wick_emit_constant(m, "keys", type, kept, nbytes));
}

/* ---- keys in order ---- */

typedef struct map_key {
  int64_t key;
  uint32_t at;
} map_key;

static int map_order(const void *x, const void *y)
{
  const map_key *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}

/* Sorts keys by their numbers. For strings this is not the alphabetical order. */
static map_key *map_sorted(wick_arena *mem, uint32_t n, const int64_t *key)
{
  map_key *k = wick_new(mem, map_key, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) k[i] = (map_key){key[i], i};
  qsort(k, n, sizeof *k, map_order);
  return k;
}

/* Returns the first index of a key, or -1 if the map does not have it. */
static int64_t map_find(const map_key *k, uint32_t n, int64_t key)
{
  uint32_t lo = 0, hi = n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (k[mid].key < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < n && k[lo].key == key ? (int64_t)k[lo].at : -1;
}

int64_t wick_onnx_keys_twice(wick_arena *mem, uint32_t n, const int64_t *key)
{
  const map_key *k = map_sorted(mem, n, key);
  int64_t first = -1;
  for (uint32_t i = 1; i < n; i++)
    if (k[i].key == k[i - 1].key && (first < 0 || (int64_t)k[i].at < first)) first = k[i].at;
  return first;
}

/* Adds keys to those that are requested of an input. */
static void map_ask_for(wick_onnx_context *c, wick_onnx_ask *ask, uint32_t n, const int64_t *key)
{
  uint32_t nhave = ask->key.n;
  const map_key *have = map_sorted(c->tmp, nhave, ask->key.at), *want = map_sorted(c->tmp, n, key);
  for (uint32_t i = 0; i < n; i++) {
    if (map_find(have, nhave, key[i]) >= 0 || map_find(want, n, key[i]) != (int64_t)i) continue;
    wick_push(c->tmp, &ask->key, key[i]);
    c->again = true;
  }
}

/* ---- reading maps ---- */

/* Gathers columns of the values. The index n, one past the last, gives 0 or "". */
static wick_value map_columns(wick_onnx_op *o, const wick_onnx_map *m, bool absent, wick_value at)
{
  wick_value x = m->values;
  uint32_t axis = m->seq ? 1 : 0;
  if (absent) {
    wick_dim dim[2] = {wick_built_info(o->b, x)->dim[0]};
    dim[axis] = wick_dim_const(1);
    wick_type type = wick_type_tensor(o->c->module, m->elem, axis + 1, dim);
    wick_value part[] = {x, wick_build_const(o->b, type, 0, 0)};
    x = wick_build_concat(o->b, axis, 2, part);
  }
  return wick_emit_gather(o->b, WICK_OP_gather, x, at, axis);
}

/* Gathers columns at known indices. Returns the values themselves if these are all indices in
 * order. */
static wick_value map_places(wick_onnx_op *o, const wick_onnx_map *m, uint32_t n,
                             const int64_t *position)
{
  bool same = n == m->n, absent = false;
  for (uint32_t i = 0; i < n; i++) {
    same = same && position[i] == (int64_t)i;
    absent = absent || position[i] == (int64_t)m->n;
  }
  if (same) return m->values;
  return map_columns(o, m, absent, wick_onnx_keys(o->c, WICK_I64, n, position));
}

/* Looks up keys that are known only at run time: compares each with all. */
static wick_value map_search(wick_onnx_op *o, const wick_onnx_map *m, uint32_t n,
                             const int64_t *key)
{
  wick_builder *b = o->b;
  wick_dim have = wick_built_info(b, m->keys)->dim[0];
  wick_value wanted = wick_emit_unsqueeze(o->b, wick_onnx_keys(o->c, m->key, n, key), 1),
             each = wick_emit_unsqueeze(o->b, m->keys, 0);
  wick_value hit = wick_build_cast(b, wick_build2(b, WICK_OP_eq, wanted, each), WICK_I64);
  wick_value positions = wick_emit_count_along(o->b, have, 1, 2);
  wick_value at = wick_emit_reduce1(o->b, WICK_OP_reduce_sum,
                                    wick_build2(b, WICK_OP_mul, hit, positions), 1, false);
  wick_value miss =
      wick_emit_by(o->b, WICK_OP_eq, wick_emit_reduce1(o->b, WICK_OP_reduce_sum, hit, 1, false), 0);
  wick_value none = wick_onnx_size(o, have);
  return map_columns(o, m, true, wick_build3(b, WICK_OP_where, miss, none, at));
}

wick_value wick_onnx_map_look(wick_onnx_op *o, wick_value v, uint32_t n, const int64_t *key)
{
  wick_onnx_ask *ask = map_ask(o->c, v);
  wick_onnx_map m = map_parts(o->c, v);
  if (ask && !ask->all) map_ask_for(o->c, ask, n, key);
  if (!m.known) return map_search(o, &m, n, key);
  const map_key *have = map_sorted(o->c->tmp, m.n, m.at);
  int64_t *position = wick_new(o->c->tmp, int64_t, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) {
    int64_t at = map_find(have, m.n, key[i]);
    position[i] = at < 0 ? (int64_t)m.n : at;
  }
  return map_places(o, &m, n, position);
}

wick_value wick_onnx_map_dense(wick_onnx_op *o, wick_value v)
{
  bool input = map_ask(o->c, v) != NULL;
  wick_onnx_map m = wick_onnx_map_all(o->c, v);
  if (input) return m.values; /* the input has its keys in order */
  if (!m.known) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "the keys of its map must be known");
    return (wick_value){0};
  }
  const map_key *sorted = map_sorted(o->c->tmp, m.n, m.at);
  int64_t *position = wick_new(o->c->tmp, int64_t, (size_t)m.n + 1);
  for (uint32_t i = 0; i < m.n; i++) position[i] = sorted[i].at;
  return map_places(o, &m, m.n, position);
}

wick_value wick_onnx_map_row(wick_onnx_op *o, wick_value v, wick_value at)
{
  wick_onnx_map m = wick_onnx_map_all(o->c, v);
  wick_value row = wick_emit_gather(o->b, WICK_OP_gather, m.values, at, 0);
  return o->b->status ? (wick_value){0} : wick_onnx_map_make(o->b, m.keys, row);
}

bool wick_onnx_maps_strip(wick_onnx_op *o, uint32_t n, wick_value *v, wick_onnx_map *like,
                          bool first)
{
  for (uint32_t k = 0; k < n; k++) {
    bool is = wick_onnx_is_map(o->b, v[k]);
    wick_onnx_map m = is ? wick_onnx_map_all(o->c, v[k]) : (wick_onnx_map){0};
    if (first) like[k] = m;
    bool same = m.known == like[k].known && m.key == like[k].key && m.n == like[k].n &&
                (!m.n || memcmp(m.at, like[k].at, m.n * sizeof *m.at) == 0);
    if (!same) return false;
    if (m.known) v[k] = m.values;
  }
  return true;
}

void wick_onnx_maps_dress(wick_onnx_op *o, uint32_t n, const wick_onnx_map *like, wick_value *v)
{
  for (uint32_t k = 0; k < n && !o->b->status; k++) {
    if (!like[k].known) continue;
    wick_value keys = wick_onnx_keys(o->c, like[k].key, like[k].n, like[k].at);
    v[k] = wick_onnx_map_make(o->b, keys, v[k]);
  }
}
