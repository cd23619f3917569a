/* Tests of the parser by the formatter: what is read is printed in canonical form. */
#include "base/arena_testing.h"

#include <string.h>

#include "base/file.h"
#include "base/torture.h"
#include "lang/format.h"

/* Returns the canonical form, or the problems. */
static const char *format(const char *text)
{
  wick_lang_sources s = wick_lang_sources_begin(&mem);
  wick_names names = wick_names_begin(&mem);
  uint32_t source = wick_lang_source_add(&s, "t", text, (uint32_t)strlen(text));
  wick_lang_tokens tokens = wick_lang_lex(&s, source, &names, &mem);
  wick_ast *file = wick_lang_parse(&s, source, &tokens, &names, &mem);
  wick_status bad = wick_lang_problems(&s);
  if (bad) return bad->message;
  wick_text out = wick_text_begin(&mem);
  wick_lang_format(&s.list.at[source], &tokens, file, &out);
  return out.at;
}

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
static const struct {
  const char *in, *out; /* NULL: the same */
} rows[] = {
    {"use nn\nuse b as c { d, E as F }\n", NULL},
    {"", NULL},
    {"// only this", "// only this\n"},
    {"// one\n\n\n// two\nfn f() {} // three\n// four",
     "// one\n\n// two\nfn f() {} // three\n// four\n"},
    {"type T[a,...s]{A(a,f32[...s]),B}", "type T[a, ...s] { A(a, f32[...s]), B }\n"},
    {"type T {\n  A, // first\n  // second\n  B,\n}\n", NULL},
    {"struct S[n] { x: f32[n], y: (i64, fn(f32) -> Ref[T[i64, 2 * n]]) }\n", NULL},
    {"fn f(x){x}\nfn g(x){x}\n", "fn f(x) { x }\nfn g(x) { x }\n"},
    {"fn f(x: f32[n, ?, 2*n+1], static k:i64) -> (f32,) { let y=x;y }",
     "fn f(x: f32[n, ?, 2 * n + 1], static k: i64) -> (f32,) {\n  let y = x\n  y\n}\n"},
    {"fn f() { a + b*c - (d - e) - (-f)**2 }", "fn f() { a + b * c - (d - e) - (-f)**2 }\n"},
    {"fn f() { (a+b)*c**-d**e @ g || !(h && i) == j }",
     "fn f() { (a + b) * c**-d**e @ g || !(h && i) == j }\n"},
    {"fn f() {\n  g(x)\n  (a, b)\n  [c]\n  -d\n  + e\n  .h\n}\n",
     "fn f() {\n  g(x)\n  (a, b)\n  [c]\n  -d + e.h\n}\n"},
    {"fn f() { if a { b } else if c { d } else { e } }\n", NULL},
    {"fn f() { if a { let b = 1; b } else { c } }",
     "fn f() {\n  if a {\n    let b = 1\n    b\n  } else {\n    c\n  }\n}\n"},
    {"fn f() { match a { 0 => b\n -1 => c, (_, N(x, y = z)) => m.C(1) \n true => { let d = 2 } } }",
     "fn f() {\n  match a {\n    0 => b,\n    -1 => c,\n    (_, N(x, y = z)) => m.C(1),\n"
     "    true => {\n      let d = 2\n    },\n  }\n}\n"},
    {"fn f() { for i in 0..n with (a, b) = (1, 2.5e-3) { (b, a) } }\n", NULL},
    {"fn f() { while a < 3 with a = 0xff_u8 { a + 1i32 } }",
     "fn f() { while a < 3 with a = 0xff_u8 { a + 1i32 } }\n"},
    {"fn f() { x[i, :, 1:, :2, 1:2:3] with [0] = y with .a = z }\n", NULL},
    {"fn f() { (x: f32[?]).0.b(c = d)(fn(e: i64) -> i64 { e }) }\n", NULL},
    {"fn f() { [[1, 2], [3, 4]] }\n", NULL},
    {"op m(a: f32[m, k], x: f32[k]) { y[i] = sum(j) a[i, j] * x[j] }\n", NULL},
    {"fn f() { g(" LONG ", " LONG ") }", "fn f() {\n  g(\n    " LONG ",\n    " LONG ",\n  )\n}\n"},
    {"fn f() { g(x, fn(y) { let z = y; z }) }",
     "fn f() {\n  g(x, fn(y) {\n    let z = y\n    z\n  })\n}\n"},
    {"fn f() { g(a, // why\n b) }", "fn f() {\n  g(\n    a, // why\n    b,\n  )\n}\n"},
    {"fn f() { \"a\\n\\x41\" }\n", NULL},
    /* mistakes */
    {"fn f(x { x }\nfn g() { 3 4 }\n",
     "t:1:8: error: expected `,` or `)`, found `{`\n    1 | fn f(x { x }\n      |        ^\n"
     "t:2:12: error: expected an operator, or the end of the line, found `4`\n    2 | fn g() { 3 4 "
     "}\n      |            ^"},
    {"fn f() { let if = 3 }",
     "t:1:14: error: expected a pattern, found the keyword `if`\n    1 | fn f() { let if = 3 }\n"
     "      |              ^^"},
    {"fn f() {\n  a\nfn g() { b }",
     "t:3:1: error: expected `}`, found `fn`\n    3 | fn g() { b }\n      | ^^\n"
     "t:1:8: note: this `{` has no end\n    1 | fn f() {\n      |        ^"},
    {"fn f() { a < b < c }", "t:1:10: error: comparisons do not chain; write `a < b && b < c`\n    "
                             "1 | fn f() { a < b < c }\n"
                             "      |          ^^^^^"},
    {"fn f() { 18446744073709551616 }",
     "t:1:10: error: the number does not fit 64 bits\n    1 | fn f() { 18446744073709551616 }\n"
     "      |          ^^^^^^^^^^^^^^^^^^^^"},
    {"fn f() { 1.5i32 }",
     "t:1:10: error: a number with a fraction is no i32\n    1 | fn f() { 1.5i32 "
     "}\n      |          ^^^^^^"},
    {"fn f() { 1x }", "t:1:11: error: `x` is no element type of numbers\n    1 | fn f() { 1x }\n   "
                      "   |           ^"},
    {"fn f() { \"a }\n",
     "t:1:10: error: the string has no end on its line\n    1 | fn f() { \"a }\n      |          "
     "^\n"
     "t:2:1: error: expected `}`, found the end of the file"
     "\n    2 | \n      | ^\n"
     "t:1:8: note: this `{` has no end\n    1 | fn f() { \"a }\n      |        ^"},
    {"fn f() { a # b }",
     "t:1:12: error: \"#\" has no meaning here\n    1 | fn f() { a # b }\n      "
     "|            ^"},
    {"let x = 3",
     "t:1:1: error: expected `fn`, `type`, `struct`, `op` or `use`, found `let`\n    1 "
     "| let x = 3\n      | ^^^"},
    {"@onnx( \"d\",\"N\" ,a=1.5)fn f(static a,x){x}",
     "@onnx(\"d\", \"N\", a = 1.5)\nfn f(static a, x) { x }\n"},
    {"op f(x){y[i:n-1,j]=max(k:3,l)x[i+k,j]*sum(q)x[q,l]+max(i,j)}",
     "op f(x) { y[i: n - 1, j] = max(k: 3, l) x[i + k, j] * (sum(q) x[q, l]) + max(i, j) }\n"},
    {"@onnx(\"d\") fn f() { 1 }",
     "t:1:10: error: expected the domain and the name of an operator, found `)`\n    1 | "
     "@onnx(\"d\") fn f() { 1 }\n      |          ^"},
    {"fn f() { x[] }",
     "t:1:10: error: an index is missing\n    1 | fn f() { x[] }\n      |          "
     "^^^"},
};

static void test_canonical_form(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    const char *want = rows[i].out ? rows[i].out : rows[i].in, *have = format(rows[i].in);
    assert_string_equal(have, want);
    if (strncmp(have, "t:", 2) != 0) assert_string_equal(format(have), want);
  }
}

/* The examples of docs/language.md are in canonical form. */
static void test_documented_examples(void **state)
{
  (void)state;
  char *page;
  size_t nbytes;
  uint32_t nexample = 0;
  assert_null(wick_file_read(&mem, "docs/language.md", 0, &page, &nbytes));
  for (char *at = page; (at = strstr(at, "```wick\n")); nexample++) {
    at += strlen("```wick\n");
    char *end = strstr(at, "```");
    assert_non_null(end);
    const char *example = wick_str_dupn(&mem, at, (size_t)(end - at));
    assert_string_equal(format(example), example);
    at = end + 3;
  }
  assert_int_equal(nexample, 6);
}

static void test_depth_has_a_limit(void **state)
{
  (void)state;
  static const char *const unit[] = {"(",      "-",    "[",  "if a {",         "{",
                                     "fn() {", "a + ", "f(", "match a { b => "};
  for (size_t i = 0; i < WICK_COUNT(unit); i++) {
    wick_text t = wick_text_begin(&mem);
    wick_text_add(&t, "fn f() { ");
    for (int k = 0; k < 100000; k++) wick_text_add(&t, unit[i]);
    assert_non_null(strstr(format(t.at), "nested too deeply"));
  }
}

/* Cuts, swaps and repeats parts of good programs. */
static void test_mutated_programs(void **state)
{
  (void)state;
  uint64_t seed = 1;
  for (int round = 0; round < 3000; round++) {
    wick_mark mark = wick_arena_mark(&mem);
    wick_text t = wick_text_begin(&mem);
    for (int k = 0; k < 2; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const char *from = rows[(seed >> 33) % 25].in;
      size_t n = strlen(from);
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      size_t a = n ? (seed >> 33) % n : 0, b = n ? (seed >> 45) % n : 0;
      wick_text_addn(&t, from, a);
      wick_text_add(&t, from + (k ? b : a));
    }
    const char *once = format(t.at);
    if (strncmp(once, "t:", 2) != 0) assert_string_equal(format(once), once);
    wick_arena_rewind(&mem, mark);
  }
}

/* Returns the number of requests for memory, of which number n failed. */
static uint64_t format_failing(uint64_t n)
{
  wick_torture t = {.fail_at = n};
  guard = (wick_guard){.allocator = wick_torture_allocator(&t)};
  mem = wick_arena_make(&guard);
  if (!setjmp(guard.where)) (void)format(rows[12].in);
  wick_arena_free(&mem);
  assert_int_equal(t.live, 0);
  return t.calls;
}

static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  uint64_t n = 1;
  while (format_failing(n) >= n) n++;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_documented_examples, setup, teardown),
      cmocka_unit_test_setup_teardown(test_canonical_form, setup, teardown),
      cmocka_unit_test_setup_teardown(test_depth_has_a_limit, setup, teardown),
      cmocka_unit_test_setup_teardown(test_mutated_programs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
