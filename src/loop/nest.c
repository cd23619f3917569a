/* The nest: loops of the output stage first; producers at the loops of their consumers, for the box
 * that is read there. */
#include "loop/nest.h"

#include <string.h>

#include "loop/nest_state.h"

void nest_fail(nest *t, const char *fmt, ...)
{
  if (t->b.status) return;
  va_list args;
  va_start(args, fmt);
  t->b.status =
      wick_vfail(&t->m->mem, WICK_EINVAL, wick_str_printf(t->tmp, "@%s", t->g->name), fmt, args);
  va_end(args);
}

static void nest_stage(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent);
static void nest_attached(nest *t, const nest_run *r, uint32_t loop, wick_value fresh);

/* ---- loops ---- */

enum { NEST_INNER = 1 << 20 }; /* loops that are code: inside all that are tasks */

/* Opens `for 0 .. count` with carried values; *first is the first carried value inside. */
static wick_dim nest_for_begin(nest *t, const wick_sloop *l, wick_dim count, uint32_t ncarried,
                               const wick_value *carried, wick_value *first)
{
  int64_t lo, hi;
  wick_dim_range(t->m->dims, count, &lo, &hi);
  wick_value *in = wick_new(t->tmp, wick_value, ncarried + 2);
  wick_type *type = wick_new(t->tmp, wick_type, ncarried + 1);
  in[0] = nest_i64(t, 0), in[1] = nest_dim(t, NULL, count);
  type[0] = wick_type_scalar(t->m, WICK_I64, 1);
  for (uint32_t i = 0; i < ncarried; i++)
    in[2 + i] = carried[i],
           type[1 + i] = t->b.status ? type[0] : wick_built_type(&t->b, carried[i]);
  wick_build_open(&t->b, WICK_OP_for, ncarried + 2, in, NULL, 0, NULL);
  wick_value index = wick_region_begin(&t->b, ncarried + 1, type);
  wick_dim sym = nest_symbol_open(t, l->name, hi > 0 ? hi - 1 : 0);
  wick_push(t->tmp, &t->symbols,
            (struct nest_symbol){sym, index, l->prefetch, NEST_INNER + t->symbols.n});
  *first = (wick_value){index.id + 1};
  return sym;
}

static wick_value nest_for_end(nest *t, uint32_t n, const wick_value *carried)
{
  wick_yield(&t->b, n, carried);
  if (t->symbols.n) t->symbols.n--;
  return wick_build_close(&t->b);
}

static bool nest_const(nest *t, const nest_run *r, uint32_t axis, int64_t *out)
{
  if (wick_dim_is_const(r->total[axis])) {
    *out = r->total[axis].v;
    return true;
  }
  nest_fail(t,
            "stage `%s`: a loop that is unrolled, a vector or has a tail wants a constant extent",
            r->st->name);
  return false;
}

/* Narrows the run to `count` iterations' worth of loop l from iteration `at`, calls `body`, and
 * restores the run. */
typedef struct nest_saved {
  wick_dim base, total;
} nest_saved;
static nest_saved nest_narrow(nest *t, nest_run *r, const wick_sloop *l, wick_dim at,
                              wick_dim total)
{
  nest_saved s = {r->base[l->axis], r->total[l->axis]};
  r->base[l->axis] =
      wick_dim_add(t->m->dims, s.base, wick_dim_mul(t->m->dims, at, wick_dim_const(l->factor)));
  r->total[l->axis] = total;
  return s;
}
static void nest_restore(nest_run *r, const wick_sloop *l, nest_saved s)
{
  r->base[l->axis] = s.base, r->total[l->axis] = s.total;
}

/* How many whole steps of loop l there are, and what is left for a last, smaller one. */
typedef struct nest_steps {
  wick_dim whole;
  int64_t rest;
  bool overlap;
} nest_steps;
static nest_steps nest_steps_of(nest *t, const nest_run *r, const wick_sloop *l)
{
  nest_steps s = {.whole = r->total[l->axis]};
  int64_t total;
  if (l->factor == 1 || !nest_const(t, r, l->axis, &total)) return s;
  s.whole = wick_dim_const(total / l->factor);
  s.rest = total % l->factor;
  if (l->tail == WICK_OVERLAP && s.rest && total > l->factor) s.overlap = true;
  return s;
}

/* ---- maps, and the outer loops of folds ---- */

static void nest_fold(nest *t, nest_run *r, uint32_t l);

static void nest_point(nest *t, const nest_run *r)
{
  wick_value *out = wick_new(t->tmp, wick_value, t->g->node[r->node->region[0].end - 1].nin + 1);
  nest_eval(t, r, 0, NULL, out);
  nest_sink(t, r, out);
}

/* What lies inside loop l: stages that are computed there, then the loops to come. Their scratch
 * is free again behind it. */
static void nest_inside(nest *t, nest_run *r, uint32_t l)
{
  uint64_t scratch = t->scratch;
  if (nest_kept_steps(r)) nest_attached(t, r, l, (wick_value){0});
  nest_loops(t, r, l + 1);
  t->scratch = scratch;
}

static void nest_unrolled(nest *t, nest_run *r, uint32_t l)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  int64_t total;
  if (!nest_const(t, r, loop->axis, &total)) return;
  if (total / loop->factor > 1024)
    nest_fail(t, "stage `%s`: %lld iterations are too many to unroll", r->st->name,
              (long long)(total / loop->factor));
  for (int64_t i = 0; i * loop->factor < total && !t->b.status; i++) {
    nest_saved s =
        nest_narrow(t, r, loop, wick_dim_const(i),
                    wick_dim_const(wick_min_i64(loop->factor, total - i * loop->factor)));
    if (loop->turn) r->taxis = loop->axis, r->turn = (uint32_t)i, r->turns = (uint32_t)total;
    nest_loops(t, r, l + 1);
    nest_restore(r, loop, s);
  }
  if (loop->turn) r->turns = 0;
}

/* Makes loop l the run's vector; false where it is too short for one lane more. */
static bool nest_vector_begin(nest *t, nest_run *r, const wick_sloop *loop, nest_saved *saved)
{
  int64_t total;
  if (!nest_const(t, r, loop->axis, &total)) return false;
  int64_t lanes = loop->size ? loop->size : total;
  if (lanes > 1024)
    nest_fail(t, "stage `%s`: a vector of %lld lanes", r->st->name, (long long)lanes);
  *saved = (nest_saved){r->base[loop->axis], r->total[loop->axis]};
  r->vsym = nest_symbol_open(t, "lane", total - 1); /* what other lanes would read does not count */
  if (lanes == 1) {
    r->vsym = WICK_DIM_INVALID;
    return true;
  }
  r->lanes = (uint32_t)lanes;
  r->active = (uint32_t)total;
  r->vaxis = loop->axis;
  r->base[loop->axis] = wick_dim_add(t->m->dims, saved->base, r->vsym);
  r->total[loop->axis] = wick_dim_const(1);
  return true;
}

static void nest_vector_end(nest_run *r, const wick_sloop *loop, nest_saved s)
{
  nest_restore(r, loop, s);
  r->vsym = WICK_DIM_INVALID;
  r->lanes = r->active = 1;
  r->vaxis = UINT32_MAX;
}

static void nest_serial(nest *t, nest_run *r, uint32_t l)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  nest_steps steps = nest_steps_of(t, r, loop);
  wick_dim step = loop->factor == 1 ? wick_dim_const(1) : wick_dim_const(loop->factor);
  if (wick_dim_is(steps.whole, 1)) {
    nest_saved s = nest_narrow(t, r, loop, wick_dim_const(0), step);
    nest_inside(t, r, l);
    nest_restore(r, loop, s);
  } else if (!wick_dim_is(steps.whole, 0)) {
    wick_value first;
    uint32_t mark = nest_known_mark(t);
    wick_dim sym = nest_for_begin(t, loop, steps.whole, 0, NULL, &first);
    nest_saved s = nest_narrow(t, r, loop, sym, step);
    nest_inside(t, r, l);
    nest_restore(r, loop, s);
    nest_for_end(t, 0, NULL);
    nest_known_rewind(t, mark);
  }
  if (!steps.rest || t->b.status) return;
  nest_saved s = nest_narrow(t, r, loop, steps.whole,
                             wick_dim_const(steps.overlap ? loop->factor : steps.rest));
  if (steps.overlap)
    r->base[loop->axis] =
        wick_dim_sub(t->m->dims, r->base[loop->axis], wick_dim_const(loop->factor - steps.rest));
  nest_inside(t, r, l);
  nest_restore(r, loop, s);
}

void nest_loops(nest *t, nest_run *r, uint32_t l)
{
  if (t->b.status || (r->kept && nest_kept_loop(t, r, l))) return;
  if (!r->kept && r->st->fold &&
      (l == r->st->loops.n || r->st->axis[r->st->loops.at[l].axis].reduce)) {
    nest_fold(t, r, l);
    return;
  }
  if (l == r->st->loops.n) {
    nest_point(t, r);
    return;
  }
  const wick_sloop *loop = &r->st->loops.at[l];
  if (loop->kind == WICK_UNROLL) {
    nest_unrolled(t, r, l);
  } else if (loop->kind == WICK_VECTOR) {
    nest_saved s;
    int64_t total;
    if (!nest_const(t, r, loop->axis, &total)) return;
    if (loop->size && total < loop->size && loop->tail == WICK_PEEL &&
        total <= 4) { /* a short rest: elements one by one */
      nest_unrolled(t, r, l);
    } else if (nest_vector_begin(t, r, loop, &s)) {
      nest_loops(t, r, l + 1);
      nest_vector_end(r, loop, s);
    }
  } else {
    nest_serial(t, r, l);
  }
}

/* ---- folds ---- */

/* The states of a tile: for each element of the tile, for each part, for each component. */
typedef struct nest_tile {
  uint32_t l0; /* the first reduced loop: the tile's loops come after it */
  uint32_t nelem, nparts, ncomp;
  wick_value *state;
  bool wide_reduce; /* the vector is a reduced axis: lanes are parts too */
} nest_tile;

static wick_value *nest_state(const nest_tile *tile, uint32_t elem, uint32_t part)
{
  return &tile->state[(elem * tile->nparts + part) * tile->ncomp];
}

static uint32_t nest_count(nest *t, const nest_run *r, const wick_sloop *l)
{
  int64_t total;
  if (!nest_const(t, r, l->axis, &total)) return 1;
  return (uint32_t)wick_ceildiv_i64(total, l->factor);
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

/* A serial reduced loop carries all states of the tile. */
static void nest_reduce_serial(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                               uint32_t part)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  nest_steps steps = nest_steps_of(t, r, loop);
  uint32_t n = tile->nelem * tile->nparts * tile->ncomp;
  wick_dim step = wick_dim_const(loop->factor);
  if (wick_dim_is(steps.whole, 1)) {
    nest_saved s = nest_narrow(t, r, loop, wick_dim_const(0), step);
    nest_attached(t, r, l, (wick_value){0});
    nest_reduce(t, r, tile, l + 1, elem, part);
    nest_restore(r, loop, s);
  } else if (!wick_dim_is(steps.whole, 0)) {
    wick_value first;
    uint32_t mark = nest_known_mark(t);
    wick_dim sym = nest_for_begin(t, loop, steps.whole, n, tile->state, &first);
    for (uint32_t i = 0; i < n; i++) tile->state[i] = (wick_value){first.id + i};
    nest_saved s = nest_narrow(t, r, loop, sym, step);
    nest_attached(t, r, l, (wick_value){0});
    nest_reduce(t, r, tile, l + 1, elem, part);
    nest_restore(r, loop, s);
    wick_value out = nest_for_end(t, n, tile->state);
    for (uint32_t i = 0; i < n; i++) tile->state[i] = (wick_value){out.id + i};
    nest_known_rewind(t, mark);
  }
  if (!steps.rest || t->b.status) return;
  nest_saved s = nest_narrow(t, r, loop, steps.whole, wick_dim_const(steps.rest));
  nest_attached(t, r, l, (wick_value){0});
  nest_reduce(t, r, tile, l + 1, elem, part);
  nest_restore(r, loop, s);
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
  bool reduce = r->st->axis[loop->axis].reduce;
  if (loop->kind == WICK_DOT) { /* the innermost one */
    wick_value *state = nest_state(tile, elem, part);
    *state = nest_dot(t, r, loop, *state);
  } else if (loop->kind == WICK_VECTOR) {
    nest_saved s;
    if (!nest_vector_begin(t, r, loop, &s)) return;
    nest_reduce(t, r, tile, l + 1, elem, part);
    nest_vector_end(r, loop, s);
  } else if (loop->kind == WICK_SERIAL) {
    nest_reduce_serial(t, r, tile, l, elem, part);
  } else {
    int64_t total;
    if (!nest_const(t, r, loop->axis, &total)) return;
    uint32_t n = nest_count(t, r, loop),
             parts = loop->kind == WICK_PARTS ? (uint32_t)(loop->size ? loop->size : total) : 1;
    for (uint32_t i = 0; i < n && !t->b.status; i++) {
      nest_saved s = nest_narrow(
          t, r, loop, wick_dim_const(i),
          wick_dim_const(wick_min_i64(loop->factor, total - (int64_t)i * loop->factor)));
      uint32_t e = reduce ? elem : elem * n + i,
               p = loop->kind == WICK_PARTS ? part * parts + i : part;
      nest_reduce(t, r, tile, l + 1, e, p);
      nest_restore(r, loop, s);
    }
  }
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

/* Parts, then lanes, are merged as a fixed binary tree: the upper half into the lower. */
static void nest_merge_element(nest *t, nest_run *r, const nest_tile *tile, uint32_t elem,
                               uint32_t lanes)
{
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

/* Writes the tile: the loops inside the first reduced one once more, without the reduced ones. */
static void nest_fold_finish(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem)
{
  if (t->b.status) return;
  if (l == r->st->loops.n) {
    wick_value *out = wick_new(t->tmp, wick_value, t->g->node[r->node->region[3].end - 1].nin + 1);
    nest_eval(t, r, 3, nest_state(tile, elem, 0), out);
    nest_sink(t, r, out);
    return;
  }
  const wick_sloop *loop = &r->st->loops.at[l];
  if (r->st->axis[loop->axis].reduce) {
    nest_fold_finish(t, r, tile, l + 1, elem);
    return;
  }
  nest_saved s;
  if (loop->kind == WICK_VECTOR) {
    if (!nest_vector_begin(t, r, loop, &s)) return;
    nest_fold_finish(t, r, tile, l + 1, elem);
    nest_vector_end(r, loop, s);
    return;
  }
  int64_t total;
  if (!nest_const(t, r, loop->axis, &total)) return;
  uint32_t n = nest_count(t, r, loop);
  for (uint32_t i = 0; i < n && !t->b.status; i++) {
    s = nest_narrow(t, r, loop, wick_dim_const(i),
                    wick_dim_const(wick_min_i64(loop->factor, total - (int64_t)i * loop->factor)));
    nest_fold_finish(t, r, tile, l + 1, elem * n + i);
    nest_restore(r, loop, s);
  }
}

/* What the sums of the tile begin with: its elements, one by one. */
static void nest_fold_start(nest *t, nest_run *r, nest_tile *tile, uint32_t l, uint32_t elem,
                            uint32_t lanes)
{
  if (t->b.status) return;
  if (l == r->st->loops.n) {
    wick_value *init = wick_new(t->tmp, wick_value, tile->ncomp);
    nest_eval(t, r, 0, NULL, init);
    for (uint32_t part = 0; part < tile->nparts; part++)
      for (uint32_t c = 0; c < tile->ncomp; c++)
        nest_state(tile, elem, part)[c] = nest_widen(t, init[c], lanes);
    return;
  }
  const wick_sloop *loop = &r->st->loops.at[l];
  nest_saved s;
  if (r->st->axis[loop->axis].reduce) {
    nest_fold_start(t, r, tile, l + 1, elem, lanes);
  } else if (loop->kind == WICK_VECTOR) {
    if (!nest_vector_begin(t, r, loop, &s)) return;
    nest_fold_start(t, r, tile, l + 1, elem, lanes);
    nest_vector_end(r, loop, s);
  } else {
    int64_t total, n = nest_const(t, r, loop->axis, &total) ? nest_count(t, r, loop) : 0;
    for (int64_t i = 0; i < n && !t->b.status; i++) {
      s = nest_narrow(t, r, loop, wick_dim_const(i),
                      wick_dim_const(wick_min_i64(loop->factor, total - i * loop->factor)));
      nest_fold_start(t, r, tile, l + 1, elem * (uint32_t)n + (uint32_t)i, lanes);
      nest_restore(r, loop, s);
    }
  }
}

static void nest_fold(nest *t, nest_run *r, uint32_t l0)
{
  if (nest_is_kept(r->st)) {
    nest_kept_fold(t, r, l0);
    return;
  }
  nest_tile tile = {
      .l0 = l0, .nelem = 1, .nparts = 1, .ncomp = t->g->node[r->node->region[0].end - 1].nin};
  uint32_t lanes = r->lanes;
  for (uint32_t l = l0; l < r->st->loops.n; l++) {
    const wick_sloop *loop = &r->st->loops.at[l];
    bool reduce = r->st->axis[loop->axis].reduce;
    int64_t total = 0;
    if (loop->kind != WICK_SERIAL && !nest_const(t, r, loop->axis, &total)) return;
    if (loop->kind == WICK_UNROLL && !reduce) {
      int64_t inner = loop->size ? wick_min_i64(loop->size, wick_ceildiv_i64(total, loop->factor))
                                 : wick_ceildiv_i64(total, loop->factor);
      tile.nelem *= (uint32_t)inner;
    }
    if (loop->kind == WICK_PARTS) tile.nparts *= (uint32_t)(loop->size ? loop->size : total);
    if (loop->kind == WICK_VECTOR) {
      lanes = (uint32_t)(loop->size ? loop->size : total);
      tile.wide_reduce = reduce;
    }
  }
  if ((uint64_t)tile.nelem * tile.nparts > 4096) {
    nest_fail(t, "stage `%s`: a tile of %u elements in %u parts does not fit in registers",
              r->st->name, tile.nelem, tile.nparts);
    return;
  }
  tile.state = wick_new(t->tmp, wick_value, tile.nelem * tile.nparts * tile.ncomp);
  nest_fold_start(t, r, &tile, l0, 0, lanes);
  nest_reduce(t, r, &tile, l0, 0, 0);
  for (uint32_t e = 0; e < tile.nelem && !t->b.status; e++)
    nest_merge_element(t, r, &tile, e, lanes);
  nest_fold_finish(t, r, &tile, l0, 0);
}

/* ---- boxes ---- */

/* The run's loops still to come, as symbols of its axes' rests: an access' box is its range over
 * them. */
typedef struct nest_box {
  wick_dim lo[WICK_MAX_RANK];
  int64_t hi[WICK_MAX_RANK]; /* last index, relative to lo */
  bool any;
} nest_box;

/* One access of a consumer, by interval arithmetic: base expressions of open loops stay symbols,
 * the rests run. */
static void nest_box_add(nest *t, const nest_run *r, const wick_node *read, uint32_t rank,
                         nest_box *box)
{
  wick_dims *dims = t->m->dims;
  wick_dim sym[64], first[64], run[64];
  int64_t zero[64], last[64];
  for (uint32_t a = 0; a < r->st->naxis; a++) {
    int64_t lo, hi;
    sym[a] = r->st->axis[a].sym;
    wick_dim_range(dims, r->total[a], &lo, &hi);
    zero[a] = 0, last[a] = hi > 0 ? hi - 1 : 0;
    run[a] = wick_dim_symbol(dims, wick_str_printf(t->tmp, "box.%u", a), 0, last[a]);
    first[a] = wick_dim_add(dims, r->base[a], run[a]);
  }
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = read->attr[0].dims[k], extent = wick_info_of(t->g, read->in[0])->dim[k],
             lo = wick_dim_const(0);
    int64_t least = 0, most, low, high;
    wick_dim_range(dims, extent, &low, &most);
    most--;
    if (!wick_dim_eq(d, WICK_DIM_ANY)) {
      wick_dim at = wick_dim_substitute(dims, d, r->st->naxis, sym, first), begin = at, zeros[64];
      for (uint32_t a = 0; a < r->st->naxis;
           a++) { /* where the index falls along an axis, the box begins at that axis' last */
        wick_dim coef, rest;
        bool falls = wick_dim_linear(dims, at, run[a], &coef, &rest) && wick_dim_is_const(coef) &&
                     coef.v < 0;
        zeros[a] = wick_dim_const(falls ? last[a] : 0);
      }
      begin = wick_dim_substitute(dims, at, r->st->naxis, run, zeros);
      wick_dim_range_with(dims, wick_dim_sub(dims, at, begin), r->st->naxis, run, zero, last, &low,
                          &high);
      if (low == 0 && high <= most) lo = begin, least = 0, most = high;
    }
    (void)least;
    if (!box->any) {
      box->lo[k] = lo, box->hi[k] = most;
    } else { /* the union of boxes whose beginnings differ by a constant; else all */
      wick_dim diff = wick_dim_sub(dims, lo, box->lo[k]);
      if (wick_dim_is_const(diff)) {
        int64_t end = wick_max_i64(box->hi[k], diff.v + most);
        if (diff.v < 0) box->lo[k] = lo, end -= diff.v;
        box->hi[k] = end;
      } else {
        wick_dim_range(dims, extent, &low, &most);
        box->lo[k] = wick_dim_const(0), box->hi[k] = most - 1;
      }
    }
  }
  box->any = true;
}

static nest_run nest_run_of(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent);

/* Own dimensions are always computed whole. */
static void nest_box_own(nest *t, const wick_node *stage, nest_box *box)
{
  uint32_t numel, own = nest_own(t, stage, 0, &numel);
  for (uint32_t k = 0; k < own && box->any; k++) {
    box->lo[k] = wick_dim_const(0);
    box->hi[k] = wick_info_of(t->g, stage->first)->dim[k].v - 1;
  }
}

/* All reads of a value in the run's stage, and through the stages that it reads in line, or that
 * are computed inside its loops. */
static void nest_boxes(nest *t, const nest_run *r, wick_value value, nest_box *box)
{
  uint32_t rank = wick_info_of(t->g, value)->rank;
  for (uint32_t i = r->st->node + 1; i < r->node->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op != WICK_OP_read) continue;
    const nest_place *p = &t->place[n->in[0].id];
    if (n->in[0].id == value.id) {
      nest_box_add(t, r, n, rank, box);
    } else if (p->stage != UINT32_MAX && p->stage > t->place[value.id].stage &&
               t->s->stage[p->stage].where != WICK_ROOT) {
      nest_box inner = {.any = false};
      uint32_t inner_rank = wick_info_of(t->g, n->in[0])->rank;
      nest_box_add(t, r, n, inner_rank, &inner);
      nest_box_own(t, &t->g->node[t->s->stage[p->stage].node], &inner);
      wick_dim extent[WICK_MAX_RANK];
      for (uint32_t k = 0; k < inner_rank; k++) extent[k] = wick_dim_const(inner.hi[k] + 1);
      nest_run child = nest_run_of(t, p->stage, inner.lo, extent);
      nest_boxes(t, &child, value, box);
    }
  }
}

/* ---- stages ---- */

static void nest_dense(nest *t, nest_place *p, uint32_t rank, const wick_dim *extent)
{
  wick_dim stride = wick_dim_const(1);
  for (uint32_t k = rank; k-- > 0;) {
    p->stride[k] = stride;
    stride = wick_dim_mul(t->m->dims, stride, extent[k]);
  }
}

enum { NEST_LINE = 64, NEST_SETS = 64, NEST_WAYS = 4 };

/* `n` neighbours that lie so many lines apart meet in a few sets of the nearest cache, more than a
 * few of them in each. */
static bool nest_crowds(int64_t lines, int64_t n)
{
  int64_t shared = lines & -lines; /* the power of two in it */
  if (shared >= NEST_SETS) return n > 1;
  return n > NEST_WAYS * (NEST_SETS / shared);
}

/* Where neighbours along a dimension would crowd in the cache, the stride is a line longer. Returns
 * the elements that the buffer takes. */
static int64_t nest_strides(nest_place *p, wick_elem e, uint32_t rank, const int64_t *extent)
{
  int64_t stride = 1, line = NEST_LINE * 8 / wick_elem_storage[e].bits;
  for (uint32_t k = rank; k-- > 0;) {
    if (k + 1 < rank && stride && stride % line == 0 && nest_crowds(stride / line, extent[k]))
      stride += line;
    p->stride[k] = wick_dim_const(stride);
    if (wick_mul_overflows(stride, extent[k], &stride)) return INT64_MAX / NEST_LINE;
  }
  return stride;
}

wick_value nest_scratch_room(nest *t, wick_elem e, int64_t n)
{
  wick_dim numel = wick_dim_const(n);
  wick_type buffer = wick_type_buffer(t->m, e, 1, &numel, WICK_SCRATCH);
  wick_attr a = {.i = (int64_t)t->scratch};
  t->scratch = wick_align_up(t->scratch + wick_elem_bytes(e, (uint64_t)n), 64);
  if (t->scratch > t->scratch_peak) t->scratch_peak = t->scratch;
  return wick_build(&t->b, WICK_OP_alloc, 0, NULL, &a, 1, &buffer);
}

/* Scratch for `extent` elements of a stage's result; released when the consumer's loop ends. */
static void nest_scratch(nest *t, nest_place *p, wick_type type, uint32_t rank,
                         const wick_dim *extent)
{
  const wick_type_info *info = wick_type_get(t->m, type);
  int64_t lo, most[WICK_MAX_RANK];
  bool constant = true;
  for (uint32_t k = 0; k < rank; k++) { /* symbolic sizes: room for the largest */
    wick_dim_range(t->m->dims, extent[k], &lo, &most[k]);
    constant = constant && wick_dim_is_const(extent[k]);
  }
  p->buffer = nest_scratch_room(t, info->elem, nest_strides(p, info->elem, rank, most));
  if (!constant) nest_dense(t, p, rank, extent);
}

/* fresh: it is computed under this condition, else what is in memory already is taken; 0: always.
 */
static void nest_stage_at(nest *t, uint32_t stage, const nest_run *consumer, wick_value fresh)
{
  const wick_stage *st = &t->s->stage[stage];
  const wick_node *n = &t->g->node[st->node];
  nest_box box = {.any = false};
  for (uint32_t k = 0; k < n->nout; k++)
    nest_boxes(t, consumer, (wick_value){n->first.id + k}, &box);
  if (!box.any) return; /* not read in this loop: nothing to compute */
  nest_box_own(t, n, &box);
  uint32_t rank = wick_info_of(t->g, n->first)->rank;
  wick_dim extent[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) extent[k] = wick_dim_const(box.hi[k] + 1);
  for (uint32_t k = 0; k < n->nout; k++) {
    nest_place *p = &t->place[n->first.id + k];
    memcpy(p->lo, box.lo, sizeof p->lo);
    p->in_memory = st->store != WICK_STORE_REG;
    if (p->in_memory)
      nest_scratch(t, p, wick_type_of(t->g, (wick_value){n->first.id + k}), rank, extent);
  }
  bool kept = fresh.id && st->store != WICK_STORE_REG;
  uint32_t mark = nest_known_mark(t);
  if (kept) {
    wick_build_open(&t->b, WICK_OP_if, 1, &fresh, NULL, 0, NULL);
    wick_region_begin(&t->b, 0, NULL);
  }
  nest_stage(t, stage, box.lo, extent);
  if (kept) {
    wick_yield(&t->b, 0, NULL);
    nest_known_rewind(t, mark);
    wick_region_begin(&t->b, 0, NULL);
    wick_yield(&t->b, 0, NULL);
    wick_build_close(&t->b);
  }
  for (uint32_t k = 0; k < n->nout; k++) /* from here on it is only read, until the loop ends */
    t->place[n->first.id + k].frozen = true;
}

static void nest_attached(nest *t, const nest_run *r, uint32_t loop, wick_value fresh)
{
  for (uint32_t i = 0; i < t->s->nstage && !t->b.status; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (st->where == WICK_AT && st->consumer == r->stage && st->consumer_loop == loop)
      nest_stage_at(t, i, r, fresh);
  }
}

static nest_run nest_run_of(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent)
{
  const wick_stage *st = &t->s->stage[stage];
  nest_run r = {.stage = stage,
                .st = st,
                .node = &t->g->node[st->node],
                .vsym = WICK_DIM_INVALID,
                .lanes = 1,
                .active = 1,
                .vaxis = UINT32_MAX};
  r.base = wick_new(t->tmp, wick_dim, st->naxis);
  r.total = wick_new(t->tmp, wick_dim, st->naxis);
  uint32_t numel, k = nest_own(t, r.node, 0, &numel);
  for (uint32_t a = 0; a < st->naxis; a++) {
    bool reduce = st->axis[a].reduce;
    r.base[a] = reduce || !lo ? wick_dim_const(0) : lo[k];
    r.total[a] = reduce || !extent ? st->axis[a].extent : extent[k];
    k += !reduce;
  }
  return r;
}

static void nest_stage(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent)
{
  nest_run r = nest_run_of(t, stage, lo, extent);
  nest_loops(t, &r, 0);
}

/* ---- the kernel ---- */

/* What is computed in parallel loop l serves the tasks that differ only in the loops inside it.
 * They follow one another: it is computed for the first of them that this call runs. 0: each is. */
static wick_value nest_fresh(nest *t, const nest_run *r, uint32_t l, const wick_dim *index)
{
  wick_value first = {0};
  for (uint32_t k = l + 1; k < r->st->loops.n && r->st->loops.at[k].kind == WICK_PARALLEL; k++) {
    if (wick_dim_is_const(index[k])) continue;
    wick_value zero = nest_binary(t, WICK_OP_eq, nest_dim(t, NULL, index[k]), nest_i64(t, 0));
    first = first.id ? nest_binary(t, WICK_OP_and, first, zero) : zero;
  }
  return first.id ? nest_binary(t, WICK_OP_or, first, nest_binary(t, WICK_OP_eq, t->task, t->begin))
                  : first;
}

/* The index of parallel loop l is set by `task`; a smaller last step is code of its own. */
static void nest_parallel(nest *t, nest_run *r, uint32_t l, const wick_dim *index)
{
  if (l == r->st->loops.n || r->st->loops.at[l].kind != WICK_PARALLEL) {
    nest_loops(t, r, l);
    return;
  }
  const wick_sloop *loop = &r->st->loops.at[l];
  nest_steps steps = nest_steps_of(t, r, loop);
  bool both = steps.rest && !wick_dim_is(steps.whole, 0);
  if (both) {
    wick_value c =
        nest_binary(t, WICK_OP_lt, nest_dim(t, NULL, index[l]), nest_dim(t, NULL, steps.whole));
    wick_build_open(&t->b, WICK_OP_if, 1, &c, NULL, 0, NULL);
  }
  for (int rest = !both && steps.rest; rest <= (steps.rest != 0); rest++) {
    uint32_t mark = nest_known_mark(t);
    if (both) wick_region_begin(&t->b, 0, NULL);
    wick_dim at = rest && steps.rest ? steps.whole : index[l];
    bool narrower =
        both &&
        !rest; /* here the index is less than `whole`: a symbol that says so spares guards */
    if (narrower) {
      at = nest_symbol_open(t, loop->name, steps.whole.v - 1);
      wick_push(t->tmp, &t->symbols,
                (struct nest_symbol){at, nest_dim(t, NULL, index[l]), loop->prefetch, l});
    }
    int64_t total = rest && steps.rest && !steps.overlap ? steps.rest : loop->factor;
    nest_saved s = nest_narrow(t, r, loop, at, wick_dim_const(total));
    if (rest && steps.overlap)
      r->base[loop->axis] =
          wick_dim_sub(t->m->dims, r->base[loop->axis], wick_dim_const(loop->factor - steps.rest));
    uint64_t scratch = t->scratch;
    nest_attached(t, r, l, nest_fresh(t, r, l, index));
    nest_parallel(t, r, l + 1, index);
    t->scratch = scratch;
    nest_restore(r, loop, s);
    if (narrower && t->symbols.n) t->symbols.n--;
    if (both) wick_yield(&t->b, 0, NULL);
    nest_known_rewind(t, mark);
  }
  if (both) wick_build_close(&t->b);
}

/* Tasks begin .. end-1 of the output's parallel loops, one after another. */
static wick_dim nest_tasks(nest *t, wick_value begin, wick_value end)
{
  nest_run r = nest_run_of(t, t->s->output, NULL, NULL);
  const wick_stage *out = r.st;
  wick_dims *dims = t->m->dims;
  wick_dim tasks = wick_dim_const(1), *count = wick_new(t->tmp, wick_dim, out->loops.n + 1),
           *index = wick_new(t->tmp, wick_dim, out->loops.n + 1);
  wick_dim *total = wick_dup(t->tmp, wick_dim, r.total,
                             out->naxis); /* what outer parallel parts of the same axis leave */
  uint32_t n = 0;
  for (; n < out->loops.n && out->loops.at[n].kind == WICK_PARALLEL; n++) {
    const wick_sloop *l = &out->loops.at[n];
    count[n] = wick_dim_ceildiv(dims, total[l->axis], wick_dim_const(l->factor));
    total[l->axis] = wick_dim_const(l->factor);
    tasks = wick_dim_mul(dims, tasks, count[n]);
  }
  int64_t lo, hi;
  wick_dim_range(dims, tasks, &lo, &hi);
  wick_type i64 = wick_type_scalar(t->m, WICK_I64, 1);
  wick_value range[2] = {begin, end};
  wick_build_open(&t->b, WICK_OP_for, 2, range, NULL, 0, NULL);
  wick_value task = wick_region_begin(&t->b, 1, &i64);
  t->task = task, t->begin = begin;
  uint32_t mark = nest_known_mark(t);
  wick_dim rest = nest_symbol_open(t, "task", hi > 0 ? hi - 1 : 0);
  wick_push(t->tmp, &t->symbols, (struct nest_symbol){rest, task, false, 0});
  for (uint32_t k = n; k-- > 0;) {
    index[k] = k ? wick_dim_mod(dims, rest, count[k]) : rest;
    rest = wick_dim_floordiv(dims, rest, count[k]);
    if (wick_dim_is_const(index[k])) continue;
    /* A symbol of its own keeps divisions out of the address arithmetic. */
    wick_dim sym = nest_symbol_open(t, out->loops.at[k].name,
                                    wick_dim_is_const(count[k]) ? count[k].v - 1 : hi);
    wick_push(t->tmp, &t->symbols,
              (struct nest_symbol){sym, nest_dim(t, NULL, index[k]), out->loops.at[k].prefetch, k});
    index[k] = sym;
  }
  if (n == 0) /* one task: stages at the root first */
    for (uint32_t i = 0; i < t->s->output && !t->b.status; i++)
      if (t->s->stage[i].where == WICK_ROOT) nest_stage(t, i, NULL, NULL);
  nest_parallel(t, &r, 0, index);
  nest_known_rewind(t, mark);
  wick_yield(&t->b, 0, NULL);
  wick_build_close(&t->b);
  return tasks;
}

static wick_type nest_buffer_type(nest *t, const wick_nest_options *o, uint32_t k, wick_type tensor)
{
  if (o && o->buffer) return o->buffer[k];
  const wick_type_info *info = wick_type_get(t->m, tensor);
  return wick_type_buffer(t->m, info->elem, info->rank, info->dim, WICK_IO);
}

static void nest_memory(nest *t, wick_value v, wick_value buffer, bool frozen)
{
  nest_place *p = &t->place[v.id];
  const wick_type_info *type = wick_info_of(t->g, v), *b = wick_built_info(&t->b, buffer);
  p->in_memory = true;
  p->frozen = frozen;
  p->buffer = buffer;
  for (uint32_t k = 0; k < type->rank; k++) p->lo[k] = wick_dim_const(0);
  if (b->stride)
    memcpy(p->stride, b->stride, type->rank * sizeof *p->stride);
  else
    nest_dense(t, p, type->rank, type->dim);
}

/* Parameters of the kernel, and where every stage's results will be. */
static void nest_places(nest *t, const wick_nest_options *o, wick_value *begin, wick_value *end)
{
  const wick_node *ret = wick_return(t->g);
  t->place = wick_new(t->tmp, nest_place, t->g->nvalue + 1);
  for (uint32_t v = 0; v <= t->g->nvalue; v++) t->place[v].stage = t->place[v].vdim = UINT32_MAX;
  wick_value *out = wick_new(t->tmp, wick_value, ret->nin + 1);
  for (uint32_t k = 0; k < ret->nin; k++)
    out[k] = wick_build_param(&t->b, nest_buffer_type(t, o, k, wick_type_of(t->g, ret->in[k])),
                              WICK_OUT, wick_str_printf(t->tmp, "y%u", k));
  for (uint32_t k = 0; k < t->g->nparam; k++) {
    wick_value v = {k + 1};
    nest_memory(t, v,
                wick_build_param(&t->b, nest_buffer_type(t, o, ret->nin + k, wick_type_of(t->g, v)),
                                 WICK_IN, wick_str_printf(t->tmp, "x%u", k)),
                true);
    t->place[v.id].halo = &t->s->halo[k];
  }
  wick_type i64 = wick_type_scalar(t->m, WICK_I64, 1);
  *begin = wick_build_param(&t->b, i64, WICK_IN, "begin");
  *end = wick_build_param(&t->b, i64, WICK_IN, "end");
  for (uint32_t i = 0; i < t->s->nstage; i++) {
    const wick_stage *st = &t->s->stage[i];
    const wick_node *n = &t->g->node[st->node];
    for (uint32_t k = 0; k < n->nout; k++) {
      wick_value v = {n->first.id + k};
      t->place[v.id].stage = i, t->place[v.id].nth = k;
      for (uint32_t r = 0; r < ret->nin; r++)
        if (ret->in[r].id == v.id) nest_memory(t, v, out[r], false);
      if (t->place[v.id].in_memory && st->where != WICK_ROOT)
        nest_fail(t, "stage `%s` is a result of the group: it is computed at the root", st->name);
      if (t->place[v.id].in_memory || st->where != WICK_ROOT) continue;
      const wick_type_info *type = wick_info_of(t->g, v);
      nest_scratch(t, &t->place[v.id], wick_type_of(t->g, v), type->rank, type->dim);
      t->place[v.id].in_memory = true;
      for (uint32_t d = 0; d < type->rank; d++) t->place[v.id].lo[d] = wick_dim_const(0);
    }
  }
}

wick_status wick_nest(const wick_func *group, wick_schedule *s, const wick_nest_options *options,
                      wick_arena *mem, wick_arena *tmp, wick_kernel_info *out)
{
  WICK_TRY(wick_schedule_check(s));
  nest *t = wick_new(tmp, nest, 1);
  t->m = group->module, t->tmp = tmp, t->g = group, t->s = s;
  const char *name =
      options && options->name ? options->name : wick_str_printf(tmp, "%s.loop", group->name);
  wick_build_begin(&t->b, group->module, WICK_LOOP, name, mem);
  wick_value begin = {0}, end = {0};
  nest_places(t, options, &begin, &end);
  wick_dim tasks = t->b.status ? wick_dim_const(0) : nest_tasks(t, begin, end);
  wick_build_return(&t->b, 0, NULL);
  wick_func *f = NULL;
  WICK_TRY(wick_build_end(&t->b, &f));
  *out = (wick_kernel_info){f, tasks, t->scratch_peak};
  return NULL;
}
