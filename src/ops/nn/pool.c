/* Pools: the maximum, mean or p-norm of each window. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/nn/window.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/work.h"

#define POOL_ATTRS                                                                                 \
  WICK_WINDOW_ATTRS, {"kernel", WICK_ATTR_INTS, 0, true, NULL, 1, WICK_WINDOW_LIMIT},              \
  {                                                                                                \
    "ceil", WICK_ATTR_BOOL, 0, false, NULL, 0, 0                                                   \
  }

static wick_status pool_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(wick_window_check(c, x->rank, c->attr));
  if (c->attr[WICK_ATTR_max_pool_kernel].n + 2 != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "kernel has %u numbers, expected %u",
                           c->attr[WICK_ATTR_max_pool_kernel].n, x->rank - 2);
  wick_window w = wick_window_of(c->attr, x->rank - 2, c->attr[WICK_ATTR_max_pool_kernel].ints);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], x->dim[1]};
  for (uint32_t k = 0; k < w.n; k++)
    WICK_TRY(
        wick_window_size(c, &w, k, x->dim[2 + k], c->attr[WICK_ATTR_max_pool_ceil].i, &dim[2 + k]));
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

static wick_status max_pool_infer(wick_infer *c)
{
  WICK_TRY(pool_infer(c));
  if (!c->attr[WICK_ATTR_max_pool_indices].i) return NULL;
  c->out[1].type = wick_type_with_elem(c->module, c->out[0].type, WICK_I64);
  c->nout = 2;
  return NULL;
}

/* ---- reference ---- */

typedef struct pool_window { /* one output */
  const wick_window3 *w;
  const wick_scalar *x; /* the image of the window's channel */
  int64_t out[3];
  wick_elem elem;
} pool_window;

/* Calls visit for each element of the window that is in x, in order. */
static void pool_visit(const pool_window *p, void (*visit)(void *arg, wick_scalar x, int64_t at),
                       void *arg)
{
  const wick_window3 *w = p->w;
  for (int64_t kz = 0; kz < w->kernel[0]; kz++)
    for (int64_t ky = 0; ky < w->kernel[1]; ky++)
      for (int64_t kx = 0; kx < w->kernel[2]; kx++) {
        int64_t z = wick_window3_at(w, 0, p->out[0], kz), y = wick_window3_at(w, 1, p->out[1], ky),
                x = wick_window3_at(w, 2, p->out[2], kx);
        if (z < 0 || y < 0 || x < 0) continue;
        int64_t at = (z * w->in[1] + y) * w->in[2] + x;
        visit(arg, p->x[at], at);
      }
}

typedef struct pool_best {
  wick_elem elem;
  wick_scalar value;
  int64_t at;
} pool_best;

static bool pool_above(wick_elem e, wick_scalar x, wick_scalar best)
{
  if (wick_elem_is_float(e)) return !isnan(best.f) && (isnan(x.f) || x.f > best.f);
  return wick_elem_class(e) == WICK_UINT ? (uint64_t)x.i > (uint64_t)best.i : x.i > best.i;
}

static void pool_take_max(void *arg, wick_scalar x, int64_t at)
{
  pool_best *best = arg;
  if (best->at < 0 || pool_above(best->elem, x, best->value)) best->value = x, best->at = at;
}

/* Without indices, the maximum is that of the operator `max`: +0 is larger than -0. */
static void pool_take_larger(void *arg, wick_scalar x, int64_t at)
{
  (void)at;
  pool_best *best = arg;
  wick_scalar both[2] = {best->value, x};
  best->value = wick_ops[WICK_OP_max]->eval(NULL, best->elem, best->elem, both);
}

typedef struct pool_sum {
  wick_elem elem;
  double sum, p;
  int64_t count;
} pool_sum;

static void pool_take_sum(void *arg, wick_scalar x, int64_t at)
{
  (void)at;
  pool_sum *s = arg;
  s->sum += x.f;
  s->count++;
}

static void pool_take_power(void *arg, wick_scalar x, int64_t at)
{
  (void)at;
  pool_sum *s = arg;
  s->sum = wick_ref_range(s->elem, s->sum + wick_ref_range(s->elem, pow(fabs(x.f), s->p)));
}

/* Returns how many elements of the window are in x or its declared padding. */
static int64_t pool_padded_count(const pool_window *p)
{
  int64_t count = 1;
  for (uint32_t k = 0; k < 3; k++) {
    const wick_window3 *w = p->w;
    int64_t n = 0;
    for (int64_t i = 0; i < w->kernel[k]; i++)
      n += p->out[k] * w->stride[k] + i * w->dilation[k] < w->begin[k] + w->in[k] + w->end[k];
    count *= n;
  }
  return count;
}

static wick_scalar pool_max(const wick_ref *c, const pool_window *p, int64_t image, uint64_t at)
{
  pool_best best = {.elem = p->elem, .value = wick_ops[WICK_OP_max]->neutral(p->elem), .at = -1};
  pool_visit(p, c->nout > 1 ? pool_take_max : pool_take_larger, &best);
  if (c->nout > 1) {
    const wick_window3 *w = p->w;
    int64_t z = best.at / (w->in[1] * w->in[2]), y = best.at / w->in[2] % w->in[1],
            x = best.at % w->in[2];
    if (c->attr[WICK_ATTR_max_pool_column_major].i) best.at = (x * w->in[1] + y) * w->in[0] + z;
    if (best.at >= 0) best.at += image * w->in[0] * w->in[1] * w->in[2];
    wick_store_elem(WICK_I64, c->out[1].data, at, (wick_scalar){.i = best.at});
  }
  return best.value;
}

static wick_scalar pool_one(const wick_ref *c, const pool_window *p, int64_t image, uint64_t at)
{
  if (c->op == WICK_OP_max_pool) return pool_max(c, p, image, at);
  pool_sum s = {.elem = p->elem};
  if (c->op == WICK_OP_avg_pool) {
    pool_visit(p, pool_take_sum, &s);
    int64_t count = c->attr[WICK_ATTR_avg_pool_count_pad].i ? pool_padded_count(p) : s.count;
    return (wick_scalar){.f = s.sum / (double)count};
  }
  s.p = (double)c->attr[WICK_ATTR_lp_pool_p].i;
  pool_visit(p, pool_take_power, &s);
  return (wick_scalar){.f = pow(s.sum, 1 / s.p)};
}

static wick_status pool_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  wick_window window =
      wick_window_of(c->attr, x->rank - 2, c->attr[WICK_ATTR_max_pool_kernel].ints);
  wick_window3 w = wick_window3_of(&window, x, out);
  const wick_scalar *all = wick_ref_load(c->mem, x);
  int64_t size = wick_ref_product(x, 2, x->rank);
  uint64_t at = 0;
  for (int64_t image = 0; image < out->dim[0] * out->dim[1]; image++) {
    pool_window p = {.w = &w, .x = all + image * size, .elem = x->elem};
    for (p.out[0] = 0; p.out[0] < w.out[0]; p.out[0]++)
      for (p.out[1] = 0; p.out[1] < w.out[1]; p.out[1]++)
        for (p.out[2] = 0; p.out[2] < w.out[2]; p.out[2]++, at++) {
          wick_scalar v = pool_one(c, &p, image, at);
          wick_ref_write(out, at, 1, &v);
        }
  }
  return NULL;
}

/* ---- stages ---- */

/* The stage's axes, and the index in x of the window's element. */
typedef struct pool_stage {
  wick_window w;
  const wick_type_info *x;
  wick_elem acc;
  wick_axis axis[2 + 2 * WICK_WINDOW_MAX];
  uint32_t naxis;
  wick_dim index[2 + WICK_WINDOW_MAX];
  bool outside; /* the element may be in the padding */
} pool_stage;

static pool_stage pool_stage_of(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *out = wick_type_get(b->module, c->out_type[0]);
  pool_stage s = {.x = wick_built_info(b, c->in[0]), .naxis = out->rank};
  uint32_t nsp = out->rank - 2u;
  s.w = wick_window_of(c->attr, nsp, c->attr[WICK_ATTR_max_pool_kernel].ints);
  s.acc = wick_stage_arith(s.x->elem);
  s.axis[0] = wick_make_axis(b, "n", out->dim[0], false);
  s.axis[1] = wick_make_axis(b, "c", out->dim[1], false);
  for (uint32_t k = 0; k < 2; k++) s.index[k] = s.axis[k].sym;
  for (uint32_t k = 0; k < nsp; k++) {
    s.axis[2 + k] = wick_make_axis(b, wick_window_axis(nsp, k), out->dim[2 + k], false);
    wick_axis *tap = &s.axis[s.naxis++];
    *tap = wick_make_axis(b, wick_window_tap(nsp, k), wick_dim_const(s.w.kernel[k]), true);
    s.index[2 + k] = wick_window_at(b->module->dims, &s.w, k, s.axis[2 + k].sym, tap->sym);
  }
  s.outside = wick_window_padded(&s.w) || c->attr[WICK_ATTR_max_pool_ceil].i;
  return s;
}

static wick_value pool_read(const wick_compute *c, const pool_stage *s, wick_value otherwise)
{
  return wick_read(c->b, c->in[0], s->index, 0, NULL, s->outside ? otherwise : (wick_value){0});
}

/* Converts `at`, a position with the first spatial index slowest, to the position with the first
 * spatial index fastest. */
static wick_value pool_column_major(wick_builder *b, const pool_stage *s, wick_value at)
{
  uint32_t n = s->w.n;
  wick_dims *t = b->module->dims;
  wick_dim size = wick_dim_const(1), step[WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < n; k++) step[k] = size, size = wick_dim_mul(t, size, s->x->dim[2 + k]);
  wick_dim image = wick_dim_add(t, wick_dim_mul(t, s->axis[0].sym, s->x->dim[1]), s->axis[1].sym);
  wick_value sum = wick_index(b, wick_dim_mul(t, image, size));
  for (uint32_t k = n; k-- > 0;) {
    wick_value extent = wick_stage_number(b, s->x->dim[2 + k], WICK_I64),
               i = wick_build2(b, WICK_OP_mod, at, extent);
    at = wick_build2(b, WICK_OP_div, at, extent);
    sum = wick_build2(b, WICK_OP_add, sum,
                      wick_build2(b, WICK_OP_mul, i, wick_stage_number(b, step[k], WICK_I64)));
  }
  return sum;
}

static void max_pool_indices(const wick_compute *c, const pool_stage *s)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_best_rule rule = {.at = WICK_I64};
  wick_best state =
      wick_stage_best(b, &rule, "max_pool", s->naxis, s->axis, 2, c->out_type, s->x->elem);
  wick_dim at = wick_dim_const(0);
  for (uint32_t k = 0; k < s->x->rank; k++)
    at = wick_dim_add(t, wick_dim_mul(t, at, s->x->dim[k]), s->index[k]);
  wick_best element = {pool_read(c, s, wick_stage_zero(b, s->x->elem)), wick_index(b, at)};
  wick_value inside = {0};
  if (s->outside) inside = wick_stage_inside(b, s->w.n, s->index + 2, s->x->dim + 2);
  wick_best r = wick_stage_best_finish(b, &rule, state, element, inside);
  wick_value out[2] = {r.value, r.at};
  if (c->attr[WICK_ATTR_max_pool_column_major].i) {
    wick_value none = wick_build2(b, WICK_OP_lt, r.at, wick_build_i64(b, 0));
    out[1] = wick_build3(b, WICK_OP_where, none, r.at, pool_column_major(b, s, r.at));
  }
  wick_yield(b, 2, out);
  c->out[0] = wick_build_close(b);
  c->out[1] = (wick_value){c->out[0].id + 1};
}

/* The least value of an index, and its largest value minus the size of the axis. */
typedef struct pool_ends {
  int64_t before, behind;
} pool_ends;

static pool_ends pool_ends_of(wick_dims *t, const pool_stage *s, wick_dim index, wick_dim size)
{
  pool_ends e;
  int64_t other;
  wick_dim least, most;
  wick_axes_ends(t, index, s->naxis, s->axis, &least, &most);
  wick_dim_range(t, least, &e.before, &other);
  wick_dim_range(t, wick_dim_sub(t, most, size), &other, &e.behind);
  return e;
}

/* Replaces elements outside of x by the element at the edge, along each axis where every window
 * contains that element. A maximum does not change if it reads an element twice. The last axis is
 * excluded, because its elements are read as vectors. */
static void pool_clamp(wick_dims *t, pool_stage *s)
{
  bool outside = false;
  for (uint32_t k = 0; k < s->w.n; k++) {
    wick_dim in = s->x->dim[2 + k], *at = &s->index[2 + k], zero = wick_dim_const(0);
    pool_ends first = pool_ends_of(t, s, wick_window_at(t, &s->w, k, s->axis[2 + k].sym, zero), in),
              all = pool_ends_of(t, s, *at, in);
    if (all.before >= 0 && all.behind < 0) continue;
    bool edge = s->w.dilation[k] == 1 && first.before + s->w.kernel[k] > 0 && first.behind < 0;
    outside = outside || !edge || k + 1 == s->w.n;
    if (!edge || k + 1 == s->w.n) continue;
    if (all.behind >= 0) *at = wick_dim_min(t, *at, wick_dim_sub(t, in, wick_dim_const(1)));
    if (all.before < 0) *at = wick_dim_max(t, *at, zero);
  }
  s->outside = s->outside && outside;
}

static void max_pool_compute(const wick_compute *c)
{
  pool_stage s = pool_stage_of(c);
  if (c->attr[WICK_ATTR_max_pool_indices].i) {
    max_pool_indices(c, &s);
    return;
  }
  pool_clamp(c->b->module->dims, &s);
  wick_type one = wick_type_scalar(c->b->module, s.x->elem, 1), out = c->out_type[0];
  wick_value best = wick_stage_fold(c->b, "max_pool", s.naxis, s.axis, out, WICK_OP_max, s.acc);
  wick_value x = pool_read(c, &s, wick_build_neutral(c->b, WICK_OP_max, one));
  best = wick_build2(c->b, WICK_OP_max, best, wick_build_cast(c->b, x, s.acc));
  c->out[0] = wick_stage_end(c->b, wick_stage_finish(c->b, best, WICK_OP_max), out);
}

/* Returns how many taps along k are in [-before, in + after), by index arithmetic. */
static wick_dim pool_count(wick_dims *t, const pool_stage *s, uint32_t k, int64_t before,
                           int64_t after)
{
  wick_dim first = wick_window_at(t, &s->w, k, s->axis[2 + k].sym, wick_dim_const(0)),
           d = wick_dim_const(s->w.dilation[k]), kernel = wick_dim_const(s->w.kernel[k]);
  wick_dim lo = wick_dim_sub(t, wick_dim_const(-before), first),
           hi = wick_dim_sub(t, wick_dim_add(t, s->x->dim[2 + k], wick_dim_const(after)), first);
  lo = wick_dim_max(t, wick_dim_ceildiv(t, lo, d), wick_dim_const(0));
  hi = wick_dim_min(t, wick_dim_ceildiv(t, hi, d), kernel);
  return wick_dim_sub(t, hi, lo);
}

static void avg_pool_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  pool_stage s = pool_stage_of(c);
  bool pads = c->attr[WICK_ATTR_avg_pool_count_pad].i;
  wick_value state =
      wick_stage_fold(b, "avg_pool", s.naxis, s.axis, c->out_type[0], WICK_OP_add, s.acc);
  wick_value x = wick_build_cast(b, pool_read(c, &s, wick_stage_zero(b, s.x->elem)), s.acc);
  state = wick_stage_finish(b, wick_build2(b, WICK_OP_add, state, x), WICK_OP_add);
  wick_value count = {0};
  wick_dim number = wick_dim_const(1);
  /* counts that depend on the position are multiplied at run time */
  for (uint32_t k = 0; k < s.w.n; k++) {
    wick_dim n = s.outside ? pool_count(t, &s, k, pads ? s.w.begin[k] : 0, pads ? s.w.end[k] : 0)
                           : wick_dim_const(s.w.kernel[k]);
    if (wick_dim_is_const(n)) {
      number = wick_dim_mul(t, number, n);
      continue;
    }
    wick_value v = wick_index(b, n);
    count = count.id ? wick_build2(b, WICK_OP_mul, count, v) : v;
  }
  if (count.id && !wick_dim_is(number, 1))
    count = wick_build2(b, WICK_OP_mul, count, wick_stage_number(b, number, WICK_I64));
  count = count.id ? wick_build_cast(b, count, s.acc) : wick_stage_number(b, number, s.acc);
  c->out[0] = wick_stage_end(b, wick_build2(b, WICK_OP_div, state, count), c->out_type[0]);
}

static void lp_pool_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  pool_stage s = pool_stage_of(c);
  int64_t p = c->attr[WICK_ATTR_lp_pool_p].i;
  wick_value state =
      wick_stage_fold(b, "lp_pool", s.naxis, s.axis, c->out_type[0], WICK_OP_add, s.acc);
  wick_value x = wick_build_cast(b, pool_read(c, &s, wick_stage_zero(b, s.x->elem)), s.acc);
  if (p == 2) {
    state = wick_stage_muladd(b, x, x, state);
  } else {
    x = wick_build1(b, WICK_OP_abs, x);
    if (p != 1) x = wick_build2(b, WICK_OP_pow, x, wick_stage_number(b, wick_dim_const(p), s.acc));
    state = wick_build2(b, WICK_OP_add, state, x);
  }
  state = wick_stage_finish(b, state, WICK_OP_add);
  if (p == 2) {
    state = wick_build1(b, WICK_OP_sqrt, state);
  } else if (p != 1) {
    wick_type one = wick_type_scalar(b->module, s.acc, 1);
    wick_value root = wick_build_const(b, one, 1 / (double)p, 0);
    state = wick_build2(b, WICK_OP_pow, state, root);
  }
  c->out[0] = wick_stage_end(b, state, c->out_type[0]);
}

const wick_op wick_op_max_pool = {
    .name = "max_pool",
    .doc = "The largest element of each window over x [N, C, spatial...], as `max` finds it: NaN "
           "if there is one. Padding does not count; a window without elements gives the least "
           "number of the type. With `indices` there is a second result, the index of the first "
           "such element in x, counted through all of x (with `column_major`, the first spatial "
           "index of each image runs fastest). `ceil` rounds the result's sizes up; a window that "
           "would begin in the padding at the end is left out",
    .nin = {1, 1},
    .nout = {1, 2},
    .attr = {POOL_ATTRS,
             {"indices", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"column_major", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_max_pool,
    .layout = wick_layout_pool,
    .infer = max_pool_infer,
    .ref = pool_ref,
    .products = wick_products_pool,
    .compute = max_pool_compute,
    .grad = wick_grad_max_pool,
    .batch = {wick_batch_max_pool, .in = {1}, .out = {1, 1}},
};

const wick_op wick_op_avg_pool = {
    .name = "avg_pool",
    .doc = "The mean of each window over x [N, C, spatial...]: the sum of the window's elements "
           "in x, in order, divided by their number. With `count_pad`, elements in the declared "
           "padding count as zeros. f16 and bf16 are summed in f32",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {POOL_ATTRS, {"count_pad", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .elems = WICK_FLOATS,
    .simplify = wick_simplify_avg_pool,
    .layout = wick_layout_pool,
    .infer = pool_infer,
    .ref = pool_ref,
    .products = wick_products_pool,
    .compute = avg_pool_compute,
    .grad = wick_grad_avg_pool,
    .linear = {1},
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};

const wick_op wick_op_lp_pool = {
    .name = "lp_pool",
    .doc = "(sum |x|^p)^(1/p) of each window over x [N, C, spatial...]. Padding does not count",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {POOL_ATTRS, {"p", WICK_ATTR_INT, 2, false, NULL, 1, 1024}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = pool_infer,
    .ref = pool_ref,
    .products = wick_products_pool,
    .compute = lp_pool_compute,
    .grad = wick_grad_lp_pool,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
