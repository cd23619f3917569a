/* The table of processors, the recognition of this machine's, and the text form of an entry. */
#include "target/processor.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)

/* Caches, pipes and latencies are from the makers' optimization manuals (Intel 64 and IA-32
 * Architectures Optimization Reference Manual; Software Optimization Guides for AMD family 17h, 19h
 * and 1Ah; Arm Software Optimization Guides; SiFive's manuals of its cores). The last cache is a
 * core's share of it. Lines are measured for zen5 and sapphirerapids; elsewhere they follow from the
 * width of the paths, and from the part of it that the measured ones reach. */
/* The streams are measured for zen5; for others they are those that Intel's manual gives for its cores. */
enum { PROCESSOR_STREAMS = 32 };
/* name, machine, LLVM's model, caches, lines, multiply-add pipes, their width and latency, loads,
 * their width, GHz, description, streams */
#define ROW(...) ROW_OF(__VA_ARGS__, PROCESSOR_STREAMS, )
#define ROW_OF(name, machine, model, l1, l2, l3, near, far, memory, p, pw, lat, l, lw, ghz, doc,   \
               streams, ...)                                                                       \
  {                                                                                                \
    name, WICK_MACHINE_##machine, doc, model, {l1, l2, l3}, {near, far, memory}, p, pw, lat, l,    \
        lw, ghz, streams                                                                           \
  }
static const wick_processor processor_rows[] = {
    ROW("haswell", X86_64, "haswell", KIB(32), KIB(256), MIB(8), 2.2, 4.5, 12, 2, 32, 5, 2, 32, 3.4,
        "Intel Core of 2013 to 2020 (Haswell to Comet Lake)"),
    ROW("skylake-x", X86_64, "skylake-avx512", KIB(32), MIB(1), KIB(1408), 1.5, 5.5, 12, 2, 64, 4,
        2, 64, 2.6, "Intel Xeon of 2017 (Skylake-SP)"),
    ROW("cascadelake", X86_64, "cascadelake", KIB(32), MIB(1), KIB(1408), 1.5, 5.5, 12, 2, 64, 4, 2,
        64, 2.8, "Intel Xeon of 2019 (Cascade Lake)"),
    ROW("icelake", X86_64, "icelake-server", KIB(48), KIB(1280), KIB(1536), 1.5, 5, 12, 2, 64, 4, 2,
        64, 2.9, "Intel Xeon of 2021 (Ice Lake)"),
    ROW("sapphirerapids", X86_64, "sapphirerapids", KIB(48), MIB(2), KIB(1920), 1.3, 4.2, 8, 2, 64,
        4, 2, 64, 3.0, "Intel Xeon of 2023 (Sapphire Rapids, Emerald Rapids)"),
    ROW("alderlake", X86_64, "alderlake", KIB(48), KIB(1280), MIB(24), 1.6, 4, 8, 2, 32, 4, 3, 32,
        4.8, "Intel Core of 2021 to 2024 (Alder Lake, Raptor Lake), its fast cores"),
    ROW("zen2", X86_64, "znver2", KIB(32), KIB(512), MIB(16), 2.2, 3.5, 10, 2, 32, 5, 2, 32, 3.3,
        "AMD of 2019 (Zen 2)"),
    ROW("zen3", X86_64, "znver3", KIB(32), KIB(512), MIB(32), 2.2, 3.5, 9, 2, 32, 4, 2, 32, 3.5,
        "AMD of 2020 (Zen 3)"),
    /* pipes of 256 bits: half of a vector of AVX-512 */
    ROW("zen4", X86_64, "znver4", KIB(32), MIB(1), MIB(32), 2.1, 3.5, 8, 2, 32, 4, 2, 32, 3.7,
        "AMD of 2022 (Zen 4)"),
    ROW("zen5", X86_64, "znver5", KIB(48), MIB(1), MIB(32), 1.4, 3.5, 6.5, 2, 64, 4, 2, 64, 4.1,
        "AMD of 2024 (Zen 5)", 512),
    ROW("neoverse-n1", AARCH64, "neoverse-n1", KIB(64), MIB(1), MIB(1), 2.5, 5, 9, 2, 16, 4, 2, 16,
        2.6, "Arm servers of 2019 (Graviton 2, Altra)"),
    /* pipes of 128 bits; SVE joins two of them */
    ROW("neoverse-v1", AARCH64, "neoverse-v1", KIB(64), MIB(1), MIB(1), 2, 5, 8, 4, 16, 4, 2, 32,
        2.6, "Arm servers of 2021 (Graviton 3)"),
    ROW("neoverse-v2", AARCH64, "neoverse-v2", KIB(64), MIB(2), MIB(1), 2, 5, 8, 4, 16, 4, 3, 16,
        3.0, "Arm servers of 2023 (Graviton 4, Grace)"),
    ROW("cortex-a53", AARCH64, "cortex-a53", KIB(32), KIB(512), 0, 8, 30, 30, 1, 8, 8, 1, 8, 1.4,
        "Arm's small core of 2012"),
    ROW("cortex-a55", AARCH64, "cortex-a55", KIB(32), KIB(128), MIB(1), 6, 12, 24, 1, 16, 4, 1, 8,
        1.8, "Arm's small core of 2017"),
    ROW("cortex-a76", AARCH64, "cortex-a76", KIB(64), KIB(512), MIB(2), 2.5, 5, 10, 2, 16, 4, 2, 16,
        2.4, "Arm's large core of 2018"),
    ROW("cortex-a78", AARCH64, "cortex-a78", KIB(64), KIB(512), MIB(4), 2.2, 5, 10, 2, 16, 4, 2, 16,
        2.6, "Arm's large core of 2020"),
    ROW("cortex-x2", AARCH64, "cortex-x2", KIB(64), MIB(1), MIB(8), 2, 4.5, 8, 4, 16, 4, 3, 16, 3.0,
        "Arm's largest core of 2021"),
    ROW("sifive-x280", RISCV64, "sifive-x280", KIB(32), KIB(512), 0, 4, 16, 16, 1, 32, 4, 1, 32,
        1.8, "SiFive's core with vectors of 512 bits, which it computes in halves"),
    ROW("sifive-p670", RISCV64, "sifive-p670", KIB(32), KIB(256), MIB(2), 2.5, 6, 12, 2, 16, 4, 2,
        16, 2.4, "SiFive's core with vectors of 128 bits"),
    ROW("cortex-m4", THUMB, NULL, 0, 0, 0, 4, 4, 4, 1, 4, 3, 0.5, 4, 0.1,
        "Arm's microcontrollers without caches"),
    ROW("cortex-m7", THUMB, "cortex-m7", KIB(16), 0, 0, 16, 16, 16, 1, 4, 3, 1, 8, 0.4,
        "Arm's microcontrollers with a cache"),
    ROW("wasm", WASM32, NULL, KIB(32), KIB(256), MIB(8), 2.2, 4.5, 12, 2, 16, 4, 2, 16, 3,
        "a common processor under a browser's engine"),
};
#undef ROW
#undef ROW_OF

const wick_processor *wick_processor_row(uint32_t i)
{
  return i < WICK_COUNT(processor_rows) ? &processor_rows[i] : NULL;
}

const wick_processor *wick_processor_find(const char *name)
{
  for (uint32_t i = 0; i < WICK_COUNT(processor_rows); i++)
    if (strcmp(processor_rows[i].name, name) == 0) return &processor_rows[i];
  return NULL;
}

/* ---- this machine's ---- */

/* What a processor says of itself. The first entry that agrees names it. Family 0: every family,
 * for processors that are newer than this table, and for virtual machines that hide their model;
 * their instructions say what they are at least. */
static const struct {
  wick_machine machine;
  const char *maker;
  uint32_t family, first, last; /* models */
  uint64_t features;
  const char *name;
} processor_known[] = {
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0x17, 0x30, 0xff, 0, "zen2"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0x19, 0x00, 0x0f, 0, "zen3"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0x19, 0x20, 0x5f, 0, "zen3"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0x19, 0x00, 0xff, WICK_CPU_X86_V4, "zen4"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0x1a, 0x00, 0xff, WICK_CPU_X86_V4, "zen5"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0x55, 0x55, WICK_CPU_X86_AVX512VNNI, "cascadelake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0x55, 0x55, WICK_CPU_X86_V4, "skylake-x"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0x6a, 0x6c, WICK_CPU_X86_V4, "icelake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0x8f, 0x8f, WICK_CPU_X86_V4, "sapphirerapids"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0xcf, 0xcf, WICK_CPU_X86_V4, "sapphirerapids"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0x97, 0x9a, WICK_CPU_X86_V3, "alderlake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 6, 0xb7, 0xbf, WICK_CPU_X86_V3, "alderlake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 0, 0, 0, WICK_CPU_X86_AVX512BF16 | WICK_CPU_X86_AVXVNNI,
     "sapphirerapids"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 0, 0, 0, WICK_CPU_X86_AVX512VBMI, "icelake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 0, 0, 0, WICK_CPU_X86_AVX512VNNI, "cascadelake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 0, 0, 0, WICK_CPU_X86_V4, "skylake-x"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 0, 0, 0, WICK_CPU_X86_AVXVNNI, "alderlake"},
    {WICK_MACHINE_X86_64, "GenuineIntel", 0, 0, 0, WICK_CPU_X86_V3, "haswell"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0, 0, 0, WICK_CPU_X86_V4 | WICK_CPU_X86_AVXVNNI, "zen5"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0, 0, 0, WICK_CPU_X86_V4, "zen4"},
    {WICK_MACHINE_X86_64, "AuthenticAMD", 0, 0, 0, WICK_CPU_X86_V3, "zen3"},
    /* the implementer and the part number of the register MIDR_EL1 */
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd03, 0xd03, 0, "cortex-a53"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd05, 0xd05, 0, "cortex-a55"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd0b, 0xd0b, 0, "cortex-a76"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd0c, 0xd0c, 0, "neoverse-n1"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd40, 0xd40, 0, "neoverse-v1"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd41, 0xd41, 0, "cortex-a78"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd48, 0xd48, 0, "cortex-x2"},
    {WICK_MACHINE_AARCH64, "0x41", 0, 0xd4f, 0xd4f, 0, "neoverse-v2"},
};

static const wick_processor *processor_recognised(void)
{
  wick_cpu cpu = wick_cpu_detect();
  wick_cpu_model model = wick_cpu_identify();
  for (uint32_t i = 0; i < WICK_COUNT(processor_known); i++)
    if (processor_known[i].machine == cpu.machine &&
        strcmp(processor_known[i].maker, model.maker) == 0 &&
        (!processor_known[i].family || processor_known[i].family == model.family) &&
        (!processor_known[i].last ||
         (model.model >= processor_known[i].first && model.model <= processor_known[i].last)) &&
        (processor_known[i].features & ~cpu.features) == 0)
      return wick_processor_find(processor_known[i].name);
  return NULL;
}

bool wick_processor_is_known(void) { return processor_recognised() != NULL; }

const wick_processor *wick_processor_host(const wick_processor *typical, wick_processor *mem)
{
  const wick_processor *found = processor_recognised();
  *mem = found ? *found : *typical;
  uint64_t cache[3];
  wick_cpu_caches(cache);
  for (uint32_t i = 0; i < 3; i++)
    if (cache[i]) mem->cache_bytes[i] = cache[i];
  return mem;
}

/* ---- text ---- */

const char *wick_machine_name(wick_machine m)
{
  static const char *const names[] = {
      [WICK_MACHINE_NONE] = "none",       [WICK_MACHINE_X86_64] = "x86-64",
      [WICK_MACHINE_AARCH64] = "aarch64", [WICK_MACHINE_RISCV64] = "riscv64",
      [WICK_MACHINE_THUMB] = "arm",       [WICK_MACHINE_WASM32] = "wasm32"};
  return names[m];
}

static const char processor_head[] = "wick processor 1";

/* The numbers of the text form, in its order. */
static const struct {
  const char *name;
  uint32_t n; /* how many */
  size_t at;
  bool bytes; /* integers */
  double least, most;
} processor_numbers[] = {
    {"cache", 3, offsetof(wick_processor, cache_bytes), true, 0, 1099511627776.0},
    {"line", 3, offsetof(wick_processor, line), false, 0.01, 10000},
    {"products", 1, offsetof(wick_processor, products), false, 0.01, 64},
    {"products-bytes", 1, offsetof(wick_processor, products_bytes), false, 1, 4096},
    {"latency", 1, offsetof(wick_processor, latency), false, 0.1, 1000},
    {"loads", 1, offsetof(wick_processor, loads), false, 0.01, 64},
    {"loads-bytes", 1, offsetof(wick_processor, loads_bytes), false, 1, 4096},
    {"ghz", 1, offsetof(wick_processor, ghz), false, 0.001, 100},
    {"streams", 1, offsetof(wick_processor, streams), false, 1, 1e6},
};

void wick_processor_print(const wick_processor *p, wick_text *out)
{
  wick_text_printf(out, "%s\nname %s\nmachine %s\n", processor_head, p->name,
                   wick_machine_name(p->machine));
  for (uint32_t i = 0; i < WICK_COUNT(processor_numbers); i++) {
    wick_text_add(out, processor_numbers[i].name);
    const char *at = (const char *)p + processor_numbers[i].at;
    for (uint32_t k = 0; k < processor_numbers[i].n; k++)
      if (processor_numbers[i].bytes)
        wick_text_printf(out, " %llu", (unsigned long long)((const uint64_t *)(const void *)at)[k]);
      else
        wick_text_printf(out, " %.4g", ((const double *)(const void *)at)[k]);
    wick_text_char(out, '\n');
  }
}

typedef struct processor_reader {
  const char *where;
  wick_arena *mem;
  uint32_t line;
  wick_processor *out;
  uint32_t seen; /* bit i: number i; then name and machine */
} processor_reader;

static wick_status processor_fail(const processor_reader *r, const char *what, const char *word)
{
  return wick_fail(r->mem, WICK_EINVAL, r->where, "line %u: %s \"%s\"", r->line, what, word);
}

static wick_status processor_number(processor_reader *r, uint32_t i, char *rest)
{
  char *at = (char *)r->out + processor_numbers[i].at;
  for (uint32_t k = 0; k < processor_numbers[i].n; k++) {
    char *end;
    double x = strtod(rest, &end);
    if (end == rest || !(x >= processor_numbers[i].least && x <= processor_numbers[i].most))
      return processor_fail(r, "there is no number in range for", processor_numbers[i].name);
    if (processor_numbers[i].bytes)
      ((uint64_t *)(void *)at)[k] = (uint64_t)x;
    else
      ((double *)(void *)at)[k] = x;
    rest = end;
  }
  rest += strspn(rest, " \t\r");
  if (*rest)
    return processor_fail(r, "there is more than the numbers of", processor_numbers[i].name);
  r->seen |= 1u << i;
  return NULL;
}

static wick_status processor_line(processor_reader *r, char *line)
{
  enum { COUNT = WICK_COUNT(processor_numbers) };
  size_t n = strcspn(line, " \t\r");
  char *rest = line + n + strspn(line + n, " \t\r");
  line[n] = '\0';
  if (!*line || *line == '#') return NULL;
  for (uint32_t i = 0; i < COUNT; i++)
    if (strcmp(line, processor_numbers[i].name) == 0) return processor_number(r, i, rest);
  rest[strcspn(rest, " \t\r")] = '\0';
  if (strcmp(line, "name") == 0) {
    if (!*rest || strlen(rest) >= WICK_PROCESSOR_NAME)
      return processor_fail(r, "a name has 1 to 31 bytes:", rest);
    memcpy(r->out->name, rest, strlen(rest) + 1);
    r->seen |= 1u << COUNT;
    return NULL;
  }
  if (strcmp(line, "machine") != 0)
    return processor_fail(r, "this is not a line of a processor:", line);
  for (wick_machine m = WICK_MACHINE_X86_64; m <= WICK_MACHINE_WASM32; m++)
    if (strcmp(rest, wick_machine_name(m)) == 0) r->out->machine = m;
  if (!r->out->machine) return processor_fail(r, "there is no machine", rest);
  r->seen |= 2u << COUNT;
  return NULL;
}

wick_status wick_processor_read(const char *where, const char *text, size_t nbytes, wick_arena *mem,
                                wick_processor *out)
{
  enum { COUNT = WICK_COUNT(processor_numbers) };
  *out = (wick_processor){.doc = "measured", .streams = PROCESSOR_STREAMS};
  processor_reader r = {where, mem, 0, out, 0};
  size_t head = sizeof processor_head - 1;
  if (nbytes < head || memcmp(text, processor_head, head) != 0 || memchr(text, '\0', nbytes))
    return wick_fail(mem, WICK_EINVAL, where,
                     "this is not the text of a processor, which begins with \"%s\"",
                     processor_head);
  char *copy = wick_str_dupn(mem, text, nbytes);
  for (char *line = copy, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    if (r.line++) WICK_TRY(processor_line(&r, line));
  }
  for (uint32_t i = 0; i < COUNT + 2; i++)
    if (!(r.seen >> i & 1) && (i >= COUNT || strcmp(processor_numbers[i].name, "streams") != 0))
      return wick_fail(mem, WICK_EINVAL, where, "the line \"%s\" is missing",
                       i < COUNT    ? processor_numbers[i].name
                       : i == COUNT ? "name"
                                    : "machine");
  return NULL;
}
