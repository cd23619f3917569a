/* Every scalar row that has code, on every element type, as scalar and as vector, on every level of
 * this processor: against the row's own evaluation. */
#include "codegen/llvm/testing.h"

#include <math.h>

#include "codegen/llvm/emit.h"
#include "ir/element.h"
#include "ops/scalar.h"

enum { ROWS_LANES = 8, ROWS_MOST = 32 };

static const double rows_floats[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     3.7,
                                     -3.7,
                                     1e10,
                                     -1e10,
                                     3e38,
                                     -3e38,
                                     1e-40,
                                     -1e-40,
                                     127.9,
                                     -128.9,
                                     255.5,
                                     256.0,
                                     2147483648,
                                     -2147483649.0,
                                     4294967296,
                                     9.3e18,
                                     -9.3e18,
                                     1.8e19,
                                     1e300,
                                     -1e300,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     (double)NAN};

static const int64_t rows_ints[] = {0,          1,          -1,        2,          -2,
                                    3,          7,          -7,        8,          15,
                                    31,         32,         63,        64,         100,
                                    127,        -128,       128,       255,        256,
                                    32767,      -32768,     65535,     2147483647, -2147483647 - 1,
                                    4294967295, INT64_MAX,  INT64_MIN, 42,         -42,
                                    1000000007, -1000000007};

static bool rows_plain(wick_elem e)
{
  return WICK_PLAIN & WICK_BIT(e) && e != WICK_F16 && e != WICK_BF16;
}

/* Value number k for operand `operand`. Operands go through all pairs. */
static wick_scalar rows_value(wick_elem e, uint32_t k, uint32_t operand)
{
  uint32_t n = ROWS_MOST, at = operand == 0 ? k % n : operand == 1 ? k / n % n : (k * 7 + 3) % n;
  wick_scalar s = wick_elem_is_float(e) ? (wick_scalar){.f = rows_floats[at]}
                                        : (wick_scalar){.i = rows_ints[at]};
  if (e == WICK_BOOL) s.i &= 1;
  return wick_round_elem(e, s);
}

typedef struct rows_case {
  wick_opcode op;
  wick_elem in[3], out;
  uint32_t nin;
  char name[48];
} rows_case;

/* loop @NAME(@out %y, @in %x..., %begin, %end): a vector of `lanes` elements a task. */
static void rows_build(testing *t, const rows_case *c, uint32_t lanes)
{
  wick_builder b;
  wick_build_begin(&b, t->m, WICK_LOOP, wick_str_printf(&t->mem, "%s.%u", c->name, lanes), &t->mem);
  wick_dim n = wick_dim_const(1024);
  wick_type i64 = wick_type_scalar(t->m, WICK_I64, 1);
  wick_value y = wick_build_param(&b, wick_type_buffer(t->m, c->out, 1, &n, WICK_IO), WICK_OUT,
                                  "y"),
             x[3];
  for (uint32_t i = 0; i < c->nin; i++)
    x[i] = wick_build_param(&b, wick_type_buffer(t->m, c->in[i], 1, &n, WICK_IO), WICK_IN, "x");
  wick_value range[2];
  range[0] = wick_build_param(&b, i64, WICK_IN, "begin");
  range[1] = wick_build_param(&b, i64, WICK_IN, "end");
  wick_build_open(&b, WICK_OP_for, 2, range, NULL, 0, NULL);
  wick_value task = wick_region_begin(&b, 1, &i64);
  wick_value at = wick_build2(&b, WICK_OP_mul, task, wick_build_i64(&b, lanes)), v[3];
  for (uint32_t i = 0; i < c->nin; i++) {
    wick_type want = wick_type_scalar(t->m, c->in[i], lanes);
    v[i] = wick_build(&b, WICK_OP_load, 2, (wick_value[]){x[i], at}, NULL, 1, &want);
  }
  wick_type out = wick_type_scalar(t->m, c->out, lanes);
  bool typed = wick_ops[c->op]->typed;
  wick_value r = wick_build(&b, c->op, c->nin, v, NULL, typed, typed ? &out : NULL);
  wick_build(&b, WICK_OP_store, 3, (wick_value[]){y, at, r}, NULL, 0, NULL);
  wick_yield(&b, 0, NULL);
  wick_build_close(&b);
  wick_build_return(&b, 0, NULL);
  testing_add(t, &b);
}

static bool rows_same(wick_elem e, wick_scalar a, wick_scalar b)
{
  if (!wick_elem_is_float(e)) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  return a.f == b.f && !signbit(a.f) == !signbit(b.f);
}

static bool rows_defined(const rows_case *c, const wick_scalar *in)
{
  if (c->op != WICK_OP_quot && c->op != WICK_OP_rem) return true;
  return in[1].i != 0 && in[1].i != -1; /* the row asks for it */
}

static void rows_check(testing *t, const rows_case *c, uint32_t lanes, const char *target)
{
  static _Alignas(64) unsigned char x[3][1024 * 8 + 8], y[1024 * 8 + 8];
  wick_kernel k = wick_image_kernel(&t->image, wick_str_printf(&t->mem, "%s.%u", c->name, lanes));
  assert_non_null(k);
  for (uint32_t i = 0; i < c->nin; i++)
    for (uint32_t j = 0; j < 1024; j++) {
      wick_scalar s = rows_value(c->in[i], j, i);
      if ((c->op == WICK_OP_quot || c->op == WICK_OP_rem) && i == 1 && (s.i == 0 || s.i == -1))
        s.i = 5;
      wick_store_elem(c->in[i], x[i], j, s);
    }
  k((void *[]){y, x[0], x[1], x[2]}, 0, 1024 / lanes);
  for (uint32_t j = 0; j < 1024; j++) {
    wick_scalar in[3];
    for (uint32_t i = 0; i < c->nin; i++) in[i] = wick_load_elem(c->in[i], x[i], j);
    if (!rows_defined(c, in)) continue;
    static const wick_attr both[2] = {{.i = 1}, {.i = 1}};
    wick_elem data = c->op == WICK_OP_where ? c->in[1] : c->in[0];
    wick_scalar want = wick_eval_scalar(c->op, both, data, c->out, in),
                have = wick_load_elem(c->out, y, j);
    if (rows_same(c->out, want, have)) continue;
    fail_msg("%s on %s, %u lanes, element %u: %g (%lld) of %g (%lld), %g (%lld): wanted %g (%lld)",
             c->name, target, lanes, j, have.f, (long long)have.i, in[0].f, (long long)in[0].i,
             in[1].f, (long long)in[1].i, want.f, (long long)want.i);
  }
}

/* The cases of a row: one for each element type, or pair of types, that it takes. */
static uint32_t rows_cases(wick_opcode op, rows_case *out)
{
  const wick_op *row = wick_ops[op];
  uint32_t n = 0;
  for (int e = 0; e < WICK_NELEM; e++)
    for (int to = 0; to < WICK_NELEM; to++) {
      wick_elem from = (wick_elem)e, result = (wick_elem)to;
      if (!rows_plain(from) || !rows_plain(result)) continue;
      if (row->elems && !(row->elems & WICK_BIT(from))) continue;
      bool typed = row->scalar == WICK_RULE_TYPED;
      if (!typed && result != (row->scalar == WICK_RULE_COMPARE ? WICK_BOOL : from)) continue;
      if (op == WICK_OP_bitcast &&
          (wick_elem_storage[from].bits != wick_elem_storage[result].bits || from == WICK_BOOL ||
           result == WICK_BOOL))
        continue;
      rows_case *c = &out[n++];
      *c = (rows_case){.op = op, .out = result, .nin = row->nin[0]};
      for (uint32_t i = 0; i < 3; i++) c->in[i] = from;
      if (op == WICK_OP_where) c->in[0] = WICK_BOOL;
      snprintf(c->name, sizeof c->name, "%s.%s.%s", row->name, wick_elem_name(from),
               wick_elem_name(result));
    }
  return n;
}

/* Rows that passes expand, for this target and these types. */
static bool rows_expanded(const rows_case *c, const wick_target *t)
{
  bool is_float = wick_elem_is_float(c->in[0]);
  uint64_t bit = WICK_BIT(c->in[0]);
  switch (c->op) {
  case WICK_OP_fma: return !(t->fma & bit);
  case WICK_OP_muladd: return !(t->fma & bit); /* its reference is fused */
  case WICK_OP_sqrt: return !(t->sqrt & bit);
  case WICK_OP_floor:
  case WICK_OP_ceil:
  case WICK_OP_trunc:
  case WICK_OP_round_even: return !(t->round & bit);
  case WICK_OP_mod:
  case WICK_OP_fmod: return is_float;
  default: return false;
  }
}

static const wick_opcode rows_all[] = {
    WICK_OP_add,     WICK_OP_sub,     WICK_OP_mul,        WICK_OP_fma,         WICK_OP_muladd,
    WICK_OP_neg,     WICK_OP_abs,     WICK_OP_sign,       WICK_OP_max,         WICK_OP_min,
    WICK_OP_div,     WICK_OP_mod,     WICK_OP_fmod,       WICK_OP_quot,        WICK_OP_rem,
    WICK_OP_eq,      WICK_OP_ne,      WICK_OP_lt,         WICK_OP_le,          WICK_OP_gt,
    WICK_OP_ge,      WICK_OP_isnan,   WICK_OP_isinf,      WICK_OP_where,       WICK_OP_and,
    WICK_OP_or,      WICK_OP_xor,     WICK_OP_not,        WICK_OP_bit_and,     WICK_OP_bit_or,
    WICK_OP_bit_xor, WICK_OP_bit_not, WICK_OP_shift_left, WICK_OP_shift_right, WICK_OP_floor,
    WICK_OP_ceil,    WICK_OP_trunc,   WICK_OP_round_even, WICK_OP_sqrt,        WICK_OP_cast,
    WICK_OP_bitcast};

static void rows_on(const char *target, bool run)
{
  wick_target t;
  assert_true(wick_target_find(target, &t));
  for (uint32_t r = 0; r < WICK_COUNT(rows_all); r++) {
    testing test;
    testing_begin(&test);
    rows_case *c = wick_new(&test.mem, rows_case, WICK_NELEM * WICK_NELEM);
    uint32_t n = rows_cases(rows_all[r], c);
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t lanes = 1; lanes <= ROWS_LANES; lanes *= ROWS_LANES)
        if (!rows_expanded(&c[i], &t)) rows_build(&test, &c[i], lanes);
    if (run) {
      testing_load(&test, target, false);
      for (uint32_t i = 0; i < n; i++)
        for (uint32_t lanes = 1; lanes <= ROWS_LANES; lanes *= ROWS_LANES)
          if (!rows_expanded(&c[i], &t)) rows_check(&test, &c[i], lanes, target);
    } else {
      wick_span object;
      testing_ok(testing_compile(&test, target, false, &object));
      testing_ok(wick_object_check(object, &t, &test.mem));
    }
    testing_end(&test);
  }
}

static void rows_are_what_they_say_on_this_machine(void **state)
{
  (void)state;
  for (uint32_t i = 0; testing_native(i); i++) rows_on(testing_native(i), true);
  rows_on("host", true);
}

static void rows_compile_without_calls_for_all_machines(void **state)
{
  (void)state;
  for (uint32_t i = 0; wick_target_row(i); i++) rows_on(wick_target_row(i)->row, false);
}

/* The tables of code are by name: each is a row's. */
static void rows_have_the_names_of_rows(void **state)
{
  (void)state;
  static const struct emit_named *const all[] = {
      emit_scalar_rows, emit_float_rows,   emit_cast_rows, emit_memory_rows,
      emit_vector_rows, emit_control_rows, emit_run_rows};
  for (uint32_t i = 0; i < WICK_COUNT(all); i++)
    for (const struct emit_named *r = all[i]; r->name; r++)
      if (!wick_op_find(r->name, strlen(r->name))) fail_msg("there is no row %s", r->name);
}

int main(void)
{
  wick_llvm_begin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_what_they_say_on_this_machine),
      cmocka_unit_test(rows_compile_without_calls_for_all_machines),
      cmocka_unit_test(rows_have_the_names_of_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
