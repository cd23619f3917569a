/* Imports com.microsoft's attention whose queries share heads of keys, with a cache, as decoders have it:
 * of all keys, or of blocks of them. */
#include <math.h>

#include "import/onnx/attention.h"
#include "import/onnx/microsoft.h"

typedef wick_onnx_attention attention;

typedef struct grouped_cache {
  attention a;
  wick_dim past, total; /* positions in the given cache, and in the one after the new keys */
  wick_value
      before; /* [batch, 1]: how many positions of each batch are valid before the new ones */
  bool plain; /* new keys follow the cache: all batches have equal lengths */
} grouped_cache;

/* Sets how many positions are valid before the new ones, from how many are after: i64 [batch]. */
static void grouped_before(grouped_cache *c, wick_value end)
{
  wick_builder *b = c->a.o->b;
  const wick_type_info *q = wick_built_info(b, c->a.q);
  const wick_dim column[] = {q->dim[0], wick_dim_const(1)};
  end = wick_build2(b, WICK_OP_sub, end, wick_onnx_size(c->a.o, q->dim[2]));
  end =
      wick_emit_by(b, WICK_OP_max, end, 0); /* the first keys of a batch have padding after them */
  c->before = wick_build_reshape(b, end, 2, column);
}

/* Reads how long the sequences are: seqlens_k has the last position of each, total_sequence_length how
 * many positions the longest has. */
static bool grouped_cache_lengths(grouped_cache *c, uint32_t ends, uint32_t total)
{
  wick_onnx_op *o = c->a.o;
  wick_builder *b = o->b;
  uint32_t n;
  const wick_dim *known;
  const wick_type_info *q = wick_built_info(b, c->a.q);
  wick_dims *t = o->c->module->dims;
  wick_dim sum = wick_dim_add(t, c->past, q->dim[2]);
  if (!wick_onnx_dims(o, total, "total_sequence_length", &n, &known)) return false;
  if (n != 1) {
    wick_onnx_fail(o, WICK_ETYPE, "total_sequence_length has %u elements, expected 1", n);
    return false;
  }
  c->total = wick_dim_max(t, known[0], c->past);
  c->plain = wick_dim_is(q->dim[0], 1) && wick_dim_eq(sum, c->total);
  grouped_before(c, wick_emit_by(b, WICK_OP_add, wick_build_cast(b, o->in[ends], WICK_I64), 1));
  return !b->status;
}

/* Puts the new keys or values after the valid positions of the cache; what follows them there stays. */
static wick_value grouped_cached(grouped_cache *c, uint32_t i, wick_value x)
{
  wick_onnx_op *o = c->a.o;
  wick_builder *b = o->b;
  wick_dims *t = o->c->module->dims;
  wick_value past = wick_microsoft_optional(o, i);
  wick_value all = wick_microsoft_appended(o, past, x);
  if (c->plain || b->status) return all;
  const wick_type_info *n = wick_built_info(b, x);
  const wick_dim one = wick_dim_const(1);
  wick_dim most = wick_dim_sub(t, wick_dim_add(t, c->past, n->dim[2]), one);
  wick_value at = wick_emit_count_along(o->b, c->total, 1, 2);
  wick_value fresh = wick_build2(b, WICK_OP_sub, at, c->before);
  wick_value keep = wick_emit_by(o->b, WICK_OP_lt, fresh, 0);
  wick_value after = wick_build2(b, WICK_OP_ge, fresh, wick_onnx_size(o, n->dim[2]));
  keep = wick_build2(b, WICK_OP_or, keep, after);
  wick_value shift = wick_onnx_size(o, c->past);
  fresh = wick_build2(b, WICK_OP_add, fresh, shift);
  wick_value from = wick_build3(b, WICK_OP_where, keep, at, fresh);
  wick_value last = wick_onnx_size(o, most);
  from = wick_build2(b, WICK_OP_min, from, last); /* positions after the last one are not read */
  const wick_dim column[] = {n->dim[0], one, c->total, one};
  const wick_dim whole[] = {n->dim[0], n->dim[1], c->total, n->dim[3]};
  from = wick_emit_expand(o->b, wick_build_reshape(o->b, from, 4, column), 4, whole);
  return wick_emit_gather(o->b, WICK_OP_gather_elements, all, from, 2);
}

/* Rotates queries and keys, whose positions follow those before. */
static void grouped_turn(grouped_cache *c, uint32_t cos, uint32_t at)
{
  attention *a = &c->a;
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  bool interleaved = wick_onnx_int(o, "rotary_interleaved", 0) != 0;
  if (!wick_onnx_int(o, "do_rotary", 0)) return;
  if (!wick_onnx_has(o, cos) || !wick_onnx_has(o, cos + 1)) {
    wick_onnx_fail(o, WICK_EPARSE, "do_rotary needs cos_cache and sin_cache");
    return;
  }
  wick_value place = at ? wick_microsoft_optional(o, at) : (wick_value){0};
  if (!place.id) {
    wick_value count = wick_emit_count_along(o->b, wick_built_info(b, a->q)->dim[2], 1, 2);
    place = wick_build2(b, WICK_OP_add, count, c->before);
  }
  wick_value angle[2];
  for (uint32_t k = 0; k < 2; k++) angle[k] = wick_microsoft_angles(o, o->in[cos + k], place, 1);
  a->q = wick_onnx_rotated(o, a->q, angle[0], angle[1], interleaved);
  a->k = wick_onnx_rotated(o, a->k, angle[0], angle[1], interleaved);
}

/* Excludes keys after each query's position, and those more than a window before it. */
static void grouped_frontier(grouped_cache *c)
{
  attention *a = &c->a;
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  int64_t window = wick_onnx_int(o, "local_window_size", -1);
  wick_dim batch = wick_built_info(b, a->q)->dim[0], one = wick_dim_const(1);
  wick_value key = wick_emit_count_along(o->b, a->nk, 3, 4);
  wick_value query = wick_emit_count_along(o->b, a->nq, 2, 4);
  wick_value first =
      wick_build_reshape(o->b, c->before, 4, (const wick_dim[]){batch, one, one, one});
  query = wick_build2(b, WICK_OP_add, query, first);
  wick_value keep = wick_build2(b, WICK_OP_le, key, query);
  if (window > 0) {
    wick_value oldest = wick_emit_by(o->b, WICK_OP_sub, query, (double)window);
    keep = wick_build2(b, WICK_OP_and, keep, wick_build2(b, WICK_OP_gt, key, oldest));
  }
  wick_onnx_attention_add(a, wick_onnx_attention_allowed(a, keep));
}

/* Reads queries, keys and values: three operands, or one with all. */
static bool grouped_operands(attention *a, int64_t heads, int64_t shared)
{
  wick_onnx_op *o = a->o;
  wick_dims *t = o->c->module->dims;
  const wick_type_info *q = wick_onnx_info(o, 0);
  bool packed = !wick_onnx_has(o, 1);
  if (heads < 1 || shared < 1 || heads % shared || q->rank != 3 || packed == wick_onnx_has(o, 2)) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "%lld heads, %lld of keys, and a query of rank %u with%s values do not fit",
                   (long long)heads, (long long)shared, q->rank, wick_onnx_has(o, 2) ? "" : "out");
    return false;
  }
  const int64_t parts[] = {heads, shared, shared};
  wick_value *const to[] = {&a->q, &a->k, &a->v};
  wick_dim size = wick_dim_floordiv(t, q->dim[2], wick_dim_const(heads + 2 * shared)),
           begin = wick_dim_const(0);
  if (packed && !wick_onnx_divides(o, q->dim[2], wick_dim_const(heads + 2 * shared))) {
    wick_onnx_fail(o, WICK_ETYPE, "the packed query is no multiple of the number of heads");
    return false;
  }
  for (uint32_t i = 0; i < 3; i++) {
    wick_dim width = wick_dim_mul(t, size, wick_dim_const(parts[i]));
    wick_value x = packed ? wick_emit_slice(o->b, o->in[0], 2, begin, width) : o->in[i];
    *to[i] = wick_onnx_heads(o, x, parts[i]);
    begin = wick_dim_add(t, begin, width);
  }
  return !o->failed && !o->b->status;
}

/* Normalizes the heads of queries and keys by operands 14 and 15. */
static void grouped_head_norm(attention *a)
{
  wick_onnx_op *o = a->o;
  wick_value *const to[] = {&a->q, &a->k};
  for (uint32_t i = 0; i < 2; i++) {
    if (!wick_onnx_has(o, 14 + i)) continue;
    wick_emit e = wick_emit_begin(o->b, WICK_OP_rms_norm);
    wick_emit_set_float(&e, "epsilon", wick_onnx_float(o, "qk_norm_epsilon", 1e-6f));
    wick_emit_set_int(&e, "axis", -1);
    *to[i] = wick_emit_end2(&e, *to[i], o->in[14 + i]);
  }
}

/* The softmax whose sum has one more term for each head: exp of operand 11, or of 0. */
static wick_value grouped_sunk(attention *a, wick_value scores)
{
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  bool smooth = wick_onnx_int(o, "smooth_softmax", 0) > 0;
  if (!wick_onnx_has(o, 11) && !smooth) return wick_onnx_attention_softmax(a, scores, a->elem);
  const wick_type_info *t = wick_built_info(b, scores);
  const wick_dim one = wick_dim_const(1), column[] = {t->dim[0], t->dim[1], t->dim[2], one};
  wick_value sink = wick_emit_number(o->b, scores, 0);
  if (wick_onnx_has(o, 11))
    sink = wick_build_reshape(o->b, o->in[11], 4, (const wick_dim[]){one, t->dim[1], one, one});
  sink = wick_emit_expand(o->b, sink, 4, column);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", -1);
  wick_value p = wick_emit_end1(&e, wick_build_concat(o->b, 3, 2, (wick_value[]){scores, sink}));
  return wick_emit_slice(o->b, p, 3, wick_dim_const(0), t->dim[3]);
}

static bool grouped_plain(wick_onnx_op *o)
{
  static const char *const zero[] = {"sliding_window_cache", "qk_output", "kv_cache_bit_width"};
  for (size_t k = 0; k < WICK_COUNT(zero); k++)
    if (wick_onnx_int(o, zero[k], 0)) {
      wick_onnx_fail(o, WICK_EUNSUPPORTED, "%s is not supported", zero[k]);
      return false;
    }
  if (!wick_onnx_has(o, 12) && !wick_onnx_has(o, 13)) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "a quantized cache is not supported");
  return false;
}

static void grouped_import(wick_onnx_op *o)
{
  grouped_cache c = {.a.o = o};
  attention *a = &c.a;
  wick_builder *b = o->b;
  if (!wick_microsoft_needs(o, 1u << 5 | 1u << 6) || !grouped_plain(o) ||
      !grouped_operands(a, wick_onnx_int(o, "num_heads", 0), wick_onnx_int(o, "kv_num_heads", 0)))
    return;
  if (wick_onnx_has(o, 3) && wick_onnx_info(o, 3)->rank != 4) {
    wick_onnx_fail(o, WICK_ETYPE, "past_key has rank %u, expected 4", wick_onnx_info(o, 3)->rank);
    return;
  }
  c.past = wick_onnx_has(o, 3) ? wick_onnx_info(o, 3)->dim[2] : wick_dim_const(0);
  if (!grouped_cache_lengths(&c, 5, 6)) return;
  grouped_head_norm(a);
  grouped_turn(&c, 7, 9);
  a->k = grouped_cached(&c, 3, a->k);
  a->v = grouped_cached(&c, 4, a->v);
  if (!wick_microsoft_attention_complete(a)) return;
  grouped_frontier(&c);
  wick_value k = wick_build_transpose(o->b, a->k, 4, (const int64_t[]){0, 1, 3, 2});
  wick_value scores = wick_onnx_attention_product(a, wick_microsoft_attention_scaled(a, a->q), k);
  scores = wick_onnx_attention_softcap(a, scores, wick_onnx_float(o, "softcap", 0));
  if (wick_onnx_has(o, 10)) wick_onnx_attention_add(a, o->in[10]);
  scores = wick_build2(b, WICK_OP_add, scores, a->bias);
  if (b->status || o->failed) return;
  wick_value y = wick_onnx_attention_product(a, grouped_sunk(a, scores), a->v);
  const wick_value results[] = {wick_onnx_heads_joined(o, y), a->k, a->v};
  for (uint32_t i = 0; i < o->nout && i < 3; i++) o->out[i] = results[i];
}

/* ---- blocks of keys ---- */

/* The blocks of keys that each row of blocks attends to: bool [layouts, rows, columns], with as many
 * columns as rows. Operand 5 has where each row begins among the columns in operand 6, and where the
 * last one ends. */
static wick_value sparse_layouts(wick_onnx_op *o, wick_dim layouts, wick_dim rows)
{
  wick_builder *b = o->b;
  wick_dims *d = o->c->module->dims;
  const wick_dim one = wick_dim_const(1), cells = wick_dim_mul(d, rows, rows);
  wick_value end = wick_build_cast(b, o->in[5], WICK_I64);
  wick_value column = wick_build_cast(b, o->in[6], WICK_I64);
  end = wick_emit_unsqueeze(b, wick_emit_slice(b, end, 1, one, rows), 1);
  wick_value entry = wick_emit_count_along(b, wick_onnx_info(o, 6)->dim[1], 1, 3);
  wick_value passed = wick_build_cast(b, wick_build2(b, WICK_OP_le, end, entry), WICK_I64);
  wick_value row = wick_emit_reduce1(b, WICK_OP_reduce_sum, passed, 2, false);
  wick_value last = wick_onnx_size(o, rows);
  wick_value padding = wick_build2(b, WICK_OP_ge, row, last);
  padding = wick_build2(b, WICK_OP_or, padding, wick_emit_by(b, WICK_OP_lt, column, 0));
  wick_value at = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, row, last), column);
  at = wick_build3(b, WICK_OP_where, padding, wick_onnx_size(o, cells), at);
  wick_value none = wick_emit_number(b, at, 0), some = wick_emit_number(b, at, 1);
  none = wick_emit_expand(b, none, 2, (wick_dim[]){layouts, wick_dim_add(d, cells, one)});
  if (b->status) return none;
  some = wick_emit_expand(b, some, 2, wick_built_info(b, at)->dim);
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 1);
  wick_value mask = wick_emit_end(&e, 3, (wick_value[]){none, at, some});
  mask = wick_emit_slice(b, mask, 1, wick_dim_const(0), cells);
  mask = wick_build_reshape(b, mask, 3, (wick_dim[]){layouts, rows, rows});
  return wick_emit_by(b, WICK_OP_gt, mask, 0);
}

/* The block of each position. */
static wick_value sparse_block(wick_onnx_op *o, wick_value position, int64_t size, wick_dim blocks)
{
  wick_builder *b = o->b;
  wick_value block = wick_emit_by(b, WICK_OP_div, position, (double)size);
  wick_dim last = wick_dim_sub(o->c->module->dims, blocks, wick_dim_const(1));
  return wick_build2(b, WICK_OP_min, block, wick_onnx_size(o, last));
}

/* Excludes keys outside of the blocks of each query's row. Heads have the layouts in turn. */
static void sparse_mask(grouped_cache *c, int64_t heads, int64_t size)
{
  attention *a = &c->a;
  wick_onnx_op *o = a->o;
  wick_builder *b = o->b;
  const wick_type_info t = *wick_onnx_info(o, 5);
  wick_dims *d = o->c->module->dims;
  wick_dim layouts = t.dim[0], rows = wick_dim_sub(d, t.dim[1], wick_dim_const(1));
  if (!wick_dim_is_const(layouts)) {
    wick_onnx_must_be_known(o, "the number of layouts", layouts);
    return;
  }
  if (layouts.v < 1 || heads % layouts.v) {
    wick_onnx_fail(o, WICK_ETYPE, "%lld heads cannot have %lld layouts in turn", (long long)heads,
                   (long long)layouts.v);
    return;
  }
  wick_value mask = sparse_layouts(o, layouts, rows);
  wick_value key = sparse_block(o, wick_emit_count(b, a->nk), size, rows);
  wick_value query = wick_emit_count_along(b, a->nq, 1, 2);
  query = sparse_block(o, wick_build2(b, WICK_OP_add, query, c->before), size, rows);
  mask = wick_emit_gather(b, WICK_OP_gather, mask, key, 2);
  mask = wick_emit_gather(b, WICK_OP_gather, mask, query, 1);
  mask = wick_build_transpose(b, mask, 4, (const int64_t[]){1, 0, 2, 3});
  if (b->status) return;
  if (layouts.v > 1) {
    wick_dim batch = wick_built_info(b, mask)->dim[0];
    const wick_dim turns = wick_dim_const(heads / layouts.v);
    const wick_dim repeated[] = {batch, turns, layouts, a->nq, a->nk};
    const wick_dim whole[] = {batch, wick_dim_const(heads), a->nq, a->nk};
    mask = wick_emit_expand(b, wick_emit_unsqueeze(b, mask, 1), 5, repeated);
    mask = wick_build_reshape(b, mask, 4, whole);
  }
  a->may_be_empty = true;
  wick_onnx_attention_add(a, wick_onnx_attention_allowed(a, mask));
}

static void sparse_import(wick_onnx_op *o)
{
  grouped_cache c = {.a.o = o};
  attention *a = &c.a;
  wick_builder *b = o->b;
  int64_t heads = wick_onnx_int(o, "num_heads", 0), size = wick_onnx_int(o, "sparse_block_size", 0);
  if (!wick_microsoft_needs(o, 0x1f9) ||
      !grouped_operands(a, heads, wick_onnx_int(o, "kv_num_heads", 0)))
    return;
  if (wick_onnx_info(o, 3)->rank != 4 || wick_onnx_info(o, 5)->rank != 2 ||
      wick_onnx_info(o, 6)->rank != 2 || size < 1) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "past_key has rank %u, expected 4, the block indices have ranks %u and %u, "
                   "expected 2, and sparse_block_size is %lld",
                   wick_onnx_info(o, 3)->rank, wick_onnx_info(o, 5)->rank,
                   wick_onnx_info(o, 6)->rank, (long long)size);
    return;
  }
  c.past = c.total = wick_onnx_info(o, 3)->dim[2];
  grouped_before(&c, wick_build_cast(b, o->in[8], WICK_I64));
  grouped_turn(&c, 9, 0);
  a->k = grouped_cached(&c, 3, a->k);
  a->v = grouped_cached(&c, 4, a->v);
  if (!wick_microsoft_attention_complete(a)) return;
  grouped_frontier(&c);
  sparse_mask(&c, heads, size);
  if (b->status || o->failed) return;
  wick_value k = wick_build_transpose(b, a->k, 4, (const int64_t[]){0, 1, 3, 2});
  wick_value scores = wick_onnx_attention_product(a, wick_microsoft_attention_scaled(a, a->q), k);
  scores = wick_build2(b, WICK_OP_add, scores, a->bias);
  scores = wick_onnx_attention_softmax(a, scores, a->elem);
  wick_value y = wick_onnx_attention_product(a, scores, a->v);
  const wick_value results[] = {wick_onnx_heads_joined(o, y), a->k, a->v};
  for (uint32_t i = 0; i < o->nout && i < 3; i++) o->out[i] = results[i];
}

#define ROW(name, least, most, nout, attrs, import)                                                \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, import, 0, 0                             \
  }
#define HEADS "num_heads:i! kv_num_heads:i! scale:f do_rotary:i rotary_interleaved:i "

const wick_onnx_row wick_onnx_microsoft_grouped_rows[] = {
    ROW("GroupQueryAttention", 1, 16, 4,
        HEADS "softcap:f local_window_size:i smooth_softmax:i sliding_window_cache:i qk_output:i "
              "k_quant_type:s "
              "v_quant_type:s kv_cache_bit_width:i qk_norm_epsilon:f",
        grouped_import),
    ROW("SparseAttention", 1, 11, 3, HEADS "sparse_block_size:i!", sparse_import),
    {0},
};
