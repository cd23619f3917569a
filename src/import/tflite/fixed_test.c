/* Products of numbers of few bits: the shorter forms give what the kernels' arithmetic gives. */
#include "import/tflite/fixed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/element.h"
#include "ops/evaluate.h"

typedef struct fixed_case {
  int bits, left; /* left < 0: wick_fixed_mul_below */
  wick_fixed f;
} fixed_case;

static wick_func *fixed_function(wick_module *m, const fixed_case *c, int64_t n, wick_arena *mem)
{
  wick_builder b;
  wick_build_begin(&b, m, WICK_GRAPH, "f", mem);
  wick_type type = wick_type_tensor_const(m, WICK_I32, 1, &n);
  wick_value x = wick_build_param(&b, type, WICK_IN, "x");
  wick_value y = c->left < 0 ? wick_fixed_mul_below(&b, x, c->bits, c->f)
                             : wick_fixed_mul_left(&b, x, c->bits, c->left, c->f);
  wick_func *f = NULL;
  wick_build_return(&b, 1, &y);
  assert_null(wick_build_end(&b, &f));
  return f;
}

static void fixed_check(const fixed_case *c, uint64_t n, const int32_t *x)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             scratch = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  wick_tensor in = {.elem = WICK_I32, .rank = 1, .dim = {(int64_t)n}}, out;
  in.data = wick_new(&mem, int32_t, n);
  memcpy(in.data, x, n * sizeof *x);
  const wick_func *f = fixed_function(m, c, (int64_t)n, &mem);
  assert_null(wick_evaluate(f, 1, &in, NULL, &mem, &tmp, &scratch, &out));
  for (uint64_t i = 0; i < n; i++) {
    int64_t wide = x[i] * (c->left < 0 ? 1 : (int64_t)1 << c->left);
    assert_int_equal(wick_load_elem(WICK_I32, out.data, i).i, wick_fixed_number(wide, c->f));
  }
  wick_module_free(m);
  wick_arena_free(&scratch);
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
}

/* Multipliers with all kinds of lower halves, and with as many zero bits as they can have. */
static int32_t fixed_multiplier(uint64_t *seed, int k)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  uint32_t m = (1u << 30) | (uint32_t)(*seed >> 34);
  return (int32_t)(k == 0 ? 1u << 30 : k == 1 ? INT32_MAX : m & ~((1u << k % 31) - 1));
}

/* All numbers of 8 bits without their zero point, as additions and comparisons shift them. */
static void test_left(void **state)
{
  enum { MOST = 255 };
  static const int left[] = {20, 8, 7};
  int32_t x[2 * MOST + 1];
  uint64_t seed = 1;
  (void)state;
  for (int32_t k = -MOST; k <= MOST; k++) x[k + MOST] = k;
  for (size_t l = 0; l < WICK_COUNT(left); l++)
    for (int shift = 0; shift >= -31; shift--)
      for (int k = 0; k < 12; k++) {
        fixed_case c = {8, left[l], {fixed_multiplier(&seed, k), shift}};
        fixed_check(&c, WICK_COUNT(x), x);
      }
}

/* All numbers of 16 bits, shifted by 15. */
static void test_left_wide(void **state)
{
  enum { COUNT = 1 << 16 };
  static int32_t x[COUNT];
  uint64_t seed = 2;
  (void)state;
  for (int32_t k = 0; k < COUNT; k++) x[k] = k - COUNT / 2;
  for (int k = 0; k < 24; k++) {
    fixed_case c = {15, 15, {fixed_multiplier(&seed, k), -k}};
    fixed_check(&c, COUNT, x);
  }
}

/* Sums and products: the largest, those about 0, those near ties, and others. */
static void test_below(void **state)
{
  enum { COUNT = 600 };
  static const int bits[] = {8, 16, 17, 28, 29, 30, 31};
  int32_t x[COUNT];
  uint64_t seed = 3;
  (void)state;
  for (size_t l = 0; l < WICK_COUNT(bits); l++)
    for (int shift = 0; shift >= -31; shift--)
      for (int k = 0; k < 6; k++) {
        fixed_case c = {bits[l], -1, {fixed_multiplier(&seed, k), shift}};
        int64_t most = bits[l] == 31 ? INT32_MAX : (int64_t)1 << bits[l];
        for (int i = 0; i < COUNT; i++) {
          int64_t tie =
              ((int64_t)1 << (31 - shift - (shift < 0))) / c.f.multiplier * (2 * (i / 8) + 1);
          seed = seed * 6364136223846793005u + 1442695040888963407u;
          int64_t v = i % 4 == 0   ? most - i / 8
                      : i % 4 == 1 ? i / 8
                      : i % 4 == 2 ? tie + i % 3 - 1
                                   : (int64_t)((seed >> 33) % (uint64_t)most);
          v = v > most ? most : v;
          x[i] = (int32_t)(i & 4 ? -v : v);
        }
        fixed_check(&c, COUNT, x);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_left), cmocka_unit_test(test_left_wide),
                                     cmocka_unit_test(test_below)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
