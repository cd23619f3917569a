/* Files: mapped read-only, read whole, written at once; folders and paths.
 *
 * A mapping is owned by a wick_files, which the entry point keeps outside of its arenas' unwinding:
 * it closes the files where it frees the arenas, before them. No function here allocates from an
 * arena while it holds a handle that nobody else would close.
 *
 * Statuses are WICK_EIO with the path in front and the system's reason, WICK_EINVAL where the path
 * itself is refused. Only regular files are mapped: a pipe or a device would block or never end. */
#ifndef WICK_BASE_FILE_H
#define WICK_BASE_FILE_H

#include "base/arena.h"
#include "base/status.h"

typedef struct wick_file {
  const char *path;        /* as messages name it */
  const unsigned char *at; /* never NULL; read-only; page-aligned unless empty */
  size_t nbytes;
  /* When it was mapped: which file it is, and when it was last written and changed, in nanoseconds.
   * The same file of the same size and times has the same bytes, unless it was written at the very
   * end of that time. */
  uint64_t device, inode;
  int64_t written_ns, changed_ns;
  struct wick_file *next;
} wick_file;

typedef struct wick_files {
  wick_arena *mem; /* of the records; the bytes are mapped */
  wick_file *first;
  bool allow_links; /* wick_files_map_beneath follows links wherever they lead */
} wick_files;

wick_files wick_files_begin(wick_arena *mem);
void wick_files_close(wick_files *files); /* unmaps all; legal at any moment, and twice */

/* Maps a file that the user named; links are followed. A path that is mapped already gives the same
 * record. Should another process shorten the file meanwhile, reading beyond its new end is fatal:
 * that is mmap's rule. */
WICK_CHECKED wick_status wick_files_map(wick_files *files, const char *path, wick_file **out_file);

/* The memory that holds what was read goes back to the system; it is read again when it is wanted.
 */
void wick_files_release(const wick_files *files);

/* Maps a file that an untrusted file named: `name` is a relative path of plain components beneath
 * `folder`. Fails with WICK_EINVAL for an absolute name and for "..", with WICK_EIO for a link that
 * wick_open_beneath (base/beneath.h) does not follow, unless files->allow_links is set. */
WICK_CHECKED wick_status wick_files_map_beneath(wick_files *files, const char *folder,
                                                const char *name, wick_file **out_file);

/* The whole file (pipes too) in `mem`, with a '\0' after it. `most` bytes, else WICK_ELIMIT; 0 for
 * no limit. */
WICK_CHECKED wick_status wick_file_read(wick_arena *mem, const char *path, size_t most,
                                        char **out_text, size_t *out_nbytes);

/* Writes the parts one after the other. The file appears under its name with all of its bytes, on
 * the disk, or not at all: they go to a temporary file beside it, which is renamed over it, or
 * removed on failure. What is there and is no regular file (/dev/null, a pipe) is written to as it
 * is. */
typedef struct wick_bytes {
  const void *at;
  size_t nbytes;
} wick_bytes;
WICK_CHECKED wick_status wick_file_write(wick_arena *mem, const char *path, const wick_bytes *part,
                                         size_t npart);

/* Several files, all of them or none: each is complete on the disk before the first one gets its
 * name. */
typedef struct wick_output {
  const char *path;
  const wick_bytes *part;
  size_t npart;
} wick_output;
WICK_CHECKED wick_status wick_files_write(wick_arena *mem, const wick_output *file, size_t n);

bool wick_file_exists(const char *path); /* anything of that name; links are followed */

/* Makes the folder and those above it; that it is there already is no error. */
WICK_CHECKED wick_status wick_folder_make(wick_arena *mem, const char *path);

/* Paths, by text alone. */
char *wick_path_join(wick_arena *mem, const char *folder,
                     const char *name); /* an absolute name wins */
char *wick_path_folder(wick_arena *mem,
                       const char *path);     /* "a/b/c" -> "a/b", "c" -> ".", "/c" -> "/" */
const char *wick_path_base(const char *path); /* "a/b.c" -> "b.c"; points into path */
char *wick_path_stem(wick_arena *mem, const char *path); /* "a/b.c" -> "b", "a/.c" -> ".c" */

#endif
