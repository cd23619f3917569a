/* What the fuzzers of importers share: one import, whose function is verified. */
#ifndef WICK_TESTS_FUZZ_IMPORTER_H
#define WICK_TESTS_FUZZ_IMPORTER_H

#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/kit/options.h"
#include "ir/verify.h"

/* Imports the bytes. Aborts if a file of this size uses too much memory, or if the function is wrong. */
static inline void wick_fuzz_import(wick_import_read *read, const char *path, const uint8_t *bytes,
                                    size_t nbytes, const wick_import_options *options)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(),
                      .limit_bytes = (uint64_t)65536 * nbytes + (1024u << 20)};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort();
  wick_module *m = wick_module_create(&guard, path);
  const wick_func *f = NULL;
  wick_status s = read(m, (wick_span){bytes, nbytes}, path, options, &mem, &tmp, &f);
  if (!s && wick_verify_func(f, &tmp)) abort();
  wick_module_free(m);
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
}

/* Shapes of inputs for formats that declare none: those of the seeds. */
static const wick_import_shape wick_fuzz_shapes[] = {
    {"x", 4, (const int64_t[]){2, 3, 8, 6}}, {"y", 4, (const int64_t[]){2, 3, 8, 6}},
    {"m", 2, (const int64_t[]){4, 6}},       {"w", 4, (const int64_t[]){4, 3, 3, 3}},
    {"v", 1, (const int64_t[]){3}},
};

#endif
