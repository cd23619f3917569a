/* transpose: dimensions in another order. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* perm[k] is the dimension of x that becomes dimension k of the result. */
static void transpose_perm(const wick_attr *attr, uint32_t rank, uint32_t *perm)
{
  for (uint32_t k = 0; k < rank; k++)
    perm[k] = attr[WICK_ATTR_transpose_perm].n ? (uint32_t)attr[WICK_ATTR_transpose_perm].ints[k]
                                               : rank - 1 - k;
}

static wick_status transpose_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  const wick_attr *a = &c->attr[WICK_ATTR_transpose_perm];
  if (a->n && a->n != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "perm has %u numbers, x has rank %u", a->n, x->rank);
  uint32_t seen = 0, perm[WICK_MAX_RANK];
  for (uint32_t k = 0; k < a->n; k++) {
    bool outside = a->ints[k] < 0 || a->ints[k] >= (int64_t)x->rank;
    if (outside || seen >> a->ints[k] & 1)
      return wick_infer_fail(c, WICK_ETYPE, "perm: %lld %s", (long long)a->ints[k],
                             outside ? "is not a dimension of x" : "occurs twice");
    seen |= 1u << a->ints[k];
  }
  transpose_perm(c->attr, x->rank, perm);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[perm[k]];
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  wick_infer_moved(c, 1);
  return NULL;
}

/* Works in tiles that fit in the cache: weights may have hundreds of megabytes. */
static void transpose_matrix(const wick_tensor *x, const wick_tensor *out)
{
  enum { TILE = 32 };
  int64_t rows = out->dim[0], columns = out->dim[1];
  for (int64_t r0 = 0; r0 < rows; r0 += TILE)
    for (int64_t c0 = 0; c0 < columns; c0 += TILE)
      for (int64_t r = r0; r < wick_min_i64(rows, r0 + TILE); r++)
        for (int64_t c = c0; c < wick_min_i64(columns, c0 + TILE); c++)
          wick_ref_move(out, (uint64_t)(r * columns + c), x, (uint64_t)(c * rows + r));
}

static wick_status transpose_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  uint32_t perm[WICK_MAX_RANK];
  transpose_perm(c->attr, x->rank, perm);
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  if (out->rank == 2 && perm[0] == 1) {
    transpose_matrix(x, out);
    return NULL;
  }
  uint64_t at = 0;
  do {
    int64_t from = 0;
    for (uint32_t k = 0; k < out->rank; k++) from += index[k] * stride[perm[k]];
    wick_ref_move(out, at++, x, (uint64_t)from);
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void transpose_compute(const wick_compute *c)
{
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t perm[WICK_MAX_RANK], n = wick_stage_map(c, 0, "transpose", axis);
  transpose_perm(c->attr, n, perm);
  for (uint32_t k = 0; k < n; k++) index[perm[k]] = axis[k].sym;
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

static void transpose_map(const wick_func *f, const wick_node *n, uint32_t k, wick_view_map *out)
{
  (void)k;
  transpose_perm(n->attr, wick_info_of(f, n->first)->rank, out->axis);
}

const wick_op wick_op_transpose = {
    .name = "transpose",
    .doc = "Dimension perm[k] of x becomes dimension k of the result. Without `perm` the "
           "dimensions are reversed",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"perm", WICK_ATTR_INTS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .view_of = {WICK_VIEW_OF_RESULT, transpose_map},
    .simplify = wick_simplify_transpose,
    .infer = transpose_infer,
    .ref = transpose_ref,
    .compute = transpose_compute,
    .grad = wick_grad_transpose_row,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
