/* The cache: artifacts on the disk. The key of an artifact contains everything that it depends on.
 *
 * The folder is $WICK_CACHE_DIR, else `wick` in $XDG_CACHE_HOME, else `wick` in ~/.cache. A file's
 * name is the key's hash. The key itself is a section of the artifact and is compared, too. A file
 * that is damaged, truncated or of another version is a miss and is written again. Large models are
 * hashed once for all processes, as long as their files do not change (driver/digest_cache.h). The
 * cache never makes a compilation fail: if it cannot be read or written, it is not used. */
#ifndef WICK_DRIVER_CACHE_H
#define WICK_DRIVER_CACHE_H

#include "driver/cache_entries.h"
#include "driver/compile.h"
#include "runtime/compiled.h"

typedef struct wick_cache {
  const char *folder; /* NULL: there is no cache */
  const char *key, *path;
  uint64_t most_bytes;
} wick_cache;

/* Returns the cache's entry for a compilation. `folder`: NULL for the default, "" for no cache.
 * Reads all bytes of the model, for their hash. */
wick_cache wick_cache_of(const wick_compilation *c, const char *folder, uint64_t most_bytes,
                         wick_arena *mem);

/* Returns the section with the key, which an artifact in the cache has in addition to its own. */
wick_section wick_cache_section(const wick_cache *cache);

/* Fills *k from the cache; returns false if there is no such artifact. `check`: also verify the
 * digest of its constants. */
bool wick_cache_find(const wick_cache *cache, bool check, wick_compiled *k, wick_arena *tmp);

/* Returns the entry for something that is derived from the artifact of `cache`, for example a
 * specialization. `what` is the rest of its key. */
wick_cache wick_cache_beside(const wick_cache *cache, const char *what, wick_arena *mem);
/* Copies the artifact of this key into `mem`; returns false if there is none. */
bool wick_cache_read(const wick_cache *cache, wick_arena *mem, wick_span *out);

/* Finds all artifacts in `folder` that are derived from the artifact with this key. `files` maps
 * them. */
typedef wick_list(wick_span) wick_spans;
void wick_cache_all_beside(const char *folder, wick_span key, wick_files *files, wick_arena *mem,
                           wick_spans *out);

/* A file of the cache that is being written. wick_draft_drop frees it. */
typedef struct wick_draft {
  const char *path; /* a temporary name, until the file is complete */
  int fd;
  unsigned char *at; /* mapped: the bytes before the first section, then the first section */
  uint64_t nbytes;
} wick_draft;

/* Creates a file with space on the disk for the first section, which begins at byte `first`. The
 * section is mapped and consists of zeros that the caller overwrites. Returns NULL if the file
 * cannot be created. */
wick_draft *wick_cache_begin(const wick_cache *cache, uint64_t first, uint64_t nbytes,
                             wick_arena *mem);

/* Writes the rest of the artifact, whose first section is the draft's, and gives the file its final
 * name. Removes the least recently used files beyond the cache's limit, whenever about a 64th of it
 * was written. Returns false if the file was not written. */
bool wick_cache_end(const wick_cache *cache, wick_draft *draft, const wick_artifact_parts *parts,
                    wick_arena *tmp);

void wick_draft_drop(wick_draft *draft); /* NULL, and a second time, are legal */

#endif
