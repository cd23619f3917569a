/* Pools: the largest, the mean, the p-norm of each window. */
#include <math.h>

#include "ops/ref.h"
#include "ops/window.h"

/* Attributes, after those of every window. */
enum { POOL_KERNEL = WICK_WINDOW_NATTR, POOL_CEIL, POOL_OWN };
enum { MAX_POOL_INDICES = POOL_OWN, MAX_POOL_COLUMN_MAJOR };
enum { AVG_POOL_COUNT_PAD = POOL_OWN };
enum { LP_POOL_P = POOL_OWN };

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
  if (c->attr[POOL_KERNEL].n + 2 != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "kernel has %u numbers, wanted %u",
                           c->attr[POOL_KERNEL].n, x->rank - 2);
  wick_window w = wick_window_of(c->attr, x->rank - 2, c->attr[POOL_KERNEL].ints);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], x->dim[1]};
  for (uint32_t k = 0; k < w.n; k++)
    WICK_TRY(wick_window_size(c, &w, k, x->dim[2 + k], c->attr[POOL_CEIL].i, &dim[2 + k]));
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

static wick_status max_pool_infer(wick_infer *c)
{
  WICK_TRY(pool_infer(c));
  if (!c->attr[MAX_POOL_INDICES].i) return NULL;
  c->out[1].type = wick_type_with_elem(c->module, c->out[0].type, WICK_I64);
  c->nout = 2;
  return NULL;
}

/* ---- reference ---- */

typedef struct pool_window { /* one output */
  const wick_window3 *w;
  const wick_scalar *x; /* the image of its channel */
  int64_t out[3];
  wick_elem elem;
} pool_window;

/* Calls visit for each element of the window that lies in x, in order. */
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

typedef struct pool_sum {
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
  s->sum += pow(fabs(x.f), s->p);
}

/* How many elements of the window lie in x or its declared padding. */
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
  pool_visit(p, pool_take_max, &best);
  if (c->nout > 1) {
    const wick_window3 *w = p->w;
    int64_t z = best.at / (w->in[1] * w->in[2]), y = best.at / w->in[2] % w->in[1],
            x = best.at % w->in[2];
    if (c->attr[MAX_POOL_COLUMN_MAJOR].i) best.at = (x * w->in[1] + y) * w->in[0] + z;
    if (best.at >= 0) best.at += image * w->in[0] * w->in[1] * w->in[2];
    wick_store_elem(WICK_I64, c->out[1].data, at, (wick_scalar){.i = best.at});
  }
  return best.value;
}

static wick_scalar pool_one(const wick_ref *c, const pool_window *p, int64_t image, uint64_t at)
{
  if (c->op == WICK_OP_max_pool) return pool_max(c, p, image, at);
  pool_sum s = {0};
  if (c->op == WICK_OP_avg_pool) {
    pool_visit(p, pool_take_sum, &s);
    int64_t count = c->attr[AVG_POOL_COUNT_PAD].i ? pool_padded_count(p) : s.count;
    return (wick_scalar){.f = s.sum / (double)count};
  }
  s.p = (double)c->attr[LP_POOL_P].i;
  pool_visit(p, pool_take_power, &s);
  return (wick_scalar){.f = pow(s.sum, 1 / s.p)};
}

static wick_status pool_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  wick_window window = wick_window_of(c->attr, x->rank - 2, c->attr[POOL_KERNEL].ints);
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

const wick_op wick_op_max_pool = {
    .name = "max_pool",
    .doc = "The largest element of each window over x [N, C, spatial...], as `max` finds it (NaN "
           "where there is one); padding takes no part, and a window without elements gives the "
           "type's least. With `indices` a second result: the first place of it in x as one row of "
           "elements (with `column_major`, each image's first spatial index runs fastest). `ceil` "
           "rounds sizes up; windows that would begin in the end pad are left out",
    .nin = {1, 1},
    .nout = {1, 2},
    .attr = {POOL_ATTRS,
             {"indices", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"column_major", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = max_pool_infer,
    .ref = pool_ref,
};

const wick_op wick_op_avg_pool = {
    .name = "avg_pool",
    .doc = "The mean of each window over x [N, C, spatial...]: the sum of its elements in x, in "
           "order, divided by their number; with `count_pad`, elements in the declared padding "
           "count as zeros. f16 and bf16 are summed in f32",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {POOL_ATTRS, {"count_pad", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = pool_infer,
    .ref = pool_ref,
};

const wick_op wick_op_lp_pool = {
    .name = "lp_pool",
    .doc = "(sum |x|^p)^(1/p) of each window over x [N, C, spatial...]; padding takes no part",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {POOL_ATTRS, {"p", WICK_ATTR_INT, 2, false, NULL, 1, 1024}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = pool_infer,
    .ref = pool_ref,
};
