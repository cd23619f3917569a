/* Writes and checks artifacts. */
#include "runtime/artifact.h"

#include <string.h>

#include "base/hash.h"
#include "base/str.h"

static const char artifact_magic[8] = "WICK\r\n\x1a"; /* a transfer in text mode damages it */

enum {
  ARTIFACT_HEADER = 64,
  ARTIFACT_ENTRY = 64,
  ARTIFACT_HASH_AT = 32, /* offset of the hash, 8 bytes of the header */
  ARTIFACT_MOST_ALIGN = 65536,
  ARTIFACT_MOST_CODE = 1 << 30 /* limit for code and rodata */
};

/* ---- writing ---- */

static void artifact_put(unsigned char *at, uint64_t x, uint32_t nbytes)
{
  for (uint32_t i = 0; i < nbytes; i++) at[i] = (unsigned char)(x >> (8 * i));
}

static void artifact_header(unsigned char *at, wick_machine machine, uint64_t features,
                            uint64_t nbytes, uint32_t nsection)
{
  memcpy(at, artifact_magic, sizeof artifact_magic);
  artifact_put(at + 8, WICK_ARTIFACT_VERSION, 4);
  artifact_put(at + 12, (uint64_t)machine, 4);
  artifact_put(at + 16, features, 8);
  artifact_put(at + 24, nbytes, 8);
  artifact_put(at + 40, nsection, 4);
}

static void artifact_entry(unsigned char *at, const wick_section *s, uint64_t offset,
                           uint32_t align)
{
  memcpy(at, s->name, strlen(s->name));
  artifact_put(at + WICK_ARTIFACT_NAME, offset, 8);
  artifact_put(at + 40, s->bytes.nbytes, 8);
  artifact_put(at + 48, align, 4);
  artifact_put(at + 52, s->flags & WICK_SECTION_BULK, 4);
}

/* The hash is computed with zeros in its own place. */
static uint64_t artifact_hash(const unsigned char *head, size_t nhead, uint32_t nsection,
                              const wick_section *section)
{
  unsigned char header[ARTIFACT_HEADER];
  memcpy(header, head, sizeof header);
  memset(header + ARTIFACT_HASH_AT, 0, 8);
  uint64_t h = wick_hash_bytes(WICK_HASH_SEED, header, sizeof header);
  h = wick_hash_bytes(h, head + sizeof header, nhead - sizeof header);
  for (uint32_t i = 0; i < nsection; i++)
    if (!(section[i].flags & WICK_SECTION_BULK))
      h = wick_hash_bytes(h, section[i].bytes.at, section[i].bytes.nbytes);
  return h;
}

static size_t artifact_npiece(const wick_section *s)
{
  if (!(s->flags & WICK_SECTION_PIECES)) return 1;
  const wick_bytes *piece = (const void *)s->bytes.at;
  size_t n = 0;
  for (uint64_t nbytes = 0; nbytes < s->bytes.nbytes; nbytes += piece[n++].nbytes) continue;
  return n;
}

uint64_t wick_artifact_first(uint32_t nsection)
{
  uint64_t nhead = ARTIFACT_HEADER + (uint64_t)nsection * ARTIFACT_ENTRY;
  return wick_align_up(nhead, WICK_ARTIFACT_ALIGN);
}

wick_status wick_artifact_make(wick_machine machine, uint64_t features, uint32_t nsection,
                               const wick_section *section, wick_arena *mem,
                               wick_artifact_parts *out_parts)
{
  size_t nhead = ARTIFACT_HEADER + (size_t)nsection * ARTIFACT_ENTRY;
  unsigned char *head = wick_new(mem, unsigned char, nhead),
                *zeros = wick_new(mem, unsigned char, ARTIFACT_MOST_ALIGN);
  size_t most = 1;
  for (uint32_t i = 0; i < nsection; i++) most += 1 + artifact_npiece(&section[i]);
  wick_artifact_parts p = {.part = wick_new(mem, wick_bytes, most)};
  p.part[p.npart++] = (wick_bytes){head, nhead};
  p.nbytes = nhead;
  for (uint32_t i = 0; i < nsection; i++) {
    const wick_section *s = &section[i];
    uint32_t align = s->align ? s->align : WICK_ARTIFACT_ALIGN;
    if (!*s->name || strlen(s->name) >= WICK_ARTIFACT_NAME || align & (align - 1) ||
        align > ARTIFACT_MOST_ALIGN)
      return wick_fail(mem, WICK_EINTERNAL, NULL, "artifact: \"%s\" is not a section", s->name);
    size_t gap = wick_align_up(p.nbytes, align) - p.nbytes;
    p.part[p.npart++] = (wick_bytes){zeros, gap};
    const wick_bytes whole = {s->bytes.at, s->bytes.nbytes},
                     *piece = s->flags & WICK_SECTION_PIECES ? (const void *)s->bytes.at : &whole;
    for (size_t k = 0; k < artifact_npiece(s); k++) p.part[p.npart++] = piece[k];
    artifact_entry(head + ARTIFACT_HEADER + (size_t)i * ARTIFACT_ENTRY, s, p.nbytes + gap, align);
    p.nbytes += gap + s->bytes.nbytes;
  }
  artifact_header(head, machine, features, p.nbytes, nsection);
  artifact_put(head + ARTIFACT_HASH_AT, artifact_hash(head, nhead, nsection, section), 8);
  *out_parts = p;
  return NULL;
}

wick_span wick_artifact_join(const wick_artifact_parts *parts, wick_arena *mem)
{
  unsigned char *at = wick_arena_raw(mem, parts->nbytes, WICK_ARTIFACT_ALIGN), *p = at;
  for (size_t i = 0; i < parts->npart; i++) {
    if (parts->part[i].nbytes) memcpy(p, parts->part[i].at, parts->part[i].nbytes);
    p += parts->part[i].nbytes;
  }
  return (wick_span){at, parts->nbytes};
}

wick_span wick_symbols_make(uint32_t nsymbol, const wick_symbol *symbol, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  for (uint32_t i = 0; i < nsymbol; i++) {
    unsigned char number[12];
    size_t n = strlen(symbol[i].name);
    artifact_put(number, symbol[i].offset, 8);
    artifact_put(number + 8, n, 4);
    wick_text_addn(&t, (const char *)number, sizeof number);
    wick_text_addn(&t, symbol[i].name, n);
  }
  return (wick_span){(const unsigned char *)t.at, t.n};
}

/* ---- reading ---- */

static bool artifact_read_header(wick_reader *r, wick_artifact *out, uint64_t *out_hash)
{
  wick_span magic;
  uint32_t version, machine, zero;
  uint64_t nbytes, rest;
  size_t whole = wick_reader_left(r);
  if (!wick_read_span(r, sizeof artifact_magic, &magic)) return false;
  if (memcmp(magic.at, artifact_magic, sizeof artifact_magic) != 0)
    return wick_reader_refuse(r, 0, "this is not an artifact of Wick");
  if (!wick_read_u32(r, &version)) return false;
  if (version != WICK_ARTIFACT_VERSION)
    return wick_reader_refuse(r, 8, "it was written by another version of Wick");
  if (!wick_read_u32(r, &machine) || !wick_read_u64(r, &out->features) ||
      !wick_read_u64(r, &nbytes) || !wick_read_u64(r, out_hash) ||
      !wick_read_u32(r, &out->nsection) || !wick_read_u32(r, &zero) || !wick_read_u64(r, &rest))
    return false;
  if (zero || rest || !wick_read_u64(r, &rest) || rest)
    return wick_reader_refuse(r, 44, "reserved bytes are in use");
  if (machine > WICK_MACHINE_WASM32) return wick_reader_refuse(r, 12, "unknown machine");
  if (nbytes != whole) return wick_reader_refuse(r, 24, "the size differs from the header");
  if (out->nsection > WICK_ARTIFACT_MOST_SECTIONS)
    return wick_reader_refuse(r, 40, "there are too many sections");
  out->machine = (wick_machine)machine;
  return wick_reader_fits(r, out->nsection, ARTIFACT_ENTRY);
}

/* `end` is the end of the section before it. */
static bool artifact_read_entry(wick_reader *r, wick_span file, uint64_t *end, wick_section *out)
{
  size_t at = wick_reader_position(r);
  wick_span name;
  uint64_t offset, nbytes, zero;
  if (!wick_read_span(r, WICK_ARTIFACT_NAME, &name) || !wick_read_u64(r, &offset) ||
      !wick_read_u64(r, &nbytes) || !wick_read_u32(r, &out->align) ||
      !wick_read_u32(r, &out->flags) || !wick_read_u64(r, &zero))
    return false;
  if (!name.at[0] || name.at[WICK_ARTIFACT_NAME - 1])
    return wick_reader_refuse(r, at, "a section has no proper name");
  if (zero || out->flags & ~(uint32_t)WICK_SECTION_BULK)
    return wick_reader_refuse(r, at + 52, "reserved bytes are in use");
  if (!out->align || out->align & (out->align - 1) || out->align > ARTIFACT_MOST_ALIGN)
    return wick_reader_refuse(r, at + 48, "an alignment is not a power of two up to 65536");
  if (offset != wick_align_up(*end, out->align) || offset > file.nbytes ||
      nbytes > file.nbytes - offset)
    return wick_reader_refuse(r, at + 32, "a section is not at its offset");
  for (uint64_t i = *end; i < offset; i++)
    if (file.at[i]) return wick_reader_refuse(r, i, "there are bytes between the sections");
  out->name = (const char *)name.at;
  out->bytes = (wick_span){file.at + offset, nbytes};
  *end = offset + nbytes;
  return true;
}

static bool artifact_read_sections(wick_reader *r, wick_span file, wick_arena *mem,
                                   wick_artifact *out)
{
  uint64_t end = wick_reader_position(r) + (uint64_t)out->nsection * ARTIFACT_ENTRY;
  wick_section *s = wick_new(mem, wick_section, out->nsection);
  for (uint32_t i = 0; i < out->nsection; i++)
    if (!artifact_read_entry(r, file, &end, &s[i])) return false;
  out->section = s;
  return end == file.nbytes || wick_reader_refuse(r, end, "there are bytes after the sections");
}

wick_span wick_artifact_section(const wick_artifact *a, const char *name)
{
  for (uint32_t i = 0; i < a->nsection; i++)
    if (strcmp(a->section[i].name, name) == 0) return a->section[i].bytes;
  return (wick_span){NULL, 0};
}

/* Returns a reader of a section, with positions in the file. */
static wick_reader artifact_part(wick_span file, const wick_artifact *a, const char *name)
{
  wick_span s = wick_artifact_section(a, name);
  if (!s.at) s = (wick_span){file.at, 0};
  wick_reader r = wick_reader_make(file.at, file.nbytes);
  r.at = s.at;
  r.end = s.at + s.nbytes;
  return r;
}

static bool artifact_read_symbols(wick_reader *r, wick_arena *mem, wick_artifact *out)
{
  uint64_t ncode = wick_artifact_section(out, "code").nbytes;
  wick_list(wick_symbol) list = {0};
  while (wick_reader_left(r)) {
    uint64_t offset;
    uint32_t n;
    wick_span name;
    size_t at = wick_reader_position(r);
    if (!wick_read_u64(r, &offset) || !wick_read_u32(r, &n) || !wick_read_span(r, n, &name))
      return false;
    if (offset >= ncode) return wick_reader_refuse(r, at, "a function is outside of the code");
    if (!n || memchr(name.at, 0, n)) return wick_reader_refuse(r, at + 12, "an improper name");
    const char *text = wick_str_dupn(mem, (const char *)name.at, n);
    if (list.n && strcmp(list.at[list.n - 1].name, text) >= 0)
      return wick_reader_refuse(r, at + 12, "the names are not in order");
    wick_push(mem, &list, (wick_symbol){text, offset});
  }
  out->nsymbol = list.n;
  out->symbol = list.at;
  return true;
}

static bool artifact_read_imports(wick_reader *r, wick_arena *mem, wick_artifact *out)
{
  wick_list(const char *) list = {0};
  while (wick_reader_left(r)) {
    const unsigned char *end = memchr(r->at, 0, wick_reader_left(r));
    if (!end || end == r->at)
      return wick_reader_refuse(r, wick_reader_position(r), "an improper name");
    wick_push(mem, &list, (const char *)r->at);
    r->at = end + 1;
  }
  out->nimport = list.n;
  out->import = list.at;
  return true;
}

wick_status wick_artifact_read(wick_span file, const char *location, wick_arena *mem,
                               wick_artifact *out)
{
  *out = (wick_artifact){0};
  uint64_t hash;
  wick_reader r = wick_reader_make(file.at, file.nbytes);
  if (!artifact_read_header(&r, out, &hash) || !artifact_read_sections(&r, file, mem, out))
    return wick_reader_status(&r, mem, location);
  size_t nhead = ARTIFACT_HEADER + (size_t)out->nsection * ARTIFACT_ENTRY;
  if (artifact_hash(file.at, nhead, out->nsection, out->section) != hash)
    return wick_fail(mem, WICK_EPARSE, location,
                     "the artifact is damaged: its hash is not that of "
                     "its bytes");
  if (wick_artifact_section(out, "code").nbytes > ARTIFACT_MOST_CODE ||
      wick_artifact_section(out, "rodata").nbytes > ARTIFACT_MOST_CODE)
    return wick_fail(mem, WICK_EPARSE, location, "the artifact has more than 1 GiB of code");
  r = artifact_part(file, out, "symbols");
  if (!artifact_read_symbols(&r, mem, out)) return wick_reader_status(&r, mem, location);
  r = artifact_part(file, out, "imports");
  if (!artifact_read_imports(&r, mem, out)) return wick_reader_status(&r, mem, location);
  return NULL;
}
