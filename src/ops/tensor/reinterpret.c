/* reinterpret: the same bytes as a tensor of another type. */
#include <string.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/tensor.h"

static wick_status reinterpret_infer(wick_infer *c)
{
  const wick_type_info *x;
  uint64_t have, want;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (!wick_type_nbytes(c->module, c->in[0]->type, &have) ||
      !wick_type_nbytes(c->module, c->want[0], &want) || have != want)
    return wick_infer_fail(c, WICK_ETYPE, "%s does not have the bytes of %s",
                           wick_infer_type_text(c, c->in[0]->type),
                           wick_infer_type_text(c, c->want[0]));
  c->out[0].type = c->want[0];
  return NULL;
}

static wick_status reinterpret_ref(wick_ref *c)
{
  uint64_t n = wick_ref_numel(&c->out[0]);
  memcpy(c->out[0].data, c->in[0].data, wick_elem_bytes(c->out[0].elem, n));
  return NULL;
}

const wick_op wick_op_reinterpret = {
    .name = "reinterpret",
    .doc = "The bytes of x as a tensor of another element type or shape of the same number of "
           "bytes. Elements of less than a byte fill it from its lowest bits",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .typed = true,
    .view_of = {.kind = WICK_VIEW_SAME},
    .infer = reinterpret_infer,
    .ref = reinterpret_ref,
    .grad = wick_grad_none,
    .batch.run = wick_batch_axes,
};
