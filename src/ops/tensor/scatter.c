/* Scatters: elements replaced, or combined with updates, at indices that are data. Negative indices
 * count from the end; an index out of range fails the run. Several updates of one element are
 * applied in order. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { SCATTER_NONE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX, SCATTER_MIN };
#define SCATTER_WORDS "none add mul max min"

static wick_opcode scatter_row(const wick_attr *attr)
{
  static const wick_opcode row[] = {WICK_OP_none, WICK_OP_add, WICK_OP_mul, WICK_OP_max,
                                    WICK_OP_min};
  return row[attr[WICK_ATTR_scatter_elements_reduction].i];
}

static wick_status scatter_operands(wick_infer *c, const wick_type_info **x,
                                    const wick_type_info **indices, const wick_type_info **updates)
{
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, x));
  WICK_TRY(wick_infer_tensor(c, 1, "the indices", 1, indices));
  WICK_TRY(wick_infer_alike(c, 2, "the updates", 0, updates));
  if (!wick_elem_is_int((*indices)->elem))
    return wick_infer_fail(c, WICK_ETYPE, "the indices are %s, expected integers",
                           wick_elem_name((*indices)->elem));
  if (c->attr[WICK_ATTR_scatter_elements_reduction].i != SCATTER_NONE &&
      !(WICK_NUMBERS & WICK_BIT((*x)->elem)))
    return wick_infer_fail(c, WICK_ETYPE, "%s has no arithmetic", wick_elem_name((*x)->elem));
  return wick_infer_same(c);
}

/* Reads the index at position `at` of the indices, for a dimension of that size. */
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

/* ---- loop nests ---- */

/* Reads the index at `index` of the indices as an i64 that is not negative. `any` are the values
 * for the WICK_DIM_ANY in `index`. Fails the run if the index is out of range. *inside is
 * combined with whether it is in range. */
static wick_value scatter_walk_index(const wick_compute *c, const wick_dim *index, uint32_t nany,
                                     const wick_value *any, wick_dim size, wick_value *inside)
{
  wick_builder *b = c->b;
  wick_value raw = wick_read(b, c->in[1], index, nany, any, (wick_value){0});
  wick_value i = wick_build_cast(b, raw, WICK_I64), n = wick_index(b, size),
             zero = wick_build_i64(b, 0), next = wick_build2(b, WICK_OP_add, i, n);
  wick_value below = wick_build2(b, WICK_OP_lt, i, zero);
  wick_value at = wick_build3(b, WICK_OP_where, below, next, i);
  wick_value low = wick_build2(b, WICK_OP_lt, at, zero), high = wick_build2(b, WICK_OP_ge, at, n);
  wick_value bad = wick_build2(b, WICK_OP_or, low, high);
  wick_build_failure(b, WICK_ERANGE, bad, i, size);
  wick_value own = wick_build1(b, WICK_OP_not, bad);
  *inside = inside->id ? wick_build2(b, WICK_OP_and, *inside, own) : own;
  return at;
}

/* Updates an element of the result if `inside` holds. */
static void scatter_walk_update(const wick_compute *c, wick_value out, const wick_dim *index,
                                uint32_t nany, const wick_value *any, wick_value v,
                                wick_value inside)
{
  wick_builder *b = c->b;
  wick_opcode row = scatter_row(c->attr);
  wick_if_begin(b, inside, 0, NULL);
  if (row) v = wick_build2(b, row, wick_get(b, out, index, nany, any), v);
  wick_put(b, out, index, nany, any, v);
  wick_if_else(b, 0, NULL);
  wick_if_end(b, 0, NULL);
}

static void scatter_loops_end(wick_builder *b, uint32_t n)
{
  for (uint32_t k = 0; k < n; k++) wick_for_end(b, 0, NULL);
}

/* Copies x along the dimensions that are not axes of the loop nest, unless it is there. */
static void scatter_copy(const wick_compute *c, wick_value out, uint32_t n, const wick_dim *extent,
                         const wick_dim *index)
{
  wick_builder *b = c->b;
  wick_value any[WICK_MAX_RANK];
  if (c->begun) return;
  wick_for_sizes_begin(b, n, extent, any);
  wick_put(b, out, index, n, any, wick_read(b, c->in[0], index, n, any, (wick_value){0}));
  scatter_loops_end(b, n);
}

/* ---- scatter_elements ---- */

static wick_status scatter_elements_infer(wick_infer *c)
{
  const wick_type_info *x, *indices, *updates;
  WICK_TRY(scatter_operands(c, &x, &indices, &updates));
  if (indices->rank != x->rank || updates->rank != x->rank)
    return wick_infer_fail(c, WICK_ETYPE,
                           "the indices have rank %u, the updates %u, expected %u as x has",
                           indices->rank, updates->rank, x->rank);
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t lo, hi;
    wick_dim more = wick_dim_sub(c->module->dims, indices->dim[k], x->dim[k]);
    wick_dim_range(c->module->dims, more, &lo, &hi);
    if (!wick_infer_equal(c, indices->dim[k], updates->dim[k]) ||
        (k != (uint32_t)c->attr[WICK_ATTR_scatter_elements_axis].i && lo > 0))
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
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_scatter_elements_axis].i;
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

/* Where a loop nest over slices is: the index of its elements. The position along the axis is a value;
 * if the axis is not the last one, that along the last one is, too: a point of the nest has the
 * neighbouring slices from `begin` on, because they share cache lines. */
typedef struct scatter_slices {
  wick_dim index[WICK_MAX_RANK];
  uint32_t rank, at;
  bool several;
  wick_value begin, end;
} scatter_slices;

enum { SCATTER_SLICES = 32 };

static wick_value scatter_slices_begin(const wick_compute *c, scatter_slices *s)
{
  wick_builder *b = c->b;
  wick_dims *d = b->module->dims;
  wick_axis all[WICK_MAX_RANK], axis[WICK_MAX_RANK];
  uint32_t n = 0, rank = wick_axes_of(b, c->out_type[0], all), last = rank - 1;
  s->rank = rank, s->at = (uint32_t)c->attr[WICK_ATTR_scatter_elements_axis].i;
  s->several = s->at < last;
  wick_dim size = wick_dim_const(SCATTER_SLICES), first, extent = all[last].extent;
  for (uint32_t k = 0; k < rank; k++) {
    bool open = k == s->at || (k == last && s->several);
    s->index[k] = open ? WICK_DIM_ANY : all[k].sym;
    if (!open) axis[n++] = all[k];
  }
  if (s->several) axis[n++] = wick_make_axis(b, "slices", wick_dim_ceildiv(d, extent, size), false);
  wick_value out = wick_loop_nest_begin(b, wick_ops[c->op]->name, n, axis, 1, c->out_type);
  if (!s->several) return out;
  first = wick_dim_mul(d, axis[n - 1].sym, size);
  s->begin = wick_index(b, first);
  s->end = wick_index(b, wick_dim_min(d, wick_dim_add(d, first, size), extent));
  return out;
}

/* Opens loops over `n` positions along the axis, and over the slices that are before `extent` along
 * the last dimension. any[] is set to their indices. Returns the number of loops. */
static uint32_t scatter_slices_loops(wick_builder *b, const scatter_slices *s, wick_dim n,
                                     wick_dim extent, wick_value *any)
{
  wick_for_sizes_begin(b, 1, &n, any);
  if (!s->several) return 1;
  wick_value end = wick_build2(b, WICK_OP_min, s->end, wick_index(b, extent));
  any[1] = wick_for_begin(b, s->begin, end, 0, NULL);
  return 2;
}

/* The updates of an element are in its own slice along the axis, so that slices are independent. */
static void scatter_elements_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *indices = wick_built_info(b, c->in[1]);
  wick_dim others[WICK_MAX_RANK], sizes[WICK_MAX_RANK];
  scatter_slices s;
  wick_value out = scatter_slices_begin(c, &s), any[2], inside = {0};
  uint32_t last = s.rank - 1, nother = 0, n;
  n = scatter_slices_loops(b, &s, x->dim[s.at], x->dim[last], any);
  wick_put(b, out, s.index, n, any, wick_read(b, c->in[0], s.index, n, any, (wick_value){0}));
  scatter_loops_end(b, n);
  for (uint32_t k = 0; k < s.rank; k++)
    if (!wick_dim_eq(s.index[k], WICK_DIM_ANY) && !wick_dim_eq(indices->dim[k], x->dim[k]))
      others[nother] = s.index[k], sizes[nother++] = indices->dim[k];
  wick_value there = wick_stage_inside(b, nother, others, sizes);
  if (there.id) wick_if_begin(b, there, 0, NULL);
  n = scatter_slices_loops(b, &s, indices->dim[s.at], indices->dim[last], any);
  wick_value i = scatter_walk_index(c, s.index, n, any, x->dim[s.at], &inside);
  wick_value v = wick_read(b, c->in[2], s.index, n, any, (wick_value){0}), to[2] = {i, any[1]};
  scatter_walk_update(c, out, s.index, n, to, v, inside);
  scatter_loops_end(b, n);
  if (there.id) {
    wick_if_else(b, 0, NULL);
    wick_if_end(b, 0, NULL);
  }
  c->out[0] = wick_loop_nest_end(b);
}

const wick_op wick_op_scatter_elements = {
    .name = "scatter_elements",
    .doc = "x, in which each element of the updates replaces the element at the same position, "
           "except that the index gives the position along `axis`. With `reduction` it is "
           "combined with that element instead. Updates of one element are applied in order. "
           "Negative indices count from the end. An index out of range fails the run",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {{"reduction", WICK_ATTR_ENUM, 0, false, SCATTER_WORDS, 0, 0},
             {"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 1,
    .effect = WICK_MAY_FAIL,
    .unfusable = true,
    .updates = true,
    .infer = scatter_elements_infer,
    .ref = scatter_elements_ref,
    .compute = scatter_elements_compute,
    .grad = wick_grad_scatter_elements,
    .batch.run = wick_batch_scatter_elements,
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

/* The loop nest has an axis for each dimension that the index tuples do not select. Each of its
 * points goes through all tuples. */
static void scatter_nd_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *indices = wick_built_info(b, c->in[1]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], tuple[WICK_MAX_RANK], from[WICK_MAX_RANK];
  wick_value place[WICK_MAX_RANK], to[WICK_MAX_RANK], inside = {0};
  uint32_t rank = wick_axes_of(b, c->out_type[0], axis), last = indices->rank - 1u,
           depth = (uint32_t)indices->dim[last].v;
  for (uint32_t k = 0; k < rank; k++) index[k] = k < depth ? WICK_DIM_ANY : axis[k].sym;
  for (uint32_t k = 0; k < last; k++) tuple[k] = from[k] = WICK_DIM_ANY;
  for (uint32_t k = depth; k < rank; k++) from[last + k - depth] = index[k];
  wick_value out =
      wick_loop_nest_begin(b, "scatter_nd", rank - depth, axis + depth, c->nout, c->out_type);
  scatter_copy(c, out, depth, x->dim, index);
  wick_for_sizes_begin(b, last, indices->dim, place);
  for (uint32_t d = 0; d < depth; d++) {
    tuple[last] = wick_dim_const(d);
    to[d] = scatter_walk_index(c, tuple, last, place, x->dim[d], &inside);
  }
  wick_value v = wick_read(b, c->in[2], from, last, place, (wick_value){0});
  scatter_walk_update(c, out, index, depth, to, v, inside);
  scatter_loops_end(b, last);
  c->out[0] = wick_loop_nest_end(b);
}

const wick_op wick_op_scatter_nd = {
    .name = "scatter_nd",
    .doc = "x, in which updates replace parts of x, or are combined with them by `reduction`. The "
           "last dimension of the indices holds tuples; each tuple selects the part of x for the "
           "update at the tuple's position. Updates of one element are applied in order. Negative "
           "indices count from the end. An index out of range fails the run",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {{"reduction", WICK_ATTR_ENUM, 0, false, SCATTER_WORDS, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 1,
    .effect = WICK_MAY_FAIL,
    .unfusable = true,
    .updates = true,
    .simplify = wick_simplify_scatter_nd,
    .infer = scatter_nd_infer,
    .ref = scatter_nd_ref,
    .compute = scatter_nd_compute,
    .grad = wick_grad_scatter_nd,
    .batch.run = wick_batch_scatter_nd,
};
