/* Reshapes whose target is given by sizes of a tensor: Flatten, Squeeze, the steps of DepthToSpace
 * and the like. */
#include "import/onnx/import.h"

static wick_dim reshape_size(wick_onnx_op *o, const wick_type_info *like, const wick_onnx_target *t)
{
  wick_dims *dims = o->c->module->dims;
  if (t->axis < 0) return wick_dim_const(t->size);
  wick_dim d = like->dim[t->axis];
  if (t->mul) d = wick_dim_mul(dims, d, wick_dim_const(t->mul));
  return t->div ? wick_dim_floordiv(dims, d, wick_dim_const(t->div)) : d;
}

/* One size as a vector of length 1. */
static wick_value reshape_piece(wick_onnx_op *o, wick_value like, const wick_onnx_target *t)
{
  if (t->axis < 0) return wick_onnx_vector(o, 1, &t->size);
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_shape);
  wick_onnx_set_int(&e, "start", t->axis);
  wick_onnx_set_int(&e, "end", t->axis + 1);
  wick_value v = wick_onnx_end1(&e, like);
  if (t->mul) v = wick_build2(o->b, WICK_OP_mul, v, wick_onnx_vector(o, 1, &t->mul));
  if (t->div) v = wick_build2(o->b, WICK_OP_div, v, wick_onnx_vector(o, 1, &t->div));
  return v;
}

/* Numbers alone: symbolic sizes as "the same as there" (0) or, once, as "what is left" (-1). False
 * where that is not enough. */
static bool reshape_numbers(wick_onnx_op *o, wick_value x, wick_value like, uint32_t n,
                            const wick_onnx_target *t, int64_t *out, bool *out_zero)
{
  const wick_type_info *from = wick_built_info(o->b, x), *l = wick_built_info(o->b, like);
  bool rest = false, symbolic = false;
  *out_zero = false;
  for (uint32_t k = 0; k < n; k++) {
    rest |= t[k].axis < 0 && t[k].size == -1;
    *out_zero |= wick_dim_is(reshape_size(o, l, &t[k]), 0);
  }
  for (uint32_t k = 0; k < n; k++) {
    wick_dim d = reshape_size(o, l, &t[k]);
    out[k] = d.v;
    if (wick_dim_is_const(d)) continue;
    symbolic = true;
    bool same = k < from->rank && wick_dim_eq(from->dim[k], d);
    if (!same && rest) return false;
    out[k] = same ? 0 : -1;
    rest |= !same;
  }
  return !(symbolic && *out_zero);
}

wick_value wick_onnx_reshape(wick_onnx_op *o, wick_value x, wick_value like, uint32_t n,
                             const wick_onnx_target *t)
{
  if (o->b->status) return (wick_value){0};
  int64_t v[WICK_MAX_RANK];
  wick_value piece[WICK_MAX_RANK], shape;
  bool zero, plain = n <= WICK_MAX_RANK && reshape_numbers(o, x, like, n, t, v, &zero);
  if (n > WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", n, WICK_MAX_RANK);
    return (wick_value){0};
  }
  if (plain) {
    shape = wick_onnx_vector(o, n, v);
  } else {
    zero = true;
    for (uint32_t k = 0; k < n; k++) piece[k] = reshape_piece(o, like, &t[k]);
    shape = wick_build(o->b, WICK_OP_concat, n, piece, NULL, 0, NULL);
  }
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_reshape);
  wick_onnx_set_int(&e, "allow_zero", zero);
  return wick_onnx_end2(&e, x, shape);
}
