/* Files that are mapped read-only, read whole or written at once; folders and paths.
 *
 * A wick_files owns the mappings. The entry point keeps it outside of the arenas, so that unwinding
 * does not lose it, and closes the files before it frees the arenas. No function here allocates
 * from an arena while it holds a handle that nobody else would close.
 *
 * Statuses are WICK_EIO with the path and the system's reason, or WICK_EINVAL if the path itself is
 * refused. Only regular files are mapped: a pipe or a device would block or never end. */
#ifndef WICK_BASE_FILE_H
#define WICK_BASE_FILE_H

#include "base/arena.h"
#include "base/status.h"

typedef struct wick_file {
  const char *path;        /* as messages name it */
  const unsigned char *at; /* never NULL; read-only; page-aligned unless empty */
  size_t nbytes;
  /* The file's identity when it was mapped, and the times of its last write and change in
   * nanoseconds. If identity, size and times are equal, the bytes are equal, unless the file was
   * written within the resolution of the clock. */
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
void wick_files_close(wick_files *files); /* unmaps all; legal at any time, also twice */

/* Maps a file that the user named; links are followed. A path that is mapped already gives the same
 * record. If another process shortens the file, reading beyond its new end is fatal: that is mmap's
 * rule. */
WICK_CHECKED wick_status wick_files_map(wick_files *files, const char *path, wick_file **out_file);

/* Returns the memory of the mapped pages to the system, which reads them again when they are
 * accessed. */
void wick_files_release(const wick_files *files);

/* Maps a file that an untrusted file named: `name` is a relative path of plain components beneath
 * `folder`. Fails with WICK_EINVAL for an absolute name and for "..", with WICK_EIO for a link that
 * wick_open_beneath (base/beneath.h) does not follow, unless files->allow_links is set. */
WICK_CHECKED wick_status wick_files_map_beneath(wick_files *files, const char *folder,
                                                const char *name, wick_file **out_file);

/* Reads the whole file (also a pipe) into `mem`, with a '\0' after it. Fails with WICK_ELIMIT if it
 * has more than `most` bytes; 0: no limit. A device, which may have no end, has at most a megabyte. */
WICK_CHECKED wick_status wick_file_read(wick_arena *mem, const char *path, size_t most,
                                        char **out_text, size_t *out_nbytes);

/* Writes the parts one after the other. The file appears under its name with all of its bytes, on
 * the disk, or not at all: they are written to a temporary file in the same folder, which is then
 * renamed, or removed on failure. If `path` exists and is no regular file (/dev/null, a pipe), it
 * is written to directly. */
typedef struct wick_bytes {
  const void *at;
  size_t nbytes;
} wick_bytes;
WICK_CHECKED wick_status wick_file_write(wick_arena *mem, const char *path, const wick_bytes *part,
                                         size_t npart);

/* Writes several files, all or none: each is complete on the disk before the first one gets its
 * name. */
typedef struct wick_output {
  const char *path;
  const wick_bytes *part;
  size_t npart;
} wick_output;
WICK_CHECKED wick_status wick_files_write(wick_arena *mem, const wick_output *file, size_t n);

bool wick_file_exists(const char *path); /* a file of any kind; links are followed */

/* Makes the folder and its parents. It is no error if the folder exists. */
WICK_CHECKED wick_status wick_folder_make(wick_arena *mem, const char *path);

/* Paths as text; the file system is not read. */
char *wick_path_join(wick_arena *mem, const char *folder,
                     const char *name); /* returns an absolute name unchanged */
char *wick_path_folder(wick_arena *mem,
                       const char *path);     /* "a/b/c" -> "a/b", "c" -> ".", "/c" -> "/" */
const char *wick_path_base(const char *path); /* "a/b.c" -> "b.c"; points into path */
char *wick_path_stem(wick_arena *mem, const char *path); /* "a/b.c" -> "b", "a/.c" -> ".c" */

#endif
