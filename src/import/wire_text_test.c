/* Tests of the reader of protobuf's text form: what it writes decodes to the same fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "import/wire_testing.h"
#include "import/wire_text.h"

typedef struct inner {
  uint64_t has;
  int64_t number;
  wick_span name;
} inner;

typedef struct outer {
  uint64_t has;
  int64_t kind, fixed;
  float real;
  int64_t far;
  wick_wire_i64s list;
  wick_wire_spans word, wide, names;
  inner *one;
  struct {
    inner *at;
    size_t n;
  } many;
} outer;

static const wick_wire_field inner_fields[] = {
    WICK_WIRE_FIELD(inner, number, 1, I64),
    WICK_WIRE_FIELD(inner, name, 2, BYTES),
};
static WICK_WIRE_SCHEMA(inner_message, "Inner", inner, inner_fields, 0);
static const wick_wire_field outer_fields[] = {
    WICK_WIRE_FIELD(outer, kind, 1, I32),
    WICK_WIRE_FIELD(outer, fixed, 2, FIXED32),
    WICK_WIRE_FIELD(outer, real, 3, F32),
    WICK_WIRE_FIELD(outer, list, 4, I64S),
    WICK_WIRE_FIELD(outer, word, 5, SPANS),
    WICK_WIRE_FIELD(outer, wide, 6, DATA_F64),
    WICK_WIRE_PART(outer, one, 7, MESSAGE, inner_message),
    WICK_WIRE_PART(outer, many, 8, MESSAGES, inner_message),
    WICK_WIRE_FIELD(outer, names, 100, SPANS),
    WICK_WIRE_FIELD(outer, far, 8266711, I64),
};
static WICK_WIRE_SCHEMA(outer_message, "Outer", outer, outer_fields, 0);

static const wick_wire_word words[] = {
    {"kind", "FIRST", 1}, {NULL, "SECOND", 2}, {"list", "FIRST", 7}, {NULL, NULL, 0}};

static wick_status text_decode(wick_arena *mem, const char *text, outer **out)
{
  wick_span wire;
  void *message = NULL;
  wick_span s = {(const unsigned char *)text, strlen(text)};
  WICK_TRY(wick_wire_from_text(&outer_message, words, s, "t.pbtxt", mem, &wire));
  WICK_TRY(wick_wire_decode(&outer_message, wire, "t.pbtxt", mem, &message));
  *out = message;
  return NULL;
}

static void reads(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  outer *o;
  if (setjmp(guard.where)) fail();
  assert_null(text_decode(&mem,
                          "# a comment\nkind: FIRST  fixed: 0xffffffff real: -1.5e0f\n"
                          "list: 1 list: [-2, 03, FIRST] word: \"a\\tb\" 'c\\x41' word: \"\\101\"\n"
                          "unknown { deep { list: [1, 2] text: 'x' } } [ext.name]: 3 other: -7;\n"
                          "wide: [1, inf, .5] one { number: true } one < name: \"n\" >\n"
                          "many { number: 1 }, many: { name: \"two\" } many: [{number: 3}, <>]\n"
                          "names: \"x\" far: 5 names: \"yz\"",
                          &o));
  assert_int_equal(o->far, 5); /* fields above 63 have no bit in `has` */
  assert_int_equal(o->names.n, 2);
  assert_true(wick_span_is(o->names.at[1], "yz"));
  assert_int_equal(o->kind, 1);
  assert_int_equal(o->fixed, 4294967295);
  assert_true(o->real == -1.5f);
  assert_int_equal(o->list.n, 4);
  assert_int_equal(o->list.at[1], -2);
  assert_int_equal(o->list.at[3], 7);
  assert_int_equal(o->word.n, 2);
  assert_true(wick_span_is(o->word.at[0], "a\tbcA"));
  assert_true(wick_span_is(o->word.at[1], "A"));
  assert_int_equal(o->wide.n, 3);
  assert_int_equal(o->one->number, 1); /* both occurrences are merged */
  assert_true(wick_span_is(o->one->name, "n"));
  assert_int_equal(o->many.n, 4);
  assert_true(wick_span_is(o->many.at[1].name, "two"));
  assert_int_equal(o->many.at[2].number, 3);
  assert_null(text_decode(&mem, "", &o));
  assert_int_equal(o->has, 0);
  wick_arena_free(&mem);
}

static void refuses(void **state)
{
  (void)state;
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"kind: THIRD", "t.pbtxt: line 1: kind is an integer or a name of its type, found THIRD"},
      {"\nword: 7", "t.pbtxt: line 2: word is a text in quotes, found 7"},
      {"word: \"a", "t.pbtxt: line 1: a string has no end"},
      {"word: \"\\q\"", "t.pbtxt: line 1: a string has the unknown escape \\q"},
      {"real: x", "t.pbtxt: line 1: real is a number, found x"},
      {"one { number: 1", "t.pbtxt: line 1: the text ends within a message or a list"},
      {"one: 3", "t.pbtxt: line 1: one is a message, expected {, found 3"},
      {"list: [1 2]", "t.pbtxt: line 1: expected , or ] in the list list, found 2"},
      {"kind 3", "t.pbtxt: line 1: expected : or { after kind, found 3"},
      {"}", "t.pbtxt: line 1: expected the name of a field, found }"},
      {"list: 99999999999999999999",
       "t.pbtxt: line 1: list is an integer or a name of its type, found 99999999999999999999"},
  };
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  outer *o;
  if (setjmp(guard.where)) fail();
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_status s = text_decode(&mem, rows[i].text, &o);
    assert_non_null(s);
    assert_string_equal(s->message, rows[i].want);
  }
  wick_text deep = wick_text_begin(&mem);
  for (int i = 0; i < 200; i++) wick_text_add(&deep, "x{");
  assert_int_equal(text_decode(&mem, deep.at, &o)->code, WICK_ELIMIT);
  wick_arena_free(&mem);
}

static bool skips_old(const wick_wire_message *message, wick_span field)
{
  return message == &inner_message && wick_span_is(field, "old");
}

static void strict(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_span out;
  if (setjmp(guard.where)) fail();
  static const char good[] = "one { old: 3 number: 1 old { deep: [x, y] } }",
                    bad[] = "kind: 1 old: 2";
  assert_null(wick_wire_from_strict_text(&outer_message, words, skips_old,
                                         (wick_span){(const unsigned char *)good, strlen(good)},
                                         "t.pbtxt", &mem, &out));
  wick_status s = wick_wire_from_strict_text(&outer_message, words, skips_old,
                                             (wick_span){(const unsigned char *)bad, strlen(bad)},
                                             "t.pbtxt", &mem, &out);
  assert_string_equal(s->message, "t.pbtxt: line 1: Outer has no field old");
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(refuses),
                                     cmocka_unit_test(strict)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
