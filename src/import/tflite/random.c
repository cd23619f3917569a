/* Random numbers, as LiteRT draws them. A counter is kept from run to run, so that each run of a session has
 * other numbers.
 * Source: random_ops.cc of LiteRT. */
#include "import/kit/random.h"
#include "import/kit/array.h"
#include "import/tflite/ops.h"

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

/* The next `count` words, of which a run draws `drawn` blocks. */
static wick_value random_draw(wick_import_node *n, int64_t count, int64_t drawn)
{
  /* the kernels keep the lower 32 bits of a seed, as a signed number */
  int64_t seed = (int32_t)wick_flat_int(wick_tflite_op_of(n)->options, 0, 8, 0),
          second = (int32_t)wick_flat_int(wick_tflite_op_of(n)->options, 1, 8, 0);
  wick_type u64 = wick_type_tensor(n->c->module, WICK_U64, 0, NULL);
  wick_value counter = random_counter(n, drawn);
  if (!seed && !second)
    wick_import_remark(n->c, n->name, "its seeds are 0: its numbers are the same in each session");
  if (n->b->status) return counter;
  return wick_random_draw(n, wick_dim_const(count), wick_build_const(n->b, u64, 0, seed),
                          wick_build_cast(n->b, counter, WICK_U64),
                          wick_build_const(n->b, u64, 0, second));
}

static void random_numbers(wick_import_node *n)
{
  uint32_t rank;
  const wick_dim *dim;
  wick_builder *b = n->b;
  if (!wick_import_dims(n, 0, "the shape", &rank, &dim)) return;
  wick_dim numel = rank <= WICK_MAX_RANK ? wick_array_product(n, rank, dim) : wick_dim_const(-1);
  if (!wick_dim_is_const(numel) || numel.v < 0 || numel.v > WICK_RANDOM_LARGEST) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its shape must be known, with at most %d elements",
                     WICK_RANDOM_LARGEST);
    return;
  }
  int64_t blocks = (numel.v + 3) / 4;
  wick_value x = wick_random_unit(b, random_draw(n, 4 * blocks, blocks));
  if (n->row->arg) x = wick_random_normal(n, x);
  x = wick_emit_slice(b, x, 0, wick_dim_const(0), numel);
  n->out[0] = wick_build_reshape(b, x, rank, dim);
}

static void random_multinomial(wick_import_node *n)
{
  int64_t batch, each;
  if (!wick_random_samples(n, &batch, &each)) return;
  wick_value words = random_draw(n, 2 * batch * each, batch * ((each + 3) / 4 * 4) * 512);
  wick_value y = wick_random_classes(n, words, batch, each);
  if (!n->b->status) n->out[0] = wick_build_cast(n->b, y, wick_tflite_out(n, 0)->elem);
}

/* ---- STABLEHLO_RNG_BIT_GENERATOR ---- */

/* The twenty rounds of Threefry 2x32 for a key of two words, in u64. */
static wick_random_words random_threefry(wick_builder *b, wick_random_words c, wick_value k0,
                                         wick_value k1)
{
  static const uint32_t turn[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  wick_value key[3] = {k0, k1, wick_build2(b, WICK_OP_bit_xor, k0, k1)};
  key[2] = wick_emit_by(b, WICK_OP_bit_xor, key[2], 0x1BD11BDA);
  wick_value x = wick_random_low(b, wick_build2(b, WICK_OP_add, c.at[0], k0));
  wick_value y = wick_random_low(b, wick_build2(b, WICK_OP_add, c.at[1], k1));
  for (uint32_t k = 0; k < 5; k++) {
    for (uint32_t r = 0; r < 4; r++) {
      x = wick_random_low(b, wick_build2(b, WICK_OP_add, x, y));
      wick_value turned = wick_emit_by(b, WICK_OP_mul, y, (double)((uint64_t)1 << turn[k % 2][r]));
      y = wick_build2(b, WICK_OP_bit_or, wick_random_low(b, turned), wick_random_high(b, turned));
      y = wick_build2(b, WICK_OP_bit_xor, y, x);
    }
    x = wick_random_low(b, wick_build2(b, WICK_OP_add, x, key[(k + 1) % 3]));
    y = wick_build2(b, WICK_OP_add, y, key[(k + 2) % 3]);
    y = wick_random_low(b, wick_emit_by(b, WICK_OP_add, y, k + 1));
  }
  return (wick_random_words){{x, y}};
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
  for (uint32_t k = 0; k < out->rank && words >= 0 && words <= WICK_RANDOM_LARGEST; k++) {
    words *= out->dim[k];
    dim[k] = wick_dim_const(out->dim[k]);
  }
  bool known = wide || out->elem == WICK_I32 || out->elem == WICK_U32;
  bool state =
      t->elem == WICK_U64 && wick_dim_is_const(size) && (size.v == 2 || (size.v == 3 && !threefry));
  if (words < 0 || words > WICK_RANDOM_LARGEST || !known || !state || algorithm < 0 ||
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
  wick_random_words c = {{wick_random_low(b, at), wick_random_high(b, at),
                          wick_random_low(b, upper), wick_random_high(b, upper)}};
  c = (threefry ? random_threefry : wick_random_philox)(b, c, wick_random_low(b, key),
                                                        wick_random_high(b, key));
  wick_value x = wick_emit_slice(b, wick_random_row(n, (uint32_t)each, c.at), 0, wick_dim_const(0),
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
