/* Fuzzes the reader of artifacts: whole files, and the parts after the hash. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/load.h"

/* Accepted parts must be within the bytes, as the header says. */
static void fuzz_check(wick_span file, const wick_artifact *a)
{
  for (uint32_t i = 0; i < a->nsection; i++) {
    wick_span s = a->section[i].bytes;
    if (s.at < file.at || s.nbytes > (size_t)(file.at + file.nbytes - s.at)) abort();
    if (strlen(a->section[i].name) >= WICK_ARTIFACT_NAME) abort();
  }
  size_t ncode = wick_artifact_section(a, "code").nbytes;
  for (uint32_t i = 0; i < a->nsymbol; i++)
    if (a->symbol[i].offset >= ncode || !*a->symbol[i].name) abort();
  for (uint32_t i = 0; i < a->nimport; i++)
    if (!*a->import[i]) abort();
}

static void fuzz_read(wick_span file, wick_arena *mem)
{
  wick_artifact a;
  wick_image image;
  if (wick_artifact_read(file, "fuzz", mem, &a)) return;
  fuzz_check(file, &a);
  if (wick_image_map(&a, mem, &image)) return;
  for (uint32_t i = 0; i < a.nsymbol; i++)
    if (wick_image_symbol(&image, a.symbol[i].name) != image.at + a.symbol[i].offset) abort();
  wick_image_unmap(&image);
}

static void fuzz_inside(wick_span bytes, wick_arena *mem)
{
  size_t cut = bytes.nbytes ? bytes.at[0] % bytes.nbytes : 0;
  static const unsigned char code[256];
  wick_section s[3] = {{"code", {code, sizeof code}, 0, 0},
                       {"symbols", {bytes.at, cut}, 0, 0},
                       {"imports", {bytes.at + cut, bytes.nbytes - cut}, 0, 0}};
  wick_artifact_parts parts;
  if (wick_artifact_make(wick_cpu_detect().machine, 0, 3, s, mem, &parts)) abort();
  fuzz_read(wick_artifact_join(&parts, mem), mem);
}

static void fuzz_artifact(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = 64 * nbytes + (1 << 20)};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort();
  wick_span file = {bytes, nbytes};
  fuzz_read(file, &mem);
  fuzz_inside(file, &mem);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"tests/fuzz/artifact/*", NULL};
  static const wick_fuzz f = {"fuzz_artifact", patterns, 65536, fuzz_artifact};
  return wick_fuzz_main(&f, argc, argv);
}
