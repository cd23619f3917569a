/* The facts about a machine for the linker: its relocations, and a jump to an external function. */
#ifndef WICK_CODEGEN_LINK_MACHINE_H
#define WICK_CODEGEN_LINK_MACHINE_H

#include "base/base.h"
#include "base/cpu.h"

typedef struct wick_fixup {
  unsigned char *at; /* the bytes to change */
  size_t left;       /* bytes available from `at` on */
  uint64_t place;    /* their position in the image */
  uint64_t target;   /* symbol + addend, in the image */
  uint32_t type;
} wick_fixup;

/* Returns NULL, or the error: "relocation 42 is not one that Wick knows". */
typedef const char *(*wick_fixup_fn)(const wick_fixup *f);

typedef struct wick_link_machine {
  wick_machine machine;
  uint16_t elf; /* EM_ number */
  wick_fixup_fn fix;
  uint32_t stub_bytes;
  /* Writes a jump through the 8-byte slot, 16-byte aligned. */
  void (*stub)(unsigned char *at, uint64_t place, uint64_t slot);
  /* RISC-V: a relocation of these types is for the low part of the value that the relocation at its
   * symbol computes. */
  uint32_t low_first, low_last, high;
} wick_link_machine;

const wick_link_machine *wick_link_machine_of(wick_machine machine); /* NULL: none */

#endif
