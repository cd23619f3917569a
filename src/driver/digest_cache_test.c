/* A digest is used only for the file that it was computed from. No digest is kept for a file that
 * has just been changed. */
#include "driver/digest_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_stamp(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  char folder[] = "/tmp/wick-stamp-XXXXXX", path[64], command[64];
  uint64_t digest = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/model", folder);
  const wick_bytes part = {"bytes", 5};
  assert_null(wick_file_write(&mem, path, &part, 1));
  wick_files files = wick_files_begin(&mem);
  wick_file *f;
  assert_null(wick_files_map(&files, path, &f));
  assert_true(f->inode && f->written_ns > 0 && f->changed_ns >= f->written_ns - 1000000000);
  int64_t now = f->changed_ns + 1000000000, later = now + 2000000000;
  assert_false(wick_digest_cache_find(folder, f, &mem, &digest));
  wick_digest_cache_keep(folder, f, now, &mem, 1);
  assert_false(wick_digest_cache_find(folder, f, &mem, &digest));
  wick_digest_cache_keep(folder, f, later, &mem, 0xfedcba9876543210u);
  assert_true(wick_digest_cache_find(folder, f, &mem, &digest));
  assert_true(digest == 0xfedcba9876543210u);
  wick_file other = *f;
  other.written_ns++;
  assert_false(wick_digest_cache_find(folder, &other, &mem, &digest));
  other = *f, other.nbytes++;
  assert_false(wick_digest_cache_find(folder, &other, &mem, &digest));
  other = *f, other.inode++;
  assert_false(wick_digest_cache_find(folder, &other, &mem, &digest));
  wick_files_close(&files);
  wick_arena_free(&mem);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stamp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
