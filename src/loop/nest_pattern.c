/* Lanes whose places follow a pattern that is known when code is generated: elements that are
 * repeated, or that alternate between a few rows of memory. Each run of neighbouring elements is
 * loaded as a short vector, and shuffles put the elements into their lanes. */
#include <string.h>

#include "loop/nest_state.h"

enum { PATTERN_LANES = 64, PATTERN_RUNS = 8 };

/* The elements that the lanes read: lane i reads the one `at[i]` elements after `rest`. Lanes that
 * are not active, or outside of the tensor (`outside`), read none. */
typedef struct pattern {
  wick_dim rest;
  int64_t at[PATTERN_LANES];
  bool some[PATTERN_LANES], outside[PATTERN_LANES];
  wick_dim column[PATTERN_LANES]; /* index along the last dimension */
} pattern;

/* A vector of `width` elements, the first of them `begin` elements after `rest`. */
typedef struct pattern_run {
  int64_t begin, end;   /* elements that lanes need: [begin, end) */
  uint32_t first, last; /* lanes that read the ends */
} pattern_run;

/* Returns true if lane i is inside along all dimensions that depend on the lane, and false if it is
 * outside along one. *known is set to false if neither is certain. */
static bool pattern_inside(nest *t, const nest_run *r, const wick_type_info *type,
                           const wick_dim *index, wick_dim lane, bool *known)
{
  bool inside = true;
  for (uint32_t k = 0; k < type->rank; k++) {
    int64_t lo, hi, least, most;
    if (!wick_dim_uses(t->m->dims, index[k], r->vsym)) continue;
    wick_dim_range(t->m->dims, wick_dim_substitute(t->m->dims, index[k], 1, &r->vsym, &lane), &lo,
                   &hi);
    wick_dim_range(t->m->dims, type->dim[k], &least, &most);
    if (hi < 0 || lo >= most)
      inside = false;
    else if (lo < 0 || hi >= least)
      *known = false;
  }
  return inside;
}

/* Finds the elements of all lanes. Returns false if their distances are not constant. guard: lanes
 * may be outside. */
static bool pattern_of(nest *t, const nest_run *r, const nest_place *p, const wick_type_info *type,
                       const wick_dim *index, bool guard, pattern *out)
{
  wick_dims *dims = t->m->dims;
  wick_dim linear = wick_dim_const(0);
  bool first = true, known = true;
  for (uint32_t k = 0; k < type->rank; k++) {
    wick_dim from = wick_dim_sub(dims, index[k], p->lo[k]);
    linear = wick_dim_add(dims, linear, wick_dim_mul(dims, from, p->stride[k]));
  }
  for (uint32_t i = 0; i < r->lanes; i++) {
    wick_dim lane = wick_dim_const(i), at;
    out->outside[i] = guard && !pattern_inside(t, r, type, index, lane, &known);
    out->some[i] = i < r->active.v && !out->outside[i];
    if (!known) return false;
    if (!out->some[i]) continue;
    at = wick_dim_substitute(dims, linear, 1, &r->vsym, &lane);
    out->at[i] = wick_dim_get(dims, at).constant;
    out->column[i] = wick_dim_substitute(dims, index[type->rank - 1], 1, &r->vsym, &lane);
    at = wick_dim_sub(dims, at, wick_dim_const(out->at[i]));
    if (!first && !wick_dim_eq(at, out->rest)) return false;
    out->rest = at, first = false;
  }
  return true;
}

/* Groups the elements into runs of at most `most` elements. Returns their number; 0 if there are
 * too many. */
static uint32_t pattern_runs(const pattern *p, uint32_t lanes, uint32_t most, pattern_run *run)
{
  uint32_t n = 0;
  bool done[PATTERN_LANES] = {0};
  for (;;) {
    uint32_t low = UINT32_MAX;
    for (uint32_t i = 0; i < lanes; i++)
      if (p->some[i] && !done[i] && (low == UINT32_MAX || p->at[i] < p->at[low])) low = i;
    if (low == UINT32_MAX) return n;
    if (n == PATTERN_RUNS || 2 * (n + 1) > lanes) return 0;
    pattern_run *x = &run[n++];
    *x = (pattern_run){p->at[low], p->at[low] + 1, low, low};
    for (uint32_t i = 0; i < lanes; i++) {
      if (!p->some[i] || done[i] || p->at[i] >= x->begin + most) continue;
      done[i] = true;
      if (p->at[i] >= x->end) x->end = p->at[i] + 1, x->last = i;
    }
  }
}

/* Moves the beginning of a run so that `width` elements from there are in one row of the tensor.
 * Returns false if it is not certain that there are so many. */
static bool pattern_fits(nest *t, const pattern *p, wick_dim extent, int64_t width, pattern_run *x)
{
  int64_t lo, hi, least, most;
  wick_dim_range(t->m->dims, extent, &least, &most);
  wick_dim_range(t->m->dims, p->column[x->first], &lo, &hi);
  if (x->end - x->begin == width || hi + width <= least) return true;
  wick_dim_range(t->m->dims, p->column[x->last], &lo, &hi);
  x->begin = x->end - width;
  return lo >= width - 1;
}

static wick_value pattern_shuffle(nest *t, wick_value a, wick_value b, uint32_t n,
                                  const int64_t *lane)
{
  wick_value in[2] = {a, b};
  wick_attr at = {.n = n, .ints = wick_dup(&t->m->mem, int64_t, lane, n)};
  return wick_build(&t->b, WICK_OP_shuffle, 2, in, &at, 0, NULL);
}

/* Puts the elements of the loaded runs into their lanes: joins the runs pairwise until each vector
 * is as wide as the result, then picks lanes from one after the other. */
static wick_value pattern_join(nest *t, const pattern *p, uint32_t lanes, uint32_t n,
                               const pattern_run *run, int64_t width, wick_value *v)
{
  int64_t from[PATTERN_LANES], lane[PATTERN_LANES];
  for (uint32_t i = 0; i < lanes; i++) {
    from[i] = 0;
    for (uint32_t k = 0; k < n && p->some[i]; k++)
      if (p->at[i] >= run[k].begin && p->at[i] < run[k].begin + width)
        from[i] = (int64_t)k * width + p->at[i] - run[k].begin;
  }
  for (; width < lanes && n > 1; width *= 2, n = (n + 1) / 2)
    for (uint32_t k = 0; k < n; k += 2) {
      for (int64_t i = 0; i < 2 * width; i++) lane[i] = i;
      v[k / 2] = pattern_shuffle(t, v[k], v[k + 1 < n ? k + 1 : k], (uint32_t)(2 * width), lane);
    }
  wick_value all = v[0];
  for (uint32_t k = 0; k < n; k += k ? 1 : 2) { /* the first shuffle takes two vectors */
    int64_t begin = k * width;
    for (uint32_t i = 0; i < lanes; i++) {
      bool here = from[i] >= begin;
      if (!k) lane[i] = from[i] < 2 * width ? from[i] : 0;
      if (k) lane[i] = here && from[i] < begin + width ? lanes + from[i] - begin : i;
    }
    all = pattern_shuffle(t, all, v[k ? k : n > 1], lanes, lane);
  }
  return all;
}

/* Replaces lanes outside of the tensor by `otherwise`. */
static wick_value pattern_else(nest *t, const pattern *p, uint32_t lanes, wick_value v,
                               wick_value otherwise)
{
  int64_t lane[PATTERN_LANES];
  bool any = false;
  for (uint32_t i = 0; i < lanes; i++) {
    any = any || p->outside[i];
    lane[i] = p->outside[i] ? lanes : i;
  }
  return any ? pattern_shuffle(t, v, nest_widen(t, otherwise, lanes), lanes, lane) : v;
}

enum { NEST_KEY_PATTERN = 56 };

/* Loads a run, or takes the vector if it is there already. */
static wick_value pattern_load(nest *t, const nest_run *r, const nest_place *p, wick_dim rest,
                               int64_t begin, wick_type type)
{
  uint64_t key[5] = {NEST_KEY_PATTERN, p->buffer.id, (uint64_t)rest.v, (uint64_t)begin,
                     (uint64_t)type.id};
  nest_known *k = p->frozen ? nest_find(t, key, 5) : NULL;
  if (k) return k->value;
  wick_value v = nest_load_at(t, p, nest_dim(t, r, rest), begin, type, (wick_value){0});
  return p->frozen ? nest_remember(t, key, 5, v) : v;
}

/* Finds the runs and the width of their vectors: the longest that certainly fit. Returns the number
 * of runs; 0: there are too many, or they cannot be loaded. */
static uint32_t pattern_vectors(nest *t, const pattern *p, uint32_t lanes, wick_dim extent,
                                pattern_run *run, int64_t *width)
{
  for (uint32_t most = lanes; most; most /= 2) {
    uint32_t n = pattern_runs(p, lanes, most, run), fits = 0;
    *width = n > 1 ? 2 : 1;
    for (uint32_t k = 0; k < n; k++)
      while (*width < run[k].end - run[k].begin) *width *= 2;
    while (fits < n && pattern_fits(t, p, extent, *width, &run[fits])) fits++;
    if (!n || fits == n) return n;
  }
  return 0;
}

wick_value nest_pattern(nest *t, const nest_run *r, const nest_place *p, const wick_type_info *type,
                        const wick_dim *index, wick_value otherwise)
{
  wick_value none = {0}, v[PATTERN_RUNS], on = {0};
  wick_dim shared[WICK_MAX_RANK], nearest[WICK_MAX_RANK];
  pattern x = {.rest = wick_dim_const(0)};
  pattern_run run[PATTERN_RUNS];
  nest_address affine;
  int64_t width = 1;
  uint32_t lanes = r->lanes;
  bool never = false, any = false;
  if (lanes < 4 || lanes > PATTERN_LANES || (lanes & (lanes - 1)) || !type->rank ||
      !wick_dim_is_const(r->active) || !wick_dim_is(p->stride[type->rank - 1], 1) ||
      nest_address_of(t, r, p, type->rank, index, &affine))
    return none;
  for (uint32_t k = 0; k < type->rank; k++) /* the indices that all lanes have in common */
    shared[k] = wick_dim_uses(t->m->dims, index[k], r->vsym) ? WICK_DIM_ANY : index[k];
  memcpy(nearest, index, type->rank * sizeof *nearest);
  if (otherwise.id) on = nest_inside(t, r, type, NULL, shared, nearest, &never);
  if (never) return nest_widen(t, otherwise, lanes);
  if (!pattern_of(t, r, p, type, nearest, otherwise.id, &x)) return none;
  for (uint32_t i = 0; i < lanes; i++) any = any || x.some[i];
  if (!any) return nest_widen(t, otherwise, lanes);
  uint32_t n = pattern_vectors(t, &x, lanes, type->dim[type->rank - 1], run, &width);
  if (!n) return none;
  wick_type part = wick_type_scalar(t->m, type->elem, (uint32_t)width);
  for (uint32_t k = 0; k < n; k++) v[k] = pattern_load(t, r, p, x.rest, run[k].begin, part);
  wick_value all =
      width == 1 ? nest_widen(t, v[0], lanes) : pattern_join(t, &x, lanes, n, run, width, v);
  all = pattern_else(t, &x, lanes, all, otherwise);
  return on.id && !t->b.status ? wick_build3(&t->b, WICK_OP_where, nest_widen(t, on, lanes), all,
                                             nest_widen(t, otherwise, lanes))
                               : all;
}
