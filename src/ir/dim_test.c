/* Dimension expressions: a table of canonical forms, and the rest of the interface. */
#include "ir/dim_testing.h"

/* ---- expressions in a text form for these tests ---- */

static const struct {
  const char *name;
  int64_t lo, hi;
} symbols[] = {
    {"N", 1, 64}, {"M", 1, 1000}, {"b", 0, 3},    {"i", 0, 6},
    {"o", 0, 7},  {"x", 0, 99},   {"y", -20, 20}, {"z", -9, -1},
};

/* Prefix notation with one character for each token: + - * / % < > are binary (< is min), ~ is
 * ceildiv; a letter is a symbol; a decimal number ends with a space; _ negates. */
static wick_dim dim_read(const char **s)
{
  char c = *(*s)++;
  while (c == ' ') c = *(*s)++;
  if (c >= '0' && c <= '9') {
    int64_t v = c - '0';
    while (**s >= '0' && **s <= '9') v = v * 10 + (*(*s)++ - '0');
    return num(v);
  }
  for (size_t i = 0; i < WICK_COUNT(symbols); i++)
    if (symbols[i].name[0] == c) return sym(symbols[i].name, symbols[i].lo, symbols[i].hi);
  wick_dim a = dim_read(s);
  if (c == '_') return sub(num(0), a);
  wick_dim b = dim_read(s);
  switch (c) {
  case '+': return add(a, b);
  case '-': return sub(a, b);
  case '*': return mul(a, b);
  case '/': return quo(a, b);
  case '~': return wick_dim_ceildiv(table, a, b);
  case '%': return rem_(a, b);
  case '<': return least(a, b);
  case '>': return most(a, b);
  default: fail_msg("a test's expression has '%c'", c);
  }
  return WICK_DIM_INVALID;
}

static void test_forms(void **state)
{
  (void)state;
  static const struct {
    const char *in, *want;
  } rows[] = {
      {"+1 2", "3"},
      {"+N1", "N + 1"},
      {"+1+MN", "M + N + 1"},
      {"-NN", "0"},
      {"_N", "-N"},
      {"-*2N*3M", "-3*M + 2*N"},
      {"*+N1 -N1 ", "N*N - 1"},
      {"*NM", "M*N"},
      {"-*+N1 MM", "M*N"},
      /* floordiv */
      {"/*4x8 ", "floordiv(x, 2)"},
      {"/+*7oi7 ", "o"},
      {"%+*7oi7 ", "i"},
      {"/+*14o+*7bi14 ", "o + floordiv(b, 2)"},
      {"/+*4xb8 ", "floordiv(x, 2)"},
      {"%+*4xb8 ", "b + 4*mod(x, 2)"},
      {"/+N15 16 ", "floordiv(N + 15, 16)"},
      {"/-N1 16 ", "floordiv(N + 15, 16) - 1"},
      {"~N16 ", "floordiv(N + 15, 16)"},
      {"_/_N16 ", "floordiv(N + 15, 16)"},
      {"/*9x7 ", "x + floordiv(2*x, 7)"},
      {"//x3 5 ", "floordiv(x, 15)"},
      {"//xN M", "floordiv(x, M*N)"},
      {"/+/x4 y8 ", "floordiv(x + 4*y, 32)"},
      {"/x_4 ", "-floordiv(x + 3, 4)"},
      {"/x1 ", "x"},
      {"/x0 ", "?"},
      {"%x0 ", "?"},
      {"/i7 ", "0"},
      {"/z9 ", "-1"},
      /* mod */
      {"%x8 ", "mod(x, 8)"},
      {"%*4x8 ", "4*mod(x, 2)"},
      {"%%x12 4 ", "mod(x, 4)"},
      {"%i7 ", "i"},
      {"%i9 ", "i"},
      {"/%x8 2 ", "mod(floordiv(x, 2), 4)"},
      {"+*7 /x7 %x7 ", "x"},
      {"+*7 */x7 N*N%x7 ", "N*x"},
      {"-x*7 /x7 ", "mod(x, 7)"},
      {"+/x7 %x7 ", "floordiv(x, 7) + mod(x, 7)"},
      {"+*N%x7 y", "N*mod(x, 7) + y"},
      {"%_x7 ", "-mod(x + 6, 7) + 6"},
      {"%x_7 ", "mod(x + 6, 7) - 6"},
      {"/+%+xy16 y8 ", "floordiv(y + mod(x + y, 16), 8)"},
      {"%+*58 x y16 ", "mod(10*x + y, 16)"},
      /* division by expressions */
      {"/*NMN", "M"},
      {"/+*NM*NxN", "M + x"},
      {"/*+N1 M+N1 ", "M"},
      {"%*NMN", "0"},
      {"/xN", "floordiv(x, N)"},
      {"%xN", "mod(x, N)"},
      {"+*N/xN%xN", "x"},
      {"/*6N*4N", "1"},
      {"/*6x*4N", "floordiv(3*x, 2*N)"},
      {"/N+N1 ", "0"},
      {"~+*NxN N", "x + 1"},
      /* an index into a flattened image, x = n*56*56 + h*56 + w, is split again, then into
       * blocks of 8 */
      {"/%+*49 o+*7bi49 7 ", "b"},
      {"/%x49 7 ", "mod(floordiv(x, 7), 7)"},
      {"%%x49 7 ", "mod(x, 7)"},
      {"+*49 /x49 +*7/%x49 7 %x7 ", "x"},
      {"/+*8x%y8 16 ", "floordiv(x, 2)"},
      {"%+*8x%y8 16 ", "8*mod(x, 2) + mod(y, 8)"},
      {"-*2/%x8 2 *2%/x2 4 ", "0"},
      /* min and max */
      {"<N8 ", "min(N, 8)"},
      {"<8 N", "min(N, 8)"},
      {"<N64 ", "N"},
      {"<N+N1 ", "N"},
      {">N+N1 ", "N + 1"},
      {"<<N8 <M4 ", "min(M, N, 4)"},
      {"+<N8 1 ", "min(N, 8) + 1"},
      {"<x>xy", "x"},
      {">N1 ", "N"},
      {"<NN", "N"},
      {"<*NM*N+M1 ", "M*N"},
  };
  int nwrong = 0;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    const char *s = rows[i].in;
    const char *got = dim_text(table, dim_read(&s));
    if (strcmp(got, rows[i].want) == 0) continue;
    print_error("%s is %s, expected %s\n", rows[i].in, got, rows[i].want);
    nwrong++;
  }
  assert_int_equal(nwrong, 0);
}

/* ---- the rest of the interface ---- */

static void test_constants_and_limits(void **state)
{
  (void)state;
  const int64_t big = (int64_t)1 << 62;
  wick_dim n = sym("N", 1, 64), invalid = WICK_DIM_INVALID;
  assert_true(wick_dim_is(add(num(INT64_MAX - 1), num(1)), INT64_MAX));
  assert_true(wick_dim_is(sub(num(-big), num(0)), -big));
  const wick_dim bad[] = {
      add(num(INT64_MAX), num(1)),
      sub(num(-big), num(1)),
      mul(num(big), num(2)),
      mul(mul(n, num(big)), num(2)),
      add(n, WICK_DIM_ANY),
      mul(WICK_DIM_ANY, num(0)),
      add(invalid, n),
      mul(num(0), invalid),
      quo(n, num(0)),
      rem_(num(1), num(0)),
      least(invalid, num(1)),
      most(n, WICK_DIM_ANY),
      sub(n, num(-big - 1)),
      add(num(0), num(-big - 1)),
      quo(num(-big), sub(n, n)),
      wick_dim_ceildiv(table, n, num(0)),
      wick_dim_ceildiv(table, invalid, n),
      add((wick_dim){INT64_MIN + 1000000}, n), /* no such expression */
  };
  for (size_t i = 0; i < WICK_COUNT(bad); i++) assert_true(wick_dim_eq(bad[i], invalid));
  assert_true(wick_dim_is(quo(num(-7), num(2)), -4));
  assert_true(wick_dim_is(rem_(num(-7), num(2)), 1));
  assert_true(wick_dim_is(rem_(num(7), num(-2)), -1));
  assert_true(wick_dim_is(wick_dim_ceildiv(table, num(7), num(2)), 4));
  assert_string_equal(dim_text(table, WICK_DIM_ANY), "any");

  wick_dim deep = n, many = num(0);
  for (int i = 0; i < 1000; i++) deep = add(quo(mul(deep, deep), add(n, num(i + 1))), num(1));
  assert_true(wick_dim_eq(deep, invalid));
  for (int i = 0; i < 5000; i++) {
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    many = add(many, sym(name, 0, 9));
    assert_true(wick_dim_eq(many, invalid) == (i >= WICK_DIM_ATOMS));
  }
}

static void test_ranges(void **state)
{
  (void)state;
  wick_dim n = sym("N", 1, INT64_MAX), i = sym("i", 0, 6), o = sym("o", -3, 7);
  static const int64_t lo[] = {2, -1}, hi[] = {4, 2};
  const struct {
    wick_dim d;
    int64_t lo, hi, box_lo, box_hi;
  } rows[] = {
      {num(5), 5, 5, 5, 5},
      {i, 0, 6, 2, 4},
      {add(mul(i, num(2)), o), -3, 19, 3, 10},
      {mul(o, o), 0, 49, 0, 4},
      {mul(mul(o, o), o), -27, 343, -1, 8},
      {mul(i, o), -18, 42, -4, 8},
      {quo(o, num(4)), -1, 1, -1, 0},
      {rem_(i, num(5)), 0, 4, 2, 4},
      {least(i, o), -3, 6, -1, 2},
      {most(i, o), 0, 7, 2, 4},
      {n, 1, INT64_MAX, 1, INT64_MAX},
      {sub(n, num(5)), -4, INT64_MAX, -4, INT64_MAX},
      {sub(num(5), n), INT64_MIN + ((int64_t)1 << 33), 4, INT64_MIN + ((int64_t)1 << 33), 4},
      {mul(n, o), INT64_MIN + ((int64_t)1 << 33), INT64_MAX, INT64_MIN + ((int64_t)1 << 33),
       INT64_MAX},
      {quo(n, num(1000)), 0, INT64_MAX, 0, INT64_MAX},
      {rem_(n, num(1000)), 0, 999, 0, 999},
  };
  for (size_t k = 0; k < WICK_COUNT(rows); k++) {
    int64_t got_lo, got_hi;
    wick_dim_range(table, rows[k].d, &got_lo, &got_hi);
    assert_int_equal(got_lo, rows[k].lo);
    assert_int_equal(got_hi, rows[k].hi);
    wick_dim_range_with(table, rows[k].d, 2, (wick_dim[]){i, o}, lo, hi, &got_lo, &got_hi);
    assert_int_equal(got_lo, rows[k].box_lo);
    assert_int_equal(got_hi, rows[k].box_hi);
  }
}

static void test_parts(void **state)
{
  (void)state;
  wick_dim n = sym("N", 1, 64), i = sym("i", 0, 6), x = sym("x", 0, 99), coef, rest;
  wick_dim d = add(add(mul(n, i), mul(i, num(3))), add(quo(x, n), num(2)));
  assert_true(wick_dim_linear(table, d, i, &coef, &rest));
  assert_string_equal(dim_text(table, coef), "N + 3");
  assert_string_equal(dim_text(table, rest), "floordiv(x, N) + 2");
  assert_false(wick_dim_linear(table, d, n, &coef, &rest));
  assert_false(wick_dim_linear(table, mul(d, i), i, &coef, &rest));
  assert_false(wick_dim_linear(table, WICK_DIM_ANY, i, &coef, &rest));
  assert_true(wick_dim_linear(table, num(7), i, &coef, &rest));
  assert_true(wick_dim_is(coef, 0) && wick_dim_is(rest, 7));

  assert_true(wick_dim_is_symbol(table, n));
  assert_false(wick_dim_is_symbol(table, add(n, num(1))) || wick_dim_is_symbol(table, num(1)));
  assert_true(wick_dim_eq(sym("N", 1, 64), n));
  assert_false(wick_dim_eq(sym("N", 1, 65), n));
  assert_true(wick_dim_uses(table, d, x) && wick_dim_uses(table, d, n));
  assert_false(wick_dim_uses(table, rest, x) || wick_dim_uses(table, WICK_DIM_ANY, x));

  wick_dim_list list = {0};
  wick_dim_symbols(table, quo(x, n), &mem, &list);
  wick_dim_symbols(table, d, &mem, &list);
  assert_int_equal(list.n, 3);
  assert_true(wick_dim_eq(list.at[0], x) && wick_dim_eq(list.at[1], n) &&
              wick_dim_eq(list.at[2], i));

  /* Substitutes all symbols at once: this exchanges two. Only a symbol by itself may become ANY. */
  wick_dim e = add(n, mul(x, num(2)));
  wick_dim swapped = wick_dim_substitute(table, e, 2, (wick_dim[]){n, x}, (wick_dim[]){x, n});
  assert_string_equal(dim_text(table, swapped), "2*N + x");
  assert_true(
      wick_dim_eq(wick_dim_substitute(table, x, 1, &x, &(wick_dim){WICK_DIM_ANY.v}), WICK_DIM_ANY));
  assert_true(wick_dim_eq(wick_dim_substitute(table, e, 1, &x, &(wick_dim){WICK_DIM_ANY.v}),
                          WICK_DIM_INVALID));

  int64_t got;
  assert_false(wick_dim_eval(table, e, 1, &n, (int64_t[]){1}, &got)); /* x has no value */
  assert_false(
      wick_dim_eval(table, mul(e, e), 2, (wick_dim[]){n, x}, (int64_t[]){1, INT64_MAX / 2}, &got));
  assert_false(wick_dim_eval(table, quo(x, n), 2, (wick_dim[]){n, x}, (int64_t[]){0, 5}, &got));
  assert_true(wick_dim_eval(table, quo(x, n), 2, (wick_dim[]){n, x}, (int64_t[]){2, 5}, &got) &&
              got == 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_forms, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_constants_and_limits, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_ranges, dim_setup, dim_teardown),
      cmocka_unit_test_setup_teardown(test_parts, dim_setup, dim_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
