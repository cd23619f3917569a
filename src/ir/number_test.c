/* Numbers as text: every bit pattern of the small types, and many of the large ones, reads back. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/number.h"

static wick_guard number_guard;

static const char *number_text(wick_arena *mem, wick_elem e, const void *data, uint64_t k)
{
  wick_text out = wick_text_begin(mem);
  wick_number_print(&out, e, data, k);
  return out.at;
}

static void number_through(wick_arena *mem, wick_elem e, uint64_t bits)
{
  unsigned char in[8], out[8] = {0};
  unsigned nbytes = (wick_elem_storage[e].bits + 7u) / 8;
  for (unsigned i = 0; i < 8; i++) in[i] = (unsigned char)(bits >> (8 * i));
  wick_mark m = wick_arena_mark(mem);
  const char *text = number_text(mem, e, in, 0);
  const char *wrong = wick_number_read(e, text, strlen(text), mem, out, 0);
  if (wrong || memcmp(in, out, nbytes) != 0)
    fail_msg("%s 0x%llx is printed %s: %s", wick_elem_name(e), (unsigned long long)bits, text,
             wrong ? wrong : "reads back differently");
  wick_arena_rewind(mem, m);
}

static void test_every_bit_pattern(void **state)
{
  (void)state;
  wick_arena mem = wick_arena_make(&number_guard);
  for (int e = 0; e < WICK_NELEM; e++) {
    const wick_storage *s = &wick_elem_storage[e];
    if (s->cls == WICK_COMPLEX || s->cls == WICK_TEXT || s->bits > 16) continue;
    uint64_t n = s->cls == WICK_LOGIC ? 2 : (uint64_t)1 << s->bits;
    for (uint64_t bits = 0; bits < n; bits++) number_through(&mem, (wick_elem)e, bits);
  }
  wick_arena_free(&mem);
}

static void test_many_bit_patterns(void **state)
{
  (void)state;
  wick_arena mem = wick_arena_make(&number_guard);
  static const wick_elem elem[] = {WICK_F64, WICK_F32, WICK_I64, WICK_I32, WICK_U64, WICK_U32};
  uint64_t x = 1;
  for (int i = 0; i < 20000; i++)
    for (size_t k = 0; k < WICK_COUNT(elem); k++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      uint64_t bits = x >> 7 ^ x << 41;
      if (elem[k] == WICK_F32 && (bits & 0x7f800000) == 0x7f800000) bits |= 0x400000; /* quiet */
      number_through(&mem, elem[k],
                     wick_elem_storage[elem[k]].bits < 64 ? bits & 0xffffffff : bits);
    }
  wick_arena_free(&mem);
}

static void test_layout(void **state)
{
  (void)state;
  static const struct {
    wick_elem e;
    const char *in, *want; /* want: the number printed again, or the error */
  } rows[] = {
      {WICK_F32, "1", "1"},
      {WICK_F32, "0.1", "0.1"},
      {WICK_F32, "0.10000000149011612", "0.1"},
      {WICK_F64, "0.10000000149011612", "0.10000000149011612"},
      {WICK_F32, "100000", "100000"},
      {WICK_F32, "1e-05", "1e-05"},
      {WICK_F32, "0.0001", "0.0001"},
      {WICK_F32, "3.4028235e38", "3.4028235e+38"},
      {WICK_F64, "123456789.25", "123456789.25"},
      {WICK_F64, "1e16", "1e+16"},
      {WICK_F64, "1e15", "1000000000000000"},
      {WICK_F64, "5e-324", "5e-324"},
      {WICK_F32, "-0", "-0"},
      {WICK_F32, "-inf", "-inf"},
      {WICK_F32, "nan", "nan"},
      {WICK_F32, "0x7fc00001", "0x7fc00001"},
      {WICK_F16, "0xfe00", "0xfe00"},
      {WICK_F16, "65504", "65500"},
      {WICK_F16, "65520", "65520 is outside of f16"},
      {WICK_F32, "1e39", "1e39 is outside of f32"},
      {WICK_F8E4M3, "inf", "inf is outside of f8e4m3"},
      {WICK_F4E2M1, "nan", "nan is outside of f4e2m1"},
      {WICK_F16, "0x12345", "0x12345 is outside of f16"},
      {WICK_I8, "-128", "-128"},
      {WICK_I8, "-129", "-129 is outside of i8"},
      {WICK_U8, "256", "256 is outside of u8"},
      {WICK_U8, "-1", "-1 is outside of u8"},
      {WICK_I32, "1.5", "1.5 is not an integer"},
      {WICK_I64, "-9223372036854775808", "-9223372036854775808"},
      {WICK_I64, "9223372036854775808", "9223372036854775808 is outside of i64"},
      {WICK_U64, "18446744073709551615", "18446744073709551615"},
      {WICK_U64, "18446744073709551616", "18446744073709551616 is outside of u64"},
      {WICK_BOOL, "true", "1"},
      {WICK_BOOL, "2", "2 is outside of bool"},
      {WICK_F32, "true", "true is not a number"},
      {WICK_C64, "1", "c64 has no numbers"},
  };
  wick_arena mem = wick_arena_make(&number_guard);
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    unsigned char data[16] = {0};
    const char *got = wick_number_read(rows[i].e, rows[i].in, strlen(rows[i].in), &mem, data, 0);
    assert_string_equal(got ? got : number_text(&mem, rows[i].e, data, 0), rows[i].want);
  }
  wick_arena_free(&mem);
}

/* Arrays of elements that are smaller than a byte. */
static void test_sub_byte(void **state)
{
  (void)state;
  wick_arena mem = wick_arena_make(&number_guard);
  unsigned char data[2] = {0xff, 0xff};
  assert_null(wick_number_read(WICK_I4, "-3", 2, &mem, data, 1));
  assert_null(wick_number_read(WICK_I4, "7", 1, &mem, data, 2));
  assert_int_equal(data[0], 0xdf);
  assert_int_equal(data[1], 0xf7);
  assert_string_equal(number_text(&mem, WICK_I4, data, 1), "-3");
  wick_arena_free(&mem);
}

/* The decimal point of the host program's locale is not used. */
static void test_locale(void **state)
{
  (void)state;
  static const char *const name[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE"};
  wick_arena mem = wick_arena_make(&number_guard);
  for (size_t i = 0; i < WICK_COUNT(name); i++) setlocale(LC_ALL, name[i]);
  double x = 0;
  assert_null(wick_number_read(WICK_F64, "2.5", 3, &mem, &x, 0));
  assert_true(x == 2.5);
  assert_string_equal(number_text(&mem, WICK_F64, &x, 0), "2.5");
  setlocale(LC_ALL, "C");
  wick_arena_free(&mem);
}

int main(void)
{
  number_guard.allocator = wick_allocator_malloc();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_bit_pattern),
      cmocka_unit_test(test_many_bit_patterns),
      cmocka_unit_test(test_layout),
      cmocka_unit_test(test_sub_byte),
      cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
