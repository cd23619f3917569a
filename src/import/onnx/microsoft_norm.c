/* Imports com.microsoft's normalizations: of sums, of embeddings, by gates. */
#include <math.h>

#include "import/onnx/microsoft.h"

/* ---- sums ---- */

/* Returns x normalized along its last axis. scale and bias are 0 if they are missing. */
static wick_value microsoft_norm_of(wick_onnx_op *o, wick_opcode op, wick_value x, wick_value scale,
                                    wick_value bias, float epsilon)
{
  wick_emit e = wick_emit_begin(o->b, op);
  wick_emit_set_float(&e, "epsilon", wick_onnx_float(o, "epsilon", epsilon));
  wick_emit_set_int(&e, "axis", -1);
  if (o->b->status) return x;
  wick_elem elem = wick_built_info(o->b, x)->elem;
  wick_value in[3] = {x};
  uint32_t n = bias.id ? 3 : scale.id ? 2 : 1;
  if (scale.id) in[1] = wick_build_cast(o->b, scale, elem);
  if (bias.id) in[2] = wick_build_cast(o->b, bias, elem);
  return wick_emit_end(&e, n, in);
}

/* The statistics of x, which are results: its mean, and the reciprocal of its deviation. */
static void microsoft_norm_statistics(wick_onnx_op *o, wick_value x, bool centre)
{
  wick_builder *b = o->b;
  if (!wick_microsoft_wants(o, 1) && !wick_microsoft_wants(o, 2)) return;
  x = wick_build_cast(b, x, WICK_F32);
  if (centre) {
    o->out[1] = wick_emit_reduce1(o->b, WICK_OP_reduce_mean, x, -1, true);
    x = wick_build2(b, WICK_OP_sub, x, o->out[1]);
  }
  wick_value square = wick_build2(b, WICK_OP_mul, x, x);
  square = wick_emit_reduce1(o->b, WICK_OP_reduce_mean, square, -1, true);
  square = wick_emit_by(o->b, WICK_OP_add, square, wick_onnx_float(o, "epsilon", 1e-12f));
  o->out[2] = wick_build1(b, WICK_OP_rsqrt, square);
}

/* norm(x + skip + bias) * gamma + beta; row->arg is the operand with the bias. */
static void microsoft_norm_skip(wick_onnx_op *o)
{
  bool centre = o->row->op == WICK_OP_layer_norm;
  wick_value sum = wick_build2(o->b, WICK_OP_add, o->in[0], o->in[1]);
  sum = wick_microsoft_biased(o, sum, (uint32_t)o->row->arg);
  wick_value beta = centre ? wick_microsoft_optional(o, 3) : (wick_value){0};
  o->out[0] = microsoft_norm_of(o, o->row->op, sum, o->in[2], beta, 1e-12f);
  microsoft_norm_statistics(o, sum, centre);
  if (wick_microsoft_wants(o, 3)) o->out[3] = sum;
}

/* ---- embeddings ---- */

/* Returns a table as floats: (table - zero) * scale if it is quantized. */
static wick_value microsoft_norm_table(wick_onnx_op *o, uint32_t i, uint32_t scale, uint32_t zero)
{
  wick_builder *b = o->b;
  if (!scale || !wick_onnx_has(o, i)) return wick_microsoft_optional(o, i);
  wick_value v = wick_build_cast(b, o->in[i], WICK_I32);
  if (wick_onnx_has(o, zero))
    v = wick_build2(b, WICK_OP_sub, v, wick_build_cast(b, wick_onnx_scalar(o, zero), WICK_I32));
  wick_value by = wick_onnx_scalar(o, scale);
  return wick_build2(b, WICK_OP_mul, wick_build_cast(b, v, WICK_F32), by);
}

/* The number of words before the first 0 of each row of a mask. */
static wick_value microsoft_norm_words(wick_onnx_op *o, uint32_t i)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_type type = wick_type_tensor(o->c->module, WICK_I32, 1, t->dim);
  if (wick_onnx_has(o, i))
    return wick_emit_reduce1(o->b, WICK_OP_reduce_sum, wick_build_cast(o->b, o->in[i], WICK_I32), 1,
                             false);
  return wick_build_const(o->b, type, 0, 0);
}

/* norm(words[ids] + positions[0, 1, ...] + segments[ids]); row->arg: all of the tables are quantized. */
static void microsoft_norm_embed(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  uint32_t q = o->row->arg ? 1 : 0;
  const wick_type_info *t = wick_onnx_info(o, 0);
  if (!wick_microsoft_needs(o, q ? 0x37b6c : 0x6c)) return;
  if (t->rank != 2) {
    wick_onnx_fail(o, WICK_ETYPE, "the ids have rank %u, expected 2", t->rank);
    return;
  }
  wick_value words = microsoft_norm_table(o, 2, q * 8, 13);
  wick_value positions = microsoft_norm_table(o, 3, q * 9, 14);
  wick_value segments = microsoft_norm_table(o, 4, q * 10, 15);
  wick_value gamma = microsoft_norm_table(o, 5, q * 11, 16);
  wick_value beta = microsoft_norm_table(o, 6, q * 12, 17);
  wick_value at = q ? (wick_value){0} : wick_microsoft_optional(o, 8);
  wick_value sum = wick_emit_gather(o->b, WICK_OP_gather, words, o->in[0], 0);
  wick_value place = wick_emit_gather(o->b, WICK_OP_gather, positions,
                                      at.id ? at : wick_emit_count(o->b, t->dim[1]), 0);
  sum = wick_build2(b, WICK_OP_add, sum, place);
  wick_value kept = sum;
  if (wick_onnx_has(o, 1) && segments.id) {
    wick_value segment = wick_emit_gather(o->b, WICK_OP_gather, segments, o->in[1], 0);
    sum = wick_build2(b, WICK_OP_add, sum, segment);
    kept = sum;
  }
  o->out[0] = microsoft_norm_of(o, WICK_OP_layer_norm, sum, gamma, beta, 1e-12f);
  if (wick_microsoft_wants(o, 1)) o->out[1] = microsoft_norm_words(o, 7);
  if (wick_microsoft_wants(o, 2)) o->out[2] = kept;
}

/* ---- branches and gates ---- */

/* Returns x [..., n * size] as [..., n, size], in f32. */
static wick_value microsoft_norm_groups(wick_onnx_op *o, wick_value x, wick_dim size)
{
  const wick_type_info *t = wick_built_info(o->b, x);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = t->rank;
  if (!rank || rank == WICK_MAX_RANK || !wick_onnx_divides(o, t->dim[rank - 1], size)) {
    wick_onnx_fail(o, WICK_ETYPE, "the last axis is no multiple of the groups' size");
    return (wick_value){0};
  }
  for (uint32_t k = 0; k + 1 < rank; k++) dim[k] = t->dim[k];
  dim[rank - 1] = wick_dim_floordiv(o->c->module->dims, t->dim[rank - 1], size);
  dim[rank] = size;
  return wick_build_cast(o->b, wick_build_reshape(o->b, x, rank + 1, dim), WICK_F32);
}

/* Normalizes each branch, a run of elements along the last axis or that axis itself. */
static void microsoft_norm_branches(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  int64_t branches = wick_onnx_int(o, "num_branches", 0);
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_elem elem = t->elem;
  wick_value x = wick_build_cast(b, o->in[0], WICK_F32), none = {0};
  if (!t->rank || branches < 0) {
    wick_onnx_fail(o, WICK_ETYPE, "rank %u and %lld branches", t->rank, (long long)branches);
    return;
  }
  if (branches)
    x = microsoft_norm_groups(
        o, o->in[0],
        wick_dim_floordiv(o->c->module->dims, t->dim[t->rank - 1], wick_dim_const(branches)));
  if (!x.id || b->status) return;
  const wick_type_info *g = wick_built_info(b, x);
  wick_value y = microsoft_norm_of(o, WICK_OP_rms_norm, x, none, none, 1e-5f);
  if (wick_onnx_has(o, 1)) {
    wick_value scale = wick_build_cast(b, o->in[1], WICK_F32);
    const wick_type_info *s = wick_onnx_info(o, 1);
    if (s->rank == 1 && g->rank > 1 && !wick_dim_eq(s->dim[0], g->dim[g->rank - 1]))
      scale = wick_build_reshape(o->b, scale, 2, g->dim + g->rank - 2);
    y = wick_build2(b, WICK_OP_mul, y, scale);
  }
  o->out[0] = wick_build_reshape(o->b, wick_build_cast(b, y, elem), t->rank, t->dim);
}

/* rms_norm of groups, times scale * silu(gate) or scale * sigmoid(gate) */
static void microsoft_norm_gated(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  const wick_type_info *t = wick_onnx_info(o, 0), *s = wick_onnx_info(o, 1);
  int act = wick_onnx_word(o, "activation", "silu swish sigmoid");
  wick_elem elem = t->elem;
  if (s->rank != 1) {
    wick_onnx_fail(o, WICK_ETYPE, "the scale has rank %u, expected 1", s->rank);
    return;
  }
  wick_value x = microsoft_norm_groups(o, o->in[0], s->dim[0]);
  if (!x.id) return;
  wick_value y = microsoft_norm_of(o, WICK_OP_rms_norm, x, o->in[1], (wick_value){0}, 1e-5f);
  wick_value gate = wick_build_cast(b, o->in[2], WICK_F32);
  gate = wick_build1(b, act == 2 ? WICK_OP_sigmoid : WICK_OP_swish, gate);
  y = wick_build2(b, WICK_OP_mul, wick_build_reshape(o->b, y, t->rank, t->dim), gate);
  o->out[0] = wick_build_cast(b, y, elem);
}

/* sigmoid(sign(d) * sqrt(max(|d|, 1e-6))) * value, where d is the product of the normalized key and
 * query of a head, divided by sqrt(size) */
static void microsoft_norm_engram(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_value none = {0}, v[3];
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  const wick_type_info *t = wick_onnx_info(o, 0);
  if (t->rank != 4 || wick_onnx_info(o, 2)->rank != 3 || !wick_dim_is_const(t->dim[3])) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "keys of rank %u and values of rank %u, expected 4 and 3 with a known "
                   "last size",
                   t->rank, wick_onnx_info(o, 2)->rank);
    return;
  }
  for (uint32_t i = 0; i < 2; i++) {
    v[i] = microsoft_norm_of(o, WICK_OP_rms_norm, wick_build_cast(b, o->in[i], WICK_F32), none,
                             none, 1e-5f);
    v[i] = wick_build2(b, WICK_OP_mul, v[i], wick_build_cast(b, o->in[3 + i], WICK_F32));
  }
  wick_value d = wick_build2(b, WICK_OP_mul, v[0], v[1]);
  d = wick_emit_reduce1(o->b, WICK_OP_reduce_sum, d, 3, true);
  d = wick_emit_by(o->b, WICK_OP_div, d, sqrt((double)t->dim[3].v));
  wick_value size = wick_emit_by(o->b, WICK_OP_max, wick_build1(b, WICK_OP_abs, d), 1e-6);
  size = wick_build1(b, WICK_OP_sqrt, size);
  d = wick_build2(b, WICK_OP_mul, wick_build1(b, WICK_OP_sign, d), size);
  wick_value value = wick_emit_unsqueeze(o->b, wick_build_cast(b, o->in[2], WICK_F32), 2);
  wick_value y = wick_build2(b, WICK_OP_mul, wick_build1(b, WICK_OP_sigmoid, d), value);
  o->out[0] = wick_build_cast(b, y, elem);
  if (!wick_microsoft_wants(o, 1)) return;
  if (!wick_onnx_has(o, 5)) {
    wick_onnx_fail(o, WICK_EPARSE, "the second output needs the input conv_norm_scale");
    return;
  }
  y = microsoft_norm_of(o, WICK_OP_rms_norm, y, none, none, 1e-5f);
  y = wick_build2(b, WICK_OP_mul, y, wick_build_cast(b, o->in[5], WICK_F32));
  o->out[1] = wick_build_cast(b, y, elem);
}

const wick_onnx_row wick_onnx_microsoft_norm_rows[] = {
    {"com.microsoft.BranchwiseRMSNorm",
     1,
     {1, 2},
     1,
     "epsilon:f num_branches:i",
     microsoft_norm_branches,
     0,
     0},
    {"com.microsoft.EmbedLayerNormalization",
     1,
     {1, 9},
     3,
     "epsilon:f mask_index_type:i",
     microsoft_norm_embed,
     0,
     0},
    {"com.microsoft.EngramGate", 1, {5, 6}, 2, "epsilon:f", microsoft_norm_engram, 0, 0},
    {"com.microsoft.GatedRMSNorm",
     1,
     {3, 3},
     1,
     "activation:s epsilon:f",
     microsoft_norm_gated,
     0,
     0},
    {"com.microsoft.QEmbedLayerNormalization",
     1,
     {1, 18},
     2,
     "epsilon:f",
     microsoft_norm_embed,
     0,
     1},
    {"com.microsoft.SkipLayerNormalization",
     1,
     {3, 5},
     4,
     "epsilon:f",
     microsoft_norm_skip,
     WICK_OP_layer_norm,
     4},
    {"com.microsoft.SkipSimplifiedLayerNormalization",
     1,
     {3, 4},
     4,
     "epsilon:f",
     microsoft_norm_skip,
     WICK_OP_rms_norm,
     3},
    {0},
};
