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

/* Reads a little-endian word. It is written out, because compilers do not combine a loop over its
 * bytes. */
static inline uint64_t wick_hash_word(const unsigned char *s)
{
  return (uint64_t)s[0] | (uint64_t)s[1] << 8 | (uint64_t)s[2] << 16 | (uint64_t)s[3] << 24 |
         (uint64_t)s[4] << 32 | (uint64_t)s[5] << 40 | (uint64_t)s[6] << 48 | (uint64_t)s[7] << 56;
}

/* Hashes n words of 8 bytes. Hashing the words in several calls gives the same result. */
static inline uint64_t wick_hash_words(uint64_t h, const void *p, size_t n)
{
  for (const unsigned char *s = p; n; n--, s += 8) h = wick_hash_u64(h, wick_hash_word(s));
  return h;
}

static inline uint64_t wick_hash_bytes(uint64_t h, const void *p, size_t n)
{
  const unsigned char *s = p;
  h = wick_hash_words(h, s, n / 8);
  if (n >= 8) s += n & ~(size_t)7; /* p may be NULL if n is 0 */
  n &= 7;
  uint64_t x = n;
  for (size_t i = 0; i < n; i++) x |= (uint64_t)s[i] << (8 * i + 8);
  return wick_hash_u64(h, x);
}

static inline uint64_t wick_hash_str(uint64_t h, const char *s)
{
  return wick_hash_bytes(h, s, strlen(s));
}

/* A hash for gigabytes. Consecutive words are distributed over four lanes, which a processor
 * computes in parallel. Hashing in several calls gives the same result. */
typedef struct wick_digest {
  uint64_t lane[4];
  size_t nword;
} wick_digest;

static inline void wick_digest_words(wick_digest *d, const void *p, size_t n)
{
  const unsigned char *s = p;
  for (; n && d->nword % 4; n--, d->nword++, s += 8)
    d->lane[d->nword % 4] = wick_hash_u64(d->lane[d->nword % 4], wick_hash_word(s));
  uint64_t a = d->lane[0], b = d->lane[1], c = d->lane[2], e = d->lane[3];
  for (; n >= 4; n -= 4, d->nword += 4, s += 32) {
    a = wick_hash_u64(a, wick_hash_word(s)), b = wick_hash_u64(b, wick_hash_word(s + 8));
    c = wick_hash_u64(c, wick_hash_word(s + 16)), e = wick_hash_u64(e, wick_hash_word(s + 24));
  }
  d->lane[0] = a, d->lane[1] = b, d->lane[2] = c, d->lane[3] = e;
  for (; n; n--, d->nword++, s += 8)
    d->lane[d->nword % 4] = wick_hash_u64(d->lane[d->nword % 4], wick_hash_word(s));
}

static inline uint64_t wick_digest_end(const wick_digest *d)
{
  uint64_t h = wick_hash_u64(0xcbf29ce484222325u, d->nword);
  for (int i = 0; i < 4; i++) h = wick_hash_u64(h, d->lane[i]);
  return h;
}

#define WICK_HASH_SEED 0xcbf29ce484222325u

#endif
