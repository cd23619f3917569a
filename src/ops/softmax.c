/* Softmax and its relatives along one axis. */
#include <math.h>

#include "ops/ref.h"
#include "ops/tensor.h"

static wick_status softmax_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  return wick_infer_same(c);
}

/* One line of n elements, in place. */
static void softmax_line(wick_opcode op, int64_t n, wick_scalar *x)
{
  int64_t best = 0;
  double max = -(double)INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i].f) ? !isnan(x[best].f) : x[i].f > x[best].f) best = i;
    if (isnan(x[i].f) || x[i].f > max) max = x[i].f;
    if (isnan(max)) break;
  }
  for (int64_t i = 0; i < n; i++) sum += exp(x[i].f - max);
  for (int64_t i = 0; i < n; i++)
    if (op == WICK_OP_softmax)
      x[i].f = exp(x[i].f - max) / sum;
    else if (op == WICK_OP_log_softmax)
      x[i].f = x[i].f - max - log(sum);
    else
      x[i].f = i == best;
}

static wick_status softmax_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[0].i;
  int64_t n = x->dim[axis], outer = wick_ref_product(x, 0, axis),
          inner = wick_ref_product(x, axis + 1, x->rank);
  wick_scalar *line = wick_new(c->mem, wick_scalar, (size_t)n);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      uint64_t first = (uint64_t)(o * n * inner + i);
      for (int64_t k = 0; k < n; k++)
        line[k] = wick_load_elem(x->elem, x->data, first + (uint64_t)(k * inner));
      softmax_line(c->op, n, line);
      for (int64_t k = 0; k < n; k++)
        wick_store_elem(out->elem, out->data, first + (uint64_t)(k * inner), line[k]);
    }
  return NULL;
}

const wick_op wick_op_softmax = {
    .name = "softmax",
    .doc = "exp(x - max x) / sum exp(x - max x) along `axis`. A line that has NaN or +inf, or only "
           "-inf, is all NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = softmax_infer,
    .ref = softmax_ref,
};

const wick_op wick_op_log_softmax = {
    .name = "log_softmax",
    .doc = "x - max x - log(sum exp(x - max x)) along `axis`. A line that has NaN or +inf, or only "
           "-inf, is all NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = softmax_infer,
    .ref = softmax_ref,
};

const wick_op wick_op_hardmax = {
    .name = "hardmax",
    .doc = "1 at the first largest element along `axis` (the first NaN, where there is one), 0 "
           "elsewhere",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = softmax_infer,
    .ref = softmax_ref,
};
