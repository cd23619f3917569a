/* What the linker needs to know of a machine: its relocations, and a jump to a function outside. */
#ifndef WICK_CODEGEN_LINK_MACHINE_H
#define WICK_CODEGEN_LINK_MACHINE_H

#include "base/base.h"
#include "base/cpu.h"

typedef struct wick_fixup {
  unsigned char *at; /* the bytes to change */
  size_t left;       /* bytes there are from `at` on */
  uint64_t place;    /* where they will lie in the image */
  uint64_t target;   /* symbol + addend, in the image */
  uint32_t type;
} wick_fixup;

/* NULL, or what is wrong: "relocation 42 is not one that Wick knows". */
typedef const char *(*wick_fixup_fn)(const wick_fixup *f);

typedef struct wick_link_machine {
  wick_machine machine;
  uint16_t elf; /* EM_ number */
  wick_fixup_fn fix;
  uint32_t stub_bytes;
  /* Writes a jump through the 8-byte slot, 16-byte aligned. */
  void (*stub)(unsigned char *at, uint64_t place, uint64_t slot);
  /* RISC-V: a relocation of this type is for the low part of what the one at its symbol computes.
   */
  uint32_t low_first, low_last, high;
} wick_link_machine;

const wick_link_machine *wick_link_machine_of(wick_machine machine); /* NULL: none */

#endif
