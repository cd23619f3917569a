/* Sums, products, extremes, means and norms along axes. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/compose.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* Returns the set of reduced axes as bits: all axes if none is given. */
static wick_status reduce_axes(const wick_infer *c, uint32_t rank, uint32_t *out)
{
  const wick_attr *a = &c->attr[WICK_ATTR_reduce_sum_axes];
  *out = a->n ? 0 : (1u << rank) - 1;
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t axis;
    WICK_TRY(wick_infer_axis(c, a->ints[i], rank, &axis));
    if (*out >> axis & 1) return wick_infer_fail(c, WICK_ETYPE, "axis %u occurs twice", axis);
    *out |= 1u << axis;
  }
  return NULL;
}

static uint32_t reduce_set(const wick_attr *a, uint32_t rank)
{
  uint32_t set = a->n ? 0 : (1u << rank) - 1;
  for (uint32_t i = 0; i < a->n; i++)
    set |= 1u << (a->ints[i] < 0 ? a->ints[i] + rank : a->ints[i]);
  return set;
}

/* Returns the operator by which a fold combines, or 0 for operators that are expanded. */
static wick_opcode reduce_by(wick_opcode op)
{
  switch (op) {
  case WICK_OP_reduce_sum:
  case WICK_OP_reduce_mean: return WICK_OP_add;
  case WICK_OP_reduce_prod: return WICK_OP_mul;
  case WICK_OP_reduce_max: return WICK_OP_max;
  case WICK_OP_reduce_min: return WICK_OP_min;
  default: return WICK_OP_none;
  }
}

/* Computes the contents of small integer tensors: shape arithmetic multiplies and adds
 * dimensions. */
static void reduce_content(wick_infer *c, uint32_t set)
{
  wick_tensor x;
  wick_opcode by = c->op == WICK_OP_reduce_mean ? WICK_OP_none : reduce_by(c->op);
  wick_dim n = wick_type_numel(c->module, c->out[0].type);
  if (!by || !c->in[0]->content || !wick_infer_concrete(c, c->in[0]->type, &x) ||
      !c->in[0]->ncontent || !wick_dim_is_const(n) || n.v > WICK_MAX_CONTENT)
    return;
  wick_dim *content = wick_new(&c->module->mem, wick_dim, (size_t)n.v);
  bool *begun = wick_new(c->mem, bool, (size_t)n.v);
  int64_t index[WICK_MAX_RANK] = {0};
  uint32_t from = 0;
  do {
    int64_t at = 0;
    for (uint32_t k = 0; k < x.rank; k++)
      if (!(set >> k & 1)) at = at * x.dim[k] + index[k];
    wick_dim pair[2] = {content[at], c->in[0]->content[from++]};
    content[at] = begun[at] ? wick_ops[by]->content(c->module->dims, pair) : pair[1];
    begun[at] = true;
  } while (wick_ref_next(x.rank, x.dim, index));
  for (int64_t k = 0; k < n.v; k++)
    if (wick_dim_eq(content[k], WICK_DIM_INVALID)) return;
  c->out[0].content = content;
  c->out[0].ncontent = (uint32_t)n.v;
}

static wick_status reduce_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t set, rank = 0;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(reduce_axes(c, x->rank, &set));
  for (uint32_t k = 0; k < x->rank; k++) {
    if (!(set >> k & 1))
      dim[rank++] = x->dim[k];
    else if (c->attr[WICK_ATTR_reduce_sum_keepdims].i)
      dim[rank++] = wick_dim_const(1);
  }
  wick_infer_out(c, 0, x->elem, rank, dim);
  if (c->op == WICK_OP_reduce_extremes) {
    wick_infer_out(c, 1, x->elem, rank, dim);
    c->nout = 2;
  } else {
    reduce_content(c, set);
  }
  return NULL;
}

/* ---- reference ---- */

/* Combines the state with one more element. */
static wick_scalar reduce_step(const wick_ref *c, wick_elem e, wick_scalar s, wick_scalar x)
{
  bool f = wick_elem_is_float(e);
  uint64_t a = (uint64_t)s.i, b = (uint64_t)x.i;
  switch (c->op) {
  case WICK_OP_reduce_prod:
    return f ? (wick_scalar){.f = s.f * x.f} : (wick_scalar){.i = (int64_t)(a * b)};
  case WICK_OP_reduce_max:
  case WICK_OP_reduce_min: {
    wick_scalar in[2] = {s, x};
    return wick_eval_scalar(c->op == WICK_OP_reduce_max ? WICK_OP_max : WICK_OP_min, NULL, e, e,
                            in);
  }
  case WICK_OP_reduce_l1:
    if (f) return (wick_scalar){.f = s.f + fabs(x.f)};
    b = wick_elem_class(e) == WICK_SINT && x.i < 0 ? 0 - b : b;
    return (wick_scalar){.i = (int64_t)(a + b)};
  case WICK_OP_reduce_l2:
  case WICK_OP_reduce_sum_square:
    return f ? (wick_scalar){.f = wick_ref_range(e, s.f + wick_ref_range(e, x.f * x.f))}
             : (wick_scalar){.i = (int64_t)(a + b * b)};
  case WICK_OP_reduce_log_sum_exp: return (wick_scalar){.f = s.f + exp(x.f)};
  default: return f ? (wick_scalar){.f = s.f + x.f} : (wick_scalar){.i = (int64_t)(a + b)};
  }
}

static wick_scalar reduce_finish(const wick_ref *c, wick_elem e, wick_scalar s, wick_scalar shift,
                                 int64_t n)
{
  switch (c->op) {
  case WICK_OP_reduce_mean:
    if (wick_elem_is_float(e)) return (wick_scalar){.f = s.f / (double)n};
    if (n == 0) return s;
    s = wick_round_elem(e, s);
    return wick_elem_class(e) == WICK_UINT
               ? (wick_scalar){.i = (int64_t)((uint64_t)s.i / (uint64_t)n)}
               : (wick_scalar){.i = s.i / n};
  case WICK_OP_reduce_l2: return (wick_scalar){.f = sqrt(s.f)};
  case WICK_OP_reduce_log_sum: return (wick_scalar){.f = log(s.f)};
  case WICK_OP_reduce_log_sum_exp: return (wick_scalar){.f = log(s.f) + shift.f};
  default: return s;
  }
}

/* For log_sum_exp: returns the largest element of each group, which is subtracted so that exp
 * does not overflow. */
static wick_scalar *reduce_shift(const wick_ref *c, const wick_scalar *x, const uint64_t *group,
                                 uint64_t n, uint64_t ngroup)
{
  wick_scalar *shift = wick_new(c->mem, wick_scalar, ngroup);
  for (uint64_t g = 0; g < ngroup; g++) shift[g].f = -(double)INFINITY;
  for (uint64_t i = 0; i < n; i++)
    if (x[i].f > shift[group[i]].f) shift[group[i]] = x[i];
  for (uint64_t g = 0; g < ngroup; g++)
    if (isinf(shift[g].f)) shift[g].f = 0;
  return shift;
}

static wick_status reduce_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  wick_elem e = x->elem;
  uint32_t set = reduce_set(&c->attr[WICK_ATTR_reduce_sum_axes], x->rank);
  uint64_t n = wick_ref_numel(x), nout = wick_ref_numel(out),
           *group = wick_new(c->mem, uint64_t, n);
  wick_scalar *v = wick_ref_load(c->mem, x), *state = wick_new(c->mem, wick_scalar, nout);
  int64_t index[WICK_MAX_RANK] = {0}, count = 1;
  for (uint32_t k = 0; k < x->rank; k++)
    if (set >> k & 1) count *= x->dim[k];
  for (uint64_t i = 0; i < n; i++, wick_ref_next(x->rank, x->dim, index)) {
    int64_t at = 0;
    for (uint32_t k = 0; k < x->rank; k++)
      if (!(set >> k & 1)) at = at * x->dim[k] + index[k];
    group[i] = (uint64_t)at;
  }
  bool shifted = c->op == WICK_OP_reduce_log_sum_exp;
  wick_scalar *shift = shifted ? reduce_shift(c, v, group, n, nout) : NULL, start = {.i = 0};
  if (reduce_by(c->op)) start = wick_ops[reduce_by(c->op)]->neutral(e);
  for (uint64_t g = 0; g < nout; g++) state[g] = start;
  for (uint64_t i = 0; i < n; i++) {
    if (shifted) v[i].f -= shift[group[i]].f;
    state[group[i]] = reduce_step(c, e, state[group[i]], v[i]);
  }
  for (uint64_t g = 0; g < nout; g++)
    state[g] = reduce_finish(c, e, state[g], shifted ? shift[g] : start, count);
  wick_ref_write(out, 0, nout, state);
  return NULL;
}

static wick_status reduce_extremes_ref(wick_ref *c)
{
  static const wick_opcode by[2] = {WICK_OP_reduce_min, WICK_OP_reduce_max};
  for (uint32_t k = 0; k < 2; k++) {
    wick_ref one = *c;
    one.op = by[k], one.nout = 1, one.out = &c->out[k];
    WICK_TRY(reduce_ref(&one));
  }
  return NULL;
}

/* ---- stages ---- */

/* Makes the axes of a fold of x: those of the result, then the reduced ones. `index` is the
 * index into x. */
static uint32_t reduce_axes_of(const wick_compute *c, wick_axis *axis, wick_dim *index,
                               wick_dim *out_count)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  uint32_t set = reduce_set(&c->attr[WICK_ATTR_reduce_sum_axes], x->rank), n = 0;
  *out_count = wick_dim_const(1);
  for (uint32_t reduced = 0; reduced < 2; reduced++)
    for (uint32_t k = 0; k < x->rank; k++) {
      bool own = set >> k & 1;
      if (own && !reduced && c->attr[WICK_ATTR_reduce_sum_keepdims].i)
        axis[n++] =
            wick_make_axis(b, wick_str_printf(b->mem, "one%u", k), wick_dim_const(1), false);
      if (own != reduced) continue;
      axis[n] =
          wick_make_axis(b, wick_str_printf(b->mem, "%c%u", own ? 'r' : 'd', k), x->dim[k], own);
      index[k] = axis[n++].sym;
      if (own) *out_count = wick_dim_mul(b->module->dims, *out_count, x->dim[k]);
    }
  return n;
}

static void reduce_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_axis axis[2 * WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], count;
  uint32_t n = reduce_axes_of(c, axis, index, &count);
  wick_opcode by = reduce_by(c->op);
  wick_elem e = wick_built_info(b, c->in[0])->elem, acc = wick_stage_range(e, by);
  wick_value s = wick_stage_fold(b, wick_ops[c->op]->name, n, axis, c->out_type[0], by, acc);
  wick_value x = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), acc);
  s = wick_stage_finish(b, wick_build2(b, by, s, x), by);
  if (c->op == WICK_OP_reduce_mean) {
    /* the number of elements may not fit in a short integer */
    wick_elem wide = wick_elem_is_int(acc) && wick_elem_storage[acc].bits < 64 ? WICK_I64 : acc;
    s = wick_build2(b, WICK_OP_div, wick_build_cast(b, s, wide), wick_stage_number(b, count, wide));
    s = wick_build_cast(b, s, acc);
  }
  c->out[0] = wick_stage_end(b, s, c->out_type[0]);
}

/* One fold with two states, so that x is read once. */
static void reduce_extremes_compute(const wick_compute *c)
{
  static const wick_opcode by[2] = {WICK_OP_min, WICK_OP_max};
  wick_builder *b = c->b;
  wick_axis axis[2 * WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], count;
  uint32_t n = reduce_axes_of(c, axis, index, &count);
  wick_elem e = wick_built_info(b, c->in[0])->elem, acc = wick_stage_arith(e);
  wick_type state[4];
  wick_value v[2];
  for (uint32_t k = 0; k < 4; k++) state[k] = wick_type_scalar(b->module, acc, 1);
  wick_fold_open(b, wick_ops[c->op]->name, n, axis, 2, c->out_type);
  wick_region_begin(b, 0, NULL);
  for (uint32_t k = 0; k < 2; k++) v[k] = wick_build_neutral(b, by[k], state[0]);
  wick_yield(b, 2, v);
  wick_value s = wick_region_begin(b, 2, state);
  wick_value x = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), acc);
  for (uint32_t k = 0; k < 2; k++) v[k] = wick_build2(b, by[k], (wick_value){s.id + k}, x);
  wick_yield(b, 2, v);
  s = wick_region_begin(b, 4, state);
  for (uint32_t k = 0; k < 2; k++)
    v[k] = wick_build2(b, by[k], (wick_value){s.id + k}, (wick_value){s.id + 2 + k});
  wick_yield(b, 2, v);
  s = wick_region_begin(b, 2, state);
  for (uint32_t k = 0; k < 2; k++) v[k] = wick_build_cast(b, (wick_value){s.id + k}, e);
  wick_yield(b, 2, v);
  c->out[0] = wick_build_close(b);
  c->out[1] = (wick_value){c->out[0].id + 1};
}

/* ---- expansions ---- */

static wick_value reduce_of(wick_builder *b, wick_opcode op, const wick_node *n, wick_value x)
{
  return wick_build(b, op, 1, &x, n->attr, 0, NULL);
}

static void reduce_extremes_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                                   wick_value *out)
{
  out[0] = reduce_of(b, WICK_OP_reduce_min, n, in[0]);
  out[1] = reduce_of(b, WICK_OP_reduce_max, n, in[0]);
}

static void reduce_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                          wick_value *out)
{
  if (b->status) return;
  wick_elem e = wick_built_info(b, in[0])->elem;
  wick_value x = wick_compose_wide(b, in[0]);
  switch (n->op) {
  case WICK_OP_reduce_l1:
    x = reduce_of(b, WICK_OP_reduce_sum, n, wick_build1(b, WICK_OP_abs, x));
    break;
  case WICK_OP_reduce_log_sum:
    x = wick_build1(b, WICK_OP_log, reduce_of(b, WICK_OP_reduce_sum, n, x));
    break;
  default:
    x = reduce_of(b, WICK_OP_reduce_sum, n, wick_build2(b, WICK_OP_mul, x, x));
    if (n->op == WICK_OP_reduce_l2) x = wick_build1(b, WICK_OP_sqrt, x);
  }
  out[0] = b->status ? x : wick_build_cast(b, x, e);
}

/* Returns v, which has size 1 along the axes of n, without these axes. */
static wick_value reduce_drop(wick_builder *b, const wick_node *n, wick_value v)
{
  if (b->status) return v;
  const wick_type_info *t = wick_built_info(b, v);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t set = reduce_set(&n->attr[WICK_ATTR_reduce_sum_axes], t->rank), rank = 0;
  for (uint32_t k = 0; k < t->rank; k++)
    if (!(set >> k & 1)) dim[rank++] = t->dim[k];
  return wick_build_reshape(b, v, rank, dim);
}

/* An infinite maximum is not subtracted. Where it is +inf, the sum is finite, and where it is -inf, 0.
 */
static void reduce_log_sum_exp_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                                      wick_value *out)
{
  if (b->status) return;
  wick_elem e = wick_built_info(b, in[0])->elem;
  wick_attr keep[2] = {n->attr[WICK_ATTR_reduce_sum_axes], {.i = 1}};
  wick_value x = wick_compose_wide(b, in[0]),
             max = wick_build(b, WICK_OP_reduce_max, 1, &x, keep, 0, NULL);
  if (b->status) return;
  wick_value none = wick_build1(b, WICK_OP_isinf, max), zero = wick_build_like(b, max, 0);
  wick_value shift = wick_build3(b, WICK_OP_where, none, zero, max);
  wick_value sum = wick_build2(b, WICK_OP_sub, x, shift);
  sum = wick_build1(b, WICK_OP_exp_minus, sum);
  sum = wick_build(b, WICK_OP_reduce_sum, 1, &sum, keep, 0, NULL);
  sum = wick_build_cast(b, wick_build2(b, WICK_OP_add, wick_build1(b, WICK_OP_log, sum), max), e);
  out[0] = n->attr[WICK_ATTR_reduce_sum_keepdims].i ? sum : reduce_drop(b, n, sum);
}

/* ---- the operators ---- */

static uint32_t reduce_along(const wick_attr *attr, uint32_t rank)
{
  return attr[WICK_ATTR_reduce_sum_keepdims].i ? reduce_set(&attr[WICK_ATTR_reduce_sum_axes], rank)
                                               : 0;
}

#define REDUCE_ROW_OF(row, n, text, types, ...)                                                    \
  const wick_op wick_op_##row = {                                                                  \
      .name = #row,                                                                                \
      .doc = text,                                                                                 \
      .nin = {1, 1},                                                                               \
      .nout = {n, n},                                                                              \
      .attr = {{"axes", WICK_ATTR_INTS, 0, false, NULL, 0, 0},                                     \
               {"keepdims", WICK_ATTR_BOOL, 1, false, NULL, 0, 0}},                                \
      .level = WICK_GRAPH,                                                                         \
      .elems = types,                                                                              \
      .reads_once = true,                                                                          \
      .infer = reduce_infer,                                                                       \
      .batch.run = wick_batch_axes,                                                                \
      __VA_ARGS__,                                                                                 \
  };

#define REDUCE_ROW(row, text, types, ...)                                                          \
  REDUCE_ROW_OF(row, 1, text, types, .layout = wick_layout_reduce, .reduced_axes = reduce_along,   \
                .simplify = wick_simplify_reduce, .ref = reduce_ref, __VA_ARGS__)

REDUCE_ROW(
    reduce_sum,
    "The sum along `axes` (default: all), in order; 0 if there are no elements. Integers wrap; "
    "f16 and bf16 are summed in f32",
    WICK_NUMBERS, .compute = reduce_compute, .grad = wick_grad_reduce_sum, .linear = {1})
REDUCE_ROW(
    reduce_prod,
    "The product along `axes`, in order; 1 if there are no elements. Integers wrap; floats are "
    "multiplied in f64",
    WICK_NUMBERS, .compute = reduce_compute, .grad = wick_grad_reduce_prod)
REDUCE_ROW(
    reduce_max,
    "The largest element along `axes`, as `max` finds it; the type's least number if there are no "
    "elements",
    WICK_PLAIN, .compute = reduce_compute, .grad = wick_grad_reduce_extreme)
REDUCE_ROW(
    reduce_min,
    "The least element along `axes`, as `min` finds it; the type's largest number if there are no "
    "elements",
    WICK_PLAIN, .compute = reduce_compute, .grad = wick_grad_reduce_extreme)
REDUCE_ROW_OF(
    reduce_extremes, 2,
    "The least and the largest element along `axes`, as reduce_min and reduce_max find them",
    WICK_PLAIN, .ref = reduce_extremes_ref, .compute = reduce_extremes_compute,
    .expand = reduce_extremes_expand)
REDUCE_ROW(reduce_mean,
           "The sum along `axes` divided by the number of elements; NaN if there are no elements. "
           "Integers round towards zero",
           WICK_NUMBERS, .compute = reduce_compute, .grad = wick_grad_reduce_mean, .linear = {1})
REDUCE_ROW(reduce_l1, "sum |x| along `axes`", WICK_NUMBERS, .expand = reduce_expand,
           .grad = wick_grad_reduce_l1)
REDUCE_ROW(reduce_l2, "sqrt(sum x*x) along `axes`", WICK_FLOATS, .expand = reduce_expand,
           .grad = wick_grad_reduce_l2)
REDUCE_ROW(reduce_log_sum, "log(sum x) along `axes`", WICK_FLOATS, .expand = reduce_expand)
REDUCE_ROW(reduce_log_sum_exp,
           "log(sum exp x) along `axes`, computed relative to the largest x; -inf if there are no "
           "elements or all are -inf",
           WICK_FLOATS, .expand = reduce_log_sum_exp_expand, .grad = wick_grad_reduce_log_sum_exp)
REDUCE_ROW(reduce_sum_square, "sum x*x along `axes`", WICK_NUMBERS, .expand = reduce_expand,
           .grad = wick_grad_reduce_sum_square)
