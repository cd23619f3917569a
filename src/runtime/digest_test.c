/* The digest does not depend on the pieces, and changes if a word changes. */
#include "runtime/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { DIGEST_BYTES = 70 << 20 }; /* many blocks, the last one short */

static uint64_t digest_in(wick_arena *mem, unsigned char *data, size_t n, size_t piece)
{
  wick_pieces p = {.at = wick_new(mem, wick_bytes, n / piece + 1), .nbytes = n};
  for (size_t at = 0; at < n; at += piece)
    p.at[p.n++] = (wick_bytes){data + at, n - at < piece ? n - at : piece};
  return wick_digest_of(&p, mem);
}

static void pieces(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  size_t n = DIGEST_BYTES + 8 * 5;
  unsigned char *data = wick_arena_alloc(&mem, n, 64);
  for (size_t i = 0; i < n; i += 64) data[i] = (unsigned char)(i >> 6);
  uint64_t whole = digest_in(&mem, data, n, n);
  assert_true(digest_in(&mem, data, n, 8 * 100003) == whole);
  assert_true(digest_in(&mem, data, n, 24 << 20) == whole);
  static const size_t at[] = {0, (4 << 20) - 1, 4 << 20, DIGEST_BYTES, DIGEST_BYTES + 39};
  for (size_t i = 0; i < WICK_COUNT(at); i++) {
    data[at[i]] ^= 0x80;
    assert_true(digest_in(&mem, data, n, n) != whole);
    data[at[i]] ^= 0x80;
  }
  assert_true(digest_in(&mem, data, n - 8, n) != whole);
  assert_true(digest_in(&mem, data, 0, 8) == digest_in(&mem, data + 1, 0, 8));
  wick_arena_free(&mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(pieces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
