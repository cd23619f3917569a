/* The cost model: steps of tiles, a whole group, and reasons. No time is measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/group/cost.h"
#include "graph/group/form_kernels.h"
#include "ir/text.h"

static void cost_steps(void **state)
{
  (void)state;
  wick_target t;
  assert_true(wick_target_find("x86-64-v4", &t));
  t.processor = *wick_processor_find("zen5");
  static const struct {
    wick_cost_tile tile;
    double cycles;
  } rows[] = {
      {{2, 12, 24, 0, 0, 0}, 12.3},         /* multiply-adds */
      {{1, 28, 28, 0, 1, 0}, 14.8},         /* loads */
      {{1, 2, 2, 0, 0, 0}, 4.3},            /* the latency of a chain */
      {{7, 3, 21, 500000, 0, 0}, 10.8},     /* from the second cache, after the multiply-adds */
      {{7, 3, 21, 2000000, 0, 0}, 24.8},    /* from the third cache */
      {{2, 12, 24, 0, 3, 0}, 14.3},         /* every third element: two shuffles for each vector */
      {{1, 15, 15, 0, 3, 0}, 10.425},       /* and three loads */
      {{7, 3, 21, 2000000, 0, 0.5}, 12.55}, /* every second step has new lines */
      {{9, 1, 9, 0, 0, 0.4}, 8.675},        /* loads that cross the ends of lines */
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    double got = wick_cost_step(&t, &rows[i].tile);
    assert_true(got > rows[i].cycles - 1e-9 && got < rows[i].cycles + 1e-9);
  }
}

static void cost_group(void **state)
{
  (void)state;
  static const char text[] =
      "graph @main(%x: f32[24,64], %y: f32[64,64]) -> f32[24,64] { %0 = matmul %x, %y : f32[24,64] "
      "%1 = relu %0 : f32[24,64] return %1 }";
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  wick_module *m = wick_module_create(&guard, "test");
  wick_target t;
  wick_func *low;
  assert_true(wick_target_find("x86-64-v4", &t));
  assert_null(wick_parse_module(m, "test", text, strlen(text), &tmp));
  const wick_pass_context pass = {.target = &t, .mem = &mem, .tmp = &tmp};
  assert_null(wick_pass_form_kernels(&pass, wick_module_find(m, "main"), &low));
  for (uint32_t i = 0; i < m->funcs.n; i++) {
    const wick_func *g = m->funcs.at[i];
    if (g->level != WICK_GROUP) continue;
    wick_schedule *s = wick_schedule_begin(g, &tmp), *plain = wick_schedule_begin(g, &tmp);
    assert_null(wick_schedule_apply(s, g->schedule));
    wick_cost c = wick_cost_of(s, &t), none = wick_cost_of(plain, &t);
    assert_int_equal(c.flops, 2 * 24 * 64 * 64 + 24 * 64);
    assert_int_equal(c.steps, 64);
    assert_true(c.cycles >= c.least && c.cycles < 1.3 * c.least);
    assert_int_equal(none.limit, WICK_COST_SCALAR);
    assert_true(none.cycles > 10 * c.cycles);
  }
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
}

static void cost_reasons(void **state)
{
  (void)state;
  wick_cost_machine one = {256e9, 40e9, 1, 1 << 20, 16 << 20, 100 << 20, 16, 2, {1.4, 3.5}},
                    two = one;
  two.threads = 2;
  static const struct {
    wick_cost_facts f;
    bool two;
    double seconds;
    const char *why;
  } rows[] = {
      {{256000000, 4000, 4000000, 100, 0, "products"}, false, 1.2e-3, ""},
      {{256000, 400, 4000, 100, 0, "products"}, false, 4e-6, "small"},
      {{256000, 40000000, 4000, 100, 0, "products"}, false, 2e-3, "memory"},
      {{2560000, 4000000, 40000, 100, 4000000, "loads"}, false, 2e-4, "memory"}, /* constants */
      {{2560000, 400000, 80000, 100, 0, "loads"}, false, 2e-5, "loads"},
      {{2560, 1000000, 40, 100, 0, "products"}, false, 6e-6, "operands from the caches"},
      {{256000000, 4000, 4000000, 3, 0, "products"}, true, 2e-3, "few tasks for the threads"},
      {{256000000, 4000, 8000000, 100, 0, "tails"}, false, 2e-3, "tails"},
      {{256000000, 4000, 8000000, 100, 0, "tails"}, false, 3e-3, "slower than the model"},
      {{256000000, 4000, 4000000, 100, 0, "products"}, false, 2e-3, "slower than the model"},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++)
    assert_string_equal(wick_cost_reason(rows[i].two ? &two : &one, &rows[i].f, rows[i].seconds),
                        rows[i].why);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cost_steps), cmocka_unit_test(cost_group),
                                     cmocka_unit_test(cost_reasons)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
