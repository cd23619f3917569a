/* Imports com.microsoft's rotary embeddings: by one position of each token, or by three. */
#include "import/onnx/attention.h"
#include "import/onnx/microsoft.h"

wick_value wick_microsoft_angles(wick_onnx_op *o, wick_value table, wick_value at, uint32_t axis)
{
  return wick_emit_unsqueeze(o->b, wick_emit_gather(o->b, WICK_OP_gather, table, at, 0), axis);
}

/* Positions [1] are the first one's, [batch, length] all. */
static wick_value rotary_positions(wick_onnx_op *o, uint32_t i, wick_dim length)
{
  const wick_type_info *t = wick_onnx_info(o, i);
  if (t->rank == 2) return o->in[i];
  wick_value first = wick_onnx_scalar(o, i);
  return wick_build2(o->b, WICK_OP_add, wick_emit_count_along(o->b, length, 1, 2), first);
}

/* Returns angles by three positions: each column of the table has the position of one stream (time, height,
 * width). The columns of a stream are neighbours, or every third one. */
static wick_value rotary_streams(wick_onnx_op *o, wick_value table, uint32_t axis)
{
  wick_builder *b = o->b;
  wick_wire_i64s section = wick_onnx_ints(o, "mrope_section");
  bool thirds = wick_onnx_int(o, "mrope_layout", 0) != 0;
  const wick_type_info *t = wick_built_info(b, table);
  bool fits = section.n == 3 && wick_dim_is_const(t->dim[1]) && t->dim[1].v <= 1 << 16;
  int64_t end[3] = {0}, all = 0;
  for (uint32_t k = 0; k < 3 && fits; k++) {
    fits = section.at[k] >= 0 && section.at[k] <= t->dim[1].v;
    end[k] = all += fits ? section.at[k] : 0;
  }
  if (!fits || all != t->dim[1].v) {
    wick_onnx_fail(o, WICK_ERANGE, "mrope_section does not divide the columns of the caches");
    return (wick_value){0};
  }
  double *stream = wick_new(o->c->tmp, double, (size_t)all + 1);
  for (int64_t k = 0; k < all; k++)
    stream[k] = thirds ? (double)(k % 3 && k < 3 * section.at[k % 3] ? k % 3 : 0)
                       : (double)((k >= end[0]) + (k >= end[1]));
  wick_value of = wick_onnx_table(o, WICK_I32, 1, &all, stream), y = {0};
  for (uint32_t k = 0; k < 3; k++) {
    wick_value at = wick_emit_slice(b, o->in[1], 0, wick_dim_const(k), wick_dim_const(1));
    at = wick_emit_gather(b, WICK_OP_gather, table, wick_emit_squeeze(b, at, 0), 0);
    y = k ? wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_eq, of, (double)k), at, y) : at;
  }
  return wick_emit_unsqueeze(b, y, axis);
}

/* Operands: x, positions, cos, sin. x is [batch, length, heads * size] or [batch, heads, length,
 * size]. row->arg: positions are [3, batch, length]. */
static void rotary_import(wick_onnx_op *o)
{
  const wick_type_info *t = wick_onnx_info(o, 0), *cos = wick_onnx_info(o, 2);
  wick_dims *dims = o->c->module->dims;
  bool flat = t->rank == 3;
  if ((!flat && t->rank != 4) || cos->rank != 2 ||
      (o->row->arg ? wick_onnx_info(o, 1)->rank != 3 : wick_onnx_info(o, 1)->rank > 2)) {
    wick_onnx_fail(o, WICK_ETYPE, "ranks %u and %u, expected 3 or 4, and 2", t->rank, cos->rank);
    return;
  }
  wick_value x = o->in[0];
  if (flat) {
    int64_t heads = wick_onnx_int(o, "num_heads", 0);
    wick_dim size = wick_dim_mul(dims, cos->dim[1], wick_dim_const(2));
    if (heads > 0) size = wick_dim_floordiv(dims, t->dim[2], wick_dim_const(heads));
    if (heads < 0 || !wick_onnx_divides(o, t->dim[2], size)) {
      wick_onnx_fail(o, WICK_ETYPE, "the last axis is no multiple of the size of a head");
      return;
    }
    const wick_dim split[] = {t->dim[0], t->dim[1], wick_dim_floordiv(dims, t->dim[2], size), size};
    x = wick_build_reshape(o->b, x, 4, split);
  }
  uint32_t axis = flat ? 2 : 1;
  wick_value c, s;
  if (o->row->arg) {
    c = rotary_streams(o, o->in[2], axis), s = rotary_streams(o, o->in[3], axis);
    if (!c.id || !s.id) return;
  } else {
    wick_value at = rotary_positions(o, 1, t->dim[flat ? 1 : 2]);
    c = wick_microsoft_angles(o, o->in[2], at, axis);
    s = wick_microsoft_angles(o, o->in[3], at, axis);
  }
  wick_value y = wick_onnx_rotated(o, x, c, s, wick_onnx_int(o, "interleaved", 0) != 0);
  double scale = wick_onnx_float(o, "scale", 1);
  if (scale != 1) y = wick_emit_by(o->b, WICK_OP_mul, y, scale);
  o->out[0] = flat ? wick_build_reshape(o->b, y, 3, t->dim) : y;
}

#define ROTARY "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i scale:f "
#define ROW(name, attrs, arg)                                                                      \
  {                                                                                                \
    "com.microsoft." name, 1, {4, 4}, 1, attrs, rotary_import, 0, arg                              \
  }

const wick_onnx_row wick_onnx_microsoft_rotary_rows[] = {
    ROW("MRotaryEmbedding", ROTARY "mrope_layout:i mrope_section:I!", 1),
    ROW("RotaryEmbedding", ROTARY, 0),
    {0},
};
