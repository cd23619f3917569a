/* One traversal finds the stores that are merged, a second one copies. */
#include "loop/merge_stores.h"

#include "ir/copy.h"
#include "ir/op.h"
#include "loop/clamp.h"

enum { JOIN = 4 };

typedef struct merge_stores_state {
  const wick_func *f;
  const uint32_t *definer;
  wick_uses uses;
  uint32_t *first; /* per node: the first of the JOIN stores that end here, or UINT32_MAX */
  uint32_t *next;  /* per store: the next of its JOIN stores, or UINT32_MAX; itself: not merged */
  uint32_t lanes;
  wick_copier c;
} merge_stores_state;

static const wick_node *merge_stores_def(const merge_stores_state *s, wick_value v)
{
  uint32_t d = s->definer[v.id];
  return d == UINT32_MAX ? NULL : &s->f->node[d];
}

/* ---- which stores ---- */

/* Returns true for a store of bytes that were converted from a whole register of floats, or of
 * integers that were clamped to bytes. */
static bool merge_stores_is_store(const merge_stores_state *s, const wick_node *n)
{
  if (n->op != WICK_OP_store || (n->nin > 3 && n->in[3].id)) return false;
  const wick_type_info *t = wick_info_of(s->f, n->in[2]);
  const wick_node *cast = merge_stores_def(s, n->in[2]);
  if (t->lanes != s->lanes || !wick_elem_is_int(t->elem) || wick_elem_storage[t->elem].bits != 8 ||
      !cast || cast->op != WICK_OP_cast)
    return false;
  wick_clamp c;
  return wick_info_of(s->f, cast->in[0])->elem == WICK_F32 ||
         wick_clamp_of_bytes(s->f, s->definer, cast->in[0], t->elem, &c);
}

/* Returns true if node b stores directly after the bytes that a stores. */
static bool merge_stores_follows(const merge_stores_state *s, const wick_node *a,
                                 const wick_node *b)
{
  return a->in[0].id == b->in[0].id && a->in[1].id == b->in[1].id &&
         b->attr[WICK_ATTR_store_offset].i ==
             a->attr[WICK_ATTR_store_offset].i + (int64_t)s->lanes &&
         wick_type_eq(wick_type_of(s->f, a->in[2]), wick_type_of(s->f, b->in[2]));
}

/* Returns true if none of the stores from `at[0]` on may move past n. */
static bool merge_stores_stops(const merge_stores_state *s, const wick_node *n, uint32_t nat,
                               const uint32_t *at)
{
  const wick_op *op = wick_op_of(n);
  if (n->nregion || op->terminator || (op->effect != WICK_PURE && n->op != WICK_OP_prefetch))
    return true;
  if ((n->op != WICK_OP_load && n->op != WICK_OP_load_lanes) || !nat) return false;
  const wick_node *a = &s->f->node[at[0]];
  if (n->in[0].id != a->in[0].id) return false;
  if (n->op == WICK_OP_load_lanes) return true;
  int64_t begin = a->attr[WICK_ATTR_store_offset].i, end = begin + (int64_t)(nat * s->lanes),
          load = n->attr[WICK_ATTR_load_offset].i;
  bool apart = load >= end || load + (int64_t)wick_info_of(s->f, n->first)->lanes <= begin;
  return n->in[1].id != a->in[1].id || !apart;
}

static void merge_stores_find(merge_stores_state *s)
{
  uint32_t at[JOIN], nat = 0;
  for (uint32_t i = 0; i < s->f->nnode; i++) {
    const wick_node *n = &s->f->node[i];
    s->first[i] = UINT32_MAX, s->next[i] = i;
    if (!merge_stores_is_store(s, n)) {
      if (merge_stores_stops(s, n, nat, at)) nat = 0;
      continue;
    }
    if (nat && !merge_stores_follows(s, &s->f->node[at[nat - 1]], n)) nat = 0;
    at[nat++] = i;
    if (nat < JOIN) continue;
    for (uint32_t k = 0; k < JOIN; k++) s->next[at[k]] = k + 1 < JOIN ? at[k + 1] : UINT32_MAX;
    s->first[i] = at[0];
    nat = 0;
  }
}

/* ---- the stored values ---- */

static wick_value merge_stores_shuffle(merge_stores_state *s, wick_value a, wick_value b,
                                       uint32_t lanes)
{
  int64_t *lane = wick_new(&s->f->module->mem, int64_t, lanes);
  for (uint32_t i = 0; i < lanes; i++) lane[i] = i;
  wick_value in[2] = {a, b};
  return wick_build(&s->c.b, WICK_OP_shuffle, 2, in, &(wick_attr){.n = lanes, .ints = lane}, 0,
                    NULL);
}

static wick_type merge_stores_type(const merge_stores_state *s, wick_value v)
{
  const wick_type_info *t = wick_info_of(s->f, v);
  return wick_type_scalar(s->f->module, t->elem, JOIN * s->lanes);
}

/* Returns one value for all stores: a number, or repeated lanes. */
static wick_value merge_stores_same(merge_stores_state *s, wick_value v)
{
  const wick_node *n = merge_stores_def(s, v);
  wick_value new = s->c.to[v.id];
  wick_type want = merge_stores_type(s, v);
  if (wick_info_of(s->f, v)->lanes == 1) return new;
  if (n && n->op == WICK_OP_const && !wick_const_imm(n)->constant)
    return wick_build_const(&s->c.b, want, wick_const_imm(n)->f, wick_const_imm(n)->i);
  if (n && n->op == WICK_OP_broadcast)
    return wick_build(&s->c.b, WICK_OP_broadcast, 1, &s->c.to[n->in[0].id], NULL, 1, &want);
  return wick_build(&s->c.b, WICK_OP_broadcast, 1, &new, NULL, 1, &want);
}

/* Returns true if all nodes have the same operator on vectors of a whole register of words, and no
 * other users. Of arithmetic with integers only clamps are merged: the rest gains nothing. */
static bool merge_stores_alike(const merge_stores_state *s, const wick_value *v)
{
  const wick_node *a = merge_stores_def(s, v[0]);
  if (wick_info_of(s->f, v[0])->elem == WICK_I32 && a && a->op != WICK_OP_min &&
      a->op != WICK_OP_max)
    return false;
  for (uint32_t i = 0; i < JOIN; i++) {
    const wick_node *n = merge_stores_def(s, v[i]);
    uint32_t nuse = s->uses.first[v[i].id + 1] - s->uses.first[v[i].id];
    if (!n || n->op != a->op || !wick_op_of(n)->scalar || wick_op_of(n)->effect != WICK_PURE ||
        n->nin != a->nin || n->nin > 3 || nuse != 1 ||
        (n->nattr && (n->op != WICK_OP_cast ||
                      n->attr[WICK_ATTR_cast_within].i != a->attr[WICK_ATTR_cast_within].i)))
      return false;
    for (uint32_t k = 0; k < n->nin; k++)
      if (!wick_type_eq(wick_type_of(s->f, n->in[k]), wick_type_of(s->f, a->in[k])) ||
          wick_info_of(s->f, n->in[k])->lanes != s->lanes)
        return false;
  }
  return true;
}

static wick_value merge_stores_value(merge_stores_state *s, const wick_value *v)
{
  const wick_node *n = merge_stores_def(s, v[0]);
  if (v[0].id == v[1].id && v[0].id == v[2].id && v[0].id == v[3].id)
    return merge_stores_same(s, v[0]);
  if (!merge_stores_alike(s, v)) {
    wick_value a = merge_stores_shuffle(s, s->c.to[v[0].id], s->c.to[v[1].id], 2 * s->lanes),
               b = merge_stores_shuffle(s, s->c.to[v[2].id], s->c.to[v[3].id], 2 * s->lanes);
    return merge_stores_shuffle(s, a, b, JOIN * s->lanes);
  }
  wick_value in[3] = {{0}};
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value part[JOIN];
    for (uint32_t i = 0; i < JOIN; i++) part[i] = merge_stores_def(s, v[i])->in[k];
    in[k] = merge_stores_value(s, part);
  }
  wick_type want = merge_stores_type(s, v[0]);
  return wick_build(&s->c.b, n->op, n->nin, in, n->nattr ? n->attr : NULL, n->op == WICK_OP_cast,
                    &want);
}

/* Builds the store that replaces the JOIN stores from node i on. */
static void merge_stores_store(merge_stores_state *s, uint32_t i)
{
  const wick_node *a = &s->f->node[i];
  wick_value v[JOIN];
  for (uint32_t k = 0; k < JOIN; k++, i = s->next[i]) v[k] = s->f->node[i].in[2];
  s->c.b.loc = a->loc;
  wick_value in[3] = {s->c.to[a->in[0].id], s->c.to[a->in[1].id], merge_stores_value(s, v)};
  wick_build(&s->c.b, WICK_OP_store, 3, in, a->attr, 0, NULL);
}

wick_status wick_pass_merge_stores(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  wick_arena *mem = pass->mem;
  merge_stores_state s = {.f = f,
                          .definer = wick_definers_of(f, mem),
                          .uses = wick_uses_of(f, mem),
                          .first = wick_new(mem, uint32_t, f->nnode),
                          .next = wick_new(mem, uint32_t, f->nnode),
                          .lanes = pass->target->vector_bytes / 4};
  merge_stores_find(&s);
  s.c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (s.first[i] != UINT32_MAX)
      merge_stores_store(&s, s.first[i]);
    else if (s.next[i] == i)
      wick_copy_node(&s.c, &f->node[i]);
  }
  return wick_copy_finish(&s.c, out);
}
