/* Digests of large files, kept in the cache's folder, so that a file that has not changed is not read
 * again for its hash. An entry names the file and the time of its last change; it is used only if both
 * are unchanged. */
#ifndef WICK_DRIVER_DIGEST_CACHE_H
#define WICK_DRIVER_DIGEST_CACHE_H

#include "base/file.h"

/* Finds the digest of the file in its present state; false if there is none. */
bool wick_digest_cache_find(const char *folder, const wick_file *f, wick_arena *tmp, uint64_t *out);

/* Keeps a digest, unless the file was changed within the last two seconds: another change might get
 * the same time. `now_ns` is the time of the file system's clock. A failure to write is ignored. */
void wick_digest_cache_keep(const char *folder, const wick_file *f, int64_t now_ns, wick_arena *tmp,
                            uint64_t digest);

#endif
