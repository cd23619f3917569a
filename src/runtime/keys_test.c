/* Keys as JSON, and back; invalid lists of keys. */
#include "runtime/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_round(void **state)
{
  (void)state;
  static const int64_t number[] = {7, -3, INT64_MIN, INT64_MAX};
  static const wick_string text[] = {{"a", 1}, {"", 0}, {"\"\\\n\x7f", 4}, {"\xc3\xbc", 2}};
  const wick_keys all[] = {
      {4, number, NULL}, {4, NULL, text}, {1, NULL, text + 1}, {0, NULL, NULL}};
  static const char *const want[] = {"[7,-3,-9223372036854775808,9223372036854775807]",
                                     "[\"a\",\"\",\"\\\"\\\\\\u000a\\u007f\",\"\xc3\xbc\"]",
                                     "[\"\"]", "[]"};
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  for (size_t i = 0; i < WICK_COUNT(all); i++) {
    wick_text t = wick_text_begin(&mem);
    wick_keys back;
    wick_keys_write(&t, all[i]);
    assert_string_equal(t.at, want[i]);
    assert_true(wick_keys_read(t.at, &mem, &back));
    assert_int_equal(back.n, all[i].n);
    for (uint32_t k = 0; k < back.n; k++) {
      assert_true(!back.text == !all[i].text && !back.number == !all[i].number);
      if (back.number) assert_true(back.number[k] == all[i].number[k]);
      if (back.text) assert_int_equal(back.text[k].nbytes, all[i].text[k].nbytes);
      if (back.text) assert_memory_equal(back.text[k].at, all[i].text[k].at, back.text[k].nbytes);
    }
  }
  wick_arena_free(&mem);
}

static void test_lists(void **state)
{
  (void)state;
  static const struct {
    const char *json, *want; /* the list as it is written; NULL: it is invalid */
  } rows[] = {{" [ 1 , 2 ] ", "[1,2]"},
              {"[\"\\u0041\\u00fc\\u20ac\\t\\/\"]", "[\"A\xc3\xbc\xe2\x82\xac\\u0009/\"]"},
              {"[\"\\u000\"]", NULL},
              {"[\"\\ud800\"]", NULL},
              {"[\"\\x\"]", NULL},
              {"[\"a", NULL},
              {"[\"a\\", NULL},
              {"[1,\"a\"]", NULL},
              {"[\"a\",1]", NULL},
              {"[1,]", NULL},
              {"[1", NULL},
              {"[99999999999999999999]", NULL},
              {"[1.5]", NULL},
              {"", NULL},
              {"1", NULL}};
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_keys keys;
    wick_text t = wick_text_begin(&mem);
    bool is = wick_keys_read(rows[i].json, &mem, &keys);
    if (is != (rows[i].want != NULL)) fail_msg("%s", rows[i].json);
    if (!is) continue;
    wick_keys_write(&t, keys);
    assert_string_equal(t.at, rows[i].want);
  }
  wick_arena_free(&mem);
}

/* Entries of the metadata, which may have any text, because models need not come from an import. */
static void test_take(void **state)
{
  (void)state;
  static const struct {
    const char *key, *value;
    uint32_t want[3]; /* number of keys of each input and output */
  } rows[] = {{"onnx.output.y", "1 1 seq(map(i64,f32)) [7,-3]", {0, 0, 2}},
              {"onnx.output.y", "1 1 seq(map(i64,f32)) [7,-3,1]", {0, 0, 0}},
              {"onnx.output.y", "1 2 seq(map(i64,f32))", {0, 0, 0}},
              {"onnx.output.y", "1 1 seq(map(i64,f32)) what", {0, 0, 0}},
              {"onnx.input.y", "1 1 map(string,f32) [\"a\",\"b\",\"c\"]", {0, 3, 0}},
              {"onnx.input.x", "0 1 map(string,f32) [\"a\"]", {0, 0, 0}},
              {"onnx.output.", "", {0, 0, 0}},
              {"onnx.domain", "1 1 x [7,-3]", {0, 0, 0}}};
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_io io[] = {{.name = "x"},
                    {.name = "y", .rank = 1, .dim = {3}},
                    {.name = "y", .rank = 2, .dim = {-1, 2}}};
    wick_keys_take(rows[i].key, rows[i].value, 2, 1, io, &mem);
    for (int k = 0; k < 3; k++) assert_int_equal(io[k].keys.n, rows[i].want[k]);
  }
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_lists),
                                     cmocka_unit_test(test_take)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
