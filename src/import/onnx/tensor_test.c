/* TensorProto: every element type from raw bytes and from its field, wrong sizes, external
 * files. */
#include "import/onnx/tensor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/wire_testing.h"

static wick_guard guard;
static wick_arena mem;
static wick_onnx_outside outside;

static int begin(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  outside = (wick_onnx_outside){.files = NULL};
  return setjmp(guard.where);
}

static int end(void **state)
{
  (void)state;
  if (outside.files) wick_files_close(outside.files);
  wick_arena_free(&mem);
  return 0;
}

enum { RAW = 9, FLOATS = 4, INT32S = 5, INT64S = 7, DOUBLES = 10, UINT64S = 11 };

/* Begins a TensorProto of that type and those dims (which end with -9), without data. */
static wick_text head(int type, const int64_t *dims)
{
  wick_text t = wick_text_begin(&mem);
  put_i64(&t, 2, type);
  for (; *dims != -9; dims++) put_i64(&t, 1, *dims);
  return t;
}

static wick_status tensor(const wick_text *t, wick_onnx_data *out)
{
  void *message;
  wick_status s = wick_wire_decode(&wick_onnx_tensor_message, put_span(t), "m", &mem, &message);
  return s ? s : wick_onnx_tensor_read(message, &outside, "m: w", &mem, out);
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__, -9})
static const int64_t scalar[] = {-9};

/* Reads three elements (two if an element is half a byte or less) of each type, from raw bytes
 * and from its field. */
static void test_types(void **state)
{
  (void)state;
  static const struct {
    int type;
    wick_elem elem;
    /* INT32S, INT64S and UINT64S contain `value`; FLOATS and DOUBLES contain the bytes */
    int field;
    int64_t value[3];
    int nvalue, nelem;
    const char *bytes;
    size_t nbytes;
  } rows[] = {
      {WICK_ONNX_FLOAT, WICK_F32, FLOATS, {0}, 0, 2, "\0\0\x80\x3f\0\0\0\xc0", 8},
      {WICK_ONNX_DOUBLE, WICK_F64, DOUBLES, {0}, 0, 1, "\0\0\0\0\0\0\xf0\x3f", 8},
      {WICK_ONNX_COMPLEX64, WICK_C64, FLOATS, {0}, 0, 1, "\0\0\x80\x3f\0\0\0\xc0", 8},
      {WICK_ONNX_COMPLEX128,
       WICK_C128,
       DOUBLES,
       {0},
       0,
       1,
       "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\xbf",
       16},
      {WICK_ONNX_UINT8, WICK_U8, INT32S, {0, 255, 7}, 3, 3, "\x00\xff\x07", 3},
      {WICK_ONNX_INT8, WICK_I8, INT32S, {-128, 127, -1}, 3, 3, "\x80\x7f\xff", 3},
      {WICK_ONNX_UINT16, WICK_U16, INT32S, {1, 65535}, 2, 2, "\x01\x00\xff\xff", 4},
      {WICK_ONNX_INT16, WICK_I16, INT32S, {-2, 300}, 2, 2, "\xfe\xff\x2c\x01", 4},
      {WICK_ONNX_INT32, WICK_I32, INT32S, {-2, 300}, 2, 2, "\xfe\xff\xff\xff\x2c\x01\0\0", 8},
      {WICK_ONNX_INT64, WICK_I64, INT64S, {-2}, 1, 1, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8},
      {WICK_ONNX_BOOL, WICK_BOOL, INT32S, {0, 1, 1}, 3, 3, "\0\x01\x01", 3},
      {WICK_ONNX_FLOAT16, WICK_F16, INT32S, {0x3c00, 0xc000}, 2, 2, "\x00\x3c\x00\xc0", 4},
      {WICK_ONNX_BFLOAT16, WICK_BF16, INT32S, {0x3f80}, 1, 1, "\x80\x3f", 2},
      {WICK_ONNX_UINT32, WICK_U32, UINT64S, {4294967295}, 1, 1, "\xff\xff\xff\xff", 4},
      {WICK_ONNX_UINT64, WICK_U64, UINT64S, {-1}, 1, 1, "\xff\xff\xff\xff\xff\xff\xff\xff", 8},
      {WICK_ONNX_FLOAT8E4M3FN, WICK_F8E4M3, INT32S, {0x38, 0xb8}, 2, 2, "\x38\xb8", 2},
      {WICK_ONNX_FLOAT8E4M3FNUZ, WICK_F8E4M3FNUZ, INT32S, {0x38}, 1, 1, "\x38", 1},
      {WICK_ONNX_FLOAT8E5M2, WICK_F8E5M2, INT32S, {0x38}, 1, 1, "\x38", 1},
      {WICK_ONNX_FLOAT8E5M2FNUZ, WICK_F8E5M2FNUZ, INT32S, {0x38}, 1, 1, "\x38", 1},
      {WICK_ONNX_FLOAT8E8M0, WICK_F8E8M0, INT32S, {0x7f}, 1, 1, "\x7f", 1},
      {WICK_ONNX_UINT4, WICK_U4, INT32S, {0x21, 0x03}, 2, 3, "\x21\x03", 2},
      {WICK_ONNX_INT4, WICK_I4, INT32S, {0xf1}, 1, 2, "\xf1", 1},
      {WICK_ONNX_FLOAT4E2M1, WICK_F4E2M1, INT32S, {0x12}, 1, 2, "\x12", 1},
      {WICK_ONNX_UINT2, WICK_U2, INT32S, {0xe4, 0x02}, 2, 5, "\xe4\x02", 2},
      {WICK_ONNX_INT2, WICK_I2, INT32S, {0xe4}, 1, 4, "\xe4", 1},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_text raw = head(rows[i].type, DIMS(rows[i].nelem)), packed = raw, loose = raw;
    packed = head(rows[i].type, DIMS(rows[i].nelem)),
    loose = head(rows[i].type, DIMS(rows[i].nelem));
    put_bytes(&raw, RAW, rows[i].bytes, rows[i].nbytes);
    wick_text list = wick_text_begin(&mem);
    size_t width = rows[i].field == FLOATS ? 4 : 8;
    for (size_t k = 0; !rows[i].nvalue && k < rows[i].nbytes; k += width) {
      put_tag(&loose, (unsigned)rows[i].field, width == 4 ? 5 : 1);
      wick_text_addn(&loose, rows[i].bytes + k, width);
      wick_text_addn(&list, rows[i].bytes + k, width);
    }
    for (int k = 0; k < rows[i].nvalue; k++) {
      put_i64(&loose, (unsigned)rows[i].field, rows[i].value[k]);
      put_varint(&list, (uint64_t)rows[i].value[k]);
    }
    put_part(&packed, (unsigned)rows[i].field, &list);
    const wick_text *forms[] = {&raw, &packed, &loose};
    for (size_t k = 0; k < 3; k++) {
      wick_onnx_data d;
      assert_null(tensor(forms[k], &d));
      assert_int_equal(d.elem, rows[i].elem);
      assert_int_equal(d.rank, 1);
      assert_int_equal(d.dim[0], rows[i].nelem);
      assert_int_equal(d.nbytes, rows[i].nbytes);
      assert_memory_equal(d.data, rows[i].bytes, rows[i].nbytes);
      assert_int_equal((uintptr_t)d.data % wick_elem_storage[d.elem].align, 0);
    }
  }
}

static void fails(const wick_text *t, const char *want)
{
  wick_onnx_data d;
  wick_status s = tensor(t, &d);
  assert_non_null(s);
  assert_string_equal(s->message, want);
}

static void test_shapes(void **state)
{
  (void)state;
  wick_onnx_data d;
  wick_text t = head(WICK_ONNX_FLOAT, scalar); /* a scalar */
  put_f32(&t, FLOATS, 3.f);
  assert_null(tensor(&t, &d));
  assert_int_equal(d.rank, 0);
  assert_int_equal(d.nbytes, 4);
  t = head(WICK_ONNX_FLOAT, DIMS(3, 0, 5)); /* empty, no data at all */
  assert_null(tensor(&t, &d));
  assert_int_equal(d.nbytes, 0);
  assert_non_null(d.data);
  t = head(WICK_ONNX_FLOAT, DIMS(2, -1));
  fails(&t, "m: w: dimension 1 is -1");
  t = head(WICK_ONNX_INT8, DIMS(INT64_MAX, 2));
  fails(&t, "m: w: the product of its dimensions overflows");
  t = head(WICK_ONNX_INT8, DIMS(0, INT64_MAX, INT64_MAX));
  fails(&t, "m: w: the product of its dimensions overflows");
  t = head(WICK_ONNX_INT8, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  fails(&t, "m: w: its rank is 17, the most is 16");
  t = head(WICK_ONNX_DOUBLE,
           DIMS(1 << 30, 1 << 28)); /* the request of 2^61 bytes fails before any are allocated */
  put_str(&t, RAW, "12345678");
  fails(&t, "m: w: its data has 8 bytes, but its shape requires 2305843009213693952");
  t = head(WICK_ONNX_INT32, DIMS(1 << 30, 1 << 28));
  put_i64(&t, INT32S, 1);
  fails(&t, "m: w: its data has 4 bytes, but its shape requires 1152921504606846976");
}

static void test_faults(void **state)
{
  (void)state;
  wick_text t = head(WICK_ONNX_FLOAT, DIMS(2));
  fails(&t, "m: w: its data has 0 bytes, but its shape requires 8");
  put_f32(&t, FLOATS, 1.f);
  fails(&t, "m: w: its data has 4 bytes, but its shape requires 8");
  put_bytes(&t, RAW, "12345678", 8);
  fails(&t, "m: w: its data must be either raw or in the field of its type (FLOAT), not in both");
  t = head(WICK_ONNX_FLOAT, DIMS(1));
  put_i64(&t, INT32S, 1);
  fails(&t, "m: w: its data must be either raw or in the field of its type (FLOAT), not in both");
  t = head(WICK_ONNX_UINT8, DIMS(2));
  put_i64(&t, INT32S, 0);
  put_i64(&t, INT32S, 256);
  fails(&t, "m: w: element 1 is 256, outside of u8");
  t = head(WICK_ONNX_BOOL, DIMS(1));
  put_i64(&t, INT32S, 2);
  fails(&t, "m: w: element 0 is 2, outside of bool");
  t = head(WICK_ONNX_INT64, DIMS(1));
  put_bytes(&t, INT64S, "\x80\x80", 2);
  fails(&t, "m: w: its data: the input ends too early");
  t = head(WICK_ONNX_INT64, DIMS(1));
  put_bytes(&t, INT64S, "\x01\x02", 2);
  fails(&t, "m: w: its data has 16 bytes, but its shape requires 8");
  t = head(0, DIMS(1));
  fails(&t, "m: w: elements of type UNDEFINED are not supported");
  t = head(WICK_ONNX_FLOAT6E2M3, DIMS(1));
  fails(&t, "m: w: elements of type FLOAT6E2M3 are not supported");
  t = head(99, DIMS(1));
  fails(&t, "m: w: elements of type 99 are not supported");
  t = head(-1, DIMS(1));
  fails(&t, "m: w: elements of type -1 are not supported");
  t = head(WICK_ONNX_FLOAT, DIMS(1));
  put_str(&t, 3, "");
  fails(&t, "m: w: tensors in segments are not supported");
}

/* A raw bool of 2 becomes 1. Aligned bytes are not copied, others are. */
static void test_in_place(void **state)
{
  (void)state;
  wick_onnx_data d;
  wick_text t = head(WICK_ONNX_BOOL, DIMS(3));
  put_bytes(&t, RAW, "\x00\x02\xff", 3);
  assert_null(tensor(&t, &d));
  assert_memory_equal(d.data, "\0\1\1", 3);
  int inside = 0;
  for (int pad = 0; pad < 4; pad++) {
    t = (wick_text){.mem = &mem, .at = wick_arena_alloc(&mem, 256, 16), .cap = 256};
    put_i64(&t, 2, WICK_ONNX_FLOAT);
    put_i64(&t, 1, 1);
    put_bytes(&t, 12, "xxxx", (size_t)pad);
    put_bytes(&t, RAW, "\0\0\x80\x3f", 4);
    assert_null(tensor(&t, &d));
    float one;
    memcpy(&one, d.data, 4);
    assert_true(one == 1.f);
    inside += (const char *)d.data > t.at && (const char *)d.data < t.at + t.n;
  }
  assert_int_equal(inside, 1);
}

/* ---- external data ---- */

static wick_text external(const char *location, const char *offset, const char *length)
{
  static const char *const keys[] = {"location", "offset", "length"};
  const char *values[] = {location, offset, length};
  wick_text t = head(WICK_ONNX_FLOAT, DIMS(2));
  for (int i = 0; i < 3; i++) {
    if (!values[i]) continue;
    wick_text p = wick_text_begin(&mem);
    put_str(&p, 1, keys[i]);
    put_str(&p, 2, values[i]);
    put_part(&t, 13, &p);
  }
  put_i64(&t, 14, 1);
  return t;
}

static void test_external(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-tensor-XXXXXX";
  assert_non_null(mkdtemp(folder));
  static const float data[] = {0, 1, 2, 3};
  const char *file = wick_path_join(&mem, folder, "w.bin"),
             *link = wick_path_join(&mem, folder, "link.bin");
  assert_null(wick_file_write(&mem, file, &(wick_bytes){data, sizeof data}, 1));
  assert_int_equal(symlink("w.bin", link), 0);
  wick_text good = external("w.bin", "4", "8");
  fails(&good, "m: w: its data is in the file \"w.bin\", and the model has no folder");
  static wick_files files;
  files = wick_files_begin(&mem);
  outside = (wick_onnx_outside){.files = &files, .folder = folder};
  wick_onnx_data d;
  assert_null(tensor(&good, &d));
  assert_memory_equal(d.data, data + 1, 8);
  good = external("w.bin", NULL, NULL);
  assert_null(tensor(&good, &d));
  assert_memory_equal(d.data, data, 8);
  static const struct {
    const char *location, *offset, *length, *want; /* a part of the message */
  } rows[] = {
      {NULL, NULL, NULL, "its external data has no location"},
      {"", NULL, NULL, "its external data has no location"},
      {"../w.bin", NULL, NULL, "not a relative path that stays inside the folder"},
      {"/etc/passwd", NULL, NULL, "not a relative path that stays inside the folder"},
      {"link.bin", NULL, NULL, "link"},
      {"absent.bin", NULL, NULL, "No such file"},
      {"w.bin", "9", NULL, "ends at byte 9 + 8, \"w.bin\" has 16"},
      {"w.bin", "18446744073709551615", NULL, "ends at byte 18446744073709551615 + 8"},
      {"w.bin", "18446744073709551616", NULL,
       "offset is \"18446744073709551616\", expected a number"},
      {"w.bin", "-1", NULL, "offset is \"-1\", expected a number"},
      {"w.bin", "0", "7", "has 7 bytes, but its shape requires 8"},
      {"w.bin", "0", "", "length is \"\", expected a number"},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_text t = external(rows[i].location, rows[i].offset, rows[i].length);
    wick_status s = tensor(&t, &d);
    assert_non_null(s);
    if (!strstr(s->message, rows[i].want)) assert_string_equal(s->message, rows[i].want);
  }
  unlink(link);
  unlink(file);
  rmdir(folder);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
  const struct CMUnitTest tests[] = {TEST(test_types), TEST(test_shapes), TEST(test_faults),
                                     TEST(test_in_place), TEST(test_external)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
