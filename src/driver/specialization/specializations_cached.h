/* The copies for some sizes that the cache has. */
#ifndef WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_CACHED_H
#define WICK_DRIVER_SPECIALIZATION_SPECIALIZATIONS_CACHED_H

#include "base/file.h"
#include "wick/wick.h"

typedef struct wick_copy_cached {
  const int64_t *dims;     /* wick_compiled_nsize of them */
  const void *const *held; /* by watched input (wick_compiled_nwatch): its contents, or NULL */
} wick_copy_cached;

/* What each copy that the cache has for a program that it has is for. The files are mapped by
 * `files`; the rest lives in `mem`. */
void wick_copies_cached(const wick_compiled *k, wick_files *files, wick_arena *mem, uint32_t *out_n,
                        const wick_copy_cached **out);

#endif
