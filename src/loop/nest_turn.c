/* Blocks of a parameter that are read along one axis and used along another one: rows are loaded as
 * vectors, and shuffles transpose them in registers. */
#include "loop/nest_state.h"

enum { TURN_MOST = 16 };

/* Finds the index of the read in iteration i of the loop along which blocks are transposed. */
static void turn_index(nest *t, const nest_run *r, const wick_node *read, uint32_t i,
                       wick_dim *index)
{
  wick_dim sym[64], base[64];
  for (uint32_t a = 0; a < r->st->naxis; a++) sym[a] = r->st->axis[a].sym, base[a] = r->base[a];
  base[r->taxis] = wick_dim_add(t->m->dims, base[r->taxis], wick_dim_const((int64_t)i - r->turn));
  for (uint32_t k = 0; k < wick_read_index(read)->n; k++)
    index[k] =
        wick_dim_substitute(t->m->dims, wick_read_index(read)->dims[k], r->st->naxis, sym, base);
}

static bool turn_address(nest *t, const nest_run *r, const wick_node *read, uint32_t i,
                         nest_address *out)
{
  wick_dim index[WICK_MAX_RANK];
  turn_index(t, r, read, i, index);
  return nest_address_of(t, r, &t->place[read->in[0].id], wick_read_index(read)->n, index, out);
}

/* The lanes by whether the elements that they read are inside of the tensor, a bit each. A lane that
 * is neither always nor never inside has a condition, which is the same in all iterations. */
typedef struct turn_lanes {
  uint32_t always, never;
} turn_lanes;

/* Finds the lanes that are inside. Returns false if a lane is inside only in some iterations, or if
 * that is not known. */
static bool turn_inside(nest *t, const nest_run *r, const wick_node *read, turn_lanes *out)
{
  wick_dims *dims = t->m->dims;
  const wick_type_info *info = wick_info_of(t->g, read->in[0]);
  wick_dim index[WICK_MAX_RANK], first[WICK_MAX_RANK];
  *out = (turn_lanes){0, 0};
  turn_index(t, r, read, 0, first);
  for (uint32_t lane = 0; lane < nest_high(t, r->active); lane++) {
    uint32_t in = 0, never = 0;
    bool alike = wick_dim_is_const(r->active);
    for (uint32_t i = 0; i < r->turns; i++) {
      bool inside = true, outside = false;
      turn_index(t, r, read, i, index);
      for (uint32_t k = 0; k < info->rank; k++) {
        wick_dim at = wick_dim_const(lane);
        int64_t lo, hi, least, most;
        wick_dim_range(dims, wick_dim_substitute(dims, index[k], 1, &r->vsym, &at), &lo, &hi);
        wick_dim_range(dims, info->dim[k], &least, &most);
        bool within = lo >= 0 && hi < least;
        inside = inside && within;
        outside = outside || hi < 0 || lo >= most;
        alike = alike && (within || wick_dim_eq(index[k], first[k])) && least == most;
      }
      in += inside, never += outside;
    }
    if (in != r->turns && never != r->turns && !alike) return false;
    out->always |= (uint32_t)(in == r->turns) << lane;
    out->never |= (uint32_t)(never == r->turns) << lane;
  }
  return true;
}

static wick_value turn_shuffle(nest *t, wick_value a, wick_value b, uint32_t n, const int64_t *lane)
{
  wick_value in[2] = {a, b};
  wick_attr at = {.n = n, .ints = wick_dup(&t->m->mem, int64_t, lane, n)};
  return wick_build(&t->b, WICK_OP_shuffle, 2, in, &at, 0, NULL);
}

/* Joins vectors pairwise until each is as wide as the run's. Returns their number. */
static uint32_t turn_join(nest *t, uint32_t n, uint32_t width, uint32_t lanes, wick_value *v)
{
  int64_t all[TURN_MOST];
  for (uint32_t i = 0; i < lanes; i++) all[i] = i;
  for (; width < lanes; width *= 2, n /= 2)
    for (uint32_t i = 0; i < n / 2; i++)
      v[i] = turn_shuffle(t, v[2 * i], v[2 * i + 1], 2 * width, all);
  return n;
}

/* Interleaves the two halves of all vectors' elements, like a perfect shuffle of cards: this
 * rotates the bits of each element's position by one. */
static void turn_deal(nest *t, uint32_t n, uint32_t lanes, wick_value *v)
{
  wick_value next[TURN_MOST];
  int64_t lane[2][TURN_MOST];
  for (uint32_t h = 0; h < 2; h++)
    for (uint32_t i = 0; i < lanes; i++) lane[h][i] = (i % 2) * lanes + h * (lanes / 2) + i / 2;
  for (uint32_t i = 0; i < n / 2; i++)
    for (uint32_t h = 0; h < 2; h++)
      next[2 * i + h] = turn_shuffle(t, v[i], v[i + n / 2], lanes, lane[h]);
  for (uint32_t i = 0; i < n; i++) v[i] = next[i];
}

/* Loads the elements of a lane along the transposed loop. For a lane that is not active, loads
 * those of the last active one. */
static wick_value turn_row(nest *t, const nest_run *r, const nest_place *p,
                           const nest_address *first, uint32_t lane, wick_type row)
{
  wick_dims *dims = t->m->dims;
  if (wick_dim_is_const(r->active))
    return nest_load_at(t, p, nest_dim(t, r, first->rest),
                        first->offset + (int64_t)lane * first->step, row, (wick_value){0});
  wick_dim last = wick_dim_sub(dims, r->active, wick_dim_const(1)),
           at = wick_dim_mul(dims, wick_dim_min(dims, wick_dim_const(lane), last),
                             wick_dim_const(first->step));
  return nest_load_at(t, p, nest_dim(t, r, wick_dim_add(dims, first->rest, at)), first->offset, row,
                      (wick_value){0});
}

/* Loads the elements of a lane that is inside of the tensor only sometimes: if it is outside, those
 * of the nearest row, of which none is used. */
static wick_value turn_sometimes(nest *t, const nest_run *r, const wick_node *read, uint32_t lane,
                                 wick_type row, wick_value otherwise)
{
  wick_dims *dims = t->m->dims;
  const wick_type_info *info = wick_info_of(t->g, read->in[0]);
  wick_dim index[WICK_MAX_RANK], nearest[WICK_MAX_RANK], at = wick_dim_const(lane);
  nest_address a;
  bool never = false;
  turn_index(t, r, read, 0, index);
  for (uint32_t k = 0; k < info->rank; k++)
    nearest[k] = index[k] = wick_dim_substitute(dims, index[k], 1, &r->vsym, &at);
  wick_value on = nest_inside(t, r, info, NULL, index, nearest, &never);
  if (!nest_address_of(t, r, &t->place[read->in[0].id], info->rank, nearest, &a) || t->b.status)
    return (wick_value){0};
  wick_value v = nest_load_at(t, &t->place[read->in[0].id], nest_dim(t, r, a.rest), a.offset, row,
                              (wick_value){0});
  if (!on.id || t->b.status) return v;
  otherwise = nest_widen(t, otherwise, r->turns);
  return wick_build3(&t->b, WICK_OP_where, nest_widen(t, on, r->turns), v, otherwise);
}

enum { NEST_KEY_TURN = 32 };

/* Returns the run with only those iterations of the transposed loop that are a block with the
 * current one. The blocks of a loop are powers of 2, the largest first. */
static nest_run turn_block(const nest_run *r)
{
  nest_run block = *r;
  for (block.turns = 1; block.turns * 2 <= r->turns;) block.turns *= 2;
  for (uint32_t rest = r->turns; block.turn >= block.turns;) {
    block.turn -= block.turns, rest -= block.turns;
    while (block.turns > rest) block.turns /= 2;
  }
  return block;
}

wick_value nest_turned(nest *t, const nest_run *run, const wick_node *read, wick_value otherwise)
{
  const nest_run block = turn_block(run), *r = &block;
  const nest_place *p = &t->place[read->in[0].id];
  wick_elem e = wick_info_of(t->g, read->in[0])->elem;
  nest_address first, a;
  wick_value v[TURN_MOST] = {{0}}, none = {0};
  uint32_t n = r->turns, lanes = r->lanes;
  turn_lanes inside = {UINT32_MAX, 0};
  if (!p->frozen || n < 2 || n > lanes || (lanes & (lanes - 1)) || lanes > TURN_MOST ||
      !turn_address(t, r, read, 0, &first) || first.step < 2)
    return none;
  if (otherwise.id && !turn_inside(t, r, read, &inside)) return none;
  for (uint32_t i = 1; i < n; i++)
    if (!turn_address(t, r, read, i, &a) || !wick_dim_eq(a.rest, first.rest) ||
        a.offset != first.offset + i || a.step != first.step)
      return none;
  uint64_t key[8] = {
      NEST_KEY_TURN,        p->buffer.id, (uint64_t)first.rest.v, 0, (uint64_t)first.step, lanes, n,
      (uint64_t)r->active.v};
  key[3] = (uint64_t)(first.offset + r->turn);
  nest_known *k = nest_find(t, key, 8);
  if (k) return k->value;
  wick_type row = wick_type_scalar(t->m, e, n);
  for (uint32_t i = 0; i < lanes; i++) /* lanes that are not active repeat another one */
    v[i] = i >= nest_high(t, r->active) ? v[0]
           : inside.always >> i & 1     ? turn_row(t, r, p, &first, i, row)
           : inside.never >> i & 1      ? nest_widen(t, otherwise, n)
                                        : turn_sometimes(t, r, read, i, row, otherwise);
  uint32_t left = turn_join(t, lanes, n, lanes, v);
  for (uint32_t bit = 1; bit < lanes; bit *= 2) turn_deal(t, left, lanes, v);
  for (uint32_t i = 0; i < n; i++) {
    key[3] = (uint64_t)(first.offset + i);
    nest_remember(t, key, 8, v[i]);
  }
  return v[r->turn];
}
