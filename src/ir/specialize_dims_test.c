/* Specialization: types, attributes, the ranges of axes, constraints; and sizes that are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/specialize_dims.h"
#include "ir/text.h"
#include "ir/verify.h"

/* Specializes the function in `text` for these values of its sizes, in their order. Returns the
 * text or the error. */
static const char *specialize_text(const char *text, uint32_t n, const int64_t *value,
                                   wick_guard *guard, wick_arena *mem)
{
  wick_module *m = wick_module_create(guard, "");
  wick_status bad = wick_parse_module(m, "t", text, strlen(text), mem);
  if (bad) fail_msg("%s", bad->message);
  const wick_func *f = m->funcs.at[m->funcs.n - 1];
  wick_dim_list sym = wick_func_sizes(f, mem);
  wick_dim by[4];
  for (uint32_t i = 0; i < n; i++) by[i] = wick_dim_const(value[i]);
  assert_true(sym.n >= n);
  wick_func *g = NULL;
  wick_text out = wick_text_begin(mem);
  bad = wick_func_specialize_dims(f, &(wick_dim_values){n, sym.at, by}, mem, &g);
  if (!bad) bad = wick_verify_func(g, mem);
  if (bad)
    wick_text_add(&out, bad->message);
  else
    wick_print_func(g, WICK_PRINT_ALL, &out);
  wick_module_free(m);
  return out.at;
}

/* Sums over k, the second axis of %x. */
#define PIN_SUM(x, i, k)                                                                           \
  "group @g(%x: f32[" x "]) -> f32[" i "] {\n"                                                     \
  "  %0 = fold {name=\"sum\", axes=[i:" i " | k:" k "]} () {\n"                                    \
  "    %1 = const 0 : f32\n"                                                                       \
  "    yield %1\n"                                                                                 \
  "  } (%2: f32) {\n"                                                                              \
  "    %3 = const 0 : f32\n"                                                                       \
  "    %4 = read %x, %3 {index=[i, k - 1], guard=true} : f32\n"                                    \
  "    %5 = add %2, %4 : f32\n"                                                                    \
  "    yield %5\n"                                                                                 \
  "  } (%6: f32, %7: f32) {\n"                                                                     \
  "    %8 = add %6, %7 : f32\n"                                                                    \
  "    yield %8\n"                                                                                 \
  "  } (%9: f32) {\n"                                                                              \
  "    yield %9\n"                                                                                 \
  "  } : f32[" i "]\n"                                                                             \
  "  return %0\n"                                                                                  \
  "} schedule \"split sum.k ki:4\""
/* A branch that requires n = m. */
#define PIN_CHECK(x, n, m)                                                                         \
  "low @f(@in %c: buffer<bool[],io>, @in %x: buffer<f32[" x "],io>, @in %y: "                      \
  "buffer<f32[M[1..64]],io>) {\n"                                                                  \
  "  constraint " n " = " m " in branches\n"                                                       \
  "  if %c {then_equal=[" n ", " m "]} () {\n"                                                     \
  "    yield\n"                                                                                    \
  "  } () {\n"                                                                                     \
  "    yield\n"                                                                                    \
  "  }\n"                                                                                          \
  "  return\n"                                                                                     \
  "}\n"

static const struct {
  const char *in;
  uint32_t n;
  int64_t value[2];
  const char *want;
} specialize_rows[] = {
    /* the reduced axis has another range under the same schedule */
    {PIN_SUM("N[1..64],M[1..64]", "N", "M") " contract \"sum: f32 add over k:M; exact\"\n",
     2,
     {3, 5},
     PIN_SUM("3,5", "3", "5") "\n"},
    /* only some sizes are given */
    {"graph @f(%x: f32[N[1..64],M[1..64]]) -> f32[M,N] {\n"
     "  %0 = transpose %x {perm=[1,0]} : f32[M,N]\n"
     "  return %0\n"
     "}\n",
     1,
     {7, 0},
     "graph @f(%x: f32[7,M[1..64]]) -> f32[M,7] {\n"
     "  %0 = transpose %x {perm=[1,0]} : f32[M,7]\n"
     "  return %0\n"
     "}\n"},
    /* sizes in attributes; those that are not given stay symbols */
    {"graph @f(%x: f32[N[1..64],4]) -> f32[4*N] {\n"
     "  %0 = reshape %x {shape=[4*N]} : f32[4*N]\n"
     "  return %0\n"
     "}\n",
     1,
     {3, 0},
     "graph @f(%x: f32[3,4]) -> f32[12] {\n"
     "  %0 = reshape %x {shape=[12]} : f32[12]\n"
     "  return %0\n"
     "}\n"},
    /* numbers that violate a constraint */
    {"graph @f(%x: f32[N[1..64]], %y: f32[M[1..64]]) -> f32[N] {\n"
     "  constraint N = M loc(\"sum\")\n"
     "  %0 = add %x, %y : f32[N]\n"
     "  return %0\n"
     "}\n",
     2,
     {3, 4},
     "sum: sizes 3 and 4 differ"},
    /* a branch that cannot be taken keeps its pairs and fails; pairs that hold are removed;
     * nested branches */
    {"low @f(@in %c: buffer<bool[],io>, @in %x: buffer<f32[N[1..64]],io>, @in %y: "
     "buffer<f32[M[1..64]],io>, @out %z: buffer<f32[N],io>) {\n"
     "  constraint N = M in branches\n"
     "  constraint N = 3 in branches\n"
     "  if %c {then_equal=[N, 3, N, M], else_equal=[N, 3]} () {\n"
     "    free %y\n"
     "    yield\n"
     "  } () {\n"
     "    if %c {else_equal=[N, M]} () {\n"
     "      copy %z, %x\n"
     "      yield\n"
     "    } () {\n"
     "      if %c () {\n"
     "        free %y\n"
     "        yield\n"
     "      } () {\n"
     "        yield\n"
     "      }\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     2,
     {3, 4},
     "low @f(@in %c: buffer<bool[],io>, @in %x: buffer<f32[3],io>, @in %y: buffer<f32[4],io>, "
     "@out %z: buffer<f32[3],io>) {\n"
     "  if %c {then_equal=[3, 3, 3, 4]} () {\n"
     "    yield\n"
     "  } () {\n"
     "    if %c {else_equal=[3, 4]} () {\n"
     "      copy %z, %x\n"
     "      yield\n"
     "    } () {\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n"},
    /* the constraint stays while a size is unknown */
    {PIN_CHECK("N[1..64]", "N", "M"), 1, {3, 0}, PIN_CHECK("3", "3", "M")},
};

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(specialize_rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard);
    const char *got = specialize_text(specialize_rows[i].in, specialize_rows[i].n,
                                      specialize_rows[i].value, &guard, &mem);
    assert_string_equal(got, specialize_rows[i].want);
    wick_arena_free(&mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
