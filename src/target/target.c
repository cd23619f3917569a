/* The table of target machines, their extra instructions, and the detection of the host. */
#include "target/target.h"

#include <string.h>

#define F32 WICK_BIT(WICK_F32)
#define F64 WICK_BIT(WICK_F64)
#define F16 WICK_BIT(WICK_F16)
#define BF16 WICK_BIT(WICK_BF16)
#define WORDS                                                                                      \
  (F32 | F64 | WICK_BIT(WICK_I32) | WICK_BIT(WICK_U32) | WICK_BIT(WICK_I64) | WICK_BIT(WICK_U64))

#define X86_V2 WICK_CPU_X86_V2
#define X86_V3 (X86_V2 | WICK_CPU_X86_V3)
#define X86_V4 (X86_V3 | WICK_CPU_X86_V4)

static const char *const target_no_helpers[] = {NULL};

/* Functions of the run-time ABI for the Arm architecture (RTABI): arithmetic of f64 and of 64-bit
 * integers. Without the exceptions of the ABI. */
static const char *const target_thumb_helpers[] = {
    "__aeabi_dadd",     "__aeabi_dsub",     "__aeabi_dmul",    "__aeabi_ddiv",
    "__aeabi_dcmpeq",   "__aeabi_dcmplt",   "__aeabi_dcmple",  "__aeabi_dcmpge",
    "__aeabi_dcmpgt",   "__aeabi_dcmpun",   "__aeabi_d2iz",    "__aeabi_d2uiz",
    "__aeabi_d2lz",     "__aeabi_d2ulz",    "__aeabi_d2f",     "__aeabi_f2d",
    "__aeabi_i2d",      "__aeabi_ui2d",     "__aeabi_l2d",     "__aeabi_ul2d",
    "__aeabi_l2f",      "__aeabi_ul2f",     "__aeabi_f2lz",    "__aeabi_f2ulz",
    "__aeabi_ldivmod",  "__aeabi_uldivmod", "__aeabi_lmul",    "__aeabi_memcpy",
    "__aeabi_memcpy4",  "__aeabi_memcpy8",  "__aeabi_memmove", "__aeabi_memmove4",
    "__aeabi_memmove8", "__aeabi_memset",   "__aeabi_memset4", "__aeabi_memset8",
    "__aeabi_memclr",   "__aeabi_memclr4",  "__aeabi_memclr8", NULL};

/* The same for processors without floating-point instructions; older ones have no division and no
 * multiplication with 64-bit results, either. */
static const char *const target_soft_helpers[] = {"__aeabi_dadd",
                                                  "__aeabi_dsub",
                                                  "__aeabi_dmul",
                                                  "__aeabi_ddiv",
                                                  "__aeabi_dcmpeq",
                                                  "__aeabi_dcmplt",
                                                  "__aeabi_dcmple",
                                                  "__aeabi_dcmpge",
                                                  "__aeabi_dcmpgt",
                                                  "__aeabi_dcmpun",
                                                  "__aeabi_d2iz",
                                                  "__aeabi_d2uiz",
                                                  "__aeabi_d2lz",
                                                  "__aeabi_d2ulz",
                                                  "__aeabi_d2f",
                                                  "__aeabi_f2d",
                                                  "__aeabi_i2d",
                                                  "__aeabi_ui2d",
                                                  "__aeabi_l2d",
                                                  "__aeabi_ul2d",
                                                  "__aeabi_fadd",
                                                  "__aeabi_fsub",
                                                  "__aeabi_fmul",
                                                  "__aeabi_fdiv",
                                                  "__aeabi_fcmpeq",
                                                  "__aeabi_fcmplt",
                                                  "__aeabi_fcmple",
                                                  "__aeabi_fcmpge",
                                                  "__aeabi_fcmpgt",
                                                  "__aeabi_fcmpun",
                                                  "__aeabi_f2iz",
                                                  "__aeabi_f2uiz",
                                                  "__aeabi_f2lz",
                                                  "__aeabi_f2ulz",
                                                  "__aeabi_i2f",
                                                  "__aeabi_ui2f",
                                                  "__aeabi_l2f",
                                                  "__aeabi_ul2f",
                                                  "__aeabi_idiv",
                                                  "__aeabi_uidiv",
                                                  "__aeabi_idivmod",
                                                  "__aeabi_uidivmod",
                                                  "__aeabi_ldivmod",
                                                  "__aeabi_uldivmod",
                                                  "__aeabi_lmul",
                                                  "__aeabi_llsl",
                                                  "__aeabi_llsr",
                                                  "__aeabi_lasr",
                                                  "__aeabi_memcpy",
                                                  "__aeabi_memcpy4",
                                                  "__aeabi_memcpy8",
                                                  "__aeabi_memmove",
                                                  "__aeabi_memmove4",
                                                  "__aeabi_memmove8",
                                                  "__aeabi_memset",
                                                  "__aeabi_memset4",
                                                  "__aeabi_memset8",
                                                  "__aeabi_memclr",
                                                  "__aeabi_memclr4",
                                                  "__aeabi_memclr8",
                                                  NULL};

/* Fields that all entries of one machine share. */
#define X86_64                                                                                     \
  .machine = WICK_MACHINE_X86_64, .triple = "x86_64-unknown-linux-gnu", .pointer_bits = 64,        \
  .sqrt = F32 | F64, .stack_bytes = 16384, .helpers = target_no_helpers,                           \
  .dot = {{WICK_U8, WICK_I8, 4, true},                                                             \
          {WICK_I8, WICK_I8, 4, true},                                                             \
          {WICK_I16, WICK_I8, 2, false}} /* pmaddwd */
#define AARCH64                                                                                    \
  .machine = WICK_MACHINE_AARCH64, .triple = "aarch64-unknown-linux-gnu", .cpu = "generic",        \
  .pointer_bits = 64, .nvector = 32, .fma = F32 | F64, .sqrt = F32 | F64, .round = F32 | F64,      \
  .convert = F16, .stack_bytes = 16384, .helpers = target_no_helpers
#define AARCH64_DOTS                                                                               \
  {                                                                                                \
    {WICK_I8, WICK_I8, 4, false}, { WICK_U8, WICK_U8, 4, false }                                   \
  }
#define AARCH64_SVE                                                                                \
  AARCH64, .features = "+v8.2a,+neon,+fullfp16,+dotprod,+sve", .scalable = 16, .mask = WICK_PLAIN, \
           .dot = AARCH64_DOTS
#define RISCV64                                                                                    \
  .machine = WICK_MACHINE_RISCV64, .triple = "riscv64-unknown-linux-gnu", .cpu = "generic-rv64",   \
  .pointer_bits = 64, .nvector = 32, .fma = F32 | F64, .sqrt = F32 | F64, .round = F32 | F64,      \
  .stack_bytes = 16384, .helpers = target_no_helpers, .typical = "sifive-x280"
#define THUMB .machine = WICK_MACHINE_THUMB, .pointer_bits = 32, .nvector = 16, .stack_bytes = 512
#define THUMB_SOFT THUMB, .soft_float = true, .features = "", .helpers = target_soft_helpers
#define THUMB_HARD THUMB, .convert = F16, .helpers = target_thumb_helpers
#define WASM32                                                                                     \
  .machine = WICK_MACHINE_WASM32, .triple = "wasm32-unknown-unknown", .cpu = "generic",            \
  .pointer_bits = 32, .sqrt = F32 | F64, .round = F32 | F64, .stack_bytes = 8192,                  \
  .helpers = target_no_helpers, .typical = "wasm"

static const wick_target target_rows[] = {
    {X86_64, .row = "x86-64-v1", .typical = "haswell", .doc = "SSE2: every x86-64", .cpu = "x86-64",
     .features = "", .vector_bytes = 16, .nvector = 16},
    {X86_64, .row = "x86-64-v2", .typical = "haswell", .doc = "SSE4.2", .cpu = "x86-64-v2",
     .features = "", .needs = X86_V2, .vector_bytes = 16, .nvector = 16, .round = F32 | F64},
    {X86_64, .row = "x86-64-v3", .typical = "haswell", .doc = "AVX2, FMA, F16C", .cpu = "x86-64-v3",
     .features = "", .needs = X86_V3, .vector_bytes = 32, .nvector = 16, .fma = F32 | F64,
     .round = F32 | F64, .convert = F16, .mask = WORDS},
    {X86_64, .row = "x86-64-v4", .typical = "skylake-x", .doc = "AVX-512 F, DQ, CD, BW, VL",
     .cpu = "x86-64-v4", .features = "", .needs = X86_V4, .vector_bytes = 64, .nvector = 32,
     .fma = F32 | F64, .round = F32 | F64, .convert = F16, .mask = WICK_PLAIN},
    {AARCH64, .row = "armv8-a", .typical = "cortex-a76", .doc = "NEON: every 64-bit Arm",
     .features = "+v8a,+neon", .vector_bytes = 16},
    {AARCH64, .row = "armv8.2-a", .typical = "neoverse-n1",
     .doc = "with half precision and dot products", .features = "+v8.2a,+neon,+fullfp16,+dotprod",
     .needs = WICK_CPU_ARM_V82, .vector_bytes = 16, .dot = AARCH64_DOTS},
    {AARCH64_SVE, .row = "armv8.2-a-sve256", .typical = "neoverse-v1",
     .doc = "SVE of 256 bits or more", .needs = WICK_CPU_ARM_V82 | WICK_CPU_ARM_SVE256,
     .vector_bytes = 32},
    {AARCH64_SVE, .row = "armv8.2-a-sve512", .typical = "neoverse-v1",
     .doc = "SVE of 512 bits or more",
     .needs = WICK_CPU_ARM_V82 | WICK_CPU_ARM_SVE256 | WICK_CPU_ARM_SVE512, .vector_bytes = 64},
    {RISCV64, .row = "rv64gc", .doc = "scalar RISC-V", .features = "+m,+a,+f,+d,+c,-relax"},
    {RISCV64, .row = "rv64gcv", .doc = "with vectors of 128 bits",
     .features = "+m,+a,+f,+d,+c,+v,-relax", .needs = WICK_CPU_RISCV_V, .vector_bytes = 16,
     .mask = WICK_PLAIN},
    {RISCV64, .row = "rv64gcv-zvl256b", .doc = "with vectors of 256 bits or more",
     .features = "+m,+a,+f,+d,+c,+v,+zvl256b,-relax",
     .needs = WICK_CPU_RISCV_V | WICK_CPU_RISCV_V256, .vector_bytes = 32, .mask = WICK_PLAIN},
    {RISCV64, .row = "rv64gcv-zvl512b", .doc = "with vectors of 512 bits or more",
     .features = "+m,+a,+f,+d,+c,+v,+zvl512b,-relax",
     .needs = WICK_CPU_RISCV_V | WICK_CPU_RISCV_V256 | WICK_CPU_RISCV_V512, .vector_bytes = 64,
     .mask = WICK_PLAIN},
    {THUMB_SOFT, .row = "cortex-m0", .typical = "cortex-m4",
     .doc = "and Cortex-M0+: floating point in software", .triple = "thumbv6m-none-unknown-eabi",
     .cpu = "cortex-m0"},
    {THUMB_SOFT, .row = "cortex-m3", .typical = "cortex-m4", .doc = "floating point in software",
     .triple = "thumbv7m-none-unknown-eabi", .cpu = "cortex-m3"},
    {THUMB_HARD, .row = "cortex-m4", .typical = "cortex-m4", .doc = "single precision in hardware",
     .triple = "thumbv7em-none-unknown-eabihf", .cpu = "cortex-m4", .features = "", .fma = F32,
     .sqrt = F32},
    {THUMB_HARD, .row = "cortex-m7", .typical = "cortex-m7", .doc = "double precision in hardware",
     .triple = "thumbv7em-none-unknown-eabihf", .cpu = "cortex-m7", .features = "",
     .fma = F32 | F64, .sqrt = F32 | F64, .round = F32 | F64},
    /* Vectors of Helium flush denormal numbers to zero, which would change bits. They are not
     * used. */
    {THUMB_HARD, .row = "cortex-m55", .typical = "cortex-m7",
     .doc = "double precision in hardware, Helium is not used",
     .triple = "thumbv8.1m.main-none-unknown-eabihf", .cpu = "cortex-m55", .features = "-mve",
     .fma = F32 | F64, .sqrt = F32 | F64, .round = F32 | F64},
    {WASM32, .row = "wasm32", .doc = "WebAssembly without vectors", .nvector = 16,
     .features = "+bulk-memory,+nontrapping-fptoint,+sign-ext"},
    {WASM32, .row = "wasm32-simd", .doc = "WebAssembly with simd128", .vector_bytes = 16,
     .nvector = 16, .features = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+simd128"},
};

/* Instructions that only some processors of an entry have. */
typedef struct target_extra {
  const char *name; /* LLVM's feature */
  wick_machine machine;
  uint64_t bit;
  const char *least; /* the lowest entry to which it may be added */
  wick_dot dot;
  uint64_t narrow;
} target_extra;

static const target_extra target_extras[] = {
    {"avxvnni",
     WICK_MACHINE_X86_64,
     WICK_CPU_X86_AVXVNNI,
     "x86-64-v3",
     {WICK_U8, WICK_I8, 4, false},
     0},
    {"avx512vnni",
     WICK_MACHINE_X86_64,
     WICK_CPU_X86_AVX512VNNI,
     "x86-64-v4",
     {WICK_U8, WICK_I8, 4, false},
     0},
    {"avx512vbmi", WICK_MACHINE_X86_64, WICK_CPU_X86_AVX512VBMI, "x86-64-v4", {0}, 0},
    {"avx512bf16",
     WICK_MACHINE_X86_64,
     WICK_CPU_X86_AVX512BF16,
     "x86-64-v4",
     {WICK_BF16, WICK_BF16, 2, false},
     BF16},
    {"i8mm", WICK_MACHINE_AARCH64, WICK_CPU_ARM_I8MM, "armv8.2-a", {WICK_U8, WICK_I8, 4, false}, 0},
    {"bf16", WICK_MACHINE_AARCH64, WICK_CPU_ARM_BF16, "armv8.2-a", {0}, 0},
};

/* Names of required features, as in /proc/cpuinfo or in the makers' manuals. */
static const struct {
  wick_machine machine;
  uint64_t bit;
  const char *name;
} target_needs[] = {
    {WICK_MACHINE_X86_64, X86_V2, "SSE4.2"},
    {WICK_MACHINE_X86_64, WICK_CPU_X86_V3, "AVX2"},
    {WICK_MACHINE_X86_64, WICK_CPU_X86_V3, "FMA"},
    {WICK_MACHINE_X86_64, WICK_CPU_X86_V3, "F16C"},
    {WICK_MACHINE_X86_64, WICK_CPU_X86_V3, "BMI2"},
    {WICK_MACHINE_X86_64, WICK_CPU_X86_V4, "AVX-512 F, DQ, CD, BW, VL"},
    {WICK_MACHINE_AARCH64, WICK_CPU_ARM_V82, "FP16"},
    {WICK_MACHINE_AARCH64, WICK_CPU_ARM_V82, "DotProd"},
    {WICK_MACHINE_AARCH64, WICK_CPU_ARM_SVE256, "SVE of 256 bits"},
    {WICK_MACHINE_AARCH64, WICK_CPU_ARM_SVE512, "SVE of 512 bits"},
    {WICK_MACHINE_RISCV64, WICK_CPU_RISCV_V, "V"},
    {WICK_MACHINE_RISCV64, WICK_CPU_RISCV_V256, "Zvl256b"},
    {WICK_MACHINE_RISCV64, WICK_CPU_RISCV_V512, "Zvl512b"},
};

const wick_target *wick_target_row(uint32_t i)
{
  return i < WICK_COUNT(target_rows) ? &target_rows[i] : NULL;
}

static const wick_target *target_find_row(const char *name, size_t n)
{
  for (uint32_t i = 0; i < WICK_COUNT(target_rows); i++)
    if (strlen(target_rows[i].row) == n && memcmp(target_rows[i].row, name, n) == 0)
      return &target_rows[i];
  return NULL;
}

static bool target_has_extra(const wick_target *t, const target_extra *e)
{
  return t->machine == e->machine && (t->needs & e->bit);
}

/* The entries of one machine are in order, and each one has all features of those before it. */
static bool target_add_extra(wick_target *t, const target_extra *e)
{
  if (t->machine != e->machine) return false;
  const wick_target *row = target_find_row(t->row, strlen(t->row));
  if (row < target_find_row(e->least, strlen(e->least))) return false;
  t->needs |= e->bit;
  t->narrow |= e->narrow;
  uint32_t n = 0; /* an instruction replaces several instructions on pairs */
  while (t->dot[n].k && (t->dot[n].x != e->dot.x || t->dot[n].w != e->dot.w)) n++;
  if (e->dot.k) t->dot[n] = e->dot;
  return true;
}

static bool target_add_named(wick_target *t, const char *name, size_t n)
{
  for (uint32_t i = 0; i < WICK_COUNT(target_extras); i++)
    if (strlen(target_extras[i].name) == n && memcmp(target_extras[i].name, name, n) == 0)
      return target_add_extra(t, &target_extras[i]);
  return false;
}

bool wick_target_find(const char *name, wick_target *out_target)
{
  size_t n = strcspn(name, "+");
  const wick_target *row = target_find_row(name, n);
  if (!row && n == 4 && memcmp(name, "host", 4) == 0)
    *out_target = wick_target_host();
  else if (row)
    *out_target = *row;
  else
    return false;
  for (name += n; *name == '+'; name += n) {
    n = strcspn(++name, "+");
    if (!target_add_named(out_target, name, n)) return false;
  }
  return true;
}

bool wick_target_runs_on(const wick_target *t, wick_cpu cpu)
{
  return t->machine == cpu.machine && (t->needs & ~cpu.features) == 0;
}

wick_target wick_target_host(void)
{
  wick_cpu cpu = wick_cpu_detect();
  wick_target t = target_rows[0];
  for (uint32_t i = 0; i < WICK_COUNT(target_rows); i++)
    if (wick_target_runs_on(&target_rows[i], cpu)) t = target_rows[i];
  for (uint32_t i = 0; i < WICK_COUNT(target_extras); i++)
    if (cpu.features & target_extras[i].bit) (void)target_add_extra(&t, &target_extras[i]);
  wick_processor processor;
  t.processor = *wick_processor_host(wick_target_processor(&t), &processor);
  return t;
}

void wick_target_name(const wick_target *t, wick_text *out)
{
  wick_text_add(out, t->row);
  for (uint32_t i = 0; i < WICK_COUNT(target_extras); i++)
    if (target_has_extra(t, &target_extras[i]))
      wick_text_char(out, '+'), wick_text_add(out, target_extras[i].name);
}

void wick_target_features(const wick_target *t, wick_text *out)
{
  wick_text_add(out, t->features);
  for (uint32_t i = 0; i < WICK_COUNT(target_extras); i++)
    if (target_has_extra(t, &target_extras[i]))
      wick_text_printf(out, "%s+%s", out->n ? "," : "", target_extras[i].name);
}

const wick_dot *wick_target_dot(const wick_target *t, wick_elem x, wick_elem w, uint32_t k)
{
  for (const wick_dot *d = t->dot; d < t->dot + WICK_DOTS && d->k; d++)
    if (d->x == x && d->w == w && d->k == k) return d;
  return NULL;
}

bool wick_target_may_call(const wick_target *t, const char *symbol)
{
  static const char *const everywhere[] = {"memcpy", "memmove", "memset"};
  for (uint32_t i = 0; i < WICK_COUNT(everywhere); i++)
    if (strcmp(everywhere[i], symbol) == 0) return true;
  for (const char *const *h = t->helpers; *h; h++)
    if (strcmp(*h, symbol) == 0) return true;
  return false;
}

const char *wick_target_need(const wick_target *t, uint32_t i)
{
  for (size_t k = 0; k < WICK_COUNT(target_needs); k++)
    if (t->machine == target_needs[k].machine && (t->needs & target_needs[k].bit) && i-- == 0)
      return target_needs[k].name;
  return NULL;
}

const char *wick_target_extra(const wick_target *row, uint32_t i)
{
  for (size_t k = 0; k < WICK_COUNT(target_extras); k++) {
    wick_target t = *row;
    if (target_add_extra(&t, &target_extras[k]) && i-- == 0) return target_extras[k].name;
  }
  return NULL;
}

/* ---- what depends on the processor ---- */

const wick_processor *wick_target_processor(const wick_target *t)
{
  return *t->processor.name ? &t->processor : wick_processor_find(t->typical);
}

uint64_t wick_target_cache(const wick_target *t, uint32_t level)
{
  static const uint64_t small[3] = {32 << 10, 1 << 20, 1 << 20};
  uint64_t nbytes = wick_target_processor(t)->cache_bytes[level - 1];
  return nbytes ? nbytes : small[level - 1];
}

/* Returns how many vectors of the target `n` pipes of that width begin in a cycle. */
static double target_per_cycle(const wick_target *t, double n, double width)
{
  double vector = t->vector_bytes ? t->vector_bytes : t->pointer_bits / 8;
  return width < vector ? n * width / vector : n;
}

double wick_target_products(const wick_target *t)
{
  const wick_processor *p = wick_target_processor(t);
  return target_per_cycle(t, p->products, p->products_bytes);
}

double wick_target_loads(const wick_target *t)
{
  const wick_processor *p = wick_target_processor(t);
  return target_per_cycle(t, p->loads, p->loads_bytes);
}

int64_t wick_target_shuffles(const wick_target *t)
{
  enum { HALVES = 32 };
  return t->machine == WICK_MACHINE_X86_64 && t->vector_bytes == HALVES ? 3 : 1;
}

/* Returns the cycles for a line of data that stays in a cache if it has at most `part` of its
 * bytes. */
static double target_line(const wick_target *t, double nbytes)
{
  static const double part[3] = {0.5, 0.6, 1};
  const wick_processor *p = wick_target_processor(t);
  for (uint32_t k = 0; k < 3; k++)
    if (nbytes <= part[k] * (double)wick_target_cache(t, k + 1)) return k ? p->line[k - 1] : 0;
  return p->line[2];
}

double wick_target_stream(const wick_target *t, uint64_t nbytes)
{
  return target_line(t, (double)nbytes) * t->vector_bytes / WICK_LINE;
}

/* Other weights have passed through the caches since the last run. A layer's are assumed to be an
 * eighth of all, which stay in the last cache if it holds them. */
double wick_target_weights(const wick_target *t, uint64_t nbytes)
{
  enum { SHARE = 8 };
  bool near = nbytes <= wick_target_cache(t, 2) || SHARE * nbytes <= wick_target_cache(t, 3);
  return wick_target_processor(t)->line[near ? 1 : 2];
}

/* A system says how large the third cache is as a whole; the table has a core's share. */
uint64_t wick_target_nontemporal(const wick_target *t)
{
  const wick_processor *p = wick_target_processor(t), *row = wick_processor_find(p->name);
  if (t->machine != WICK_MACHINE_X86_64 || t->vector_bytes < 16) return UINT64_MAX;
  return (row ? row : p)->cache_bytes[1] + (row ? row : p)->cache_bytes[2];
}

/* A line is read, fetched where it is written to, and written back; a transposing copy waits for
 * each about once more. The shuffles of a vector are about as many as it has lanes, over eight. */
double wick_target_move(const wick_target *t, uint64_t nbytes)
{
  enum { SHUFFLES = 32 /* bytes of a vector for each */, LINES = 4 };
  return wick_target_products(t) *
         ((double)t->vector_bytes / SHUFFLES + LINES * wick_target_stream(t, nbytes));
}

bool wick_target_has_artifacts(const wick_target *t)
{
  return t->machine != WICK_MACHINE_THUMB && t->machine != WICK_MACHINE_WASM32;
}
