/* Specializations that are in the cache. */
#ifndef WICK_DRIVER_SPECIALIZATION_CACHED_SPECIALIZATIONS_H
#define WICK_DRIVER_SPECIALIZATION_CACHED_SPECIALIZATIONS_H

#include "base/file.h"
#include "wick/wick.h"

typedef struct wick_cached_specialization {
  const int64_t *dims; /* wick_compiled_nsize of them */
  const void *const
      *guards; /* for each guard input (wick_compiled_nguard_input) its contents, or NULL */
} wick_cached_specialization;

/* Lists the sizes and contents of all specializations of k that are in the cache. Their files are
 * mapped by `files`; the rest lives in `mem`. */
void wick_cached_specializations(const wick_compiled *k, wick_files *files, wick_arena *mem,
                                 uint32_t *out_n, const wick_cached_specialization **out);

#endif
