/* A hash of pieces is that of the whole; changing any bit changes it. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { HASH_WORDS = 37 };

static uint64_t hash_digest(const unsigned char *data, size_t first, size_t second)
{
  wick_digest d = {.nword = 0};
  wick_digest_words(&d, data, first);
  wick_digest_words(&d, data + 8 * first, second);
  wick_digest_words(&d, data + 8 * (first + second), HASH_WORDS - first - second);
  return wick_digest_end(&d);
}

static void pieces(void **state)
{
  (void)state;
  unsigned char data[8 * HASH_WORDS];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 31 + 7);
  uint64_t whole = hash_digest(data, HASH_WORDS, 0),
           words = wick_hash_words(WICK_HASH_SEED, data, HASH_WORDS);
  for (size_t a = 0; a <= HASH_WORDS; a++) {
    uint64_t h = wick_hash_words(WICK_HASH_SEED, data, a);
    assert_true(wick_hash_words(h, data + 8 * a, HASH_WORDS - a) == words);
    for (size_t b = 0; a + b <= HASH_WORDS; b++) assert_true(hash_digest(data, a, b) == whole);
  }
}

static void bits(void **state)
{
  (void)state;
  unsigned char data[8 * HASH_WORDS] = {0};
  uint64_t whole = hash_digest(data, HASH_WORDS, 0);
  for (size_t i = 0; i < 8 * sizeof data; i++) {
    data[i / 8] ^= (unsigned char)(1u << i % 8);
    assert_true(hash_digest(data, HASH_WORDS, 0) != whole);
    data[i / 8] ^= (unsigned char)(1u << i % 8);
  }
  wick_digest shorter = {.nword = 0};
  wick_digest_words(&shorter, data, HASH_WORDS - 1);
  assert_true(wick_digest_end(&shorter) != whole);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(pieces), cmocka_unit_test(bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
