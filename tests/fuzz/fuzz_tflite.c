/* Fuzzes the import of TensorFlow Lite models: the reader of FlatBuffers, and the nodes. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/tflite/tflite.h"
#include "ir/verify.h"

/* The memory that a model of this size may use. */
static uint64_t fuzz_limit(size_t nbytes) { return (uint64_t)65536 * nbytes + (512u << 20); }

static void fuzz_tflite(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = fuzz_limit(nbytes)};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort(); /* it used more memory than its size allows */
  wick_module *m = wick_module_create(&guard, "fuzz.tflite");
  const wick_import_options o = {.max_nodes = 10000};
  const wick_func *f;
  wick_status s =
      wick_import_tflite(m, (wick_span){bytes, nbytes}, "fuzz.tflite", &o, &mem, &tmp, &f);
  if (!s && wick_verify_func(f, &tmp)) abort();
  wick_module_free(m);
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"tests/fuzz/tflite/*.tflite",
                                         "../shared/frontends/tflite-*/*/*.tflite", NULL};
  static const wick_fuzz f = {"fuzz_tflite", patterns, 100000, fuzz_tflite};
  return wick_fuzz_main(&f, argc, argv);
}
