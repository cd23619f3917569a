/* Imports com.microsoft's attention of one step of a decoder, whose caches have room for all positions. */
#include <float.h>

#include "import/onnx/attention.h"
#include "import/onnx/microsoft.h"

/* x [rows, 1, heads * size] as heads, with its part of the bias, operand 10. */
static wick_value decoder_heads(wick_onnx_attention *a, wick_value x, uint32_t part)
{
  wick_onnx_op *o = a->o;
  if (o->b->status || o->failed) return x;
  wick_dim size = wick_built_info(o->b, x)->dim[2];
  if (wick_onnx_has(o, 10)) {
    wick_dim begin = wick_dim_mul(o->c->module->dims, size, wick_dim_const(part));
    x = wick_build2(o->b, WICK_OP_add, x, wick_emit_slice(o->b, o->in[10], 0, begin, size));
  }
  return wick_onnx_heads(o, x, wick_onnx_int(o, "num_heads", 0));
}

/* Puts x [rows, heads, 1, size] at position `at` of the cache in operand i. */
static wick_value decoder_cached(wick_onnx_attention *a, uint32_t i, wick_value x, wick_value here)
{
  wick_onnx_op *o = a->o;
  if (wick_onnx_info(o, i)->rank == 4) return wick_build3(o->b, WICK_OP_where, here, x, o->in[i]);
  wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 4", i, wick_onnx_info(o, i)->rank);
  return (wick_value){0};
}

/* What each row of a cache reads at each position: the row of its beam then, operand 9. */
static wick_value decoder_beams(wick_onnx_attention *a, wick_value cache)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  if (!wick_onnx_has(o, 9) || b->status) return cache;
  const wick_type_info *t = wick_onnx_info(o, 9), *c = wick_built_info(b, cache);
  wick_dim one = wick_dim_const(1);
  if (t->rank != 3) {
    wick_onnx_fail(o, WICK_ETYPE, "cache_indirection has rank %u, expected 3", t->rank);
    return cache;
  }
  wick_value batch = wick_emit_count_along(b, t->dim[0], 0, 3);
  batch = wick_build2(b, WICK_OP_mul, batch, wick_onnx_size(o, t->dim[1]));
  wick_value row = wick_build2(b, WICK_OP_add, wick_build_cast(b, o->in[9], WICK_I64), batch);
  row = wick_build_reshape(b, row, 4, (wick_dim[]){c->dim[0], one, t->dim[2], one});
  row = wick_emit_slice(b, row, 2, wick_dim_const(0), c->dim[2]);
  return wick_emit_gather(b, WICK_OP_gather_elements, cache, wick_emit_expand(b, row, 4, c->dim),
                          0);
}

/* x, a mask or bias of as many positions as are valid, filled up with zeros to those of the cache. */
static wick_value decoder_filled(wick_onnx_attention *a, wick_value x)
{
  wick_onnx_op *o = a->o;
  wick_dim dim[WICK_MAX_RANK];
  if (o->b->status) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  uint32_t last = t->rank - 1;
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  if (!t->rank || wick_dim_eq(dim[last], a->nk)) return x;
  dim[last] = wick_dim_sub(o->c->module->dims, a->nk, dim[last]);
  wick_value rest = wick_emit_expand(o->b, wick_emit_number(o->b, x, 0), last + 1, dim);
  return wick_build_concat(o->b, last, 2, (wick_value[]){x, rest});
}

/* Queries, keys and values of a decoder's step: three operands, or side by side in one. */
static void decoder_parts(wick_onnx_op *o, wick_value part[3])
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_dims *d = o->c->module->dims;
  wick_dim third = wick_dim_floordiv(d, t->dim[2], wick_dim_const(3)), begin = wick_dim_const(0);
  for (uint32_t k = 0; k < 3; k++) {
    part[k] = wick_onnx_has(o, 1) ? wick_microsoft_optional(o, k)
                                  : wick_emit_slice(o->b, o->in[0], 2, begin, third);
    begin = wick_dim_add(d, begin, third);
  }
}

/* Scores against all positions of the caches; those after past_sequence_length are excluded. */
static wick_value decoder_computed(wick_onnx_attention *a, wick_value at)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  wick_value keys = wick_build_swap(b, decoder_beams(a, a->k));
  wick_value scores =
      wick_onnx_attention_product(a, wick_microsoft_attention_scaled(a, a->q), keys);
  if (wick_onnx_has(o, 3) && !o->failed && !b->status) {
    wick_dim one = wick_dim_const(1);
    wick_value mask = decoder_filled(a, o->in[3]);
    const wick_type_info *t = wick_built_info(b, mask);
    if (t->rank == 2)
      mask = wick_build_reshape(b, mask, 4, (wick_dim[]){t->dim[0], one, one, t->dim[1]});
    mask = wick_microsoft_attention_filter(a, wick_emit_by(b, WICK_OP_gt, mask, 0));
    scores = wick_build2(b, WICK_OP_add, scores, mask);
  }
  if (wick_onnx_has(o, 4))
    scores = wick_build2(b, WICK_OP_add, scores, decoder_filled(a, o->in[4]));
  if (at.id) {
    wick_value valid = wick_build2(b, WICK_OP_le, wick_emit_count_along(b, a->nk, 3, 4), at);
    wick_value low = wick_emit_number(b, a->q, -(double)FLT_MAX);
    scores = wick_build3(b, WICK_OP_where, valid, scores, low);
  }
  wick_value p = wick_onnx_attention_softmax(a, scores, a->elem);
  return wick_onnx_heads_joined(o, wick_onnx_attention_product(a, p, decoder_beams(a, a->v)));
}

/* A decoder's attention to itself, whose caches have room for all positions, or to an encoder, whose keys
 * and values are heads already. */
static void decoder_import(wick_onnx_op *o)
{
  wick_onnx_attention a = {.o = o};
  wick_builder *b = o->b;
  wick_value part[3], at = {0};
  if (wick_onnx_info(o, 0)->rank != 3 || wick_onnx_has(o, 1) != wick_onnx_has(o, 2)) {
    wick_onnx_fail(o, WICK_ETYPE, "its query has rank %u, expected 3 with key and value or neither",
                   wick_onnx_info(o, 0)->rank);
    return;
  }
  bool crossed = wick_onnx_has(o, 1) && wick_onnx_info(o, 1)->rank == 4;
  if (!crossed && !wick_onnx_int(o, "past_present_share_buffer", 0)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "caches that do not share a buffer are not supported");
    return;
  }
  if (!crossed && !wick_microsoft_needs(o, 0xe0)) return;
  decoder_parts(o, part);
  a.q = decoder_heads(&a, part[0], 0);
  a.k = part[1], a.v = part[2];
  if (!crossed) {
    a.k = decoder_heads(&a, part[1], 1);
    a.v = decoder_heads(&a, part[2], 2);
    if (o->failed || b->status) return;
    at = wick_build_cast(b, wick_onnx_scalar(o, 7), WICK_I64);
    wick_value place = wick_emit_count_along(b, wick_onnx_info(o, 5)->dim[2], 2, 4);
    wick_value here = wick_build2(b, WICK_OP_eq, place, at);
    a.k = decoder_cached(&a, 5, a.k, here);
    a.v = decoder_cached(&a, 6, a.v, here);
  }
  if (!wick_microsoft_attention_complete(&a)) return;
  o->out[0] = decoder_computed(&a, at);
  const wick_value more[] = {a.k, a.v};
  for (uint32_t k = 1; k < o->nout && k < 3 && !crossed; k++) o->out[k] = more[k - 1];
}

const wick_onnx_row wick_onnx_microsoft_decoder_rows[] = {
    {"com.microsoft.DecoderMaskedMultiHeadAttention",
     1,
     {1, 11},
     3,
     "num_heads:i! mask_filter_value:f scale:f past_present_share_buffer:i output_qk:i",
     decoder_import,
     0,
     0},
    {0},
};
