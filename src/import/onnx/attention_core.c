/* The parts that the operators of attention have in common: heads, biases of scores, products,
 * softmax, rotation by positions. */
#include <math.h>

#include "import/onnx/attention.h"

/* ---- heads ---- */

/* [batch, length, heads * size] -> [batch, heads, length, size]. Returns 0 after it added a
 * failure. */
wick_value wick_onnx_heads(wick_onnx_op *o, wick_value x, int64_t heads)
{
  static const int64_t swap[] = {0, 2, 1, 3};
  if (o->b->status) return (wick_value){0};
  const wick_type_info *t = wick_built_info(o->b, x);
  wick_dim n = wick_dim_const(heads);
  if (heads < 1 || t->rank != 3 || !wick_onnx_divides(o, t->dim[2], n)) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "rank %u and %lld heads, expected 3 and a divisor of the last size", t->rank,
                   (long long)heads);
    return (wick_value){0};
  }
  const wick_dim split[] = {t->dim[0], t->dim[1], n,
                            wick_dim_floordiv(o->c->module->dims, t->dim[2], n)};
  return wick_build_transpose(o->b, wick_build_reshape(o->b, x, 4, split), 4, swap);
}

/* [batch, heads, length, size] -> [batch, length, heads * size]. */
wick_value wick_onnx_heads_joined(wick_onnx_op *o, wick_value x)
{
  static const int64_t swap[] = {0, 2, 1, 3};
  if (o->b->status) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  const wick_dim joined[] = {t->dim[0], t->dim[2],
                             wick_dim_mul(o->c->module->dims, t->dim[1], t->dim[3])};
  return wick_build_reshape(o->b, wick_build_transpose(o->b, x, 4, swap), 3, joined);
}

/* ---- scores ---- */

void wick_onnx_attention_add(wick_onnx_attention *a, wick_value bias)
{
  a->bias = a->bias.id ? wick_build2(a->o->b, WICK_OP_add, a->bias, bias) : bias;
}

/* Returns 0 for each allowed key, else -inf. */
wick_value wick_onnx_attention_allowed(wick_onnx_attention *a, wick_value allowed)
{
  wick_onnx_op *o = a->o;
  if (o->b->status) return allowed;
  return wick_build3(o->b, WICK_OP_where, allowed, wick_emit_number(o->b, a->q, 0),
                     wick_emit_number(o->b, a->q, -(double)INFINITY));
}

/* Multiplies heads. If several query heads share one key head, they become additional rows of
 * it. */
wick_value wick_onnx_attention_product(wick_onnx_attention *a, wick_value x, wick_value y)
{
  wick_onnx_op *o = a->o;
  wick_dims *dims = o->c->module->dims;
  if (o->b->status) return x;
  const wick_type_info *tx = wick_built_info(o->b, x), *ty = wick_built_info(o->b, y);
  if (wick_dim_eq(tx->dim[1], ty->dim[1])) return wick_build2(o->b, WICK_OP_matmul, x, y);
  const wick_dim shape[] = {tx->dim[0], tx->dim[1], tx->dim[2], ty->dim[3]};
  const wick_dim rows[] = {
      tx->dim[0], ty->dim[1],
      wick_dim_mul(dims, wick_dim_floordiv(dims, tx->dim[1], ty->dim[1]), tx->dim[2]), tx->dim[3]};
  wick_value z = wick_build2(o->b, WICK_OP_matmul, wick_build_reshape(o->b, x, 4, rows), y);
  return wick_build_reshape(o->b, z, 4, shape);
}

/* Computes the softmax of scores. Rows that attend to no key are 0, not NaN. */
wick_value wick_onnx_attention_softmax(wick_onnx_attention *a, wick_value scores,
                                       wick_elem precision)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", -1);
  wick_value p = wick_emit_end1(&e, wick_build_cast(b, scores, precision));
  if (b->status || !a->may_be_empty) return p;
  wick_value most = wick_emit_reduce1(o->b, WICK_OP_reduce_max, a->bias, -1, true),
             empty = wick_emit_by(o->b, WICK_OP_eq, most, -(double)INFINITY);
  if (b->status) return p;
  return wick_build3(b, WICK_OP_where, empty, wick_emit_number(o->b, p, 0), p);
}

wick_value wick_onnx_attention_softcap(wick_onnx_attention *a, wick_value x, double cap)
{
  wick_onnx_op *o = a->o;
  if (!(cap > 0)) return x;
  return wick_emit_by(o->b, WICK_OP_mul,
                      wick_build1(o->b, WICK_OP_tanh, wick_emit_by(o->b, WICK_OP_div, x, cap)),
                      cap);
}

/* ---- rotation ---- */

/* Splits part [.., .., .., 2 * half] into the two numbers of each pair. */
static void attention_pairs(wick_onnx_op *o, wick_value part, wick_dim half, bool interleaved,
                            wick_value out[2])
{
  const wick_dim zero = wick_dim_const(0), one = wick_dim_const(1), two = wick_dim_const(2);
  if (o->b->status) return;
  const wick_dim *dim = wick_built_info(o->b, part)->dim;
  if (!interleaved) {
    out[0] = wick_emit_slice(o->b, part, 3, zero, half);
    out[1] = wick_emit_slice(o->b, part, 3, half, half);
    return;
  }
  part = wick_build_reshape(o->b, part, 5, (const wick_dim[]){dim[0], dim[1], dim[2], half, two});
  out[0] = wick_emit_squeeze(o->b, wick_emit_slice(o->b, part, 4, zero, one), 4);
  out[1] = wick_emit_squeeze(o->b, wick_emit_slice(o->b, part, 4, one, one), 4);
}

wick_value wick_onnx_rotated(wick_onnx_op *o, wick_value x, wick_value cos, wick_value sin,
                             bool interleaved)
{
  wick_builder *b = o->b;
  wick_dims *dims = o->c->module->dims;
  if (b->status) return x;
  const wick_type_info *h = wick_built_info(b, x), *t = wick_built_info(b, cos);
  wick_dim half = t->dim[t->rank - 1], turned = wick_dim_mul(dims, half, wick_dim_const(2)),
           rest = wick_dim_sub(dims, h->dim[3], turned);
  wick_value part = wick_emit_slice(o->b, x, 3, wick_dim_const(0), turned), pair[2];
  attention_pairs(o, part, half, interleaved, pair);
  if (b->status) return x;
  wick_value cx = wick_build2(b, WICK_OP_mul, cos, pair[0]);
  wick_value sy = wick_build2(b, WICK_OP_mul, sin, pair[1]);
  wick_value real = wick_build2(b, WICK_OP_sub, cx, sy);
  wick_value sx = wick_build2(b, WICK_OP_mul, sin, pair[0]);
  wick_value cy = wick_build2(b, WICK_OP_mul, cos, pair[1]);
  wick_value imag = wick_build2(b, WICK_OP_add, sx, cy);
  if (interleaved) {
    const wick_dim joined[] = {h->dim[0], h->dim[1], h->dim[2], turned};
    real = wick_emit_unsqueeze(o->b, real, 4);
    imag = wick_emit_unsqueeze(o->b, imag, 4);
    part = wick_build_concat(o->b, 4, 2, (wick_value[]){real, imag});
    part = wick_build_reshape(o->b, part, 4, joined);
  } else {
    part = wick_build_concat(o->b, 3, 2, (wick_value[]){real, imag});
  }
  if (wick_dim_is(rest, 0)) return part;
  wick_value kept = wick_emit_slice(o->b, x, 3, turned, rest);
  return wick_build_concat(o->b, 3, 2, (wick_value[]){part, kept});
}
