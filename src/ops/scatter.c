/* Elements replaced, or added to, at indices that are data. Negative indices count from the end;
 * those outside fail the run. Several updates of one element apply in their order. */
#include "ops/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { SCATTER_REDUCTION, SCATTER_AXIS };
enum { SCATTER_NONE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX, SCATTER_MIN };
#define SCATTER_WORDS "none add mul max min"

static wick_opcode scatter_row(const wick_attr *attr)
{
  static const wick_opcode row[] = {WICK_OP_none, WICK_OP_add, WICK_OP_mul, WICK_OP_max,
                                    WICK_OP_min};
  return row[attr[SCATTER_REDUCTION].i];
}

static wick_status scatter_operands(wick_infer *c, const wick_type_info **x,
                                    const wick_type_info **indices, const wick_type_info **updates)
{
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, x));
  WICK_TRY(wick_infer_tensor(c, 1, "the indices", 1, indices));
  WICK_TRY(wick_infer_alike(c, 2, "the updates", 0, updates));
  if (!wick_elem_is_int((*indices)->elem))
    return wick_infer_fail(c, WICK_ETYPE, "the indices are %s, wanted integers",
                           wick_elem_name((*indices)->elem));
  if (c->attr[SCATTER_REDUCTION].i != SCATTER_NONE && !(WICK_NUMBERS & WICK_BIT((*x)->elem)))
    return wick_infer_fail(c, WICK_ETYPE, "%s has no arithmetic", wick_elem_name((*x)->elem));
  return wick_infer_same(c);
}

/* The index at position `at` of the indices, for a dimension of that size. */
static wick_status scatter_index(const wick_ref *c, uint64_t at, int64_t size, int64_t *out)
{
  int64_t i = wick_load_int(c->in[1].elem, c->in[1].data, at);
  *out = i < 0 ? i + size : i;
  if (*out >= 0 && *out < size) return NULL;
  return wick_ref_fail(c, WICK_ERANGE, "index %lld is outside [%lld, %lld]", (long long)i,
                       (long long)-size, (long long)size - 1);
}

static void scatter_update(const wick_ref *c, uint64_t to, uint64_t from)
{
  const wick_tensor *out = &c->out[0];
  wick_opcode row = scatter_row(c->attr);
  if (!row) {
    wick_ref_move(out, to, &c->in[2], from);
    return;
  }
  wick_scalar in[2] = {wick_load_elem(out->elem, out->data, to),
                       wick_load_elem(out->elem, c->in[2].data, from)};
  wick_store_elem(out->elem, out->data, to, wick_eval_scalar(row, NULL, out->elem, out->elem, in));
}

/* In a stage: the index that is read at `index` of the indices, as an i64 from 0 on. Where `once`
 * holds, one outside fails the run. */
static wick_value scatter_stage_index(const wick_compute *c, const wick_dim *index, wick_dim size,
                                      wick_value once)
{
  wick_builder *b = c->b;
  wick_value raw = wick_read(b, c->in[1], index, 0, NULL, (wick_value){0});
  wick_value i = wick_build_cast(b, raw, WICK_I64), n = wick_stage_number(b, size, WICK_I64),
             zero = wick_build_i64(b, 0);
  wick_value at = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, i, zero),
                              wick_build2(b, WICK_OP_add, i, n), i);
  wick_value bad = wick_build2(b, WICK_OP_or, wick_build2(b, WICK_OP_lt, at, zero),
                               wick_build2(b, WICK_OP_ge, at, n));
  wick_value fail[2] = {wick_build2(b, WICK_OP_and, bad, once), i};
  wick_attr code = {.i = WICK_ERANGE};
  wick_build(b, WICK_OP_fail, 2, fail, &code, 0, NULL);
  return at;
}

/* ---- a fold over the updates of one element ---- */

/* Its state: whether there was an update, and what the updates come to. */
static wick_value scatter_fold(const wick_compute *c, uint32_t n, const wick_axis *axis)
{
  wick_builder *b = c->b;
  wick_elem e = wick_type_get(b->module, c->out_type[0])->elem;
  wick_type s[2] = {wick_type_scalar(b->module, WICK_BOOL, 1), wick_type_scalar(b->module, e, 1)};
  wick_opcode row = scatter_row(c->attr);
  wick_fold_open(b, wick_ops[c->op]->name, n, axis, 1, c->out_type);
  wick_region_begin(b, 0, NULL);
  wick_value init[2] = {wick_build_const(b, s[0], 0, 0),
                        row ? wick_build_neutral(b, row, s[1]) : wick_stage_zero(b, e)};
  wick_yield(b, 2, init);
  return wick_region_begin(b, 2, s);
}

/* state, which may have been hit, and another, which comes after it. */
static void scatter_yield(const wick_compute *c, wick_value state, wick_value hit, wick_value v)
{
  wick_builder *b = c->b;
  wick_opcode row = scatter_row(c->attr);
  wick_value own = {state.id + 1},
             next[2] = {
                 wick_build2(b, WICK_OP_or, state, hit),
                 wick_build3(b, WICK_OP_where, hit, row ? wick_build2(b, row, own, v) : v, own)};
  wick_yield(b, 2, next);
}

static void scatter_end(const wick_compute *c, wick_value state, wick_value hit, wick_value v,
                        const wick_dim *index)
{
  wick_builder *b = c->b;
  if (b->status) return;
  wick_opcode row = scatter_row(c->attr);
  wick_type s[4] = {wick_built_type(b, state), wick_built_type(b, v)};
  s[2] = s[0], s[3] = s[1];
  scatter_yield(c, state, hit, v);
  uint32_t m = wick_region_begin(b, 4, s).id;
  scatter_yield(c, (wick_value){m}, (wick_value){m + 2}, (wick_value){m + 3});
  m = wick_region_begin(b, 2, s).id;
  wick_value x = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), own = {m + 1};
  x = wick_build3(b, WICK_OP_where, (wick_value){m}, row ? wick_build2(b, row, x, own) : own, x);
  c->out[0] = wick_stage_end(b, x, c->out_type[0]);
}

/* ---- scatter_elements ---- */

static wick_status scatter_elements_infer(wick_infer *c)
{
  const wick_type_info *x, *indices, *updates;
  WICK_TRY(scatter_operands(c, &x, &indices, &updates));
  if (indices->rank != x->rank || updates->rank != x->rank)
    return wick_infer_fail(c, WICK_ETYPE,
                           "the indices have rank %u, the updates %u, wanted %u as x has",
                           indices->rank, updates->rank, x->rank);
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t lo, hi;
    wick_dim more = wick_dim_sub(c->module->dims, indices->dim[k], x->dim[k]);
    wick_dim_range(c->module->dims, more, &lo, &hi);
    if (!wick_infer_equal(c, indices->dim[k], updates->dim[k]) ||
        (k != (uint32_t)c->attr[SCATTER_AXIS].i && lo > 0))
      return wick_infer_fail(
          c, WICK_ETYPE, "dimension %u of the indices is %s, x has %s, the updates %s", k,
          wick_infer_dim_text(c, indices->dim[k]), wick_infer_dim_text(c, x->dim[k]),
          wick_infer_dim_text(c, updates->dim[k]));
  }
  return NULL;
}

static wick_status scatter_elements_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *indices = &c->in[1];
  uint32_t axis = (uint32_t)c->attr[SCATTER_AXIS].i;
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK], i;
  uint64_t n = wick_ref_numel(x), at = 0;
  for (uint64_t k = 0; k < n; k++) wick_ref_move(&c->out[0], k, x, k);
  wick_ref_strides(x, stride);
  if (wick_ref_numel(indices) == 0) return NULL;
  do {
    int64_t to = 0;
    WICK_TRY(scatter_index(c, at, x->dim[axis], &i));
    for (uint32_t k = 0; k < x->rank; k++) to += (k == axis ? i : index[k]) * stride[k];
    scatter_update(c, (uint64_t)to, at++);
  } while (wick_ref_next(x->rank, indices->dim, index));
  return NULL;
}

/* Updates of an element lie in its own line: those whose index is the element's. */
static void scatter_elements_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *indices = wick_built_info(b, c->in[1]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK], from[WICK_MAX_RANK], others[WICK_MAX_RANK], sizes[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[SCATTER_AXIS].i, n = wick_axes_of(b, c->out_type[0], axis),
           nother = 0;
  for (uint32_t k = 0; k < n; k++) {
    from[k] = index[k] = axis[k].sym;
    if (k == at || wick_dim_eq(indices->dim[k], x->dim[k])) continue;
    others[nother] = index[k], sizes[nother++] = indices->dim[k];
    from[k] = wick_dim_min(b->module->dims, index[k],
                           wick_dim_sub(b->module->dims, indices->dim[k], wick_dim_const(1)));
  }
  axis[n] = wick_make_axis(b, "t", indices->dim[at], true);
  from[at] = axis[n].sym;
  wick_value state = scatter_fold(c, n + 1, axis);
  wick_value first = wick_stage_compare(b, WICK_OP_eq, index[at], wick_dim_const(0));
  wick_value i = scatter_stage_index(c, from, x->dim[at], first);
  wick_value hit = wick_build2(b, WICK_OP_eq, i, wick_index(b, index[at])),
             inside = wick_stage_inside(b, nother, others, sizes);
  if (inside.id) hit = wick_build2(b, WICK_OP_and, hit, inside);
  wick_value v = wick_read(b, c->in[2], from, 0, NULL, (wick_value){0});
  scatter_end(c, state, hit, v, index);
}

const wick_op wick_op_scatter_elements = {
    .name = "scatter_elements",
    .doc = "x, where each element of the updates replaces the one at the same place but for "
           "`axis`, where the index says, or is combined with it by `reduction`; updates of one "
           "element in their order. Negative indices count from the end; those outside fail the "
           "run",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {{"reduction", WICK_ATTR_ENUM, 0, false, SCATTER_WORDS, 0, 0},
             {"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .infer = scatter_elements_infer,
    .ref = scatter_elements_ref,
    .compute = scatter_elements_compute,
    .grad = wick_grad_scatter_elements,
};

/* ---- scatter_nd ---- */

static wick_status scatter_nd_infer(wick_infer *c)
{
  const wick_type_info *x, *indices, *updates;
  WICK_TRY(scatter_operands(c, &x, &indices, &updates));
  uint32_t last = indices->rank - 1u;
  wick_dim depth = indices->dim[last];
  if (!wick_dim_is_const(depth) || depth.v < 1 || depth.v > x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "tuples of %s indices into %s",
                           wick_infer_dim_text(c, depth), wick_infer_type_text(c, c->in[0]->type));
  bool fits = updates->rank == last + x->rank - depth.v;
  for (uint32_t k = 0; fits && k < updates->rank; k++)
    fits = wick_infer_equal(c, updates->dim[k],
                            k < last ? indices->dim[k] : x->dim[k - last + (uint32_t)depth.v]);
  if (fits) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "the updates are %s, which does not fit %s and %s",
                         wick_infer_type_text(c, c->in[2]->type),
                         wick_infer_type_text(c, c->in[0]->type),
                         wick_infer_type_text(c, c->in[1]->type));
}

static wick_status scatter_nd_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *indices = &c->in[1];
  uint32_t last = indices->rank - 1;
  int64_t depth = indices->dim[last], tuples = wick_ref_product(indices, 0, last),
          inner = wick_ref_product(x, (uint32_t)depth, x->rank);
  uint64_t n = wick_ref_numel(x);
  for (uint64_t k = 0; k < n; k++) wick_ref_move(&c->out[0], k, x, k);
  for (int64_t t = 0; t < tuples; t++) {
    int64_t to = 0, i;
    for (int64_t d = 0; d < depth; d++) {
      WICK_TRY(scatter_index(c, (uint64_t)(t * depth + d), x->dim[d], &i));
      to = to * x->dim[d] + i;
    }
    for (int64_t e = 0; e < inner; e++)
      scatter_update(c, (uint64_t)(to * inner + e), (uint64_t)(t * inner + e));
  }
  return NULL;
}

/* Each element looks at all tuples. */
static void scatter_nd_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *indices = wick_built_info(b, c->in[1]);
  wick_axis axis[2 * WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], tuple[WICK_MAX_RANK], from[WICK_MAX_RANK];
  uint32_t rank = wick_axes_of(b, c->out_type[0], axis), n = rank, last = indices->rank - 1u,
           depth = (uint32_t)indices->dim[last].v;
  for (uint32_t k = 0; k < rank; k++) index[k] = axis[k].sym;
  for (uint32_t k = 0; k < last; k++) {
    axis[n] = wick_make_axis(b, wick_str_printf(b->mem, "u%u", k), indices->dim[k], true);
    tuple[k] = from[k] = axis[n++].sym;
  }
  for (uint32_t k = depth; k < rank; k++) from[last + k - depth] = index[k];
  wick_value state = scatter_fold(c, n, axis), hit = {0}, first = {0};
  for (uint32_t k = 0; k < rank; k++) { /* one element of x says what is wrong */
    wick_value zero = wick_stage_compare(b, WICK_OP_eq, index[k], wick_dim_const(0));
    first = first.id ? wick_build2(b, WICK_OP_and, first, zero) : zero;
  }
  for (uint32_t d = 0; d < depth; d++) {
    tuple[last] = wick_dim_const(d);
    wick_value i = scatter_stage_index(c, tuple, x->dim[d], first),
               same = wick_build2(b, WICK_OP_eq, i, wick_index(b, index[d]));
    hit = hit.id ? wick_build2(b, WICK_OP_and, hit, same) : same;
  }
  wick_value v = wick_read(b, c->in[2], from, 0, NULL, (wick_value){0});
  scatter_end(c, state, hit, v, index);
}

const wick_op wick_op_scatter_nd = {
    .name = "scatter_nd",
    .doc =
        "x, where what each tuple of indices, the indices' last dimension, points to is replaced "
        "by the updates' part at the tuple's place, or combined with it by `reduction`; updates "
        "of one element in their order. Negative indices count from the end; those outside "
        "fail the run",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {{"reduction", WICK_ATTR_ENUM, 0, false, SCATTER_WORDS, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .infer = scatter_nd_infer,
    .ref = scatter_nd_ref,
    .compute = scatter_nd_compute,
    .grad = wick_grad_scatter_nd,
};
