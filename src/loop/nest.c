/* Builds the loops of a kernel: those of the output stage first. A producer is computed at a loop
 * of its consumer, for the box that is read there. Begin with wick_nest. */
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

/* ---- maps, and the outer loops of folds ---- */

static void nest_point(nest *t, const nest_run *r)
{
  wick_value *out = wick_new(t->tmp, wick_value, t->g->node[r->node->region[0].end - 1].nin + 1);
  nest_eval(t, r, 0, NULL, out);
  nest_sink(t, r, out);
}

/* Calls `inside` twice: under a condition and under its opposite. The condition says that guarded
 * reads are in bounds: those of the stages that are computed in loop l, if their sizes are symbolic;
 * else that of a map, in the last of the loops over tasks. The first copy then needs no guards, or
 * fewer. Only iterations at borders use the second one. */
static void nest_guards(nest *t, nest_run *r, uint32_t l, nest_content *inside, void *arg)
{
  bool *within = wick_new(t->tmp, bool, t->s->nstage), same = false;
  const wick_sloop *next = l + 1 < r->st->loops.n ? &r->st->loops.at[l + 1] : NULL;
  wick_value yes = nest_within(t, r, l, within);
  struct nest_sure outer = t->sure, sure = outer;
  bool rows =
      !yes.id && r->st->loops.at[l].kind == WICK_PARALLEL && next && next->kind != WICK_PARALLEL;
  if (rows) yes = nest_rows_within(t, r, &sure, &same);
  if (!yes.id || t->b.status) {
    inside(t, r, l, arg);
    return;
  }
  uint32_t mark = nest_known_mark(t);
  wick_build_open(&t->b, WICK_OP_if, 1, &yes, NULL, 0, NULL);
  for (int guarded = 0; guarded < 2; guarded++) {
    wick_region_begin(&t->b, 0, NULL);
    for (uint32_t s = 0; s < t->s->nstage; s++)
      if (within[s]) t->within[s] = !guarded;
    t->sure = sure;
    if (guarded && rows) t->sure.dims = 0, t->sure.outside = same;
    inside(t, r, l, arg);
    wick_yield(&t->b, 0, NULL);
    nest_known_rewind(t, mark);
  }
  t->sure = outer;
  wick_build_close(&t->b);
}

/* Emits the content of loop l: stages that are computed there, then the loops inside. Releases
 * their scratch memory. */
static void nest_code(nest *t, nest_run *r, uint32_t l, void *none)
{
  wick_dim scratch = t->scratch;
  (void)none;
  if (nest_kept_steps(r)) nest_attached(t, r, l, (wick_value){0});
  nest_loops(t, r, l + 1);
  t->scratch = scratch;
}

static void nest_body(nest *t, nest_run *r, uint32_t l, void *none)
{
  if (nest_kept_steps(r))
    nest_guards(t, r, l, nest_code, none);
  else
    nest_code(t, r, l, none);
}

static void nest_serial(nest *t, nest_run *r, uint32_t l)
{
  nest_steps(t, r, l, &(nest_inner){.body = nest_body});
}

/* Emits straight-line code if the number of iterations is constant, or if each iteration has a
 * condition. Otherwise emits a loop. */
static void nest_unrolled(nest *t, nest_run *r, uint32_t l)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim total = r->total[loop->axis];
  bool several = !wick_dim_is_const(total) && nest_high(t, total) > loop->factor;
  if (several && loop->tail != WICK_MASK) {
    nest_serial(t, r, l);
    return;
  }
  uint32_t n = nest_iterations(t, r, loop);
  if (n > 1024) nest_fail(t, "stage `%s`: %u iterations are too many to unroll", r->st->name, n);
  for (uint32_t i = 0; i < n && !t->b.status; i++) {
    wick_dim at = wick_dim_const((int64_t)i * loop->factor);
    nest_when when;
    if (several)
      when = nest_when_begin(
          t, nest_binary(t, WICK_OP_gt, nest_dim(t, NULL, total), nest_dim(t, NULL, at)), 0, NULL);
    nest_saved s = nest_narrow(t, r, loop, at, nest_share(t, r, loop, i));
    if (loop->turn) r->taxis = loop->axis, r->turn = i, r->turns = n;
    nest_loops(t, r, l + 1);
    nest_restore(r, loop, s);
    if (several) nest_when_end(t, &when, NULL);
  }
  if (loop->turn) r->turns = 0;
}

/* Emits a vector. A short remainder is emitted element by element. */
static void nest_vector(nest *t, nest_run *r, uint32_t l)
{
  enum { SHORT = 4 };
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim total = r->total[loop->axis];
  nest_saved s;
  if (wick_dim_is_const(total) && total.v < loop->size && loop->tail == WICK_PEEL &&
      total.v <= SHORT) {
    nest_unrolled(t, r, l);
  } else if (nest_vector_begin(t, r, loop, &s)) {
    nest_loops(t, r, l + 1);
    nest_vector_end(r, loop, s);
  }
}

void nest_loops(nest *t, nest_run *r, uint32_t l)
{
  if (t->b.status || (r->kept && nest_kept_loop(t, r, l))) return;
  if (!r->kept && r->st->fold &&
      (l == r->st->loops.n || r->st->axis[r->st->loops.at[l].axis].reduce)) {
    nest_fold(t, r, l);
  } else if (l == r->st->loops.n && r->st->loop_nest) {
    nest_walk(t, r);
  } else if (l == r->st->loops.n) {
    nest_point(t, r);
  } else if (r->st->loops.at[l].kind == WICK_UNROLL) {
    nest_unrolled(t, r, l);
  } else if (r->st->loops.at[l].kind == WICK_VECTOR) {
    nest_vector(t, r, l);
  } else {
    nest_serial(t, r, l);
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

/* Returns true if `n` neighbours that are `lines` cache lines apart fall into so few sets of the
 * nearest cache that a set has more than its ways. */
static bool nest_crowds(int64_t lines, int64_t n)
{
  int64_t shared = lines & -lines; /* the largest power of two that divides it */
  if (shared >= NEST_SETS) return n > 1;
  return n > NEST_WAYS * (NEST_SETS / shared);
}

/* Computes strides. If neighbours along a dimension would conflict in the cache, the stride is one
 * cache line longer. Returns the number of elements of the buffer. */
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

wick_value nest_scratch_alloc(nest *t, wick_elem e, wick_dim n)
{
  wick_dims *dims = t->m->dims;
  wick_dim place = t->scratch, bits = wick_dim_const(wick_elem_storage[e].bits),
           unit = wick_dim_const(NEST_PLACE * 8);
  t->scratch = wick_dim_add(dims, place, wick_dim_ceildiv(dims, wick_dim_mul(dims, n, bits), unit));
  t->scratch_peak = wick_dim_max(dims, t->scratch_peak, t->scratch);
  if (wick_dim_eq(t->scratch, WICK_DIM_INVALID)) {
    nest_fail(t, "its scratch memory is too large");
    return (wick_value){0};
  }
  wick_type buffer = wick_type_buffer(t->m, e, 1, &n, WICK_SCRATCH);
  bool computed = !wick_dim_is_const(place) || !wick_dim_is_const(n);
  wick_attr a = {.i = computed ? 0 : place.v * NEST_PLACE};
  wick_value in[2] = {{0}, {0}};
  if (computed) in[0] = nest_dim(t, NULL, place), in[1] = nest_dim(t, NULL, n);
  return wick_build(&t->b, WICK_OP_alloc, computed ? 2 : 0, in, &a, 1, &buffer);
}

/* Returns true if all symbols of d are sizes of the group. */
static bool nest_is_size(nest *t, wick_dim d)
{
  wick_dim_list used = {0}, sizes = wick_func_sizes(t->g, t->tmp);
  wick_dim_symbols(t->m->dims, d, t->tmp, &used);
  for (uint32_t i = 0; i < used.n; i++) {
    bool size = false;
    for (uint32_t k = 0; k < sizes.n; k++) size = size || wick_dim_eq(used.at[i], sizes.at[k]);
    if (!size) return false;
  }
  return true;
}

wick_dim nest_scratch_extent(nest *t, wick_dim extent)
{
  enum { SMALL = 64 };
  int64_t lo, hi;
  wick_dim_range(t->m->dims, extent, &lo, &hi);
  wick_dim d = nest_bound(t, NULL, extent), coef, rest, zero = wick_dim_const(0);
  /* an extent that decreases with a loop is largest at the loop's beginning */
  for (uint32_t i = t->symbols.n; i-- > 0;) {
    wick_dim sym = t->symbols.at[i].sym;
    if (wick_dim_uses(t->m->dims, d, sym) && !nest_is_size(t, sym) &&
        wick_dim_linear(t->m->dims, d, sym, &coef, &rest) && wick_dim_is_const(coef) && coef.v < 0)
      d = wick_dim_substitute(t->m->dims, d, 1, &sym, &zero);
  }
  return hi > SMALL && nest_is_size(t, d) ? d : wick_dim_const(hi);
}

enum { NEST_SPARSE = 4 << 20 }; /* bytes of a buffer that may have constant strides */

/* Allocates scratch memory for `extent` elements of a stage's result, until the consumer's loop
 * ends. If symbolic extents cannot become large, the strides are those of the largest size:
 * constants, and unused pages are never touched. */
static void nest_scratch(nest *t, nest_place *p, wick_type type, uint32_t rank,
                         const wick_dim *extent)
{
  wick_elem e = wick_type_get(t->m, type)->elem;
  wick_dim numel = wick_dim_const(1);
  int64_t lo, most[WICK_MAX_RANK];
  bool constant = true;
  for (uint32_t k = 0; k < rank; k++) {
    constant = constant && wick_dim_is_const(extent[k]);
    wick_dim_range(t->m->dims, extent[k], &lo, &most[k]);
    numel = wick_dim_mul(t->m->dims, numel, nest_scratch_extent(t, extent[k]));
  }
  int64_t all = nest_strides(p, e, rank, most);
  bool numbers = constant || all <= NEST_SPARSE * 8 / wick_elem_storage[e].bits;
  p->buffer = nest_scratch_alloc(t, e, numbers ? wick_dim_const(all) : numel);
  if (!numbers) nest_dense(t, p, rank, extent);
}

static void nest_stage(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent);

/* Computes a stage in a loop of its consumer. With `fresh`, it is computed only under this
 * condition; otherwise the values in memory are reused. 0: always. */
static void nest_stage_at(nest *t, uint32_t stage, const nest_run *consumer, wick_value fresh)
{
  const wick_stage *st = &t->s->stage[stage];
  const wick_node *n = &t->g->node[st->node];
  nest_box box = {.any = false};
  for (uint32_t k = 0; k < n->nout; k++)
    nest_boxes(t, consumer, (wick_value){n->first.id + k}, &box);
  if (!box.any) return; /* the loop does not read it */
  nest_box_own(t, n, &box);
  uint32_t rank = wick_info_of(t->g, n->first)->rank;
  for (uint32_t k = 0; k < n->nout; k++) {
    nest_place *p = &t->place[n->first.id + k];
    memcpy(p->lo, box.lo, sizeof p->lo);
    p->in_memory = st->store != WICK_STORE_REG;
    if (p->in_memory)
      nest_scratch(t, p, wick_type_of(t->g, (wick_value){n->first.id + k}), rank, box.extent);
  }
  bool kept = fresh.id && st->store != WICK_STORE_REG;
  uint32_t mark = nest_known_mark(t);
  if (kept) {
    wick_build_open(&t->b, WICK_OP_if, 1, &fresh, NULL, 0, NULL);
    wick_region_begin(&t->b, 0, NULL);
  }
  nest_stage(t, stage, box.lo, box.extent);
  if (kept) {
    wick_yield(&t->b, 0, NULL);
    nest_known_rewind(t, mark);
    wick_region_begin(&t->b, 0, NULL);
    wick_yield(&t->b, 0, NULL);
    wick_build_close(&t->b);
  }
  for (uint32_t k = 0; k < n->nout; k++) /* from here to the end of the loop it is only read */
    t->place[n->first.id + k].frozen = true;
}

void nest_attached(nest *t, const nest_run *r, uint32_t loop, wick_value fresh)
{
  for (uint32_t i = 0; i < t->s->nstage && !t->b.status; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (st->where == WICK_AT && st->consumer == r->stage && st->consumer_loop == loop)
      nest_stage_at(t, i, r, fresh);
  }
}

nest_run nest_run_of(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent)
{
  const wick_stage *st = &t->s->stage[stage];
  nest_run r = {.stage = stage,
                .st = st,
                .node = &t->g->node[st->node],
                .vsym = WICK_DIM_INVALID,
                .lanes = 1,
                .active = wick_dim_const(1),
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

/* A stage that is computed in parallel loop l has the same values in all tasks that differ only in
 * the loops inside l. These tasks are consecutive, so that only the first of them in this call
 * computes it. Returns the condition; 0: every task computes it. */
static wick_value nest_fresh(nest *t, const nest_run *r, uint32_t l, const wick_dim *index)
{
  wick_value first = {0};
  if (t->again) return first; /* a task has several parts, which reuse the same memory */
  for (uint32_t k = l + 1; k < r->st->loops.n && r->st->loops.at[k].kind == WICK_PARALLEL; k++) {
    if (wick_dim_is_const(index[k])) continue;
    wick_value zero = nest_binary(t, WICK_OP_eq, nest_dim(t, NULL, index[k]), nest_i64(t, 0));
    first = first.id ? nest_binary(t, WICK_OP_and, first, zero) : zero;
  }
  return first.id ? nest_binary(t, WICK_OP_or, first, nest_binary(t, WICK_OP_eq, t->task, t->begin))
                  : first;
}

static void nest_parallel(nest *t, nest_run *r, uint32_t l, wick_dim *index);

/* `index` has the indices of all parallel loops. */
static void nest_task_code(nest *t, nest_run *r, uint32_t l, void *index)
{
  wick_dim scratch = t->scratch;
  nest_attached(t, r, l, nest_fresh(t, r, l, index));
  nest_parallel(t, r, l + 1, index);
  t->scratch = scratch;
}

static void nest_task(nest *t, nest_run *r, uint32_t l, void *index)
{
  nest_guards(t, r, l, nest_task_code, index);
}

/* Emits a whole step of parallel loop l, the `index`-th. */
static void nest_task_whole(nest *t, nest_run *r, uint32_t l, wick_dim *index, wick_dim at)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  nest_saved s = nest_narrow(t, r, loop, at, wick_dim_const(loop->factor));
  nest_task(t, r, l, index);
  nest_restore(r, loop, s);
}

/* Emits whole steps, the last one moved back. The remainder belongs to the last task. */
static void nest_parallel_overlap(nest *t, nest_run *r, uint32_t l, wick_dim *index)
{
  const nest_inner in = {.body = nest_task, .arg = index};
  int64_t size = r->st->loops.at[l].factor;
  uint32_t known = nest_known_mark(t);
  wick_value c = nest_binary(t, WICK_OP_lt, nest_dim(t, NULL, index[l]),
                             nest_dim(t, NULL, nest_overlap_whole(t, r, l)));
  wick_build_open(&t->b, WICK_OP_if, 1, &c, NULL, 0, NULL);
  wick_region_begin(&t->b, 0, NULL);
  nest_overlap_step(t, r, l, wick_dim_mul(t->m->dims, index[l], wick_dim_const(size)), size, &in);
  wick_yield(&t->b, 0, NULL);
  nest_known_rewind(t, known);
  wick_region_begin(&t->b, 0, NULL);
  nest_overlap_rest(t, r, l, &in);
  wick_yield(&t->b, 0, NULL);
  nest_known_rewind(t, known);
  wick_build_close(&t->b);
}

/* Emits parallel loop l, whose index the task determines. A smaller last step has separate code. */
static void nest_parallel(nest *t, nest_run *r, uint32_t l, wick_dim *index)
{
  if (l == r->st->loops.n || r->st->loops.at[l].kind != WICK_PARALLEL) {
    nest_loops(t, r, l);
    return;
  }
  wick_dims *dims = t->m->dims;
  const wick_sloop *loop = &r->st->loops.at[l];
  const nest_inner in = {.body = nest_task, .arg = index};
  wick_dim total = r->total[loop->axis], size = wick_dim_const(loop->factor),
           whole = wick_dim_floordiv(dims, total, size), rest = wick_dim_mod(dims, total, size),
           at = nest_behind(t, total, whole, loop->factor);
  uint32_t known = nest_known_mark(t);
  if (wick_dim_is(rest, 0) || nest_high(t, whole) == 0) {
    if (wick_dim_is(rest, 0))
      nest_task_whole(t, r, l, index, wick_dim_mul(dims, index[l], size));
    else
      nest_rest(t, r, l, wick_dim_const(0), rest, &in);
    nest_known_rewind(t, known);
    return;
  }
  if (loop->tail == WICK_OVERLAP && !wick_dim_is_const(total)) {
    nest_parallel_overlap(t, r, l, index);
    return;
  }
  wick_value c = nest_binary(t, WICK_OP_lt, nest_dim(t, NULL, index[l]), nest_dim(t, NULL, whole));
  wick_build_open(&t->b, WICK_OP_if, 1, &c, NULL, 0, NULL);
  uint32_t inside = nest_known_mark(t);
  wick_region_begin(&t->b, 0, NULL);
  /* here the index is less than `whole`: a symbol with this range avoids guards */
  wick_dim narrow = nest_index_open(t, loop->name, whole);
  wick_push(t->tmp, &t->symbols,
            (struct nest_symbol){.sym = narrow,
                                 .value = nest_dim(t, NULL, index[l]),
                                 .prefetch = loop->prefetch,
                                 .level = l,
                                 .most = wick_dim_sub(dims, whole, wick_dim_const(1))});
  nest_task_whole(t, r, l, index, wick_dim_mul(dims, narrow, size));
  if (t->symbols.n) t->symbols.n--;
  wick_yield(&t->b, 0, NULL);
  nest_known_rewind(t, inside);
  wick_region_begin(&t->b, 0, NULL);
  if (loop->tail == WICK_OVERLAP) /* the last step is moved back */
    at = wick_dim_sub(dims, total, size), rest = size;
  nest_rest(t, r, l, at, rest, &in);
  wick_yield(&t->b, 0, NULL);
  nest_known_rewind(t, inside);
  wick_build_close(&t->b);
}

/* Emits a loop over tasks begin .. end-1 of the output's parallel loops. */
static wick_dim nest_tasks(nest *t, wick_value begin, wick_value end)
{
  nest_run r = nest_run_of(t, t->s->output, NULL, NULL);
  const wick_stage *out = r.st;
  wick_dims *dims = t->m->dims;
  wick_dim tasks = wick_dim_const(1), *count = wick_new(t->tmp, wick_dim, out->loops.n + 1),
           *index = wick_new(t->tmp, wick_dim, out->loops.n + 1);
  wick_dim *total = wick_dup(t->tmp, wick_dim, r.total,
                             /* the extents inside outer parallel loops of the same axis */
                             out->naxis);
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
  wick_push(t->tmp, &t->symbols,
            (struct nest_symbol){.sym = rest, .value = task, .most = WICK_DIM_INVALID});
  for (uint32_t k = n; k-- > 0;) {
    index[k] = k ? wick_dim_mod(dims, rest, count[k]) : rest;
    rest = wick_dim_floordiv(dims, rest, count[k]);
    if (wick_dim_is_const(index[k])) continue;
    /* A symbol of its own keeps divisions out of address arithmetic. */
    wick_dim sym = nest_index_open(t, out->loops.at[k].name, count[k]);
    wick_push(t->tmp, &t->symbols,
              (struct nest_symbol){.sym = sym,
                                   .value = nest_dim(t, NULL, index[k]),
                                   .prefetch = out->loops.at[k].prefetch,
                                   .level = k,
                                   .most = wick_dim_sub(dims, count[k], wick_dim_const(1))});
    index[k] = sym;
  }
  if (n == 0) /* there is a single task: stages at the root first */
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

/* Gives each symbol of the group's sizes its value, a parameter. */
static void nest_sizes(nest *t)
{
  wick_dim_list sizes = wick_func_sizes(t->g, t->tmp);
  for (uint32_t k = 0; k < sizes.n; k++) {
    const wick_term *term = wick_dim_get(t->m->dims, sizes.at[k]).term;
    const char *name = wick_dim_atom(t->m->dims, term->atom[0])->name;
    wick_value v = wick_build_param(&t->b, wick_type_scalar(t->m, WICK_I64, 1), WICK_IN, name);
    wick_push(t->tmp, &t->symbols,
              (struct nest_symbol){.sym = sizes.at[k], .value = v, .most = WICK_DIM_INVALID});
  }
}

/* Assigns memory to the kernel's parameters and to the results of stages. */
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
  nest_sizes(t);
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
  t->scratch = t->scratch_peak = wick_dim_const(0);
  t->within = wick_new(tmp, bool, s->nstage);
  const char *name =
      options && options->name ? options->name : wick_str_printf(tmp, "%s.loop", group->name);
  wick_build_begin(&t->b, group->module, WICK_LOOP, name, mem);
  wick_value begin = {0}, end = {0};
  nest_places(t, options, &begin, &end);
  wick_dim tasks = t->b.status ? wick_dim_const(0) : nest_tasks(t, begin, end);
  wick_build_return(&t->b, 0, NULL);
  wick_func *f = NULL;
  WICK_TRY(wick_build_end(&t->b, &f));
  wick_dim scratch = wick_dim_mul(t->m->dims, t->scratch_peak, wick_dim_const(NEST_PLACE));
  *out = (wick_kernel_info){f, tasks, scratch};
  return NULL;
}
