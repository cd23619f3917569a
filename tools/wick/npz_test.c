/* .npz: files written by NumPy, files that are written and read again, and directories with false
 * entries. */
#include "npz.h"

#include <stdio.h>
#include <unistd.h>

#include "base/str.h"

#include "io_testing.h"

/* np.savez_compressed(f, x=np.array([[1, 2], [3, 4]], '<f4'), label=np.array(7, '<i8')), NumPy 2.4
 */
static const char numpy_file[] =
    "\x50\x4b\x03\x04\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x4e\xfb\x20\x75\xff\xff\xff\xff"
    "\xff\xff\xff\xff\x05\x00\x14\x00\x78\x2e\x6e\x70\x79\x01\x00\x10\x00\x90\x00\x00\x00\x00"
    "\x00\x00\x00\x53\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50"
    "\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x6e\x93\x66\xa2\xae\xa3\xa0\x9e\x96\x5f\x54\x52"
    "\x94\x98\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02"
    "\xf9\x1a\x46\x3a\x0a\x46\x9a\x3a\x0a\xb5\x0a\x64\x03\x2e\x06\x86\x06\x7b\x06\x06\x06\x07"
    "\x20\x02\xe2\x06\x07\x00\x50\x4b\x03\x04\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x23\xb8"
    "\xf0\x6c\xff\xff\xff\xff\xff\xff\xff\xff\x09\x00\x14\x00\x6c\x61\x62\x65\x6c\x2e\x6e\x70"
    "\x79\x01\x00\x10\x00\x88\x00\x00\x00\x00\x00\x00\x00\x46\x00\x00\x00\x00\x00\x00\x00\x9b"
    "\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x6e\x93"
    "\x69\xa1\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc"
    "\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x9a\x3a\x0a\xb5\x0a\x14\x01\x2e\x76\x06"
    "\x08\x00\x00\x50\x4b\x01\x02\x2d\x03\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x4e\xfb\x20"
    "\x75\x53\x00\x00\x00\x90\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"
    "\x01\x00\x00\x00\x00\x78\x2e\x6e\x70\x79\x50\x4b\x01\x02\x2d\x03\x2d\x00\x00\x00\x08\x00"
    "\x00\x00\x21\x00\x23\xb8\xf0\x6c\x46\x00\x00\x00\x88\x00\x00\x00\x09\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x80\x01\x8a\x00\x00\x00\x6c\x61\x62\x65\x6c\x2e\x6e\x70\x79\x50"
    "\x4b\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00\x6a\x00\x00\x00\x0b\x01\x00\x00\x00\x00";
enum { NUMPY_NBYTES = sizeof numpy_file - 1 };

static wick_status read_npz(io_test *t, wick_span bytes)
{
  wick_arrays list = {0};
  WICK_TRY(wick_npz_read(bytes, "x.npz", &t->mem, &list));
  for (uint32_t i = 0; i < list.n; i++) io_touch(&list.at[i]);
  return NULL;
}

static void test_numpy_compressed(void **state)
{
  (void)state;
  IO_BEGIN(t);
  wick_arrays list = {0};
  wick_span s = {(const unsigned char *)numpy_file, NUMPY_NBYTES};
  assert_null(wick_npz_read(s, "x.npz", &t.mem, &list));
  assert_int_equal(list.n, 2);
  const wick_array *x = &list.at[0], *label = &list.at[1];
  assert_string_equal(x->name, "x");
  assert_string_equal(wick_array_type(&t.mem, x->elem, x->rank, x->dim), "f32[2,2]");
  static const float want[] = {1, 2, 3, 4};
  assert_memory_equal(x->data, want, sizeof want);
  assert_string_equal(label->name, "label");
  assert_string_equal(wick_array_type(&t.mem, label->elem, label->rank, label->dim), "i64[]");
  assert_memory_equal(label->data, ((int64_t[]){7}), 8);
  io_truncate(&t, read_npz, numpy_file, NUMPY_NBYTES);
  io_starve(read_npz, numpy_file, NUMPY_NBYTES);
  io_mutate(&t, read_npz, numpy_file, NUMPY_NBYTES, NUMPY_NBYTES, 20000);
  io_end(&t);
}

/* Changes bytes of the directory's first entry. Source: APPNOTE.TXT 4.3.12. */
static const struct {
  size_t at;
  const char *bytes;
  size_t n;
  const char *want;
} lies[] = {
    {10, "\14", 1, "x.npz: its entry \"x.npy\": it is neither stored nor deflated"},
    {24, "\xf0\xff\xff\xff", 4,
     "x.npz: its entry \"x.npy\": its size is more than the file's bytes can hold"},
    {24, "\x91\0\0\0", 4, "x.npz: its entry \"x.npy\": its size differs from its header"},
    {24, "\x8f\0\0\0", 4, "x.npz: its entry \"x.npy\": its size differs from its header"},
    {16, "\1\2\3\4", 4, "x.npz: its entry \"x.npy\": CRC error"},
    {50, "z", 1, "x.npz: its entry \"x.npz\": its name does not end in .npy"},
    {42, "\xff\xff\xff\x7f", 4, NULL},
};

static void test_lies(void **state)
{
  (void)state;
  IO_BEGIN(t);
  size_t first = 0;
  while (memcmp(numpy_file + first, "PK\1\2", 4) != 0) first++;
  for (size_t i = 0; i < WICK_COUNT(lies); i++) {
    unsigned char copy[NUMPY_NBYTES];
    memcpy(copy, numpy_file, sizeof copy);
    memcpy(copy + first + lies[i].at, lies[i].bytes, lies[i].n);
    wick_arrays list = {0};
    wick_status s = wick_npz_read(io_span(copy, sizeof copy), "x.npz", &t.mem, &list);
    assert_non_null(s);
    if (lies[i].want) assert_string_equal(s->message, lies[i].want);
  }
  io_end(&t);
}

static void test_written_and_read_again(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const float x[] = {1, -2, 3, 4, 5, 6};
  static const uint8_t y[] = {1, 2, 3};
  wick_arrays list = {0}, back = {0};
  wick_push(&t.mem, &list,
            (wick_array){
                .name = "x", .elem = WICK_F32, .rank = 2, .dim = {2, 3}, .data = x, .nbytes = 24});
  wick_push(
      &t.mem, &list,
      (wick_array){.name = "a/y", .elem = WICK_U8, .rank = 1, .dim = {3}, .data = y, .nbytes = 3});
  wick_push(
      &t.mem, &list,
      (wick_array){
          .name = "none", .elem = WICK_F32, .rank = 2, .dim = {0, 3}, .data = "", .nbytes = 0});
  char *path = wick_str_printf(&t.mem, "/tmp/wick-npz-%ld.npz", (long)getpid());
  char *text[2];
  size_t n[2];
  for (int i = 0; i < 2; i++) {
    assert_null(wick_npz_write(&list, path, &t.tmp));
    assert_null(wick_file_read(&t.mem, path, 0, &text[i], &n[i]));
  }
  assert_int_equal(n[0], n[1]);
  assert_memory_equal(text[0], text[1], n[0]);
  assert_null(wick_npz_read(io_span(text[0], n[0]), path, &t.mem, &back));
  unlink(path);
  assert_int_equal(back.n, list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    const wick_array *a = &list.at[i], *b = &back.at[i];
    assert_string_equal(a->name, b->name);
    assert_string_equal(wick_array_type(&t.mem, a->elem, a->rank, a->dim),
                        wick_array_type(&t.mem, b->elem, b->rank, b->dim));
    assert_memory_equal(a->data, b->data, (size_t)a->nbytes);
  }
  wick_status s = wick_npz_write(&list, "/nowhere/x.npz", &t.tmp);
  assert_non_null(s);
  assert_string_equal(s->message, "/nowhere/x.npz: cannot write it: Failure to create temporary "
                                  "file: No such file or directory");
  io_end(&t);
}

static void test_empty(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const char empty[22] = "PK\5\6"; /* np.savez(f) */
  wick_arrays list = {0};
  assert_null(wick_npz_read(io_span(empty, sizeof empty), "x.npz", &t.mem, &list));
  assert_int_equal(list.n, 0);
  io_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numpy_compressed),
      cmocka_unit_test(test_lies),
      cmocka_unit_test(test_written_and_read_again),
      cmocka_unit_test(test_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
