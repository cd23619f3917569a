/* States that have only some axes: which ones these are; folds with states in memory, compared bit
 * by bit with states in registers; orders of loops that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "loop/expand_math.h"
#include "loop/interpret.h"
#include "loop/nest.h"
#include "loop/states.h"

enum { ROWS = 7, COLUMNS = 21, TERMS = 13 };

/* y[m,e] = sum(k) exp(s[m,k]) v[k,e] / sum(k) exp(s[m,k]); both sums are relative to the largest
 * s */
static const char weighed[] =
    "group @weighed(%s: f32[7,13], %v: f32[13,21]) -> f32[7,21] {\n"
    "  %y = fold {name=\"fold\", axes=[m:7, e:21 | k:13]} () {\n"
    "    %0 = const -1e30 : f32 %1 = const 0 : f32 yield %0, %1, %1 }\n"
    "  (%a: f32, %b: f32, %c: f32) {\n"
    "    %2 = read %s {index=[m, k]} : f32 %3 = read %v {index=[k, e]} : f32\n"
    "    %4 = max %a, %2 : f32 %5 = sub %a, %4 : f32 %6 = exp %5 : f32\n"
    "    %7 = sub %2, %4 : f32 %8 = exp %7 : f32 %9 = muladd %b, %6, %8 : f32\n"
    "    %10 = mul %3, %8 : f32 %11 = muladd %c, %6, %10 : f32 yield %4, %9, %11 }\n"
    "  (%p: f32, %q: f32, %r: f32, %t: f32, %u: f32, %w: f32) {\n"
    "    %12 = max %p, %t : f32 %13 = sub %p, %12 : f32 %14 = exp %13 : f32\n"
    "    %15 = sub %t, %12 : f32 %16 = exp %15 : f32 %17 = mul %q, %14 : f32\n"
    "    %18 = muladd %u, %16, %17 : f32 %19 = mul %r, %14 : f32\n"
    "    %20 = muladd %w, %16, %19 : f32 yield %12, %18, %20 }\n"
    "  (%x: f32, %y0: f32, %z: f32) { %21 = div %z, %y0 : f32 yield %21 } : f32[7,21]\n"
    "  return %y }";

/* y[m,e] = sum(k) s[m,k] v[k,e] */
static const char product[] =
    "group @product(%s: f32[7,13], %v: f32[13,21]) -> f32[7,21] {\n"
    "  %y = fold {name=\"fold\", axes=[m:7, e:21 | k:13]} () { %0 = const 0.25 : f32 yield %0 }\n"
    "  (%a: f32) {\n"
    "    %1 = read %s {index=[m, k]} : f32 %2 = read %v {index=[k, e]} : f32\n"
    "    %3 = muladd %1, %2, %a : f32 yield %3 }\n"
    "  (%p: f32, %q: f32) { %4 = add %p, %q : f32 yield %4 }\n"
    "  (%x: f32) { %5 = neg %x : f32 yield %5 } : f32[7,21]\n"
    "  return %y }";

typedef struct states_row {
  const char *schedule, *error; /* the end of the message for a refused schedule, or NULL */
} states_row;

static const states_row weighed_rows[] = {
    {"", NULL}, /* in registers */
    {"order fold: k m e", NULL},
    {"split fold.m mi:3; order fold: m k mi e", NULL},
    {"split fold.k u:4; order fold: k m u e", NULL},
    {"split fold.m mi:2; order fold: k m mi e; unroll fold.mi", NULL},
    {"split fold.e lane:8; order fold: k m e lane; vector fold.lane", NULL},
    {"split fold.e lane:4; split fold.e ev:2; order fold: k m e ev lane; vector fold.lane; "
     "unroll fold.ev",
     NULL},
    {"split fold.m lane:4; order fold: k m lane e; vector fold.lane", NULL},
    {"split fold.e eo:21; order fold: e k m eo", NULL},
    {"order fold: k e m", "a part of its state does not have the axis of `e`, the innermost loop"},
    {"split fold.k u:4; order fold: k u m e; unroll fold.u",
     "its states are in memory, but `u` is not serial"},
    {"split fold.k u:4; order fold: k m u e; unroll fold.e",
     "a tile of its states needs all parts of a state"},
};

static const states_row product_rows[] = {
    {"", NULL},
    {"split fold.k u:4; order fold: k m e u", NULL},
    {"split fold.k u:4; split fold.m mi:3; order fold: k e m u mi; unroll fold.mi", NULL},
    {"split fold.k u:4; split fold.e lane:8; split fold.e ev:2; split fold.m mi:2; "
     "order fold: k m e u mi ev lane; vector fold.lane; unroll fold.mi fold.ev",
     NULL},
    {"split fold.k u:6; split fold.u w:2; split fold.e lane:4; order fold: k e m u w lane; "
     "vector fold.lane; unroll fold.w",
     NULL},
    {"split fold.k u:4; order fold: k m e u; rfactor fold.u",
     "its states are in memory, and parts of them are no spans"},
};

/* The states of four terms are merged. */
static const states_row span_rows[] = {
    {"split fold.k u:4; spans fold.k", NULL},
    {"split fold.k u:4; spans fold.k; order fold: k m e u", NULL},
    {"split fold.k u:4; spans fold.k; split fold.e lane:8; split fold.m mi:2; "
     "order fold: k m e u mi lane; vector fold.lane; unroll fold.mi fold.u",
     NULL},
    {"split fold.k u:4; spans fold.k; split fold.m mi:3; order fold: m k mi e u", NULL},
};

static void states_ok(wick_status s)
{
  if (s) fail_msg("%s", s->message);
}

static void states_numbers(float *x, size_t n)
{
  uint64_t state = 11;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x[i] = (float)((int64_t)(state >> 33) % 2001 - 1000) / 200;
  }
}

/* Returns false if the schedule is refused, as the table says. */
static bool states_run(const states_row *row, const wick_func *g, float *x, float *y,
                       wick_arena *mem, wick_arena *tmp)
{
  wick_schedule *s = wick_schedule_begin(g, mem);
  states_ok(wick_schedule_apply(s, row->schedule));
  wick_kernel_info k;
  wick_status wrong = wick_nest(g, s, NULL, mem, tmp, &k);
  if (row->error) {
    if (!wrong || !strstr(wrong->message, row->error))
      fail_msg("`%s`: %s", row->schedule, wrong ? wrong->message : "it is taken");
    return false;
  }
  states_ok(wrong);
  wick_func *f;
  states_ok(wick_pass_expand_math(&(wick_pass_context){.mem = mem, .tmp = tmp}, k.loop, &f));
  states_ok(wick_verify_func(f, tmp));
  wick_interpret_arg arg[5] = {{y, ROWS * COLUMNS, 0},
                               {x, ROWS * TERMS, 0},
                               {x + ROWS * TERMS, TERMS * COLUMNS, 0},
                               {NULL, 0, 0},
                               {NULL, 0, k.tasks.v}};
  states_ok(wick_interpret(f, 5, arg, mem, tmp));
  return true;
}

/* All schedules of the group give the same bits. */
static void states_compare(const char *text, const states_row *row, size_t n)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(guard.where), 0);
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  states_ok(wick_parse_module(m, "", text, strlen(text), &tmp));
  const wick_func *g = m->funcs.at[0];
  static float x[ROWS * TERMS + TERMS * COLUMNS], first[ROWS * COLUMNS], y[ROWS * COLUMNS];
  states_numbers(x, WICK_COUNT(x));
  for (size_t i = 0; i < n; i++)
    if (states_run(&row[i], g, x, i ? y : first, &mem, &tmp) && i &&
        memcmp(y, first, sizeof y) != 0)
      fail_msg("`%s` has other bits", row[i].schedule);
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
}

static void test_axes(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(guard.where), 0);
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  states_ok(wick_parse_module(m, "", weighed, strlen(weighed), &tmp));
  const wick_func *g = m->funcs.at[0];
  wick_states axes = wick_states_of(g, &g->node[0], &mem);
  assert_int_equal(axes.n, 3);
  assert_int_equal(axes.axes[0] & 3, 1); /* rows */
  assert_int_equal(axes.axes[1] & 3, 1);
  assert_int_equal(axes.axes[2] & 3, 3); /* rows and columns */
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
}

static void test_states(void **state)
{
  (void)state;
  states_compare(weighed, weighed_rows, WICK_COUNT(weighed_rows));
  states_compare(product, product_rows, WICK_COUNT(product_rows));
  states_compare(product, span_rows, WICK_COUNT(span_rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_axes), cmocka_unit_test(test_states)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
