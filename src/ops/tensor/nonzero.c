/* nonzero: the indices of the true elements of a tensor. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/tensor.h"

static wick_status nonzero_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[2];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  dim[0] = wick_dim_const(x->rank);
  dim[1] = wick_type_numel(c->module, c->in[0]->type);
  wick_infer_out(c, 0, WICK_I64, x->rank > 1 ? 2 : 1, x->rank > 1 ? dim : dim + 1);
  wick_infer_out(c, 1, WICK_I64, 0, NULL);
  c->nout = 2;
  return NULL;
}

/* Stores the index of element i of x in column `at` of the result. */
static void nonzero_store(const wick_ref *c, uint64_t at, int64_t i)
{
  const wick_tensor *x = &c->in[0];
  uint64_t n = wick_ref_numel(x);
  for (uint32_t k = x->rank; k-- > 0; i /= x->dim[k])
    wick_store_elem(WICK_I64, c->out[0].data, k * n + at, (wick_scalar){.i = i % x->dim[k]});
}

static wick_status nonzero_ref(wick_ref *c)
{
  uint64_t n = wick_ref_numel(&c->in[0]), count = 0;
  for (uint64_t i = 0; i < n; i++)
    if (wick_load_int(WICK_BOOL, c->in[0].data, i)) nonzero_store(c, count++, (int64_t)i);
  wick_store_elem(WICK_I64, c->out[1].data, 0, (wick_scalar){.i = (int64_t)count});
  for (; count < n; count++) nonzero_store(c, count, (int64_t)n - 1);
  return NULL;
}

/* Writes an index, a number for each of n dimensions, as column `at` of the result. */
static void nonzero_put(wick_builder *b, wick_value out, wick_value at, uint32_t n,
                        const wick_value *index)
{
  for (uint32_t k = 0; k < n; k++) {
    wick_dim place[2] = {wick_dim_const(k), WICK_DIM_ANY};
    wick_put(b, out, n > 1 ? place : place + 1, 1, &at, index[k]);
  }
}

/* A loop for each dimension, so that no index has to be divided. Each index is written after those
 * found so far. The next one overwrites it unless its element is true. */
static void nonzero_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info x = *wick_built_info(b, c->in[0]);
  wick_dim any[WICK_MAX_RANK], all = wick_type_numel(b->module, wick_built_type(b, c->in[0]));
  wick_value size[WICK_MAX_RANK], index[WICK_MAX_RANK];
  wick_value out = wick_loop_nest_begin(b, "nonzero", 0, NULL, 2, c->out_type);
  wick_value number = {out.id + 1}, zero = wick_build_i64(b, 0), count = zero;
  for (uint32_t k = 0; k < x.rank; k++) any[k] = WICK_DIM_ANY, size[k] = wick_index(b, x.dim[k]);
  for (uint32_t k = 0; k < x.rank; k++) {
    index[k] = wick_for_begin(b, zero, size[k], 1, &count);
    count = (wick_value){index[k].id + 1};
  }
  nonzero_put(b, out, count, x.rank, index);
  wick_value on = wick_read(b, c->in[0], any, x.rank, index, (wick_value){0});
  count = wick_build2(b, WICK_OP_add, count, wick_build_cast(b, on, WICK_I64));
  for (uint32_t k = 0; k < x.rank; k++) count = wick_for_end(b, 1, &count);
  wick_value i = wick_for_begin(b, count, wick_index(b, all), 0, NULL);
  for (uint32_t k = 0; k < x.rank; k++) index[k] = wick_loop_nest_by(b, WICK_OP_sub, size[k], 1);
  nonzero_put(b, out, i, x.rank, index);
  wick_for_end(b, 0, NULL);
  wick_put(b, number, NULL, 0, NULL, count);
  c->out[0] = wick_loop_nest_end(b);
  c->out[1] = (wick_value){c->out[0].id + 1};
}

const wick_op wick_op_nonzero = {
    .name = "nonzero",
    .doc =
        "The indices of the true elements of x, in order, padded with the last index; and the "
        "number of true elements. A vector has positions, [n]; a tensor of rank R has a column of "
        "numbers for each element, [R, n]",
    .nin = {1, 1},
    .nout = {2, 2},
    .level = WICK_GRAPH,
    .unfusable = true,
    .elems = WICK_BIT(WICK_BOOL),
    .infer = nonzero_infer,
    .ref = nonzero_ref,
    .compute = nonzero_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
