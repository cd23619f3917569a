/* shape and size: sizes as data, so that shape arithmetic of exported models stays symbolic. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* Clamps the range of dimensions from `start` to before `end`. Negative numbers count from the
 * end. */
static void shape_range(const wick_attr *attr, uint32_t rank, uint32_t *begin, uint32_t *end)
{
  int64_t r[2];
  for (uint32_t i = 0; i < 2; i++) {
    int64_t v = attr[i].i < 0 ? attr[i].i + (int64_t)rank : attr[i].i;
    r[i] = wick_min_i64(wick_max_i64(v, 0), rank);
  }
  *begin = (uint32_t)r[0];
  *end = (uint32_t)wick_max_i64(r[0], r[1]);
}

static wick_status shape_infer(wick_infer *c)
{
  const wick_type_info *x;
  uint32_t begin, end;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  shape_range(c->attr, x->rank, &begin, &end);
  wick_dim n = wick_dim_const(end - begin);
  wick_infer_out(c, 0, WICK_I64, 1, &n);
  c->out[0].content = wick_dup(&c->module->mem, wick_dim, x->dim + begin, end - begin);
  c->out[0].ncontent = end - begin;
  return NULL;
}

static wick_status shape_ref(wick_ref *c)
{
  uint32_t begin, end;
  shape_range(c->attr, c->in[0].rank, &begin, &end);
  for (uint32_t k = begin; k < end; k++)
    wick_store_elem(WICK_I64, c->out[0].data, k - begin, (wick_scalar){.i = c->in[0].dim[k]});
  return NULL;
}

/* Selects the size of dimension `begin` + d0 by comparisons, as the vector is short. */
static void shape_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  uint32_t begin, end;
  wick_axis axis[WICK_MAX_RANK];
  shape_range(c->attr, x->rank, &begin, &end);
  wick_stage_map(c, 0, "shape", axis);
  wick_value v = wick_build_i64(b, 0);
  for (uint32_t k = begin; k < end; k++)
    v = wick_build3(b, WICK_OP_where,
                    wick_stage_compare(b, WICK_OP_eq, axis[0].sym, wick_dim_const(k - begin)),
                    wick_stage_number(b, x->dim[k], WICK_I64), v);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_shape = {
    .name = "shape",
    .doc = "The sizes of the dimensions of x from `start` up to, not including, `end`. Negative "
           "numbers count from the last dimension",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"start", WICK_ATTR_INT, 0, false, NULL, 0, 0},
             {"end", WICK_ATTR_INT, WICK_MAX_RANK, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .infer = shape_infer,
    .ref = shape_ref,
    .compute = shape_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};

static wick_status size_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  wick_infer_out(c, 0, WICK_I64, 0, NULL);
  wick_dim n = wick_type_numel(c->module, c->in[0]->type);
  c->out[0].content = wick_dup(&c->module->mem, wick_dim, &n, 1);
  c->out[0].ncontent = 1;
  return NULL;
}

static wick_status size_ref(wick_ref *c)
{
  wick_store_elem(WICK_I64, c->out[0].data, 0,
                  (wick_scalar){.i = (int64_t)wick_ref_numel(&c->in[0])});
  return NULL;
}

static void size_compute(const wick_compute *c)
{
  wick_axis axis[WICK_MAX_RANK];
  wick_stage_map(c, 0, "size", axis);
  wick_value v = wick_stage_number(
      c->b, wick_type_numel(c->b->module, wick_built_type(c->b, c->in[0])), WICK_I64);
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_size = {
    .name = "size",
    .doc = "The number of elements of x",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .infer = size_infer,
    .ref = size_ref,
    .compute = size_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
