/* argmax and argmin: the position of the largest or least element of each 1-D slice. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status arg_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_argmax_axis].i, n = 0;
  if (wick_dim_is(x->dim[axis], 0))
    return wick_infer_fail(c, WICK_ETYPE, "axis %u has no elements", axis);
  for (uint32_t k = 0; k < x->rank; k++) {
    if (k != axis)
      dim[n++] = x->dim[k];
    else if (c->attr[WICK_ATTR_argmax_keepdims].i)
      dim[n++] = wick_dim_const(1);
  }
  wick_infer_out(c, 0, WICK_I64, n, dim);
  return NULL;
}

/* Returns true if x comes before y in the order of the operator. */
static bool arg_better(const wick_ref *c, wick_elem e, wick_scalar x, wick_scalar y)
{
  bool least = c->op == WICK_OP_argmin;
  if (wick_elem_is_float(e)) {
    if (isnan(x.f) || isnan(y.f)) return isnan(x.f) && !isnan(y.f);
    return least ? x.f < y.f : x.f > y.f;
  }
  if (wick_elem_class(e) == WICK_UINT)
    return least ? (uint64_t)x.i < (uint64_t)y.i : (uint64_t)x.i > (uint64_t)y.i;
  return least ? x.i < y.i : x.i > y.i;
}

static wick_status arg_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_argmax_axis].i;
  int64_t n = x->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  const wick_scalar *v = wick_ref_load(c->mem, x);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      const wick_scalar *line = v + o * n * inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < n; k++) {
        bool better = arg_better(c, x->elem, line[k * inner], line[best * inner]),
             worse = arg_better(c, x->elem, line[best * inner], line[k * inner]);
        if (better || (c->attr[WICK_ATTR_argmax_last].i && !worse)) best = k;
      }
      wick_store_elem(WICK_I64, c->out[0].data, (uint64_t)(o * inner + i),
                      (wick_scalar){.i = best});
    }
  return NULL;
}

static void arg_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_argmax_axis].i, n = 0;
  for (uint32_t k = 0; k < x->rank; k++) {
    if (k == at && !c->attr[WICK_ATTR_argmax_keepdims].i) continue;
    wick_dim extent = k == at ? wick_dim_const(1) : x->dim[k];
    axis[n] = wick_make_axis(b, wick_str_printf(b->mem, "d%u", k), extent, false);
    index[k] = axis[n++].sym;
  }
  axis[n] = wick_make_axis(b, "c", x->dim[at], true);
  index[at] = axis[n++].sym;
  const wick_best_rule rule = {.least = c->op == WICK_OP_argmin,
                               .last = c->attr[WICK_ATTR_argmax_last].i != 0,
                               .ordered = true,
                               .at = wick_stage_position(b, x->dim[at], x->elem)};
  wick_best state =
                wick_stage_best(b, &rule, wick_ops[c->op]->name, n, axis, 1, c->out_type, x->elem),
            element;
  element.value = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  element.at = wick_stage_number(b, index[at], rule.at);
  wick_best r = wick_stage_best_finish(b, &rule, state, element, (wick_value){0});
  c->out[0] = wick_stage_end(b, r.at, c->out_type[0]);
}

/* Of short slices, lanes take every n-th element; of long ones, whole vectors. */
static wick_turn arg_turn(const wick_attr *attr, int64_t n, int64_t inner, int64_t lanes)
{
  enum { VECTORS = 4, FEW = 4 };
  (void)attr;
  if (inner == 1) return 2 * n > lanes && n <= VECTORS * lanes ? WICK_TURN_FIRST : WICK_TURN_NONE;
  return inner < FEW && 2 * n * inner > lanes ? WICK_TURN_ANY : WICK_TURN_NONE;
}

#define ARG_ROW(row, what)                                                                         \
  const wick_op wick_op_##row = {                                                                  \
      .name = #row,                                                                                \
      .doc = "The position along `axis` of the " what " element: the first one if several are "    \
             "equal, or with `last` the last one. NaN comes before all numbers",                   \
      .nin = {1, 1},                                                                               \
      .nout = {1, 1},                                                                              \
      .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},                                     \
               {"keepdims", WICK_ATTR_BOOL, 1, false, NULL, 0, 0},                                 \
               {"last", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},                                    \
      .level = WICK_GRAPH,                                                                         \
      .elems = WICK_NUMBERS,                                                                       \
      .turn = arg_turn,                                                                            \
      .reads_once = true,                                                                          \
      .simplify = wick_simplify_arg,                                                               \
      .infer = arg_infer,                                                                          \
      .ref = arg_ref,                                                                              \
      .compute = arg_compute,                                                                      \
      .grad = wick_grad_zero,                                                                      \
      .batch.run = wick_batch_axes,                                                                \
  };

ARG_ROW(argmax, "largest")
ARG_ROW(argmin, "least")
