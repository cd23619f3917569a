/* Imports com.microsoft's hashes of n-grams: of a batch of sequences, or of requests of different lengths
 * that are packed into one sequence. A hash is the exclusive or of the last tokens' products by a
 * multiplier each, modulo the size of a vocabulary. */
#include "import/onnx/microsoft.h"

enum { NGRAM_MOST = 64 }; /* tokens of an n-gram */

typedef struct ngram_hash {
  wick_onnx_op *o;
  wick_builder *b;
  int64_t size, heads; /* the most tokens of an n-gram; the vocabularies of each size */
  wick_value fill;     /* the token before the first one, and that of a cut history */
  bool ends;           /* the history is cut at a token `fill` */
  /* Packed requests: */
  wick_dim requests, total;
  wick_value request, place; /* of each token: its request, and its place in that */
  wick_value first, length;  /* of each request */
} ngram_hash;

/* Reads the attributes, and the last token's meaning in operand `eos`. */
static bool ngram_begin(ngram_hash *h, uint32_t eos)
{
  wick_onnx_op *o = h->o;
  wick_builder *b = h->b = o->b;
  h->size = wick_onnx_int(o, "max_ngram_size", 0);
  h->heads = wick_onnx_int(o, "n_head_per_ngram", 0);
  if (h->size < 2 || h->size > NGRAM_MOST || h->heads < 1 || h->heads > INT32_MAX) {
    wick_onnx_fail(o, WICK_ERANGE,
                   "max_ngram_size is %lld, expected 2 to %d, and n_head_per_ngram is %lld",
                   (long long)h->size, NGRAM_MOST, (long long)h->heads);
    return false;
  }
  if (wick_onnx_info(o, 1)->rank != 1 || wick_onnx_info(o, 2)->rank != 1) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "multipliers of rank %u and vocabulary sizes of rank %u, expected 1",
                   wick_onnx_info(o, 1)->rank, wick_onnx_info(o, 2)->rank);
    return false;
  }
  wick_onnx_equal(o, wick_onnx_info(o, 2)->dim[0], wick_dim_const((h->size - 1) * h->heads));
  wick_type token = wick_type_tensor(o->c->module, wick_onnx_info(o, 0)->elem, 0, NULL);
  h->ends = wick_onnx_has(o, eos) && wick_onnx_int(o, "reset_on_eos", 0);
  h->fill = wick_onnx_has(o, eos) ? wick_onnx_scalar(o, eos)
                                  : wick_build_const(b, token, 0, wick_onnx_int(o, "pad_id", 0));
  return !o->failed && !b->status;
}

/* Hashes n-grams. shifted[k] has the token k steps before each one, and cut[k], for k from 1 on, is true
 * where a boundary is between that token and the next one; 0: nowhere. `offset` is the operand that is
 * added to the hashes. */
static wick_value ngram_hashes(ngram_hash *h, const wick_value *shifted, const wick_value *cut,
                               uint32_t offset)
{
  wick_onnx_op *o = h->o;
  wick_builder *b = h->b;
  wick_value mix = {0}, lost = {0}, part[NGRAM_MOST];
  uint32_t rank = b->status ? 0 : wick_built_info(b, shifted[0])->rank;
  for (int64_t k = 0; k < h->size; k++) {
    wick_value token = shifted[k];
    wick_value end = {0};
    if (k && h->ends) end = wick_build2(b, WICK_OP_eq, token, h->fill);
    for (uint32_t i = 0; i < 2; i++) {
      wick_value more = i ? cut[k] : end;
      if (k && more.id) lost = lost.id ? wick_build2(b, WICK_OP_or, lost, more) : more;
    }
    if (lost.id) token = wick_build3(b, WICK_OP_where, lost, h->fill, token);
    wick_value by = wick_emit_slice(b, o->in[1], 0, wick_dim_const(k), wick_dim_const(1));
    token = wick_build2(b, WICK_OP_mul, token, by);
    mix = k ? wick_build2(b, WICK_OP_bit_xor, mix, token) : token;
    if (!k) continue;
    wick_dim heads = wick_dim_const(h->heads), at = wick_dim_const((k - 1) * h->heads);
    wick_value of = wick_emit_slice(b, o->in[2], 0, at, heads);
    part[k - 1] = wick_build2(b, WICK_OP_mod, wick_emit_unsqueeze(b, mix, rank), of);
  }
  wick_value y = h->size > 2 ? wick_build_concat(b, rank, (uint32_t)h->size - 1, part) : part[0];
  return wick_onnx_has(o, offset) ? wick_build2(b, WICK_OP_add, y, o->in[offset]) : y;
}

/* ---- a batch of sequences ---- */

static void ngram_batch(wick_onnx_op *o)
{
  enum { PAST = 3, OFFSET, EOS, SEGMENT };
  ngram_hash h = {.o = o};
  if (!ngram_begin(&h, EOS)) return;
  wick_builder *b = o->b;
  const wick_type_info t = *wick_onnx_info(o, 0);
  if (t.rank != 2) {
    wick_onnx_fail(o, WICK_ETYPE, "tokens of rank %u, expected 2", t.rank);
    return;
  }
  const wick_dim before = wick_dim_const(h.size - 1), past[] = {t.dim[0], before};
  wick_value history = wick_onnx_has(o, PAST) ? o->in[PAST] : wick_emit_expand(b, h.fill, 2, past);
  wick_value all = wick_build_concat(b, 1, 2, (wick_value[]){history, o->in[0]});
  wick_value shifted[NGRAM_MOST], cut[NGRAM_MOST] = {{0}}, bounds = {0};
  if (wick_onnx_has(o, SEGMENT)) { /* true where a segment begins, but for the first one */
    wick_value s = o->in[SEGMENT];
    s = wick_build_concat(
        b, 1, 2, (wick_value[]){wick_emit_slice(b, s, 1, wick_dim_const(0), wick_dim_const(1)), s});
    wick_value next = wick_emit_slice(b, s, 1, wick_dim_const(1), t.dim[1]);
    s = wick_emit_slice(b, s, 1, wick_dim_const(0), t.dim[1]);
    bounds = wick_build2(b, WICK_OP_ne, s, next);
    wick_value none = wick_emit_expand(b, wick_emit_number(b, bounds, 0), 2, past);
    bounds = wick_build_concat(b, 1, 2, (wick_value[]){none, bounds});
  }
  for (int64_t k = 0; k < h.size; k++) {
    shifted[k] = wick_emit_slice(b, all, 1, wick_dim_const(h.size - 1 - k), t.dim[1]);
    if (k && bounds.id)
      cut[k] = wick_emit_slice(b, bounds, 1, wick_dim_const(h.size - k), t.dim[1]);
  }
  o->out[0] = ngram_hashes(&h, shifted, cut, OFFSET);
  if (o->nout > 1) o->out[1] = wick_emit_slice(b, all, 1, t.dim[1], before);
}

/* ---- packed requests ---- */

/* Reads where requests begin and end, operand 3, i32 [requests + 1]. */
static bool ngram_requests(ngram_hash *h)
{
  wick_onnx_op *o = h->o;
  wick_builder *b = h->b;
  const wick_type_info t = *wick_onnx_info(o, 0), r = *wick_onnx_info(o, 3);
  if (t.rank != 1 || r.rank != 1) {
    wick_onnx_fail(o, WICK_ETYPE, "tokens of rank %u and lengths of rank %u, expected 1", t.rank,
                   r.rank);
    return false;
  }
  const wick_dim one = wick_dim_const(1);
  h->total = t.dim[0], h->requests = wick_dim_sub(o->c->module->dims, r.dim[0], one);
  wick_value ends = wick_build_cast(b, o->in[3], WICK_I64);
  h->first = wick_emit_slice(b, ends, 0, wick_dim_const(0), h->requests);
  ends = wick_emit_slice(b, ends, 0, one, h->requests);
  h->length = wick_build2(b, WICK_OP_sub, ends, h->first);
  wick_value token = wick_emit_count(b, h->total);
  wick_value column = wick_emit_unsqueeze(b, token, 1);
  wick_value over = wick_build2(b, WICK_OP_le, wick_emit_unsqueeze(b, ends, 0), column);
  h->request =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, over, WICK_I64), 1, false);
  wick_value begin = wick_emit_gather(b, WICK_OP_gather, h->first, h->request, 0);
  h->place = wick_build2(b, WICK_OP_sub, token, begin);
  return !b->status;
}

/* Takes elements of requests by their place in these. `x` has one element for each token. A negative
 * place is in `past` [requests, size - 1]; without that, the element is `fill`. */
static wick_value ngram_take(ngram_hash *h, wick_value x, wick_value past, wick_value fill,
                             wick_value request, wick_value place)
{
  wick_builder *b = h->b;
  wick_dims *d = h->o->c->module->dims;
  wick_value begin = wick_emit_gather(b, WICK_OP_gather, h->first, request, 0);
  wick_value at = wick_build2(b, WICK_OP_add, begin, place);
  wick_value inside = wick_emit_by(b, WICK_OP_ge, place, 0);
  if (past.id) {
    const wick_dim before = wick_dim_const(h->size - 1);
    wick_dim whole = wick_dim_mul(d, h->requests, before);
    x = wick_build_concat(b, 0, 2, (wick_value[]){wick_build_reshape(b, past, 1, &whole), x});
    at = wick_build2(b, WICK_OP_add, at, wick_onnx_size(h->o, whole));
    wick_value row = wick_emit_by(b, WICK_OP_mul, request, (double)(h->size - 1));
    row = wick_build2(b, WICK_OP_add, row,
                      wick_emit_by(b, WICK_OP_add, place, (double)(h->size - 1)));
    at = wick_build3(b, WICK_OP_where, inside, at, row);
    return wick_emit_gather(b, WICK_OP_gather, x, at, 0);
  }
  at = wick_build3(b, WICK_OP_where, inside, at, wick_emit_number(b, at, 0));
  return wick_build3(b, WICK_OP_where, inside, wick_emit_gather(b, WICK_OP_gather, x, at, 0), fill);
}

/* The last size - 1 elements of each request up to its place `end`, which is not included. `end` is i64
 * [requests, ..., 1], the result [requests, ..., size - 1]. */
static wick_value ngram_tail(ngram_hash *h, wick_value x, wick_value past, wick_value fill,
                             wick_value end)
{
  wick_builder *b = h->b;
  if (b->status) return x;
  uint32_t rank = wick_built_info(b, end)->rank;
  const wick_dim before = wick_dim_const(h->size - 1);
  wick_value back = wick_emit_count_along(b, before, rank - 1, rank);
  back = wick_emit_by(b, WICK_OP_sub, back, (double)(h->size - 1));
  wick_value place = wick_build2(b, WICK_OP_add, end, back);
  wick_value request = wick_emit_count_along(b, h->requests, 0, rank);
  if (b->status) return x;
  request = wick_emit_expand(b, request, rank, wick_built_info(b, place)->dim);
  return ngram_take(h, x, past, fill, request, place);
}

/* The tokens after each of the first tokens of a request, as many as operand `count` tells. */
static wick_value ngram_states(ngram_hash *h, wick_value past, uint32_t count)
{
  wick_onnx_op *o = h->o;
  wick_builder *b = h->b;
  int64_t most = wick_onnx_int(o, "state_update_capacity", 0);
  if (most < 1 || most > 8 || !wick_onnx_has(o, count)) {
    wick_onnx_fail(o, WICK_ERANGE, "state_update_capacity is %lld%s, expected 1 to 8",
                   (long long)most, wick_onnx_has(o, count) ? "" : " without capture_count");
    return (wick_value){0};
  }
  const wick_dim one = wick_dim_const(1), slots[] = {h->requests, wick_dim_const(most), one};
  wick_value given = wick_build_cast(b, o->in[count], WICK_I64);
  wick_value n = wick_build2(b, WICK_OP_min, given, h->length);
  wick_value end = wick_emit_by(b, WICK_OP_add, wick_emit_count_along(b, slots[1], 1, 3), 1);
  end = wick_emit_expand(b, end, 3, slots);
  wick_value kept = wick_build2(b, WICK_OP_le, end,
                                wick_build_reshape(b, n, 3, (wick_dim[]){h->requests, one, one}));
  end = wick_build3(b, WICK_OP_where, kept, end, wick_emit_number(b, end, 0));
  wick_value state = ngram_tail(h, o->in[0], past, h->fill, end);
  wick_value pad =
      wick_build_const(b, wick_type_tensor(o->c->module, wick_onnx_info(o, 0)->elem, 0, NULL), 0,
                       wick_onnx_int(o, "pad_id", 0));
  return wick_build3(b, WICK_OP_where, kept, state, pad);
}

static void ngram_packed(wick_onnx_op *o)
{
  enum { PAST = 4, OFFSET, EOS, SEGMENT, PAST_SEGMENT, COUNT };
  ngram_hash h = {.o = o};
  if (!wick_microsoft_needs(o, 1u << 3) || !ngram_begin(&h, EOS) || !ngram_requests(&h)) return;
  wick_builder *b = o->b;
  wick_value past = wick_microsoft_optional(o, PAST),
             old = wick_microsoft_optional(o, PAST_SEGMENT);
  wick_value segment = wick_microsoft_optional(o, SEGMENT);
  wick_value shifted[NGRAM_MOST], cut[NGRAM_MOST] = {{0}}, of[NGRAM_MOST] = {{0}};
  for (int64_t k = 0; k < h.size; k++) {
    wick_value place = wick_emit_by(b, WICK_OP_sub, h.place, (double)k);
    shifted[k] = k ? ngram_take(&h, o->in[0], past, h.fill, h.request, place) : o->in[0];
    if (!segment.id) continue;
    of[k] = k ? ngram_take(&h, segment, old, of[k - 1], h.request, place) : segment;
    if (k) cut[k] = wick_build2(b, WICK_OP_ne, of[k - 1], of[k]);
  }
  o->out[0] = ngram_hashes(&h, shifted, cut, OFFSET);
  wick_value end = wick_emit_unsqueeze(b, h.length, 1);
  if (wick_microsoft_wants(o, 1)) o->out[1] = ngram_tail(&h, o->in[0], past, h.fill, end);
  if (wick_microsoft_wants(o, 2)) {
    if (!segment.id) {
      wick_onnx_fail(o, WICK_EPARSE, "present_segment_ids needs segment_ids");
      return;
    }
    wick_value first = wick_emit_gather(b, WICK_OP_gather, segment, h.first, 0);
    o->out[2] = ngram_tail(&h, segment, old, wick_emit_unsqueeze(b, first, 1), end);
  }
  if (wick_microsoft_wants(o, 3)) o->out[3] = ngram_states(&h, past, COUNT);
}

#define NGRAM "max_ngram_size:i! n_head_per_ngram:i! pad_id:i! reset_on_eos:i"

const wick_onnx_row wick_onnx_microsoft_ngram_rows[] = {
    {"com.microsoft.NGramHashMapping", 1, {3, 7}, 2, NGRAM, ngram_batch, 0, 0},
    {"com.microsoft.VarlenNGramHashMapping",
     1,
     {4, 10},
     4,
     NGRAM " state_update_capacity:i",
     ngram_packed,
     0,
     0},
    {0},
};
