/* Counter-based random numbers. Element i depends only on the key and on i, so that it is the same
 * in any order of computation, for any number of threads and on any machine.
 *
 * The bits are those of Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw 2011, "Parallel
 * random numbers: as easy as 1, 2, 3"). The two lower words of the counter are i; the key is the
 * key. Only correctly rounded operations in f64, in one order, are applied to the bits: no fma, and
 * no operator whose polynomial may change in a later version. */
#include <math.h>

#include "ir/expr.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { RANDOM_UNIFORM, RANDOM_NORMAL };

enum { PHILOX_ROUNDS = 10 };
static const uint32_t philox_factor[2] = {0xD2511F53, 0xCD9E8D57}; /* of words 0 and 2 */
/* is added to the key in each round */
static const uint32_t philox_step[2] = {0x9E3779B9, 0xBB67AE85};

/* log(x) = e log 2 + 2 atanh(s), s = (m - 1) / (m + 1), by the series in s^2 (|s| < 0.172);
 * sines and cosines of at most pi / 4 by their series. The omitted terms are below 2^-56. */
enum { RANDOM_ATANH = 11, RANDOM_SINE = 9 };

static double random_atanh(uint32_t k) { return 1.0 / (2 * k + 1); }

/* Returns the k-th coefficient of cos x (first = 0) or sin(x) / x (first = 1), in powers of x^2. */
static double random_sine(uint32_t first, uint32_t k)
{
  double factorial = 1;
  for (uint32_t i = 2; i <= 2 * k + first; i++) factorial *= i;
  return (k % 2 ? -1 : 1) / factorial;
}

static const double random_ln2 = 0.693147180559945309417, random_root = 1.41421356237309504880,
                    random_quarter = 1.57079632679489661923; /* radians of a quarter turn */

static wick_status random_infer(wick_infer *c)
{
  const wick_type_info *key, *t = wick_type_get(c->module, c->want[0]);
  WICK_TRY(wick_infer_tensor(c, 0, "the key", 0, &key));
  if (key->elem != WICK_U64 || key->rank)
    return wick_infer_fail(c, WICK_ETYPE, "the key is %s, expected u64[]",
                           wick_infer_type_text(c, c->in[0]->type));
  if (t->kind == WICK_TENSOR && (WICK_FLOATS & WICK_BIT(t->elem))) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "the result is %s, expected floats",
                         wick_infer_type_text(c, c->want[0]));
}

/* ---- reference ---- */

static void random_philox(uint64_t key, uint64_t counter, uint32_t out[4])
{
  uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0},
           k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
  for (int r = 0; r < PHILOX_ROUNDS; r++) {
    uint64_t a = (uint64_t)philox_factor[0] * c[0], b = (uint64_t)philox_factor[1] * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                        (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
    for (int i = 0; i < 4; i++) c[i] = next[i];
    k[0] += philox_step[0], k[1] += philox_step[1];
  }
  for (int i = 0; i < 4; i++) out[i] = c[i];
}

static double random_log(double x)
{
  int e;
  double m = frexp(x, &e) * 2; /* 1 <= m < 2 */
  e -= 1;
  if (m > random_root) m = m * 0.5, e += 1;
  double s = (m - 1) / (m + 1), z = s * s, sum = random_atanh(RANDOM_ATANH - 1);
  for (uint32_t k = RANDOM_ATANH - 1; k-- > 0;) sum = sum * z + random_atanh(k);
  return e * random_ln2 + sum * s * 2;
}

/* Computes cos(2 pi u) for u from 0 to 1. */
static double random_cos(double u)
{
  double t = u * 4, n = floor(t + 0.5), x = (t - n) * random_quarter, z = x * x,
         even = random_sine(0, RANDOM_SINE - 1), odd = random_sine(1, RANDOM_SINE - 1);
  for (uint32_t k = RANDOM_SINE - 1; k-- > 0;)
    even = even * z + random_sine(0, k), odd = odd * z + random_sine(1, k);
  odd = odd * x;
  return n == 0 || n == 4 ? even : n == 1 ? -odd : n == 2 ? -even : odd;
}

/* Returns the bits of a type's mantissa plus one. Results are all multiples of 2^-bits below 1. */
static uint32_t random_bits(wick_elem e)
{
  return e == WICK_F64 ? 53 : e == WICK_F32 ? 24 : e == WICK_F16 ? 11 : 8;
}

static wick_status random_ref(wick_ref *c)
{
  const wick_tensor *out = &c->out[0];
  uint64_t key = (uint64_t)wick_load_int(WICK_U64, c->in[0].data, 0), n = wick_ref_numel(out);
  uint32_t w[4], bits = random_bits(out->elem);
  for (uint64_t i = 0; i < n; i++) {
    random_philox(key, i, w);
    uint64_t first = (uint64_t)w[0] << 32 | w[1], second = (uint64_t)w[2] << 32 | w[3];
    wick_scalar v = {.f = ldexp((double)(first >> (64 - bits)), -(int)bits)};
    if (c->attr[WICK_ATTR_random_kind].i == RANDOM_NORMAL)
      v.f = sqrt(random_log(ldexp((double)((first >> 11) + 1), -53)) * -2) *
            random_cos(ldexp((double)(second >> 11), -53));
    wick_ref_write(out, i, 1, &v);
  }
  return NULL;
}

/* ---- stages ---- */

static wick_value random_u64(wick_builder *b, uint64_t x)
{
  return wick_build_const(b, wick_type_scalar(b->module, WICK_U64, 1), 0, (int64_t)x);
}

/* Builds the words of a block, each in the lower half of a u64. */
static void random_stage_philox(wick_builder *b, wick_value key, wick_value counter,
                                wick_value c[4])
{
  wick_value low = random_u64(b, UINT32_MAX);
  wick_value k[2] = {wick_build2(b, WICK_OP_bit_and, key, low), wick_expr_shr(b, key, 32)};
  c[0] = wick_build2(b, WICK_OP_bit_and, counter, low);
  c[1] = wick_expr_shr(b, counter, 32);
  c[2] = c[3] = random_u64(b, 0);
  for (int r = 0; r < PHILOX_ROUNDS && !b->status; r++) {
    wick_value product[2], next[4];
    for (int i = 0; i < 2; i++) product[i] = expr_mul(b, c[2 * i], random_u64(b, philox_factor[i]));
    for (int i = 0; i < 2; i++) {
      next[2 * i] =
          wick_build2(b, WICK_OP_bit_xor, wick_expr_shr(b, product[1 - i], 32), c[2 * i + 1]);
      next[2 * i] = wick_build2(b, WICK_OP_bit_xor, next[2 * i], k[i]);
      next[2 * i + 1] = wick_build2(b, WICK_OP_bit_and, product[1 - i], low);
      k[i] = wick_build2(b, WICK_OP_bit_and, expr_add(b, k[i], random_u64(b, philox_step[i])), low);
    }
    for (int i = 0; i < 4; i++) c[i] = next[i];
  }
}

/* Builds the upper bits of two words as a whole number in f64. */
static wick_value random_whole(wick_builder *b, const wick_value *w, uint32_t bits)
{
  wick_value both = wick_build2(b, WICK_OP_bit_or, wick_expr_shl(b, w[0], 32), w[1]);
  both = wick_build_cast(b, wick_expr_shr(b, both, 64 - bits), WICK_I64); /* the sign bit is 0 */
  return wick_build_cast(b, both, WICK_F64);
}

static wick_value random_horner(wick_builder *b, wick_value sum, wick_value x, double c)
{
  return expr_addk(b, expr_mul(b, sum, x), c);
}

static wick_value random_stage_log(wick_builder *b, wick_value x)
{
  wick_value bits = wick_expr_bits(b, x);
  wick_value e = wick_build_cast(b, wick_expr_shr(b, bits, 52), WICK_F64);
  wick_value m =
      wick_build2(b, WICK_OP_bit_and, bits, wick_expr_int(b, bits, (INT64_C(1) << 52) - 1));
  m = wick_build2(b, WICK_OP_bit_or, m, wick_expr_int(b, bits, INT64_C(1023) << 52));
  m = wick_expr_from_bits(b, m);
  wick_value large = expr_gt(b, m, random_root);
  m = expr_where(b, large, expr_mulk(b, m, 0.5), m);
  e = expr_where(b, large, expr_addk(b, e, -1022), expr_addk(b, e, -1023));
  wick_value s = expr_div(b, expr_addk(b, m, -1), expr_addk(b, m, 1)), z = expr_mul(b, s, s),
             sum = expr_k(b, z, random_atanh(RANDOM_ATANH - 1));
  for (uint32_t k = RANDOM_ATANH - 1; k-- > 0;) sum = random_horner(b, sum, z, random_atanh(k));
  sum = expr_mulk(b, expr_mul(b, sum, s), 2);
  return expr_add(b, expr_mulk(b, e, random_ln2), sum);
}

static wick_value random_stage_cos(wick_builder *b, wick_value u)
{
  wick_value t = expr_mulk(b, u, 4), n = wick_build1(b, WICK_OP_floor, expr_addk(b, t, 0.5)),
             x = expr_mulk(b, expr_sub(b, t, n), random_quarter), z = expr_mul(b, x, x),
             even = expr_k(b, z, random_sine(0, RANDOM_SINE - 1)),
             odd = expr_k(b, z, random_sine(1, RANDOM_SINE - 1));
  for (uint32_t k = RANDOM_SINE - 1; k-- > 0;) {
    even = random_horner(b, even, z, random_sine(0, k));
    odd = random_horner(b, odd, z, random_sine(1, k));
  }
  odd = expr_mul(b, odd, x);
  wick_value y = expr_where(b, expr_eq(b, n, 3), odd, even);
  y = expr_where(b, expr_eq(b, n, 2), expr_neg(b, even), y);
  return expr_where(b, expr_eq(b, n, 1), expr_neg(b, odd), y);
}

/* -2 log(x) is never negative, but may be -0. */
static wick_value random_stage_normal(wick_builder *b, const wick_value w[4])
{
  wick_value u = expr_mulk(b, expr_addk(b, random_whole(b, w, 53), 1), 0x1p-53),
             turn = expr_mulk(b, random_whole(b, w + 2, 53), 0x1p-53);
  wick_value radius = wick_build1(b, WICK_OP_sqrt, expr_mulk(b, random_stage_log(b, u), -2));
  return expr_mul(b, radius, random_stage_cos(b, turn));
}

static void random_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  wick_elem e = wick_type_get(b->module, c->out_type[0])->elem;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim none[1] = {{0}}, at = wick_dim_const(0);
  uint32_t n = wick_stage_map(c, 0, "random", axis), bits = random_bits(e);
  for (uint32_t k = 0; k < n; k++)
    at = wick_dim_add(t, wick_dim_mul(t, at, axis[k].extent), axis[k].sym);
  wick_value key = wick_read(b, c->in[0], none, 0, NULL, (wick_value){0}), w[4],
             counter = wick_build_cast(b, wick_index(b, at), WICK_U64);
  if (b->status) return;
  random_stage_philox(b, key, counter, w);
  wick_value v = c->attr[WICK_ATTR_random_kind].i == RANDOM_NORMAL
                     ? random_stage_normal(b, w)
                     : expr_mulk(b, random_whole(b, w, bits), ldexp(1, -(int)bits));
  v = wick_build_cast(b, v, e);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_random = {
    .name = "random",
    .doc = "Random numbers that depend only on the key and on the element's position: the words "
           "of Philox 4x32-10 whose counter is the position. `uniform` numbers lie in [0, 1) and "
           "are multiples of 2^-53 (f64), 2^-24 (f32), 2^-11 (f16) or 2^-8 (bf16), all equally "
           "likely. `normal` numbers have mean 0 and deviation 1; they come from two uniform "
           "numbers of 53 bits by the Box-Muller method, in f64, rounded once. The bits are the "
           "same on every machine",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"kind", WICK_ATTR_ENUM, 0, false, "uniform normal", 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << 0,
    .typed = true,
    .infer = random_infer,
    .ref = random_ref,
    .compute = random_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
