/* The superblock, and checked reads of the structure of an HDF5 file. */
#include "import/hdf5/file.h"

#include <string.h>

#include "import/inflate.h"

void hdf5_begin(wick_hdf5 *f)
{
  f->bad = NULL;
  f->left = (uint64_t)f->nbytes + 4096; /* blocks do not overlap */
}

bool hdf5_refuse(wick_hdf5 *f, uint64_t at, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  if (!f->bad) {
    wick_status what = wick_vfail(f->mem, code, NULL, fmt, args);
    f->bad = wick_fail(f->mem, code, f->location, "at byte %llu: %s",
                       (unsigned long long)(at + f->skipped), what->message);
  }
  va_end(args);
  return false;
}

/* ---- reads ---- */

wick_reader hdf5_reader(const wick_hdf5 *f, wick_span s)
{
  const unsigned char *at = s.at ? s.at : f->at;
  return (wick_reader){.start = f->at, .at = at, .end = at + (s.at ? s.nbytes : 0)};
}

bool hdf5_block(wick_hdf5 *f, uint64_t at, uint64_t nbytes, wick_reader *out)
{
  *out = hdf5_reader(f, (wick_span){f->at, 0});
  if (at > f->nbytes || nbytes > f->nbytes - at)
    return hdf5_refuse(f, at, WICK_EPARSE, "a block of %llu bytes is not within the file",
                       (unsigned long long)nbytes);
  if (nbytes + 16 > f->left)
    return hdf5_refuse(f, at, WICK_EPARSE, "its blocks form a cycle, or overlap");
  f->left -= nbytes + 16;
  *out = hdf5_reader(f, (wick_span){f->at + at, (size_t)nbytes});
  return true;
}

bool hdf5_signed(wick_hdf5 *f, uint64_t at, uint64_t nbytes, const char *letters, uint32_t version,
                 wick_reader *out)
{
  if (!hdf5_block(f, at, nbytes, out)) return false;
  if (nbytes < 5 || memcmp(out->at, letters, 4) != 0)
    return hdf5_refuse(f, at, WICK_EPARSE, "a block does not begin with %s", letters);
  if (out->at[4] != version)
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "version %u of a block %s is not known",
                       out->at[4], letters);
  out->at += 5;
  return true;
}

uint64_t hdf5_uint(wick_reader *r, uint32_t nbytes)
{
  uint64_t value = 0;
  if (nbytes > 8 || wick_reader_left(r) < nbytes) {
    (void)wick_reader_refuse(r, wick_reader_position(r), "the block ends too early");
    return 0;
  }
  for (uint32_t i = 0; i < nbytes; i++) value |= (uint64_t)r->at[i] << (8 * i);
  r->at += nbytes;
  return value;
}

uint64_t hdf5_address(const wick_hdf5 *f, wick_reader *r)
{
  uint64_t most = UINT64_MAX >> (64 - 8 * f->noffset), at = hdf5_uint(r, f->noffset);
  return at == most ? HDF5_NOWHERE : at;
}

uint64_t hdf5_length(const wick_hdf5 *f, wick_reader *r) { return hdf5_uint(r, f->nlength); }

wick_span hdf5_span(wick_reader *r, uint64_t nbytes)
{
  wick_span s = {r->at, 0};
  (void)!wick_read_span(r, nbytes, &s);
  return s.at ? s : (wick_span){r->at, 0};
}

bool hdf5_whole(wick_hdf5 *f, const wick_reader *r)
{
  return r->fault ? hdf5_refuse(f, r->fault_at, WICK_EPARSE, "%s", r->fault) : !f->bad;
}

uint32_t hdf5_width(uint64_t most)
{
  uint32_t n = 1;
  while (n < 8 && most >> (8 * n)) n++;
  return n;
}

/* ---- checksums: Jenkins' lookup3, https://burtleburtle.net/bob/c/lookup3.c ---- */

static uint32_t file_rotate(uint32_t x, uint32_t k) { return x << k | x >> (32 - k); }

static void file_mix(uint32_t s[3])
{
  static const uint8_t by[] = {4, 6, 8, 16, 19, 4};
  for (uint32_t i = 0; i < 6; i++) {
    uint32_t *a = &s[i % 3], *b = &s[(i + 1) % 3], *c = &s[(i + 2) % 3];
    *a -= *c, *a ^= file_rotate(*c, by[i]), *c += *b;
  }
}

static void file_finish(uint32_t s[3])
{
  static const uint8_t by[] = {14, 11, 25, 16, 4, 14, 24};
  for (uint32_t i = 0; i < 7; i++) {
    uint32_t *c = &s[(i + 2) % 3], b = s[(i + 1) % 3];
    *c ^= b, *c -= file_rotate(b, by[i]);
  }
}

static uint32_t file_hash(const unsigned char *at, size_t n)
{
  uint32_t first = 0xdeadbeef + (uint32_t)n, s[3] = {first, first, first};
  if (!n) return s[2];
  for (;; n -= 12, at += 12) {
    for (uint32_t i = 0; i < 12 && i < n; i++) s[i / 4] += (uint32_t)at[i] << (8 * (i % 4));
    if (n <= 12) break;
    file_mix(s);
  }
  file_finish(s);
  return s[2];
}

bool hdf5_checksum(wick_hdf5 *f, uint64_t at, uint64_t nbytes)
{
  if (at > f->nbytes || nbytes > f->nbytes - at || f->nbytes - at - nbytes < 4)
    return hdf5_refuse(f, at, WICK_EPARSE, "a block is not within the file");
  wick_reader r = hdf5_reader(f, (wick_span){f->at + at + nbytes, 4});
  if (hdf5_uint(&r, 4) != file_hash(f->at + at, (size_t)nbytes))
    return hdf5_refuse(f, at, WICK_EPARSE, "the checksum of a block is wrong: the file is damaged");
  return true;
}

/* ---- the superblock ---- */

/* Versions 0 and 1: the root group is an entry of a symbol table. */
static void file_old(wick_hdf5 *f, wick_reader *r, uint32_t version, uint64_t *base)
{
  hdf5_uint(r, 4); /* versions of its parts */
  f->noffset = (uint32_t)hdf5_uint(r, 1), f->nlength = (uint32_t)hdf5_uint(r, 1);
  hdf5_span(r, version ? 13 : 9); /* sizes of nodes, flags */
  *base = hdf5_address(f, r);
  hdf5_span(r, 3 * (uint64_t)f->noffset + f->nlength); /* free space, end, driver; a name */
  f->root = hdf5_address(f, r);
}

static void file_new(wick_hdf5 *f, wick_reader *r, uint64_t *base)
{
  f->noffset = (uint32_t)hdf5_uint(r, 1), f->nlength = (uint32_t)hdf5_uint(r, 1);
  hdf5_uint(r, 1); /* flags */
  *base = hdf5_address(f, r);
  hdf5_span(r, 2 * (uint64_t)f->noffset); /* extension, end */
  f->root = hdf5_address(f, r);
}

static bool file_is_width(uint32_t n) { return n == 2 || n == 4 || n == 8; }

static bool file_superblock(wick_hdf5 *f)
{
  static const char magic[] = "\x89HDF\r\n\x1a\n";
  size_t at = 0;
  while (at + 16 < f->nbytes && memcmp(f->at + at, magic, 8) != 0) at = at ? 2 * at : 512;
  if (at + 16 >= f->nbytes) return hdf5_refuse(f, 0, WICK_EPARSE, "this is no HDF5 file");
  f->at += at, f->nbytes -= at, f->skipped = at;
  wick_reader r = hdf5_reader(f, (wick_span){f->at + 8, f->nbytes - 8});
  uint32_t version = (uint32_t)hdf5_uint(&r, 1);
  uint64_t base = 0;
  if (version > 3)
    return hdf5_refuse(f, 8, WICK_EUNSUPPORTED, "version %u of the superblock is not known",
                       version);
  size_t widths = version < 2 ? 13 : 9;
  f->noffset = widths + 1 < f->nbytes ? f->at[widths] : 0;
  f->nlength = widths + 1 < f->nbytes ? f->at[widths + 1] : 0;
  if (!file_is_width(f->noffset) || !file_is_width(f->nlength))
    return hdf5_refuse(f, widths, WICK_EPARSE, "addresses of %u and sizes of %u bytes are no HDF5",
                       f->noffset, f->nlength);
  if (version < 2)
    file_old(f, &r, version, &base);
  else
    file_new(f, &r, &base);
  if (!hdf5_whole(f, &r)) return false;
  if (version >= 2 && !hdf5_checksum(f, 0, wick_reader_position(&r))) return false;
  if (base != 0 && base != at)
    return hdf5_refuse(f, 0, WICK_EUNSUPPORTED, "its base address is not where the file begins");
  return true;
}

wick_status wick_hdf5_open(wick_span bytes, const char *location, wick_arena *mem, wick_hdf5 **out)
{
  wick_hdf5 *f = *out = wick_new(mem, wick_hdf5, 1);
  *f = (wick_hdf5){
      .at = bytes.at,
      .nbytes = bytes.nbytes,
      .location = wick_arena_copy(mem, location, strlen(location) + 1, 1),
      .mem = mem,
      .expanded = wick_inflate_most(bytes.nbytes),
  };
  hdf5_begin(f);
  (void)file_superblock(f);
  return f->bad;
}

wick_hdf5_object wick_hdf5_root(const wick_hdf5 *f) { return (wick_hdf5_object){f->root}; }
