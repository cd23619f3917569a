/* Recursive functions of numbers: the compiled program, the interpreter of loop functions and the
 * reference agree, and failures are statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/compile_testing.h"
#include "driver/pipeline.h"
#include "ir/text.h"
#include "loop/interpret.h"
#include "lower/lower.h"
#include "ops/evaluate.h"
#include "wick/wick.h"

#define MAIN(args, types, call)                                                                    \
  "graph @main(" types ") -> i64[] { %0 = call @" call " " args " : i64[]; return %0 }\n"

static const char fib[] =
    MAIN("%n", "%n: i64[]", "fib") "graph @fib(%n: i64[]) -> i64[] {\n"
                                   "  %one = const 1 : i64[]; %two = const 2 : i64[]\n"
                                   "  %less = lt %n, %two\n"
                                   "  %r = if %less () { yield %n } () {\n"
                                   "    %a = sub %n, %one; %b = sub %n, %two\n"
                                   "    %x = call @fib %a : i64[]; %y = call @fib %b : i64[]\n"
                                   "    %s = add %x, %y; yield %s\n"
                                   "  }\n"
                                   "  return %r\n"
                                   "}\n";

/* Mutual recursion with two results, floats, a loop that ends early, and a division. */
static const char mixed[] =
    MAIN("%n", "%n: i64[]", "a") "graph @a(%n: i64[]) -> i64[] {\n"
                                 "  %f = cast %n : f32[]; %h = const 0.5 : f32[]\n"
                                 "  %x, %y = call @b %n, %f : i64[], f32[]\n"
                                 "  %z = mul %y, %h; %w = cast %z : i64[]; %s = add %x, %w\n"
                                 "  return %s\n"
                                 "}\n"
                                 "graph @b(%n: i64[], %f: f32[]) -> (i64[], f32[]) {\n"
                                 "  %0 = const 0 : i64[]; %1 = const 1 : i64[]\n"
                                 "  %7 = const 7 : i64[]; %3 = const 3 : i64[]\n"
                                 "  %end = le %n, %0\n"
                                 "  %i, %g = if %end () { yield %1, %f } () {\n"
                                 "    %k = loop %n, %0 (%j: i64[], %c: i64[]) {\n"
                                 "      %d = add %c, %j; %go = lt %d, %7; yield %go, %d\n"
                                 "    }\n"
                                 "    %m = sub %n, %1; %e = call @a %m : i64[]\n"
                                 "    %q = div %e, %3; %t = exp %f; %u = sqrt %t\n"
                                 "    %v = add %q, %k; yield %v, %u\n"
                                 "  }\n"
                                 "  return %i, %g\n"
                                 "}\n";

/* A loop of numbers keeps its call, although nothing is recursive. */
static const char collatz[] =
    MAIN("%n", "%n: i64[]", "steps") "graph @steps(%n: i64[]) -> i64[] {\n"
                                     "  %0 = const 0 : i64[]; %1 = const 1 : i64[]\n"
                                     "  %2 = const 2 : i64[]; %3 = const 3 : i64[]\n"
                                     "  %most = const 9223372036854775807 : i64[]\n"
                                     "  %x, %k = loop %most, %n, %0 (%i: i64[], %v: i64[], "
                                     "%c: i64[]) {\n"
                                     "    %odd = fmod %v, %2; %p = ne %odd, %0\n"
                                     "    %w = if %p () { %t = mul %v, %3; %u = add %t, %1; yield "
                                     "%u } () { %h = div %v, %2; yield %h }\n"
                                     "    %d = add %c, %1; %go = gt %w, %1; yield %go, %w, %d\n"
                                     "  }\n"
                                     "  return %k\n"
                                     "}\n";

static const char divided[] =
    MAIN("%n", "%n: i64[]", "f") "graph @f(%n: i64[]) -> i64[] {\n"
                                 "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %9 = const 9 : "
                                 "i64[]\n"
                                 "  %z = lt %n, %0\n"
                                 "  %r = if %z () { yield %0 } () {\n"
                                 "    %m = sub %n, %1; %x = call @f %m : i64[]\n"
                                 "    %q = div %9, %n; %s = add %x, %q; yield %s\n"
                                 "  }\n"
                                 "  return %r\n"
                                 "}\n";

/* Tensors: operands read in place, results in the caller's memory, a frame per call, a constant. */
static const char tensors[] =
    "constant @w : f32[4,4] = [1,0,0,2, 0,2,0,0, 0,1,1,0, 1,0,0,1]\n" MAIN(
        "%n", "%n: i64[]",
        "g") "graph @g(%n: i64[]) -> i64[] {\n"
             "  %x = const 0.5 : f32[4]; %y, %k = call @f %n, %x : f32[4], i64[]\n"
             "  %s = reduce_sum %y {axes=[0], keepdims=false}; %c = const 1000 : f32[]\n"
             "  %t = mul %s, %c; %i = cast %t : i64[]; %r = add %i, %k; return %r\n"
             "}\n"
             "graph @f(%n: i64[], %x: f32[4]) -> (f32[4], i64[]) {\n"
             "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %2 = const 2 : i64[]\n"
             "  %z = le %n, %0\n"
             "  %r, %k = if %z () { yield %x, %1 } () {\n"
             "    %m = sub %n, %1; %a, %i = call @f %m, %x : f32[4], i64[]\n"
             "    %l = sub %n, %2; %y = tanh %a; %b, %j = call @f %l, %y : f32[4], i64[]\n"
             "    %w = const @w : f32[4,4]; %p = matmul %w, %b; %q = add %p, %a\n"
             "    %t = tanh %q; %s = add %i, %j; yield %t, %s\n"
             "  }\n"
             "  return %r, %k\n"
             "}\n";

/* Elements and rows at indices of a run: read, and replaced, in loops. */
static const char places[] =
    MAIN("%n", "%n: i64[]",
         "g") "graph @g(%n: i64[]) -> i64[] {\n"
              "  %z = const 0 : i64[4,5]; %r = call @f %n, %z : i64[4,5]\n"
              "  %s = reduce_sum %r {axes=[0,1], keepdims=false}; %i = const 2 : i64[]\n"
              "  %v = gather %r, %i : i64[5]; %k = const 3 : i64[]; %e = gather %v, %k : i64[]\n"
              "  %t = mul %e, %i; %u = add %s, %t; return %u\n"
              "}\n"
              "graph @f(%n: i64[], %a: i64[4,5]) -> i64[4,5] {\n"
              "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %4 = const 4 : i64[]\n"
              "  %5 = const 5 : i64[]; %on = const 1 : bool[]; %end = le %n, %0\n"
              "  %r = if %end () { yield %a } () {\n"
              "    %b = loop %n, %a (%i: i64[], %c: i64[4,5]) {\n"
              "      %p = fmod %i, %4; %m = mul %i, %n; %q = fmod %m, %5\n"
              "      %p1 = reshape %p {shape=[1]}; %q1 = reshape %q {shape=[1]}\n"
              "      %at = concat %p1, %q1 {axis=0}; %row = gather %c, %p : i64[5]\n"
              "      %old = gather %row, %q : i64[]; %w = add %old, %i\n"
              "      %d = scatter_nd %c, %at, %w\n"
              "      %back = sub %p, %4; %k1 = reshape %back {shape=[1]}\n"
              "      %row2 = gather_nd %d, %k1; %row3 = add %row2, %row\n"
              "      %e = scatter_nd %d, %p1, %row3\n"
              "      yield %on, %e\n"
              "    } : i64[4,5]\n"
              "    %k = sub %n, %1; %f = call @f %k, %b : i64[4,5]; %g = add %f, %b\n"
              "    yield %g\n"
              "  } : i64[4,5]\n"
              "  return %r\n"
              "}\n";

/* The loops of the entry run in registers; branches replace elements of a tensor that is carried. */
static const char sieve[] =
    "graph @main(%n: i64[]) -> i64[] {\n"
    "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %2 = const 2 : i64[]; %on = const 1 : bool[]\n"
    "  %flags = const 1 : u8[64]; %off = const 0 : u8[]; %5 = const 5 : i64[]\n"
    "  %size = mul %n, %5; %m = sub %size, %2\n"
    "  %c, %f = loop %m, %0, %flags (%i: i64[], %count: i64[], %a: u8[64]) {\n"
    "    %p = add %i, %2; %v = gather %a, %p : u8[]; %prime = cast %v : bool[]\n"
    "    %cc, %b = if %prime () {\n"
    "      %sq = mul %p, %p; %beyond = ge %sq, %size\n"
    "      %q = if %beyond () { yield %a } () {\n"
    "        %last = sub %size, %1; %room = sub %last, %sq; %s0 = div %room, %p\n"
    "        %steps = add %s0, %1\n"
    "        %d = loop %steps, %a (%j: i64[], %e: u8[64]) {\n"
    "          %jp = mul %j, %p; %at = add %sq, %jp; %ix = reshape %at {shape=[1]}\n"
    "          %g = scatter_nd %e, %ix, %off; yield %on, %g\n"
    "        } : u8[64]\n"
    "        yield %d\n"
    "      } : u8[64]\n"
    "      %c1 = add %count, %1; yield %c1, %q\n"
    "    } () { yield %count, %a } : i64[], u8[64]\n"
    "    yield %on, %cc, %b\n"
    "  } : i64[], u8[64]\n"
    "  return %c\n"
    "}\n";

/* A call at the end that passes another tensor on, and one that passes the same. */
static const char ends[] =
    "graph @main(%n: i64[]) -> i64[] {\n"
    "  %x = const 3 : i64[5]; %r = call @f %n, %x : i64[5]\n"
    "  %s = reduce_sum %r {axes=[0], keepdims=false}; return %s\n"
    "}\n"
    "graph @f(%n: i64[], %x: i64[5]) -> i64[5] {\n"
    "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %2 = const 2 : i64[]; %z = le %n, %0\n"
    "  %r = if %z () { yield %x } () {\n"
    "    %m = sub %n, %1; %odd = fmod %n, %2; %p = ne %odd, %0\n"
    "    %q = if %p () { %a = call @f %m, %x : i64[5]; yield %a } () {\n"
    "      %y = mul %x, %n; %t = add %y, %m; %b = call @f %m, %t : i64[5]; yield %b\n"
    "    }\n"
    "    yield %q\n"
    "  }\n"
    "  return %r\n"
    "}\n";

static wick_code compiled(const char *text, uint32_t nrun, const int64_t *n, int64_t *out)
{
  wick_context *c;
  wick_model *m;
  wick_compiled *k;
  wick_session *s;
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  ok(wick_context_create(NULL, &c));
  ok(wick_load_bytes(c, "t", text, strlen(text), &m));
  ok(wick_compile(m, &o, &k));
  ok(wick_session_create(k, NULL, &s));
  wick_code code = 0;
  for (uint32_t i = 0; i < nrun; i++) {
    wick_error *e = wick_run(s, (const void *[]){&n[i]}, (void *[]){&out[i]});
    code = e ? wick_error_code(e) : 0;
    wick_error_free(e);
  }
  wick_session_free(s), wick_compiled_free(k), wick_model_free(m), wick_context_free(c);
  return code;
}

static wick_code evaluated(const char *text, int64_t n, int64_t *out, bool loops)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             more = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  wick_pipeline p;
  wick_lowered lowered = {0};
  wick_tensor in = {.elem = WICK_I64, .data = &n}, result;
  wick_pipeline_begin(&p, m);
  p.lowered = &lowered, p.keep = &mem;
  wick_status s = wick_parse_module(m, "t", text, strlen(text), &tmp);
  if (!s && !loops)
    s = wick_evaluate(wick_module_find(m, "main"), 1, &in, NULL, &mem, &tmp, &more, &result);
  if (!s && !loops) memcpy(out, result.data, sizeof *out);
  if (!s && loops) s = wick_pipeline_run_named(&p, "default", NULL, &tmp);
  if (!s && loops) {
    unsigned char *arena = wick_new(&mem, unsigned char, lowered.arena_bytes + 1),
                  *blob = wick_new(&mem, unsigned char, lowered.constant_bytes + 1);
    for (uint32_t i = 0; i < lowered.constants.n; i++) {
      const wick_lowered_constant *k = &lowered.constants.at[i];
      memcpy(blob + k->offset, wick_constant_bytes(m, k->constant), k->nbytes);
    }
    wick_interpret_arg arg[4] = {{arena, lowered.arena_bytes, 0},
                                 {blob, lowered.constant_bytes, 0},
                                 {&n, 1, 0},
                                 {out, 1, 0}};
    s = wick_interpret(wick_module_find(m, lowered.entry), 4, arg, &mem, &tmp);
  }
  wick_code code = s ? s->code : 0;
  if (s && code != WICK_EINVAL) print_error("%s\n", s->message);
  wick_pipeline_free(&p);
  wick_module_free(m);
  wick_arena_free(&mem), wick_arena_free(&tmp), wick_arena_free(&more);
  return code;
}

static void agree(void **state)
{
  (void)state;
  static const char *const text[] = {fib, mixed, collatz, tensors, places, sieve, ends};
  for (uint32_t i = 0; i < WICK_COUNT(text); i++) {
    int64_t n[13], c[13], e, l;
    for (int64_t k = 0; k < 13; k++) n[k] = k;
    assert_int_equal(compiled(text[i], 13, n, c), 0);
    for (int64_t k = 0; k < 13; k++) {
      assert_int_equal(evaluated(text[i], k, &e, false), 0);
      assert_int_equal(evaluated(text[i], k, &l, true), 0);
      assert_int_equal(c[k], e);
      assert_int_equal(l, e);
    }
  }
}

static void failures(void **state)
{
  (void)state;
  int64_t n = 3, out;
  assert_int_equal(compiled(divided, 1, &n, &out), WICK_EINVAL);
  assert_int_equal(evaluated(divided, n, &out, true), WICK_EINVAL);
}

/* A recursion without an end, and after it one that ends; a million calls. */
static void depth(void **state)
{
  (void)state;
  static const char sum[] =
      MAIN("%n", "%n: i64[]", "f") "graph @f(%n: i64[]) -> i64[] {\n"
                                   "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = eq %n, %0\n"
                                   "  %r = if %z () { yield %0 } () {\n"
                                   "    %m = sub %n, %1; %x = call @f %m : i64[]\n"
                                   "    %y = bit_xor %x, %n; %s = add %y, %n; yield %s\n"
                                   "  }\n"
                                   "  return %r\n"
                                   "}\n";
  int64_t n[3] = {-1, 1000000, -1}, out[3], want = 0;
  for (int64_t k = 1; k <= n[1]; k++) want = (want ^ k) + k;
  assert_int_equal(compiled(sum, 2, n, out), 0);
  assert_int_equal(out[1], want);
  assert_int_equal(compiled(sum, 3, n, out), WICK_ELIMIT);
}

/* Calls at the end, also of each other, need no stack, however many they are. */
static void tail_calls(void **state)
{
  (void)state;
  static const char text[] = MAIN("%n", "%n: i64[]", "even")
#define STEP(name, other, found)                                                                   \
  "graph @" name "(%n: i64[]) -> i64[] {\n"                                                        \
  "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %f = const " found " : i64[]\n"                   \
  "  %z = eq %n, %0\n"                                                                             \
  "  %r = if %z () { yield %f } () {\n"                                                            \
  "    %m = sub %n, %1; %x = call @" other " %m : i64[]; yield %x\n"                               \
  "  }\n"                                                                                          \
  "  return %r\n"                                                                                  \
  "}\n"
      STEP("even", "odd", "1") STEP("odd", "even", "0");
  int64_t n[2] = {100000000, 100000001}, out[2];
  assert_int_equal(compiled(text, 2, n, out), 0);
  assert_int_equal(out[0], 1);
  assert_int_equal(out[1], 0);
}

/* Graphs that main does not reach are no part of the program. */
static void unreached(void **state)
{
  (void)state;
  static const char text[] =
      "graph @main(%n: i64[]) -> i64[] { %0 = add %n, %n; return %0 }\n"
      "graph @other(%a: i64[], %b: i64[]) -> i64[] { %0 = mul %a, %b; return %0 }\n";
  int64_t n = 3, out;
  assert_int_equal(compiled(text, 1, &n, &out), 0);
  assert_int_equal(out, 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agree),      cmocka_unit_test(failures),  cmocka_unit_test(depth),
      cmocka_unit_test(tail_calls), cmocka_unit_test(unreached),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
