/* Programs on lists and trees, compiled: their results, that a loop leaves no object behind, and
 * that a program that needs too much memory, or calls too deep, fails with a status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/compile_testing.h"
#include "wick/wick.h"

#define LIST "data @List { Nil, Cons(i64[], @List) }\n"

/* %n down to 1. */
#define UPTO                                                                                       \
  "graph @upto(%n: i64[]) -> @List {\n"                                                            \
  "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = le %n, %0\n"                                 \
  "  %r = if %z () { %e = construct {ctor=0} : @List; yield %e } () {\n"                           \
  "    %m = sub %n, %1; %t = call @upto %m : @List\n"                                              \
  "    %c = construct %n, %t {ctor=1} : @List; yield %c\n"                                         \
  "  } : @List\n"                                                                                  \
  "  return %r\n"                                                                                  \
  "}\n"

#define SUM                                                                                        \
  "graph @sum(%l: @List) -> i64[] {\n"                                                             \
  "  %r = switch %l () { %0 = const 0 : i64[]; yield %0 } (%x: i64[], %rest: @List) {\n"           \
  "    %s = call @sum %rest : i64[]; %t = add %x, %s; yield %t\n"                                  \
  "  } : i64[]\n"                                                                                  \
  "  return %r\n"                                                                                  \
  "}\n"

#define MAP                                                                                        \
  "graph @map(%l: @List) -> @List {\n"                                                             \
  "  %r = switch %l () { %e = construct {ctor=0} : @List; yield %e } (%x: i64[], %rest: @List) "   \
  "{\n"                                                                                            \
  "    %t = call @map %rest : @List; %y = add %x, %x\n"                                            \
  "    %c = construct %y, %t {ctor=1} : @List; yield %c\n"                                         \
  "  } : @List\n"                                                                                  \
  "  return %r\n"                                                                                  \
  "}\n"

/* The numbers that 3 divides. */
#define FILTER                                                                                     \
  "graph @filter(%l: @List) -> @List {\n"                                                          \
  "  %0 = const 0 : i64[]; %3 = const 3 : i64[]\n"                                                 \
  "  %r = switch %l () { %e = construct {ctor=0} : @List; yield %e } (%x: i64[], %rest: @List) "   \
  "{\n"                                                                                            \
  "    %t = call @filter %rest : @List; %q = fmod %x, %3; %p = eq %q, %0\n"                        \
  "    %s = if %p () { %c = construct %x, %t {ctor=1} : @List; yield %c } () { yield %t } : "      \
  "@List\n"                                                                                        \
  "    yield %s\n"                                                                                 \
  "  } : @List\n"                                                                                  \
  "  return %r\n"                                                                                  \
  "}\n"

static const char shared[] = LIST UPTO SUM MAP FILTER
    "graph @main(%n: i64[]) -> i64[] {\n"
    "  %l = call @upto %n : @List; %a = call @map %l : @List; %b = call @map %a : @List\n"
    "  %c = call @filter %b : @List; %s = call @sum %c : i64[]; %t = call @sum %l : i64[]\n"
    "  %r = sub %s, %t\n"
    "  return %r\n"
    "}\n";

/* A thousand lists, one after the other. */
static const char looped[] = LIST UPTO SUM MAP FILTER
    "graph @main(%n: i64[]) -> i64[] {\n"
    "  %0 = const 0 : i64[]; %k = const 1000 : i64[]; %on = const 1 : bool[]\n"
    "  %r = loop %k, %0 (%i: i64[], %all: i64[]) {\n"
    "    %l = call @upto %n : @List; %a = call @map %l : @List; %c = call @filter %a : @List\n"
    "    %s = call @sum %c : i64[]; %t = add %all, %s; yield %on, %t\n"
    "  } : i64[]\n"
    "  return %r\n"
    "}\n";

/* A search tree of the numbers (k * 7919) mod 10007, and the sum of the depths of its nodes; floats
 * and bools are fields, too. */
static const char tree[] =
    "data @Tree { Leaf, Node(@Tree, i64[], @Tree, f32[], bool[]) }\n"
    "graph @insert(%t: @Tree, %k: i64[]) -> @Tree {\n"
    "  %f = cast %k : f32[]; %0 = const 0 : i64[]; %b = lt %k, %0\n"
    "  %r = switch %t () {\n"
    "    %e = construct {ctor=0} : @Tree; %n = construct %e, %k, %e, %f, %b {ctor=1} : @Tree\n"
    "    yield %n\n"
    "  } (%l: @Tree, %x: i64[], %g: @Tree, %y: f32[], %z: bool[]) {\n"
    "    %c = lt %k, %x\n"
    "    %m = if %c () {\n"
    "      %u = call @insert %l, %k : @Tree\n"
    "      %v = construct %u, %x, %g, %y, %z {ctor=1} : @Tree; yield %v\n"
    "    } () {\n"
    "      %u = call @insert %g, %k : @Tree\n"
    "      %v = construct %l, %x, %u, %y, %z {ctor=1} : @Tree; yield %v\n"
    "    } : @Tree\n"
    "    yield %m\n"
    "  } : @Tree\n"
    "  return %r\n"
    "}\n"
    "graph @depth(%t: @Tree, %d: i64[]) -> i64[] {\n"
    "  %r = switch %t () { %0 = const 0 : i64[]; yield %0 } "
    "(%l: @Tree, %x: i64[], %g: @Tree, %y: f32[], %z: bool[]) {\n"
    "    %1 = const 1 : i64[]; %e = add %d, %1\n"
    "    %a = call @depth %l, %e : i64[]; %b = call @depth %g, %e : i64[]\n"
    "    %i = cast %y : i64[]; %j = cast %z : i64[]; %k = sub %i, %x; %m = add %k, %j\n"
    "    %s = add %a, %b; %u = add %s, %d; %v = add %u, %m; yield %v\n"
    "  } : i64[]\n"
    "  return %r\n"
    "}\n"
    "graph @main(%n: i64[]) -> i64[] {\n"
    "  %e = construct {ctor=0} : @Tree; %on = const 1 : bool[]; %0 = const 0 : i64[]\n"
    "  %p = const 7919 : i64[]; %q = const 10007 : i64[]\n"
    "  %t = loop %n, %e (%i: i64[], %v: @Tree) {\n"
    "    %a = mul %i, %p; %k = fmod %a, %q; %w = call @insert %v, %k : @Tree; yield %on, %w\n"
    "  } : @Tree\n"
    "  %r = call @depth %t, %0 : i64[]\n"
    "  return %r\n"
    "}\n";

/* Counts with a reference that a list of the steps is in, too. */
static const char cells[] =
    LIST SUM "graph @steps(%r: ref<i64[], @List>, %n: i64[]) -> i64[] {\n"
             "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = le %n, %0\n"
             "  %s = if %z () { %a, %l = ref_get %r; %b = call @sum %l : i64[]; %c = add %a, %b\n"
             "    yield %c } () {\n"
             "    %a, %l = ref_get %r; %b = add %a, %1; %d = construct %n, %l {ctor=1} : @List\n"
             "    ref_set %r, %b, %d; %m = sub %n, %1; %e = call @steps %r, %m : i64[]; yield %e\n"
             "  } : i64[]\n"
             "  return %s\n"
             "}\n"
             "graph @main(%n: i64[]) -> i64[] {\n"
             "  %0 = const 0 : i64[]; %e = construct {ctor=0} : @List\n"
             "  %r = ref_new %0, %e : ref<i64[], @List>\n"
             "  %s = call @steps %r, %n : i64[]\n"
             "  return %s\n"
             "}\n";

/* Fields and contents of references that are tensors: their memory is reused, too. */
static const char rows_text[] =
    "data @Rows { End, Row(@Rows, f32[5], i64[]) }\n"
    "graph @rows(%n: i64[]) -> @Rows {\n"
    "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = le %n, %0\n"
    "  %r = if %z () { %e = construct {ctor=0} : @Rows; yield %e } () {\n"
    "    %m = sub %n, %1; %t = call @rows %m : @Rows; %f = cast %n : f32[]\n"
    "    %b = const 1 : f32[5]; %v = mul %b, %f; %c = construct %t, %v, %n {ctor=1} : @Rows\n"
    "    yield %c\n"
    "  } : @Rows\n"
    "  return %r\n"
    "}\n"
    "graph @twice(%l: @Rows) -> @Rows {\n"
    "  %r = switch %l () { yield %l } (%t: @Rows, %v: f32[5], %k: i64[]) {\n"
    "    %u = call @twice %t : @Rows; %w = add %v, %v\n"
    "    %c = construct %u, %w, %k {ctor=1} : @Rows; yield %c\n"
    "  } : @Rows\n"
    "  return %r\n"
    "}\n"
    "graph @total(%l: @Rows, %a: f32[5]) -> f32[5] {\n"
    "  %r = switch %l () { yield %a } (%t: @Rows, %v: f32[5], %k: i64[]) {\n"
    "    %b = add %a, %v; %s = call @total %t, %b : f32[5]; yield %s\n"
    "  } : f32[5]\n"
    "  return %r\n"
    "}\n"
    "graph @main(%n: i64[]) -> i64[] {\n"
    "  %z = const 0 : f32[5]; %l = call @rows %n : @Rows; %m = call @twice %l : @Rows\n"
    "  %r = ref_new %z, %m : ref<f32[5], @Rows>; %x, %y = ref_get %r\n"
    "  %t = call @total %y, %x : f32[5]; ref_set %r, %t, %l; %u, %v = ref_get %r\n"
    "  %w = call @total %v, %u : f32[5]; %s = reduce_sum %w {axes=[0], keepdims=false}; %i = cast "
    "%s : i64[]\n"
    "  return %i\n"
    "}\n";

static int64_t shared_want(int64_t n)
{
  int64_t s = 0;
  for (int64_t i = 1; i <= n; i++) s += (4 * i % 3 ? 0 : 4 * i) - i;
  return s;
}

static int64_t looped_want(int64_t n)
{
  int64_t s = 0;
  for (int64_t i = 1; i <= n; i++) s += 2 * i % 3 ? 0 : 2 * i;
  return 1000 * s;
}

static int64_t tree_want(int64_t n)
{
  static int64_t key[10007], left[10007], right[10007];
  int64_t s = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = 0, d = 0;
    key[i] = i * 7919 % 10007, left[i] = right[i] = 0;
    while (i) {
      int64_t *next = key[i] < key[at] ? &left[at] : &right[at];
      d++;
      if (!*next) {
        *next = i;
        break;
      }
      at = *next;
    }
    s += d;
  }
  return s;
}

static int64_t rows_want(int64_t n) { return 15 * n * (n + 1) / 2; }

static int64_t cells_want(int64_t n) { return n + n * (n + 1) / 2; }

static wick_code compiled(const char *text, uint64_t heap, uint32_t nrun, const int64_t *n,
                          int64_t *out)
{
  wick_context *c;
  wick_model *m;
  wick_compiled *k;
  wick_session *s;
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  wick_session_options so = {.size = sizeof so, .heap_bytes = heap};
  ok(wick_context_create(NULL, &c));
  ok(wick_load_bytes(c, "t", text, strlen(text), &m));
  ok(wick_compile(m, &o, &k));
  ok(wick_session_create(k, &so, &s));
  wick_code code = 0;
  for (uint32_t i = 0; i < nrun; i++) {
    wick_error *e = wick_run(s, (const void *[]){&n[i]}, (void *[]){&out[i]});
    code = e ? wick_error_code(e) : 0;
    wick_error_free(e);
  }
  wick_session_free(s), wick_compiled_free(k), wick_model_free(m), wick_context_free(c);
  return code;
}

static const struct {
  const char *text;
  int64_t (*want)(int64_t n);
} rows[] = {{shared, shared_want},
            {looped, looped_want},
            {tree, tree_want},
            {cells, cells_want},
            {rows_text, rows_want}};

/* The heap is so small that nothing may be left behind in the loops. */
static void programs_compute(void **state)
{
  (void)state;
  static const int64_t n[] = {0, 1, 2, 10, 500, 1000};
  for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    int64_t out[sizeof n / sizeof *n];
    assert_int_equal(compiled(rows[r].text, 1 << 17, sizeof n / sizeof *n, n, out), WICK_OK);
    for (uint32_t i = 0; i < sizeof n / sizeof *n; i++)
      assert_int_equal(out[i], rows[r].want(n[i]));
  }
}

static void deep_programs_run(void **state)
{
  (void)state;
  int64_t n = 1000000, out;
  assert_int_equal(compiled(shared, 0, 1, &n, &out), WICK_OK);
  assert_int_equal(out, shared_want(n));
  n = 10007;
  assert_int_equal(compiled(tree, 0, 1, &n, &out), WICK_OK);
  assert_int_equal(out, tree_want(n));
}

/* After a failure the next run begins with an empty heap. */
static void too_much_is_a_failure(void **state)
{
  (void)state;
  int64_t n[] = {100000, 10, 1000000000}, out[3];
  assert_int_equal(compiled(shared, 1 << 16, 1, n, out), WICK_ELIMIT);
  assert_int_equal(compiled(shared, 1 << 16, 2, n, out), WICK_OK);
  assert_int_equal(out[1], shared_want(10));
  assert_int_equal(compiled(shared, 0, 1, n + 2, out), WICK_ELIMIT);
}

static void many_runs_are_flat(void **state)
{
  (void)state;
  enum { RUNS = 1000000 };
  int64_t *n = malloc(RUNS * sizeof *n), *out = malloc(RUNS * sizeof *out);
  for (int i = 0; i < RUNS; i++) n[i] = i % 5;
  assert_int_equal(compiled(shared, 1 << 16, RUNS, n, out), WICK_OK);
  for (int i = 0; i < RUNS; i++) assert_int_equal(out[i], shared_want(i % 5));
  free(n), free(out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_compute),
      cmocka_unit_test(deep_programs_run),
      cmocka_unit_test(too_much_is_a_failure),
      cmocka_unit_test(many_runs_are_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
