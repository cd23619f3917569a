/* .npy: every type, both byte orders, both orders of axes; files written by NumPy; malicious
 * headers. */
#include "npy.h"

#include <stdio.h>

#include "base/str.h"

#include "io_testing.h"

#define S(literal) literal, sizeof(literal) - 1

static wick_status read_npy(io_test *t, wick_span bytes)
{
  wick_array a;
  WICK_TRY(wick_npy_read(bytes, "x.npy", &t->mem, &a));
  io_touch(&a);
  return NULL;
}

/* A file with this header's text, version 1, and data. */
static wick_text make(wick_arena *mem, const char *header, const void *data, size_t n)
{
  wick_text t = wick_text_begin(mem);
  size_t length = strlen(header);
  wick_text_addn(&t, WICK_NPY_MAGIC "\1\0", 8);
  wick_text_char(&t, (char)(length & 255));
  wick_text_char(&t, (char)(length >> 8));
  wick_text_add(&t, header);
  wick_text_addn(&t, data, n);
  return t;
}

static wick_span span(const wick_text *t) { return io_span(t->at, t->n); }

/* ---- files written by NumPy 2.4 ---- */

#define SPACES40 "                                        "
static const char big_fortran[] = /* np.array([[1, 2, 3], [4, 5, -6]], '>f4', order='F') */
    "\x93NUMPY\1\0v\0{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }" SPACES40
    "                   \n"
    "\x3f\x80\0\0\x40\x80\0\0\x40\0\0\0\x40\xa0\0\0\x40\x40\0\0\xc0\xc0\0\0";

static void test_numpy_big_endian_fortran(void **state)
{
  (void)state;
  IO_BEGIN(t);
  wick_array a;
  wick_span s = {(const unsigned char *)big_fortran, sizeof big_fortran - 1};
  assert_int_equal(s.nbytes, 128 + 24);
  assert_null(wick_npy_read(s, "x.npy", &t.mem, &a));
  static const float want[] = {1, 2, 3, 4, 5, -6};
  assert_string_equal(wick_array_type(&t.mem, a.elem, a.rank, a.dim), "f32[2,3]");
  assert_memory_equal(a.data, want, sizeof want);
  io_truncate(&t, read_npy, S(big_fortran));
  io_mutate(&t, read_npy, S(big_fortran), 128, 20000);
  io_end(&t);
}

static void test_numpy_version_2(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const char file[] =
      "\x93NUMPY\2\0\x3d\0\0\0{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }   \n"
      "\0\1\7";
  wick_array a;
  wick_status s = wick_npy_read(io_span(file, sizeof file - 1), "x.npy", &t.mem, &a);
  assert_null(s);
  assert_string_equal(wick_array_type(&t.mem, a.elem, a.rank, a.dim), "bool[3]");
  assert_memory_equal(a.data, "\0\1\1", 3); /* 7 is read as True */
  io_truncate(&t, read_npy, S(file));
  io_end(&t);
}

/* ---- types and orders ---- */

static const struct {
  const char *descr;
  wick_elem elem;
  size_t size, unit;
} types[] = {
    {"f8", WICK_F64, 8, 8}, {"f4", WICK_F32, 4, 4},    {"f2", WICK_F16, 2, 2},
    {"i8", WICK_I64, 8, 8}, {"i4", WICK_I32, 4, 4},    {"i2", WICK_I16, 2, 2},
    {"i1", WICK_I8, 1, 1},  {"u8", WICK_U64, 8, 8},    {"u4", WICK_U32, 4, 4},
    {"u2", WICK_U16, 2, 2}, {"u1", WICK_U8, 1, 1},     {"b1", WICK_BOOL, 1, 1},
    {"c8", WICK_C64, 8, 4}, {"c16", WICK_C128, 16, 8}, {"V2", WICK_BF16, 2, 1},
};

/* Returns byte b of the item at (i, j, k); a bool is 0 or 1. */
static unsigned char item_byte(wick_elem e, int i, int j, int k, size_t b)
{
  return (unsigned char)(e == WICK_BOOL ? (i + j + k) & 1
                                        : i * 97 + j * 31 + k * 7 + (int)b * 3 + 1);
}

/* Writes [2, 3, 4] in little-endian C order, as expected, and in the order of the flags. */
static void fill(size_t type, bool swap, bool fortran, unsigned char *want, unsigned char *file)
{
  size_t size = types[type].size, unit = types[type].unit;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++) {
        size_t c = (size_t)((i * 3 + j) * 4 + k), f = (size_t)((k * 3 + j) * 2 + i);
        for (size_t b = 0; b < size; b++) {
          size_t to = swap ? b / unit * unit + (unit - 1 - b % unit) : b;
          unsigned char v = item_byte(types[type].elem, i, j, k, b);
          want[c * size + b] = v;
          file[(fortran ? f : c) * size + to] = v;
        }
      }
}

static void test_every_type_and_order(void **state)
{
  (void)state;
  IO_BEGIN(t);
  for (size_t i = 0; i < WICK_COUNT(types); i++)
    for (int order = 0; order < 8; order++) {
      bool swap = order & 1, fortran = order & 2, odd = order & 4;
      unsigned char want[24 * 16], file[24 * 16];
      size_t n = 24 * types[i].size;
      fill(i, swap, fortran, want, file);
      char header[100];
      snprintf(header, sizeof header,
               "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3, 4)%s}\n", swap ? '>' : '<',
               types[i].descr, fortran ? "True" : "False", odd ? " " : ", ");
      wick_text text = make(&t.mem, header, file, n);
      wick_array a;
      assert_null(wick_npy_read(span(&text), "x.npy", &t.mem, &a));
      assert_int_equal(a.elem, types[i].elem);
      assert_int_equal(a.nbytes, n);
      assert_memory_equal(a.data, want, n);
      io_touch(&a);
    }
  io_end(&t);
}

static void test_written_and_read_again(void **state)
{
  (void)state;
  IO_BEGIN(t);
  unsigned char want[24 * 16], file[24 * 16];
  for (size_t i = 0; i < WICK_COUNT(types); i++)
    for (uint32_t rank = 0; rank <= 3; rank++) {
      wick_array a = {.name = "",
                      .elem = types[i].elem,
                      .rank = rank,
                      .dim = {2, 3, 4},
                      .data = want},
                 b;
      fill(i, false, false, want, file);
      assert_true(wick_array_nbytes(a.elem, rank, a.dim, &a.nbytes));
      wick_bytes h;
      assert_null(wick_npy_header(&a, "x.npy", &t.mem, &h));
      assert_int_equal(h.nbytes, 128);
      wick_text text = wick_text_begin(&t.mem);
      wick_text_addn(&text, h.at, h.nbytes);
      wick_text_addn(&text, a.data, (size_t)a.nbytes);
      assert_null(wick_npy_read(span(&text), "x.npy", &t.mem, &b));
      assert_int_equal(b.elem, a.elem);
      assert_int_equal(b.rank, rank);
      assert_memory_equal(b.dim, a.dim, rank * sizeof *a.dim);
      assert_int_equal(b.nbytes, a.nbytes);
      assert_memory_equal(b.data, a.data, (size_t)a.nbytes);
    }
  io_end(&t);
}

static void test_in_place_where_possible(void **state)
{
  (void)state;
  IO_BEGIN(t);
  wick_text text = make(&t.mem, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                        "\0\0\0\0\0\0\0\0", 8);
  _Alignas(64) unsigned char bytes[128];
  for (size_t shift = 0; shift < 8; shift++) {
    memcpy(bytes + shift, text.at, text.n);
    wick_array a;
    assert_null(wick_npy_read(io_span(bytes + shift, text.n), "x.npy", &t.mem, &a));
    const unsigned char *data = bytes + shift + text.n - 8;
    assert_int_equal(a.data == data, (uintptr_t)data % 4 == 0);
    io_touch(&a);
  }
  io_end(&t);
}

/* ---- headers ---- */

static const struct {
  const char *header, *want; /* the type, or the error; the data is eight zero bytes */
} rows[] = {
    {"{'descr':'<f4','fortran_order':False,'shape':(2,)}", "f32[2]"},
    {"{\"shape\": ( 1 , 1 , ) , 'fortran_order' : True , 'descr' : '>f8' , } \n", "f64[1,1]"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "f64[]"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 1L)}", "f64[1,1]"},
    {"{'descr': '=i2', 'fortran_order': False, 'shape': (4,)}", "i16[4]"},
    {"{'descr': 'bfloat16', 'fortran_order': False, 'shape': (4,)}", "bf16[4]"},
    {"{'descr': '|V2', 'fortran_order': False, 'shape': (4,)}", "bf16[4]"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
     "x.npy: it has 8 bytes of data, f32[3] needs 12"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
     "x.npy: it has 8 bytes of data, f32[1] needs 4"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7)}",
     "x.npy: it has 8 bytes of data, f32[0,7] needs 0"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
     "x.npy: the size of f32[4294967296,4294967296] overflows"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (0, 4294967296, 4294967296)}",
     "x.npy: the size of f32[0,4294967296,4294967296] overflows"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
     "x.npy: at byte 79: expected a number below 2^63"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
     "x.npy: at byte 61: expected a size"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "x.npy: at byte 62: expected ','"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2}",
     "x.npy: at byte 65: expected ',' or ')'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
     "x.npy: at byte 93: expected at most 16 dimensions"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
     "x.npy: at byte 44: expected True or False"},
    {"{'descr': '<f4', 'fortran_order': False}",
     "x.npy: at byte 50: expected descr, fortran_order and shape"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
     "x.npy: at byte 28: expected each of the keys descr, fortran_order, shape once"},
    {"{'type': '<f4', 'fortran_order': False, 'shape': (2,)}",
     "x.npy: at byte 12: expected each of the keys descr, fortran_order, shape once"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
     "x.npy: at byte 66: expected the end of the header"},
    {"{'descr': '<f4'", "x.npy: at byte 25: expected ',' or '}'"},
    {"{'descr': '<f4", "x.npy: at byte 24: expected the end of the string"},
    {"{'descr': '\\x3cf4'", "x.npy: at byte 21: expected the end of the string"},
    {"{descr: 1}", "x.npy: at byte 11: expected a string"},
    {"", "x.npy: at byte 10: expected '{'"},
    {"{'descr': '<U8', 'fortran_order': False, 'shape': ()}",
     "x.npy: it has 8 bytes of data, string[] needs 32"},
    {"{'descr': '<U2', 'fortran_order': False, 'shape': ()}", "string[]"},
    {"{'descr': '|S8', 'fortran_order': False, 'shape': ()}", "string[]"},
    {"{'descr': '|S4', 'fortran_order': True, 'shape': (1,2)}", "string[1,2]"},
    {"{'descr': '<U0', 'fortran_order': False, 'shape': (4294967296,)}",
     "x.npy: it has 8 bytes of data, string[4294967296] needs 0"},
    {"{'descr': '<U2x', 'fortran_order': False, 'shape': ()}",
     "x.npy: its element type \"<U2x\" is not known"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': ()}",
     "x.npy: its elements (\"|O\") are Python objects, which only Python can read; strings can be "
     "saved "
     "with astype('U'); expected numbers, bool or strings"},
    {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': ()}",
     "x.npy: its elements (\"<M8[ns]\") are dates or times; expected numbers, bool or strings"},
    {"{'descr': '|V1', 'fortran_order': False, 'shape': (8,)}",
     "x.npy: its elements (\"|V1\") are raw bytes; expected numbers, bool or strings"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': ()}",
     "x.npy: its element type \"<f16\" is not known"},
    {"{'descr': '', 'fortran_order': False, 'shape': ()}",
     "x.npy: its element type \"\" is not known"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
     "x.npy: its elements are structures; expected numbers, bool or strings"},
};

static void test_headers(void **state)
{
  (void)state;
  IO_BEGIN(t);
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_text text = make(&t.mem, rows[i].header, "\0\0\0\0\0\0\0\0", 8);
    wick_array a;
    wick_status s = wick_npy_read(span(&text), "x.npy", &t.mem, &a);
    assert_string_equal(s ? s->message : wick_array_type(&t.mem, a.elem, a.rank, a.dim),
                        rows[i].want);
    io_mutate(&t, read_npy, text.at, text.n, text.n, 2000);
  }
  io_end(&t);
}

static void test_beginnings(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const struct {
    const char *at;
    size_t n;
    const char *want;
  } bad[] = {
      {S(""), "x.npy: it does not begin like an .npy file"},
      {S("\x93NUMPX\1\0"), "x.npy: it does not begin like an .npy file"},
      {S("\x93NUMPY\4\0"), "x.npy: its format is 4.0, expected 1.0 to 3.0"},
      {S("\x93NUMPY\1\1"), "x.npy: its format is 1.1, expected 1.0 to 3.0"},
  };
  wick_array a;
  for (size_t i = 0; i < WICK_COUNT(bad); i++) {
    wick_status s = wick_npy_read(io_span(bad[i].at, bad[i].n), "x.npy", &t.mem, &a);
    assert_non_null(s);
    assert_string_equal(s->message, bad[i].want);
  }
  static const char huge[] = "\x93NUMPY\2\0\xff\xff\xff\xff{}";
  wick_status s = wick_npy_read(io_span(huge, sizeof huge - 1), "x.npy", &t.mem, &a);
  assert_non_null(s);
  assert_int_equal(s->code, WICK_EPARSE);
  assert_non_null(strstr(s->message, "x.npy: at byte 12: "));
  io_end(&t);
}

static void test_types_without_a_name(void **state)
{
  (void)state;
  IO_BEGIN(t);
  wick_array a = {.elem = WICK_I4, .data = ""};
  wick_bytes h;
  wick_status s = wick_npy_header(&a, "y.npy", &t.mem, &h);
  assert_non_null(s);
  assert_string_equal(s->message, "y.npy: an .npy file has no type for i4, a .pb has");
  io_end(&t);
}

/* As long as the longest string in characters. Bytes that are not UTF-8 become U+FFFD. */
static void test_texts(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const wick_string text[] = {
      {"a", 1}, {"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", 9}, {NULL, 0}, {"\xff", 1}};
  static const int want[] = {'a', 0, 0, 0xfc, 0x20ac, 0x1f600, 0, 0, 0, 0xfffd, 0, 0};
  const wick_array a = {
      .elem = WICK_STRING, .rank = 1, .dim = {4}, .data = text, .nbytes = sizeof text};
  static const char header[] = "{'descr': '<U3', 'fortran_order': False, 'shape': (4,), }";
  wick_bytes part[2];
  assert_null(wick_npy_texts(&a, "x.npy", &t.mem, part));
  assert_memory_equal((const char *)part[0].at + 10, header, sizeof header - 1);
  assert_int_equal(part[1].nbytes, sizeof want);
  for (size_t i = 0; i < WICK_COUNT(want); i++) {
    const unsigned char *b = (const unsigned char *)part[1].at + 4 * i;
    assert_int_equal(b[0] | b[1] << 8 | b[2] << 16, want[i]);
  }
  io_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numpy_big_endian_fortran),
      cmocka_unit_test(test_numpy_version_2),
      cmocka_unit_test(test_every_type_and_order),
      cmocka_unit_test(test_written_and_read_again),
      cmocka_unit_test(test_in_place_where_possible),
      cmocka_unit_test(test_headers),
      cmocka_unit_test(test_beginnings),
      cmocka_unit_test(test_types_without_a_name),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
