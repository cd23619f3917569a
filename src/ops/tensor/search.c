/* search_sorted: binary search in a sorted list, as straight-line code whose lanes are elements. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status search_infer(wick_infer *c)
{
  const wick_type_info *x, *keys;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(wick_infer_alike(c, 1, "the list", 1, &keys));
  if (keys->rank != 1 || !wick_dim_is_const(keys->dim[0]) || keys->dim[0].v < 1)
    return wick_infer_fail(c, WICK_ETYPE,
                           "the list is %s, expected a vector of at least one element",
                           wick_infer_type_text(c, c->in[1]->type));
  wick_infer_out(c, 0, WICK_I64, x->rank, x->dim);
  return NULL;
}

static bool search_less(wick_elem e, wick_scalar x, wick_scalar y)
{
  if (wick_elem_is_float(e)) return x.f < y.f;
  return wick_elem_class(e) == WICK_UINT ? (uint64_t)x.i < (uint64_t)y.i : x.i < y.i;
}

static wick_status search_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *keys = &c->in[1];
  for (uint64_t i = 0, n = wick_ref_numel(x); i < n; i++) {
    wick_scalar v = wick_load_elem(x->elem, x->data, i);
    int64_t lo = 0;
    for (int64_t step = (int64_t)1 << 62; step; step >>= 1)
      if (lo + step <= keys->dim[0] &&
          search_less(x->elem, wick_load_elem(x->elem, keys->data, (uint64_t)(lo + step - 1)), v))
        lo += step;
    wick_store_elem(WICK_I64, c->out[0].data, i, (wick_scalar){.i = lo});
  }
  return NULL;
}

static void search_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  int64_t n = wick_built_info(b, c->in[1])->dim[0].v, step = 1;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t rank = wick_stage_map(c, 0, "search", axis);
  for (uint32_t k = 0; k < rank; k++) index[k] = axis[k].sym;
  wick_value x = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  wick_value lo = wick_build_i64(b, 0);
  while (step <= n / 2) step *= 2;
  for (; step && !b->status; step /= 2) {
    wick_value to = wick_build2(b, WICK_OP_add, lo, wick_build_i64(b, step));
    wick_value last = wick_build2(b, WICK_OP_sub, to, wick_build_i64(b, 1));
    wick_value at = wick_build2(b, WICK_OP_min, last, wick_build_i64(b, n - 1));
    wick_value key = wick_read(b, c->in[1], &WICK_DIM_ANY, 1, &at, (wick_value){0});
    wick_value fits = wick_build2(b, WICK_OP_le, to, wick_build_i64(b, n));
    wick_value less = wick_build2(b, WICK_OP_lt, key, x);
    lo = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_and, fits, less), to, lo);
  }
  c->out[0] = wick_map_end(b, 1, &lo);
}

const wick_op wick_op_search_sorted = {
    .name = "search_sorted",
    .doc = "The number of elements of an ascending list that come before the first one that is "
           "not less than x: the position where x is or would be inserted. NaN is not less than "
           "anything. Strings are compared by their numbers",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS | WICK_TEXTS,
    .infer = search_infer,
    .ref = search_ref,
    .compute = search_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_axes_first,
};
