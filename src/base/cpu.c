/* Detection of the processor: cpuid on x86-64, the kernel's information elsewhere; caches from
 * sysfs. */
#include "base/cpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#if defined(__x86_64__)

/* The requirements of a level: bits of cpuid's registers, and state that the system saves
 * (XCR0). */
typedef struct cpu_bits {
  uint32_t eax1_ecx, eax7_ebx, ext_ecx; /* leaf 1, leaf 7, leaf 0x80000001 */
  uint32_t xcr0;
} cpu_bits;

enum {
  CPU_SSE3 = 1 << 0,
  CPU_SSSE3 = 1 << 9,
  CPU_FMA = 1 << 12,
  CPU_CX16 = 1 << 13,
  CPU_SSE41 = 1 << 19,
  CPU_SSE42 = 1 << 20,
  CPU_MOVBE = 1 << 22,
  CPU_POPCNT = 1 << 23,
  CPU_OSXSAVE = 1 << 27,
  CPU_AVX = 1 << 28,
  CPU_F16C = 1 << 29,
  CPU_BMI1 = 1 << 3,
  CPU_AVX2 = 1 << 5,
  CPU_BMI2 = 1 << 8,
  CPU_AVX512F = 1 << 16,
  CPU_AVX512DQ = 1 << 17,
  CPU_AVX512CD = 1 << 28,
  CPU_AVX512BW = 1 << 30,
  CPU_LAHF = 1 << 0,
  CPU_LZCNT = 1 << 5
};
#define CPU_AVX512VL (1u << 31)

/* The System V psABI for x86-64, "Micro-Architecture Levels". */
static const cpu_bits cpu_level[3] = {
    {CPU_SSE3 | CPU_SSSE3 | CPU_CX16 | CPU_SSE41 | CPU_SSE42 | CPU_POPCNT, 0, CPU_LAHF, 0},
    {CPU_FMA | CPU_MOVBE | CPU_OSXSAVE | CPU_AVX | CPU_F16C, CPU_BMI1 | CPU_AVX2 | CPU_BMI2,
     CPU_LZCNT, 0x06},
    {0, CPU_AVX512F | CPU_AVX512DQ | CPU_AVX512CD | CPU_AVX512BW | CPU_AVX512VL, 0, 0xe6},
};

wick_cpu wick_cpu_detect(void)
{
  wick_cpu cpu = {.machine = WICK_MACHINE_X86_64};
  uint32_t a, b, c, d, c1 = 0, b7 = 0, c7 = 0, ext = 0, sub = 0, xcr0 = 0;
  if (__get_cpuid(1, &a, &b, &c1, &d) && (c1 & CPU_OSXSAVE))
    __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(d) : "c"(0));
  __get_cpuid_count(7, 0, &a, &b7, &c7, &d);
  __get_cpuid_count(7, 1, &sub, &b, &c, &d);
  __get_cpuid(0x80000001, &a, &b, &ext, &d);
  for (uint32_t i = 0; i < WICK_COUNT(cpu_level); i++) {
    const cpu_bits *l = &cpu_level[i];
    if ((c1 & l->eax1_ecx) != l->eax1_ecx || (b7 & l->eax7_ebx) != l->eax7_ebx ||
        (ext & l->ext_ecx) != l->ext_ecx || (xcr0 & l->xcr0) != l->xcr0)
      break;
    cpu.features |= WICK_CPU_X86_V2 << i;
  }
  if (cpu.features & WICK_CPU_X86_V4) {
    if (c7 >> 1 & 1) cpu.features |= WICK_CPU_X86_AVX512VBMI;
    if (c7 >> 11 & 1) cpu.features |= WICK_CPU_X86_AVX512VNNI;
    if (sub >> 5 & 1) cpu.features |= WICK_CPU_X86_AVX512BF16;
  }
  if ((cpu.features & WICK_CPU_X86_V3) && (sub >> 4 & 1)) cpu.features |= WICK_CPU_X86_AVXVNNI;
  return cpu;
}

/* Family and model as the makers' manuals join them from cpuid's fields. */
wick_cpu_model wick_cpu_identify(void)
{
  wick_cpu_model out = {.family = 0};
  uint32_t a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d)) return out;
  memcpy(out.maker, &b, 4), memcpy(out.maker + 4, &d, 4), memcpy(out.maker + 8, &c, 4);
  if (!__get_cpuid(1, &a, &b, &c, &d)) return out;
  uint32_t family = a >> 8 & 0xf, model = a >> 4 & 0xf;
  out.family = family == 0xf ? family + (a >> 20 & 0xff) : family;
  out.model = family == 6 || family == 0xf ? model | (a >> 16 & 0xf) << 4 : model;
  return out;
}

#elif defined(__aarch64__)

wick_cpu wick_cpu_detect(void)
{
  wick_cpu cpu = {.machine = WICK_MACHINE_AARCH64};
#if defined(__linux__)   /* bits of the kernel's interface, Documentation/arch/arm64/elf_hwcaps */
  unsigned long cap = getauxval(AT_HWCAP), cap2 = getauxval(AT_HWCAP2);
  if (cap >> 20 & 1) cpu.features |= WICK_CPU_ARM_DOTPROD;
  if ((cap >> 9 & 1) && (cap >> 10 & 1)) cpu.features |= WICK_CPU_ARM_FP16;
  bool atomics = cap >> 8 & 1, rdm = cap >> 12 & 1, dcpop = cap >> 16 & 1;
  uint64_t both = WICK_CPU_ARM_DOTPROD | WICK_CPU_ARM_FP16;
  if (atomics && rdm && dcpop && (cpu.features & both) == both) cpu.features |= WICK_CPU_ARM_V82;
  if (cap2 >> 13 & 1) cpu.features |= WICK_CPU_ARM_I8MM;
  if (cap2 >> 14 & 1) cpu.features |= WICK_CPU_ARM_BF16;
  enum { SVE_GET_VL = 51, SVE_VL_BYTES = 0xffff }; /* of prctl */
  int vl = cap >> 22 & 1 ? prctl(SVE_GET_VL) : 0;
  if (vl > 0 && (vl & SVE_VL_BYTES) >= 32) cpu.features |= WICK_CPU_ARM_SVE256;
  if (vl > 0 && (vl & SVE_VL_BYTES) >= 64) cpu.features |= WICK_CPU_ARM_SVE512;
#elif defined(__APPLE__) /* all of Apple's processors have these */
  cpu.features = WICK_CPU_ARM_DOTPROD | WICK_CPU_ARM_FP16 | WICK_CPU_ARM_V82;
#endif
  return cpu;
}

#elif defined(__riscv) && __riscv_xlen == 64

wick_cpu wick_cpu_detect(void)
{
  wick_cpu cpu = {.machine = WICK_MACHINE_RISCV64};
#if defined(__linux__)
  if (!(getauxval(AT_HWCAP) >> ('v' - 'a') & 1)) return cpu;
  unsigned long nbytes; /* of a vector: reads the register vlenb by its number */
  __asm__ volatile("csrr %0, 0xc22" : "=r"(nbytes));
  cpu.features |= WICK_CPU_RISCV_V;
  if (nbytes >= 32) cpu.features |= WICK_CPU_RISCV_V256;
  if (nbytes >= 64) cpu.features |= WICK_CPU_RISCV_V512;
#endif
  return cpu;
}

#else

wick_cpu wick_cpu_detect(void) { return (wick_cpu){.machine = WICK_MACHINE_NONE}; }

#endif

#if !defined(__x86_64__)
/* Reads the register MIDR_EL1, which Linux shows on aarch64. */
wick_cpu_model wick_cpu_identify(void)
{
  wick_cpu_model out = {.family = 0};
  char text[32];
  int fd = open("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return out;
  text[n] = '\0';
  unsigned long long midr = strtoull(text, NULL, 16);
  snprintf(out.maker, sizeof out.maker, "0x%02x", (unsigned)(midr >> 24 & 0xff));
  out.model = (uint32_t)(midr >> 4 & 0xfff);
  return out;
}
#endif

void wick_cpu_flush_code(void *begin, size_t nbytes)
{
  __builtin___clear_cache((char *)begin, (char *)begin + nbytes);
}

/* ---- caches ---- */

/* Reads a file of sysfs, without its newline. Returns false if it does not exist. */
static bool cpu_sysfs(int index, const char *what, char *out, size_t capacity)
{
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, out, capacity - 1);
  close(fd);
  if (n <= 0) return false;
  out[n] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return true;
}

void wick_cpu_caches(uint64_t out_nbytes[3])
{
  memset(out_nbytes, 0, 3 * sizeof out_nbytes[0]);
  char text[64];
  for (int i = 0; i < 8 && cpu_sysfs(i, "type", text, sizeof text); i++) {
    if (strcmp(text, "Instruction") == 0) continue;
    if (!cpu_sysfs(i, "level", text, sizeof text)) continue;
    int level = text[0] - '0';
    if (level < 1 || level > 3 || !cpu_sysfs(i, "size", text, sizeof text)) continue;
    char *unit;
    unsigned long long n = strtoull(text, &unit, 10);
    out_nbytes[level - 1] = n << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
  }
}
