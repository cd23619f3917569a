/* Which inputs decide branches, and the function that remains if these are known. */
#include "driver/specialization/branch_decisions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "low/dead_store.h"
#include "low/insert_frees.h"

/* x > 3; a selection between the second and the third operand; x + 1 */
#define GROUPS                                                                                     \
  "group @more(%x: i64[]) -> bool[] { %y = map {name=\"y\", axes=[]} () { %0 = read %x "           \
  "{index=[]}; "                                                                                   \
  "%1 = const 3 : i64; %2 = gt %0, %1; yield %2 } : bool[]; return %y }\n"                         \
  "group @next(%x: i64[]) -> i64[] { %y = map {name=\"y\", axes=[]} () { %0 = read %x "            \
  "{index=[]}; "                                                                                   \
  "%1 = const 1 : i64; %2 = add %0, %1; yield %2 } : i64[]; return %y }\n"                         \
  "group @neg(%x: f32[4]) -> f32[4] { %y = map {name=\"y\", axes=[i:4]} () { %0 = read %x "        \
  "{index=[i]}; %1 = neg %0; yield %1 } : f32[4]; return %y }\n"
#define PARAMS                                                                                     \
  "low @main(@in %p0: buffer<i64[],io>, @in %p1: buffer<i64[],io>, @in %p2: buffer<f32[4],io>, "   \
  "@out %p3: buffer<f32[4],io>) {\n"
#define ARMS(c)                                                                                    \
  "  if " c                                                                                        \
  " () {\n    kernel @neg %p3, %p2\n    yield\n  } () {\n    copy %p3, %p2\n    yield\n  "         \
  "}\n"

static const struct {
  const char *text;
  const char *guard_input; /* indices of inputs */
  int64_t n, m;            /* contents; -1: not known */
  const char *want;        /* the body of the remaining function */
} rows[] = {
    /* in place, after another kernel: 4, which is more than 3; the kernel that computes it is
     * removed */
    {GROUPS PARAMS
     "  %k = alloc : buffer<i64[],arena>\n  kernel @next %k, %p0\n"
     "  %c = alloc : buffer<bool[],arena>\n  kernel @more %c, %k\n" ARMS("%c") "  return\n}\n",
     "0", 3, -1,
     "  %0 = const @known.true : buffer<bool[],constant>\n"
     "  if %0 () {\n    kernel @neg %p3, %p2\n    yield\n  } () {\n    yield\n  }\n  return\n}\n"},
    {GROUPS PARAMS
     "  %c = alloc : buffer<bool[],arena>\n  kernel @more %c, %p1\n" ARMS("%c") "  return\n}\n",
     "1", 9, 3,
     "  %0 = const @known.false : buffer<bool[],constant>\n"
     "  if %0 () {\n    yield\n  } () {\n    copy %p3, %p2\n    yield\n  }\n  return\n}\n"},
    /* not known: nothing changes */
    {GROUPS PARAMS
     "  %c = alloc : buffer<bool[],arena>\n  kernel @more %c, %p1\n" ARMS("%c") "  return\n}\n",
     "1", 9, -1,
     "  %0 = alloc : buffer<bool[],arena>\n  kernel @more %0, %p1\n"
     "  if %0 () {\n    kernel @neg %p3, %p2\n    yield\n  } () {\n    copy %p3, %p2\n    yield\n  "
     "}\n"
     "  free %0\n  return\n}\n"},
    /* one region writes the condition of the next branch: it is known only if that region is */
    {GROUPS PARAMS
     "  %c = alloc : buffer<bool[],arena>\n  kernel @more %c, %p0\n"
     "  %d = alloc : buffer<bool[],arena>\n  kernel @more %d, %p1\n"
     "  if %c () {\n    kernel @more %d, %p0\n    yield\n  } () {\n    yield\n  }\n" ARMS(
         "%d") "  return\n}\n",
     "0", -1, 3,
     "  %0 = alloc : buffer<bool[],arena>\n  kernel @more %0, %p0\n"
     "  %1 = alloc : buffer<bool[],arena>\n  kernel @more %1, %p1\n"
     "  if %0 () {\n    kernel @more %1, %p0\n    yield\n  } () {\n    yield\n  }\n  free %0\n"
     "  if %1 () {\n    kernel @neg %p3, %p2\n    yield\n  } () {\n    copy %p3, %p2\n    yield\n  "
     "}\n"
     "  free %1\n  return\n}\n"},
    /* a buffer that a step changes is unknown in the loop and after it; the count decides */
    {GROUPS PARAMS
     "  %k = alloc : buffer<i64[],arena>\n  kernel @next %k, %p1\n"
     "  loop %p0 () {\n    kernel @next %k, %k\n    yield\n  }\n"
     "  %c = alloc : buffer<bool[],arena>\n  kernel @more %c, %k\n" ARMS("%c") "  return\n}\n",
     "0", 2, 9,
     "  %0 = alloc : buffer<i64[],arena>\n  kernel @next %0, %p1\n"
     "  loop %p0 () {\n    kernel @next %0, %0\n    yield\n  }\n"
     "  %1 = alloc : buffer<bool[],arena>\n  kernel @more %1, %0\n  free %0\n"
     "  if %1 () {\n    kernel @neg %p3, %p2\n    yield\n  } () {\n    copy %p3, %p2\n    yield\n  "
     "}\n"
     "  free %1\n  return\n}\n"},
    /* it decides nothing */
    {GROUPS PARAMS "  %k = alloc : buffer<i64[],arena>\n  kernel @next %k, %p0\n  copy %p3, %p2\n"
                   "  return\n}\n",
     "", 2, 9, "  copy %p3, %p2\n  return\n}\n"},
};

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    wick_status bad = wick_parse_module(m, "t", rows[i].text, strlen(rows[i].text), &mem);
    if (bad) fail_msg("row %zu: %s", i, bad->message);
    const wick_func *f = wick_module_find(m, "main");
    wick_branch_inputs guard_input;
    wick_branch_inputs_find(f, 3, &mem, &tmp, &guard_input);
    wick_text numbers = wick_text_begin(&mem), out = wick_text_begin(&mem);
    for (uint32_t k = 0; k < guard_input.n; k++)
      wick_text_printf(&numbers, "%u", guard_input.at[k]);
    assert_string_equal(numbers.n ? numbers.at : "", rows[i].guard_input);
    const void *input[3] = {rows[i].n < 0 ? NULL : &rows[i].n, rows[i].m < 0 ? NULL : &rows[i].m};
    wick_func *g = wick_branch_decide(f, 3, input, &mem, &tmp);
    const wick_pass_context pass = {.mem = &mem, .tmp = &tmp};
    bad = wick_pass_dead_store(&pass, g, &g);
    if (!bad) bad = wick_pass_insert_frees(&pass, g, &g);
    if (!bad) bad = wick_verify_func(g, &tmp);
    if (bad) fail_msg("row %zu: %s", i, bad->message);
    wick_print_func(g, 0, &out);
    const char *body = strchr(out.at, '\n');
    assert_string_equal(body + 1, rows[i].want);
    wick_module_free(m);
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
