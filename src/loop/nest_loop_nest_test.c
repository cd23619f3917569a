/* Loop nests with every schedule that they accept, compared bit by bit with the unscheduled group;
 * schedules that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "loop/interpret.h"
#include "loop/nest.h"

enum { ROWS = 5, COLUMNS = 21 };

/* For each column: running sums of a copy in scratch memory. */
static const char sums[] =
    "group @sums(%x: f32[5,21]) -> f32[5,21] {\n"
    "  %y, %t = loop_nest {name=\"sums\", axes=[c:21]} (%out: f32[5,21], %copy: f32[5,21]) {\n"
    "    %lo = const 0 : i64 %hi = const 5 : i64 %none = const 0 : f32\n"
    "    for %lo, %hi (%i: i64) {\n"
    "      %0 = read %x, %i {index=[any, c]} : f32 element_store %copy, %i, %0 {index=[any, c]} "
    "yield }\n"
    "    %all = for %lo, %hi, %none (%j: i64, %sum: f32) {\n"
    "      %1 = element_load %copy, %j {index=[any, c]} : f32 %2 = add %sum, %1 : f32\n"
    "      element_store %out, %j, %2 {index=[any, c]} yield %2 } : f32\n"
    "    yield } : f32[5,21], f32[5,21]\n"
    "  return %y }";

/* For each row: moves the elements after the first that are less than it, up to one that is not,
 * one position to the front. */
static const char moved[] =
    "group @moved(%x: f32[5,21]) -> f32[5,21] {\n"
    "  %y = loop_nest {name=\"moved\", axes=[r:5]} (%out: f32[5,21]) {\n"
    "    %lo = const 0 : i64 %hi = const 21 : i64 %one = const 1 : i64\n"
    "    for %lo, %hi (%i: i64) {\n"
    "      %0 = read %x, %i {index=[r, any]} : f32 element_store %out, %i, %0 {index=[r, any]} "
    "yield }\n"
    "    %first = read %x {index=[r, 0]} : f32\n"
    "    %n = while %one (%k: i64) {\n"
    "      %in = lt %k, %hi : bool %on = if %in () {\n"
    "        %1 = read %x, %k {index=[r, any]} : f32 %2 = lt %1, %first : bool yield %2 } () {\n"
    "        yield %in } : bool\n"
    "      yield %on\n"
    "    } (%m: i64) {\n"
    "      %3 = sub %m, %one : i64 %4 = read %x, %m {index=[r, any]} : f32\n"
    "      element_store %out, %3, %4 {index=[r, any]} %5 = add %m, %one : i64 yield %5 } : i64\n"
    "    yield } : f32[5,21]\n"
    "  return %y }";

static const struct {
  const char *text, *schedule, *error; /* the end of the message for a refused schedule, or NULL */
} rows[] = {
    {sums, "", NULL},
    {sums, "parallel sums.c", NULL},
    {sums, "lanes sums:4", NULL},
    {sums, "split sums.c lane:8; vector sums.lane; parallel sums.c", NULL},
    {sums, "split sums.c lane:8; vector sums.lane; tail sums.c mask", NULL},
    {moved, "", NULL},
    {moved, "parallel moved.r; lanes moved:8", NULL},
    {moved, "split moved.r ri:2; parallel moved.r; lanes moved:16", NULL},
    {moved, "vector moved.r", "lanes take different ways"},
    {sums, "lanes sums:0", "STAGE:N is expected, N from 1 to 1024"},
};

static void walk_ok(wick_status s)
{
  if (s) fail_msg("%s", s->message);
}

static void walk_numbers(float *x)
{
  uint64_t state = 5;
  for (size_t i = 0; i < ROWS * COLUMNS; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x[i] = (float)((int64_t)(state >> 33) % 2001 - 1000) / 128;
  }
}

static void walk_wanted(const char *text, const float *x, float *y)
{
  memcpy(y, x, ROWS * COLUMNS * sizeof *y);
  if (text == sums)
    for (size_t i = COLUMNS; i < ROWS * COLUMNS; i++) y[i] = y[i - COLUMNS] + x[i];
  for (size_t r = 0; r < ROWS && text == moved; r++)
    for (size_t k = 1; k < COLUMNS && x[r * COLUMNS + k] < x[r * COLUMNS]; k++)
      y[r * COLUMNS + k - 1] = x[r * COLUMNS + k];
}

static void walk_row(uint32_t i, const wick_func *g, wick_arena *mem, wick_arena *tmp)
{
  float x[ROWS * COLUMNS], y[ROWS * COLUMNS], want[ROWS * COLUMNS];
  wick_kernel_info k;
  wick_schedule *s = wick_schedule_begin(g, mem);
  wick_status wrong = wick_schedule_apply(s, rows[i].schedule);
  if (!wrong) wrong = wick_nest(g, s, NULL, mem, tmp, &k);
  if (rows[i].error) {
    if (!wrong || !strstr(wrong->message, rows[i].error))
      fail_msg("`%s`: %s", rows[i].schedule, wrong ? wrong->message : "it is taken");
    return;
  }
  walk_ok(wrong);
  walk_ok(wick_verify_func(k.loop, tmp));
  walk_numbers(x);
  walk_wanted(rows[i].text, x, want);
  wick_interpret_arg arg[4] = {
      {y, ROWS * COLUMNS, 0}, {x, ROWS * COLUMNS, 0}, {NULL, 0, 0}, {NULL, 0, k.tasks.v}};
  walk_ok(wick_interpret(k.loop, 4, arg, mem, tmp));
  if (memcmp(y, want, sizeof y) != 0) fail_msg("`%s` gives something else", rows[i].schedule);
}

static void walks_follow_their_text(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    assert_int_equal(setjmp(guard.where), 0);
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    walk_ok(wick_parse_module(m, "t", rows[i].text, strlen(rows[i].text), &tmp));
    walk_row(i, m->funcs.at[0], &mem, &tmp);
    wick_module_free(m);
    wick_arena_free(&tmp);
    wick_arena_free(&mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(walks_follow_their_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
