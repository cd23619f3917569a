/* The reference evaluator: control flow, calls, tuples, symbols, and errors. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "ops/evaluate.h"
#include "ops/ref.h"

#define CHOOSE                                                                                     \
  "graph @f(%c: bool[], %x: f32[2]) -> f32[2] {"                                                   \
  "  %0 = if %c () { %1 = neg %x : f32[2] yield %1 } () { yield %x } : f32[2]"                     \
  "  %2 = add %0, %x : f32[2] return %2 }"
/* Two carried values are exchanged. The loop ends when the region returns false, after 3
 * iterations, or at the count. */
#define SWAP                                                                                       \
  "graph @f(%n: i64[], %a: f32[1], %b: f32[1]) -> (f32[1], f32[1]) {"                              \
  "  %r, %s = loop %n, %a, %b (%i: i64[], %u: f32[1], %v: f32[1]) {"                               \
  "    %two = const 2 : i64[]  %go = lt %i, %two : bool[]"                                         \
  "    %w = add %u, %v : f32[1]  yield %go, %v, %w } : f32[1], f32[1]"                             \
  "  return %r, %s }"
#define CALLS                                                                                      \
  "graph @f(%x: f32[N[1..8]]) -> f32[2*N] {"                                                       \
  "  %0 = call @g %x, %x : f32[2*N] return %0 }"                                                   \
  "graph @g(%a: f32[N[1..8]], %b: f32[N]) -> f32[2*N] {"                                           \
  "  %0 = tuple %a, %b : tuple<f32[N],f32[N]>"                                                     \
  "  %1 = tuple_get %0 {index=1} : f32[N]  %2 = tuple_get %0 {index=0} : f32[N]"                   \
  "  %3 = concat %1, %2 : f32[2*N]  return %3 }"
/* Values that the branches use are not freed before the branch. */
#define LIVES                                                                                      \
  "graph @f(%c: bool[], %x: f32[2]) -> f32[2] {"                                                   \
  "  %a = mul %x, %x : f32[2]  %b = mul %a, %x : f32[2]"                                           \
  "  %n = const 3 : i64[]"                                                                         \
  "  %r = loop %n, %b (%i: i64[], %v: f32[2]) {"                                                   \
  "    %t = if %c () { %u = add %v, %a : f32[2] yield %u } () { yield %b } : f32[2]"               \
  "    %go = const 1 : bool[] yield %go, %t } : f32[2]"                                            \
  "  return %r }"
#define ENDLESS "graph @f(%x: f32[1]) -> f32[1] { %0 = call @f %x : f32[1] return %0 }"
#define GATHERS                                                                                    \
  "graph @f(%x: i32[1], %y: i32[1]) -> i32[1] {"                                                   \
  "  %0 = gather %x, %y : i32[1] loc(\"net: d\") return %0 }"
#define SIZED                                                                                      \
  "graph @f(%x: f32[N[1..4]], %y: f32[N]) -> f32[N] { %0 = add %x, %y : f32[N] return %0 }"
#define DECLARED                                                                                   \
  "constant @w : f32[1]  graph @f(%x: f32[1]) -> f32[1] { %0 = const @w : f32[1] return %0 }"

typedef struct evaluate_row {
  const char *text;
  wick_elem elem[3]; /* of each operand */
  int64_t n[3];      /* number of elements; 0: a scalar; -1: no operand */
  double in[3][4];
  const char *error; /* the end of the message's first line, or NULL */
  uint32_t nout;
  int64_t nelem;
  double want[2][6];
} evaluate_row;

static const evaluate_row rows[] = {
    {CHOOSE, {WICK_BOOL, WICK_F32}, {0, 2, -1}, {{1}, {3, 4}}, NULL, 1, 2, {{0, 0}}},
    {CHOOSE, {WICK_BOOL, WICK_F32}, {0, 2, -1}, {{0}, {3, 4}}, NULL, 1, 2, {{6, 8}}},
    {SWAP, {WICK_I64, WICK_F32, WICK_F32}, {0, 1, 1}, {{2}, {1}, {1}}, NULL, 2, 1, {{2}, {3}}},
    {SWAP, {WICK_I64, WICK_F32, WICK_F32}, {0, 1, 1}, {{9}, {1}, {1}}, NULL, 2, 1, {{3}, {5}}},
    {SWAP, {WICK_I64, WICK_F32, WICK_F32}, {0, 1, 1}, {{0}, {7}, {8}}, NULL, 2, 1, {{7}, {8}}},
    {CALLS, {WICK_F32}, {3, -1, -1}, {{1, 2, 3}}, NULL, 1, 6, {{1, 2, 3, 1, 2, 3}}},
    {LIVES, {WICK_BOOL, WICK_F32}, {0, 2, -1}, {{1}, {2, 3}}, NULL, 1, 2, {{20, 54}}},
    {LIVES, {WICK_BOOL, WICK_F32}, {0, 2, -1}, {{0}, {2, 3}}, NULL, 1, 2, {{8, 27}}},
    {ENDLESS, {WICK_F32}, {1, -1, -1}, {{1}}, "f: calls are nested deeper than 1000", 1, 1, {{0}}},
    {GATHERS,
     {WICK_I32, WICK_I32},
     {1, 1, -1},
     {{1}, {1}},
     "net: d: index 1 is outside [-1, 0]",
     1,
     1,
     {{0}}},
    {SIZED, {WICK_F32, WICK_F32}, {2, 2, -1}, {{1, 2}, {3, 4}}, NULL, 1, 2, {{4, 6}}},
    {SIZED,
     {WICK_F32, WICK_F32},
     {2, 3, -1},
     {{1, 2}, {3, 4}},
     "f: dimension 0 of operand 1 is 3, expected N",
     1,
     2,
     {{0}}},
    {SIZED,
     {WICK_F32, WICK_F32},
     {5, 5, -1},
     {{1, 2}, {3, 4}},
     "f: dimension 0 of operand 0 is 5, outside [1, 4]",
     1,
     2,
     {{0}}},
    {SIZED,
     {WICK_F32, WICK_F64},
     {2, 2, -1},
     {{1, 2}, {3, 4}},
     "f: operand 1 is f64 of rank 1, expected f32 of 1",
     1,
     2,
     {{0}}},
    {SIZED, {WICK_F32}, {2, -1, -1}, {{1, 2}}, "f: 1 operands are given, expected 2", 1, 2, {{0}}},
    {DECLARED, {WICK_F32}, {1, -1, -1}, {{1}}, "const: the constant @w has no data", 1, 1, {{0}}},
};

static void count_values(void *arg, const wick_func *f, wick_value v, const wick_tensor *t)
{
  (void)f, (void)v, (void)t;
  ++*(uint32_t *)arg;
}

static void evaluate_check(const evaluate_row *row)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             scratch = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  wick_status s = wick_parse_module(m, "t", row->text, strlen(row->text), &tmp);
  if (s) print_error("%s\n", s->message);
  assert_null(s);
  wick_tensor in[3], out[2];
  uint32_t nin = 0, seen = 0;
  for (; nin < 3 && row->n[nin] >= 0; nin++) {
    wick_tensor *x = &in[nin];
    *x = (wick_tensor){.elem = row->elem[nin], .rank = row->n[nin] > 0, .dim = {row->n[nin]}};
    x->data = wick_new(&mem, double, 8);
    for (uint64_t k = 0; k < wick_ref_numel(x) && k < 4; k++)
      wick_store_elem(x->elem, x->data, k,
                      wick_elem_is_float(x->elem) ? (wick_scalar){.f = row->in[nin][k]}
                                                  : (wick_scalar){.i = (int64_t)row->in[nin][k]});
  }
  wick_evaluate_options options = {.observe = count_values, .arg = &seen};
  s = wick_evaluate(wick_module_find(m, "f"), nin, in, &options, &mem, &tmp, &scratch, out);
  if (row->error) {
    assert_non_null(s);
    assert_string_equal(s->message, row->error);
  } else {
    if (s) print_error("%s\n", s->message);
    assert_null(s);
    assert_true(seen > nin);
    for (uint32_t k = 0; k < row->nout; k++) {
      assert_int_equal(wick_ref_numel(&out[k]), row->nelem);
      for (int64_t i = 0; i < row->nelem; i++)
        assert_true(wick_load_elem(out[k].elem, out[k].data, (uint64_t)i).f == row->want[k][i]);
    }
  }
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  wick_arena_free(&scratch);
}

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) evaluate_check(&rows[i]);
}

/* A long chain needs only the memory of a few tensors. */
static void test_memory(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             scratch = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  wick_text text = wick_text_begin(&mem);
  wick_text_add(&text, "graph @f(%v0: f32[1000]) -> f32[1000] {");
  for (int i = 1; i <= 500; i++)
    wick_text_printf(&text, " %%v%d = neg %%v%d : f32[1000]\n", i, i - 1);
  wick_text_add(&text, " return %v500 }");
  assert_null(wick_parse_module(m, "t", text.at, text.n, &tmp));
  wick_tensor in = {.elem = WICK_F32, .rank = 1, .dim = {1000}}, out;
  in.data = wick_new(&mem, float, 1000);
  ((float *)in.data)[7] = 3;
  uint64_t before = guard.used_bytes;
  assert_null(wick_evaluate(wick_module_find(m, "f"), 1, &in, NULL, &mem, &tmp, &scratch, &out));
  assert_true(guard.used_bytes - before < 1000000); /* all tensors together would take 2 MB */
  assert_true(((float *)out.data)[7] == 3);
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  wick_arena_free(&scratch);
}

/* ---- data, references, function values ---- */

#define LIST                                                                                       \
  "data @List { Nil, Cons(i64[], @List) }"                                                         \
  "graph @sum(%l: @List) -> i64[] {"                                                               \
  "  %r = switch %l () { %0 = const 0 : i64[]; yield %0 } (%x: i64[], %rest: @List) {"             \
  "    %s = call @sum %rest : i64[]; %t = add %x, %s; yield %t } : i64[]"                          \
  "  return %r }"                                                                                  \
  "graph @upto(%n: i64[]) -> @List {"                                                              \
  "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = le %n, %0"                                   \
  "  %r = if %z () { %e = construct {ctor=0} : @List; yield %e } () {"                             \
  "    %m = sub %n, %1; %t = call @upto %m : @List"                                                \
  "    %c = construct %n, %t {ctor=1} : @List; yield %c } : @List"                                 \
  "  return %r }"
#define MAIN(n, nodes, type, result)                                                               \
  "graph @f() -> " type " { %n = const " #n " : i64[]\n" nodes "\n return " result " }"

/* A function without parameters, and its results and what it prints, or its error. */
static const struct {
  const char *text, *want;
} programs[] = {
    {LIST MAIN(3, "%l = call @upto %n : @List", "@List", "%l"), "Cons(3, Cons(2, Cons(1, Nil)))"},
    {LIST MAIN(5000, "%l = call @upto %n : @List; %s = call @sum %l : i64[]", "i64[]", "%s"),
     "12502500"},
    {LIST MAIN(10000000, "%l = call @upto %n : @List loc(\"p.wick:3\")", "@List", "%l"),
     "upto: calls are nested too deep for the stack"},
    /* a loop that fills and empties a list of the same blocks again and again */
    {LIST MAIN(5,
               "%k = const 300 : i64[]; %r = loop %k, %n (%i: i64[], %s: i64[]) {"
               "  %t = const 1 : bool[]; %l = call @upto %n : @List; %u = call @sum %l : i64[]"
               "  yield %t, %u }",
               "i64[]", "%r"),
     "15"},
    /* references are shared; a closure captures one; what is printed comes in order */
    {"graph @count(%r: ref<i64[],f32[2]>, %by: i64[]) -> i64[] {"
     "  %n, %x = ref_get %r; %m = add %n, %by; %y = add %x, %x; ref_set %r, %m, %y"
     "  print %m, %r {text=\"{} of {}\"}; return %m }"
     "graph @f() -> (i64[], ref<i64[],f32[2]>, fn<(i64[]) -> (i64[])>) {"
     "  %n = const 3 : i64[]; %x = const 0.5 : f32[2]; %r = ref_new %n, %x"
     "  %f = closure @count %r : fn<(i64[]) -> (i64[])>"
     "  %a = apply %f, %n; %b = apply %f, %a; print %a, %b; return %b, %r, %f }",
     "6 of Ref(6, [1.0, 1.0])\n12 of Ref(12, [2.0, 2.0])\n6 12\n12, Ref(12, [2.0, 2.0]), <fn>"},
    /* function values in data, and a reference that refers to itself */
    {"data @Knot { End, Knot(ref<@Knot>, fn<() -> (@Knot)>) }"
     "graph @end() -> @Knot { %0 = construct {ctor=0} : @Knot; return %0 }"
     "graph @f() -> @Knot {"
     "  %e = construct {ctor=0} : @Knot; %r = ref_new %e; %g = closure @end : fn<() -> (@Knot)>"
     "  %k = construct %r, %g {ctor=1} : @Knot; ref_set %r, %k"
     "  %o = switch %k () { yield %k } (%s: ref<@Knot>, %h: fn<() -> (@Knot)>) {"
     "    %v = apply %h; yield %v }"
     "  return %o }",
     "End"},
    {"graph @f() -> f32[] { %c = const 0 : bool[]; %x = const 2.5 : f32[]"
     "  assert %c, %x {message=\"x is {}\"} loc(\"p.wick:7:3\"); return %x }",
     "p.wick:7:3: the assertion does not hold: x is 2.5"},
    {"graph @f() -> f32[] { %c = const 1 : bool[]; %x = const 2.5 : f32[]; assert %c; return %x }",
     "2.5"},
};

static void print_line(void *arg, const char *line)
{
  wick_text_add(arg, line);
  wick_text_char(arg, '\n');
}

/* Programs run in a thread with a stack of this size, so that calls can be deep. */
enum { PROGRAM_STACK = 64 << 20, PROGRAM_MARGIN = 1 << 20 };

typedef struct program_run {
  const wick_func *f;
  wick_arena *mem, *tmp, *scratch;
  wick_text *out;
  wick_status status;
} program_run;

static void *program_thread(void *arg)
{
  program_run *r = arg;
  wick_evaluate_options o = {
      .print = print_line, .arg = r->out, .stack_bytes = PROGRAM_STACK - PROGRAM_MARGIN};
  r->status = wick_evaluate_text(r->f, 0, NULL, &o, r->mem, r->tmp, r->scratch, r->out);
  return NULL;
}

static wick_status program_evaluate(program_run *r)
{
  pthread_t thread;
  pthread_attr_t attr;
  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstacksize(&attr, PROGRAM_STACK), 0);
  assert_int_equal(pthread_create(&thread, &attr, program_thread, r), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
  return r->status;
}

static void test_programs(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(programs); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
               scratch = wick_arena_make(&guard), said = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    wick_status s = wick_parse_module(m, "t", programs[i].text, strlen(programs[i].text), &tmp);
    if (s) print_error("%s\n", s->message);
    assert_null(s);
    wick_text out = wick_text_begin(&said);
    program_run r = {wick_module_find(m, "f"), &mem, &tmp, &scratch, &out, NULL};
    s = program_evaluate(&r);
    const char *got = s ? s->message : out.at;
    if (!strstr(got, programs[i].want)) print_error("%s\n%s\n", programs[i].text, got);
    assert_true(strlen(got) >= strlen(programs[i].want));
    assert_string_equal(got + strlen(got) - strlen(programs[i].want), programs[i].want);
    wick_module_free(m);
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
    wick_arena_free(&scratch);
    wick_arena_free(&said);
  }
}

/* The estimate counts products and the rounds of loops. What it cannot know, a limit finds. */
static void test_seconds(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double least, most, limit;
  } row[] = {
      {"graph @f(%x: f32[4,4]) -> f32[4,4] { %y = matmul %x, %x; return %y }", 1e-8, 1e-5, 0},
      {"graph @f(%x: f32[4,4]) -> f32[4000,4000] { %a = broadcast_to %x {shape=[1000,1000,4,4]}; "
       "%r = reshape %a {shape=[4000,4000]}; %y = matmul %r, %r; return %y }",
       10, 100, 5},
      {"graph @f(%x: f32[4,4]) -> f32[4,4] { %n = const 1000000000 : i64[]; %y = loop %n, %x "
       "(%i: i64[], %v: f32[4,4]) { %t = const true : bool[]; %w = tanh %v; yield %t, %w } : "
       "f32[4,4]; return %y }",
       100, 10000, 1e-3},
  };
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
               scratch = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    wick_status s = wick_parse_module(m, "t", row[i].text, strlen(row[i].text), &tmp);
    if (s) fail_msg("%s", s->message);
    wick_tensor in = {.elem = WICK_F32, .rank = 2, .dim = {4, 4}}, out;
    in.data = wick_new(&mem, float, 16);
    const wick_func *f = wick_module_find(m, "f");
    double seconds = wick_evaluate_seconds(f, 1, &in, &tmp);
    if (seconds < row[i].least || seconds > row[i].most) fail_msg("row %zu: %g", i, seconds);
    wick_evaluate_options o = {.most_seconds = row[i].limit};
    s = wick_evaluate(f, 1, &in, &o, &mem, &tmp, &scratch, &out);
    if (row[i].limit > 0) assert_int_equal(s->code, WICK_ELIMIT);
    if (row[i].limit <= 0) assert_null(s);
    wick_module_free(m);
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
    wick_arena_free(&scratch);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_programs),
                                     cmocka_unit_test(test_seconds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
