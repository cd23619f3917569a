/* top_k: the largest or least elements of each 1-D slice, in order. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"
#include "ops/tensor/sort.h"

static wick_status top_k_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK];
  int64_t lo, hi;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_top_k_axis].i;
  if (c->attr[WICK_ATTR_top_k_k].n != 1)
    return wick_infer_fail(c, WICK_ETYPE, "k has %u numbers, expected 1",
                           c->attr[WICK_ATTR_top_k_k].n);
  for (uint32_t i = 0; i < x->rank; i++) dim[i] = x->dim[i];
  dim[axis] = c->attr[WICK_ATTR_top_k_k].dims[0];
  wick_dim_range(c->module->dims, wick_dim_sub(c->module->dims, dim[axis], x->dim[axis]), &lo, &hi);
  if (lo > 0)
    return wick_infer_fail(c, WICK_ETYPE, "the first %s of %s elements",
                           wick_infer_dim_text(c, dim[axis]), wick_infer_dim_text(c, x->dim[axis]));
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  wick_infer_out(c, 1, WICK_I64, x->rank, dim);
  c->nout = 2;
  return NULL;
}

/* Returns true if x comes before y in the order of the result. NaN is the largest value. */
static bool top_k_before(wick_elem e, bool least, wick_scalar x, wick_scalar y)
{
  if (wick_elem_is_float(e)) {
    if (isnan(x.f) || isnan(y.f))
      return least ? !isnan(x.f) && isnan(y.f) : isnan(x.f) && !isnan(y.f);
    return least ? x.f < y.f : x.f > y.f;
  }
  if (wick_elem_class(e) == WICK_UINT)
    return least ? (uint64_t)x.i < (uint64_t)y.i : (uint64_t)x.i > (uint64_t)y.i;
  return least ? x.i < y.i : x.i > y.i;
}

/* Inserts each element into the list of the best so far. */
static wick_status top_k_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_top_k_axis].i;
  int64_t n = x->dim[axis], k = out->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  const wick_scalar *v = wick_ref_load(c->mem, x);
  int64_t *best = wick_new(c->mem, int64_t, (size_t)k + 1);
  for (int64_t line = 0; line < outer * inner; line++) {
    int64_t first = line / inner * n * inner + line % inner,
            to = line / inner * k * inner + line % inner, have = 0;
    for (int64_t i = 0; i < n; i++) {
      int64_t at = have;
      for (; at > 0 && top_k_before(x->elem, c->attr[WICK_ATTR_top_k_least].i, v[first + i * inner],
                                    v[first + best[at - 1] * inner]);
           at--)
        best[at] = best[at - 1];
      best[at] = i;
      if (have < k) have++;
    }
    for (int64_t i = 0; i < k; i++) {
      wick_ref_move(out, (uint64_t)(to + i * inner), x, (uint64_t)(first + best[i] * inner));
      wick_store_elem(WICK_I64, c->out[1].data, (uint64_t)(to + i * inner),
                      (wick_scalar){.i = best[i]});
    }
  }
  return NULL;
}

/* ---- the list ---- */

/* A list of at most TOP_K_LINE elements is kept sorted by insertion, also if all elements of a slice go into it. */
enum { TOP_K_FEW = 16, TOP_K_LINE = 32, TOP_K_CAPACITY = 128, TOP_K_BLOCK = 8 };

typedef struct top_k {
  const wick_compute *c;
  wick_builder *b;
  bool least;
  wick_line line;
  wick_value x, best, place; /* of the current slice: x is read, the others are the results */
  wick_value n, k;
} top_k;

/* Builds the condition that v comes before `worst`, which has a lower index. */
static wick_value top_k_stage_before(const top_k *t, wick_value v, wick_value worst)
{
  wick_builder *b = t->b;
  if (b->status) return v;
  if (!wick_elem_is_float(wick_built_info(b, v)->elem))
    return wick_build2(b, t->least ? WICK_OP_lt : WICK_OP_gt, v, worst);
  wick_value behind = wick_build2(b, t->least ? WICK_OP_ge : WICK_OP_le, v, worst),
             number = t->least ? v : worst;
  return wick_build2(b, WICK_OP_and, wick_build1(b, WICK_OP_not, behind),
                     wick_build2(b, WICK_OP_eq, number, number));
}

static wick_value top_k_best(const top_k *t, wick_value at)
{
  return wick_get(t->b, t->best, t->line.index, 1, &at);
}

/* Inserts v, the element with index i, into the sorted list of the `have` best, from its end. */
static void top_k_insert(const top_k *t, wick_value v, wick_value i, wick_value have)
{
  wick_builder *b = t->b;
  wick_value last = wick_loop_nest_by(b, WICK_OP_sub, t->k, 1),
             at = wick_build2(b, WICK_OP_min, have, last), zero = wick_build_i64(b, 0);
  wick_value s = wick_while_begin(b, 1, &at), left = wick_loop_nest_by(b, WICK_OP_sub, s, 1);
  /* the first element is read once more where there is none before it */
  wick_value own = top_k_best(t, wick_build2(b, WICK_OP_max, left, zero)),
             on = top_k_stage_before(t, v, own), more = wick_loop_nest_by(b, WICK_OP_gt, s, 0);
  s = wick_while_body(b, wick_build2(b, WICK_OP_and, more, on), 1, &at);
  left = wick_loop_nest_by(b, WICK_OP_sub, s, 1);
  wick_line_put(b, &t->line, t->best, s, top_k_best(t, left));
  wick_line_put(b, &t->line, t->place, s, wick_get(b, t->place, t->line.index, 1, &left));
  at = wick_while_end(b, 1, &left);
  wick_line_put(b, &t->line, t->best, at, v);
  wick_line_put(b, &t->line, t->place, at, i);
}

/* ---- a pass over a slice ---- */

/* An action for each element in order. It carries `n` values as its state. */
typedef struct top_k_sweep {
  uint32_t n;
  const wick_value *init;
  /* Tells from the state when an element can be skipped: if `full`, elements that do not come
   * before `worst` do not change the state. */
  void (*known)(const top_k *t, const void *arg, wick_value state, wick_value *worst,
                wick_value *full);
  void (*step)(const top_k *t, const void *arg, wick_value i, wick_value state, wick_value *next);
  const void *arg;
} top_k_sweep;

/* Builds the condition that none of TOP_K_BLOCK elements from i on comes before `worst`. */
static wick_value top_k_quiet(const top_k *t, wick_value i, wick_value worst)
{
  wick_builder *b = t->b;
  wick_value any = {0};
  for (int64_t k = 0; k < TOP_K_BLOCK && !b->status; k++) {
    wick_value v = wick_line_read(b, &t->line, t->x, wick_loop_nest_by(b, WICK_OP_add, i, k));
    wick_value on = wick_build2(b, t->least ? WICK_OP_ge : WICK_OP_le, v, worst);
    any = k ? wick_build2(b, WICK_OP_and, any, on) : on;
  }
  return any;
}

/* Processes elements first .. end-1 in blocks. Most blocks do not change the state and are
 * skipped. */
static wick_value top_k_through(const top_k *t, const top_k_sweep *s, wick_value first,
                                wick_value end)
{
  wick_builder *b = t->b;
  wick_value next[4], worst, full, zero = wick_build_i64(b, 0);
  wick_value blocks = wick_build2(b, WICK_OP_sub, end, first);
  blocks = wick_loop_nest_by(b, WICK_OP_add, blocks, TOP_K_BLOCK - 1);
  blocks = wick_loop_nest_by(b, WICK_OP_div_unchecked, blocks, TOP_K_BLOCK);
  wick_value block = wick_for_begin(b, zero, blocks, s->n, s->init), state = {block.id + 1};
  wick_value at = wick_loop_nest_by(b, WICK_OP_mul, block, TOP_K_BLOCK);
  at = wick_build2(b, WICK_OP_add, first, at);
  wick_value to = wick_loop_nest_by(b, WICK_OP_add, at, TOP_K_BLOCK);
  s->known(t, s->arg, state, &worst, &full);
  full = wick_build2(b, WICK_OP_and, full, wick_build2(b, WICK_OP_le, to, end));
  wick_if_begin(b, full, 1, &full);
  wick_value quiet = top_k_quiet(t, at, worst);
  wick_if_else(b, 1, &quiet);
  quiet = wick_if_end(b, 1, &full); /* false */
  for (uint32_t k = 0; k < s->n; k++) next[k] = (wick_value){state.id + k};
  wick_if_begin(b, quiet, s->n, next);
  wick_if_else(b, s->n, next);
  wick_value i = wick_for_begin(b, at, wick_build2(b, WICK_OP_min, to, end), s->n, next);
  s->step(t, s->arg, i, (wick_value){i.id + 1}, next);
  i = wick_for_end(b, s->n, next);
  for (uint32_t k = 0; k < s->n; k++) next[k] = (wick_value){i.id + k};
  i = wick_if_end(b, s->n, next);
  for (uint32_t k = 0; k < s->n; k++) next[k] = (wick_value){i.id + k};
  return wick_for_end(b, s->n, next);
}

/* ---- small k ---- */

/* The state: the worst element of the list, and the length of the list. */
static void top_k_few_known(const top_k *t, const void *none, wick_value state, wick_value *worst,
                            wick_value *full)
{
  (void)none;
  *worst = state;
  *full = wick_build2(t->b, WICK_OP_ge, (wick_value){state.id + 1}, t->k);
}

static void top_k_few_step(const top_k *t, const void *none, wick_value i, wick_value state,
                           wick_value *next)
{
  wick_builder *b = t->b;
  wick_value worst = state, have = {state.id + 1}, v = wick_line_read(b, &t->line, t->x, i);
  (void)none;
  wick_value has_space = wick_build2(b, WICK_OP_lt, have, t->k);
  wick_value takes = wick_build2(b, WICK_OP_or, has_space, top_k_stage_before(t, v, worst));
  next[0] = worst, next[1] = have;
  wick_if_begin(b, takes, 2, next);
  top_k_insert(t, v, i, have);
  next[1] = wick_build2(b, WICK_OP_min, wick_loop_nest_by(b, WICK_OP_add, have, 1), t->k);
  next[0] = top_k_best(t, wick_loop_nest_by(b, WICK_OP_sub, next[1], 1));
  wick_if_else(b, 2, next);
  next[0] = worst, next[1] = have;
  wick_value all = wick_if_end(b, 2, next);
  next[0] = all, next[1] = (wick_value){all.id + 1};
}

/* For a small k: keeps a sorted list of the best so far, which most elements do not change. */
static void top_k_few(const top_k *t)
{
  wick_builder *b = t->b;
  wick_value zero = wick_build_i64(b, 0), init[2] = {wick_line_read(b, &t->line, t->x, zero), zero};
  const top_k_sweep s = {2, init, top_k_few_known, top_k_few_step, NULL};
  top_k_through(t, &s, zero, t->n);
}

/* ---- several slices at once ---- */

/* A list of few elements is kept in registers, a longer one in the results, without branches:
 * several neighbouring slices then run as the lanes of vectors. That takes k steps for each
 * element, whether it changes the list or not; for long slices, most elements do not. A list in
 * memory is for whole vectors: masked ones are slow to read what was just written. */
enum { TOP_K_LANES = 4, TOP_K_LIST = 64, TOP_K_LIST_LANES = 16, TOP_K_MOST = 2048 };

/* Builds the list after v, the element with index i, for a list of `have` elements, sorted, that
 * is full if `have` is k. The list has the values first, then the positions. */
static uint32_t top_k_lane_insert(const top_k *t, wick_value v, wick_value i, uint32_t have,
                                  uint32_t k, wick_value *list)
{
  wick_builder *b = t->b;
  wick_value on[TOP_K_FEW + 1], *best = list, *place = list + k;
  for (uint32_t j = 0; j < have; j++) on[j] = top_k_stage_before(t, v, best[j]);
  uint32_t more = have < k ? have + 1 : k;
  for (uint32_t j = more; j-- > 0;) {
    wick_value value = v, at = i;
    if (j) { /* the element before moves here if v comes before it */
      value = wick_build3(b, WICK_OP_where, on[j - 1], best[j - 1], v);
      at = wick_build3(b, WICK_OP_where, on[j - 1], place[j - 1], i);
    }
    best[j] = j < have ? wick_build3(b, WICK_OP_where, on[j], value, best[j]) : value;
    place[j] = j < have ? wick_build3(b, WICK_OP_where, on[j], at, place[j]) : at;
  }
  return more;
}

/* Positions have 32 bits in the list. */
static wick_value top_k_lane_place(const top_k *t, wick_value i)
{
  return wick_build_cast(t->b, i, WICK_I32);
}

static void top_k_lanes(const top_k *t, uint32_t k)
{
  wick_builder *b = t->b;
  wick_value list[2 * TOP_K_FEW];
  uint32_t have = 0;
  for (uint32_t i = 0; i < k; i++) {
    wick_value at = wick_build_i64(b, i);
    have = top_k_lane_insert(t, wick_line_read(b, &t->line, t->x, at), top_k_lane_place(t, at),
                             have, k, list);
  }
  wick_value i = wick_for_begin(b, wick_build_i64(b, k), t->n, 2 * k, list);
  for (uint32_t j = 0; j < 2 * k; j++) list[j] = (wick_value){i.id + 1 + j};
  top_k_lane_insert(t, wick_line_read(b, &t->line, t->x, i), top_k_lane_place(t, i), k, k, list);
  i = wick_for_end(b, 2 * k, list);
  for (uint32_t j = 0; j < k; j++) {
    wick_value at = wick_build_i64(b, j), place = {i.id + k + j};
    wick_line_put(b, &t->line, t->best, at, (wick_value){i.id + j});
    wick_line_put(b, &t->line, t->place, at, wick_build_cast(b, place, WICK_I64));
  }
}

/* Builds the list after element i, for a list of `have` elements in memory. The element goes down
 * the list: from the first element that it comes before, each moves by one. */
static void top_k_lane_pass(const top_k *t, wick_value i, wick_value have, wick_value *last)
{
  wick_builder *b = t->b;
  wick_value v = wick_line_read(b, &t->line, t->x, i), init[2] = {v, i};
  wick_value j = wick_for_begin(b, wick_build_i64(b, 0), have, 2, init);
  wick_value moved[2] = {{j.id + 1}, {j.id + 2}},
             own[2] = {top_k_best(t, j), wick_get(b, t->place, t->line.index, 1, &j)}, next[2];
  wick_value on = top_k_stage_before(t, v, own[0]);
  for (uint32_t s = 0; s < 2; s++) {
    wick_line_put(b, &t->line, s ? t->place : t->best, j,
                  wick_build3(b, WICK_OP_where, on, moved[s], own[s]));
    next[s] = wick_build3(b, WICK_OP_where, on, own[s], moved[s]);
  }
  j = wick_for_end(b, 2, next);
  last[0] = j, last[1] = (wick_value){j.id + 1};
}

/* As top_k_lanes, for a list that registers do not hold. */
static void top_k_lane_lists(const top_k *t)
{
  wick_builder *b = t->b;
  wick_value zero = wick_build_i64(b, 0), last[2];
  wick_value i = wick_for_begin(b, zero, t->k, 0, NULL);
  top_k_lane_pass(t, i, i, last);
  wick_line_put(b, &t->line, t->best, i, last[0]);
  wick_line_put(b, &t->line, t->place, i, last[1]);
  wick_for_end(b, 0, NULL);
  i = wick_for_begin(b, t->k, t->n, 0, NULL);
  top_k_lane_pass(t, i, t->k, last);
  wick_for_end(b, 0, NULL);
}

/* Returns true if a list of the best of each lane pays: in registers, or in memory. Without lanes, an
 * element that is among the best so far is inserted or sorted, and about k (1 + ln n / k) of random
 * elements are. Costs are in nanoseconds on AMD Zen 3 (8 lanes), of which only the ratios matter. */
static bool top_k_in_lists(wick_dim n, wick_dim k)
{
  const double REGISTERS = 0.35, MEMORY = 0.6, INSERT = 3, MOVE = 1.65, SORT = 45;
  if (!wick_dim_is_const(n) || !wick_dim_is_const(k) || k.v <= 0 || n.v > INT32_MAX) return false;
  if (k.v <= 2 || k.v > TOP_K_LIST) return k.v <= 2;
  double length = (double)k.v, taken = length * (1 + log((double)n.v / length)),
         each = k.v <= TOP_K_LINE ? INSERT + MOVE * length : SORT,
         steps = (double)n.v * length * (k.v <= TOP_K_FEW ? REGISTERS : MEMORY);
  return steps < taken * each;
}

/* Returns the least number of neighbouring slices for which it does. */
static int64_t top_k_least(wick_dim k) { return k.v <= TOP_K_FEW ? TOP_K_LANES : TOP_K_LIST_LANES; }

/* Returns k if vectors of neighbouring slices pay, else 0. */
static uint32_t top_k_in_lanes(const wick_compute *c)
{
  const wick_type_info *x = wick_built_info(c->b, c->in[0]);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_top_k_axis].i;
  wick_dim k = c->attr[WICK_ATTR_top_k_k].dims[0], last = x->dim[x->rank - 1u];
  bool pays = at + 1u < x->rank && top_k_in_lists(x->dim[at], k) && wick_dim_is_const(last) &&
              last.v >= top_k_least(k);
  return pays ? (uint32_t)k.v : 0;
}

/* Slices become lanes if they could not be lanes otherwise. */
static wick_turn top_k_turn(const wick_attr *attr, int64_t n, int64_t inner, int64_t lanes)
{
  (void)lanes;
  wick_dim k = attr[WICK_ATTR_top_k_k].dims[0];
  bool pays = top_k_in_lists(wick_dim_const(n), k) && inner < top_k_least(k) && n <= TOP_K_MOST;
  return pays ? WICK_TURN_FIRST : WICK_TURN_NONE;
}

/* ---- large k ---- */

/* The state of the loop over rounds: the number of elements that have been read; the number in
 * the scratch memory; the worst of the k best, and whether there are k. */
enum { TOP_K_I, TOP_K_HAVE, TOP_K_WORST, TOP_K_FULL, TOP_K_STATE };

/* Constants of a round, while elements are collected. */
typedef struct top_k_round {
  const wick_sort *sort;
  wick_value worst, full;
} top_k_round;

static void top_k_round_known(const top_k *t, const void *arg, wick_value state, wick_value *worst,
                              wick_value *full)
{
  const top_k_round *r = arg;
  (void)t, (void)state;
  *worst = r->worst, *full = r->full;
}

/* The state: the number of elements in the scratch memory. */
static void top_k_round_step(const top_k *t, const void *arg, wick_value i, wick_value have,
                             wick_value *next)
{
  const top_k_round *r = arg;
  wick_builder *b = t->b;
  wick_value v = wick_line_read(b, &t->line, t->x, i), free = wick_build1(b, WICK_OP_not, r->full);
  wick_value takes = wick_build2(b, WICK_OP_or, free, top_k_stage_before(t, v, r->worst));
  wick_if_begin(b, takes, 1, &have);
  wick_sort_put(b, r->sort, have, wick_sort_key(b, r->sort, v, t->least), i);
  wick_value more = wick_loop_nest_by(b, WICK_OP_add, have, 1);
  wick_if_else(b, 1, &more);
  next[0] = wick_if_end(b, 1, &have);
}

/* Appends those of elements i .. end-1 that may be among the k best to the scratch memory. */
static wick_value top_k_gather(const top_k *t, const wick_sort *s, wick_value state, wick_value end)
{
  wick_value have = {state.id + TOP_K_HAVE};
  const top_k_round r = {s, {state.id + TOP_K_WORST}, {state.id + TOP_K_FULL}};
  const top_k_sweep sweep = {1, &have, top_k_round_known, top_k_round_step, &r};
  return top_k_through(t, &sweep, (wick_value){state.id + TOP_K_I}, end);
}

/* Sorts the scratch memory, and keeps the first k elements. */
static wick_value top_k_shrink(const top_k *t, const wick_sort *s, wick_value have)
{
  wick_builder *b = t->b;
  wick_value left = wick_build2(b, WICK_OP_min, have, t->k);
  wick_sort_run(b, s, have, left);
  return left;
}

/* For a large k: works in rounds. Scratch memory for `capacity` elements, twice k, is filled with
 * elements that come before the worst of the k best so far, and is sorted. Each slice is read
 * once, whatever its order. */
static void top_k_many(const top_k *t, const wick_sort *s, wick_dim capacity)
{
  enum { SPARE = 32 };
  wick_builder *b = t->b;
  wick_type yes = wick_type_scalar(b->module, WICK_BOOL, 1);
  wick_value zero = wick_build_i64(b, 0), most = wick_index(b, capacity);
  wick_value init[TOP_K_STATE] = {zero, zero, wick_line_read(b, &t->line, t->x, zero),
                                  wick_build_const(b, yes, 0, 0)},
             next[TOP_K_STATE];
  wick_value state = wick_while_begin(b, TOP_K_STATE, init);
  state = wick_while_body(b, wick_build2(b, WICK_OP_lt, state, t->n), TOP_K_STATE, init);
  wick_value have = {state.id + TOP_K_HAVE};
  wick_value end = wick_build2(b, WICK_OP_add, state, wick_build2(b, WICK_OP_sub, most, have));
  end = wick_build2(b, WICK_OP_min, end, t->n);
  have = top_k_gather(t, s, state, end);
  wick_value rest = wick_build2(b, WICK_OP_sub, most, have);
  wick_value sorts = wick_build2(b, WICK_OP_or, wick_loop_nest_by(b, WICK_OP_lt, rest, SPARE),
                                 wick_build2(b, WICK_OP_ge, end, t->n));
  wick_value kept[3] = {have, {state.id + TOP_K_WORST}, {state.id + TOP_K_FULL}}, found[3];
  wick_if_begin(b, sorts, 3, kept);
  found[0] = top_k_shrink(t, s, have);
  wick_value last = wick_sort_number(b, s, wick_loop_nest_by(b, WICK_OP_sub, found[0], 1));
  found[1] = wick_line_read(b, &t->line, t->x, last);
  found[2] = wick_build2(b, WICK_OP_eq, found[0], t->k);
  wick_if_else(b, 3, found);
  wick_value after = wick_if_end(b, 3, kept);
  next[TOP_K_I] = end;
  for (uint32_t k = 0; k < 3; k++) next[TOP_K_HAVE + k] = (wick_value){after.id + k};
  wick_while_end(b, TOP_K_STATE, next);
  wick_value j = wick_for_begin(b, zero, t->k, 0, NULL), at = wick_sort_number(b, s, j);
  wick_line_put(b, &t->line, t->place, j, at);
  wick_line_put(b, &t->line, t->best, j, wick_line_read(b, &t->line, t->x, at));
  wick_for_end(b, 0, NULL);
}

/* ---- one element ---- */

/* Returns true if the best element is found by a fold, whose lanes are parts of a slice. For a fold,
 * NaN is the best element. */
static bool top_k_is_fold(const wick_compute *c, uint32_t lanes)
{
  wick_elem e = wick_built_info(c->b, c->in[0])->elem;
  return !lanes && wick_dim_is(c->attr[WICK_ATTR_top_k_k].dims[0], 1) &&
         !(c->attr[WICK_ATTR_top_k_least].i && wick_elem_is_float(e));
}

static void top_k_fold(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_top_k_axis].i, n;
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK];
  n = wick_axes_of(b, c->out_type[0], axis);
  axis[n] = wick_make_axis(b, "c", x->dim[at], true);
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k == at ? n : k].sym;
  const wick_best_rule rule = {.least = c->attr[WICK_ATTR_top_k_least].i != 0,
                               .ordered = true,
                               .at = wick_stage_position(b, x->dim[at], x->elem)};
  wick_best state = wick_stage_best(b, &rule, "top_k", n + 1, axis, 2, c->out_type, x->elem),
            element;
  element.value = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  element.at = wick_stage_number(b, index[at], rule.at);
  wick_best r = wick_stage_best_finish(b, &rule, state, element, (wick_value){0});
  wick_yield(b, 2, (wick_value[]){r.value, wick_build_cast(b, r.at, WICK_I64)});
  c->out[0] = wick_build_close(b);
  c->out[1] = (wick_value){c->out[0].id + 1};
}

static void top_k_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *d = b->module->dims;
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_top_k_axis].i;
  wick_dim n = wick_built_info(b, c->in[0])->dim[at], k = c->attr[WICK_ATTR_top_k_k].dims[0];
  wick_type scratch[WICK_SORT_NSCRATCH];
  int64_t lo, hi;
  wick_dim_range(d, k, &lo, &hi);
  uint32_t lanes = top_k_in_lanes(c);
  if (top_k_is_fold(c, lanes)) {
    top_k_fold(c);
    return;
  }
  bool few = hi <= TOP_K_LINE, sorts = !few && !lanes;
  wick_dim capacity =
      wick_dim_max(d, wick_dim_mul(d, k, wick_dim_const(2)), wick_dim_const(TOP_K_CAPACITY));
  capacity = wick_dim_min(d, capacity, n);
  top_k t = {.c = c, .b = b, .least = c->attr[WICK_ATTR_top_k_least].i != 0, .x = c->in[0]};
  wick_sort s = {0};
  if (sorts) s = wick_sort_of(b, wick_built_info(b, c->in[0])->elem, capacity, scratch);
  t.best = wick_lines_begin(c, "top_k", at, sorts ? WICK_SORT_NSCRATCH : 0, scratch, &t.line);
  t.place = (wick_value){t.best.id + 1};
  s.key = (wick_value){t.best.id + 2}, s.number = (wick_value){t.best.id + 3};
  s.count = (wick_value){t.best.id + 4};
  t.n = wick_index(b, n), t.k = wick_index(b, k);
  if (lanes > TOP_K_FEW) {
    top_k_lane_lists(&t);
  } else if (lanes) {
    top_k_lanes(&t, lanes);
  } else {
    wick_if_begin(b, wick_loop_nest_by(b, WICK_OP_gt, t.k, 0), 0, NULL);
    if (few)
      top_k_few(&t);
    else
      top_k_many(&t, &s, capacity);
    wick_if_else(b, 0, NULL);
    wick_if_end(b, 0, NULL);
  }
  c->out[0] = wick_loop_nest_end(b);
  c->out[1] = (wick_value){c->out[0].id + 1};
}

const wick_op wick_op_top_k = {
    .name = "top_k",
    .doc = "The first k elements of each 1-D slice along `axis` in descending order (`least`: "
           "ascending), and their positions. Of equal elements the earlier comes first. NaN is "
           "the largest of all",
    .nin = {1, 1},
    .nout = {2, 2},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0},
             {"k", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"least", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .unfusable = true,
    .slices = true,
    .turn = top_k_turn,
    .elems = WICK_NUMBERS,
    .infer = top_k_infer,
    .ref = top_k_ref,
    .compute = top_k_compute,
    .grad = wick_grad_top_k,
    .batch.run = wick_batch_axes,
};
