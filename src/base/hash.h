/* A fast hash for tables in memory and for keys in the cache (equality is always checked after it).
 * FNV-1a over 8-byte words with a final avalanche; the same on every machine. */
#ifndef WICK_BASE_HASH_H
#define WICK_BASE_HASH_H

#include <string.h>

#include "base/base.h"

static inline uint64_t wick_hash_u64(uint64_t h, uint64_t x)
{
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

/* n words of 8 bytes; in pieces it is the same. */
static inline uint64_t wick_hash_words(uint64_t h, const void *p, size_t n)
{
  const unsigned char *s = p;
  for (; n; n--, s += 8) {
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x |= (uint64_t)s[i] << (8 * i);
    h = wick_hash_u64(h, x);
  }
  return h;
}

static inline uint64_t wick_hash_bytes(uint64_t h, const void *p, size_t n)
{
  const unsigned char *s = p;
  h = wick_hash_words(h, s, n / 8);
  if (n >= 8) s += n & ~(size_t)7; /* p may be NULL where n is 0 */
  n &= 7;
  uint64_t x = n;
  for (size_t i = 0; i < n; i++) x |= (uint64_t)s[i] << (8 * i + 8);
  return wick_hash_u64(h, x);
}

static inline uint64_t wick_hash_str(uint64_t h, const char *s)
{
  return wick_hash_bytes(h, s, strlen(s));
}

#define WICK_HASH_SEED 0xcbf29ce484222325u

#endif
