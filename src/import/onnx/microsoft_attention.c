/* Imports com.microsoft's attention, with projections and masks as BERT has them. Scores that a mask excludes get a large negative number, not -inf: a
 * row that excludes all keys attends to all of them. */
#include <float.h>
#include <math.h>

#include "import/onnx/attention.h"
#include "import/onnx/microsoft.h"

typedef wick_onnx_attention attention;

/* ---- operands ---- */

static wick_value attention_part(wick_onnx_op *o, wick_value x, uint32_t axis, wick_dim begin,
                                 wick_dim size)
{
  return wick_emit_slice(o->b, x, axis, begin, size);
}

/* Takes slice k of axis `axis`, which goes. */
static wick_value attention_pick(wick_onnx_op *o, wick_value x, uint32_t axis, int64_t k)
{
  return wick_emit_squeeze(o->b, attention_part(o, x, axis, wick_dim_const(k), wick_dim_const(1)),
                           axis);
}

wick_value wick_microsoft_appended(wick_onnx_op *o, wick_value past, wick_value x)
{
  return past.id ? wick_build_concat(o->b, 2, 2, (wick_value[]){past, x}) : x;
}

bool wick_microsoft_attention_complete(attention *a)
{
  wick_onnx_op *o = a->o;
  if (o->failed || o->b->status || !a->q.id || !a->k.id || !a->v.id) return false;
  const wick_type_info *q = wick_built_info(o->b, a->q), *k = wick_built_info(o->b, a->k);
  if (q->rank != 4 || k->rank != 4 || wick_built_info(o->b, a->v)->rank != 4) {
    wick_onnx_fail(o, WICK_ETYPE, "its heads have ranks %u and %u, expected 4", q->rank, k->rank);
    return false;
  }
  a->nq = q->dim[2], a->nk = k->dim[2], a->elem = q->elem;
  return true;
}

/* ---- masks ---- */

static double attention_excluded(const wick_onnx_op *o)
{
  return wick_onnx_float(o, "mask_filter_value", -10000.0f);
}

wick_value wick_microsoft_attention_filter(attention *a, wick_value keep)
{
  wick_onnx_op *o = a->o;
  wick_value none = wick_emit_number(o->b, a->q, 0);
  wick_value low = wick_emit_number(o->b, a->q, attention_excluded(o));
  return wick_build3(o->b, WICK_OP_where, keep, none, low);
}

/* A vector of lengths: one for each batch, or also, after these, the first position of each. */
static wick_value attention_lengths(attention *a, uint32_t i)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  wick_dim batch = wick_built_info(b, a->q)->dim[0], one = wick_dim_const(1);
  const wick_dim column[] = {batch, one, one, one};
  wick_value end = attention_part(o, o->in[i], 0, wick_dim_const(0), batch);
  end = wick_build_reshape(o->b, wick_build_cast(b, end, WICK_I64), 4, column);
  wick_value at = wick_emit_count_along(o->b, a->nk, 3, 4);
  wick_value keep = wick_build2(b, WICK_OP_lt, at, end);
  if (wick_dim_eq(wick_onnx_info(o, i)->dim[0], batch)) return keep;
  wick_value first = attention_part(o, o->in[i], 0, batch, batch);
  first = wick_build_reshape(o->b, wick_build_cast(b, first, WICK_I64), 4, column);
  return wick_build2(b, WICK_OP_and, keep, wick_build2(b, WICK_OP_ge, at, first));
}

/* A mask of 0 and other numbers: [batch, keys], [batch, queries, keys], or [batch, 1, most, most], of
 * which the rows after the past count. */
static wick_value attention_raw(attention *a, uint32_t i, wick_dim past)
{
  wick_onnx_op *o = a->o;
  const wick_type_info *t = wick_onnx_info(o, i);
  wick_value m = o->in[i];
  wick_dim one = wick_dim_const(1);
  if (t->rank == 4) {
    m = attention_part(o, m, 2, past, a->nq);
    m = attention_part(o, m, 3, wick_dim_const(0), a->nk);
  } else if (t->rank == 3) {
    m = wick_emit_unsqueeze(o->b, m, 1);
  } else {
    m = wick_build_reshape(o->b, m, 4, (const wick_dim[]){t->dim[0], one, one, t->dim[1]});
  }
  return wick_emit_by(o->b, WICK_OP_gt, m, 0);
}

/* Adds the mask in operand i, if there is one, to the scores. */
static void attention_masked(attention *a, uint32_t i, wick_dim past)
{
  wick_onnx_op *o = a->o;
  if (!wick_onnx_has(o, i)) return;
  uint32_t rank = wick_onnx_info(o, i)->rank;
  if (rank < 1 || rank > 4) {
    wick_onnx_fail(o, WICK_ETYPE, "the mask has rank %u, expected 1 to 4", rank);
    return;
  }
  wick_value keep = rank == 1 ? attention_lengths(a, i) : attention_raw(a, i, past);
  wick_onnx_attention_add(a, wick_microsoft_attention_filter(a, keep));
}

/* Excludes the keys after each query's position; `past` keys are before the first query. */
static wick_value attention_causal(attention *a, wick_value scores, wick_dim past)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  if (!wick_onnx_int(o, "unidirectional", 0)) return scores;
  wick_value key = wick_emit_count_along(o->b, a->nk, 1, 2);
  wick_value query = wick_emit_count_along(o->b, a->nq, 0, 2);
  wick_value ahead = wick_build2(b, WICK_OP_sub, key, query);
  wick_value last = wick_build1(b, WICK_OP_size, wick_emit_count(o->b, past));
  wick_value keep = wick_build2(b, WICK_OP_le, ahead, last);
  wick_value low = wick_emit_number(o->b, a->q, -(double)FLT_MAX);
  return wick_build3(b, WICK_OP_where, keep, scores, low);
}

/* ---- attention ---- */

wick_value wick_microsoft_attention_scaled(attention *a, wick_value x)
{
  wick_onnx_op *o = a->o;
  wick_dim size = wick_built_info(o->b, a->q)->dim[3];
  double scale = wick_onnx_float(o, "scale", 0);
  if (scale == 0 && !wick_dim_is_const(size)) {
    wick_onnx_must_be_known(o, "the size of a head", size);
    return x;
  }
  return wick_emit_by(o->b, WICK_OP_mul, x, scale != 0 ? scale : 1 / sqrt((double)size.v));
}

/* softmax(q k^T * scale + bias) v. Returns [batch, queries, heads * size]; *out_scores gets the scores
 * before the softmax. */
static wick_value attention_computed(attention *a, wick_dim past, wick_value *out_scores)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  wick_value k = wick_build_transpose(o->b, a->k, 4, (const int64_t[]){0, 1, 3, 2});
  wick_value scores = wick_onnx_attention_product(a, wick_microsoft_attention_scaled(a, a->q), k);
  if (o->failed || b->status) return scores;
  if (a->bias.id) scores = wick_build2(b, WICK_OP_add, scores, a->bias);
  *out_scores = scores = attention_causal(a, scores, past);
  wick_value p = wick_onnx_attention_softmax(a, scores, a->elem);
  return wick_onnx_heads_joined(o, wick_onnx_attention_product(a, p, a->v));
}

/* Projects x by the merged weights to queries, keys and values. `merged` is [batch, length, sum of
 * sizes]. */
static bool attention_split(attention *a, wick_value merged, const wick_dim size[3])
{
  wick_onnx_op *o = a->o;
  wick_dims *t = o->c->module->dims;
  int64_t heads = wick_onnx_int(o, "num_heads", 0);
  wick_dim begin = wick_dim_const(0);
  wick_value *const to[] = {&a->q, &a->k, &a->v};
  for (uint32_t i = 0; i < 3; i++) {
    *to[i] = wick_onnx_heads(o, attention_part(o, merged, 2, begin, size[i]), heads);
    begin = wick_dim_add(t, begin, size[i]);
  }
  return !o->failed && !o->b->status;
}

static bool attention_sizes(wick_onnx_op *o, wick_dim whole, wick_dim size[3])
{
  wick_wire_i64s given = wick_onnx_ints(o, "qkv_hidden_sizes");
  if (given.n && given.n != 3) {
    wick_onnx_fail(o, WICK_EPARSE, "qkv_hidden_sizes has %zu numbers, expected 3", given.n);
    return false;
  }
  wick_dim third = wick_dim_floordiv(o->c->module->dims, whole, wick_dim_const(3));
  for (uint32_t i = 0; i < 3; i++) size[i] = given.n ? wick_dim_const(given.at[i]) : third;
  return true;
}

/* Appends keys and values to a past [2, batch, heads, length, size], operand i, and returns both as the
 * result `present` in that form. */
static wick_value attention_present(attention *a, uint32_t i, wick_dim *out_past)
{
  wick_onnx_op *o = a->o;
  *out_past = wick_dim_const(0);
  if (wick_onnx_has(o, i)) {
    if (wick_onnx_info(o, i)->rank != 5) {
      wick_onnx_fail(o, WICK_ETYPE, "the past has rank %u, expected 5", wick_onnx_info(o, i)->rank);
      return (wick_value){0};
    }
    *out_past = wick_onnx_info(o, i)->dim[3];
    a->k = wick_microsoft_appended(o, attention_pick(o, o->in[i], 0, 0), a->k);
    a->v = wick_microsoft_appended(o, attention_pick(o, o->in[i], 0, 1), a->v);
  }
  if (!wick_microsoft_wants(o, 1)) return (wick_value){0};
  wick_value both[] = {wick_emit_unsqueeze(o->b, a->k, 0), (wick_value){0}};
  both[1] = wick_emit_unsqueeze(o->b, a->v, 0);
  return wick_build_concat(o->b, 0, 2, both);
}

/* Refuses what only other processors compute. */
static bool attention_plain(wick_onnx_op *o)
{
  static const char *const names[] = {"past_present_share_buffer", "do_rotary"};
  for (size_t k = 0; k < WICK_COUNT(names); k++)
    if (wick_onnx_int(o, names[k], 0)) {
      wick_onnx_fail(o, WICK_EUNSUPPORTED, "%s is not supported", names[k]);
      return false;
    }
  return true;
}

static void attention_merged(attention *a, wick_value merged, uint32_t mask, uint32_t past_at,
                             uint32_t bias)
{
  wick_onnx_op *o = a->o;
  wick_dim size[3], past;
  wick_value scores;
  if (o->b->status || !merged.id) return;
  const wick_type_info *t = wick_built_info(o->b, merged);
  if (t->rank != 3) {
    wick_onnx_fail(o, WICK_ETYPE, "its input has rank %u, expected 3", t->rank);
    return;
  }
  if (!attention_sizes(o, t->dim[2], size) || !attention_split(a, merged, size)) return;
  wick_value present = attention_present(a, past_at, &past);
  if (!wick_microsoft_attention_complete(a)) return;
  attention_masked(a, mask, past);
  if (bias && wick_onnx_has(o, bias)) wick_onnx_attention_add(a, o->in[bias]);
  o->out[0] = attention_computed(a, past, &scores);
  if (o->nout > 1) o->out[1] = present;
}

static void attention_import(wick_onnx_op *o)
{
  attention a = {.o = o};
  if (!attention_plain(o)) return;
  wick_value merged = wick_build2(o->b, WICK_OP_matmul, o->in[0], o->in[1]);
  attention_merged(&a, wick_microsoft_biased(o, merged, 2), 3, 4, 5);
}

/* The projection is a product of bytes. */
static void attention_quantized(wick_onnx_op *o)
{
  attention a = {.o = o};
  wick_builder *b = o->b;
  if (!attention_plain(o)) return;
  wick_value in[4] = {o->in[0], o->in[1], wick_microsoft_optional(o, 6),
                      wick_microsoft_optional(o, 7)};
  wick_value sum = wick_onnx_as(o, "MatMulInteger", 10, 4, in);
  if (!sum.id) return;
  wick_value scale = wick_build2(b, WICK_OP_mul, o->in[3], o->in[4]);
  sum = wick_build2(b, WICK_OP_mul, wick_build_cast(b, sum, WICK_F32), scale);
  attention_merged(&a, wick_build2(b, WICK_OP_add, sum, o->in[2]), 5, 8, 0);
}

/* ---- several operands ---- */

/* Takes queries, keys and values out of packed forms: [batch, length, heads, 3, size], or queries and
 * [batch, length, heads, 2, size]. Returns false if the operands are not packed. */
static bool attention_packed(attention *a)
{
  wick_onnx_op *o = a->o;
  static const int64_t swap[] = {0, 2, 1, 3};
  bool all = !wick_onnx_has(o, 1) && wick_onnx_info(o, 0)->rank == 5,
       pair = wick_onnx_has(o, 1) && wick_onnx_info(o, 1)->rank == 5;
  if (!all && !pair) return false;
  wick_value from = o->in[pair];
  wick_value *const to[] = {&a->q, &a->k, &a->v};
  for (uint32_t i = pair; i < 3; i++)
    *to[i] = wick_build_transpose(o->b, attention_pick(o, from, 3, i - pair), 4, swap);
  return true;
}

/* Reads operand i as heads, with its part of the bias, which begins at *begin. */
static wick_value attention_operand(attention *a, uint32_t i, wick_dim *begin)
{
  wick_onnx_op *o = a->o;
  const wick_type_info *t = wick_onnx_info(o, i);
  if (t->rank == 4) return o->in[i]; /* heads of a cache */
  if (t->rank != 3) {
    wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 3", i, t->rank);
    return (wick_value){0};
  }
  wick_value x = o->in[i];
  if (wick_onnx_has(o, 3))
    x = wick_build2(o->b, WICK_OP_add, x, attention_part(o, o->in[3], 0, *begin, t->dim[2]));
  *begin = wick_dim_add(o->c->module->dims, *begin, t->dim[2]);
  return wick_onnx_heads(o, x, wick_onnx_int(o, "num_heads", 0));
}

static bool attention_separate(attention *a)
{
  wick_onnx_op *o = a->o;
  wick_dim begin = wick_dim_const(0);
  wick_value *const to[] = {&a->q, &a->k, &a->v};
  bool packed = attention_packed(a);
  for (uint32_t i = 0; i < 3; i++) {
    if (to[i]->id) continue;
    if (!wick_onnx_has(o, i)) {
      wick_onnx_fail(o, WICK_EPARSE, "input %u is missing", i);
      return false;
    }
    *to[i] = attention_operand(a, i, &begin);
  }
  if (packed && wick_onnx_has(o, 3)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "a bias beside packed operands is not supported");
    return false;
  }
  return !o->failed && !o->b->status;
}

static void attention_multi(wick_onnx_op *o)
{
  attention a = {.o = o};
  wick_value scores;
  if (wick_onnx_has(o, 8) || wick_onnx_has(o, 9)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED,
                   "past_sequence_length and cache_indirection are not supported");
    return;
  }
  if (!attention_separate(&a)) return;
  wick_dim past = wick_onnx_has(o, 6) && wick_onnx_info(o, 6)->rank == 4
                      ? wick_onnx_info(o, 6)->dim[2]
                      : wick_dim_const(0);
  a.k = wick_microsoft_appended(o, wick_microsoft_optional(o, 6), a.k);
  a.v = wick_microsoft_appended(o, wick_microsoft_optional(o, 7), a.v);
  if (!wick_microsoft_attention_complete(&a)) return;
  attention_masked(&a, 4, past);
  if (wick_onnx_has(o, 5)) wick_onnx_attention_add(&a, o->in[5]);
  o->out[0] = attention_computed(&a, past, &scores);
  const wick_value more[] = {a.k, a.v, scores};
  for (uint32_t k = 1; k < o->nout && k < 4; k++) o->out[k] = more[k - 1];
}

#define ROW(name, least, most, nout, attrs, import)                                                \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, import, 0, 0                             \
  }
#define HEADS "num_heads:i! mask_filter_value:f scale:f unidirectional:i "

const wick_onnx_row wick_onnx_microsoft_attention_rows[] = {
    ROW("Attention", 2, 7, 2,
        HEADS "do_rotary:i past_present_share_buffer:i qkv_hidden_sizes:I rotary_embedding_dim:i",
        attention_import),
    {"com.microsoft.LinearAttention",
     1,
     {3, 6},
     2,
     "chunk_size:i kv_num_heads:i! q_num_heads:i! scale:f update_rule:s",
     wick_microsoft_same,
     0,
     27},
    ROW("MultiHeadAttention", 1, 10, 4, HEADS, attention_multi),
    ROW("QAttention", 5, 9, 2, HEADS "do_rotary:i past_present_share_buffer:i",
        attention_quantized),
    {0},
};
