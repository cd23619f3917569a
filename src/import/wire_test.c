/* Tests the reader of protobuf messages: kinds, merging, oneofs, and hostile bytes. */
#include "import/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "import/wire_testing.h"

typedef struct inner {
  uint64_t has;
  int64_t a;
  wick_wire_i64s list;
  struct inner *self;
} inner;

typedef struct outer {
  uint64_t has;
  int64_t i64, i32;
  float f;
  wick_span s;
  inner *one;
  struct {
    inner *at;
    size_t n;
  } many;
  wick_wire_i64s i64s;
  wick_wire_f32s f32s;
  wick_wire_spans strings, ints, floats, doubles;
  int64_t pick_a;
  inner *pick_b;
} outer;

#define FIELD(type, member, num, k)                                                                \
  {                                                                                                \
#member, num, WICK_WIRE_##k, (uint16_t)offsetof(type, member), NULL                            \
  }
#define PART(type, member, num, k, msg)                                                            \
  {                                                                                                \
#member, num, WICK_WIRE_##k, (uint16_t)offsetof(type, member), &msg                            \
  }

static const wick_wire_message inner_message;
static const wick_wire_field inner_fields[] = {FIELD(inner, a, 1, I64), FIELD(inner, list, 2, I64S),
                                               PART(inner, self, 3, MESSAGE, inner_message)};
static const wick_wire_message inner_message = {"Inner", sizeof(inner), inner_fields, 3, 0};
static const wick_wire_field outer_fields[] = {
    FIELD(outer, i64, 1, I64),
    FIELD(outer, i32, 2, I32),
    FIELD(outer, f, 3, F32),
    FIELD(outer, s, 4, BYTES),
    PART(outer, one, 5, MESSAGE, inner_message),
    PART(outer, many, 6, MESSAGES, inner_message),
    FIELD(outer, i64s, 7, I64S),
    FIELD(outer, f32s, 8, F32S),
    FIELD(outer, strings, 9, SPANS),
    FIELD(outer, ints, 10, DATA_VARINT),
    FIELD(outer, floats, 11, DATA_F32),
    FIELD(outer, doubles, 12, DATA_F64),
    FIELD(outer, pick_a, 20, I64),
    PART(outer, pick_b, 21, MESSAGE, inner_message),
};
static const wick_wire_message outer_message = {"Outer", sizeof(outer), outer_fields,
                                                WICK_COUNT(outer_fields), 1u << 20 | 1u << 21};

/* ---- one arena a test ---- */

static wick_guard guard;
static wick_arena mem;

static int begin(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  return setjmp(guard.where);
}

static int end(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  return 0;
}

/* Decodes a copy of the bytes of exactly their size, so that a sanitizer detects reads beyond
 * them. */
static wick_status decode(const void *bytes, size_t nbytes, outer **out)
{
  void *exact = test_malloc(nbytes + !nbytes), *message;
  memcpy(exact, bytes, nbytes);
  wick_status s = wick_wire_decode(&outer_message, (wick_span){exact, nbytes}, "f", &mem, &message);
  *out = message;
  test_free(exact);
  return s;
}

static void fails(const void *bytes, size_t nbytes, const char *want)
{
  outer *o;
  wick_status s = decode(bytes, nbytes, &o);
  assert_non_null(s);
  assert_null(o);
  assert_string_equal(s->message, want);
}

static wick_text everything(void)
{
  wick_text t = wick_text_begin(&mem), part = wick_text_begin(&mem), list = wick_text_begin(&mem);
  put_i64(&t, 1, -5);
  put_i64(&t, 2, -7);
  put_f32(&t, 3, 1.5f);
  put_str(&t, 4, "text");
  put_i64(&part, 1, 300);
  put_part(&t, 5, &part);
  put_part(&t, 6, &part);
  put_bytes(&t, 6, "", 0);
  put_i64(&t, 7, 1);
  put_varint(&list, 2);
  put_varint(&list, (uint64_t)-3);
  put_part(&t, 7, &list);
  put_f32(&t, 8, 2.f);
  put_bytes(&t, 8, (const float[]){3.f, 4.f}, 8);
  put_str(&t, 9, "a");
  put_str(&t, 9, "");
  put_i64(&t, 10, 128);
  put_part(&t, 10, &list);
  put_bytes(&t, 11, (const float[]){5.f}, 4);
  put_bytes(&t, 12, (const double[]){6.}, 8);
  put_str(&t, 13, "an unknown field");
  put_i64(&t, 500000, 1);
  put_f32(&t, 14, 0.f);
  put_tag(&t, 15, 1);
  wick_text_addn(&t, "12345678", 8);
  return t;
}

static void test_kinds(void **state)
{
  (void)state;
  wick_text t = everything();
  void *message;
  assert_null(wick_wire_decode(&outer_message, put_span(&t), "f", &mem, &message));
  const outer *o = message;
  assert_int_equal(o->i64, -5);
  assert_int_equal(o->i32, -7);
  assert_true(o->f == 1.5f);
  assert_true(wick_span_is(o->s, "text"));
  const char *at = (const char *)o->s.at;
  assert_true(at > t.at && at + 4 < t.at + t.n); /* it is not copied */
  assert_int_equal(o->one->a, 300);
  assert_int_equal(o->many.n, 2);
  assert_int_equal(o->many.at[0].a, 300);
  assert_true(wick_wire_has(o->many.at[0].has, 1));
  assert_false(wick_wire_has(o->many.at[1].has, 1));
  assert_int_equal(o->i64s.n, 3);
  assert_int_equal(o->i64s.at[0], 1);
  assert_int_equal(o->i64s.at[1], 2);
  assert_int_equal(o->i64s.at[2], -3);
  assert_int_equal(o->f32s.n, 3);
  assert_true(o->f32s.at[0] == 2 && o->f32s.at[1] == 3 && o->f32s.at[2] == 4);
  assert_int_equal(o->strings.n, 2);
  assert_true(wick_span_is(o->strings.at[1], ""));
  assert_int_equal(o->ints.n, 2);
  assert_int_equal(o->ints.at[0].nbytes, 2); /* the varint 128 by itself */
  assert_int_equal(o->ints.at[1].nbytes, 11);
  assert_int_equal(o->floats.at[0].nbytes, 4);
  assert_int_equal(o->doubles.at[0].nbytes, 8);
  assert_null(o->pick_b);
}

/* The last occurrence of a scalar counts, lists grow, messages are merged at every depth. */
static void test_merge(void **state)
{
  (void)state;
  wick_text t = wick_text_begin(&mem), a = wick_text_begin(&mem), b = wick_text_begin(&mem), deep;
  put_i64(&a, 1, 1);
  put_i64(&a, 2, 10);
  deep = wick_text_begin(&mem);
  put_i64(&deep, 2, 7);
  put_part(&a, 3, &deep);
  put_i64(&b, 2, 11);
  put_i64(&b, 1, 2);
  deep = wick_text_begin(&mem);
  put_i64(&deep, 2, 8);
  put_part(&b, 3, &deep);
  put_part(&t, 5, &a);
  put_i64(&t, 1, 1);
  put_part(&t, 5, &b);
  put_i64(&t, 1, 2);
  void *message;
  assert_null(wick_wire_decode(&outer_message, put_span(&t), "f", &mem, &message));
  const outer *o = message;
  assert_int_equal(o->i64, 2);
  assert_int_equal(o->one->a, 2);
  assert_int_equal(o->one->list.n, 2);
  assert_int_equal(o->one->list.at[1], 11);
  assert_int_equal(o->one->self->list.n, 2);
  assert_int_equal(o->one->self->list.at[1], 8);
}

static void test_oneof(void **state)
{
  (void)state;
  outer *o;
  assert_null(decode("\xa0\x01\x05\xaa\x01\x02\x08\x09", 8, &o)); /* pick_a = 5, pick_b = {a: 9} */
  assert_false(wick_wire_has(o->has, 20));
  assert_true(wick_wire_has(o->has, 21));
  assert_int_equal(o->pick_b->a, 9);
  assert_null(decode("\xaa\x01\x02\x08\x09\xa0\x01\x05", 8, &o));
  assert_true(wick_wire_has(o->has, 20));
  assert_int_equal(o->pick_a, 5);
  assert_null(o->pick_b);
}

static void test_faults(void **state)
{
  (void)state;
  fails("\x0a\x00", 2, "f: at byte 0: Outer.i64 has wire type 2, expected 0");
  fails("\x20\x00", 2, "f: at byte 0: Outer.s has wire type 0, expected 2");
  fails("\x3d\x00\x00\x00\x00", 5, "f: at byte 0: Outer.i64s has wire type 5, expected 0");
  fails("\x08\x01\x0b", 3, "f: at byte 2: groups are not supported");
  fails("\x0c", 1, "f: at byte 0: groups are not supported");
  fails("\x0f", 1, "f: at byte 0: there is no wire type 6 or 7");
  fails("\x00\x00", 2, "f: at byte 0: a field's number is not in 1 to 536870911");
  fails("\x80\x80\x80\x80\x10\x00", 6, "f: at byte 0: a field's number is not in 1 to 536870911");
  fails("\x22\x05text", 6, "f: at byte 2: the input ends too early");
  fails("\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11,
        "f: at byte 11: the input ends too early");
  fails("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11,
        "f: at byte 1: a varint has more than 64 bits");
  fails("\x3a\x01\x80", 3, "f: at byte 2: the input ends too early"); /* inside a packed list */
  fails("\x42\x03\x00\x00\x00", 5,
        "f: at byte 2: the input ends too early"); /* three quarters of a float */
  fails("\x2a\x02\x08\x80\x08\x01", 6,
        "f: at byte 3: the input ends too early"); /* ends with its part */
  fails("\x2a\x02\x0a\x00", 4, "f: at byte 2: Inner.a has wire type 2, expected 0");
}

static void test_truncations(void **state)
{
  (void)state;
  wick_text t = everything();
  size_t whole = 0;
  for (size_t n = 0; n <= t.n; n++) {
    outer *o;
    wick_status s = decode(t.at, n, &o);
    assert_int_equal(s == NULL, o != NULL);
    whole += s == NULL;
  }
  assert_int_equal(whole,
                   21 + 1); /* before, between and after 21 fields; elsewhere it is an error */
}

static void test_deep(void **state)
{
  (void)state;
  enum { DEPTH = 100000 };
  static const int rows[] = {1, 99, 100, 101, DEPTH};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    size_t n = 0, cap = 5 * DEPTH;
    unsigned char *at = wick_new(&mem, unsigned char, cap); /* filled from its end */
    for (int k = 0; k < rows[i]; k++) {
      unsigned char head[5];
      size_t len = 0, left = n;
      head[len++] = k + 1 == rows[i] ? 0x2a : 0x1a;
      for (; left > 127; left >>= 7) head[len++] = (unsigned char)(left | 128);
      head[len++] = (unsigned char)left;
      n += len;
      memcpy(at + cap - n, head, len);
    }
    void *message;
    wick_status s =
        wick_wire_decode(&outer_message, (wick_span){at + cap - n, n}, "f", &mem, &message);
    assert_int_equal(s == NULL, rows[i] <= 100);
    if (s) assert_non_null(strstr(s->message, "messages are nested more than 100 deep"));
  }
}

/* For a megabyte of empty messages and of empty strings, memory stays within the stated
 * multiple. */
static void test_growth(void **state)
{
  (void)state;
  enum { N = 500000 };
  static const struct {
    const char *record;
    const char *fault;
  } rows[] = {{"\x32\x00", NULL}, {"\x4a\x00", NULL}, {"\x38\x00", NULL}};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_text t = wick_text_begin(&mem);
    for (int k = 0; k < N; k++) wick_text_addn(&t, rows[i].record, 2);
    void *message;
    uint64_t before = guard.used_bytes;
    assert_null(wick_wire_decode(&outer_message, put_span(&t), "f", &mem, &message));
    assert_true(guard.used_bytes - before <= (uint64_t)WICK_WIRE_GROWTH * t.n + (8u << 20));
  }
}

static void test_too_much(void **state)
{
  (void)state;
  static const wick_wire_message big = {"Big", 4096, inner_fields, 1, 0};
  static const wick_wire_field fields[] = {{"big", 1, WICK_WIRE_MESSAGES, 8, &big}};
  static const wick_wire_message top = {"Top", sizeof(outer), fields, 1, 0};
  wick_text t = wick_text_begin(&mem);
  for (int k = 0; k < 1000; k++) put_str(&t, 1, "");
  void *message;
  wick_status s = wick_wire_decode(&top, put_span(&t), "f", &mem, &message);
  assert_int_equal(s->code, WICK_ELIMIT);
  assert_string_equal(s->message,
                      "f: its messages would take more than 64 times its size in memory");
}

static void test_text(void **state)
{
  (void)state;
#define BAD "\xef\xbf\xbd"
  static const struct {
    const char *in, *want;
  } rows[] = {
      {"plain", "plain"},
      {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"a\xff"
       "b",
       "a" BAD "b"},
      {"\xc3", BAD},
      {"\xc0\xaf", BAD BAD},                 /* overlong */
      {"\xed\xa0\x80", BAD BAD BAD},         /* a surrogate */
      {"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* beyond U+10FFFF */
      {"\xe2\x82", BAD BAD},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_span s = {(const unsigned char *)rows[i].in, strlen(rows[i].in)};
    assert_string_equal(wick_wire_text(&mem, s), rows[i].want);
  }
  assert_string_equal(wick_wire_text(&mem, (wick_span){(const unsigned char *)"a\0b", 3}), "a");
  assert_string_equal(wick_wire_text(&mem, (wick_span){0}), "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(test_kinds),  TEST(test_merge),       TEST(test_oneof),
      TEST(test_faults), TEST(test_truncations), TEST(test_deep),
      TEST(test_growth), TEST(test_too_much),    TEST(test_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
