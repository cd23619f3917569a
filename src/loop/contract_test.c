/* Contracts: their texts; groups with equal contracts have equal bits for any form of loops and
 * tails; results stay within the bound of the contract, and an error of four times the bound is
 * detected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "loop/contract.h"
#include "loop/expand_math.h"
#include "loop/interpret.h"
#include "loop/legalize.h"
#include "loop/nest.h"

enum { ROWS = 5, TERMS = 37 };

/* y[i] = sum(k) x[i,k] * w[k]; the largest x[i,k] * w[k]; a sum of exp; a sum over two axes */
static const char dot[] =
    "group @dot(%x: f32[5,37], %w: f32[37]) -> f32[5] {\n"
    "  %y = fold {name=\"dot\", axes=[i:5 | k:37]} () { %0 = const 0 : f32 yield %0 }\n"
    "  (%s: f32) { %1 = read %x {index=[i, k]} : f32 %2 = read %w {index=[k]} : f32\n"
    "    %3 = muladd %1, %2, %s : f32 yield %3 }\n"
    "  (%a: f32, %b: f32) { %4 = add %a, %b : f32 yield %4 } (%r: f32) { yield %r } : f32[5]\n"
    "  return %y }";
static const char largest[] =
    "group @largest(%x: f32[5,37], %w: f32[37]) -> f32[5] {\n"
    "  %y = fold {name=\"dot\", axes=[i:5 | k:37]} () { %0 = const -inf : f32 yield %0 }\n"
    "  (%s: f32) { %1 = read %x {index=[i, k]} : f32 %2 = max %1, %s : f32 yield %2 }\n"
    "  (%a: f32, %b: f32) { %4 = max %a, %b : f32 yield %4 } (%r: f32) { yield %r } : f32[5]\n"
    "  return %y }";
static const char exponents[] =
    "group @exponents(%x: f16[5,37], %w: f32[37]) -> f32[5] {\n"
    "  %y = fold {name=\"dot\", axes=[i:5 | k:37]} () { %0 = const 0 : f32 yield %0 }\n"
    "  (%s: f32) { %1 = read %x {index=[i, k]} : f16 %2 = cast %1 : f32 %3 = exp %2 : f32\n"
    "    %4 = add %3, %s : f32 yield %4 }\n"
    "  (%a: f32, %b: f32) { %5 = add %a, %b : f32 yield %5 } (%r: f32) { yield %r } : f32[5]\n"
    "  return %y }";
static const char plane[] =
    "group @plane(%x: f32[5,6,7], %w: f32[37]) -> f32[5] {\n"
    "  %y = fold {name=\"dot\", axes=[i:5 | r:6, s:7]} () { %0 = const 0 : f32 yield %0 }\n"
    "  (%s: f32) { %1 = read %x {index=[i, r, s]} : f32 %2 = add %1, %s : f32 yield %2 }\n"
    "  (%a: f32, %b: f32) { %4 = add %a, %b : f32 yield %4 } (%r: f32) { yield %r } : f32[5]\n"
    "  return %y }";

static const struct {
  const char *group, *target, *schedule, *want;
} rows[] = {
    {dot, "x86-64-v4", "", "dot: f32 fma over k:37; exact"},
    {dot, "x86-64-v4", "parallel dot.i", "dot: f32 fma over k:37; exact"},
    {dot, "x86-64-v4", "split dot.k u:4; unroll dot.u", "dot: f32 fma over k:37; exact"},
    {dot, "x86-64-v4", "split dot.k u:4; unroll dot.u; tail dot.k mask",
     "dot: f32 fma over k:37; exact"},
    {dot, "x86-64-v4", "split dot.k u:4; split dot.u v:2; unroll dot.v",
     "dot: f32 fma over k:37; exact"},
    {dot, "x86-64-v4", "split dot.i l:4; order dot: i k l; vector dot.l",
     "dot: f32 fma over k:37; exact"},
    {dot, "x86-64-v4", "split dot.k u:4; rfactor dot.u", "dot: f32 fma over k:10 [k:4]; rounding"},
    {dot, "x86-64-v4", "split dot.k u:4; rfactor dot.u; tail dot.k mask",
     "dot: f32 fma over k:10 [k:4]; rounding"},
    {dot, "x86-64-v4", "split dot.k u:8; vector dot.u", "dot: f32 fma over k:5 [k:8]; rounding"},
    {dot, "x86-64-v4", "split dot.k u:8; vector dot.u; tail dot.k mask",
     "dot: f32 fma over k:5 [k:8]; rounding"},
    {dot, "x86-64-v4", "split dot.k u:16; split dot.u v:8; rfactor dot.u; vector dot.v",
     "dot: f32 fma over k:3 [k:2] [k:8]; rounding"},
    {dot, "x86-64-v4", "split dot.k s:8; spans dot.k", "dot: f32 fma over (k:5) k:8; rounding"},
    {dot, "x86-64-v4", "split dot.k s:8; spans dot.k; split dot.s u:4; unroll dot.u",
     "dot: f32 fma over (k:5) k:8; rounding"},
    {dot, "x86-64-v4", "split dot.k u:4; split dot.k s:2; spans dot.k; unroll dot.u",
     "dot: f32 fma over (k:5) k:8; rounding"},
    {dot, "x86-64-v4",
     "split dot.k s:8; spans dot.k; split dot.i l:4; order dot: i k s l; vector dot.l",
     "dot: f32 fma over (k:5) k:8; rounding"},
    {dot, "x86-64-v4", "split dot.k s:8; spans dot.k; order dot: k i s",
     "dot: f32 fma over (k:5) k:8; rounding"},
    {dot, "x86-64-v4", "split dot.k s:16; spans dot.k; split dot.s v:8; vector dot.v",
     "dot: f32 fma over (k:3) k:2 [k:8]; rounding"},
    {dot, "x86-64-v4", "split dot.k s:16; spans dot.k; split dot.s v:4; spans dot.s",
     "dot: f32 fma over (k:3) (k:4) k:4; rounding"},
    {dot, "x86-64-v2", "", "dot: f32 mul add over k:37; exact"},
    {dot, "x86-64-v1", "split dot.k u:4; unroll dot.u", "dot: f32 mul add over k:37; exact"},
    {largest, "x86-64-v4", "", "dot: f32 max over k:37; exact"},
    {largest, "x86-64-v4", "split dot.k u:8; vector dot.u", "dot: f32 max over k:5 [k:8]; exact"},
    {largest, "x86-64-v4", "split dot.k s:8; spans dot.k", "dot: f32 max over (k:5) k:8; exact"},
    {exponents, "x86-64-v4", "", "dot: f32 exp add over k:37; approximate(exp 1.1 ulp)"},
    {exponents, "x86-64-v4", "split dot.k u:8; vector dot.u",
     "dot: f32 exp add over k:5 [k:8]; rounding, approximate(exp 1.1 ulp)"},
    {plane, "x86-64-v4", "split dot.s u:2; unroll dot.u", "dot: f32 add over r:6 s:7; exact"},
    {plane, "x86-64-v4", "order dot: i s r", "dot: f32 add over s:7 r:6; rounding"},
    {plane, "x86-64-v4", "split dot.r u:2; order dot: i r s u",
     "dot: f32 add over r:3 s:7 r:2; rounding"},
};

typedef struct contract_run {
  const char *contract;
  double bound;
  float y[ROWS];
} contract_run;

static void contract_ok(wick_status s)
{
  if (s) print_error("%s\n", s->message);
  assert_null(s);
}

static void contract_numbers(float *x, size_t n)
{
  uint64_t state = 7;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x[i] = (float)((int64_t)(state >> 33) % 2001 - 1000) / 1000;
  }
}

/* Returns the contract of a case, and the results of its loops on f32[5,37]. */
static contract_run contract_row(uint32_t i, const float *x, const float *w, bool run,
                                 wick_guard *guard)
{
  contract_run out = {0};
  wick_arena mem = wick_arena_make(guard), tmp = wick_arena_make(guard);
  wick_module *m = wick_module_create(guard, "");
  wick_target t;
  assert_true(wick_target_find(rows[i].target, &t));
  contract_ok(wick_parse_module(m, "", rows[i].group, strlen(rows[i].group), &tmp));
  const wick_func *g = m->funcs.at[0];
  wick_schedule *s = wick_schedule_begin(g, &mem);
  contract_ok(wick_schedule_apply(s, rows[i].schedule));
  assert_string_equal(wick_contract_of(s, &t), rows[i].want);
  out.contract = rows[i].want;
  out.bound = wick_contract_bound(s, &t, 0);
  if (run) {
    wick_kernel_info k;
    contract_ok(wick_nest(g, s, NULL, &mem, &tmp, &k));
    const wick_pass_context pass = {.target = &t, .mem = &mem, .tmp = &tmp};
    wick_func *f;
    contract_ok(wick_pass_expand_math(&pass, k.loop, &f));
    contract_ok(wick_pass_legalize(&pass, f, &f));
    contract_ok(wick_verify_func(f, &tmp));
    wick_interpret_arg arg[5] = {{out.y, ROWS, 0},
                                 {(void *)(uintptr_t)x, ROWS * TERMS, 0},
                                 {(void *)(uintptr_t)w, TERMS, 0},
                                 {NULL, 0, 0},
                                 {NULL, 0, k.tasks.v}};
    contract_ok(wick_interpret(f, 5, arg, &mem, &tmp));
  }
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return out;
}

static void test_texts(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(guard.where), 0);
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) contract_row(i, NULL, NULL, false, &guard);
  assert_int_equal(guard.used_bytes, 0);
}

static void test_bits(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(guard.where), 0);
  static float x[ROWS * TERMS + TERMS];
  contract_numbers(x, WICK_COUNT(x));
  contract_run run[WICK_COUNT(rows)];
  uint32_t equal = 0, other = 0;
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    if (rows[i].group != dot) continue;
    run[i] = contract_row(i, x, x + ROWS * TERMS, true, &guard);
    for (uint32_t k = 0; k < i; k++) {
      bool same = memcmp(run[k].y, run[i].y, sizeof run[i].y) == 0;
      if (strcmp(rows[k].want, rows[i].want) == 0) {
        if (!same) fail_msg("`%s` and `%s` have other bits", rows[k].schedule, rows[i].schedule);
        equal++;
      } else {
        other += !same;
      }
    }
  }
  assert_true(equal > 10 && other > 10);
}

/* Computes the result in double: products of f32 are exact, and the sum here is nearly exact. */
static double contract_exact(const float *x, const float *w, double *out_magnitude)
{
  double sum = 0;
  *out_magnitude = 0;
  for (uint32_t k = 0; k < TERMS; k++) {
    sum += (double)x[k] * (double)w[k];
    *out_magnitude += fabs((double)x[k] * (double)w[k]);
  }
  return sum;
}

static bool contract_within(double got, double want, double bound, double magnitude)
{
  return fabs(got - want) <= bound * magnitude;
}

static void test_bounds(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(guard.where), 0);
  static float x[ROWS * TERMS + TERMS];
  contract_numbers(x, WICK_COUNT(x));
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    bool sum = rows[i].group == dot || rows[i].group == plane;
    contract_run run = contract_row(i, x, x + ROWS * TERMS, rows[i].group == dot, &guard);
    assert_int_equal(isinf(run.bound), !sum);
    for (uint32_t r = 0; r < ROWS && rows[i].group == dot; r++) {
      double magnitude, want = contract_exact(x + r * TERMS, x + ROWS * TERMS, &magnitude),
                        planted = 4 * run.bound * magnitude;
      assert_true(contract_within((double)run.y[r], want, run.bound, magnitude));
      assert_false(contract_within((double)run.y[r] + planted, want, run.bound, magnitude));
      assert_false(contract_within((double)run.y[r] - planted, want, run.bound, magnitude));
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_bits),
                                     cmocka_unit_test(test_bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
