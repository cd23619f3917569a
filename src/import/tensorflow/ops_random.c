/* Random numbers, with TensorFlow's bits: those of a seed, or of a key and a counter. A node without a key
 * keeps its counter from run to run.
 * Source: random_op.cc, guarded_philox_random.h and stateless_random_ops_v2.cc of TensorFlow. */
#include "import/kit/random.h"
#include "import/tensorflow/ops.h"

enum { RANDOM_SPARE = 256 }; /* a node draws that many counters for each number */

typedef struct random_source { /* of rank 0, or one element */
  wick_value key, counter, upper;
} random_source;

static wick_value random_u64(wick_import_node *n, int64_t bits)
{
  return wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_U64, 0, NULL), 0, bits);
}

/* The seeds of a node, and its counter, after which it draws `drawn` blocks. */
static random_source random_stateful(wick_import_node *n, wick_value drawn)
{
  int64_t seed = wick_import_int(n, "seed", 0), second = wick_import_int(n, "seed2", 0);
  if (!seed && !second)
    wick_import_remark(n->c, n->location,
                       "it has no seed: its numbers are the same in each session");
  return (random_source){random_u64(n, seed), wick_tf_counter(n, drawn), random_u64(n, second)};
}

/* Element k of a vector of integers, in u64. */
static wick_value random_word(wick_import_node *n, wick_value v, uint32_t k)
{
  if (n->b->status) return v;
  v = wick_emit_slice(n->b, v, 0, wick_dim_const(k), wick_dim_const(1));
  return n->b->status ? v : wick_build_cast(n->b, v, WICK_U64);
}

/* The key and the counter that follow from operand i, two seeds: they are words of a fixed key. */
static random_source random_mixed(wick_import_node *n, uint32_t i)
{
  wick_builder *b = n->b;
  if (wick_import_info(n, i)->rank != 1 || !wick_dim_is(wick_import_info(n, i)->dim[0], 2)) {
    wick_import_fail(n, WICK_ETYPE, "the seed is no vector of two numbers");
    return (random_source){{0}, {0}, {0}};
  }
  wick_value low = random_word(n, n->in[i], 0), high = random_word(n, n->in[i], 1);
  wick_value mix =
      wick_random_draw(n, wick_dim_const(4), random_u64(n, 0x02461e293ec8f720), low, high);
  wick_value word[4];
  for (uint32_t k = 0; k < 4; k++)
    word[k] = wick_emit_slice(b, mix, 0, wick_dim_const(k), wick_dim_const(1));
  random_source s = {.counter = wick_emit_by(b, WICK_OP_mul, word[0], 0)};
  s.key =
      wick_build2(b, WICK_OP_bit_or, word[0], wick_emit_by(b, WICK_OP_mul, word[1], 4294967296.0));
  s.upper =
      wick_build2(b, WICK_OP_bit_or, word[2], wick_emit_by(b, WICK_OP_mul, word[3], 4294967296.0));
  return s;
}

/* A key [1], a counter [2], and an algorithm. */
static random_source random_given(wick_import_node *n)
{
  enum { PHILOX = 1, AUTOMATIC = 3 };
  int64_t algorithm;
  random_source none = {{0}, {0}, {0}};
  if (!wick_import_rank(n, 1, 1, 1) || !wick_import_rank(n, 2, 1, 1) ||
      !wick_import_one(n, 3, "the algorithm", PHILOX, &algorithm))
    return none;
  if (algorithm != PHILOX && algorithm != AUTOMATIC) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "algorithm %lld: only Philox is supported",
                     (long long)algorithm);
    return none;
  }
  return (random_source){random_word(n, n->in[1], 0), random_word(n, n->in[2], 0),
                         random_word(n, n->in[2], 1)};
}

typedef enum random_kind {
  RANDOM_UNIFORM,
  RANDOM_NORMAL,
  RANDOM_INTEGER,  /* from operand `first` to the next */
  RANDOM_ALL,      /* integers of any bits */
  RANDOM_TRUNCATED /* normal numbers between -2 and 2 */
} random_kind;

static wick_elem random_default(const wick_import_node *n)
{
  return (n->row->arg & 15) == RANDOM_ALL ? WICK_U64 : WICK_F32;
}

/* Integers of 32 or 64 bits. */
static wick_value random_integers(wick_import_node *n, wick_value words, bool wide)
{
  if (!wide || n->b->status) return words;
  const wick_dim pairs[] = {{-1}, wick_dim_const(2)}, all = {-1};
  words = wick_build_reshape(n->b, words, 2, pairs);
  wick_value low = wick_emit_slice(n->b, words, 1, wick_dim_const(0), wick_dim_const(1)),
             high = wick_emit_slice(n->b, words, 1, wick_dim_const(1), wick_dim_const(1));
  high = wick_emit_by(n->b, WICK_OP_shift_left, high, 32);
  return wick_build_reshape(n->b, wick_build2(n->b, WICK_OP_bit_or, low, high), 1, &all);
}

/* The low bits of unsigned integers as integers of type e. */
static wick_value random_as(wick_import_node *n, wick_value x, wick_elem e)
{
  bool wide = wick_elem_storage[e].bits == 64;
  if (n->b->status) return x;
  return wick_emit_bits(n->b, wide ? x : wick_build_cast(n->b, x, WICK_U32), e);
}

/* The numbers that words become. `first`: the operand with the least integer. */
static wick_value random_become(wick_import_node *n, wick_value words, random_kind kind,
                                wick_elem e, uint32_t first)
{
  wick_builder *b = n->b;
  if (kind == RANDOM_UNIFORM || kind == RANDOM_NORMAL) {
    wick_value unit;
    if (e == WICK_F64) {
      unit = wick_random_wide(b, words);
    } else if (e == WICK_F32) {
      unit = wick_random_unit(b, words);
    } else { /* as many bits as the type's significand */
      int64_t bits = e == WICK_F16 ? 1 << 10 : 1 << 7;
      if (kind == RANDOM_NORMAL) {
        unit = wick_random_unit(b, words);
      } else {
        words = wick_emit_by(b, WICK_OP_bit_and, words, (double)(bits - 1));
        if (b->status) return words;
        unit =
            wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, words, WICK_F32), 1.0 / (double)bits);
      }
    }
    if (kind == RANDOM_NORMAL) unit = wick_random_normal(n, unit);
    return b->status ? unit : wick_build_cast(b, unit, e);
  }
  wick_value x = random_integers(n, words, wick_elem_storage[e].bits == 64);
  if (kind == RANDOM_ALL || b->status) return random_as(n, x, e);
  wick_value low = n->in[first];
  wick_elem unsigned_elem = wick_elem_storage[e].bits == 64 ? WICK_U64 : WICK_U32;
  wick_value span = wick_build2(b, WICK_OP_sub, n->in[first + 1], low);
  if (b->status) return x;
  span = wick_build_cast(b, wick_emit_bits(b, span, unsigned_elem), WICK_U64);
  return wick_build2(b, WICK_OP_add, random_as(n, wick_build2(b, WICK_OP_mod, x, span), e), low);
}

/* Normal numbers between -2 and 2. The kernel draws each group of numbers from counters of its own, again until
 * they fit. Here all have TRIES: one of 22 does not fit, and that fewer than a group does has a probability
 * below 1e-17. */
static wick_value random_truncated(wick_import_node *n, const random_source *s, wick_dim numel,
                                   wick_elem e)
{
  enum { TRIES = 32, WORDS = 4 };
  wick_builder *b = n->b;
  wick_dims *dims = n->c->module->dims;
  bool wide = e == WICK_F64;
  int64_t group = wide ? 2 : 4, counters = TRIES / group, spare = group * RANDOM_SPARE / WORDS;
  const wick_dim groups = wick_dim_ceildiv(dims, numel, wick_dim_const(group)), all = {-1};
  wick_value at =
      wick_emit_by(b, WICK_OP_mul, wick_emit_count_along(b, groups, 0, 2), (double)spare);
  wick_value more = wick_emit_count_along(b, wick_dim_const(counters), 1, 2);
  at = wick_build_reshape(b, wick_build2(b, WICK_OP_add, at, more), 1, &all);
  if (b->status) return at;
  at = wick_build2(b, WICK_OP_add, wick_build_cast(b, at, WICK_U64), s->counter);
  wick_value x = wick_random_draw_at(n, at, s->key, s->upper);
  x = wick_random_normal(n, wide ? wick_random_wide(b, x) : wick_random_unit(b, x));
  x = wick_build_reshape(b, x, 2, (wick_dim[]){groups, wick_dim_const(TRIES)});
  wick_value fits = wick_emit_by(b, WICK_OP_lt, wick_build1(b, WICK_OP_abs, x), 2);
  if (b->status) return x;
  wick_emit sum = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&sum, "axis", 1);
  wick_value place = wick_emit_end1(&sum, wick_build_cast(b, fits, WICK_I32)), part[WORDS];
  for (int64_t k = 0; k < group; k++) {
    wick_value is = wick_emit_by(b, WICK_OP_eq, place, (double)(k + 1));
    wick_value none = wick_emit_number(b, x, 0);
    is = wick_build2(b, WICK_OP_and, is, fits);
    part[k] = wick_build3(b, WICK_OP_where, is, x, none);
    part[k] = wick_emit_reduce1(b, WICK_OP_reduce_sum, part[k], 1, true);
  }
  if (b->status) return x;
  x = wick_build_reshape(b, wick_build_concat(b, 1, (uint32_t)group, part), 1, &all);
  return b->status ? x : wick_build_cast(b, x, e);
}

/* Fills n->out[0] with `shape`'s numbers. */
static void random_fill(wick_import_node *n, random_kind kind, wick_elem e, bool keeps,
                        random_source (*source)(wick_import_node *n), uint32_t first)
{
  uint32_t rank;
  const wick_dim *dim;
  bool real = kind <= RANDOM_NORMAL || kind == RANDOM_TRUNCATED;
  bool floats = e == WICK_F16 || e == WICK_BF16 || e == WICK_F32 || e == WICK_F64;
  bool integers = e == WICK_I32 || e == WICK_U32 || e == WICK_I64 || e == WICK_U64;
  if (!wick_import_dims(n, 0, "the shape", &rank, &dim)) return;
  if (rank > WICK_MAX_RANK || (real ? !floats : !integers)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "random numbers of type %s and rank %u",
                     wick_elem_name(e), rank);
    return;
  }
  wick_dim numel = wick_array_product(n, rank, dim), count = numel;
  if (wick_dim_is_const(numel) && (numel.v < 0 || numel.v > WICK_RANDOM_LARGEST)) {
    wick_import_fail(n, WICK_ELIMIT, "%lld random numbers, at most %d are drawn at once",
                     (long long)numel.v, WICK_RANDOM_LARGEST);
    return;
  }
  if (wick_elem_storage[e].bits == 64)
    count = wick_dim_mul(n->c->module->dims, numel, wick_dim_const(2));
  random_source s;
  if (keeps) {
    wick_value drawn = wick_array_sizes(n, 1, &numel, WICK_I64);
    s = random_stateful(n, wick_emit_by(n->b, WICK_OP_mul, drawn, RANDOM_SPARE));
  } else {
    s = source(n);
  }
  if (n->failed || n->b->status) return;
  wick_value x;
  if (kind == RANDOM_TRUNCATED) {
    x = random_truncated(n, &s, numel, e);
  } else {
    count = wick_dim_mul(n->c->module->dims, wick_random_blocks(n, count), wick_dim_const(4));
    x = random_become(n, wick_random_draw(n, count, s.key, s.counter, s.upper), kind, e, first);
  }
  x = wick_emit_slice(n->b, x, 0, wick_dim_const(0), numel);
  n->out[0] = wick_build_reshape(n->b, x, rank, dim);
}

void wick_tf_import_random(wick_import_node *n) /* arg: a random_kind; shape, least, most */
{
  wick_elem e;
  if (n->row->arg == RANDOM_INTEGER)
    e = wick_import_info(n, 1)->elem;
  else if (!wick_tf_attr_elem_or(n, "dtype", random_default(n), &e))
    return;
  random_fill(n, (random_kind)n->row->arg, e, true, NULL, 1);
}

static random_source random_seeded(wick_import_node *n) { return random_mixed(n, 1); }

/* Operands: the shape; the seeds, or with arg 16 the key, the counter and the algorithm; the range of
 * integers. */
void wick_tf_import_stateless_random(wick_import_node *n)
{
  wick_elem e;
  bool second = n->row->arg & 16;
  random_kind kind = (random_kind)(n->row->arg & 15);
  uint32_t first = second ? 4 : 2;
  if (kind == RANDOM_INTEGER)
    e = wick_import_info(n, first)->elem;
  else if (!wick_tf_attr_elem_or(n, "dtype", random_default(n), &e))
    return;
  random_fill(n, kind, e, false, second ? random_given : random_seeded, first);
}

/* seeds -> key [1], counter [2], with arg 1 the algorithm */
void wick_tf_import_random_key(wick_import_node *n)
{
  random_source s = random_mixed(n, 0);
  if (n->failed) return;
  const wick_value both[] = {s.counter, s.upper};
  const wick_value out[] = {
      s.key, wick_build_concat(n->b, 0, 2, both),
      wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I32, 0, NULL), 0, 1)};
  for (uint32_t k = 0; k < n->nout && k < 3; k++) n->out[k] = out[k];
}

void wick_tf_import_random_algorithm(wick_import_node *n)
{
  n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I32, 0, NULL), 0, 1);
}

void wick_tf_import_multinomial(wick_import_node *n)
{
  int64_t batch, each;
  wick_elem e;
  if (!wick_tf_attr_elem_or(n, "output_dtype", WICK_I64, &e) ||
      !wick_random_samples(n, &batch, &each))
    return;
  wick_type i64 = wick_type_tensor(n->c->module, WICK_I64, 0, NULL);
  int64_t drawn = batch * ((each + 3) / 4 * 4) * 2 * RANDOM_SPARE;
  random_source s = random_stateful(n, wick_build_const(n->b, i64, 0, drawn));
  wick_dim count = wick_dim_const(2 * batch * each);
  if (n->b->status) return;
  wick_value words = wick_random_draw(n, count, s.key, s.counter, s.upper);
  wick_value y = wick_random_classes(n, words, batch, each);
  if (!n->b->status) n->out[0] = wick_build_cast(n->b, y, e);
}
