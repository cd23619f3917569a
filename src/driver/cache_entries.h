/* Lists and removes the files of the cache (driver/cache.h). */
#ifndef WICK_DRIVER_CACHE_ENTRIES_H
#define WICK_DRIVER_CACHE_ENTRIES_H

#include "base/file.h"

/* Returns the cache's folder: `folder`, or the one that the environment names if it is NULL.
 * Returns NULL if there is no cache. */
const char *wick_cache_folder(const char *folder, wick_arena *mem);

typedef struct wick_cache_entry { /* a file that the cache has written */
  const char *name;
  uint64_t nbytes;
  int64_t used;               /* time of its last use, in seconds since 1970 */
  const char *model, *target; /* of an artifact that was described, else "" */
} wick_cache_entry;
/* Lists the files of the cache in a folder, the least recently used first. Ignores other files. */
uint32_t wick_cache_entries(const char *folder, wick_arena *mem, wick_cache_entry **out);
/* Reads an artifact's model and target from its key. Other files stay without a description. */
void wick_cache_describe(const char *folder, wick_cache_entry *e, wick_arena *mem);
/* Removes a file of the cache. Returns false if it is not one or could not be removed. */
bool wick_cache_remove(const char *folder, const char *name, wick_arena *mem);

#endif
