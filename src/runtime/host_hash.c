/* Hashes of strings, as TensorFlow computes them: FarmHash's 64-bit fingerprint, and SipHash.
 *
 * Sources: Pike's farmhash (farmhashna::Hash64); Aumasson and Bernstein, SipHash, 2012. Words are
 * little-endian. */
#include <string.h>

#include "runtime/host.h"

static uint64_t hash_word(const unsigned char *s, int nbytes)
{
  uint64_t x = 0;
  for (int k = nbytes; k-- > 0;) x = x << 8 | s[k];
  return x;
}

static uint64_t hash_u64(const unsigned char *s) { return hash_word(s, 8); }
static uint64_t hash_u32(const unsigned char *s) { return hash_word(s, 4); }
static uint64_t hash_right(uint64_t x, int bits) { return x >> bits | x << (64 - bits); }
static uint64_t hash_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }
static uint64_t hash_mixed(uint64_t x) { return x ^ x >> 47; }

/* ---- FarmHash ---- */

static const uint64_t farm0 = 0xc3a5c85c97cb3127, farm1 = 0xb492b66fbe98f273,
                      farm2 = 0x9ae16a3b2f90404f;

typedef struct farm_pair {
  uint64_t a, b;
} farm_pair;

static uint64_t farm_join(uint64_t a, uint64_t b, uint64_t factor)
{
  a = hash_mixed((a ^ b) * factor);
  return hash_mixed((b ^ a) * factor) * factor;
}

static uint64_t farm_to_16(const unsigned char *s, uint64_t n)
{
  uint64_t factor = farm2 + n * 2;
  if (n >= 8) {
    uint64_t a = hash_u64(s) + farm2, b = hash_u64(s + n - 8);
    return farm_join(hash_right(b, 37) * factor + a, (hash_right(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return farm_join(n + (hash_u32(s) << 3), hash_u32(s + n - 4), factor);
  if (!n) return farm2;
  uint64_t y = s[0] + ((uint64_t)s[n >> 1] << 8), z = n + ((uint64_t)s[n - 1] << 2);
  return hash_mixed(y * farm2 ^ z * farm0) * farm2;
}

/* The two sums of the first and last 16 of at least 17 bytes. */
static farm_pair farm_ends(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  return (farm_pair){hash_right(a + b, 43) + hash_right(c, 30) + d,
                     a + hash_right(b + farm2, 18) + c};
}

static uint64_t farm_to_32(const unsigned char *s, uint64_t n)
{
  uint64_t factor = farm2 + n * 2;
  farm_pair p = farm_ends(hash_u64(s) * farm1, hash_u64(s + 8), hash_u64(s + n - 8) * factor,
                          hash_u64(s + n - 16) * farm2);
  return farm_join(p.a, p.b, factor);
}

static uint64_t farm_to_64(const unsigned char *s, uint64_t n)
{
  uint64_t factor = farm2 + n * 2, a = hash_u64(s) * farm2;
  farm_pair p =
      farm_ends(a, hash_u64(s + 8), hash_u64(s + n - 8) * factor, hash_u64(s + n - 16) * farm2);
  uint64_t z = farm_join(p.a, p.b, factor), e = hash_u64(s + 16) * factor, f = hash_u64(s + 24);
  uint64_t g = (p.a + hash_u64(s + n - 32)) * factor, h = (z + hash_u64(s + n - 24)) * factor;
  return farm_join(hash_right(e + f, 43) + hash_right(g, 30) + h, e + hash_right(f + a, 18) + g,
                   factor);
}

static farm_pair farm_weak(const unsigned char *s, uint64_t a, uint64_t b)
{
  a += hash_u64(s);
  b = hash_right(b + a + hash_u64(s + 24), 21);
  uint64_t c = a;
  a += hash_u64(s + 8) + hash_u64(s + 16);
  return (farm_pair){a + hash_u64(s + 24), b + hash_right(a, 44) + c};
}

typedef struct farm_state {
  uint64_t x, y, z;
  farm_pair v, w;
} farm_state;

/* Adds 64 bytes. The last ones have another factor, and `weight` for two words. */
static void farm_block(farm_state *h, const unsigned char *s, uint64_t factor, uint64_t weight)
{
  uint64_t x = hash_right(h->x + h->y + h->v.a + hash_u64(s + 8), 37) * factor;
  uint64_t y = hash_right(h->y + h->v.b + hash_u64(s + 48), 42) * factor;
  x ^= h->w.b * weight;
  y += h->v.a * weight + hash_u64(s + 40);
  uint64_t z = hash_right(h->z + h->w.a, 33) * factor;
  h->v = farm_weak(s, h->v.b * factor, x + h->w.a);
  h->w = farm_weak(s + 32, z + h->w.b, y + hash_u64(s + 16));
  h->x = z, h->y = y, h->z = x;
}

static uint64_t hash_farm(const unsigned char *s, uint64_t n)
{
  if (n <= 16) return farm_to_16(s, n);
  if (n <= 32) return farm_to_32(s, n);
  if (n <= 64) return farm_to_64(s, n);
  const uint64_t seed = 81, y = seed * farm1 + 113, last = (n - 1) & 63;
  farm_state h = {.x = seed * farm2 + hash_u64(s), .y = y};
  h.z = hash_mixed(y * farm2 + 113) * farm2;
  for (uint64_t k = 0; k < (n - 1) / 64; k++) farm_block(&h, s + 64 * k, farm1, 1);
  uint64_t factor = farm1 + ((h.z & 255) << 1);
  h.w.a += last;
  h.v.a += h.w.a;
  h.w.a += h.v.a;
  farm_block(&h, s + n - 64, factor, 9);
  return farm_join(farm_join(h.v.a, h.w.a, factor) + hash_mixed(h.y) * farm0 + h.z,
                   farm_join(h.v.b, h.w.b, factor) + h.x, factor);
}

/* ---- SipHash-2-4 ---- */

static void sip_rounds(uint64_t v[4], int n)
{
  while (n-- > 0) {
    v[0] += v[1], v[1] = hash_left(v[1], 13) ^ v[0], v[0] = hash_left(v[0], 32);
    v[2] += v[3], v[3] = hash_left(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = hash_left(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = hash_left(v[1], 17) ^ v[2], v[2] = hash_left(v[2], 32);
  }
}

static void sip_word(uint64_t v[4], uint64_t word)
{
  v[3] ^= word;
  sip_rounds(v, 2);
  v[0] ^= word;
}

static uint64_t hash_sip(const unsigned char *s, uint64_t n, const int64_t key[2])
{
  const uint64_t k0 = (uint64_t)key[0], k1 = (uint64_t)key[1], whole = n & ~(uint64_t)7;
  uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                   k1 ^ 0x7465646279746573};
  for (uint64_t k = 0; k < whole; k += 8) sip_word(v, hash_u64(s + k));
  sip_word(v, n << 56 | hash_word(s + whole, (int)(n - whole)));
  v[2] ^= 255;
  sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

enum { HASH_METHOD, HASH_KEY };
enum { HASH_FARM, HASH_SIP };

/* Bytes along the last axis of x, whose elements may not be next to each other: copies row k. */
static void hash_copy_row(const wick_host_tensor *x, int64_t k, int64_t nbytes, unsigned char *to)
{
  int64_t first = wick_host_at(x, k * nbytes), step = x->stride[x->rank - 1];
  for (int64_t i = 0; i < nbytes; i++) to[i] = ((const unsigned char *)x->data)[first + i * step];
}

static wick_code string_hash(wick_host_call *c)
{
  const wick_host_attr *key = &c->attr[HASH_KEY];
  const wick_host_tensor *x = &c->arg[1];
  bool rows = x->elem == WICK_U8;
  size_t width = rows ? (size_t)x->dim[x->rank - 1] : 0;
  unsigned char *row = width ? c->allocator.alloc(c->allocator.self, width) : NULL;
  if (width && !row) return WICK_ENOMEM;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n; k++) {
    wick_string s = rows ? (wick_string){.nbytes = width} : wick_host_text(c, x, k);
    const unsigned char *at = (const unsigned char *)(s.nbytes && !rows ? s.at : "");
    if (width) hash_copy_row(x, k, (int64_t)width, row), at = row;
    uint64_t h = c->attr[HASH_METHOD].i == HASH_SIP ? hash_sip(at, s.nbytes, key->ints)
                                                    : hash_farm(at, s.nbytes);
    wick_host_set(&c->arg[0], k, (int64_t)h);
  }
  if (row) c->allocator.free(c->allocator.self, row, width);
  return WICK_OK;
}

const wick_host_row wick_host_hash_rows[] = {
    {"string_hash", NULL, NULL, string_hash},
    {0},
};
