/* Running sums and products along an axis. */
#include "ops/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { SCAN_AXIS, SCAN_EXCLUSIVE, SCAN_REVERSE };

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
  uint32_t axis = (uint32_t)c->attr[SCAN_AXIS].i;
  bool exclusive = c->attr[SCAN_EXCLUSIVE].i, reverse = c->attr[SCAN_REVERSE].i;
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

/* Every element is a fold of its own: the elements up to its place. */
static void scan_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[SCAN_AXIS].i, n = wick_axes_of(b, c->out_type[0], axis);
  bool exclusive = c->attr[SCAN_EXCLUSIVE].i, reverse = c->attr[SCAN_REVERSE].i;
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  axis[n] = wick_make_axis(b, "k", x->dim[at], true);
  wick_dim last = wick_dim_sub(t, x->dim[at], wick_dim_const(1)), own = index[at];
  index[at] = reverse ? wick_dim_sub(t, last, axis[n].sym) : axis[n].sym; /* in the order of sums */
  wick_opcode by = scan_row(c->op);
  wick_elem acc = wick_stage_range(x->elem, by);
  wick_value state =
      wick_stage_fold(b, wick_ops[c->op]->name, n + 1, axis, c->out_type[0], by, acc);
  wick_opcode before =
      reverse ? (exclusive ? WICK_OP_gt : WICK_OP_ge) : (exclusive ? WICK_OP_lt : WICK_OP_le);
  wick_value v = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), acc),
             on = wick_stage_compare(b, before, index[at], own);
  v = wick_build3(b, WICK_OP_where, on, wick_build2(b, by, state, v), state);
  c->out[0] = wick_stage_end(b, wick_stage_finish(b, v, by), c->out_type[0]);
}

const wick_op wick_op_cumsum = {
    .name = "cumsum",
    .doc = "The sum of the elements up to each place along `axis`, in order; without the element "
           "itself (`exclusive`), from the end (`reverse`). f16 and bf16 are summed in f32; "
           "integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"exclusive", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = scan_infer,
    .ref = scan_ref,
    .compute = scan_compute,
    .grad = wick_grad_cumsum,
};

const wick_op wick_op_cumprod = {
    .name = "cumprod",
    .doc =
        "The product of the elements up to each place along `axis`, in order; without the element "
        "itself (`exclusive`), from the end (`reverse`). Floats are multiplied in f64; "
        "integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"exclusive", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = scan_infer,
    .ref = scan_ref,
    .compute = scan_compute,
    .grad = wick_grad_cumprod,
};
