/* Reads relocatable ELF objects. */
#include <string.h>

#include "codegen/object.h"

enum { ELF_CLASS32 = 1, ELF_CLASS64 = 2, ELF_LITTLE = 1, ELF_RELOCATABLE = 1 };
enum { ELF_SYMTAB = 2, ELF_NOBITS = 8 };

typedef struct elf_reader {
  wick_reader r;
  wick_span file;
  bool wide;
  wick_arena *mem;
} elf_reader;

/* Reads a number of 4 bytes, or of 8 in an object of 64 bits. */
static bool elf_word(elf_reader *e, uint64_t *out)
{
  uint32_t x;
  if (e->wide) return wick_read_u64(&e->r, out);
  if (!wick_read_u32(&e->r, &x)) return false;
  *out = x;
  return true;
}

static bool elf_at(elf_reader *e, uint64_t offset, uint64_t nbytes)
{
  if (offset > e->file.nbytes || nbytes > e->file.nbytes - offset)
    return wick_reader_refuse(&e->r, wick_reader_position(&e->r),
                              "it points outside of the object");
  e->r = wick_reader_make(e->file.at, e->file.nbytes);
  e->r.at = e->file.at + offset;
  e->r.end = e->r.at + nbytes;
  return true;
}

static bool elf_string(elf_reader *e, wick_span table, uint32_t at, const char **out)
{
  if (at >= table.nbytes || !memchr(table.at + at, 0, table.nbytes - at))
    return wick_reader_refuse(&e->r, wick_reader_position(&e->r), "a name is outside of its table");
  *out = (const char *)table.at + at;
  return true;
}

typedef struct elf_header {
  uint64_t sections;
  uint16_t entry, count, names;
} elf_header;

static bool elf_read_header(elf_reader *e, wick_elf *out, elf_header *h)
{
  wick_span ident;
  uint16_t type, u16;
  uint32_t u32;
  uint64_t word;
  if (!wick_read_span(&e->r, 16, &ident)) return false;
  if (memcmp(ident.at, "\177ELF", 4) != 0 || ident.at[5] != ELF_LITTLE ||
      (ident.at[4] != ELF_CLASS32 && ident.at[4] != ELF_CLASS64))
    return wick_reader_refuse(&e->r, 0, "this is not a little-endian ELF object");
  out->wide = e->wide = ident.at[4] == ELF_CLASS64;
  if (!wick_read_u16(&e->r, &type) || !wick_read_u16(&e->r, &out->machine) ||
      !wick_read_u32(&e->r, &u32) || !elf_word(e, &word) || !elf_word(e, &word) ||
      !elf_word(e, &h->sections) || !wick_read_u32(&e->r, &u32) || !wick_read_u16(&e->r, &u16) ||
      !wick_read_u16(&e->r, &u16) || !wick_read_u16(&e->r, &u16) ||
      !wick_read_u16(&e->r, &h->entry) || !wick_read_u16(&e->r, &h->count) ||
      !wick_read_u16(&e->r, &h->names))
    return false;
  if (type != ELF_RELOCATABLE)
    return wick_reader_refuse(&e->r, 16, "the object is not relocatable");
  if (h->entry != (e->wide ? 64 : 40) || h->names >= h->count)
    return wick_reader_refuse(&e->r, 46, "the table of sections is not one");
  return true;
}

static bool elf_read_section(elf_reader *e, uint32_t *out_name, uint32_t *out_link,
                             wick_elf_section *s)
{
  uint64_t address, offset, entry;
  if (!wick_read_u32(&e->r, out_name) || !wick_read_u32(&e->r, &s->type) ||
      !elf_word(e, &s->flags) || !elf_word(e, &address) || !elf_word(e, &offset) ||
      !elf_word(e, &s->nbytes) || !wick_read_u32(&e->r, out_link) ||
      !wick_read_u32(&e->r, &s->info) || !elf_word(e, &s->align) || !elf_word(e, &entry))
    return false;
  if (s->align & (s->align - 1)) return wick_reader_refuse(&e->r, 0, "an alignment is odd");
  s->bytes = (wick_span){e->file.at, 0};
  if (s->type == ELF_NOBITS) return true;
  if (offset > e->file.nbytes || s->nbytes > e->file.nbytes - offset)
    return wick_reader_refuse(&e->r, (size_t)offset, "a section is outside of the object");
  s->bytes = (wick_span){e->file.at + offset, s->nbytes};
  return true;
}

static bool elf_read_symbol(elf_reader *e, wick_span names, wick_elf_symbol *s)
{
  uint32_t name, size;
  uint64_t word;
  uint8_t info, other;
  if (!wick_read_u32(&e->r, &name)) return false;
  if (e->wide) {
    if (!wick_read_u8(&e->r, &info) || !wick_read_u8(&e->r, &other) ||
        !wick_read_u16(&e->r, &s->section) || !wick_read_u64(&e->r, &s->value) ||
        !wick_read_u64(&e->r, &word))
      return false;
  } else {
    if (!elf_word(e, &s->value) || !wick_read_u32(&e->r, &size) || !wick_read_u8(&e->r, &info) ||
        !wick_read_u8(&e->r, &other) || !wick_read_u16(&e->r, &s->section))
      return false;
  }
  s->type = info & 15;
  s->binding = info >> 4;
  s->visibility = other & 3;
  return elf_string(e, names, name, &s->name);
}

static bool elf_read_symbols(elf_reader *e, const wick_elf_section *table, wick_span names,
                             wick_elf *out)
{
  size_t entry = e->wide ? 24 : 16, n = table->bytes.nbytes / entry;
  if (!elf_at(e, (uint64_t)(table->bytes.at - e->file.at), table->bytes.nbytes)) return false;
  wick_elf_symbol *s = wick_new(e->mem, wick_elf_symbol, n);
  for (size_t i = 0; i < n; i++)
    if (!elf_read_symbol(e, names, &s[i])) return false;
  out->symbol = s;
  out->nsymbol = (uint32_t)n;
  return true;
}

static bool elf_read(elf_reader *e, wick_elf *out)
{
  elf_header h;
  if (!elf_read_header(e, out, &h) || !elf_at(e, h.sections, (uint64_t)h.count * h.entry))
    return false;
  wick_elf_section *s = wick_new(e->mem, wick_elf_section, h.count);
  uint32_t *name = wick_new(e->mem, uint32_t, h.count), *link = wick_new(e->mem, uint32_t, h.count);
  for (uint32_t i = 0; i < h.count; i++)
    if (!elf_read_section(e, &name[i], &link[i], &s[i])) return false;
  for (uint32_t i = 0; i < h.count; i++)
    if (!elf_string(e, s[h.names].bytes, name[i], &s[i].name)) return false;
  out->section = s;
  out->nsection = h.count;
  for (uint32_t i = 0; i < h.count; i++) {
    if (s[i].type != ELF_SYMTAB) continue;
    if (link[i] >= h.count) return wick_reader_refuse(&e->r, 0, "symbols without names");
    if (!elf_read_symbols(e, &s[i], s[link[i]].bytes, out)) return false;
  }
  return true;
}

wick_status wick_elf_read(wick_span object, wick_arena *mem, wick_elf *out)
{
  *out = (wick_elf){0};
  elf_reader e = {wick_reader_make(object.at, object.nbytes), object, false, mem};
  return elf_read(&e, out) ? NULL : wick_reader_status(&e.r, mem, "object");
}

wick_status wick_elf_relocs(const wick_elf *elf, const wick_elf_section *section, wick_arena *mem,
                            wick_elf_reloc **out, uint32_t *out_n)
{
  wick_reader r = wick_reader_make(section->bytes.at, section->bytes.nbytes);
  uint32_t n = (uint32_t)(section->bytes.nbytes / 24);
  *out = wick_new(mem, wick_elf_reloc, n);
  *out_n = n;
  for (uint32_t i = 0; i < n; i++) {
    wick_elf_reloc *x = &(*out)[i];
    uint64_t addend;
    if (!wick_read_u64(&r, &x->offset) || !wick_read_u32(&r, &x->type) ||
        !wick_read_u32(&r, &x->symbol) || !wick_read_u64(&r, &addend))
      return wick_reader_status(&r, mem, "object");
    x->addend = (int64_t)addend;
    if (x->symbol >= elf->nsymbol)
      return wick_fail(mem, WICK_EPARSE, "object", "a relocation is for no symbol");
  }
  return NULL;
}
