/* Reading traces: their meaning, and the error for every wrong line. */
#include "base/trace.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "base/str.h"
#include "base/torture.h"

/* "NAME/ALIGN/MEM buffer:size[first,last] ...; NAME ...", or the error. */
static const char *read_text(const char *text, size_t n)
{
  const wick_trace *t;
  uint32_t ntrace;
  wick_status s = wick_trace_read(text, n, "t", &mem, &tmp, &t, &ntrace);
  if (s) return s->message;
  wick_text out = wick_text_begin(&mem);
  for (uint32_t i = 0; i < ntrace; i++) {
    wick_text_printf(&out, "%s%s/%" PRIu64 "/%" PRIu64, i ? "; " : "", t[i].name, t[i].align_bytes,
                     t[i].mem_nbytes);
    for (uint32_t k = 0; k < t[i].nbuffer; k++) {
      const wick_plan_buffer *b = &t[i].buffer[k];
      wick_text_printf(&out, " %s:%" PRIu64 "[%" PRIu32 ",%" PRIu32 "]", b->name, b->nbytes,
                       b->first, b->last);
    }
  }
  return out.at;
}

static const struct {
  const char *text, *want;
} rows[] = {
    {"MODEL a\nALIGN 64\nALLOC 1 100\nALLOC 2 0\nFREE 1\nFREE 2\nMEM 128\nEFF 1.0\n",
     "a/64/128 1:100[0,1] 2:0[1,2]"},
    {"# c\n\n  MODEL  two words \t\r\n\tALLOC\t1  5\r\n#x\nMODEL b",
     "two words/0/0 1:5[0,0]; b/0/0"},
    {"MODEL a\nALLOC 1 5\nALLOC 2 5\nFREE 2\nALLOC 2 7", "a/0/0 1:5[0,3] 2:5[1,1] 2:7[3,3]"},
    {"MODEL a\nALLOC 007 5\nFREE 7", "a/0/0 7:5[0,0]"},
    {"MODEL a\nALLOC 0 9223372036854775807", "a/0/0 0:9223372036854775807[0,0]"},
    {"MODEL a\nALLOC 1 1\nMODEL b\nALLOC 1 1\nFREE 1", "a/0/0 1:1[0,0]; b/0/0 1:1[0,0]"},
    {"", "t: has no MODEL line"},
    {"# nothing\n", "t: has no MODEL line"},
    {"ALLOC 1 5\nFREE 1\n", "t:1: ALLOC comes before the first MODEL"},
    {"MODEL\n", "t:1: the model's name is missing"},
    {"MODEL a\nFREE 1", "t:2: buffer 1 is not live"},
    {"MODEL a\nALLOC 1 5\nFREE 1\nFREE 1", "t:4: buffer 1 is not live"},
    {"MODEL a\nALLOC 1 5\nALLOC 1 6", "t:3: buffer 1 is live already"},
    {"MODEL a\nALLOC 1", "t:2: the size is missing"},
    {"MODEL a\nALLOC", "t:2: the id is missing"},
    {"MODEL a\nALLOC 1 2 3", "t:2: \"3\" follows the last operand"},
    {"MODEL a\nALLOC x 2\nALLOC 1 -2\nFREE 1\nALLOC 2 1e3",
     "t:2: the id is \"x\", not a decimal number\nt:3: the size is \"-2\", not a decimal number\n"
     "t:5: the size is \"1e3\", not a decimal number"},
    {"MODEL a\nALLOC 1 9223372036854775808", "t:2: the size 9223372036854775808 passes 2^63 - 1"},
    {"MODEL a\nALIGN 48", "t:2: the alignment 48 is no power of two"},
    {"MODEL a\nALIGN 0\nALIGN 8",
     "t:2: the alignment 0 is no power of two\nt:3: a second ALIGN in one trace"},
    {"MODEL a\nMEM 1\nMEM 2", "t:3: a second MEM in one trace"},
    {"MODEL a\nEFF 1.2.3\nEFF .\nEFF\nEFF 1.5 x",
     "t:2: EFF is \"1.2.3\", not a decimal fraction\nt:3: EFF is \".\", not a decimal fraction\n"
     "t:4: EFF is \"\", not a decimal fraction\nt:5: \"x\" follows the last operand"},
    {"model a", "t:1: \"model\" is none of MODEL, ALIGN, ALLOC, FREE, MEM, EFF\n"
                "t: has no MODEL line"},
    {"MODEL a\n\x01\xff"
     "56789012345678901234567890123456789012345",
     "t:2: \"??56789012345678901234567890123456789012...\" is none of MODEL, ALIGN, ALLOC, FREE, "
     "MEM, EFF"},
};

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++)
    assert_string_equal(read_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
}

static void test_nul_bytes(void **state)
{
  (void)state;
  assert_string_equal(read_text("MODEL a\nALLOC 1\0 2\n", 19),
                      "t:2: the id is \"1?\", not a decimal number");
}

/* A hundred problems are listed, the others counted. */
static void test_many_errors(void **state)
{
  (void)state;
  wick_text t = wick_text_begin(&mem);
  wick_text_add(&t, "MODEL a\n");
  for (int i = 0; i < 250; i++) wick_text_add(&t, "FREE 1\n");
  const char *said = read_text(t.at, t.n);
  assert_non_null(strstr(said, "t:101: buffer 1 is not live\n(and 150 more)"));
}

/* Random bytes and truncated texts give a status or a trace, and never crash. */
static void test_any_bytes(void **state)
{
  (void)state;
  static const char text[] = "MODEL a\nALIGN 64\nALLOC 1 100\nALLOC 2 9\nFREE 1\nMEM 8\nEFF .5\n";
  uint32_t random = 1;
  for (uint32_t i = 0; i < 20000; i++) {
    char bytes[sizeof text];
    memcpy(bytes, text, sizeof text);
    size_t n = i % sizeof text;
    for (uint32_t k = 0; k < i % 4; k++) {
      random = random * 1664525u + 1013904223u;
      bytes[(random >> 8) % sizeof text] = (char)(random >> 24);
    }
    wick_mark m = wick_arena_mark(&mem);
    assert_non_null(read_text(bytes, n));
    wick_arena_rewind(&mem, m);
  }
}

static size_t long_text(char *text, size_t cap)
{
  size_t n = (size_t)snprintf(text, cap, "MODEL a\n");
  for (int i = 0; n < cap - 100; i++) {
    n += (size_t)snprintf(text + n, 60, "ALLOC %d %d\n", i, i);
    if (i % 3 == 0) n += (size_t)snprintf(text + n, 40, "FREE %d\nNONSENSE\n", i / 2);
  }
  return n;
}

static void test_out_of_memory(void **state)
{
  (void)state;
  static char text[60000];
  static size_t n; /* static, because it is read after longjmp */
  n = long_text(text, sizeof text);
  for (uint64_t fail = 1;; fail++) {
    wick_torture torture = {.fail_at = fail};
    wick_guard g = {.allocator = wick_torture_allocator(&torture)};
    wick_arena a = wick_arena_make(&g), b = wick_arena_make(&g);
    if (!setjmp(g.where)) {
      const wick_trace *t;
      uint32_t ntrace;
      assert_non_null(wick_trace_read(text, n, "t", &a, &b, &t, &ntrace));
    }
    wick_arena_free(&a);
    wick_arena_free(&b);
    assert_int_equal(torture.live, 0);
    if (torture.calls < fail) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nul_bytes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_many_errors, setup, teardown),
      cmocka_unit_test_setup_teardown(test_any_bytes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
