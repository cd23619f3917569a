/* Sums of products of neighbouring elements: what dot-product instructions do. The interpreter
 * (loop/interpret.c) says what it computes. */
#include "ir/op.h"

static bool dot_is_narrow(wick_elem e)
{
  return wick_elem_is_int(e) && wick_elem_storage[e].bits <= 16;
}

static wick_status dot_infer(wick_infer *c)
{
  const wick_type_info *t[3];
  for (uint32_t i = 0; i < 3; i++) {
    t[i] = wick_type_get(c->module, c->in[i]->type);
    if (t[i]->kind != WICK_SCALAR)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is no vector", i);
  }
  const wick_type_info *sum = t[0], *x = t[1], *w = t[2];
  if (sum->elem != WICK_I32 || !dot_is_narrow(x->elem) || !dot_is_narrow(w->elem))
    return wick_infer_fail(c, WICK_ETYPE, "there is no sum of %s times %s in %s",
                           wick_elem_name(x->elem), wick_elem_name(w->elem),
                           wick_elem_name(sum->elem));
  if (x->lanes != w->lanes || x->lanes % sum->lanes)
    return wick_infer_fail(c, WICK_ETYPE, "%u and %u lanes for a sum of %u", x->lanes, w->lanes,
                           sum->lanes);
  c->out[0].type = c->in[0]->type;
  return NULL;
}

const wick_op wick_op_dot = {
    .name = "dot",
    .doc = "To each lane of a sum, an i32, the products of k neighbouring lanes of x and w, whole "
           "numbers of at most 16 bits, are added; k: as many lanes as they have for one of the "
           "sum. Wraps",
    .nin = {3, 3},
    .nout = {1, 1},
    .level = WICK_LOOP,
    .infer = dot_infer,
};
