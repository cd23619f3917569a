/* Reads the relocatable objects that the code generator writes: ELF of 32 or 64 bits, and wasm. */
#ifndef WICK_CODEGEN_OBJECT_H
#define WICK_CODEGEN_OBJECT_H

#include "base/reader.h"
#include "target/target.h"

/* ---- ELF ---- */

enum { WICK_ELF_UNDEFINED = 0 }; /* symbol sections */

typedef struct wick_elf_section {
  const char *name;
  uint32_t type;
  uint64_t flags, align;
  wick_span bytes; /* empty for sections without bytes in the file */
  uint64_t nbytes;
  uint32_t info; /* for relocations: the section that they apply to */
} wick_elf_section;

typedef struct wick_elf_symbol {
  const char *name;
  uint8_t type, binding, visibility;
  uint16_t section;
  uint64_t value;
} wick_elf_symbol;

typedef struct wick_elf_reloc { /* with addend */
  uint64_t offset;
  uint32_t type, symbol;
  int64_t addend;
} wick_elf_reloc;

typedef struct wick_elf {
  bool wide;        /* of 64 bits */
  uint16_t machine; /* EM_ number */
  uint32_t nsection, nsymbol;
  const wick_elf_section *section;
  const wick_elf_symbol *symbol;
} wick_elf;

WICK_CHECKED wick_status wick_elf_read(wick_span object, wick_arena *mem, wick_elf *out);
/* Reads the relocations of a section of type SHT_RELA of an ELF of 64 bits. */
WICK_CHECKED wick_status wick_elf_relocs(const wick_elf *elf, const wick_elf_section *section,
                                         wick_arena *mem, wick_elf_reloc **out, uint32_t *out_n);

/* ---- external symbols ---- */

/* Lists the names of functions and data that the object does not define, in its order. Functions of
 * the module that another object defines are hidden, and not in the list. */
WICK_CHECKED wick_status wick_object_undefined(wick_span object, wick_arena *mem,
                                               const char *const **out_name, uint32_t *out_n);

/* Fails with WICK_EINTERNAL if the object needs a symbol that the target does not list. */
WICK_CHECKED wick_status wick_object_check(wick_span object, const wick_target *t,
                                           const char *bundle, wick_arena *mem);

#endif
