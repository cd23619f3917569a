/* Fuzzes the importer of Keras' files: archives and HDF5. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/keras/keras.h"
#include "ir/ir.h"

static void fuzz_keras(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = (uint64_t)2 << 30};
  wick_arena mem = wick_arena_make(&guard);
  wick_module *m = NULL;
  const wick_func *f;
  if (setjmp(guard.where)) abort(); /* it used more memory than its size allows */
  m = wick_module_create(&guard, "fuzz");
  wick_status s = wick_import_keras(m, (wick_span){bytes, nbytes}, "fuzz", NULL, &mem, &mem, &f);
  (void)s;
  wick_module_free(m);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/keras/files/*.keras", "tests/keras/files/*.h5",
                                        NULL};
  const wick_fuzz f = {.name = "keras", .pattern = pattern, .most = 1 << 20, .run = fuzz_keras};
  return wick_fuzz_main(&f, argc, argv);
}
