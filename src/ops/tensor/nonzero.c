/* nonzero: the positions where a vector of conditions is true. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/tensor.h"

static wick_status nonzero_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  if (x->rank != 1)
    return wick_infer_fail(c, WICK_ETYPE, "x is %s, expected a vector",
                           wick_infer_type_text(c, c->in[0]->type));
  wick_infer_out(c, 0, WICK_I64, 1, x->dim);
  wick_infer_out(c, 1, WICK_I64, 0, NULL);
  c->nout = 2;
  return NULL;
}

static wick_status nonzero_ref(wick_ref *c)
{
  int64_t n = c->in[0].dim[0], count = 0;
  for (int64_t i = 0; i < n; i++)
    if (wick_load_int(WICK_BOOL, c->in[0].data, (uint64_t)i))
      wick_store_elem(WICK_I64, c->out[0].data, (uint64_t)count++, (wick_scalar){.i = i});
  wick_store_elem(WICK_I64, c->out[1].data, 0, (wick_scalar){.i = count});
  for (; count < n; count++)
    wick_store_elem(WICK_I64, c->out[0].data, (uint64_t)count, (wick_scalar){.i = n - 1});
  return NULL;
}

/* Each position is written after the positions found so far. The next position overwrites it
 * unless its element is true. */
static void nonzero_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dim size = wick_built_info(b, c->in[0])->dim[0];
  wick_value out = wick_loop_nest_begin(b, "nonzero", 0, NULL, 2, c->out_type), all = {out.id + 1};
  wick_value zero = wick_build_i64(b, 0), n = wick_index(b, size);
  wick_value i = wick_for_begin(b, zero, n, 1, &zero), count = {i.id + 1};
  wick_cell_put(b, out, count, i);
  wick_value on = wick_read(b, c->in[0], &WICK_DIM_ANY, 1, &i, (wick_value){0});
  count = wick_build2(b, WICK_OP_add, count, wick_build_cast(b, on, WICK_I64));
  count = wick_for_end(b, 1, &count);
  i = wick_for_begin(b, count, n, 0, NULL);
  wick_cell_put(b, out, i, wick_loop_nest_by(b, WICK_OP_sub, n, 1));
  wick_for_end(b, 0, NULL);
  wick_put(b, all, NULL, 0, NULL, count);
  c->out[0] = wick_loop_nest_end(b);
  c->out[1] = (wick_value){c->out[0].id + 1};
}

const wick_op wick_op_nonzero = {
    .name = "nonzero",
    .doc = "The positions of the true elements of a vector, in order, padded with the last "
           "position of the vector; and the number of true elements",
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
