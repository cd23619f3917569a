/* Fuzzes the import of models of Core ML: the container, the messages, and the layers. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/coreml/coreml.h"
#include "ir/verify.h"

/* The memory that a model of this size may use. */
static uint64_t fuzz_limit(size_t nbytes) { return (uint64_t)65536 * nbytes + (512u << 20); }

static void fuzz_coreml(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = fuzz_limit(nbytes)};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort(); /* it used more memory than its size allows */
  wick_module *m = wick_module_create(&guard, "fuzz.mlmodel");
  const wick_import_options o = {.max_nodes = 10000};
  const wick_func *f;
  wick_status s =
      wick_import_coreml(m, (wick_span){bytes, nbytes}, "fuzz.mlmodel", &o, &mem, &tmp, &f);
  if (!s && wick_verify_func(f, &tmp)) abort();
  wick_module_free(m);
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"tests/fuzz/coreml/*.mlmodel",
                                         "../shared/frontends/coreml/*/*.mlmodel", NULL};
  static const wick_fuzz f = {"fuzz_coreml", patterns, 100000, fuzz_coreml};
  return wick_fuzz_main(&f, argc, argv);
}
