/* Zip archives: the list of entries at the end of the file, and their contents. */
#include "import/zip.h"

#include <string.h>
#include <zlib.h>

#include "base/str.h"
#include "import/inflate.h"

enum { ZIP_END = 22, ZIP_COMMENT = 65535, ZIP_ENTRY = 46, ZIP_LOCAL = 30, ZIP_END64 = 56 };
enum { ZIP_ENCRYPTED = 1, ZIP_LINK = 0120000, ZIP_KIND = 0170000, ZIP_MOST = 1 << 20 };

static uint64_t zip_uint(const unsigned char *at, uint32_t n)
{
  uint64_t x = 0;
  for (uint32_t i = 0; i < n; i++) x |= (uint64_t)at[i] << (8 * i);
  return x;
}

typedef struct zip_state {
  wick_zip *z;
  wick_span all;
  uint64_t at, nbytes, n; /* the list of entries */
  wick_names names;
} zip_state;

static wick_status zip_damaged(const zip_state *s, const char *what)
{
  return wick_fail(s->z->mem, WICK_EPARSE, s->z->location, "the zip archive is damaged: %s", what);
}

static wick_status zip_refuse(const zip_state *s, const char *name, const char *what)
{
  return wick_fail(s->z->mem, WICK_EINVAL, s->z->location, "entry \"%s\" of the zip archive %s",
                   name, what);
}

/* Finds the list of entries. A comment of any text may follow the record that describes it. */
static wick_status zip_find_list(zip_state *s)
{
  wick_span f = s->all;
  if (f.nbytes < ZIP_END) return zip_damaged(s, "it is too short");
  size_t at = f.nbytes - ZIP_END, least = at > ZIP_COMMENT ? at - ZIP_COMMENT : 0;
  while (memcmp(f.at + at, "PK\5\6", 4) != 0 ||
         zip_uint(f.at + at + 20, 2) > f.nbytes - at - ZIP_END) {
    if (at == least) return zip_damaged(s, "it has no list of entries");
    at--;
  }
  uint64_t disk = zip_uint(f.at + at + 4, 2);
  s->n = zip_uint(f.at + at + 10, 2);
  s->nbytes = zip_uint(f.at + at + 12, 4);
  s->at = zip_uint(f.at + at + 16, 4);
  bool wide = s->n == 0xffff || s->nbytes == 0xffffffff || s->at == 0xffffffff;
  if (wide && at >= 20 && memcmp(f.at + at - 20, "PK\6\7", 4) == 0) {
    uint64_t end = zip_uint(f.at + at - 12, 8);
    if (end > f.nbytes || f.nbytes - end < ZIP_END64 || memcmp(f.at + end, "PK\6\6", 4) != 0)
      return zip_damaged(s, "the end of its list of entries is missing");
    s->n = zip_uint(f.at + end + 32, 8);
    s->nbytes = zip_uint(f.at + end + 40, 8);
    s->at = zip_uint(f.at + end + 48, 8);
  } else if (disk != 0) {
    return zip_damaged(s, "it is a part of a larger archive");
  }
  if (s->at > f.nbytes || s->nbytes > f.nbytes - s->at || s->n > s->nbytes / ZIP_ENTRY ||
      s->n > ZIP_MOST)
    return zip_damaged(s, "its list of entries is not within the file");
  return NULL;
}

/* Replaces sizes that do not fit into 32 bits by those of the field for them. */
static bool zip_wide(const unsigned char *at, size_t n, uint64_t *nbytes, uint64_t *packed,
                     uint64_t *offset)
{
  uint64_t *field[] = {nbytes, packed, offset};
  while (n >= 4) {
    uint64_t id = zip_uint(at, 2), size = zip_uint(at + 2, 2);
    if (size > n - 4) return false;
    const unsigned char *from = at + 4;
    for (int i = 0; id == 1 && i < 3; i++) {
      if (*field[i] != 0xffffffff) continue;
      if (from + 8 > at + 4 + size) return false;
      *field[i] = zip_uint(from, 8), from += 8;
    }
    at += 4 + size, n -= 4 + size;
  }
  return true;
}

/* Returns what is wrong with a name; NULL: nothing. */
static const char *zip_name_fault(const char *name, size_t n)
{
  if (!n || strlen(name) != n) return "has no proper name";
  if (name[0] == '/' || name[0] == '\\' || (n > 1 && name[1] == ':')) return "has an absolute path";
  for (const char *at = name; at;) {
    if (at[0] == '.' && at[1] == '.' && (!at[2] || strchr("/\\", at[2])))
      return "leads to a parent folder";
    at = strpbrk(at, "/\\");
    if (at) at++;
  }
  return NULL;
}

static wick_status zip_entry(zip_state *s, const unsigned char *at, size_t left, size_t *used)
{
  wick_zip *z = s->z;
  if (left < ZIP_ENTRY || memcmp(at, "PK\1\2", 4) != 0)
    return zip_damaged(s, "an entry of its list is missing");
  size_t nname = zip_uint(at + 28, 2), nextra = zip_uint(at + 30, 2);
  *used = ZIP_ENTRY + nname + nextra + zip_uint(at + 32, 2);
  if (*used > left) return zip_damaged(s, "an entry of its list is too long");
  wick_zip_entry e = {.name = wick_str_dupn(z->mem, (const char *)at + ZIP_ENTRY, nname),
                      .method = (uint16_t)zip_uint(at + 10, 2),
                      .crc = (uint32_t)zip_uint(at + 16, 4),
                      .nbytes = zip_uint(at + 24, 4)};
  uint64_t packed = zip_uint(at + 20, 4), local = zip_uint(at + 42, 4);
  const char *fault = zip_name_fault(e.name, nname);
  if (fault) return zip_refuse(s, e.name, fault);
  if (wick_names_find(&s->names, e.name, nname)) return zip_refuse(s, e.name, "occurs twice");
  wick_names_add(&s->names, e.name, nname);
  if (zip_uint(at + 8, 2) & ZIP_ENCRYPTED) return zip_refuse(s, e.name, "is encrypted");
  if ((zip_uint(at + 38, 4) >> 16 & ZIP_KIND) == ZIP_LINK)
    return zip_refuse(s, e.name, "is a link");
  if (!zip_wide(at + ZIP_ENTRY + nname, nextra, &e.nbytes, &packed, &local))
    return zip_refuse(s, e.name, "has damaged sizes");
  wick_span f = s->all;
  if (local > f.nbytes || f.nbytes - local < ZIP_LOCAL || memcmp(f.at + local, "PK\3\4", 4) != 0)
    return zip_refuse(s, e.name, "is not where the list says");
  uint64_t begin =
      local + ZIP_LOCAL + zip_uint(f.at + local + 26, 2) + zip_uint(f.at + local + 28, 2);
  if (begin > f.nbytes || packed > f.nbytes - begin || (!e.method && packed != e.nbytes))
    return zip_refuse(s, e.name, "is not within the file");
  e.raw = (wick_span){f.at + begin, (size_t)packed};
  wick_push(z->mem, &z->entries, e);
  return NULL;
}

wick_status wick_zip_open(wick_span bytes, const char *location, wick_arena *mem, wick_zip *out)
{
  *out = (wick_zip){.location = location, .mem = mem, .left = wick_inflate_most(bytes.nbytes)};
  zip_state s = {.z = out, .all = bytes, .names = wick_names_begin(mem)};
  WICK_TRY(zip_find_list(&s));
  const unsigned char *at = bytes.at + s.at;
  size_t left = (size_t)s.nbytes, used = 0;
  for (uint64_t i = 0; i < s.n; i++, at += used, left -= used)
    WICK_TRY(zip_entry(&s, at, left, &used));
  return NULL;
}

const wick_zip_entry *wick_zip_find(const wick_zip *z, const char *name)
{
  for (uint32_t i = 0; i < z->entries.n; i++)
    if (strcmp(z->entries.at[i].name, name) == 0) return &z->entries.at[i];
  return NULL;
}

static uint32_t zip_crc(wick_span s)
{
  uLong crc = crc32(0, NULL, 0);
  for (size_t i = 0; i < s.nbytes;) {
    size_t n = (size_t)wick_min_u64(s.nbytes - i, 1 << 30);
    crc = crc32(crc, s.at + i, (uInt)n);
    i += n;
  }
  return (uint32_t)crc;
}

wick_status wick_zip_read(wick_zip *z, const wick_zip_entry *e, wick_span *out)
{
  zip_state s = {.z = z};
  *out = e->raw;
  if (e->method != 0) {
    size_t n = 0;
    if (e->method != 8) return zip_refuse(&s, e->name, "is compressed in another way than deflate");
    if (e->nbytes > z->left)
      return wick_fail(z->mem, WICK_ELIMIT, z->location,
                       "entry \"%s\" decompresses to %llu bytes, too many for the archive's size",
                       e->name, (unsigned long long)e->nbytes);
    z->left -= e->nbytes;
    unsigned char *to = wick_arena_raw(z->mem, (size_t)e->nbytes + 1, 64);
    if (!wick_inflate(e->raw, false, to, (size_t)e->nbytes, z->mem, &n) || n != e->nbytes)
      return zip_refuse(&s, e->name, "is damaged");
    *out = (wick_span){to, n};
  }
  if (zip_crc(*out) != e->crc)
    return zip_refuse(&s, e->name, "has a wrong checksum: it is damaged");
  return NULL;
}
