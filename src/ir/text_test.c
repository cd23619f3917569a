/* Printer and parser: printed text parses back to the same module, at all levels, and errors
 * name their location. Also tests the examples of docs/text.md. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/torture.h"
#include "ir/build.h"
#include "ir/text.h"
#include "ir/verify.h"

typedef struct text_fixture {
  wick_guard guard;
  wick_arena tmp;
  wick_module *m;
} text_fixture;

static void text_begin(text_fixture *t)
{
  *t = (text_fixture){.guard = {.allocator = wick_allocator_malloc()}};
  t->tmp = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
}

static void text_end(text_fixture *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->tmp);
}

static const char *text_of(text_fixture *t, unsigned flags)
{
  wick_text out = wick_text_begin(&t->tmp);
  wick_print_module(t->m, flags, &out);
  return out.at;
}

/* Parses `text` and prints the module, or the errors, to a text that the caller frees. */
static char *text_through(const char *file, const char *text, size_t n)
{
  text_fixture t;
  text_begin(&t);
  wick_status s = wick_parse_module(t.m, file, text, n, &t.tmp);
  char *out = strdup(s ? s->message : text_of(&t, WICK_PRINT_ALL));
  text_end(&t);
  return out;
}

static void text_expect(const char *in, const char *want)
{
  char *got = text_through("t", in, strlen(in));
  if (strcmp(got, want) != 0) print_error("in:\n%s\ngot:\n%s\nwanted:\n%s\n", in, got, want);
  assert_string_equal(got, want);
  free(got);
}

/* ---- layout ---- */

/* Text to parse and the printed text; NULL: the same. */
static const struct {
  const char *in, *out;
} text_rows[] = {
    {"", NULL},
    {"module \"a \\\"b\\\" \\x01\"\nmetadata \"labels\" = \"one\\ntwo\"\n", NULL},
    /* constants */
    {"constant @a : f32[2] = [0.1, -inf]\n", NULL},
    {"constant @\"a b\" : u8[17] = hex \"000102030405060708090a0b0c0d0e0f10\"\n", NULL},
    {"constant @a : i4[3] = [-8,7, 0]", "constant @a : i4[3] = [-8, 7, 0]\n"},
    {"constant @a : bool[] = [true]", "constant @a : bool[] = [1]\n"},
    {"constant @a : c64[1] = hex \"0000803f00000040\"\n", NULL},
    {"constant @a : f32[0] = []\n", NULL},
    {"constant @a : f32[1000000,1000000]\n", NULL},
    /* types */
    {"graph @f(%x: tuple<f32[4],tuple<>,tuple<bool[]>>) {\n  return\n}\n", NULL},
    {"loop @f(@in %x: f32, @inout %y: bf16x8, @out %z: buffer<i4[2,3:8,1],scratch>) {\n  "
     "return\n}\n",
     NULL},
    {"loop @f(@in %x: f32x1, @in %y: buffer<f32[2,3:3,1],io>) { return }",
     "loop @f(@in %x: f32, @in %y: buffer<f32[2,3],io>) {\n  return\n}\n"},
    /* dimensions */
    {"graph @f(%x: f32[N[1..64],\"a b\"[0..]], %y: f32[N,\"a b\"]) {\n  return\n}\n", NULL},
    {"graph @f(%x: f32[N[1..64]], %y: f32[N[1..8]], %z: f32[N], %u: f32[N[1..64]]) {\n  "
     "return\n}\n",
     NULL},
    {"graph @f(%x: f32[(N[1..64] + 15) floordiv 16 * 16, -3 + N*2*M[1..9], 2*(3+4)]) { return }",
     "graph @f(%x: f32[16*floordiv(N[1..64] + 15, 16),2*M[1..9]*N - 3,14]) {\n  return\n}\n"},
    {"graph @f(%x: f32[min(N[1..64], 8, M[1..9]),max(mod(N, 3), M)]) {\n  return\n}\n",
     "graph @f(%x: f32[min(M[1..9], N[1..64], 8),max(M, mod(N, 3))]) {\n  return\n}\n"},
    /* names */
    {"graph @f(%\"a b\": f32[], %p1: f32[], %7: f32[], %p2: f32[]) -> f32[] {\n  %0 = neg %p1 : "
     "f32[]\n  return %0\n}\n",
     NULL},
    {"graph @f(%p0: f32[] as \"p0\", %y: f32[] as gone \"y\", %z: f32[] as gone \"z\") {\n  "
     "return\n}\n",
     NULL},
    {"graph @f(%x: f32[], %x.1: f32[] as \"x\") {\n  return\n}\n", NULL},
    {"graph @f(%1: f32[]) -> f32[] { %a = neg %1; %b = neg %a; return %b }",
     "graph @f(%1: f32[]) -> f32[] {\n  %0 = neg %1 : f32[]\n  %2 = neg %0 : f32[]\n  return "
     "%2\n}\n"},
    {"graph @f(%x: f32[]) -> f32[] {\n  %0 = neg %x : f32[] as gone \"t\" loc(\"n: "
     "\\\"a\\\"\")\n  return %0 loc(\"end\")\n}\n",
     NULL},
    /* nodes */
    {"graph @f() -> (f32[2], i64[], bool[]) {\n  %0 = const 0x7fc00001 : f32[2]\n  %1 = const -5 "
     ": i64[]\n  %2 = const 1 : bool[]\n  return %0, %1, %2\n}\n",
     NULL},
    {"graph @f(%x: f32[]) -> tuple<> { %0 = tuple\n %1 = neg %x\n return %0 }",
     "graph @f(%x: f32[]) -> tuple<> {\n  %0 = tuple : tuple<>\n  return %0\n}\n"},
    {"graph @f(%x: f32[]) -> f32[] { # a comment\n // another\n %0 = call @g %x : f32[]; return %0 "
     "} graph @g(%x: f32[]) -> f32[] { %0 = call @f %x : f32[]; return %0 }",
     "graph @f(%x: f32[]) -> f32[] {\n  %0 = call @g %x : f32[]\n  return %0\n}\ngraph @g(%x: "
     "f32[]) -> f32[] {\n  %0 = call @f %x : f32[]\n  return %0\n}\n"},
    {"group @g(%x: f32[N[1..9],4]) -> f32[N] {\n  %0 = map {name=\"m\", axes=[n:N]} () {\n    %1 = "
     "const 0 : f32\n    %2 = index {expr=[n]} : i64\n    %3 = read %x, %2, %1 {index=[n + 1, "
     "any], guard=true} : f32\n    yield %3\n  } : f32[N]\n  return %0\n} schedule \"split n "
     "a:2\\norder a\" contract \"exact\"\n",
     NULL},
};

static void test_layout(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof text_rows / sizeof *text_rows; i++) {
    const char *want = text_rows[i].out ? text_rows[i].out : text_rows[i].in;
    text_expect(text_rows[i].in, want);
    text_expect(want, want);
  }
}

/* Flags omit parts. Without names, parameters are numbered. */
static void test_flags(void **state)
{
  (void)state;
  static const char in[] =
      "constant @c : f32[1] = [1]\ngraph @f(%x: f32[]) -> f32[] { %0 = neg %x : "
      "f32[] as \"t\" loc(\"l\"); return %0 }";
  text_fixture t;
  text_begin(&t);
  wick_status s = wick_parse_module(t.m, "t", in, sizeof in - 1, &t.tmp);
  assert_null(s);
  assert_string_equal(text_of(&t, 0),
                      "constant @c : f32[1]\ngraph @f(%p0: f32[]) -> f32[] {\n  %0 = "
                      "neg %p0 : f32[]\n  return %0\n}\n");
  text_end(&t);
}

/* ---- errors ---- */

static const struct {
  const char *in, *want;
} text_problems[] = {
    {"graph @f() {", "t:1:7: the body of @f does not end: a } is missing"},
    {"graph @f() { return }\ngraph @f() { return }", "t:2:7: @f is defined already"},
    {"graph f() { return }", "t:1:7: `f`, expected @ and the function's name"},
    {"constant @a : f32[2] = [1]", "t:1:24: 1 numbers, the type has 2"},
    {"constant @a : f32[2] = hex \"00\"", "t:1:28: 2 hexadecimal digits, the type has 8 bytes"},
    {"constant @a : f32[] = [x]", "t:1:24: `x`, expected a number"},
    {"constant @a : f32[99999999999,99999999999,9] = []",
     "t:1:10: data of a constant needs a tensor type of fixed size"},
    {"constant @a : f32[N]",
     "t:1:19: the symbol N has no range: write N[LO..HI] where it first occurs"},
    {"constant @a : f33[1]", "t:1:15: \"f33\" is not a type"},
    {"constant @a : f32[-1]", "t:1:19: a dimension is negative"},
    {"constant @a : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "t:1:51: more than 16 dimensions"},
    {"constant @a : f32[4611686018427387904*4]",
     "t:1:19: the dimension overflows, divides by 0, or is too large"},
    {"constant @a : f32[99999999999999999999]", "t:1:19: the integer does not fit in 64 bits"},
    {"constant @a : f32[3 floordiv 0]",
     "t:1:19: the dimension overflows, divides by 0, or is too large"},
    {"constant @a : f32[N[3..2]]", "t:1:19: the range of N is empty"},
    {"constant @a : f32x4[2]", "t:1:15: the elements of a tensor are no vectors"},
    {"metadata \"a\" = \"b", "t:1:16: the string does not end on its line"},
    {"metadata \"a\" = \"\\q\"", "t:1:16: a wrong escape, or a zero byte, in a string"},
    {"graph @f(%x: f32[]) -> f32[] { %0 = nope %x : f32[]; return %0 }",
     "t:1:37: there is no operator \"nope\""},
    {"graph @f(%x: f32[4]) -> f32[4] { %0 = add %x, %x : f32[5]; return %0 }",
     "t:1:39: add: result is f32[4], but the text declares f32[5]"},
    {"graph @f(%x: f32[4], %y: f32[3]) -> f32[4] { %0 = add %x, %y : f32[4]; return %0 }",
     "t:1:51: add: shapes do not broadcast: f32[4] and f32[3]"},
    {"graph @f(%x: f32[4]) -> f32[4] {\n  %0 = add %x, %y\n  return %0\n}",
     "t:2:16: %y is not defined here"},
    {"graph @f(%x: f32[4]) -> f32[4] { %x = neg %x; return %x }", "t:1:34: %x is defined already"},
    {"graph @f(%x: f32[4]) -> f32[4] { %0, %1 = neg %x; return %0 }",
     "t:1:43: neg: 1 results, the text names 2"},
    {"graph @f(%x: f32[4]) -> f32[3] { return %x }",
     "t:1:34: return: value is f32[4], but the text declares f32[3]"},
    {"graph @f(%x: f32[4]) { return %x }", "t:1:24: return: 1 values, but the function declares 0"},
    {"graph @f(%x: f32[4]) -> f32[4] { %0 = neg %x {a=1}; return %0 }",
     "t:1:47: neg has no attribute \"a\""},
    {"graph @f(%x: f32[4]) -> f32[4] { %0 = neg 5 %x; return %0 }",
     "t:1:43: `5`, expected an operand"},
    {"graph @f() -> f32[] { %0 = const @c : f32[]; return %0 }", "t:1:34: there is no constant @c"},
    {"graph @f() -> u8[] { %0 = const 300 : u8[]; return %0 }", "t:1:27: 300 is outside of u8"},
    {"graph @f() -> f32[] { %0 = const 1; return %0 }",
     "t:1:28: a number needs its type: `: f32[]`"},
    {"graph @f() { }", "t:1:14: the function does not end in return"},
    {"graph @f(%x: f32[]) { return\n %0 = neg %x }", "t:2:2: nodes after the end of the region"},
    {"graph @f(%c: bool[]) { if %c () { } () { yield }; return }",
     "t:1:35: the region does not end in yield"},
    {"graph @f(%c: bool[]) { if %c () { return } () { yield }; return }",
     "t:1:35: a region ends in yield"},
    {"graph @f(%c: bool[]) { if %c () { yield } () { yield } () { yield }; return }",
     "t:1:56: if takes 2 regions"},
    {"graph @f(%c: bool[], %x: f32[]) -> f32[] { %0 = if %c () { %1 = neg %x; yield %1 } () { "
     "yield "
     "%1 }; return %0 }",
     "t:1:95: %1 is not defined here"},
    {"low @f(@in %x: buffer<f32[],io>) -> buffer<f32[],io> { return %x }",
     "t:1:5: @f: low and loop functions return scalars"},
    {"low @f(@in %x: f32[]) { %0 = relu %x : f32[]; return }",
     "t:1:30: relu: relu does not belong to this level"},
    /* text after an error is still parsed, and errors that follow from it are not reported */
    {"graph @f(%x: f32[4]) -> f32[4] {\n  %0 = neg %x, %x\n  %1 = neg %0\n  %2 = neg %z\n  return "
     "%1\n}\ngraph @g(%x: f32[4]) -> f32[] {\n  %0 = nope %x {a=[1, {b}]} : f32[4]\n  return "
     "%x\n}\nconstant @d = 1\n",
     "t:11:13: `=`, expected `:` and a type\nt:2:8: neg: neg takes 1 to 1 operands, 2 are "
     "given\nt:4:12: %z is not defined here\nt:8:8: there is no operator \"nope\"\nt:9:3: return: "
     "value is f32[4], but the text declares f32[]"},
};

static void test_problems(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof text_problems / sizeof *text_problems; i++)
    text_expect(text_problems[i].in, text_problems[i].want);
}

/* At most twenty errors are reported. A text with errors adds nothing to the module. */
static void test_many_problems(void **state)
{
  (void)state;
  text_fixture t;
  text_begin(&t);
  wick_text in = wick_text_begin(&t.tmp);
  wick_text_add(&in, "graph @g() { return }\n");
  for (int i = 0; i < 1000; i++) wick_text_printf(&in, "graph @f%d() {\n  nope\n  nope\n}\n", i);
  wick_status s = wick_parse_module(t.m, "t", in.at, in.n, &t.tmp);
  assert_non_null(s);
  unsigned nline = 1;
  for (const char *c = s->message; *c; c++) nline += *c == '\n';
  assert_int_equal(nline, 20);
  assert_int_equal(t.m->funcs.n, 0);
  text_end(&t);
}

static void text_add_times(wick_text *out, const char *s, int n)
{
  while (n-- > 0) wick_text_add(out, s);
}

/* Nesting is limited by a constant, not by the stack: each of these texts gives an error. */
static void test_depth(void **state)
{
  (void)state;
  static const struct {
    const char *head, *in, *middle, *out, *tail, *want;
  } rows[] = {
      {"graph @f(%c: bool[]) {", " if %c () {", "yield", "} () {yield}; yield", "; return }",
       "t:1:2224: regions are nested deeper than 200"},
      {"constant @a : f32[", "(", "1", ")", "]", "t:1:119: dimensions are nested deeper than 100"},
      {"constant @a : f32[", "min(1, ", "1", ")", "]",
       "t:1:719: dimensions are nested deeper than 100"},
      {"constant @a : f32[", "-", "1", "", "]", NULL},
      {"constant @a : ", "tuple<", "f32", ">", "", "t:1:621: types are nested deeper than 100"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    text_fixture t;
    text_begin(&t);
    wick_text in = wick_text_begin(&t.tmp);
    wick_text_add(&in, rows[i].head);
    text_add_times(&in, rows[i].in, 100000);
    wick_text_add(&in, rows[i].middle);
    text_add_times(&in, rows[i].out, 100000);
    wick_text_add(&in, rows[i].tail);
    wick_status s = wick_parse_module(t.m, "t", in.at, in.n, &t.tmp);
    if (!rows[i].want) {
      assert_null(s);
    } else {
      assert_non_null(s);
      if (strncmp(s->message, rows[i].want, strlen(rows[i].want)) != 0)
        print_error("%s\n", s->message);
      assert_memory_equal(s->message, rows[i].want, strlen(rows[i].want));
    }
    text_end(&t);
  }
}

/* Each allocation fails once: creating, parsing and printing must unwind and leak nothing. */
static const char *text_torture(text_fixture *t, const char *in)
{
  if (setjmp(t->guard.where)) return NULL;
  t->m = wick_module_create(&t->guard, "");
  wick_status s = wick_parse_module(t->m, "t", in, strlen(in), &t->tmp);
  return s ? s->message : text_of(t, WICK_PRINT_ALL);
}

static void test_out_of_memory(void **state)
{
  (void)state;
  static const char in[] = "constant @c : i64[3] = [1, 2, 3]\n"
                           "graph @f(%c: bool[], %x: f32[N[1..64],4]) -> f32[N,4] {\n"
                           "  %0 = if %c () {\n"
                           "    %1 = neg %x : f32[N,4] as \"t\" loc(\"l\")\n"
                           "    yield %1\n"
                           "  } () {\n"
                           "    yield %x\n"
                           "  } : f32[N,4]\n"
                           "  return %0\n"
                           "}\n";
  for (uint64_t n = 1;; n++) {
    wick_torture torture = {.fail_at = n};
    text_fixture t = {.guard = {.allocator = wick_torture_allocator(&torture)}};
    t.tmp = wick_arena_make(&t.guard);
    const char *got = text_torture(&t, in);
    if (got) assert_string_equal(got, in);
    text_end(&t);
    assert_int_equal(torture.live, 0);
    if (got) break;
    assert_true(n < 1000);
  }
}

/* ---- docs/text.md ---- */

static bool text_block_begins(const char *line)
{
  static const char *const word[] = {"graph @", "group @",    "low @",    "loop @",
                                     "data @",  "constant @", "module \""};
  for (size_t i = 0; i < sizeof word / sizeof *word; i++)
    if (strncmp(line, word[i], strlen(word[i])) == 0) return true;
  return false;
}

static unsigned text_block(const char *name, unsigned line, const char *block)
{
  char where[64];
  snprintf(where, sizeof where, "%s:%u", name, line);
  char *once = text_through(where, block, strlen(block));
  if (strncmp(once, where, strlen(where)) == 0) fail_msg("%s", once);
  char *twice = text_through(where, once, strlen(once));
  assert_string_equal(once, twice);
  free(once);
  free(twice);
  return 1;
}

static void test_document(void **state)
{
  (void)state;
  static const char name[] = "docs/text.md";
  FILE *f = fopen(name, "r");
  if (!f) fail_msg("%s is not there: run from the root of the repository", name);
  char line[512], block[16384] = "";
  unsigned nblock = 0, at = 0, begun = 0;
  while (fgets(line, sizeof line, f)) {
    at++;
    bool inside = strncmp(line, "    ", 4) == 0;
    if (inside && (*block || text_block_begins(line + 4))) {
      if (!*block) begun = at;
      strncat(block, line + 4, sizeof block - strlen(block) - 1);
    } else if (*block) {
      nblock += text_block(name, begun, block);
      *block = 0;
    }
  }
  if (*block) nblock += text_block(name, begun, block);
  fclose(f);
  assert_true(nblock >= 5);
}

/* The seeds of the fuzzer are valid texts. */
static void test_seeds(void **state)
{
  (void)state;
  glob_t g;
  assert_int_equal(glob("tests/fuzz/text/*.wick", 0, NULL, &g), 0);
  for (size_t i = 0; i < g.gl_pathc; i++) {
    char block[16384] = "";
    FILE *f = fopen(g.gl_pathv[i], "r");
    assert_non_null(f);
    block[fread(block, 1, sizeof block - 1, f)] = 0;
    fclose(f);
    text_block(g.gl_pathv[i], 1, block);
  }
  globfree(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layout),   cmocka_unit_test(test_flags),
      cmocka_unit_test(test_problems), cmocka_unit_test(test_many_problems),
      cmocka_unit_test(test_depth),    cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_document), cmocka_unit_test(test_seeds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
