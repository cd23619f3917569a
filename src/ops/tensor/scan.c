/* Running sums and products along an axis. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_opcode scan_row(wick_opcode op)
{
  return op == WICK_OP_cumprod ? WICK_OP_mul : WICK_OP_add;
}

static wick_status scan_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  return wick_infer_same(c);
}

static wick_status scan_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_cumsum_axis].i;
  bool exclusive = c->attr[WICK_ATTR_cumsum_exclusive].i,
       reverse = c->attr[WICK_ATTR_cumsum_reverse].i;
  int64_t n = x->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  bool is_float = wick_elem_is_float(x->elem), product = c->op == WICK_OP_cumprod;
  wick_scalar *v = wick_ref_load(c->mem, x);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      wick_scalar sum = wick_ops[scan_row(c->op)]->neutral(x->elem);
      for (int64_t k = 0; k < n; k++) {
        wick_scalar *own = &v[(o * n + (reverse ? n - 1 - k : k)) * inner + i], before = sum;
        uint64_t u = (uint64_t)sum.i, v_i = (uint64_t)own->i;
        if (is_float)
          sum.f = product ? sum.f * own->f : sum.f + own->f;
        else
          sum.i = (int64_t)(product ? u * v_i : u + v_i);
        *own = exclusive ? before : sum;
      }
    }
  wick_ref_write(&c->out[0], 0, wick_ref_numel(x), v);
  return NULL;
}

/* A loop along each 1-D slice, which carries the sum or product so far. */
static void scan_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_cumsum_axis].i;
  wick_opcode by = scan_row(c->op);
  wick_elem acc = wick_stage_range(x->elem, by);
  wick_line line;
  wick_value out = wick_lines_begin(c, wick_ops[c->op]->name, at, 0, NULL, &line);
  wick_value last = wick_index(b, wick_dim_sub(b->module->dims, x->dim[at], wick_dim_const(1)));
  wick_value none = wick_build_neutral(b, by, wick_type_scalar(b->module, acc, 1));
  wick_value k = wick_for_size_begin(b, x->dim[at], 1, &none);
  wick_value before = {k.id + 1};
  if (c->attr[WICK_ATTR_cumsum_reverse].i) k = wick_build2(b, WICK_OP_sub, last, k);
  wick_value v = wick_build_cast(b, wick_line_read(b, &line, c->in[0], k), acc);
  wick_value sum = wick_build2(b, by, before, v);
  wick_line_put(b, &line, out, k,
                wick_build_cast(b, c->attr[WICK_ATTR_cumsum_exclusive].i ? before : sum, x->elem));
  wick_for_end(b, 1, &sum);
  c->out[0] = wick_loop_nest_end(b);
}

const wick_op wick_op_cumsum = {
    .name = "cumsum",
    .doc = "The sum of the elements up to each position along `axis`, in order. `exclusive` "
           "leaves out the element itself; `reverse` starts at the end. f16 and bf16 are summed "
           "in f32; integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"exclusive", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .unfusable = true,
    .slices = true,
    .elems = WICK_NUMBERS,
    .infer = scan_infer,
    .ref = scan_ref,
    .compute = scan_compute,
    .grad = wick_grad_cumsum,
    .linear = {1},
    .batch.run = wick_batch_axes,
};

const wick_op wick_op_cumprod = {
    .name = "cumprod",
    .doc = "The product of the elements up to each position along `axis`, in order. `exclusive` "
           "leaves out the element itself; `reverse` starts at the end. Floats are multiplied in "
           "f64; integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"exclusive", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .unfusable = true,
    .slices = true,
    .elems = WICK_NUMBERS,
    .infer = scan_infer,
    .ref = scan_ref,
    .compute = scan_compute,
    .grad = wick_grad_cumprod,
    .batch.run = wick_batch_axes,
};
