/* The runner of text tests: success, failures and their report, and blessing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "base/file.h"
#include "driver/pipeline.h"
#include "driver/texttest.h"

#define TEXTTEST_GRAPH "graph @f(%x: f32[]) -> f32[] { %0 = neg %x; return %0 }\n"
#define TEXTTEST_PRINTED "graph @f(%x: f32[]) -> f32[] {\n  %0 = neg %x : f32[]\n  return %0\n}\n"

static const struct {
  const char *in;
  unsigned ncase, nfail;
  const char *report;  /* NULL: not checked; or the error of the file */
  const char *blessed; /* NULL: unchanged */
} texttest_rows[] = {
    {"", 0, 0, "", NULL},
    {"# a comment\n\npass none\n", 0, 0, "", NULL},
    {"pass none\ncase \"a\"\n" TEXTTEST_GRAPH "=> same\n", 1, 0, "", NULL},
    {"pass none\ncase \"a\"\n" TEXTTEST_GRAPH "=>\n" TEXTTEST_GRAPH "\n# of the next\ncase \"b\"\n"
     "=>\nsame\n",
     2, 0, "", NULL},
    {"pass none\ncase \"a\"\nnope\n=> error: 1:1: `nope`, expected graph, group, low, loop, "
     "constant, "
     "data, metadata or module\n",
     1, 0, "", NULL},
    {"pass cse,drop_identity\ncase \"a\"\n" TEXTTEST_GRAPH "=> same", 1, 0, "", NULL},
    {"pass nope\ncase \"a\"\n" TEXTTEST_GRAPH "=> error: there is no pass \"nope\"", 1, 0, "",
     NULL},
    {"target x86-64-v2\npass cse\ncase \"a\"\n" TEXTTEST_GRAPH
     "=> same\ntarget x\ncase \"b\"\n" TEXTTEST_GRAPH "=> error: there is no target \"x\"",
     2, 0, "", NULL},
    /* failures */
    {"pass none\n\ncase \"a\"\n" TEXTTEST_GRAPH "=>\ngraph @f() { return }\n", 1, 1,
     "t:3: \"a\", pass none: different from line 1 on\n---- got\n" TEXTTEST_PRINTED
     "---- expected\ngraph @f() {\n  return\n}\n----\n",
     "pass none\n\ncase \"a\"\n" TEXTTEST_GRAPH "=> same\n"},
    {"pass none\ncase \"a\"\n" TEXTTEST_GRAPH "=>\ngrape\n", 1, 1,
     "t:2: \"a\", pass none: different from line 1 on\n---- got\n" TEXTTEST_PRINTED
     "---- expected\n(the expected text is not a module: error: 1:1: `grape`, expected graph, "
     "group, low, "
     "loop, constant, data, metadata or module)\n----\n",
     "pass none\ncase \"a\"\n" TEXTTEST_GRAPH "=> same\n"},
    {"pass drop_identity\ncase \"a\"\ngraph @f(%x: f32[]) -> f32[] { %1 = const 1 : f32[]; %2 = "
     "mul "
     "%x, %1; return %2 }\n=> same\n\n# of b\ncase \"b\"\ngrape\n=>\nsame",
     2, 2, NULL,
     "pass drop_identity\ncase \"a\"\ngraph @f(%x: f32[]) -> f32[] { %1 = const 1 : f32[]; %2 = "
     "mul "
     "%x, %1; return %2 }\n=>\ngraph @f(%x: f32[]) -> f32[] {\n  return %x\n}\n\n# of b\ncase "
     "\"b\"\ngrape\n=> error: 1:1: `grape`, expected graph, group, low, loop, constant, data, "
     "metadata "
     "or "
     "module"},
    /* files of another form */
    {"case \"a\"\n=> same\n", 0, 0, "t:1: `pass NAME` is expected", NULL},
    {"pass none\nhello\n", 0, 0, "t:2: a case or a pass is expected", NULL},
    {"pass none\ncase \"a\"\n" TEXTTEST_GRAPH, 0, 0, "t:4: the case \"a\" has no `=>`", NULL},
};

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(texttest_rows); i++) {
    wick_guard g = {.allocator = wick_allocator_malloc()};
    assert_int_equal(setjmp(g.where), 0);
    wick_arena mem = wick_arena_make(&g), tmp = wick_arena_make(&g);
    const char *in = texttest_rows[i].in, *report = texttest_rows[i].report;
    const char *blessed = texttest_rows[i].blessed ? texttest_rows[i].blessed : in;
    wick_texttest out;
    wick_status s = wick_texttest_run("t", in, strlen(in), &mem, &tmp, &out);
    if (s) {
      assert_string_equal(s->message, report);
    } else {
      if (report) assert_string_equal(out.report, report);
      assert_int_equal(out.ncase, texttest_rows[i].ncase);
      assert_int_equal(out.nfail, texttest_rows[i].nfail);
      assert_string_equal(out.blessed, blessed);
      assert_int_equal(out.nblessed, strlen(blessed));
    }
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
    assert_int_equal(g.used_bytes, 0);
  }
}

/* A file passes after it was blessed. */
static void test_blessed(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g), tmp = wick_arena_make(&g);
  for (size_t i = 0; i < WICK_COUNT(texttest_rows); i++) {
    wick_texttest first, second;
    const char *in = texttest_rows[i].in;
    if (wick_texttest_run("t", in, strlen(in), &mem, &tmp, &first)) continue;
    wick_status s = wick_texttest_run("t", first.blessed, first.nblessed, &mem, &tmp, &second);
    assert_null(s);
    assert_int_equal(second.nfail, 0);
  }
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
}

/* ---- the files themselves ---- */

typedef struct coverage { /* of one pass */
  uint32_t acts, rests;   /* cases that expect another module; that expect the same */
} coverage;

/* Adds the cases of a file to the pass that they test. */
static void cover(const char *text, coverage *of)
{
  const wick_pass *pass = NULL;
  for (const char *at = text, *next; *at; at = next) {
    next = at + strcspn(at, "\n");
    next += *next == '\n';
    char word[32], what[32] = "";
    int n = sscanf(at, "%31[a-z_=>]%*[ ]%31[a-z_0-9:]", word, what);
    if (n < 1) continue;
    if (strcmp(word, "pass") == 0) pass = wick_pass_find(what);
    if (strcmp(word, "=>") || !pass) continue;
    if (strcmp(what, "same") == 0) of[pass - wick_passes].rests++;
    if (!*what) of[pass - wick_passes].acts++;
  }
}

/* Every pass has a case in which it acts, and one in which it does not. */
static void test_every_pass(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  coverage of[128] = {{0}};
  const char *const where[] = {"src/*/*.test", "src/*/*/*.test"};
  for (uint32_t k = 0; k < WICK_COUNT(where); k++) {
    glob_t files;
    assert_int_equal(glob(where[k], 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
      char *text;
      size_t n;
      assert_null(wick_file_read(&mem, files.gl_pathv[i], 0, &text, &n));
      cover(wick_str_dupn(&mem, text, n), of);
    }
    globfree(&files);
  }
  uint32_t missing = 0;
  for (const wick_pass *p = wick_passes; p->name; p++) {
    assert_true((size_t)(p - wick_passes) < WICK_COUNT(of));
    const coverage *c = &of[p - wick_passes];
    if (c->acts && c->rests) continue;
    print_error("pass %s: %u text cases in which it acts, %u in which it must not\n", p->name,
                c->acts, c->rests);
    missing++;
  }
  assert_int_equal(missing, 0);
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_blessed),
                                     cmocka_unit_test(test_every_pass)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
