/* The files of the cache (driver/cache.h), to be listed and removed. */
#ifndef WICK_DRIVER_CACHE_ENTRIES_H
#define WICK_DRIVER_CACHE_ENTRIES_H

#include "base/file.h"

/* The folder that `folder` asks for, NULL: as the environment says. NULL: there is no cache. */
const char *wick_cache_folder(const char *folder, wick_arena *mem);

typedef struct wick_cache_entry { /* a file that the cache has made */
  const char *name;
  uint64_t nbytes;
  int64_t used;               /* when it was used, in seconds since 1970 */
  const char *model, *target; /* of an artifact: of which it is, and for what; else "" */
} wick_cache_entry;
/* The files of the cache in a folder, what was not used for longest first; other files are not
 * among them. */
uint32_t wick_cache_entries(const char *folder, wick_files *files, wick_arena *mem,
                            wick_cache_entry **out);
/* Removes a file of the cache; false where it is none, or could not be removed. */
bool wick_cache_remove(const char *folder, const char *name, wick_arena *mem);

#endif
