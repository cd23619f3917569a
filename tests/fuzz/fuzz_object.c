/* Fuzzes the readers of objects, and the linker. */
#include <setjmp.h>
#include <stdlib.h>

#include "codegen/link.h"
#include "codegen/object.h"
#include "fuzz.h"

static void fuzz_object(const uint8_t *bytes, size_t nbytes)
{
  static const char *const targets[] = {"x86-64-v4", "armv8-a", "rv64gc", "wasm32", "cortex-m4"};
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = (uint64_t)4 << 30};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort();
  wick_span object = {bytes, nbytes};
  for (uint32_t i = 0; i < WICK_COUNT(targets); i++) {
    wick_target t;
    wick_section section[WICK_LINK_SECTIONS];
    if (!wick_target_find(targets[i], &t)) abort();
    if (wick_object_check(object, &t, NULL, &mem)) continue;
    if (wick_link(1, &object, &t, &mem, section)) continue;
  }
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"tests/fuzz/object/*", NULL};
  static const wick_fuzz f = {"fuzz_object", patterns, 65536, fuzz_object};
  return wick_fuzz_main(&f, argc, argv);
}
