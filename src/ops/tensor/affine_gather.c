/* affine_gather: the elements of a tensor at affine functions of the result's index, as index
 * notation reads them: x[2*i + r, j, j]. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { SHAPE, BEGIN, STEP, GUARD };

/* Element `row` of begin + step * index. */
static wick_dim affine_gather_index(wick_dims *t, const wick_attr *attr, uint32_t row, uint32_t n,
                                    const wick_dim *index)
{
  wick_dim sum = attr[BEGIN].dims[row];
  for (uint32_t k = 0; k < n; k++)
    sum = wick_dim_add(t, sum,
                       wick_dim_mul(t, index[k], wick_dim_const(attr[STEP].ints[row * n + k])));
  return sum;
}

/* Fails if an element is outside of x for all sizes. */
static wick_status affine_gather_check(const wick_infer *c, const wick_type_info *x, uint32_t row)
{
  wick_dims *t = c->module->dims;
  uint32_t n = c->attr[SHAPE].n;
  wick_dim first[WICK_MAX_RANK], last[WICK_MAX_RANK];
  int64_t least, most, over, beyond, unused;
  for (uint32_t k = 0; k < n; k++) {
    wick_dim end = wick_dim_sub(t, c->attr[SHAPE].dims[k], wick_dim_const(1)),
             zero = wick_dim_const(0);
    bool back = c->attr[STEP].ints[row * n + k] < 0;
    if (wick_dim_is(c->attr[SHAPE].dims[k], 0)) return NULL;
    first[k] = back ? end : zero, last[k] = back ? zero : end;
  }
  wick_dim lo = affine_gather_index(t, c->attr, row, n, first),
           hi = affine_gather_index(t, c->attr, row, n, last);
  wick_dim_range(t, lo, &unused, &least);
  wick_dim_range(t, hi, &unused, &most);
  wick_dim_range(t, wick_dim_sub(t, hi, x->dim[row]), &over, &beyond);
  if (least >= 0 && most >= 0 && over < 0) return NULL;
  return wick_infer_fail(c, WICK_ERANGE, "axis %u: elements %s to %s of %s", row,
                         wick_infer_dim_text(c, lo), wick_infer_dim_text(c, hi),
                         wick_infer_dim_text(c, x->dim[row]));
}

static wick_status affine_gather_infer(wick_infer *c)
{
  const wick_type_info *x;
  uint32_t n = c->attr[SHAPE].n;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (n > WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ELIMIT, "rank %u, at most %d is possible", n, WICK_MAX_RANK);
  if (c->attr[BEGIN].n != x->rank || c->attr[STEP].n != x->rank * n)
    return wick_infer_fail(c, WICK_ETYPE, "begin and step have %u and %u numbers, expected %u, %u",
                           c->attr[BEGIN].n, c->attr[STEP].n, x->rank, x->rank * n);
  for (uint32_t row = 0; row < x->rank && !c->attr[GUARD].i; row++)
    WICK_TRY(affine_gather_check(c, x, row));
  wick_infer_out(c, 0, x->elem, n, c->attr[SHAPE].dims);
  return NULL;
}

static wick_status affine_gather_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  uint64_t at = 0;
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  do {
    int64_t from = 0;
    bool inside = true;
    for (uint32_t d = 0; d < x->rank; d++) {
      int64_t i = c->attr[BEGIN].dims[d].v;
      for (uint32_t k = 0; k < out->rank; k++)
        i += index[k] * c->attr[STEP].ints[d * out->rank + k];
      inside = inside && i >= 0 && i < x->dim[d];
      from += i * stride[d];
    }
    if (!inside && !c->attr[GUARD].i)
      return wick_ref_fail(c, WICK_ERANGE, "an element is outside of x");
    if (inside) wick_ref_move(out, at, x, (uint64_t)from);
    at++;
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void affine_gather_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim sym[WICK_MAX_RANK], index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "affine_gather", axis),
           rank = wick_built_info(b, c->in[0])->rank;
  for (uint32_t k = 0; k < n; k++) sym[k] = axis[k].sym;
  for (uint32_t d = 0; d < rank; d++)
    index[d] = affine_gather_index(b->module->dims, c->attr, d, n, sym);
  wick_value v = c->attr[GUARD].i ? wick_stage_read0(b, c->in[0], index)
                                  : wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

/* The rows are one dimension more of x and of the result. */
static void affine_gather_batch(wick_batching *a)
{
  const wick_attr *old = a->node->attr;
  uint32_t n = old[SHAPE].n, rank = old[BEGIN].n;
  wick_dim shape[WICK_MAX_RANK], begin[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK * WICK_MAX_RANK] = {0};
  if (n == WICK_MAX_RANK || rank == WICK_MAX_RANK) {
    wick_batch_rows(a);
    return;
  }
  shape[0] = a->n, begin[0] = wick_dim_const(0), step[0] = 1;
  for (uint32_t k = 0; k < n; k++) shape[k + 1] = old[SHAPE].dims[k];
  for (uint32_t d = 0; d < rank; d++) begin[d + 1] = old[BEGIN].dims[d];
  for (uint32_t d = 0; d < rank; d++)
    for (uint32_t k = 0; k < n; k++) step[(d + 1) * (n + 1) + k + 1] = old[STEP].ints[d * n + k];
  const wick_attr attr[] = {[SHAPE] = {.n = n + 1, .dims = shape},
                            [BEGIN] = {.n = rank + 1, .dims = begin},
                            [STEP] = {.n = (rank + 1) * (n + 1), .ints = step},
                            [GUARD] = old[GUARD]};
  wick_value x = wick_batch_full(a, 0);
  a->out[0] = wick_build(a->b, WICK_OP_affine_gather, 1, &x, attr, 0, NULL);
}

const wick_op wick_op_affine_gather = {
    .name = "affine_gather",
    .doc = "Element begin + step*i of x for each index i of a result of `shape`, where `step` is a "
           "matrix with a row for each dimension of x and a column for each of the result. With "
           "`guard`, elements outside of x are 0; otherwise all lie in x",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {[SHAPE] = {"shape", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             [BEGIN] = {"begin", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             [STEP] = {"step", WICK_ATTR_INTS, 0, true, NULL, 0, 0},
             [GUARD] = {"guard", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .rounding_transparent = true,
    .infer = affine_gather_infer,
    .ref = affine_gather_ref,
    .compute = affine_gather_compute,
    .grad = wick_grad_affine_gather,
    .linear = {1},
    .batch.run = affine_gather_batch,
};
