/* The linker: assigns offsets to sections, resolves symbols, applies relocations. */
#include "codegen/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen/link_machine.h"
#include "codegen/object.h"

enum { LINK_PROGBITS = 1, LINK_RELA = 4, LINK_NOTE = 7, LINK_NOBITS = 8 };
enum { LINK_WRITE = 1, LINK_ALLOC = 2, LINK_EXEC = 4 };
enum { LINK_LOCAL = 0, LINK_ELF_SECTION_SYMBOL = 3, LINK_ELF_FILE = 4 };

enum { LINK_CODE, LINK_RODATA, LINK_NOWHERE };

typedef struct link_place { /* the position of an object's section */
  int part;                 /* LINK_CODE, ... */
  uint64_t offset;          /* in the part */
} link_place;

typedef struct link_object {
  wick_elf elf;
  link_place *place; /* per section */
} link_object;

typedef struct link_state {
  const wick_target *target;
  const wick_link_machine *machine;
  wick_arena *mem;
  uint32_t nobject;
  link_object *object;
  uint64_t nbytes[2]; /* of code and rodata */
  unsigned char *bytes[2];
  uint64_t base[2];  /* of code and rodata in the image */
  wick_names names;  /* of global symbols */
  uint64_t *address; /* per name: its address in the image */
  uint8_t *defined;  /* per name: 1 defined, 2 an import */
  wick_list(wick_symbol) symbols;
  wick_list(uint32_t) imports; /* names */
  uint64_t stubs;              /* offset of the first stub in code */
} link_state;

/* ---- placing ---- */

/* Returns the part that a section belongs to; LINK_NOWHERE if it is not needed at run time. */
static wick_status link_part(const link_state *l, const wick_elf_section *s, int *out)
{
  *out = LINK_NOWHERE;
  if (!(s->flags & LINK_ALLOC) || s->nbytes == 0 || s->type == LINK_NOTE) return NULL;
  if (strncmp(s->name, ".eh_frame", 9) == 0) return NULL;
  if (s->flags & LINK_WRITE || s->type == LINK_NOBITS || s->type != LINK_PROGBITS)
    return wick_fail(l->mem, WICK_EUNSUPPORTED, "link", "code has no section like %s", s->name);
  *out = s->flags & LINK_EXEC ? LINK_CODE : LINK_RODATA;
  return NULL;
}

static wick_status link_place_object(link_state *l, link_object *o)
{
  o->place = wick_new(l->mem, link_place, o->elf.nsection);
  for (uint32_t i = 0; i < o->elf.nsection; i++) {
    const wick_elf_section *s = &o->elf.section[i];
    link_place *p = &o->place[i];
    WICK_TRY(link_part(l, s, &p->part));
    if (p->part == LINK_NOWHERE) continue;
    uint64_t align = s->align > 16 ? s->align : 16;
    if (align > 4096 || s->nbytes > 1 << 29 || l->nbytes[p->part] > 1 << 29)
      return wick_fail(l->mem, WICK_ELIMIT, "link", "%s is too large", s->name);
    p->offset = wick_align_up(l->nbytes[p->part], align);
    l->nbytes[p->part] = p->offset + s->nbytes;
  }
  return NULL;
}

/* ---- symbols ---- */

static wick_status link_define(link_state *l, const link_object *o, const wick_elf_symbol *s)
{
  if (s->section >= o->elf.nsection || o->place[s->section].part != LINK_CODE)
    return wick_fail(l->mem, WICK_EUNSUPPORTED, "link", "%s is not a function", s->name);
  uint32_t id = wick_names_add(&l->names, s->name, strlen(s->name));
  if (l->defined[id]) return wick_fail(l->mem, WICK_EINVAL, "link", "%s is defined twice", s->name);
  l->defined[id] = 1;
  l->address[id] = o->place[s->section].offset + s->value;
  if (s->value >= o->elf.section[s->section].nbytes)
    return wick_fail(l->mem, WICK_EPARSE, "link", "%s is outside of its section", s->name);
  wick_push(l->mem, &l->symbols, (wick_symbol){wick_str_dup(l->mem, s->name), l->address[id]});
  return NULL;
}

static bool link_is_global(const wick_elf_symbol *s)
{
  return s->binding != LINK_LOCAL && *s->name;
}

/* Makes an undefined symbol an import, if the target's entry allows it. */
static wick_status link_import(link_state *l, const wick_elf_symbol *s)
{
  uint32_t id = wick_names_add(&l->names, s->name, strlen(s->name));
  if (l->defined[id]) return NULL;
  if (!wick_target_may_call(l->target, s->name))
    return wick_fail(l->mem, WICK_EINVAL, "link", "%s is defined nowhere", s->name);
  l->defined[id] = 2;
  wick_push(l->mem, &l->imports, id);
  return NULL;
}

static wick_status link_symbols(link_state *l)
{
  uint64_t n = 1;
  for (uint32_t i = 0; i < l->nobject; i++) n += l->object[i].elf.nsymbol;
  l->names = wick_names_begin(l->mem);
  l->address = wick_new(l->mem, uint64_t, n);
  l->defined = wick_new(l->mem, uint8_t, n);
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < l->nobject; i++) {
      const link_object *o = &l->object[i];
      for (uint32_t k = 1; k < o->elf.nsymbol; k++) {
        const wick_elf_symbol *s = &o->elf.symbol[k];
        bool undefined = s->section == WICK_ELF_UNDEFINED;
        if (!link_is_global(s) || undefined != (pass == 1)) continue;
        WICK_TRY(undefined ? link_import(l, s) : link_define(l, o, s));
      }
    }
  return NULL;
}

/* Places the stubs after the code. The address of an import is that of its stub. */
static void link_stubs(link_state *l)
{
  l->stubs = wick_align_up(l->nbytes[LINK_CODE], 16);
  if (!l->imports.n) return;
  for (uint32_t i = 0; i < l->imports.n; i++)
    l->address[l->imports.at[i]] = l->stubs + (uint64_t)i * l->machine->stub_bytes;
  l->nbytes[LINK_CODE] = l->stubs + (uint64_t)l->imports.n * l->machine->stub_bytes;
}

/* ---- contents ---- */

static void link_copy(link_state *l)
{
  for (int part = 0; part < 2; part++)
    l->bytes[part] = wick_arena_alloc(l->mem, l->nbytes[part], WICK_ARTIFACT_ALIGN);
  for (uint32_t i = 0; i < l->nobject; i++) {
    const link_object *o = &l->object[i];
    for (uint32_t k = 0; k < o->elf.nsection; k++) {
      link_place p = o->place[k];
      if (p.part != LINK_NOWHERE)
        memcpy(l->bytes[p.part] + p.offset, o->elf.section[k].bytes.at,
               o->elf.section[k].bytes.nbytes);
    }
  }
  wick_image_layout y =
      wick_image_layout_of(l->nbytes[LINK_CODE], l->nbytes[LINK_RODATA], l->imports.n);
  l->base[LINK_RODATA] = y.rodata;
  for (uint32_t i = 0; i < l->imports.n; i++) {
    uint64_t at = l->address[l->imports.at[i]];
    l->machine->stub(l->bytes[LINK_CODE] + at, at, y.slots + 8 * (uint64_t)i);
  }
}

static wick_status link_address(const link_state *l, const link_object *o, const wick_elf_symbol *s,
                                uint64_t *out)
{
  if (link_is_global(s)) {
    *out = l->address[wick_names_find(&l->names, s->name, strlen(s->name))];
    return NULL;
  }
  if (s->section == WICK_ELF_UNDEFINED || s->section >= o->elf.nsection ||
      o->place[s->section].part == LINK_NOWHERE)
    return wick_fail(l->mem, WICK_EUNSUPPORTED, "link", "a relocation is for \"%s\", which is %s",
                     s->name, "neither code nor constants");
  const link_place *p = &o->place[s->section];
  *out = l->base[p->part] + p->offset + s->value;
  return NULL;
}

static wick_status link_fix(link_state *l, const link_object *o, const wick_elf_section *section,
                            const link_place *p, const wick_elf_reloc *r, uint64_t target)
{
  if (r->offset >= section->nbytes)
    return wick_fail(l->mem, WICK_EPARSE, "link", "a relocation is outside of %s", section->name);
  wick_fixup f = {.at = l->bytes[p->part] + p->offset + r->offset,
                  .left = section->nbytes - r->offset,
                  .place = l->base[p->part] + p->offset + r->offset,
                  .target = target,
                  .type = r->type};
  const char *bad = l->machine->fix(&f);
  return bad ? wick_fail(l->mem, WICK_EUNSUPPORTED, "link", "relocation %u in %s, to \"%s\": %s",
                         r->type, section->name, o->elf.symbol[r->symbol].name, bad)
             : NULL;
}

/* An address that is built by two instructions: the relocation of the second one names the first.
 * Finds the target and the position of the first one. */
static wick_status link_high_half(const link_state *l, const link_object *o, const link_place *p,
                                  const wick_elf_reloc *reloc, uint32_t n, uint64_t label,
                                  uint64_t *out_target, uint64_t *out_place)
{
  for (uint32_t i = 0; i < n; i++) {
    uint64_t place = l->base[p->part] + p->offset + reloc[i].offset;
    if (reloc[i].type != l->machine->high || place != label) continue;
    WICK_TRY(link_address(l, o, &o->elf.symbol[reloc[i].symbol], out_target));
    *out_target += (uint64_t)reloc[i].addend;
    *out_place = place;
    return NULL;
  }
  return wick_fail(l->mem, WICK_EPARSE, "link", "half of an address is missing");
}

static wick_status link_relocate(link_state *l, const link_object *o, uint32_t section)
{
  const wick_elf_section *table = &o->elf.section[section];
  if (table->info >= o->elf.nsection || o->place[table->info].part == LINK_NOWHERE) return NULL;
  const wick_elf_section *s = &o->elf.section[table->info];
  const link_place *p = &o->place[table->info];
  wick_elf_reloc *reloc;
  uint32_t n;
  WICK_TRY(wick_elf_relocs(&o->elf, table, l->mem, &reloc, &n));
  for (uint32_t i = 0; i < n; i++) {
    uint64_t target, place = l->base[p->part] + p->offset + reloc[i].offset;
    WICK_TRY(link_address(l, o, &o->elf.symbol[reloc[i].symbol], &target));
    target += (uint64_t)reloc[i].addend;
    if (reloc[i].type >= l->machine->low_first && reloc[i].type <= l->machine->low_last) {
      uint64_t high = 0;
      WICK_TRY(link_high_half(l, o, p, reloc, n, target, &target, &high));
      target += place - high; /* the distance is relative to the first instruction */
    }
    WICK_TRY(link_fix(l, o, s, p, &reloc[i], target));
  }
  return NULL;
}

/* ---- the sections ---- */

static int link_order(const void *a, const void *b)
{
  return strcmp(((const wick_symbol *)a)->name, ((const wick_symbol *)b)->name);
}

static void link_sections(link_state *l, wick_section out[WICK_LINK_SECTIONS])
{
  wick_text imports = wick_text_begin(l->mem), target = wick_text_begin(l->mem);
  for (uint32_t i = 0; i < l->imports.n; i++) {
    const char *name = wick_names_get(&l->names, l->imports.at[i]);
    wick_text_addn(&imports, name, strlen(name) + 1);
  }
  wick_target_name(l->target, &target);
  if (l->symbols.n) qsort(l->symbols.at, l->symbols.n, sizeof *l->symbols.at, link_order);
  wick_span symbols = wick_symbols_make(l->symbols.n, l->symbols.at, l->mem);
  out[0] = (wick_section){"code", {l->bytes[LINK_CODE], l->nbytes[LINK_CODE]}, 0, 0};
  out[1] = (wick_section){"rodata", {l->bytes[LINK_RODATA], l->nbytes[LINK_RODATA]}, 0, 0};
  out[2] = (wick_section){"imports", {(const unsigned char *)imports.at, imports.n}, 0, 0};
  out[3] = (wick_section){"symbols", symbols, 0, 0};
  out[4] = (wick_section){"target", {(const unsigned char *)target.at, target.n}, 0, 0};
}

wick_status wick_link(uint32_t nobject, const wick_span *object, const wick_target *t,
                      wick_arena *mem, wick_section out[WICK_LINK_SECTIONS])
{
  link_state l = {.target = t,
                  .machine = wick_link_machine_of(t->machine),
                  .mem = mem,
                  .nobject = nobject,
                  .object = wick_new(mem, link_object, nobject)};
  if (!l.machine)
    return wick_fail(mem, WICK_EUNSUPPORTED, "link", "code for %s is not linked by Wick", t->row);
  for (uint32_t i = 0; i < nobject; i++) {
    WICK_TRY(wick_elf_read(object[i], mem, &l.object[i].elf));
    if (!l.object[i].elf.wide || l.object[i].elf.machine != l.machine->elf)
      return wick_fail(mem, WICK_EINVAL, "link", "the object is not for %s", t->row);
    WICK_TRY(link_place_object(&l, &l.object[i]));
  }
  WICK_TRY(link_symbols(&l));
  link_stubs(&l);
  link_copy(&l);
  for (uint32_t i = 0; i < nobject; i++)
    for (uint32_t k = 0; k < l.object[i].elf.nsection; k++)
      if (l.object[i].elf.section[k].type == LINK_RELA)
        WICK_TRY(link_relocate(&l, &l.object[i], k));
  link_sections(&l, out);
  return NULL;
}
