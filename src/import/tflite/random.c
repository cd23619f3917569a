/* Random numbers: the words of Philox 4x32-10 that LiteRT draws, in its order. A counter is kept from run to
 * run, so that each run of a session has other numbers.
 * Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; random_ops.cc of LiteRT. */
#include <math.h>

#include "import/kit/array.h"
#include "import/tflite/ops.h"

enum { RANDOM_LARGEST = 1 << 28 }; /* words of a run */

typedef struct random_words { /* of a counter, in u64; each is below 2^32 */
  wick_value at[4];
} random_words;

static wick_value random_low(wick_builder *b, wick_value x)
{
  return wick_emit_by(b, WICK_OP_bit_and, x, UINT32_MAX);
}

static wick_value random_high(wick_builder *b, wick_value x)
{
  return wick_emit_by(b, WICK_OP_shift_right, x, 32);
}

/* k0, k1: of the key, in u64. */
static random_words random_round(wick_builder *b, random_words c, wick_value k0, wick_value k1)
{
  random_words r;
  wick_value p = wick_emit_by(b, WICK_OP_mul, c.at[0], 0xD2511F53),
             q = wick_emit_by(b, WICK_OP_mul, c.at[2], 0xCD9E8D57);
  r.at[0] = wick_build2(b, WICK_OP_bit_xor, random_high(b, q), c.at[1]);
  r.at[0] = wick_build2(b, WICK_OP_bit_xor, r.at[0], k0);
  r.at[1] = random_low(b, q);
  r.at[2] = wick_build2(b, WICK_OP_bit_xor, random_high(b, p), c.at[3]);
  r.at[2] = wick_build2(b, WICK_OP_bit_xor, r.at[2], k1);
  r.at[3] = random_low(b, p);
  return r;
}

/* The ten rounds of Philox for a key of two words of 32 bits, in u64. */
static random_words random_philox(wick_builder *b, random_words c, wick_value k0, wick_value k1)
{
  for (int k = 0; k < 10; k++) {
    c = random_round(b, c, k0, k1);
    k0 = random_low(b, wick_emit_by(b, WICK_OP_add, k0, 0x9E3779B9));
    k1 = random_low(b, wick_emit_by(b, WICK_OP_add, k1, 0xBB67AE85));
  }
  return c;
}

/* The words of each counter after one another. */
static wick_value random_row(wick_import_node *n, uint32_t count, const wick_value *word)
{
  const wick_dim all = {-1};
  return wick_build_reshape(n->b, wick_array_stack(n, count, word, 1), 1, &all);
}

/* The counter of the node, in blocks of four words: what it is when the node begins, and then `more`
 * larger. */
static wick_value random_counter(wick_import_node *n, int64_t more)
{
  const wick_tflite_at *at = n->data;
  wick_tflite_run *run = at->body->run;
  const char *name = wick_str_printf(n->c->tmp, "%s.counter", n->name);
  uint32_t i = wick_tflite_resource_of(n->c, run, name, NULL);
  wick_value now = run->resources.at[i].value;
  if (!now.id)
    now = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I64, 0, NULL), 0, 0);
  wick_tflite_assign(n, i, wick_emit_by(n->b, WICK_OP_add, now, (double)more));
  return now;
}

/* The next `count` words as u64, of which a run draws `drawn` blocks. */
static wick_value random_draw(wick_import_node *n, int64_t count, int64_t drawn)
{
  wick_builder *b = n->b;
  /* the kernels keep the lower 32 bits of a seed, as a signed number */
  int64_t seed = (int32_t)wick_flat_int(wick_tflite_op_of(n)->options, 0, 8, 0),
          second = (int32_t)wick_flat_int(wick_tflite_op_of(n)->options, 1, 8, 0),
          blocks = (count + 3) / 4;
  wick_value at = random_counter(n, drawn);
  at = wick_build2(b, WICK_OP_add, wick_emit_count(b, wick_dim_const(blocks)), at);
  if (b->status) return at;
  at = wick_build_cast(b, at, WICK_U64);
  random_words c = {{random_low(b, at), random_high(b, at)}};
  wick_value none = wick_emit_by(b, WICK_OP_mul, at, 0);
  c.at[2] = wick_emit_by(b, WICK_OP_add, none, (uint32_t)second);
  c.at[3] = wick_emit_by(b, WICK_OP_add, none, (uint32_t)((uint64_t)second >> 32));
  c = random_philox(b, c, wick_emit_number(b, at, (uint32_t)seed),
                    wick_emit_number(b, at, (uint32_t)((uint64_t)seed >> 32)));
  wick_value words = random_row(n, 4, c.at);
  if (!seed && !second)
    wick_import_remark(n->c, n->name, "its seeds are 0: its numbers are the same in each session");
  return wick_emit_slice(b, words, 0, wick_dim_const(0), wick_dim_const(count));
}

/* Multiples of 2^-23 in [0, 1). */
static wick_value random_unit(wick_builder *b, wick_value words)
{
  words = wick_emit_by(b, WICK_OP_bit_and, words, 0x7FFFFF);
  if (b->status) return words;
  return wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, words, WICK_F32), 1.0 / 8388608);
}

/* Pairs of numbers become pairs of normal ones. */
static wick_value random_normal(wick_import_node *n, wick_value unit, int64_t count)
{
  wick_builder *b = n->b;
  const wick_dim pairs[] = {wick_dim_const(count / 2), wick_dim_const(2)},
                 all = wick_dim_const(count);
  unit = wick_build_reshape(b, unit, 2, pairs);
  wick_value u = wick_emit_slice(b, unit, 1, wick_dim_const(0), wick_dim_const(1)),
             v = wick_emit_slice(b, unit, 1, wick_dim_const(1), wick_dim_const(1));
  u = wick_build1(b, WICK_OP_log, wick_emit_by(b, WICK_OP_max, u, 1e-7));
  u = wick_build1(b, WICK_OP_sqrt, wick_emit_by(b, WICK_OP_mul, u, -2));
  v = wick_emit_by(b, WICK_OP_mul, v, 6.283185307179586);
  wick_value sine = wick_build1(b, WICK_OP_sin, v), cosine = wick_build1(b, WICK_OP_cos, v);
  const wick_value part[] = {wick_build2(b, WICK_OP_mul, sine, u),
                             wick_build2(b, WICK_OP_mul, cosine, u)};
  return wick_build_reshape(b, wick_build_concat(b, 1, 2, part), 1, &all);
}

static void random_numbers(wick_import_node *n)
{
  uint32_t rank;
  const wick_dim *dim;
  wick_builder *b = n->b;
  if (!wick_import_dims(n, 0, "the shape", &rank, &dim)) return;
  wick_dim numel = rank <= WICK_MAX_RANK ? wick_array_product(n, rank, dim) : wick_dim_const(-1);
  if (!wick_dim_is_const(numel) || numel.v < 0 || numel.v > RANDOM_LARGEST) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its shape must be known, with at most %d elements",
                     RANDOM_LARGEST);
    return;
  }
  int64_t blocks = (numel.v + 3) / 4;
  wick_value x = random_unit(b, random_draw(n, 4 * blocks, blocks));
  if (n->row->arg) x = random_normal(n, x, 4 * blocks);
  x = wick_emit_slice(b, x, 0, wick_dim_const(0), numel);
  n->out[0] = wick_build_reshape(b, x, rank, dim);
}

/* The sums of exp(x - the largest finite x) up to each class, in f64. */
static wick_value random_sums(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = wick_build_cast(b, n->in[0], WICK_F64);
  wick_value finite = wick_build2(b, WICK_OP_lt, wick_build1(b, WICK_OP_abs, x),
                                  wick_emit_number(b, x, (double)INFINITY));
  wick_value least = wick_emit_number(b, x, -3.4028234663852886e38);
  wick_value most = wick_build3(b, WICK_OP_where, finite, x, least);
  most = wick_emit_reduce1(b, WICK_OP_reduce_max, most, -1, true);
  wick_value e = wick_build1(b, WICK_OP_exp, wick_build2(b, WICK_OP_sub, x, most));
  e = wick_build3(b, WICK_OP_where, finite, e, wick_emit_number(b, x, 0));
  wick_emit sum = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&sum, "axis", 1);
  return wick_emit_end1(&sum, e);
}

/* The class of each sample: how many sums are not above a random part of all. */
static void random_multinomial(wick_import_node *n)
{
  uint32_t count;
  const wick_dim *samples;
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 2, 2) ||
      !wick_import_dims(n, 1, "the number of samples", &count, &samples))
    return;
  wick_dim batch = wick_import_info(n, 0)->dim[0], classes = wick_import_info(n, 0)->dim[1];
  bool known = count == 1 && wick_dim_is_const(samples[0]) && wick_dim_is_const(batch) &&
               wick_dim_is_const(classes) && samples[0].v >= 0 && samples[0].v <= RANDOM_LARGEST &&
               batch.v * samples[0].v <= RANDOM_LARGEST;
  if (!known || classes.v < 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the numbers of samples and classes must be known");
    return;
  }
  int64_t each = samples[0].v, all = batch.v * each;
  wick_value words = random_draw(n, 2 * all, batch.v * ((each + 3) / 4 * 4) * 512);
  const wick_dim pairs[] = {wick_dim_const(all), wick_dim_const(2)};
  words = wick_build_reshape(b, words, 2, pairs);
  wick_value high = wick_emit_slice(b, words, 1, wick_dim_const(0), wick_dim_const(1)),
             low = wick_emit_slice(b, words, 1, wick_dim_const(1), wick_dim_const(1));
  high = wick_emit_by(b, WICK_OP_bit_and, high, 0xFFFFF);
  high = wick_emit_by(b, WICK_OP_mul, high, 4294967296.0);
  wick_value unit = wick_build2(b, WICK_OP_add, high, low);
  if (b->status) return;
  unit = wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, unit, WICK_F64), 1.0 / 4503599627370496);
  const wick_dim dim[] = {batch, samples[0], wick_dim_const(1)};
  unit = wick_build_reshape(b, unit, 3, dim);
  wick_value sums = wick_emit_unsqueeze(b, random_sums(n), 1);
  wick_value total = wick_emit_slice(b, sums, 2, wick_dim_const(classes.v - 1), wick_dim_const(1));
  wick_value below = wick_build2(b, WICK_OP_le, sums, wick_build2(b, WICK_OP_mul, unit, total));
  if (b->status) return;
  below = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, below, WICK_I32), 2, false);
  if (!b->status) n->out[0] = wick_build_cast(b, below, wick_tflite_out(n, 0)->elem);
}

/* ---- STABLEHLO_RNG_BIT_GENERATOR ---- */

/* The twenty rounds of Threefry 2x32 for a key of two words, in u64. */
static random_words random_threefry(wick_builder *b, random_words c, wick_value k0, wick_value k1)
{
  static const uint32_t turn[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  wick_value key[3] = {k0, k1, wick_build2(b, WICK_OP_bit_xor, k0, k1)};
  key[2] = wick_emit_by(b, WICK_OP_bit_xor, key[2], 0x1BD11BDA);
  wick_value x = random_low(b, wick_build2(b, WICK_OP_add, c.at[0], k0));
  wick_value y = random_low(b, wick_build2(b, WICK_OP_add, c.at[1], k1));
  for (uint32_t k = 0; k < 5; k++) {
    for (uint32_t r = 0; r < 4; r++) {
      x = random_low(b, wick_build2(b, WICK_OP_add, x, y));
      wick_value turned = wick_emit_by(b, WICK_OP_mul, y, (double)((uint64_t)1 << turn[k % 2][r]));
      y = wick_build2(b, WICK_OP_bit_or, random_low(b, turned), random_high(b, turned));
      y = wick_build2(b, WICK_OP_bit_xor, y, x);
    }
    x = random_low(b, wick_build2(b, WICK_OP_add, x, key[(k + 1) % 3]));
    y = wick_build2(b, WICK_OP_add, y, key[(k + 2) % 3]);
    y = random_low(b, wick_emit_by(b, WICK_OP_add, y, k + 1));
  }
  return (random_words){{x, y}};
}

static wick_value random_state(wick_import_node *n, uint32_t k)
{
  return wick_emit_slice(n->b, n->in[0], 0, wick_dim_const(k), wick_dim_const(1));
}

/* The state is a key and a counter in u64, and for Philox the upper half of the counter, which is the key by
 * default. The result's elements are words of the counter and those that follow it. */
static void random_bits(wick_import_node *n)
{
  enum { THREEFRY = 2 };
  wick_builder *b = n->b;
  const wick_tflite_tensor *out = wick_tflite_out(n, 1);
  int64_t algorithm = wick_flat_int(wick_tflite_op_of(n)->options2, 0, 1, 0), words = 1;
  const wick_type_info *t = wick_import_info(n, 0);
  bool wide = out->elem == WICK_I64 || out->elem == WICK_U64, threefry = algorithm == THREEFRY;
  wick_dim dim[WICK_MAX_RANK], size = t->rank == 1 ? t->dim[0] : wick_dim_const(0);
  for (uint32_t k = 0; k < out->rank && words >= 0 && words <= RANDOM_LARGEST; k++) {
    words *= out->dim[k];
    dim[k] = wick_dim_const(out->dim[k]);
  }
  bool known = wide || out->elem == WICK_I32 || out->elem == WICK_U32;
  bool state =
      t->elem == WICK_U64 && wick_dim_is_const(size) && (size.v == 2 || (size.v == 3 && !threefry));
  if (words < 0 || words > RANDOM_LARGEST || !known || !state || algorithm < 0 ||
      algorithm > THREEFRY) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "algorithm %lld with a state of %s and a result of %s is not supported",
                     (long long)algorithm, wick_elem_name(t->elem), wick_elem_name(out->elem));
    return;
  }
  int64_t numel = words, each = threefry ? 2 : 4;
  words <<= wide;
  int64_t blocks = (words + each - 1) / each;
  wick_value key = random_state(n, 0), counter = random_state(n, 1);
  wick_value at = wick_build_cast(b, wick_emit_count(b, wick_dim_const(blocks)), WICK_U64);
  at = wick_build2(b, WICK_OP_add, at, counter);
  wick_value upper = size.v == 3 ? random_state(n, 2) : key;
  upper = wick_build2(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, at, 0), upper);
  random_words c = {
      {random_low(b, at), random_high(b, at), random_low(b, upper), random_high(b, upper)}};
  c = (threefry ? random_threefry : random_philox)(b, c, random_low(b, key), random_high(b, key));
  wick_value x = wick_emit_slice(b, random_row(n, (uint32_t)each, c.at), 0, wick_dim_const(0),
                                 wick_dim_const(words));
  if (wide) {
    const wick_dim pairs[] = {wick_dim_const(numel), wick_dim_const(2)};
    x = wick_build_reshape(b, x, 2, pairs);
    wick_value low = wick_emit_slice(b, x, 1, wick_dim_const(0), wick_dim_const(1));
    wick_value high = wick_emit_slice(b, x, 1, wick_dim_const(1), wick_dim_const(1));
    x = wick_build2(b, WICK_OP_bit_or, low, wick_emit_by(b, WICK_OP_shift_left, high, 32));
  } else {
    x = wick_build_cast(b, x, WICK_U32);
  }
  n->out[1] = wick_build_reshape(b, wick_emit_bits(b, x, out->elem), out->rank, dim);
  wick_value next[3] = {key, wick_emit_by(b, WICK_OP_add, counter, (double)blocks), upper};
  if (size.v == 3) next[2] = random_state(n, 2);
  n->out[0] = wick_build_concat(b, 0, (uint32_t)size.v, next);
}

const wick_import_op wick_tflite_random_ops[] = {
    {"MULTINOMIAL", 1, {2, 2}, 1, NULL, random_multinomial, WICK_OP_none, 0, NULL, NULL},
    {"RANDOM_STANDARD_NORMAL", 1, {1, 1}, 1, NULL, random_numbers, WICK_OP_none, 1, NULL, NULL},
    {"RANDOM_UNIFORM", 1, {1, 1}, 1, NULL, random_numbers, WICK_OP_none, 0, NULL, NULL},
    {"STABLEHLO_RNG_BIT_GENERATOR", 1, {1, 1}, 2, NULL, random_bits, WICK_OP_none, 0, NULL, NULL},
    {0},
};
