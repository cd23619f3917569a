/* The processor that this process runs on: its instruction sets and cache sizes. */
#ifndef WICK_BASE_CPU_H
#define WICK_BASE_CPU_H

#include "base/base.h"

/* Numbers are part of the artifact format. */
typedef enum wick_machine {
  WICK_MACHINE_NONE,
  WICK_MACHINE_X86_64,
  WICK_MACHINE_AARCH64,
  WICK_MACHINE_RISCV64,
  WICK_MACHINE_THUMB,
  WICK_MACHINE_WASM32
} wick_machine;

/* Groups of instructions, one bit each, per machine; part of the artifact format too. The levels of
 * x86-64 are those of its psABI; each includes the lower ones. */
#define WICK_CPU_X86_V2 ((uint64_t)1 << 0)
#define WICK_CPU_X86_V3 ((uint64_t)1 << 1)
#define WICK_CPU_X86_V4 ((uint64_t)1 << 2)
#define WICK_CPU_X86_AVX512VNNI ((uint64_t)1 << 3)
#define WICK_CPU_X86_AVX512BF16 ((uint64_t)1 << 4)
#define WICK_CPU_X86_AVXVNNI ((uint64_t)1 << 5)
#define WICK_CPU_X86_AVX512VBMI ((uint64_t)1 << 6)

#define WICK_CPU_ARM_DOTPROD ((uint64_t)1 << 0)
#define WICK_CPU_ARM_FP16 ((uint64_t)1 << 1)
#define WICK_CPU_ARM_I8MM ((uint64_t)1 << 2)
#define WICK_CPU_ARM_BF16 ((uint64_t)1 << 3)
#define WICK_CPU_ARM_V82 ((uint64_t)1 << 4) /* armv8.2-a with WICK_CPU_ARM_FP16 and _DOTPROD */

#define WICK_CPU_ARM_SVE256 ((uint64_t)1 << 5) /* SVE, vectors of at least 256 bits */
#define WICK_CPU_ARM_SVE512 ((uint64_t)1 << 6)

#define WICK_CPU_RISCV_V ((uint64_t)1 << 0)
#define WICK_CPU_RISCV_V256 ((uint64_t)1 << 1) /* vectors of at least so many bits */
#define WICK_CPU_RISCV_V512 ((uint64_t)1 << 2)

typedef struct wick_cpu {
  wick_machine machine; /* NONE if Wick has no code generator for it */
  uint64_t features;
} wick_cpu;

wick_cpu wick_cpu_detect(void); /* microseconds */

/* What a processor says of itself. x86-64: the maker's name ("GenuineIntel"), family and model of
 * cpuid. aarch64: implementer ("0x41") and part number. All empty where it is not known. */
typedef struct wick_cpu_model {
  char maker[16];
  uint32_t family, model;
} wick_cpu_model;
wick_cpu_model wick_cpu_identify(void);

/* Returns the sizes of the first core's data caches of levels 1, 2 and 3, in bytes; 0 for a level
 * that does not exist or is not known. */
void wick_cpu_caches(uint64_t out_nbytes[3]);

/* Makes code that was written to memory ready for execution. */
void wick_cpu_flush_code(void *begin, size_t nbytes);

#endif
