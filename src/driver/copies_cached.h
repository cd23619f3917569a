/* The copies for some sizes that the cache has. */
#ifndef WICK_DRIVER_COPIES_CACHED_H
#define WICK_DRIVER_COPIES_CACHED_H

#include "base/file.h"
#include "wick/wick.h"

/* The sizes, as dimensions (wick_compiled_nsize of them), of each copy that the cache has for a
 * program that it has. The files are mapped by `files`; the rest lives in `mem`. */
void wick_copies_cached(const wick_compiled *k, wick_files *files, wick_arena *mem, uint32_t *out_n,
                        const int64_t ***out);

#endif
