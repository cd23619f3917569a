/* The bounded reader: values, both sides of every bound, and that the first fault is kept. */
#include "base/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *const reader_short = "the input ends too early";

static void test_fixed(void **state)
{
  (void)state;
  static const unsigned char bytes[] = {1,    2,    3,    4,    5,    6,    7, 8, 9,    10,
                                        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0, 0, 0xc0, 0x3f};
  wick_reader r = wick_reader_make(bytes, sizeof bytes);
  uint8_t a;
  uint16_t b;
  uint32_t c;
  uint64_t d;
  float f;
  assert_true(wick_read_u8(&r, &a) && a == 1);
  assert_true(wick_read_u16(&r, &b) && b == 0x0302);
  assert_true(wick_read_u32(&r, &c) && c == 0x07060504);
  assert_true(wick_read_u64(&r, &d) && d == 0x55443322110a0908u);
  assert_true(wick_read_u8(&r, &a) && a == 0x66);
  assert_true(wick_read_f32(&r, &f) && f == 1.5f);
  assert_int_equal(wick_reader_left(&r), 0);
  assert_null(r.fault);
  assert_false(wick_read_u8(&r, &a));
  assert_int_equal(a, 0);
  assert_string_equal(r.fault, reader_short);
  assert_int_equal(r.fault_at, sizeof bytes);
}

/* Every read over every truncation of 16 bytes succeeds exactly if there are enough bytes. */
static void test_truncations(void **state)
{
  (void)state;
  static const unsigned char bytes[16] = {0};
  for (size_t n = 0; n <= sizeof bytes; n++) {
    wick_reader r8 = wick_reader_make(bytes, n), r16 = r8, r32 = r8, r64 = r8, rf = r8, rd = r8;
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    float f;
    double g;
    assert_int_equal(wick_read_u8(&r8, &a), n >= 1);
    assert_int_equal(wick_read_u16(&r16, &b), n >= 2);
    assert_int_equal(wick_read_u32(&r32, &c), n >= 4);
    assert_int_equal(wick_read_u64(&r64, &d), n >= 8);
    assert_int_equal(wick_read_f32(&rf, &f), n >= 4);
    assert_int_equal(wick_read_f64(&rd, &g), n >= 8);
  }
}

#define FF9 "\xff\xff\xff\xff\xff\xff\xff\xff\xff"
static void test_varints(void **state)
{
  (void)state;
  static const struct {
    const char *bytes;
    size_t nbytes;
    uint64_t want;
    const char *fault; /* NULL: the value is `want` */
  } rows[] = {
      {"\x00", 1, 0, NULL},
      {"\x7f", 1, 127, NULL},
      {"\x80\x01", 2, 128, NULL},
      {"\x80\x00", 2, 0, NULL}, /* a longer encoding than necessary is legal */
      {"\xac\x02", 2, 300, NULL},
      {FF9 "\x01", 10, UINT64_MAX, NULL},
      {FF9 "\x02", 10, 0, "a varint has more than 64 bits"},
      {FF9 "\xff\x01", 11, 0, "a varint has more than 64 bits"},
      {FF9, 9, 0, "the input ends too early"},
      {"", 0, 0, "the input ends too early"},
      {"\x80", 1, 0, "the input ends too early"},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_reader r = wick_reader_make(rows[i].bytes, rows[i].nbytes);
    uint64_t got;
    assert_int_equal(wick_read_varint(&r, &got), !rows[i].fault);
    assert_int_equal(got, rows[i].want);
    if (rows[i].fault)
      assert_string_equal(r.fault, rows[i].fault);
    else
      assert_int_equal(wick_reader_left(&r), 0);
  }
}

static void test_spans(void **state)
{
  (void)state;
  static const unsigned char bytes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  wick_reader r = wick_reader_make(bytes, 8), part;
  wick_span s;
  assert_true(wick_read_span(&r, 3, &s));
  assert_ptr_equal(s.at, bytes);
  assert_int_equal(s.nbytes, 3);
  assert_true(wick_read_part(&r, 4, &part));
  assert_int_equal(part.depth, 1);
  assert_int_equal(wick_reader_position(&part), 3);
  assert_int_equal(wick_reader_left(&part), 4);
  uint64_t wide;
  assert_false(wick_read_u64(&part, &wide)); /* the next eight bytes are outside of the part */
  assert_int_equal(part.fault_at, 3);
  assert_int_equal(wick_reader_left(&r), 1);
  assert_true(wick_read_span(&r, 1, &s));
  assert_true(wick_read_span(&r, 0, &s));
  assert_non_null(s.at);
  wick_reader full = wick_reader_make(bytes, 8);
  assert_false(wick_read_span(&full, UINT64_MAX, &s));
  assert_null(s.at);
  assert_false(wick_read_span(&full, 0, &s)); /* a fault is kept */
  full = wick_reader_make(bytes, 8);
  assert_false(wick_read_part(&full, 9, &part));
  assert_string_equal(part.fault, reader_short);
  assert_int_equal(wick_reader_left(&part), 0);
  wick_reader none = wick_reader_make(NULL, 5);
  assert_int_equal(wick_reader_left(&none), 0);
}

static void test_counts(void **state)
{
  (void)state;
  static const unsigned char bytes[64] = {0};
  static const struct {
    uint64_t nelem, size;
    bool want;
  } rows[] = {{8, 8, true},
              {9, 8, false},
              {64, 1, true},
              {0, UINT64_MAX, true},
              {UINT64_MAX, 2, false},
              {1ull << 63, 2, false},
              {1ull << 32, 1ull << 32, false}};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_reader r = wick_reader_make(bytes, sizeof bytes);
    assert_int_equal(wick_reader_fits(&r, rows[i].nelem, rows[i].size), rows[i].want);
    assert_int_equal(r.fault == NULL, rows[i].want);
  }
}

static void test_depth(void **state)
{
  (void)state;
  static const unsigned char bytes[4] = {0};
  wick_reader r = wick_reader_make(bytes, 4), part;
  for (int i = 0; i < WICK_READER_DEPTH; i++) {
    assert_true(wick_read_part(&r, 4, &part));
    r = part;
  }
  assert_false(wick_read_part(&r, 4, &part));
  assert_string_equal(r.fault, "parts are nested more than 100 deep");
  assert_string_equal(part.fault, "parts are nested more than 100 deep");
}

static void test_status(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail();
  wick_reader r = wick_reader_make("\x80\x80", 2);
  uint64_t value;
  assert_null(wick_reader_status(&r, &mem, "a.onnx"));
  assert_false(wick_read_varint(&r, &value));
  assert_false(wick_reader_refuse(&r, 7, "a later fault")); /* the first one is kept */
  wick_status s = wick_reader_status(&r, &mem, "a.onnx");
  assert_int_equal(s->code, WICK_EPARSE);
  assert_string_equal(s->message, "a.onnx: at byte 0: the input ends too early");
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fixed),   cmocka_unit_test(test_truncations),
      cmocka_unit_test(test_varints), cmocka_unit_test(test_spans),
      cmocka_unit_test(test_counts),  cmocka_unit_test(test_depth),
      cmocka_unit_test(test_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
