/* Kinds of files, TensorProto, and the .npy files from NumPy in ../shared: if they are read and
 * written again, they have the same bytes. */
#include "tensor_io.h"

#include <glob.h>
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"

#include "io_testing.h"
#include "npy.h"

#define S(literal) literal, sizeof(literal) - 1

static wick_status read_pb(io_test *t, wick_span bytes)
{
  wick_array a;
  WICK_TRY(wick_pb_read(bytes, "x.pb", &t->mem, &a));
  io_touch(&a);
  return NULL;
}

/* ---- TensorProto ---- */

static const char
    onnx_file[] = /* numpy_helper.from_array(np.array([[1, -2]], '<i2'), 'x'), onnx 1.23 */
    "\x08\x01\x08\x02\x10\x05\x42\x01x\x4a\x04\x01\0\xfe\xff";

static void test_onnx_wrote(void **state)
{
  (void)state;
  IO_BEGIN(t);
  wick_array a;
  assert_null(wick_pb_read(io_span(onnx_file, sizeof onnx_file - 1), "x.pb", &t.mem, &a));
  assert_string_equal(a.name, "x");
  assert_string_equal(wick_array_type(&t.mem, a.elem, a.rank, a.dim), "i16[1,2]");
  assert_memory_equal(a.data, ((int16_t[]){1, -2}), 4);
  io_mutate(&t, read_pb, S(onnx_file), sizeof onnx_file - 1, 20000);
  io_end(&t);
}

static void test_every_type_through_pb(void **state)
{
  (void)state;
  IO_BEGIN(t);
  unsigned char data[12 * 16];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + 1);
  for (int e = 0; e < WICK_NELEM; e++)
    for (uint32_t rank = 0; rank <= 2; rank++) {
      wick_array a = {.name = rank ? "x" : "",
                      .elem = (wick_elem)e,
                      .rank = rank,
                      .dim = {3, 4},
                      .data = data},
                 b;
      wick_bytes part[2];
      assert_true(wick_array_nbytes(a.elem, rank, a.dim, &a.nbytes));
      if (e == WICK_STRING) continue; /* value_test.c */
      assert_null(wick_pb_parts(&a, "x.pb", &t.mem, part));
      if (e == WICK_BOOL)
        for (size_t i = 0; i < a.nbytes; i++) data[i] &= 1;
      wick_text text = wick_text_begin(&t.mem);
      for (int i = 0; i < 2; i++) wick_text_addn(&text, part[i].at, part[i].nbytes);
      assert_null(wick_pb_read(io_span(text.at, text.n), "x.pb", &t.mem, &b));
      assert_string_equal(b.name, a.name);
      assert_string_equal(wick_array_type(&t.mem, b.elem, b.rank, b.dim),
                          wick_array_type(&t.mem, a.elem, rank, a.dim));
      assert_int_equal(b.nbytes, a.nbytes);
      assert_memory_equal(b.data, a.data, (size_t)a.nbytes);
      assert_non_null(io_read_exactly(&t, read_pb, text.at, text.n - 1));
    }
  io_end(&t);
}

/* ---- sizes ---- */

static void test_sizes(void **state)
{
  (void)state;
  uint64_t n;
  assert_true(wick_array_nbytes(WICK_F32, 2, (int64_t[]){3, 5}, &n));
  assert_int_equal(n, 60);
  assert_true(wick_array_nbytes(WICK_U4, 1, (int64_t[]){3}, &n));
  assert_int_equal(n, 2);
  assert_true(wick_array_nbytes(WICK_F32, 3, (int64_t[]){3, 0, 5}, &n));
  assert_int_equal(n, 0);
  assert_false(wick_array_nbytes(WICK_F32, 3, (int64_t[]){INT64_MAX, 0, 2}, &n));
  assert_false(wick_array_nbytes(WICK_F32, 1, (int64_t[]){-1}, &n));
  assert_false(wick_array_nbytes(WICK_U8, 1, (int64_t[]){INT64_MAX}, &n));
}

/* ---- files ---- */

static const struct {
  const char *name, *bytes;
  size_t n;
  const char *want; /* the message after the file's name */
} rows[] = {
    {"x.pb", S(onnx_file), NULL},
    {"x.npy",
     S("\x93NUMPY\1\0\x39\0{'descr': '|u1', 'fortran_order': False, 'shape': (3,)} \n\1\2\3"),
     NULL},
    {"x.anything",
     S("\x93NUMPY\1\0\x39\0{'descr': '|u1', 'fortran_order': False, 'shape': (3,)} \n\1\2\3"),
     NULL},
    {"x.npy", S(onnx_file),
     ": this is an ONNX tensor, not a model, expected .npy, .npz, .png, .jpg, a "
     "TensorProto in a file named .pb, or a map in one named .json"},
    {"x.npy", S("\x93NUMPY"), ": at byte 6: "},
    {"x.npz", S("PK\3\4"), ": it is no zip file"},
    {"x.png", S("\x89PNG\r\n\x1a\n"), ": it cannot be read as PNG: the file ends too early"},
    {"x.jpg", S("\xff\xd8\xff"), ": it cannot be read as JPEG: "},
    {"x.pb", S("\x08"), ": at byte 1: "},
    {"empty", S(""), ": this is an empty file"},
};

static void test_kinds(void **state)
{
  (void)state;
  IO_BEGIN(t);
  char folder[] = "/tmp/wick-io-XXXXXX";
  assert_non_null(mkdtemp(folder));
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_files files = wick_files_begin(&t.mem);
    wick_arrays list = {0};
    char *path = wick_path_join(&t.mem, folder, rows[i].name);
    wick_bytes part = {rows[i].bytes, rows[i].n};
    assert_null(wick_file_write(&t.mem, path, &part, 1));
    wick_status s = wick_arrays_read(&files, path, &t.mem, &t.tmp, &list);
    if (rows[i].want) {
      assert_non_null(s);
      char *want = wick_str_printf(&t.mem, "%s%s", path, rows[i].want);
      if (strncmp(s->message, want, strlen(want)) != 0) assert_string_equal(s->message, want);
    } else {
      assert_null(s);
      assert_int_equal(list.n, 1);
    }
    wick_files_close(&files);
    unlink(path);
  }
  wick_files files = wick_files_begin(&t.mem);
  wick_arrays list = {0};
  assert_non_null(wick_arrays_read(&files, "/nowhere", &t.mem, &t.tmp, &list));
  assert_non_null(wick_arrays_read(&files, folder, &t.mem, &t.tmp, &list));
  rmdir(folder);
  io_end(&t);
}

static void test_write(void **state)
{
  (void)state;
  IO_BEGIN(t);
  char folder[] = "/tmp/wick-io-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_array a = {
      .name = "", .elem = WICK_F32, .rank = 1, .dim = {2}, .data = (float[]){1, 2}, .nbytes = 8};
  static const char *const names[] = {"a.npy", "a.pb"};
  for (size_t i = 0; i < WICK_COUNT(names); i++) {
    wick_files files = wick_files_begin(&t.mem);
    wick_arrays list = {0};
    char *path = wick_path_join(&t.mem, folder, names[i]);
    assert_null(wick_array_write(&a, path, &t.tmp));
    assert_null(wick_arrays_read(&files, path, &t.mem, &t.tmp, &list));
    assert_int_equal(list.n, 1);
    assert_memory_equal(list.at[0].data, a.data, 8);
    wick_files_close(&files);
    unlink(path);
  }
  wick_status s = wick_array_write(&a, "a.txt", &t.tmp);
  assert_non_null(s);
  assert_string_equal(
      s->message, "a.txt: the file's name does not end like a known kind, expected .npy or .pb");
  rmdir(folder);
  io_end(&t);
}

static void test_files_of_numpy(void **state)
{
  (void)state;
  glob_t g;
  if (glob("../shared/*/*/*.npy", 0, NULL, &g) != 0) {
    printf("skipped: there are no ../shared/*/*/*.npy\n");
    skip();
  }
  IO_BEGIN(t);
  for (size_t i = 0; i < g.gl_pathc; i++) {
    wick_mark m = wick_arena_mark(&t.mem);
    wick_files files = wick_files_begin(&t.mem);
    wick_arrays list = {0};
    wick_bytes h;
    wick_file *f;
    assert_null(wick_arrays_read(&files, g.gl_pathv[i], &t.mem, &t.tmp, &list));
    assert_null(wick_files_map(&files, g.gl_pathv[i], &f));
    const wick_array *a = &list.at[0];
    assert_null(wick_npy_header(a, "x.npy", &t.mem, &h));
    assert_int_equal(h.nbytes + a->nbytes, f->nbytes);
    assert_memory_equal(f->at, h.at, h.nbytes);
    assert_memory_equal(f->at + h.nbytes, a->data, (size_t)a->nbytes);
    wick_files_close(&files);
    wick_arena_rewind(&t.mem, m);
  }
  globfree(&g);
  io_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_onnx_wrote), cmocka_unit_test(test_every_type_through_pb),
      cmocka_unit_test(test_sizes),      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_write),      cmocka_unit_test(test_files_of_numpy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
