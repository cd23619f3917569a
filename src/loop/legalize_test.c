/* Compares legalized operators with their evaluation: the same bits, on a target that has no
 * instructions for them, and on the targets of the table. */
#include "loop/scalar_testing.h"

/* Checks the guarantees of the header. */
static void check_legal(const scalar_test *t)
{
  for (uint32_t i = 0; i < t->f->nnode; i++) {
    const wick_node *n = &t->f->node[i];
    if (!wick_op_of(n)->scalar) continue;
    wick_elem e = wick_info_of(t->f, n->in[n->nin - 1])->elem,
              out = wick_info_of(t->f, n->first)->elem;
    bool narrow = wick_elem_is_float(e) && e != WICK_F32 && e != WICK_F64;
    bool to_narrow = wick_elem_is_float(out) && out != WICK_F32 && out != WICK_F64;
    uint64_t bit = WICK_BIT(e);
    if (n->op == WICK_OP_bitcast || n->op == WICK_OP_where) continue;
    if (n->op == WICK_OP_cast && narrow) assert_true(out == WICK_F32 && (t->target->convert & bit));
    if (n->op == WICK_OP_cast && to_narrow)
      assert_true(e == WICK_F32 && (t->target->convert & WICK_BIT(out)));
    if (n->op == WICK_OP_cast) continue;
    assert_false(narrow);
    assert_true(n->op != WICK_OP_muladd);
    if (n->op == WICK_OP_fma) assert_true(t->target->fma & bit);
    if (n->op == WICK_OP_sqrt) assert_true(t->target->sqrt & bit);
    if (n->op == WICK_OP_floor || n->op == WICK_OP_ceil || n->op == WICK_OP_trunc ||
        n->op == WICK_OP_round_even)
      assert_true(t->target->round & bit);
  }
}

static void fill_any(scalar_test *t) { scalar_fill(t, 4096); }

static void check_filled(scalar_test *t, void (*fill)(scalar_test *t),
                         void (*check)(const scalar_test *t))
{
  wick_opcode op = t->op;
  wick_elem e = t->elem, out = t->out;
  scalar_begin(t);
  fill(t);
  scalar_run(t);
  check(t);
  for (uint32_t i = 0; i < t->n; i++) {
    wick_scalar in[3] = {t->in[0][i], t->in[1][i], t->in[2][i]};
    wick_scalar want = wick_eval_scalar(op, t->attr, e, out, in);
    if (scalar_same(out, t->got[i], want)) continue;
    fail_msg("%s: %s %s(%a or %lld, %a, %a) to %s: got %a or %lld, expected %a or %lld",
             t->target->row, wick_elem_name(e), wick_ops[op]->name, in[0].f, (long long)in[0].i,
             in[1].f, in[2].f, wick_elem_name(out), t->got[i].f, (long long)t->got[i].i, want.f,
             (long long)want.i);
  }
  scalar_end(t);
}

static void check_row(scalar_test *t, wick_opcode op, wick_elem e, wick_elem out)
{
  t->op = op;
  t->elem = e;
  t->out = out;
  t->nin = wick_ops[op]->nin[0];
  check_filled(t, fill_any, check_legal);
}

/* The scalar operators that targets may have as instructions on floats. muladd depends on the
 * target. */
static bool is_primitive(const wick_op *row)
{
  return row->scalar && row->scalar != WICK_RULE_SELECT && row->scalar != WICK_RULE_TYPED &&
         (!row->expand || row->expands) && row != &wick_op_muladd;
}

static void check_type(scalar_test *t, wick_elem e)
{
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    const wick_op *row = wick_ops[op];
    if (is_primitive(row) && (row->elems & WICK_BIT(e)))
      check_row(t, op, e, row->scalar == WICK_RULE_COMPARE ? WICK_BOOL : e);
  }
}

static void rows_keep_their_bits(void **state)
{
  scalar_test *t = *state;
  wick_target poor = {.row = "poor"};
  t->target = &poor;
  for (wick_elem e = WICK_F64; e <= WICK_BF16; e++) check_type(t, e);
  for (uint32_t i = 0; (t->target = wick_target_row(i)); i += 3) check_type(t, WICK_F16);
}

/* Casts between all pairs of types of which one is a narrow float. */
static void casts_keep_their_bits(void **state)
{
  scalar_test *t = *state;
  wick_target poor = {.row = "poor"}, half = {.row = "half", .convert = WICK_BIT(WICK_F16)};
  for (wick_elem from = WICK_F64; from <= WICK_BOOL; from++)
    for (wick_elem to = WICK_F64; to <= WICK_BOOL; to++) {
      bool narrow = (wick_elem_is_float(from) && from > WICK_F32) ||
                    (wick_elem_is_float(to) && to > WICK_F32);
      t->target = &poor;
      if (narrow) check_row(t, WICK_OP_cast, from, to);
      t->target = &half;
      if (from == WICK_F16 || to == WICK_F16) check_row(t, WICK_OP_cast, from, to);
    }
}

/* `narrow` on targets without an instruction for it. */
static void narrow_keeps_its_bits(void **state)
{
  scalar_test *t = *state;
  wick_target poor = {.row = "poor"};
  t->target = &poor;
  check_row(t, WICK_OP_narrow, WICK_F32, WICK_BF16);
  check_row(t, WICK_OP_narrow, WICK_F32, WICK_F16);
}

/* Sums that cancel, ties, and results below the normal range: random products with addends near
 * them. */
static void a_fused_sum_is_rounded_once(void **state)
{
  scalar_test *t = *state;
  wick_target poor = {.row = "poor"};
  t->target = &poor;
  t->op = WICK_OP_fma;
  t->nin = 3;
  t->n = 32768;
  for (t->elem = WICK_F64; t->elem <= WICK_F32; t->elem++) {
    int most = t->elem == WICK_F64 ? 1023 : 127, bits = t->elem == WICK_F64 ? 53 : 24;
    t->out = t->elem;
    scalar_begin(t);
    for (uint32_t i = 0; i < t->n; i++) {
      double x = ldexp(1 + (double)(scalar_random(t) >> 11) * 0x1p-53, (int)(i % 97) - 48), y, z;
      y = ldexp(1 + (double)(scalar_random(t) >> 11) * 0x1p-53, -(int)(scalar_random(t) % 200));
      if (i % 3 == 0) x = ldexp(x, -most / 2), y = ldexp(y, -most / 2);
      if (i % 7 == 0) x = ldexp(x, most / 2), y = ldexp(y, most / 2 + 100);
      t->in[0][i] = wick_round_elem(t->elem, (wick_scalar){.f = x});
      t->in[1][i] = wick_round_elem(t->elem, (wick_scalar){.f = i & 1 ? -y : y});
      z = ldexp(t->in[0][i].f * t->in[1][i].f,
                (int)(scalar_random(t) % (3 * (uint64_t)bits)) - bits);
      if (i % 5 == 0) z = -t->in[0][i].f * t->in[1][i].f;
      if (i % 11 == 0) z = ldexp(1, (int)(scalar_random(t) % 40) - most - bits);
      t->in[2][i] = wick_round_elem(t->elem, (wick_scalar){.f = z});
    }
    scalar_run(t);
    for (uint32_t i = 0; i < t->n; i++) {
      wick_scalar in[3] = {t->in[0][i], t->in[1][i], t->in[2][i]};
      wick_scalar want = wick_eval_scalar(t->op, NULL, t->elem, t->elem, in);
      if (!scalar_same(t->elem, t->got[i], want))
        fail_msg("%s fma(%a, %a, %a): got %a, expected %a", wick_elem_name(t->elem), in[0].f,
                 in[1].f, in[2].f, t->got[i].f, want.f);
    }
    scalar_end(t);
  }
}

/* Quotients that are just below, at and above whole numbers: x = q y + {-1, 0, 1}. */
static void fill_quotients(scalar_test *t)
{
  t->n = 8192;
  for (uint32_t i = 0; i < t->n; i++) {
    uint64_t y = scalar_random(t), q = scalar_random(t);
    y >>= scalar_random(t) % 64, q >>= scalar_random(t) % 64;
    t->in[1][i] = wick_round_elem(t->elem, (wick_scalar){.i = (int64_t)y});
    uint64_t x = q * (uint64_t)t->in[1][i].i + i % 3 - 1;
    t->in[0][i] = wick_round_elem(t->elem, (wick_scalar){.i = (int64_t)x});
  }
}

/* The same with numbers of either sign whose magnitudes are at most 2^50: vectors of them, and vectors
 * with one number more. */
static void fill_small_quotients(scalar_test *t)
{
  const int64_t bound = (int64_t)1 << 50;
  t->n = 8192;
  for (uint32_t i = 0; i < t->n; i++) {
    uint64_t random = scalar_random(t), bits = 1 + random % 49;
    int64_t y = (int64_t)(scalar_random(t) % ((uint64_t)1 << bits)) + 1, q = bound / y,
            x = (int64_t)(scalar_random(t) % (uint64_t)q) * y + i % 3 - 1;
    if (i / SCALAR_LANES % 4 == 1) x = bound - 1 - i % 3, y = i % SCALAR_LANES + 1;
    if (i / SCALAR_LANES % 4 == 2 && i % SCALAR_LANES == 0) x = bound + (int64_t)(random >> 20);
    if (i / SCALAR_LANES % 4 == 3 && i % SCALAR_LANES == 0) y = bound + (int64_t)(random >> 20);
    t->in[0][i] = wick_round_elem(t->elem, (wick_scalar){.i = random >> 60 & 1 ? -x : x});
    t->in[1][i] = wick_round_elem(t->elem, (wick_scalar){.i = random >> 61 & 1 ? -y : y});
  }
}

/* Checks that no division of integers is left. */
static void check_divides(const scalar_test *t)
{
  check_legal(t);
  for (uint32_t i = 0; i < t->f->nnode; i++)
    assert_true(t->f->node[i].op != WICK_OP_div_unchecked &&
                t->f->node[i].op != WICK_OP_rem_unchecked);
}

/* Integers that floats divide, with and without fused multiply-add. */
static void division_by_floats_is_exact(void **state)
{
  static const wick_opcode ops[] = {WICK_OP_div, WICK_OP_fmod, WICK_OP_mod};
  scalar_test *t = *state;
  wick_target rich = {.row = "rich", .vector_bytes = 64, .fma = WICK_BIT(WICK_F64)}, poor = rich;
  poor.row = "poor", poor.fma = 0;
  for (uint32_t k = 0; k < 2 * WICK_COUNT(ops); k++)
    for (wick_elem e = WICK_I64; e <= WICK_U8; e++) {
      if (!wick_elem_is_int(e) || wick_elem_storage[e].bits < 8) continue;
      t->target = k & 1 ? &poor : &rich;
      t->op = ops[k / 2], t->elem = t->out = e, t->nin = 2;
      check_filled(t, fill_any, check_divides);
      check_filled(t, fill_quotients, check_divides);
      check_filled(t, fill_small_quotients, check_divides);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_keep_their_bits),        cmocka_unit_test(casts_keep_their_bits),
      cmocka_unit_test(narrow_keeps_its_bits),       cmocka_unit_test(a_fused_sum_is_rounded_once),
      cmocka_unit_test(division_by_floats_is_exact),
  };
  return cmocka_run_group_tests(tests, scalar_setup, scalar_teardown);
}
