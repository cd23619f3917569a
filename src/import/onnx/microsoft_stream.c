/* Imports com.microsoft's operators on streams of features: mixtures of parallel streams, and causal
 * convolutions that carry a state. */
#include "import/onnx/microsoft.h"

/* ---- mixtures ---- */

static void stream_same(wick_onnx_op *o) { o->out[0] = o->in[0]; }

/* z * sigmoid(z), z = scale * x; each step is rounded to x's type. */
static void stream_scaled_silu(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  wick_value x = wick_build_cast(b, o->in[0], WICK_F32), z;
  if (wick_onnx_has(o, 1)) {
    wick_value scale = wick_build_cast(b, wick_onnx_scalar(o, 1), WICK_F32);
    z = wick_build2(b, WICK_OP_mul, x, scale);
  } else {
    z = wick_emit_by(b, WICK_OP_mul, x, wick_onnx_float(o, "alpha", 1));
  }
  z = wick_build_cast(b, wick_build_cast(b, z, elem), WICK_F32);
  wick_value s = wick_build_cast(b, wick_build1(b, WICK_OP_sigmoid, z), elem);
  z = wick_build2(b, WICK_OP_mul, z, wick_build_cast(b, s, WICK_F32));
  o->out[0] = wick_build_cast(b, z, elem);
}

typedef struct
    stream_shape { /* of streams [outer, count, width], one after the other or side by side */
  uint32_t nouter; /* how many dimensions `outer` is the product of */
  wick_dim outer, count, width;
} stream_shape;

/* Reads the streams as [outer, count, width], in f32. Returns 0 after a failure. */
static wick_value stream_read(wick_onnx_op *o, stream_shape *s)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_dims *d = o->c->module->dims;
  int64_t flat = wick_onnx_int(o, "num_branches", 0);
  if (flat < 0 || t->rank < (flat ? 1u : 2u) || t->rank == WICK_MAX_RANK ||
      (flat && !wick_onnx_divides(o, t->dim[t->rank - 1], wick_dim_const(flat)))) {
    wick_onnx_fail(o, WICK_ETYPE, "streams of rank %u do not have %lld branches", t->rank,
                   (long long)flat);
    return (wick_value){0};
  }
  s->nouter = t->rank - (flat ? 1u : 2u);
  s->outer = wick_dim_const(1);
  for (uint32_t k = 0; k < s->nouter; k++) s->outer = wick_dim_mul(d, s->outer, t->dim[k]);
  s->count = flat ? wick_dim_const(flat) : t->dim[s->nouter];
  s->width = t->dim[t->rank - 1];
  if (flat) s->width = wick_dim_floordiv(d, s->width, s->count);
  wick_value x = wick_build_cast(o->b, o->in[0], WICK_F32);
  return wick_build_reshape(o->b, x, 3, (wick_dim[]){s->outer, s->count, s->width});
}

/* Reads operand i, the weight of each stream or of each feature of it, as [outer, count, 1 or width].
 * Its shape ends with (C), (C, 1), (C, H) or (C * H). */
static wick_value stream_weight(wick_onnx_op *o, uint32_t i, const stream_shape *s)
{
  const wick_type_info *t = wick_onnx_info(o, i);
  wick_dim last = t->rank ? t->dim[t->rank - 1] : wick_dim_const(1);
  bool split = t->rank == s->nouter + 2;
  wick_dim wide = split ? last : wick_dim_eq(last, s->count) ? wick_dim_const(1) : s->width;
  wick_value w = wick_build_cast(o->b, o->in[i], WICK_F32);
  return wick_build_reshape(o->b, w, 3, (wick_dim[]){s->outer, s->count, wide});
}

/* The sum of the streams, each times its weight. */
static void stream_reduced(wick_onnx_op *o)
{
  stream_shape s;
  wick_builder *b = o->b;
  const wick_type_info t = *wick_onnx_info(o, 0);
  wick_value x = stream_read(o, &s), w;
  if (!x.id) return;
  w = stream_weight(o, 1, &s);
  x = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, x, w), 1, false);
  double scale = wick_onnx_float(o, "reduction_scale", 1);
  if (scale != 1) x = wick_emit_by(b, WICK_OP_mul, x, scale);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  for (; rank < s.nouter; rank++) dim[rank] = t.dim[rank];
  dim[rank++] = s.width;
  o->out[0] = wick_build_cast(b, wick_build_reshape(b, x, rank, dim), t.elem);
}

/* Mixes the streams by a matrix, and adds the output of a branch, weighted, to each. */
static void stream_mixed(wick_onnx_op *o)
{
  stream_shape s;
  wick_builder *b = o->b;
  const wick_type_info t = *wick_onnx_info(o, 0);
  wick_value x = stream_read(o, &s), w;
  if (!x.id) return;
  w = stream_weight(o, 2, &s);
  if (wick_onnx_has(o, 3)) {
    const wick_dim square[] = {s.outer, s.count, s.count};
    wick_value mix = wick_build_cast(b, o->in[3], WICK_F32);
    mix = wick_build_swap(b, wick_build_reshape(b, mix, 3, square));
    x = wick_build2(b, WICK_OP_matmul, mix, x);
  }
  wick_value block = wick_build_cast(b, o->in[1], WICK_F32);
  block = wick_build_reshape(b, block, 3, (wick_dim[]){s.outer, wick_dim_const(1), s.width});
  x = wick_build2(b, WICK_OP_add, x, wick_build2(b, WICK_OP_mul, w, block));
  o->out[0] = wick_build_cast(b, wick_build_reshape(b, x, t.rank, t.dim), t.elem);
}

#define ROW(name, least, most, nout, attrs, import)                                                \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, import, 0, 0                             \
  }

const wick_onnx_row wick_onnx_microsoft_stream_rows[] = {
    ROW("HyperConnectionPostMix", 3, 4, 1, "num_branches:i", stream_mixed),
    ROW("HyperConnectionPreMix", 2, 2, 1, "num_branches:i reduction_scale:f", stream_reduced),
    ROW("SampleOp", 1, 1, 1, "", stream_same),
    ROW("ScaledSiLU", 1, 2, 1, "alpha:f", stream_scaled_silu),
    {0},
};
