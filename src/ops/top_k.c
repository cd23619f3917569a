/* The largest, or least, elements of each line, in order. */
#include <math.h>

#include "ops/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { TOP_K_AXIS, TOP_K_K, TOP_K_LEAST };

static wick_status top_k_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK];
  int64_t lo, hi;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  uint32_t axis = (uint32_t)c->attr[TOP_K_AXIS].i;
  if (c->attr[TOP_K_K].n != 1)
    return wick_infer_fail(c, WICK_ETYPE, "k has %u numbers, wanted 1", c->attr[TOP_K_K].n);
  for (uint32_t i = 0; i < x->rank; i++) dim[i] = x->dim[i];
  dim[axis] = c->attr[TOP_K_K].dims[0];
  wick_dim_range(c->module->dims, wick_dim_sub(c->module->dims, dim[axis], x->dim[axis]), &lo, &hi);
  if (lo > 0)
    return wick_infer_fail(c, WICK_ETYPE, "the first %s of %s elements",
                           wick_infer_dim_text(c, dim[axis]), wick_infer_dim_text(c, x->dim[axis]));
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  wick_infer_out(c, 1, WICK_I64, x->rank, dim);
  c->nout = 2;
  return NULL;
}

/* x comes before y. NaN is the largest of all. */
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

/* By insertion into the list of the best so far. */
static wick_status top_k_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[TOP_K_AXIS].i;
  int64_t n = x->dim[axis], k = out->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  const wick_scalar *v = wick_ref_load(c->mem, x);
  int64_t *best = wick_new(c->mem, int64_t, (size_t)k + 1);
  for (int64_t line = 0; line < outer * inner; line++) {
    int64_t first = line / inner * n * inner + line % inner,
            to = line / inner * k * inner + line % inner, have = 0;
    for (int64_t i = 0; i < n; i++) {
      int64_t at = have;
      for (; at > 0 && top_k_before(x->elem, c->attr[TOP_K_LEAST].i, v[first + i * inner],
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

/* ---- stages ---- */

/* The condition that element y, at j, comes before x, at i. */
static wick_value top_k_stage_before(wick_builder *b, bool least, wick_value x, wick_value y,
                                     wick_dim i, wick_dim j)
{
  if (b->status) return x;
  wick_value before = wick_build2(b, least ? WICK_OP_lt : WICK_OP_gt, y, x),
             equal = wick_build2(b, WICK_OP_eq, y, x);
  if (wick_elem_is_float(wick_built_info(b, x)->elem)) {
    wick_value nan_x = wick_build2(b, WICK_OP_ne, x, x), nan_y = wick_build2(b, WICK_OP_ne, y, y),
               one = least ? nan_x : nan_y, other = least ? nan_y : nan_x;
    before = wick_build2(b, WICK_OP_or, before,
                         wick_build2(b, WICK_OP_and, one, wick_build1(b, WICK_OP_not, other)));
    equal = wick_build2(b, WICK_OP_or, equal, wick_build2(b, WICK_OP_and, nan_x, nan_y));
  }
  wick_value earlier = wick_stage_compare(b, WICK_OP_lt, j, i);
  return wick_build2(b, WICK_OP_or, before, wick_build2(b, WICK_OP_and, equal, earlier));
}

/* Each element's rank: how many elements of its line come before it. */
static wick_value top_k_ranks(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_type ranks = wick_type_with_elem(b->module, wick_built_type(b, c->in[0]), WICK_I32);
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK], other[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, ranks, axis), at = (uint32_t)c->attr[TOP_K_AXIS].i;
  for (uint32_t k = 0; k < n; k++) index[k] = other[k] = axis[k].sym;
  axis[n] = wick_make_axis(b, "j", x->dim[at], true);
  other[at] = axis[n].sym;
  wick_fold_begin(b, "rank", n + 1, axis, ranks, WICK_OP_add);
  wick_value own = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}),
             y = wick_read(b, c->in[0], other, 0, NULL, (wick_value){0});
  wick_value before = top_k_stage_before(b, c->attr[TOP_K_LEAST].i, own, y, index[at], other[at]);
  return wick_fold_end(b, wick_build_cast(b, before, WICK_I32));
}

static void top_k_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_value none = {0}, ranks = top_k_ranks(c);
  if (b->status) return;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, c->out_type[1], axis), at = (uint32_t)c->attr[TOP_K_AXIS].i;
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  wick_dim place = index[at];
  axis[n] = wick_make_axis(b, "i", x->dim[at], true);
  index[at] = axis[n].sym;
  wick_fold_begin(b, "place", n + 1, axis, c->out_type[1], WICK_OP_add);
  wick_value hit = wick_build2(b, WICK_OP_eq, wick_read(b, ranks, index, 0, NULL, none),
                               wick_stage_number(b, place, WICK_I32));
  wick_value i = wick_build3(b, WICK_OP_where, hit, wick_index(b, index[at]), wick_build_i64(b, 0));
  c->out[1] = wick_fold_end(b, i);
  wick_stage_map(c, 0, "top_k", axis);
  wick_dim own[WICK_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) own[k] = index[k] = axis[k].sym;
  index[at] = WICK_DIM_ANY;
  i = wick_read(b, c->out[1], own, 0, NULL, none);
  wick_value v = wick_read(b, c->in[0], index, 1, &i, none);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_top_k = {
    .name = "top_k",
    .doc = "The first k elements of each line along `axis` in falling order (rising: `least`), and "
           "their places; of equal ones the earlier comes first. NaN is the largest of all",
    .nin = {1, 1},
    .nout = {2, 2},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0},
             {"k", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"least", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = top_k_infer,
    .ref = top_k_ref,
    .compute = top_k_compute,
    .grad = wick_grad_top_k,
};
