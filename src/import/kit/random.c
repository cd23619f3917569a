/* Philox 4x32-10, and what TensorFlow and LiteRT make of its words.
 * Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; random_distributions.h of
 * TensorFlow. */
#include <math.h>

#include "import/kit/array.h"
#include "import/kit/random.h"

wick_value wick_random_low(wick_builder *b, wick_value x)
{
  return wick_emit_by(b, WICK_OP_bit_and, x, UINT32_MAX);
}

wick_value wick_random_high(wick_builder *b, wick_value x)
{
  return wick_emit_by(b, WICK_OP_shift_right, x, 32);
}

/* k0, k1: of the key, in u64. */
static wick_random_words random_round(wick_builder *b, wick_random_words c, wick_value k0,
                                      wick_value k1)
{
  wick_random_words r;
  wick_value p = wick_emit_by(b, WICK_OP_mul, c.at[0], 0xD2511F53),
             q = wick_emit_by(b, WICK_OP_mul, c.at[2], 0xCD9E8D57);
  r.at[0] = wick_build2(b, WICK_OP_bit_xor, wick_random_high(b, q), c.at[1]);
  r.at[0] = wick_build2(b, WICK_OP_bit_xor, r.at[0], k0);
  r.at[1] = wick_random_low(b, q);
  r.at[2] = wick_build2(b, WICK_OP_bit_xor, wick_random_high(b, p), c.at[3]);
  r.at[2] = wick_build2(b, WICK_OP_bit_xor, r.at[2], k1);
  r.at[3] = wick_random_low(b, p);
  return r;
}

wick_random_words wick_random_philox(wick_builder *b, wick_random_words c, wick_value k0,
                                     wick_value k1)
{
  for (int k = 0; k < 10; k++) {
    c = random_round(b, c, k0, k1);
    k0 = wick_random_low(b, wick_emit_by(b, WICK_OP_add, k0, 0x9E3779B9));
    k1 = wick_random_low(b, wick_emit_by(b, WICK_OP_add, k1, 0xBB67AE85));
  }
  return c;
}

wick_value wick_random_row(wick_import_node *n, uint32_t count, const wick_value *word)
{
  const wick_dim all = {-1};
  return wick_build_reshape(n->b, wick_array_stack(n, count, word, 1), 1, &all);
}

wick_dim wick_random_blocks(wick_import_node *n, wick_dim count)
{
  return wick_dim_ceildiv(n->c->module->dims, count, wick_dim_const(4));
}

wick_value wick_random_draw_at(wick_import_node *n, wick_value at, wick_value key, wick_value upper)
{
  wick_builder *b = n->b;
  upper = wick_build2(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, at, 0), upper);
  wick_random_words c = {{wick_random_low(b, at), wick_random_high(b, at),
                          wick_random_low(b, upper), wick_random_high(b, upper)}};
  c = wick_random_philox(b, c, wick_random_low(b, key), wick_random_high(b, key));
  return wick_random_row(n, 4, c.at);
}

wick_value wick_random_draw(wick_import_node *n, wick_dim count, wick_value key, wick_value counter,
                            wick_value upper)
{
  wick_builder *b = n->b;
  wick_value at = wick_emit_count(b, wick_random_blocks(n, count));
  if (b->status) return at;
  at = wick_build2(b, WICK_OP_add, wick_build_cast(b, at, WICK_U64), counter);
  wick_value words = wick_random_draw_at(n, at, key, upper);
  return wick_emit_slice(b, words, 0, wick_dim_const(0), count);
}

wick_value wick_random_unit(wick_builder *b, wick_value words)
{
  words = wick_emit_by(b, WICK_OP_bit_and, words, 0x7FFFFF);
  if (b->status) return words;
  return wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, words, WICK_F32), 1.0 / 8388608);
}

wick_value wick_random_normal(wick_import_node *n, wick_value unit)
{
  wick_builder *b = n->b;
  const wick_dim pairs[] = {{-1}, wick_dim_const(2)}, all = {-1};
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

bool wick_random_samples(wick_import_node *n, int64_t *batch, int64_t *each)
{
  uint32_t count;
  const wick_dim *samples;
  if (!wick_import_rank(n, 0, 2, 2) ||
      !wick_import_dims(n, 1, "the number of samples", &count, &samples))
    return false;
  wick_dim rows = wick_import_info(n, 0)->dim[0], classes = wick_import_info(n, 0)->dim[1];
  bool known = count == 1 && wick_dim_is_const(samples[0]) && wick_dim_is_const(rows) &&
               wick_dim_is_const(classes) && samples[0].v >= 0 &&
               samples[0].v <= WICK_RANDOM_LARGEST && rows.v * samples[0].v <= WICK_RANDOM_LARGEST;
  if (!known || classes.v < 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the numbers of samples and classes must be known");
    return false;
  }
  *batch = rows.v, *each = samples[0].v;
  return true;
}

wick_value wick_random_wide(wick_builder *b, wick_value words)
{
  const wick_dim pairs[] = {{-1}, wick_dim_const(2)}, all = {-1};
  words = wick_build_reshape(b, words, 2, pairs);
  wick_value high = wick_emit_slice(b, words, 1, wick_dim_const(0), wick_dim_const(1)),
             low = wick_emit_slice(b, words, 1, wick_dim_const(1), wick_dim_const(1));
  high = wick_emit_by(b, WICK_OP_bit_and, high, 0xFFFFF);
  high = wick_emit_by(b, WICK_OP_mul, high, 4294967296.0);
  wick_value unit = wick_build2(b, WICK_OP_add, high, low);
  if (b->status) return unit;
  unit = wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, unit, WICK_F64), 1.0 / 4503599627370496);
  return wick_build_reshape(b, unit, 1, &all);
}

wick_value wick_random_classes(wick_import_node *n, wick_value words, int64_t batch, int64_t each)
{
  wick_builder *b = n->b;
  wick_value unit = wick_random_wide(b, words);
  if (b->status) return unit;
  wick_dim classes = wick_import_info(n, 0)->dim[1];
  const wick_dim dim[] = {wick_dim_const(batch), wick_dim_const(each), wick_dim_const(1)};
  unit = wick_build_reshape(b, unit, 3, dim);
  wick_value sums = wick_emit_unsqueeze(b, random_sums(n), 1);
  wick_value total = wick_emit_slice(b, sums, 2, wick_dim_const(classes.v - 1), wick_dim_const(1));
  wick_value below = wick_build2(b, WICK_OP_le, sums, wick_build2(b, WICK_OP_mul, unit, total));
  if (b->status) return below;
  return wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, below, WICK_I32), 2, false);
}
