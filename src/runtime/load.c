/* Maps code: copies it to new pages, binds the few functions that it may call, and makes the pages
 * executable. */
#include "runtime/load.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* The functions that generated code may call (target/target.h lists the same ones by name). */
typedef union load_function {
  void *(*copy)(void *restrict, const void *restrict, size_t);
  void *(*move)(void *, const void *, size_t);
  void *(*set)(void *, int, size_t);
  uint64_t address;
} load_function;

static const struct {
  const char *name;
  load_function f;
} load_functions[] = {
    {"memcpy", {.copy = memcpy}}, {"memmove", {.move = memmove}}, {"memset", {.set = memset}}};

static wick_status load_bind(const wick_artifact *a, unsigned char *slots, wick_arena *mem)
{
  for (uint32_t i = 0; i < a->nimport; i++) {
    uint32_t k = 0;
    while (k < WICK_COUNT(load_functions) && strcmp(load_functions[k].name, a->import[i]) != 0) k++;
    if (k == WICK_COUNT(load_functions))
      return wick_fail(mem, WICK_EUNSUPPORTED, NULL, "the code calls %s, which is not known here",
                       a->import[i]);
    memcpy(slots + 8 * (size_t)i, &load_functions[k].f.address, 8);
  }
  return NULL;
}

wick_status wick_image_check_cpu(const wick_artifact *a, wick_arena *mem)
{
  static const char *const name[] = {[WICK_MACHINE_NONE] = "of an unknown kind",
                                     [WICK_MACHINE_X86_64] = "an x86-64",
                                     [WICK_MACHINE_AARCH64] = "an aarch64",
                                     [WICK_MACHINE_RISCV64] = "a riscv64",
                                     [WICK_MACHINE_THUMB] = "an arm",
                                     [WICK_MACHINE_WASM32] = "a wasm32"};
  wick_cpu cpu = wick_cpu_detect();
  if (a->machine == cpu.machine && (a->features & ~cpu.features) == 0) return NULL;
  wick_span t = wick_artifact_section(a, "target");
  return wick_fail(
      mem, WICK_EUNSUPPORTED, NULL, "the code was compiled for %.*s; this processor is %s%s",
      t.at ? (int)(t.nbytes & 0xff) : 15, t.at ? (const char *)t.at : "another machine",
      name[cpu.machine], a->machine == cpu.machine ? " without some of its instructions" : "");
}

wick_status wick_image_map(const wick_artifact *a, wick_arena *mem, wick_image *out_image)
{
  *out_image = (wick_image){.artifact = a};
  WICK_TRY(wick_image_check_cpu(a, mem));
  wick_span code = wick_artifact_section(a, "code"), rodata = wick_artifact_section(a, "rodata");
  wick_image_layout l = wick_image_layout_of(code.nbytes, rodata.nbytes, a->nimport);
  if (!l.nbytes) return NULL;
  unsigned char *at =
      mmap(NULL, l.nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return wick_fail(mem, WICK_EIO, NULL, "no memory for code: %s", strerror(errno));
  *out_image = (wick_image){at, l.nbytes, a};
  if (code.nbytes) memcpy(at, code.at, code.nbytes);
  if (rodata.nbytes) memcpy(at + l.rodata, rodata.at, rodata.nbytes);
  wick_status s = load_bind(a, at + l.slots, mem);
  if (!s && (mprotect(at, l.rodata, PROT_READ | PROT_EXEC) ||
             (l.nbytes > l.rodata && mprotect(at + l.rodata, l.nbytes - l.rodata, PROT_READ))))
    s = wick_fail(mem, WICK_EIO, NULL, "the system does not make code executable: %s",
                  strerror(errno));
  if (s)
    wick_image_unmap(out_image);
  else
    wick_cpu_flush_code(at, code.nbytes);
  return s;
}

void wick_image_unmap(wick_image *image)
{
  if (image->at) munmap(image->at, image->nbytes);
  *image = (wick_image){0};
}

void *wick_image_symbol(const wick_image *image, const char *name)
{
  uint32_t lo = 0, hi = image->at ? image->artifact->nsymbol : 0;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    const wick_symbol *s = &image->artifact->symbol[mid];
    int order = strcmp(name, s->name);
    if (order == 0) return image->at + s->offset;
    if (order < 0)
      hi = mid;
    else
      lo = mid + 1;
  }
  return NULL;
}
