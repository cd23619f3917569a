/* Digests of large files, kept in the cache's folder: a file that has not changed is not read again
 * for its hash. A stamp says which file it is and when it was written; it is believed where all of
 * that is as it was. */
#ifndef WICK_DRIVER_DIGEST_CACHE_H
#define WICK_DRIVER_DIGEST_CACHE_H

#include "base/file.h"

/* The digest that was kept for the file as it is. */
bool wick_stamp_find(const char *folder, const wick_file *f, wick_arena *tmp, uint64_t *out);

/* Keeps it; not of a file that was changed within the last two seconds: it may be changed again
 * without another time. `now_ns`: of the clock that files have. That it cannot be kept is no
 * error. */
void wick_stamp_keep(const char *folder, const wick_file *f, int64_t now_ns, wick_arena *tmp,
                     uint64_t digest);

#endif
