/* Functions that own a handle return errno values and use no arena. Their callers make statuses
 * from these values after the handle is closed. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/str.h"

enum { FILE_NOT_REGULAR = -1 }; /* in addition to errno values and wick_open_beneath's */

#define FILE_ALLOW "; pass --allow-links (in C and Python: allow_links) to follow all links"

static wick_status file_fail(wick_arena *mem, const char *path, const char *what, int error)
{
  const char *why =
      error == FILE_NOT_REGULAR ? "it is no regular file"
      : error == WICK_BENEATH_LINK
          ? "it is a link, or reached through one, outside of a model store" FILE_ALLOW
      : error == WICK_BENEATH_OUTSIDE ? "a link leads out of the model store" FILE_ALLOW
                                      : strerror(error);
  return wick_fail(mem, WICK_EIO, path, "cannot %s it: %s", what, why);
}

/* ---- mapping ---- */

wick_files wick_files_begin(wick_arena *mem) { return (wick_files){.mem = mem}; }

void wick_files_release(const wick_files *files)
{
  for (const wick_file *f = files->first; f; f = f->next)
    if (f->nbytes) madvise((void *)(uintptr_t)f->at, f->nbytes, MADV_DONTNEED);
}

void wick_files_close(wick_files *files)
{
  for (wick_file *f = files->first; f; f = f->next)
    if (f->nbytes) munmap((void *)(uintptr_t)f->at, f->nbytes);
  files->first = NULL;
}

/* Maps the file and closes fd. A negative fd means that opening failed with errno. Returns 0 or the
 * error. */
static int file_map_fd(int fd, wick_file *f)
{
  if (fd < 0) return errno;
  struct stat st;
  int error = 0;
  void *at = NULL;
  if (fstat(fd, &st))
    error = errno;
  else if (S_ISDIR(st.st_mode))
    error = EISDIR;
  else if (!S_ISREG(st.st_mode))
    error = FILE_NOT_REGULAR;
  else if (st.st_size > PTRDIFF_MAX)
    error = EFBIG;
  else if (st.st_size > 0) /* mmap refuses a length of 0 */
    at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) error = errno;
  close(fd);
  if (error) return error;
  f->at = at ? at : (const unsigned char *)"";
  f->nbytes = (size_t)st.st_size;
  f->device = st.st_dev, f->inode = st.st_ino;
  f->written_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
  f->changed_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
  return 0;
}

static wick_file *file_record(wick_files *files, const char *path)
{
  wick_file *f = wick_new(files->mem, wick_file, 1);
  f->path = wick_str_dup(files->mem, path);
  return f;
}

static wick_file *file_known(const wick_files *files, const char *path)
{
  wick_file *f = files->first;
  while (f && strcmp(f->path, path) != 0) f = f->next;
  return f;
}

static wick_status file_keep(wick_files *files, wick_file *f, int error, wick_file **out_file)
{
  if (error) return file_fail(files->mem, f->path, "open", error);
  f->next = files->first;
  *out_file = files->first = f;
  return NULL;
}

wick_status wick_files_map(wick_files *files, const char *path, wick_file **out_file)
{
  if ((*out_file = file_known(files, path))) return NULL;
  wick_file *f = file_record(files, path);
  int error = file_map_fd(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), f);
  return file_keep(files, f, error, out_file);
}

static bool file_name_is_plain(const char *name)
{
  if (!*name || *name == '/') return false;
  for (const char *at = name; *at; at += strspn(at, "/")) {
    size_t n = strcspn(at, "/");
    if (n == 2 && at[0] == '.' && at[1] == '.') return false;
    at += n;
  }
  return name[strlen(name) - 1] != '/';
}

wick_status wick_files_map_beneath(wick_files *files, const char *folder, const char *name,
                                   wick_file **out_file)
{
  if (!file_name_is_plain(name))
    return wick_fail(files->mem, WICK_EINVAL, folder,
                     "the file name \"%s\" is not a relative path that stays inside the folder",
                     name);
  const char *path = wick_path_join(files->mem, folder, name);
  if ((*out_file = file_known(files, path))) return NULL;
  if (files->allow_links) return wick_files_map(files, path, out_file);
  wick_file *f = file_record(files, path);
  int fd = wick_open_beneath(folder, name);
  int error = fd >= 0 ? file_map_fd(fd, f) : fd <= WICK_BENEATH_OUTSIDE ? fd : -fd;
  return file_keep(files, f, error, out_file);
}

/* ---- reading ---- */

enum { FILE_MOST_OF_DEVICE = 1 << 20 }; /* /dev/zero has no end */

/* Reads to the end. The buffer grows in `mem`; if that unwinds, file_read_guarded closes the
 * handle. Returns 0, an errno value, or EFBIG above *most, which becomes the limit of a device. */
static int file_read_all(wick_arena *mem, int fd, size_t *most, wick_text *out)
{
  struct stat st;
  if (fstat(fd, &st)) return errno;
  if (S_ISDIR(st.st_mode)) return EISDIR;
  bool device = S_ISCHR(st.st_mode) && !isatty(fd);
  if (device && (!*most || *most > FILE_MOST_OF_DEVICE)) *most = FILE_MOST_OF_DEVICE;
  if (st.st_size > PTRDIFF_MAX || (*most && st.st_size > 0 && (size_t)st.st_size > *most))
    return EFBIG;
  /* large enough for a last read at the end of the file */
  size_t cap = st.st_size > 0 ? (size_t)st.st_size + 2 : 4096;
  *out = (wick_text){.mem = mem, .at = wick_new(mem, char, cap), .cap = cap};
  for (;;) {
    if (out->cap - out->n < 2) {
      char *more = wick_arena_array(mem, out->cap, 2, 1);
      memcpy(more, out->at, out->n);
      out->at = more;
      out->cap *= 2;
    }
    ssize_t n = read(fd, out->at + out->n, out->cap - out->n - 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    out->n += (size_t)n;
    if (*most && out->n > *most) return EFBIG;
  }
  out->at[out->n] = 0;
  return 0;
}

/* Reads, and closes fd. While it reads, it replaces the target of `mem`'s guard, and then continues
 * the unwinding. */
static int file_read_guarded(wick_arena *mem, int fd, size_t *most, wick_text *out)
{
  jmp_buf outer;
  memcpy(&outer, &mem->guard->where, sizeof outer);
  if (setjmp(mem->guard->where)) {
    close(fd);
    memcpy(&mem->guard->where, &outer, sizeof outer);
    longjmp(mem->guard->where, 1);
  }
  int error = file_read_all(mem, fd, most, out);
  memcpy(&mem->guard->where, &outer, sizeof outer);
  close(fd);
  return error;
}

wick_status wick_file_read(wick_arena *mem, const char *path, size_t most, char **out_text,
                           size_t *out_nbytes)
{
  int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return file_fail(mem, path, "open", errno);
  wick_text text;
  int error = file_read_guarded(mem, fd, &most, &text);
  if (error == EFBIG && most)
    return wick_fail(mem, WICK_ELIMIT, path, "it has more than %zu bytes", most);
  if (error) return file_fail(mem, path, "read", error);
  *out_text = text.at;
  *out_nbytes = text.n;
  return NULL;
}

/* ---- writing ---- */

enum { FILE_PIECE = 4 << 20 }; /* bytes that are written between two checks whether to stop */

static int file_write_parts(wick_guard *guard, int fd, const wick_bytes *part, size_t npart)
{
  for (size_t i = 0; i < npart; i++) {
    const char *at = part[i].at;
    for (size_t left = part[i].nbytes; left;) {
      if (wick_guard_stopped(guard)) return ECANCELED;
      ssize_t n = write(fd, at, left < FILE_PIECE ? left : FILE_PIECE);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      at += n;
      left -= (size_t)n;
    }
  }
  return 0;
}

static int file_close(int fd, int error)
{
  if (close(fd) && !error) error = errno; /* a full disk may be reported only here */
  return error;
}

/* Creates a new file in the folder at the beginning of `temp`. Its name has the number `first`, or
 * a following one. */
static int file_create_beside(char *temp, size_t at, size_t capacity, size_t first)
{
  for (size_t i = first; i < first + 1000; i++) {
    snprintf(temp + at, capacity, ".wick-%ld-%zu", (long)getpid(), i);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/* A rename is on the disk only when its folder is. Some file systems do not support this. */
static void file_sync_folder(const char *folder)
{
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

enum { FILE_TEMP_ROOM = 48 };

/* A file that does not have its final name yet. */
typedef struct file_staged {
  const char *path;
  char *temp;     /* the folder with a slash at its end, followed by the temporary name */
  size_t nfolder; /* length of the folder's part */
  bool exists;    /* the temporary file exists */
  bool aside;     /* path is no regular file: it is written to at the end */
} file_staged;

static int file_stage(wick_guard *guard, file_staged *s, const wick_output *file, size_t number)
{
  int fd = file_create_beside(s->temp, s->nfolder, FILE_TEMP_ROOM, number);
  if (fd < 0) return errno;
  s->exists = true;
  int error = file_write_parts(guard, fd, file->part, file->npart);
  if (!error && fsync(fd) && errno != EINVAL) error = errno;
  return file_close(fd, error);
}

static int file_write_into(wick_guard *guard, const char *path, const wick_bytes *part,
                           size_t npart)
{
  int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return fd < 0 ? errno : file_close(fd, file_write_parts(guard, fd, part, npart));
}

static int file_publish(wick_guard *guard, file_staged *s, const wick_output *file)
{
  if (s->aside) return file_write_into(guard, s->path, file->part, file->npart);
  if (rename(s->temp, s->path)) return errno;
  s->exists = false;
  s->temp[s->nfolder] = 0; /* the folder is left */
  return 0;
}

/* If the path is a link, its target is replaced, not the link. */
static int file_prepare(wick_arena *mem, file_staged *s, const char *path)
{
  struct stat st;
  char real[PATH_MAX];
  bool there = stat(path, &st) == 0;
  if (there && S_ISDIR(st.st_mode)) return EISDIR;
  *s = (file_staged){.path = path, .aside = there && !S_ISREG(st.st_mode)};
  if (there && !s->aside && realpath(path, real)) s->path = wick_str_dup(mem, real);
  const char *folder = wick_path_folder(mem, s->path);
  s->nfolder = strlen(folder) + 1;
  s->temp = wick_new(mem, char, s->nfolder + 1 + FILE_TEMP_ROOM);
  snprintf(s->temp, s->nfolder + 1, "%s/", folder);
  return 0;
}

wick_status wick_files_write(wick_arena *mem, const wick_output *file, size_t n)
{
  file_staged *s = wick_new(mem, file_staged, n);
  size_t at = 0;
  int error = 0;
  for (; at < n && !error; at++) error = file_prepare(mem, &s[at], file[at].path);
  if (!error)
    for (at = 0; at < n && !error; at++)
      if (!s[at].aside) error = file_stage(mem->guard, &s[at], &file[at], at);
  if (!error)
    for (at = 0; at < n && !error; at++) error = file_publish(mem->guard, &s[at], &file[at]);
  for (size_t i = 0; i < n && !error; i++) /* a folder once, for neighbours in it */
    if (!s[i].aside && (!i || s[i - 1].aside || strcmp(s[i].temp, s[i - 1].temp) != 0))
      file_sync_folder(s[i].temp);
  for (size_t i = 0; i < n; i++)
    if (s[i].exists) unlink(s[i].temp);
  return error ? file_fail(mem, file[at - 1].path, "write", error) : NULL;
}

wick_status wick_file_write(wick_arena *mem, const char *path, const wick_bytes *part, size_t npart)
{
  return wick_files_write(mem, &(wick_output){path, part, npart}, 1);
}

/* ---- folders and paths ---- */

bool wick_file_exists(const char *path) { return access(path, F_OK) == 0; }

wick_status wick_folder_make(wick_arena *mem, const char *path)
{
  char *part = wick_str_dup(mem, path);
  for (char *at = part; *at;) {
    at += strspn(at, "/");
    at += strcspn(at, "/");
    char slash = *at;
    *at = 0;
    struct stat st;
    if (mkdir(part, 0777)) {
      int error = errno; /* EEXIST, or EROFS and the like for a folder that exists */
      if (stat(part, &st)) return file_fail(mem, part, "make", error);
      if (!S_ISDIR(st.st_mode)) return file_fail(mem, part, "make", ENOTDIR);
    }
    *at = slash;
  }
  return NULL;
}

char *wick_path_join(wick_arena *mem, const char *folder, const char *name)
{
  if (*name == '/' || !*folder) return wick_str_dup(mem, name);
  bool slash = folder[strlen(folder) - 1] == '/';
  return wick_str_printf(mem, "%s%s%s", folder, slash ? "" : "/", name);
}

char *wick_path_folder(wick_arena *mem, const char *path)
{
  const char *slash = strrchr(path, '/');
  if (!slash) return wick_str_dup(mem, ".");
  while (slash > path && slash[-1] == '/') slash--;
  return wick_str_dupn(mem, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *wick_path_base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *wick_path_stem(wick_arena *mem, const char *path)
{
  const char *base = wick_path_base(path), *dot = strrchr(base, '.');
  return wick_str_dupn(mem, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}
