/* Folds with states in scratch memory, because loops over the states run inside the reduced loops:
 * a block of the reduced axis is read once for all states of a tile.
 *
 * If loops inside of these are reduced, too, their states are a tile in registers (nest_fold.c), which is
 * stepped as a whole.
 *
 * The loops from the first reduced one on are built three times: they write the initial states,
 * step them, and compute the results. Components of the state that have fewer axes than others
 * (loop/states.h) are stepped once, around the loops along the axes that they lack. The other
 * components read their value from before the step. */
#include "loop/nest_state.h"
#include "loop/states.h"

struct nest_kept {
  enum { KEPT_BEGIN, KEPT_STEP, KEPT_FINISH } phase;
  uint32_t own;    /* the loops from this one on are along axes that some components do not have */
  uint64_t beyond; /* those axes */
  uint32_t tile;   /* the first loop of a tile in registers; UINT32_MAX: there is none */
  bool spans;      /* the tile's states are merged with those in memory */
  bool inside;     /* these loops have been opened */
  wick_states states;
  nest_place *place; /* per component */
  wick_value *val;   /* per value of the group: its value at the current point */
};

static const wick_region *kept_region(const nest_run *r)
{
  static const uint32_t of[] = {0, 1, 3};
  return &r->node->region[of[r->kept->phase]];
}

bool nest_is_kept(const wick_stage *st)
{
  uint32_t tile = wick_stage_tile(st);
  for (uint32_t i = 0; i < tile; i++)
    if (st->axis[st->loops.at[i].axis].reduce) return true;
  return false;
}

/* ---- memory ---- */

static uint32_t kept_index(const nest_run *r, wick_dim *index)
{
  uint32_t n = 0;
  for (uint32_t a = 0; a < r->st->naxis; a++)
    if (!r->st->axis[a].reduce) index[n++] = r->base[a];
  return n;
}

/* Allocates memory for component c over the remaining loops, in whole vectors, with the vector's
 * axis innermost. */
static void kept_alloc(nest *t, const nest_run *r, uint32_t c)
{
  nest_place *p = &r->kept->place[c];
  *p = (nest_place){.in_memory = true, .stage = r->stage, .vdim = UINT32_MAX};
  wick_dims *dims = t->m->dims;
  uint32_t rank = kept_index(r, p->lo), k, vector = UINT32_MAX;
  wick_dim stride = wick_dim_const(1), lanes = stride;
  for (uint32_t l = 0; l < r->st->loops.n; l++)
    if (r->st->loops.at[l].kind == WICK_VECTOR)
      vector = r->st->loops.at[l].axis,
      lanes = wick_dim_const(wick_max_i64(r->st->loops.at[l].size, 1));
  for (int pass = 0; pass < 2; pass++) { /* the vector's axis, then the others */
    k = rank;
    for (uint32_t a = r->st->naxis; a-- > 0;) {
      if (r->st->axis[a].reduce) continue;
      k--;
      if ((a == vector) != (pass == 0)) continue;
      bool has = a < 64 && r->kept->states.axes[c] >> a & 1;
      wick_dim extent = nest_scratch_extent(t, r->total[a]);
      if (a == vector) extent = wick_dim_mul(dims, wick_dim_ceildiv(dims, extent, lanes), lanes);
      p->stride[k] = has ? stride : wick_dim_const(0);
      if (has) stride = wick_dim_mul(dims, stride, extent);
    }
  }
  wick_elem e = wick_info_of(t->g, (wick_value){r->node->region[1].first.id + c})->elem;
  p->buffer = nest_scratch_alloc(t, e, stride);
}

/* Loads component c at the run's index, or stores v there. */
static wick_value kept_access(nest *t, const nest_run *r, uint32_t c, wick_value v)
{
  wick_dim index[WICK_MAX_RANK];
  const nest_place *p = &r->kept->place[c];
  nest_address a;
  uint32_t rank = kept_index(r, index);
  if (t->b.status) return v;
  if (!nest_address_of(t, r, p, rank, index, &a) || (a.step != 0 && a.step != 1)) {
    nest_fail(t, "stage `%s`: its states are not contiguous along the vector", r->st->name);
    return v;
  }
  uint32_t lanes = a.step ? r->lanes : 1;
  wick_value in[3] = {p->buffer, nest_dim(t, r, a.rest), nest_widen(t, v, lanes)};
  wick_attr attr[] = {
      [WICK_ATTR_store_offset] = {.i = a.offset}, [WICK_ATTR_store_nontemporal] = {0}};
  if (v.id) return wick_build(&t->b, WICK_OP_store, 3, in, attr, 0, NULL);
  wick_elem e = wick_info_of(t->g, (wick_value){r->node->region[1].first.id + c})->elem;
  return nest_load_at(t, p, in[1], a.offset, wick_type_scalar(t->m, e, lanes), (wick_value){0});
}

/* ---- a point, and the points along axes that only some components have ---- */

static bool kept_is_inner(const nest_run *r, uint32_t c)
{
  return (r->kept->states.axes[c] & r->kept->beyond) != 0;
}

static void kept_loads(nest *t, const nest_run *r, bool inner)
{
  const struct nest_kept *k = r->kept;
  for (uint32_t c = 0; c < k->states.n && k->phase != KEPT_BEGIN; c++)
    if (kept_is_inner(r, c) == inner)
      k->val[kept_region(r)->first.id + c] = kept_access(t, r, c, (wick_value){0});
}

static void kept_stores(nest *t, const nest_run *r, bool inner)
{
  const struct nest_kept *k = r->kept;
  const wick_node *yield = &t->g->node[kept_region(r)->end - 1];
  for (uint32_t c = 0; c < k->states.n && k->phase != KEPT_FINISH; c++)
    if (kept_is_inner(r, c) == inner) kept_access(t, r, c, k->val[yield->in[c].id]);
}

static void kept_leaf(nest *t, const nest_run *r)
{
  struct nest_kept *k = r->kept;
  kept_loads(t, r, true);
  nest_eval_part(t, r, kept_region(r), k->states.value, k->beyond, true, k->val);
  kept_stores(t, r, true);
  if (k->phase != KEPT_FINISH) return;
  const wick_node *yield = &t->g->node[kept_region(r)->end - 1];
  wick_value *out = wick_new(t->tmp, wick_value, yield->nin + 1);
  for (uint32_t i = 0; i < yield->nin; i++) out[i] = k->val[yield->in[i].id];
  nest_sink(t, r, out);
}

static void kept_point(nest *t, nest_run *r)
{
  struct nest_kept *k = r->kept;
  k->val = wick_new(t->tmp, wick_value, t->g->nvalue + 1);
  kept_loads(t, r, false);
  nest_eval_part(t, r, kept_region(r), k->states.value, k->beyond, false, k->val);
  k->inside = true;
  nest_loops(t, r, k->own);
  k->inside = false;
  kept_stores(t, r, false);
}

bool nest_kept_steps(const nest_run *r) { return !r->kept || r->kept->phase == KEPT_STEP; }

bool nest_kept_loop(nest *t, nest_run *r, uint32_t l)
{
  const struct nest_kept *k = r->kept;
  if (l == k->tile && k->phase == KEPT_STEP) {
    nest_fold_step(t, r, l, k->spans, kept_access);
  } else if (l == r->st->loops.n && k->inside) {
    kept_leaf(t, r);
  } else if (l == k->own && !k->inside) {
    kept_point(t, r);
  } else if (r->st->axis[r->st->loops.at[l].axis].reduce && k->phase != KEPT_STEP) {
    nest_loops(t, r, l + 1);
  } else {
    return false;
  }
  return true;
}

/* ---- the fold ---- */

/* Returns true if loop l has several iterations along an axis that some component does not have. */
static bool kept_beyond(const nest_run *r, uint32_t l)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim total = r->total[loop->axis];
  bool once = wick_dim_is_const(total) && total.v <= loop->factor;
  return r->kept->beyond >> loop->axis & 1 && (!once || loop->kind == WICK_VECTOR);
}

/* Finds the axes that some component does not have, and the loops along them, which are the
 * innermost ones. */
static void kept_axes(nest *t, nest_run *r, uint32_t l0)
{
  struct nest_kept *k = r->kept;
  const wick_stage *st = r->st;
  uint64_t most = 0;
  for (uint32_t c = 0; c < k->states.n; c++) most |= k->states.axes[c];
  for (uint32_t a = 0; a < st->naxis && a < 64; a++)
    for (uint32_t c = 0; c < k->states.n; c++)
      if (!st->axis[a].reduce && !(k->states.axes[c] >> a & 1)) k->beyond |= (uint64_t)1 << a;
  for (uint32_t c = 0; c < k->states.n; c++) {
    uint64_t some = k->states.axes[c] & k->beyond;
    if (some && some != (most & k->beyond))
      nest_fail(t, "stage `%s`: two components of its state have axes of their own", st->name);
  }
  uint32_t tile = wick_stage_tile(st);
  k->tile = UINT32_MAX;
  for (uint32_t i = tile; i < st->loops.n; i++)
    if (st->axis[st->loops.at[i].axis].reduce) k->tile = tile;
  k->own = st->loops.n;
  while (k->own > l0 && kept_beyond(r, k->own - 1)) k->own--;
  if (k->tile < st->loops.n && k->own < st->loops.n)
    nest_fail(t, "stage `%s`: a tile of its states needs all parts of a state", st->name);
  for (uint32_t i = l0; i < st->loops.n; i++) {
    const wick_sloop *l = &st->loops.at[i];
    bool reduce = st->axis[l->axis].reduce;
    if (reduce && i < tile) k->spans = l->kind == WICK_SPANS;
    if (reduce && i >= k->tile) continue;
    if (i < k->own && kept_beyond(r, i))
      nest_fail(
          t, "stage `%s`: a part of its state does not have the axis of `%s`, the innermost loop",
          st->name, l->name);
    if (reduce && l->kind != WICK_SERIAL && l->kind != WICK_SPANS)
      nest_fail(t, "stage `%s`: its states are in memory, but `%s` is not serial", st->name,
                l->name);
  }
}

void nest_kept_fold(nest *t, nest_run *r, uint32_t l0)
{
  struct nest_kept *k = wick_new(t->tmp, struct nest_kept, 1);
  r->kept = k;
  k->states = wick_states_of(t->g, r->node, t->tmp);
  k->place = wick_new(t->tmp, nest_place, k->states.n);
  kept_axes(t, r, l0);
  for (uint32_t c = 0; c < k->states.n && !t->b.status; c++) kept_alloc(t, r, c);
  for (uint32_t phase = KEPT_BEGIN; phase <= KEPT_FINISH; phase++) {
    k->phase = phase;
    nest_loops(t, r, l0);
  }
  r->kept = NULL;
}
