/* Entries, extras and names of target machines. */
#include "target/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_testing.h"

static const char *target_text(const wick_target *t,
                               void (*print)(const wick_target *, wick_text *))
{
  wick_text out = wick_text_begin(&mem);
  print(t, &out);
  return out.at;
}

static void names_are_found_and_printed(void **state)
{
  (void)state;
  static const struct {
    const char *name, *row, *features; /* row NULL: the name is unknown */
  } rows[] = {
      {"x86-64-v1", "x86-64-v1", ""},
      {"x86-64-v4+avx512vnni", "x86-64-v4", "+avx512vnni"},
      {"x86-64-v4+avx512vnni+avx512bf16", "x86-64-v4", "+avx512vnni,+avx512bf16"},
      {"armv8.2-a+i8mm", "armv8.2-a", "+v8.2a,+neon,+fullfp16,+dotprod,+i8mm"},
      {"armv8.2-a-sve256+i8mm", "armv8.2-a-sve256", "+v8.2a,+neon,+fullfp16,+dotprod,+sve,+i8mm"},
      {"rv64gcv-zvl256b", "rv64gcv-zvl256b", "+m,+a,+f,+d,+c,+v,+zvl256b,-relax"},
      {"armv8.2-a-sve128", NULL, NULL},
      {"cortex-m0", "cortex-m0", ""},
      {"cortex-m3", "cortex-m3", ""},
      {"cortex-m4", "cortex-m4", ""},
      {"cortex-m7", "cortex-m7", ""},
      {"cortex-m55", "cortex-m55", "-mve"},
      {"x86-64-v3+avx512vnni", NULL, NULL}, /* needs v4 */
      {"armv8-a+i8mm", NULL, NULL},
      {"armv8-a+avx512vnni", NULL, NULL},
      {"x86-64-v4+", NULL, NULL},
      {"x86-64-v4+more", NULL, NULL},
      {"x86-64", NULL, NULL},
      {"", NULL, NULL},
      {"znver5", NULL, NULL},
  };
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_target t;
    assert_int_equal(wick_target_find(rows[i].name, &t), rows[i].row != NULL);
    if (!rows[i].row) continue;
    assert_string_equal(t.row, rows[i].row);
    assert_string_equal(target_text(&t, wick_target_name), rows[i].name);
    assert_string_equal(target_text(&t, wick_target_features), rows[i].features);
  }
}

static void the_host_runs_its_own_code(void **state)
{
  (void)state;
  wick_target host = wick_target_host(), again;
  wick_cpu cpu = wick_cpu_detect();
  if (cpu.machine == WICK_MACHINE_NONE) skip();
  assert_true(wick_target_runs_on(&host, cpu));
  const char *name = target_text(&host, wick_target_name);
  assert_true(wick_target_find(name, &again));
  assert_true(again.needs == host.needs);
  assert_true(wick_target_find("host", &again));
  assert_string_equal(target_text(&again, wick_target_name), name);
}

static void rows_make_sense(void **state)
{
  (void)state;
  const wick_target *t;
  for (uint32_t i = 0; (t = wick_target_row(i)); i++) {
    wick_target found;
    assert_true(wick_target_find(t->row, &found));
    assert_string_equal(found.row, t->row);
    assert_non_null(t->triple);
    assert_non_null(t->cpu);
    assert_non_null(t->features);
    assert_true(t->pointer_bits == 32 || t->pointer_bits == 64);
    assert_true(t->nvector >= 16 && t->vector_bytes <= 64);
    assert_true(wick_target_may_call(t, "memcpy") && wick_target_may_call(t, "memmove"));
    assert_false(wick_target_may_call(t, "expf"));
  }
  assert_true(wick_target_find("cortex-m4", &(wick_target){0}));
}

static void needs_and_extras_have_names(void **state)
{
  (void)state;
  const wick_target *t;
  for (uint32_t i = 0; (t = wick_target_row(i)); i++) {
    assert_true((wick_target_need(t, 0) != NULL) == (t->needs != 0));
    for (uint32_t k = 0; wick_target_extra(t, k); k++) {
      wick_target more;
      wick_text name = wick_text_begin(&mem);
      wick_text_printf(&name, "%s+%s", t->row, wick_target_extra(t, k));
      assert_true(wick_target_find(name.at, &more));
      assert_true(more.needs != t->needs);
    }
  }
  assert_true(wick_target_find("x86-64-v4", &(wick_target){0}));
}

/* Prints and reads every processor: the numbers are the same. */
static void processors_make_sense(void **state)
{
  (void)state;
  const wick_processor *p;
  for (uint32_t i = 0; (p = wick_processor_row(i)); i++) {
    wick_processor again;
    wick_text text = wick_text_begin(&mem), second = wick_text_begin(&mem);
    wick_processor_print(p, &text);
    assert_null(wick_processor_read("text", text.at, text.n, &mem, &again));
    wick_processor_print(&again, &second);
    assert_string_equal(text.at, second.at);
    assert_ptr_equal(wick_processor_find(p->name), p);
    assert_true(p->line[0] <= p->line[1] && p->line[1] <= p->line[2]);
  }
  const wick_target *t;
  for (uint32_t i = 0; (t = wick_target_row(i)); i++) {
    assert_non_null(t->typical);
    assert_non_null(wick_processor_find(t->typical));
    assert_int_equal(wick_target_processor(t)->machine, t->machine);
    assert_true(wick_target_products(t) > 0 && wick_target_loads(t) > 0);
    assert_true(wick_target_cache(t, 1) && wick_target_cache(t, 2) && wick_target_cache(t, 3));
  }
}

/* Pipes of half a vector begin half as many of them. */
static void processors_decide_rates(void **state)
{
  (void)state;
  wick_target t;
  assert_true(wick_target_find("x86-64-v4", &t));
  t.processor = *wick_processor_find("zen4");
  assert_true(wick_target_products(&t) == 1 && wick_target_loads(&t) == 1);
  t.processor = *wick_processor_find("zen5");
  assert_true(wick_target_products(&t) == 2 && wick_target_loads(&t) == 2);
  assert_true(wick_target_stream(&t, 1 << 10) == 0);
  assert_true(wick_target_stream(&t, 1 << 19) < wick_target_stream(&t, 1 << 22));
  assert_true(wick_target_move(&t, 1 << 10) < wick_target_move(&t, 1 << 28));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_found_and_printed),
      cmocka_unit_test(the_host_runs_its_own_code),
      cmocka_unit_test(rows_make_sense),
      cmocka_unit_test(needs_and_extras_have_names),
      cmocka_unit_test(processors_make_sense),
      cmocka_unit_test(processors_decide_rates),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
