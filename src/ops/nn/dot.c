/* Sums of products of neighbouring elements, as dot product instructions compute them. The
 * interpreter (loop/interpret.c) defines the result. */
#include "ir/op.h"

/* Returns true if the types are integers or floats of at most 16 bits and `sum` is the type of
 * their sums. */
static bool dot_sums(wick_elem sum, wick_elem x, wick_elem w)
{
  bool ints = wick_elem_is_int(x) && wick_elem_is_int(w);
  if (wick_elem_storage[x].bits > 16 || wick_elem_storage[w].bits > 16) return false;
  return ints ? sum == WICK_I32 : x == w && wick_elem_is_float(x) && sum == WICK_F32;
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
  if (!dot_sums(sum->elem, x->elem, w->elem))
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
    .doc = "Adds to each lane of a sum the products of k neighbouring lanes of x and w, where k "
           "is the number of their lanes for each lane of the sum. The sum of integers of at most "
           "16 bits is an i32, which wraps. The sum of f16 or bf16 is an f32: the last product is "
           "added first, each by one fma. Numbers below the normal range, in operands and in "
           "between, may become 0; they do on a target that has this product as an instruction",
    .nin = {3, 3},
    .nout = {1, 1},
    .level = WICK_LOOP,
    .infer = dot_infer,
};
