/* Imports com.microsoft's operators on tokens: hashes of them, scores without repeated n-grams, and
 * predictions that follow a source. */
#include <math.h>

#include "import/onnx/microsoft.h"

/* ---- MurmurHash3, 32 bits. Source: Appleby's public MurmurHash3_x86_32. ---- */

static wick_value token_u32(wick_onnx_op *o, wick_value like, uint32_t number)
{
  return wick_emit_number(o->b, like, (double)number);
}

static wick_value token_by(wick_onnx_op *o, wick_opcode op, wick_value x, uint32_t number)
{
  return wick_build2(o->b, op, x, token_u32(o, x, number));
}

static wick_value token_turned(wick_onnx_op *o, wick_value x, uint32_t bits)
{
  wick_value high = token_by(o, WICK_OP_shift_left, x, bits);
  wick_value low = token_by(o, WICK_OP_shift_right, x, 32 - bits);
  return wick_build2(o->b, WICK_OP_bit_or, high, low);
}

static wick_value token_shifted(wick_onnx_op *o, wick_value h, uint32_t bits)
{
  return wick_build2(o->b, WICK_OP_bit_xor, h, token_by(o, WICK_OP_shift_right, h, bits));
}

/* Adds a block of four bytes to the hash. */
static wick_value token_block(wick_onnx_op *o, wick_value h, wick_value k)
{
  k = token_by(o, WICK_OP_mul, k, 0xcc9e2d51);
  k = token_by(o, WICK_OP_mul, token_turned(o, k, 15), 0x1b873593);
  h = token_turned(o, wick_build2(o->b, WICK_OP_bit_xor, h, k), 13);
  return token_by(o, WICK_OP_add, token_by(o, WICK_OP_mul, h, 5), 0xe6546b64);
}

/* Hashes the bytes of each element, which has four or eight. */
static void token_hash(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  int64_t seed = wick_onnx_int(o, "seed", 0);
  bool wide = elem == WICK_I64 || elem == WICK_U64 || elem == WICK_F64;
  if (!wide && elem != WICK_I32 && elem != WICK_U32 && elem != WICK_F32) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "elements of type %s are not supported",
                   wick_elem_name(elem));
    return;
  }
  wick_value low = {0}, high = {0};
  if (wide) {
    wick_value bits = wick_emit_bits(b, o->in[0], WICK_U64);
    low = wick_build_cast(b, wick_emit_by(b, WICK_OP_bit_and, bits, 4294967295.0), WICK_U32);
    high = wick_emit_by(b, WICK_OP_shift_right, bits, 32);
    high = wick_build_cast(b, high, WICK_U32);
  } else {
    low = wick_emit_bits(b, o->in[0], WICK_U32);
  }
  wick_value h = token_u32(o, low, (uint32_t)seed);
  h = token_block(o, h, low);
  if (wide) h = token_block(o, h, high);
  h = token_by(o, WICK_OP_bit_xor, h, wide ? 8 : 4);
  h = token_by(o, WICK_OP_mul, token_shifted(o, h, 16), 0x85ebca6b);
  h = token_by(o, WICK_OP_mul, token_shifted(o, h, 13), 0xc2b2ae35);
  h = token_shifted(o, h, 16);
  o->out[0] = wick_onnx_int(o, "positive", 1) ? h : wick_emit_bits(b, h, WICK_I32);
}

/* ---- repeated n-grams ---- */

/* The tokens get n - 1 times -1 in front, so that there are windows even if they are few. */
wick_value wick_microsoft_unrepeated(wick_onnx_op *o, wick_value tokens, wick_value scores,
                                     int64_t size, double low)
{
  wick_builder *b = o->b;
  wick_dims *d = o->c->module->dims;
  if (b->status) return scores;
  const wick_type_info t = *wick_built_info(b, tokens);
  wick_dim more = wick_dim_const(size - 1), one = wick_dim_const(1), steps = t.dim[1];
  if (size > 1) {
    wick_value none = wick_build_const(b, wick_type_tensor(o->c->module, WICK_I64, 0, NULL), 0, -1);
    none = wick_emit_expand(b, none, 2, (wick_dim[]){t.dim[0], more});
    tokens = wick_build_concat(b, 1, 2, (wick_value[]){none, tokens});
  }
  wick_value next = wick_emit_slice(b, tokens, 1, more, steps), same = {0};
  for (int64_t k = 0; k + 1 < size; k++) {
    wick_value window = wick_emit_slice(b, tokens, 1, wick_dim_const(k), steps);
    wick_value last = wick_emit_slice(b, tokens, 1, wick_dim_add(d, steps, wick_dim_const(k)), one);
    wick_value equal = wick_build2(b, WICK_OP_eq, window, last);
    same = same.id ? wick_build2(b, WICK_OP_and, same, equal) : equal;
  }
  wick_value lowest = wick_emit_number(b, scores, low),
             high = wick_emit_number(b, scores, (double)INFINITY);
  wick_value update = same.id ? wick_build3(b, WICK_OP_where, same, lowest, high)
                              : wick_emit_expand(b, lowest, 2, t.dim);
  enum { REDUCE_MIN = 4 };
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "reduction", REDUCE_MIN);
  return wick_emit_end(&e, 3, (wick_value[]){scores, next, update});
}

static void token_repeats(wick_onnx_op *o)
{
  enum { TOKEN_MOST = 64 };
  int64_t size = wick_onnx_int(o, "ngram_size", 0);
  if (size < 1 || size > TOKEN_MOST) {
    wick_onnx_fail(o, WICK_ERANGE, "ngram_size is %lld, expected 1 to %d", (long long)size,
                   TOKEN_MOST);
    return;
  }
  if (wick_onnx_info(o, 0)->rank != 2 || wick_onnx_info(o, 1)->rank != 2) {
    wick_onnx_fail(o, WICK_ETYPE, "tokens of rank %u and scores of rank %u, expected 2",
                   wick_onnx_info(o, 0)->rank, wick_onnx_info(o, 1)->rank);
    return;
  }
  wick_value tokens = wick_build_cast(o->b, o->in[0], WICK_I64);
  o->out[0] = wick_microsoft_unrepeated(o, tokens, o->in[1], size, -(double)INFINITY);
}

/* ---- words of characters ---- */

/* For each word, a row of characters that ends with zeros: the largest results of filters over the
 * embeddings of its characters. Operands: words [count, length], weights [filters, 1, width, size], biases,
 * embeddings [characters, size]. A word without characters has zeros. */
static void token_words(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  const wick_type_info w = *wick_onnx_info(o, 0), f = *wick_onnx_info(o, 1);
  if (w.rank != 2 || f.rank != 4 || wick_onnx_info(o, 2)->rank != 1 ||
      wick_onnx_info(o, 3)->rank != 2 || !wick_dim_is_const(f.dim[2])) {
    wick_onnx_fail(o, WICK_ETYPE, "words of rank %u and weights of rank %u, expected 2 and 4",
                   w.rank, f.rank);
    return;
  }
  wick_value x = wick_emit_gather(b, WICK_OP_gather, o->in[3], o->in[0], 0);
  wick_emit conv = wick_emit_begin(b, WICK_OP_conv);
  wick_value in[3] = {wick_emit_unsqueeze(b, x, 1), o->in[1], o->in[2]};
  wick_value y =
      wick_emit_squeeze(b, wick_emit_end(&conv, 3, in), 3); /* [count, filters, places] */
  y = wick_build1(b, WICK_OP_tanh, y);
  if (b->status) return;
  wick_value letter = wick_build_cast(b, wick_emit_by(b, WICK_OP_gt, o->in[0], 0), WICK_I64);
  wick_value length = wick_emit_reduce1(b, WICK_OP_reduce_sum, letter, 1, true);
  wick_value first = wick_emit_slice(b, letter, 1, wick_dim_const(0), wick_dim_const(1));
  wick_value windows = wick_emit_by(b, WICK_OP_sub, length, (double)(f.dim[2].v - 1));
  windows = wick_emit_unsqueeze(b, wick_emit_by(b, WICK_OP_max, windows, 1), 2);
  wick_value place = wick_emit_count_along(b, wick_built_info(b, y)->dim[2], 2, 3);
  place = wick_build2(b, WICK_OP_lt, place, windows);
  y = wick_build3(b, WICK_OP_where, place, y, wick_emit_number(b, y, -1e12));
  y = wick_emit_reduce1(b, WICK_OP_reduce_max, y, 2, false);
  first = wick_emit_by(b, WICK_OP_gt, first, 0);
  o->out[0] = wick_build3(b, WICK_OP_where, first, y, wick_emit_number(b, y, 0));
}

/* ---- predictions that follow a source ---- */

typedef struct token_suffix { /* where the source continues the last tokens */
  wick_onnx_op *o;
  wick_value source, place; /* [n]: tokens, and 0 to n - 1 */
  wick_value n;             /* i64[] */
  wick_value tokens, end;   /* the text: the first `end` of these tokens */
  wick_value open, found;   /* longer n-grams are still tried; the place after the n-gram, or -1 */
} token_suffix;

/* Tries the last `size` tokens. Source: std::search in ONNX Runtime's BifurcationDetector. */
static void token_suffix_try(token_suffix *s, int64_t size)
{
  wick_builder *b = s->o->b;
  wick_value same = {0};
  for (int64_t k = 0; k < size; k++) {
    wick_value at = wick_emit_by(b, WICK_OP_add, s->place, (double)k);
    wick_value inside = wick_build2(b, WICK_OP_lt, at, s->n);
    at = wick_build2(b, WICK_OP_min, at, wick_emit_by(b, WICK_OP_sub, s->n, 1));
    at = wick_emit_gather(b, WICK_OP_gather, s->source, at, 0);
    wick_value from = wick_emit_by(b, WICK_OP_sub, s->end, (double)(size - k));
    from = wick_emit_by(b, WICK_OP_max, from, 0);
    wick_value token = wick_emit_gather(b, WICK_OP_gather, s->tokens, from, 0);
    inside = wick_build2(b, WICK_OP_and, inside, wick_build2(b, WICK_OP_eq, at, token));
    same = same.id ? wick_build2(b, WICK_OP_and, same, inside) : inside;
  }
  wick_value first = wick_build3(b, WICK_OP_where, same, s->place, s->n);
  first = wick_emit_reduce1(b, WICK_OP_reduce_min, first, 0, false);
  wick_value count = wick_build_cast(b, same, WICK_I64);
  count = wick_emit_reduce1(b, WICK_OP_reduce_sum, count, 0, false);
  wick_value good = wick_emit_by(b, WICK_OP_ge, s->end, (double)size);
  good = wick_build2(b, WICK_OP_and, good, wick_emit_by(b, WICK_OP_gt, count, 0));
  good = wick_build2(b, WICK_OP_and, good, s->open);
  wick_value next = wick_emit_by(b, WICK_OP_add, first, (double)size);
  s->open = wick_build2(b, WICK_OP_and, good, wick_build2(b, WICK_OP_lt, next, s->n));
  wick_value several = wick_emit_by(b, WICK_OP_gt, count, 1);
  several = wick_build2(b, WICK_OP_and, several, s->open);
  next = wick_build3(b, WICK_OP_where, several, wick_emit_number(b, next, -1), next);
  s->found = wick_build3(b, WICK_OP_where, good, next, s->found);
}

/* How many predicted tokens count: those that equal the source from place `from` on, and the next one. */
static wick_value token_agreed(const token_suffix *s, wick_value predicted, wick_value from)
{
  wick_builder *b = s->o->b;
  if (b->status) return from;
  wick_dim n = wick_built_info(b, predicted)->dim[0];
  wick_value place = wick_emit_count(b, n), at = wick_build2(b, WICK_OP_add, place, from);
  wick_value last = wick_emit_by(b, WICK_OP_sub, s->n, 1);
  wick_value over = wick_build2(b, WICK_OP_gt, at, last);
  at = wick_emit_gather(b, WICK_OP_gather, s->source, wick_build2(b, WICK_OP_min, at, last), 0);
  wick_value differs = wick_build2(b, WICK_OP_ne, at, predicted);
  differs = wick_build2(b, WICK_OP_or, differs, over);
  place = wick_build3(b, WICK_OP_where, differs, place, wick_onnx_size(s->o, n));
  place = wick_emit_reduce1(b, WICK_OP_reduce_min, place, 0, false);
  return wick_emit_by(b, WICK_OP_add, place, 1);
}

static void token_bifurcation(wick_onnx_op *o)
{
  enum { TOKEN_MOST = 64 };
  wick_builder *b = o->b;
  int64_t least = wick_onnx_int(o, "min_ngram_size", 0),
          most = wick_onnx_int(o, "max_ngram_size", 0);
  if (least < 1 || most < least || most > TOKEN_MOST) {
    wick_onnx_fail(o, WICK_ERANGE,
                   "n-grams of %lld to %lld tokens, expected 1 or more, and at most %d",
                   (long long)least, (long long)most, TOKEN_MOST);
    return;
  }
  for (uint32_t i = 0; i < o->nin; i++)
    if (i != 2 && wick_onnx_has(o, i) && wick_onnx_info(o, i)->rank != 1) {
      wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 1", i,
                     wick_onnx_info(o, i)->rank);
      return;
    }
  wick_dim n = wick_onnx_info(o, 0)->dim[0], length = wick_onnx_info(o, 1)->dim[0];
  token_suffix s = {.o = o, .source = o->in[0], .tokens = o->in[1]};
  s.place = wick_emit_count(b, n), s.n = wick_onnx_size(o, n), s.end = wick_onnx_size(o, length);
  s.found = wick_emit_number(b, s.n, -1), s.open = wick_emit_by(b, WICK_OP_ge, s.n, 0);
  if (wick_onnx_has(o, 3)) {
    wick_value agreed = token_agreed(&s, o->in[3], wick_onnx_scalar(o, 2));
    s.tokens = wick_build_concat(b, 0, 2, (wick_value[]){o->in[1], o->in[3]});
    s.end = wick_build2(b, WICK_OP_add, s.end, agreed);
  }
  for (int64_t k = least; k <= most; k++) token_suffix_try(&s, k);
  if (b->status || o->failed) return;
  o->out[0] = wick_onnx_has(o, 3) ? wick_onnx_bound(o, s.tokens, 0, s.end) : s.tokens;
  const wick_type_info *t = wick_onnx_info(o, 2);
  if (o->nout > 1) o->out[1] = wick_build_reshape(b, s.found, t->rank, t->dim);
}

const wick_onnx_row wick_onnx_microsoft_token_rows[] = {
    {"com.microsoft.BifurcationDetector",
     1,
     {3, 4},
     2,
     "max_ngram_size:i! min_ngram_size:i!",
     token_bifurcation,
     0,
     0},
    {"com.microsoft.MurmurHash3", 1, {1, 1}, 1, "seed:i positive:i", token_hash, 0, 0},
    {"com.microsoft.NGramRepeatBlock", 1, {2, 2}, 1, "ngram_size:i!", token_repeats, 0, 0},
    {"com.microsoft.WordConvEmbedding",
     1,
     {4, 4},
     1,
     "char_embedding_size:i conv_window_size:i embedding_size:i",
     token_words,
     0,
     0},
    {0},
};
