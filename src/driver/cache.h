/* The cache: artifacts on the disk, under a key that says all that they depend on.
 *
 * The folder is $WICK_CACHE_DIR, else `wick` in $XDG_CACHE_HOME, else in ~/.cache. A file's name is
 * the key's hash; the key itself is a section of the artifact, and compared. What is damaged, cut
 * off or of another version is no hit, and is written anew. Large models are hashed once for all
 * processes, as long as their files do not change (driver/digest_cache.h). Nothing here makes a
 * compilation fail: a cache that cannot be read or written is none. */
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

/* `folder`: NULL as above, "" for no cache. Reads all bytes of the model, for their hash. */
wick_cache wick_cache_of(const wick_compilation *c, const char *folder, uint64_t most_bytes,
                         wick_arena *mem);

/* The section that an artifact in the cache has beside its own: the key. */
wick_section wick_cache_section(const wick_cache *cache);

/* Fills *k; false where there is no such artifact. `check`: that its constants are whole, too. */
bool wick_cache_find(const wick_cache *cache, bool check, wick_compiled *k, wick_arena *tmp);

/* That of something made from what this one is of, and `what` says. */
wick_cache wick_cache_beside(const wick_cache *cache, const char *what, wick_arena *mem);
/* The artifact of that key, copied into `mem`; false where there is none. */
bool wick_cache_read(const wick_cache *cache, wick_arena *mem, wick_span *out);

/* All artifacts in `folder` of what was made from that of this key. Mapped by `files`. */
typedef wick_list(wick_span) wick_spans;
void wick_cache_all_beside(const char *folder, wick_span key, wick_files *files, wick_arena *mem,
                           wick_spans *out);

/* A file of the cache that is being written. Of those who hold one somebody drops it. */
typedef struct wick_draft {
  const char *path; /* its own until it is complete */
  int fd;
  unsigned char *at; /* mapped: the bytes before the first section, then those of that one */
  uint64_t nbytes;
} wick_draft;

/* A file with room for the first section, from byte `first` on, zeros that may be written in
 * memory; the disk has the space. NULL where there cannot be one. */
wick_draft *wick_cache_begin(const wick_cache *cache, uint64_t first, uint64_t nbytes,
                             wick_arena *mem);

/* Writes the rest of the artifact, whose first section is the draft's, gives the file its name, and
 * drops what was not used for longest, beyond the bound. False where it was not written. */
bool wick_cache_end(const wick_cache *cache, wick_draft *draft, const wick_artifact_parts *parts,
                    wick_arena *tmp);

void wick_draft_drop(wick_draft *draft); /* NULL, and a second time, are legal */

#endif
