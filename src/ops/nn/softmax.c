/* Softmax and its relatives along one axis. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status softmax_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  return wick_infer_same(c);
}

/* Computes one 1-D slice of n elements in place. */
static void softmax_line(wick_opcode op, int64_t n, wick_scalar *x)
{
  int64_t best = 0;
  double max = -(double)INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i].f) ? !isnan(x[best].f) : x[i].f > x[best].f) best = i;
    if (isnan(x[i].f) || x[i].f > max) max = x[i].f;
    if (isnan(max)) break;
  }
  for (int64_t i = 0; i < n; i++) sum += exp(x[i].f - max);
  for (int64_t i = 0; i < n; i++)
    if (op == WICK_OP_softmax)
      x[i].f = exp(x[i].f - max) / sum;
    else if (op == WICK_OP_log_softmax)
      x[i].f = x[i].f - max - log(sum);
    else
      x[i].f = i == best;
}

static wick_status softmax_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_softmax_axis].i;
  int64_t n = x->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  wick_scalar *line = wick_new(c->mem, wick_scalar, (size_t)n);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      uint64_t first = (uint64_t)(o * n * inner + i);
      for (int64_t k = 0; k < n; k++)
        line[k] = wick_load_elem(x->elem, x->data, first + (uint64_t)(k * inner));
      softmax_line(c->op, n, line);
      for (int64_t k = 0; k < n; k++)
        wick_store_elem(out->elem, out->data, first + (uint64_t)(k * inner), line[k]);
    }
  return NULL;
}

/* ---- stages ---- */

/* A fold over `axis`. Its stage's type has the other dimensions and the arithmetic type. index: of
 * the element of x, in the fold's axes; whole: of the stage's element, in a map's axes. */
typedef struct softmax_fold {
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  wick_type type;
  uint32_t n;
} softmax_fold;

static softmax_fold softmax_fold_of(const wick_compute *c, wick_elem e)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_dim dim[WICK_MAX_RANK];
  softmax_fold f = {.n = 0};
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_softmax_axis].i;
  for (uint32_t k = 0; k < x->rank; k++) {
    if (k == at) continue;
    dim[f.n] = x->dim[k];
    f.axis[f.n] = wick_make_axis(b, wick_str_printf(b->mem, "d%u", k), x->dim[k], false);
    f.index[k] = f.axis[f.n++].sym;
  }
  f.type = wick_type_tensor(b->module, e, f.n, dim);
  f.axis[f.n] = wick_make_axis(b, "c", x->dim[at], true);
  f.index[at] = f.axis[f.n++].sym;
  return f;
}

/* Reads the fold's result for the element at `index`. */
static wick_value softmax_whole(wick_builder *b, wick_value stage, uint32_t axis, uint32_t rank,
                                const wick_dim *index)
{
  wick_dim own[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t k = 0; k < rank; k++)
    if (k != axis) own[n++] = index[k];
  return wick_read(b, stage, own, 0, NULL, (wick_value){0});
}

/* Builds x - max x at an index of x, in the arithmetic type. */
static wick_value softmax_less(const wick_compute *c, wick_value max, const wick_dim *index)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_value e = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}),
                                 wick_stage_arith(x->elem));
  return wick_build2(
      b, WICK_OP_sub, e,
      softmax_whole(b, max, (uint32_t)c->attr[WICK_ATTR_softmax_axis].i, x->rank, index));
}

/* Returns the larger element, or y if one is NaN. */
static wick_value softmax_larger(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_gt, x, y), x, y);
}

/* Builds the largest element of each slice. NaN is ignored, because exp(NaN - max) is NaN, and so
 * is everything that is divided by the sum. A comparison and a selection are one instruction on
 * x86; `max` is three. */
static wick_value softmax_max(const wick_compute *c, const softmax_fold *f)
{
  wick_builder *b = c->b;
  wick_elem e = wick_type_get(b->module, f->type)->elem;
  wick_type s = wick_type_scalar(b->module, e, 1);
  wick_fold_open(b, "max", f->n, f->axis, 1, &f->type);
  wick_region_begin(b, 0, NULL);
  wick_value v = wick_build_neutral(b, WICK_OP_max, s);
  wick_yield(b, 1, &v);
  wick_value state = wick_region_begin(b, 1, &s);
  v = wick_read(b, c->in[0], f->index, 0, NULL, (wick_value){0});
  v = softmax_larger(b, wick_build_cast(b, v, e), state);
  wick_yield(b, 1, &v);
  wick_value both = wick_region_begin(b, 2, (wick_type[]){s, s});
  v = softmax_larger(b, both, (wick_value){both.id + 1});
  wick_yield(b, 1, &v);
  v = wick_region_begin(b, 1, &s);
  wick_yield(b, 1, &v);
  return wick_build_close(b);
}

/* Builds exp(x - max x) as a stage, which the sum and the result read. */
static wick_value softmax_exp(const wick_compute *c, wick_value max, wick_elem acc)
{
  wick_builder *b = c->b;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  wick_type type = wick_type_with_elem(b->module, wick_built_type(b, c->in[0]), acc);
  uint32_t n = wick_axes_of(b, type, axis);
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  wick_map_begin(b, "exp", n, axis, 1, &type);
  wick_value e = wick_build1(b, WICK_OP_exp_minus, softmax_less(c, max, index));
  return wick_map_end(b, 1, &e);
}

static void softmax_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_softmax_axis].i, rank = x->rank;
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value none = {0}, exp = {0};
  bool log = c->op == WICK_OP_log_softmax;
  softmax_fold f = softmax_fold_of(c, acc);
  wick_value max = softmax_max(c, &f);
  if (!log) exp = softmax_exp(c, max, acc);
  wick_fold_begin(b, "sum", f.n, f.axis, f.type, WICK_OP_add);
  wick_value sum =
      wick_fold_end(b, log ? wick_build1(b, WICK_OP_exp_minus, softmax_less(c, max, f.index))
                           : wick_read(b, exp, f.index, 0, NULL, none));
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  wick_stage_map(c, 0, wick_ops[c->op]->name, axis);
  for (uint32_t k = 0; k < rank; k++) index[k] = axis[k].sym;
  wick_value s = softmax_whole(b, sum, at, rank, index), e;
  if (log) {
    e = softmax_less(c, max, index);
    e = wick_build2(b, WICK_OP_sub, e, wick_build1(b, WICK_OP_log, s));
  } else {
    e = wick_read(b, exp, index, 0, NULL, none);
    wick_value one = wick_stage_number(b, wick_dim_const(1), acc);
    e = wick_build2(b, WICK_OP_mul, e, wick_build2(b, WICK_OP_div, one, s));
  }
  if (!b->status) e = wick_build_cast(b, e, wick_type_get(b->module, c->out_type[0])->elem);
  c->out[0] = wick_map_end(b, 1, &e);
}

static void hardmax_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_softmax_axis].i, rank = x->rank;
  wick_elem elem = x->elem;
  const wick_best_rule rule = {.ordered = true, .at = wick_stage_position(b, x->dim[at], elem)};
  softmax_fold f = softmax_fold_of(c, rule.at);
  wick_best state = wick_stage_best(b, &rule, "best", f.n, f.axis, 1, &f.type, elem), element;
  element.value = wick_read(b, c->in[0], f.index, 0, NULL, (wick_value){0});
  element.at = wick_stage_number(b, f.index[at], rule.at);
  wick_best r = wick_stage_best_finish(b, &rule, state, element, (wick_value){0});
  wick_value best = wick_stage_end(b, r.at, f.type);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  wick_stage_map(c, 0, "hardmax", axis);
  for (uint32_t k = 0; k < rank; k++) index[k] = axis[k].sym;
  wick_value whole = softmax_whole(b, best, at, rank, index),
             own = wick_stage_number(b, index[at], rule.at),
             hit = wick_build2(b, WICK_OP_eq, own, whole);
  hit = wick_build_cast(b, hit, elem);
  c->out[0] = wick_map_end(b, 1, &hit);
}

static uint32_t softmax_along(const wick_attr *attr, uint32_t rank)
{
  (void)rank;
  return 1u << attr[WICK_ATTR_softmax_axis].i;
}

/* Slices that are about one vector or shorter would fill few lanes. A sum takes longer to begin and
 * end than a maximum. */
static wick_turn softmax_turn(const wick_attr *attr, int64_t n, int64_t inner, int64_t lanes)
{
  (void)attr;
  if (inner == 1) return n <= lanes ? WICK_TURN_FIRST : WICK_TURN_NONE;
  return 4 * inner <= lanes ? WICK_TURN_ANY : WICK_TURN_NONE;
}

static wick_turn log_softmax_turn(const wick_attr *attr, int64_t n, int64_t inner, int64_t lanes)
{
  return softmax_turn(attr, wick_ceildiv_i64(n, 2), inner, lanes);
}

static wick_turn hardmax_turn(const wick_attr *attr, int64_t n, int64_t inner, int64_t lanes)
{
  return log_softmax_turn(attr, n, inner, lanes) & WICK_TURN_FIRST;
}

const wick_op wick_op_softmax = {
    .name = "softmax",
    .doc = "exp(x - max x) / sum exp(x - max x) along `axis`. A 1-D slice that has NaN or +inf, "
           "or only -inf, is all NaN. Powers below the normal range count as 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .reduced_axes = softmax_along,
    .turn = softmax_turn,
    .infer = softmax_infer,
    .ref = softmax_ref,
    .compute = softmax_compute,
    .grad = wick_grad_softmax,
    .batch.run = wick_batch_axes,
};

const wick_op wick_op_log_softmax = {
    .name = "log_softmax",
    .doc = "x - max x - log(sum exp(x - max x)) along `axis`. A 1-D slice that has NaN or +inf, "
           "or only -inf, is all NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .reduced_axes = softmax_along,
    .turn = log_softmax_turn,
    .infer = softmax_infer,
    .ref = softmax_ref,
    .compute = softmax_compute,
    .grad = wick_grad_log_softmax,
    .batch.run = wick_batch_axes,
};

const wick_op wick_op_hardmax = {
    .name = "hardmax",
    .doc = "1 at the first largest element along `axis`, 0 elsewhere. If there is a NaN, the "
           "first NaN counts as the largest",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .reduced_axes = softmax_along,
    .turn = hardmax_turn,
    .infer = softmax_infer,
    .ref = softmax_ref,
    .compute = hardmax_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_axes,
};
