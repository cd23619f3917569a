/* Folds with states in registers: all states of a tile at once, for each rfactor partial sum. */
#include <string.h>

#include "loop/nest_state.h"

/* The states of a tile: for each element, each part and each component. */
typedef struct nest_tile {
  uint32_t l0; /* the first reduced loop: the tile's loops come after it */
  uint32_t nelem, nparts, ncomp, lanes;
  wick_value *state;
  bool wide_reduce;          /* the vector is a reduced axis: lanes are parts too */
  nest_state_access *access; /* of states in memory */
} nest_tile;

static wick_value *nest_state(const nest_tile *tile, uint32_t elem, uint32_t part)
{
  return &tile->state[(elem * tile->nparts + part) * tile->ncomp];
}

static void nest_reduce(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                        uint32_t part);

static void nest_reduce_step(nest *t, const nest_run *r, nest_tile *tile, uint32_t elem,
                             uint32_t part)
{
  wick_value *state = nest_state(tile, elem, part),
             *next = wick_new(t->tmp, wick_value, tile->ncomp);
  for (uint32_t c = 0; c < tile->ncomp; c++) state[c] = nest_widen(t, state[c], r->lanes);
  nest_eval(t, r, 1, state, next);
  wick_value mask = tile->wide_reduce ? nest_mask(t, r) : (wick_value){0};
  for (uint32_t c = 0; c < tile->ncomp; c++) {
    next[c] = nest_widen(t, next[c], r->lanes);
    state[c] = mask.id ? wick_build3(&t->b, WICK_OP_where, mask, next[c], state[c]) : next[c];
  }
}

/* Called for each element of a tile, with the run at its indices. */
typedef void nest_element(nest *t, nest_run *r, nest_tile *tile, uint32_t elem);

/* Calls `leaf` for each element, from loop l on; skips the reduced loops. */
static void nest_elements(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                          nest_element *leaf)
{
  if (t->b.status) return;
  if (l == r->st->loops.n) {
    leaf(t, r, tile, elem);
    return;
  }
  const wick_sloop *loop = &r->st->loops.at[l];
  nest_saved s;
  if (r->st->axis[loop->axis].reduce) {
    nest_elements(t, r, tile, l + 1, elem, leaf);
  } else if (loop->kind == WICK_VECTOR) {
    if (!nest_vector_begin(t, r, loop, &s)) return;
    nest_elements(t, r, tile, l + 1, elem, leaf);
    nest_vector_end(r, loop, s);
  } else {
    uint32_t n = nest_iterations(t, r, loop);
    for (uint32_t i = 0; i < n && !t->b.status; i++) {
      wick_dim at = wick_dim_const((int64_t)i * loop->factor);
      s = nest_narrow(t, r, loop, at, nest_share(t, r, loop, i));
      nest_elements(t, r, tile, l + 1, elem * n + i, leaf);
      nest_restore(r, loop, s);
    }
  }
}

static void fold_start(nest *t, nest_run *r, nest_tile *tile, uint32_t elem)
{
  wick_value *init = wick_new(t->tmp, wick_value, tile->ncomp);
  nest_eval(t, r, 0, NULL, init);
  for (uint32_t part = 0; part < tile->nparts; part++)
    for (uint32_t c = 0; c < tile->ncomp; c++)
      nest_state(tile, elem, part)[c] = nest_widen(t, init[c], tile->lanes);
}

static void nest_merge(nest *t, const nest_run *r, const nest_tile *tile, wick_value *a,
                       const wick_value *b)
{
  wick_value *in = wick_new(t->tmp, wick_value, 2 * tile->ncomp),
             *out = wick_new(t->tmp, wick_value, tile->ncomp);
  memcpy(in, a, tile->ncomp * sizeof *in);
  memcpy(in + tile->ncomp, b, tile->ncomp * sizeof *in);
  nest_eval(t, r, 2, in, out);
  memcpy(a, out, tile->ncomp * sizeof *out);
}

/* ---- states in memory ---- */

static void fold_load(nest *t, nest_run *r, nest_tile *tile, uint32_t elem)
{
  for (uint32_t c = 0; c < tile->ncomp; c++)
    nest_state(tile, elem, 0)[c] = tile->access(t, r, c, (wick_value){0});
}

static void fold_store(nest *t, nest_run *r, nest_tile *tile, uint32_t elem)
{
  for (uint32_t c = 0; c < tile->ncomp; c++) tile->access(t, r, c, nest_state(tile, elem, 0)[c]);
}

static void fold_store_merged(nest *t, nest_run *r, nest_tile *tile, uint32_t elem)
{
  wick_value *before = wick_new(t->tmp, wick_value, tile->ncomp);
  for (uint32_t c = 0; c < tile->ncomp; c++) before[c] = tile->access(t, r, c, (wick_value){0});
  nest_merge(t, r, tile, before, nest_state(tile, elem, 0));
  for (uint32_t c = 0; c < tile->ncomp; c++) tile->access(t, r, c, before[c]);
}

static uint32_t fold_nstate(const nest_tile *tile)
{
  return tile->nelem * tile->nparts * tile->ncomp;
}

/* The element and the part of the current iteration. */
typedef struct fold_at {
  nest_tile *tile;
  uint32_t elem, part;
} fold_at;

/* Emits an iteration of a reduced loop. With spans it has separate states, which are then merged
 * with the tile's. */
static void fold_body(nest *t, nest_run *r, uint32_t l, void *arg)
{
  const fold_at *at = arg;
  nest_tile *tile = at->tile;
  bool spans = r->st->loops.at[l].kind == WICK_SPANS;
  wick_value *before = tile->state;
  if (spans) {
    tile->state = wick_new(t->tmp, wick_value, fold_nstate(tile));
    nest_elements(t, r, tile, tile->l0, 0, fold_start);
  }
  nest_attached(t, r, l, (wick_value){0});
  nest_reduce(t, r, tile, l + 1, at->elem, at->part);
  if (!spans) return;
  for (uint32_t i = 0; i < fold_nstate(tile); i += tile->ncomp)
    nest_merge(t, r, tile, &before[i], &tile->state[i]);
  tile->state = before;
}

/* Emits a reduced loop that carries all states of the tile. */
static void nest_reduce_counted(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                                uint32_t part)
{
  fold_at at = {tile, elem, part};
  nest_steps(t, r, l, &(nest_inner){fold_body, &at, fold_nstate(tile), tile->state});
}

/* Emits straight-line code. If the extent is symbolic, a part may have no elements. */
static void nest_reduce_unrolled(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                                 uint32_t part)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim total = r->total[loop->axis];
  bool reduce = r->st->axis[loop->axis].reduce, rfactor = loop->kind == WICK_RFACTOR,
       several = !wick_dim_is_const(total) && nest_high(t, total) > loop->factor;
  if (several && reduce && !rfactor) {
    nest_reduce_counted(t, r, tile, l, elem, part);
    return;
  }
  uint32_t n = nest_iterations(t, r, loop), parts = !rfactor     ? 1
                                                    : loop->size ? (uint32_t)loop->size
                                                                 : n;
  for (uint32_t i = 0; i < n && !t->b.status; i++) {
    int64_t first = (int64_t)i * loop->factor;
    nest_when when;
    if (several)
      when = nest_when_begin(
          t, nest_binary(t, WICK_OP_gt, nest_dim(t, NULL, total), nest_i64(t, first)),
          fold_nstate(tile), tile->state);
    nest_saved s = nest_narrow(t, r, loop, wick_dim_const(first), nest_share(t, r, loop, i));
    nest_reduce(t, r, tile, l + 1, reduce ? elem : elem * n + i, rfactor ? part * parts + i : part);
    nest_restore(r, loop, s);
    if (several) nest_when_end(t, &when, tile->state);
  }
}

static void nest_reduce(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                        uint32_t part)
{
  if (t->b.status) return;
  if (l == r->st->loops.n) {
    nest_reduce_step(t, r, tile, elem, part);
    return;
  }
  const wick_sloop *loop = &r->st->loops.at[l];
  if (loop->kind == WICK_DOT) { /* a dot product is always the innermost loop */
    wick_value *state = nest_state(tile, elem, part);
    *state = nest_dot(t, r, loop, *state);
  } else if (loop->kind == WICK_VECTOR) {
    nest_saved s;
    if (!nest_vector_begin(t, r, loop, &s)) return;
    nest_reduce(t, r, tile, l + 1, elem, part);
    nest_vector_end(r, loop, s);
  } else if (loop->kind == WICK_SERIAL || loop->kind == WICK_SPANS) {
    nest_reduce_counted(t, r, tile, l, elem, part);
  } else {
    nest_reduce_unrolled(t, r, tile, l, elem, part);
  }
}

/* Merges parts, then lanes, as a fixed binary tree: the upper half into the lower one. */
static void nest_merge_element(nest *t, nest_run *r, const nest_tile *tile, uint32_t elem)
{
  uint32_t lanes = tile->lanes;
  for (uint32_t n = tile->nparts; n > 1;) {
    uint32_t half = (n + 1) / 2;
    for (uint32_t i = 0; i + half < n; i++)
      nest_merge(t, r, tile, nest_state(tile, elem, i), nest_state(tile, elem, i + half));
    n = half;
  }
  if (!tile->wide_reduce) return;
  wick_value *s = nest_state(tile, elem, 0);
  for (uint32_t c = 0; c < tile->ncomp; c++) s[c] = nest_widen(t, s[c], lanes);
  for (uint32_t n = lanes; n > 1 && !t->b.status;) {
    uint32_t half = (n + 1) / 2;
    wick_value *upper = wick_new(t->tmp, wick_value, tile->ncomp);
    int64_t *lo = wick_new(t->tmp, int64_t, half), *hi = wick_new(t->tmp, int64_t, half);
    for (uint32_t i = 0; i < half; i++) lo[i] = i, hi[i] = i + half < n ? i + half : i + half - 1;
    for (uint32_t c = 0; c < tile->ncomp; c++) {
      wick_value both[2] = {s[c], s[c]};
      wick_attr a_lo = {.n = half, .ints = lo}, a_hi = {.n = half, .ints = hi};
      upper[c] = wick_build(&t->b, WICK_OP_shuffle, 2, both, &a_hi, 0, NULL);
      s[c] = wick_build(&t->b, WICK_OP_shuffle, 2, both, &a_lo, 0, NULL);
    }
    if (n % 2)
      nest_fail(t, "stage `%s`: a reduced vector of %u lanes, not a power of two", r->st->name,
                lanes);
    nest_merge(t, r, tile, s, upper);
    n = half;
  }
}

static void fold_finish(nest *t, nest_run *r, nest_tile *tile, uint32_t elem)
{
  wick_value *out = wick_new(t->tmp, wick_value, t->g->node[r->node->region[3].end - 1].nin + 1);
  nest_eval(t, r, 3, nest_state(tile, elem, 0), out);
  nest_sink(t, r, out);
}

/* Returns the tile of the loops from l0 on. Fails if it is too large. */
static nest_tile fold_tile(nest *t, const nest_run *r, uint32_t l0)
{
  nest_tile tile = {.l0 = l0,
                    .nelem = 1,
                    .nparts = 1,
                    .ncomp = t->g->node[r->node->region[0].end - 1].nin,
                    .lanes = r->lanes};
  for (uint32_t l = l0; l < r->st->loops.n; l++) {
    const wick_sloop *loop = &r->st->loops.at[l];
    bool reduce = r->st->axis[loop->axis].reduce;
    if (loop->kind == WICK_UNROLL && !reduce) tile.nelem *= nest_iterations(t, r, loop);
    if (loop->kind == WICK_RFACTOR)
      tile.nparts *= loop->size ? (uint32_t)loop->size : nest_iterations(t, r, loop);
    if (loop->kind == WICK_VECTOR) {
      int64_t size = loop->size;
      if (!size && !nest_const(t, r, loop->axis, &size)) return tile;
      tile.lanes = (uint32_t)size;
      tile.wide_reduce = reduce;
    }
  }
  if ((uint64_t)tile.nelem * tile.nparts > 4096)
    nest_fail(t, "stage `%s`: a tile of %u elements in %u parts does not fit in registers",
              r->st->name, tile.nelem, tile.nparts);
  else
    tile.state = wick_new(t->tmp, wick_value, tile.nelem * tile.nparts * tile.ncomp);
  return tile;
}

void nest_fold_step(nest *t, nest_run *r, uint32_t l0, bool spans, nest_state_access *access)
{
  nest_tile tile = fold_tile(t, r, l0);
  if (t->b.status) return;
  tile.access = access;
  if (!spans && (tile.nparts > 1 || tile.wide_reduce))
    nest_fail(t, "stage `%s`: its states are in memory, and parts of them are no spans",
              r->st->name);
  nest_elements(t, r, &tile, l0, 0, spans ? fold_start : fold_load);
  nest_reduce(t, r, &tile, l0, 0, 0);
  for (uint32_t e = 0; e < tile.nelem && !t->b.status; e++) nest_merge_element(t, r, &tile, e);
  nest_elements(t, r, &tile, l0, 0, spans ? fold_store_merged : fold_store);
}

void nest_fold(nest *t, nest_run *r, uint32_t l0)
{
  if (nest_is_kept(r->st)) {
    nest_kept_fold(t, r, l0);
    return;
  }
  nest_tile tile = fold_tile(t, r, l0);
  if (t->b.status) return;
  nest_elements(t, r, &tile, l0, 0, fold_start);
  nest_reduce(t, r, &tile, l0, 0, 0);
  for (uint32_t e = 0; e < tile.nelem && !t->b.status; e++) nest_merge_element(t, r, &tile, e);
  nest_elements(t, r, &tile, l0, 0, fold_finish);
}
