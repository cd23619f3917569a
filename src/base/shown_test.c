/* Names that contain a terminal's commands, or bytes that are not UTF-8. */
#include "base/shown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

static const struct {
  const char *from, *shown, *lines, *utf8; /* NULL: unchanged */
} rows[] = {
    {"", NULL, NULL, NULL},
    {"conv1/weights:0 \\x", NULL, NULL, NULL},
    {"gr\xc3\xb6\xc3\x9f"
     "e \xe6\x97\xa5 \xf0\x9f\x98\x80",
     NULL, NULL, NULL},
    {"a\x1b[31mb", "a\\x1b[31mb", "a\\x1b[31mb", NULL},
    {"a\nb\tc\rd", "a\\nb\\tc\\rd", "a\nb\tc\\rd", NULL},
    {"a\x7f\x01", "a\\x7f\\x01", "a\\x7f\\x01", NULL},
    {"a\xc2\x9b"
     "31m",
     "a\\xc2\\x9b31m", "a\\xc2\\x9b31m", NULL}, /* CSI in one character */
    {"\xff", "\\xff", "\\xff", "\xef\xbf\xbd"},
    {"a\xc3", "a\\xc3", "a\\xc3", "a\xef\xbf\xbd"}, /* incomplete */
    {"\xc0\x80", "\\xc0\\x80", "\\xc0\\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xf4\x90\x80\x80x", "\\xf4\\x90\\x80\\x80x", "\\xf4\\x90\\x80\\x80x",
     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
};

static void test_rows(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    const char *from = rows[i].from;
    assert_string_equal(wick_str_shown(&mem, from), rows[i].shown ? rows[i].shown : from);
    assert_string_equal(wick_str_shown_lines(&mem, from), rows[i].lines ? rows[i].lines : from);
    assert_string_equal(wick_str_utf8(&mem, from), rows[i].utf8 ? rows[i].utf8 : from);
  }
  wick_arena_free(&mem);
}

/* Every message of the library is escaped, whatever names it contains. */
static void test_messages(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g);
  wick_status s = wick_fail(&mem, WICK_EPARSE, "n\x1bt.onnx", "node \"%s\"\nand more", "a\xff\x07");
  assert_string_equal(s->message, "n\\x1bt.onnx: node \"a\\xff\\x07\"\nand more");
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_messages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
