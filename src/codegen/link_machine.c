/* Relocations of x86-64, AArch64 and RISC-V, by their ABIs' ELF supplements. Only relative kinds
 * are supported: code and constants may be loaded together at any address. */
#include "codegen/link_machine.h"

#include <string.h>

static const char link_far[] = "the distance is out of range";
static const char link_short[] = "it is at the end of its section";

static uint32_t link_get32(const unsigned char *p)
{
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void link_put32(unsigned char *p, uint32_t x)
{
  for (int i = 0; i < 4; i++) p[i] = (unsigned char)(x >> (8 * i));
}

static void link_put64(unsigned char *p, uint64_t x)
{
  link_put32(p, (uint32_t)x);
  link_put32(p + 4, (uint32_t)(x >> 32));
}

static bool link_fits(int64_t x, unsigned bits)
{
  return x >= -((int64_t)1 << (bits - 1)) && x < (int64_t)1 << (bits - 1);
}

static const char *link_relative32(const wick_fixup *f)
{
  int64_t d = (int64_t)(f->target - f->place);
  if (f->left < 4) return link_short;
  if (!link_fits(d, 32)) return link_far;
  link_put32(f->at, (uint32_t)d);
  return NULL;
}

static const char *link_relative64(const wick_fixup *f)
{
  if (f->left < 8) return link_short;
  link_put64(f->at, f->target - f->place);
  return NULL;
}

static const char link_unknown[] = "it is of a kind that position-independent code does not have";

/* ---- x86-64 ---- */

enum { X86_64_PC32 = 2, X86_64_PLT32 = 4, X86_64_PC64 = 24 };

static const char *link_fix_x86(const wick_fixup *f)
{
  switch (f->type) {
  case X86_64_PC32:
  case X86_64_PLT32: return link_relative32(f);
  case X86_64_PC64: return link_relative64(f);
  default: return link_unknown;
  }
}

static void link_stub_x86(unsigned char *at, uint64_t place, uint64_t slot)
{
  at[0] = 0xff, at[1] = 0x25; /* jmp *slot(%rip) */
  link_put32(at + 2, (uint32_t)(slot - (place + 6)));
  memset(at + 6, 0xcc, 10);
}

/* ---- AArch64 ---- */

enum {
  AARCH64_PREL64 = 260,
  AARCH64_PREL32 = 261,
  AARCH64_ADR_LO21 = 274,
  AARCH64_ADR_PG_HI21 = 275,
  AARCH64_ADD_LO12 = 277,
  AARCH64_LDST8_LO12 = 278,
  AARCH64_TSTBR14 = 279,
  AARCH64_CONDBR19 = 280,
  AARCH64_JUMP26 = 282,
  AARCH64_CALL26 = 283,
  AARCH64_LDST16_LO12 = 284,
  AARCH64_LDST32_LO12 = 285,
  AARCH64_LDST64_LO12 = 286,
  AARCH64_LDST128_LO12 = 299
};

/* Writes `bits` bits of d >> shift into the instruction, from bit `to` on. */
static const char *link_field(const wick_fixup *f, int64_t d, unsigned shift, unsigned bits,
                              unsigned to)
{
  if (!link_fits(d >> shift, bits) || d & (((int64_t)1 << shift) - 1)) return link_far;
  uint32_t mask = ((1u << bits) - 1) << to, x = (uint32_t)(d >> shift) << to & mask;
  link_put32(f->at, (link_get32(f->at) & ~mask) | x);
  return NULL;
}

static const char *link_adr(const wick_fixup *f, int64_t d)
{
  if (!link_fits(d, 21)) return link_far;
  uint32_t lo = ((uint32_t)d & 3) << 29, hi = ((uint32_t)(d >> 2) & 0x7ffff) << 5;
  link_put32(f->at, (link_get32(f->at) & 0x9f00001f) | lo | hi);
  return NULL;
}

static const char *link_low12(const wick_fixup *f, unsigned shift)
{
  uint32_t lo = (uint32_t)f->target & 0xfff;
  if (lo & ((1u << shift) - 1)) return "the address is not aligned";
  link_put32(f->at, (link_get32(f->at) & ~(0xfffu << 10)) | lo >> shift << 10);
  return NULL;
}

static const char *link_fix_aarch64(const wick_fixup *f)
{
  int64_t d = (int64_t)(f->target - f->place);
  if (f->type == AARCH64_PREL64) return link_relative64(f);
  if (f->left < 4) return link_short;
  switch (f->type) {
  case AARCH64_PREL32: return link_relative32(f);
  case AARCH64_ADR_LO21: return link_adr(f, d);
  case AARCH64_ADR_PG_HI21:
    return link_adr(f, (int64_t)(f->target >> 12) - (int64_t)(f->place >> 12));
  case AARCH64_ADD_LO12:
  case AARCH64_LDST8_LO12: return link_low12(f, 0);
  case AARCH64_LDST16_LO12: return link_low12(f, 1);
  case AARCH64_LDST32_LO12: return link_low12(f, 2);
  case AARCH64_LDST64_LO12: return link_low12(f, 3);
  case AARCH64_LDST128_LO12: return link_low12(f, 4);
  case AARCH64_TSTBR14: return link_field(f, d, 2, 14, 5);
  case AARCH64_CONDBR19: return link_field(f, d, 2, 19, 5);
  case AARCH64_JUMP26:
  case AARCH64_CALL26: return link_field(f, d, 2, 26, 0);
  default: return link_unknown;
  }
}

static void link_stub_aarch64(unsigned char *at, uint64_t place, uint64_t slot)
{
  wick_fixup adr = {at, 16, place, slot, AARCH64_ADR_PG_HI21},
             low = {at + 4, 12, place + 4, slot, AARCH64_LDST64_LO12};
  link_put32(at, 0x90000010);      /* adrp x16, slot */
  link_put32(at + 4, 0xf9400210);  /* ldr x16, [x16, :lo12:slot] */
  link_put32(at + 8, 0xd61f0200);  /* br x16 */
  link_put32(at + 12, 0xd4200000); /* brk */
  (void)link_fix_aarch64(&adr), (void)link_fix_aarch64(&low);
}

/* ---- RISC-V ---- */

enum {
  RISCV_BRANCH = 16,
  RISCV_JAL = 17,
  RISCV_CALL = 18,
  RISCV_CALL_PLT = 19,
  RISCV_PCREL_HI20 = 23,
  RISCV_PCREL_LO12_I = 24,
  RISCV_PCREL_LO12_S = 25,
  RISCV_ADD32 = 35,
  RISCV_SUB32 = 39,
  RISCV_32_PCREL = 57
};

static uint32_t link_bits(int64_t x, unsigned hi, unsigned lo)
{
  return (uint32_t)((uint64_t)x >> lo) & ((1u << (hi - lo + 1)) - 1);
}

static void link_riscv_high(unsigned char *p, int64_t d)
{
  link_put32(p, (link_get32(p) & 0xfff) | ((uint32_t)(uint64_t)(d + 0x800) & 0xfffff000));
}

static void link_riscv_low_i(unsigned char *p, int64_t d)
{
  link_put32(p, (link_get32(p) & 0xfffff) | link_bits(d, 11, 0) << 20);
}

static const char *link_riscv_branch(const wick_fixup *f, int64_t d)
{
  if (!link_fits(d, 13) || d & 1) return link_far;
  link_put32(f->at, (link_get32(f->at) & 0x01fff07f) | link_bits(d, 12, 12) << 31 |
                        link_bits(d, 10, 5) << 25 | link_bits(d, 4, 1) << 8 |
                        link_bits(d, 11, 11) << 7);
  return NULL;
}

static const char *link_riscv_jump(const wick_fixup *f, int64_t d)
{
  if (!link_fits(d, 21) || d & 1) return link_far;
  link_put32(f->at, (link_get32(f->at) & 0xfff) | link_bits(d, 20, 20) << 31 |
                        link_bits(d, 10, 1) << 21 | link_bits(d, 11, 11) << 20 |
                        link_bits(d, 19, 12) << 12);
  return NULL;
}

static const char *link_fix_riscv(const wick_fixup *f)
{
  int64_t d = (int64_t)(f->target - f->place);
  if (f->left < (f->type == RISCV_CALL || f->type == RISCV_CALL_PLT ? 8u : 4u)) return link_short;
  switch (f->type) {
  case RISCV_BRANCH: return link_riscv_branch(f, d);
  case RISCV_JAL: return link_riscv_jump(f, d);
  case RISCV_32_PCREL: return link_relative32(f);
  case RISCV_ADD32: link_put32(f->at, link_get32(f->at) + (uint32_t)f->target); return NULL;
  case RISCV_SUB32: link_put32(f->at, link_get32(f->at) - (uint32_t)f->target); return NULL;
  case RISCV_PCREL_LO12_I: link_riscv_low_i(f->at, d); return NULL;
  case RISCV_PCREL_LO12_S:
    link_put32(f->at, (link_get32(f->at) & 0x01fff07f) | link_bits(d, 11, 5) << 25 |
                          link_bits(d, 4, 0) << 7);
    return NULL;
  default: break;
  }
  if (f->type != RISCV_CALL && f->type != RISCV_CALL_PLT && f->type != RISCV_PCREL_HI20)
    return link_unknown;
  if (!link_fits(d, 33) || !link_fits(d + 0x800, 32)) return link_far;
  link_riscv_high(f->at, d);
  if (f->type != RISCV_PCREL_HI20) link_riscv_low_i(f->at + 4, d);
  return NULL;
}

static void link_stub_riscv(unsigned char *at, uint64_t place, uint64_t slot)
{
  int64_t d = (int64_t)(slot - place);
  link_put32(at, 0x00000e17);      /* auipc t3, %hi */
  link_put32(at + 4, 0x000e3e03);  /* ld t3, %lo(t3) */
  link_put32(at + 8, 0x000e0067);  /* jr t3 */
  link_put32(at + 12, 0x00100073); /* ebreak */
  link_riscv_high(at, d);
  link_riscv_low_i(at + 4, d);
}

static const wick_link_machine link_machines[] = {
    {WICK_MACHINE_X86_64, 62, link_fix_x86, 16, link_stub_x86, 1, 0, 0},
    {WICK_MACHINE_AARCH64, 183, link_fix_aarch64, 16, link_stub_aarch64, 1, 0, 0},
    {WICK_MACHINE_RISCV64, 243, link_fix_riscv, 16, link_stub_riscv, RISCV_PCREL_LO12_I,
     RISCV_PCREL_LO12_S, RISCV_PCREL_HI20},
};

const wick_link_machine *wick_link_machine_of(wick_machine machine)
{
  for (uint32_t i = 0; i < WICK_COUNT(link_machines); i++)
    if (link_machines[i].machine == machine) return &link_machines[i];
  return NULL;
}
