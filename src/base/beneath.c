/* Opens files beneath a folder. The walk keeps a handle of each folder from the root down, so that
 * ".." in a link is the folder from which the walk came, and never one above the root. (openat2
 * with RESOLVE_BENEATH does the same, but kernels and containers lack it, and then this would be
 * needed as well.) */
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef O_PATH /* Linux's way to open a folder that may be searched but not listed */
#define O_PATH O_RDONLY
#endif

enum { BENEATH_DEPTH = 256, BENEATH_LINKS = 40 /* the limits of Linux */ };

typedef struct beneath_walk {
  int folder[BENEATH_DEPTH]; /* from the root down */
  int n;
  int nlink;           /* links that were followed */
  const char *root;    /* the store's real path; NULL: links are refused */
  char rest[PATH_MAX]; /* the part of the path that is still to be opened */
  char link[PATH_MAX]; /* scratch: the target of a link */
} beneath_walk;

/* Removes the first component from the rest of the path. Returns false at the end. */
static bool beneath_next(beneath_walk *w, char *component, bool *out_last)
{
  const char *at = w->rest + strspn(w->rest, "/");
  size_t n = strcspn(at, "/");
  if (!n || n > NAME_MAX) return false;
  memcpy(component, at, n);
  component[n] = 0;
  at += n;
  *out_last = !*at; /* after "x/", x must be a folder */
  memmove(w->rest, at, strlen(at) + 1);
  return true;
}

static void beneath_rewind(beneath_walk *w, int n)
{
  while (w->n > n) close(w->folder[--w->n]);
}

/* Puts the target of the link in front of the rest of the path. `error` is the reason why the
 * component could not be opened; it is returned if the component is no link. Returns 0 or a
 * failure. */
static int beneath_link(beneath_walk *w, const char *component, int error)
{
  ssize_t n = readlinkat(w->folder[w->n - 1], component, w->link, sizeof w->link - 1);
  if (n < 0) return -error;
  if (!w->root) return WICK_BENEATH_LINK;
  if (++w->nlink > BENEATH_LINKS) return -ELOOP;
  w->link[n] = 0;
  const char *to = w->link;
  if (*to == '/') {
    size_t nroot = strlen(w->root);
    if (strncmp(to, w->root, nroot) != 0 || to[nroot] != '/') return WICK_BENEATH_OUTSIDE;
    to += nroot;
    beneath_rewind(w, 1);
  }
  size_t nto = strlen(to), nrest = strlen(w->rest);
  if (nto + nrest >= sizeof w->rest) return -ENAMETOOLONG;
  memmove(w->rest + nto, w->rest, nrest + 1);
  memcpy(w->rest, to, nto);
  return 0;
}

/* Returns the file's handle, or a failure. */
static int beneath_walk_all(beneath_walk *w)
{
  char component[NAME_MAX + 1];
  bool last;
  while (beneath_next(w, component, &last)) {
    if (strcmp(component, ".") == 0) continue;
    if (strcmp(component, "..") == 0) {
      if (w->n == 1) return WICK_BENEATH_OUTSIDE;
      beneath_rewind(w, w->n - 1);
      continue;
    }
    int flags = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    int next = openat(w->folder[w->n - 1], component, flags | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) {
      int failure = beneath_link(w, component, errno);
      if (failure) return failure;
      continue;
    }
    if (last) return next;
    if (w->n == BENEATH_DEPTH) return close(next), -ENAMETOOLONG;
    w->folder[w->n++] = next;
  }
  return w->rest[strspn(w->rest, "/")] ? -ENAMETOOLONG : -EISDIR;
}

static int beneath_open(beneath_walk *w, const char *root)
{
  w->folder[0] = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (w->folder[0] < 0) return -errno;
  w->n = 1;
  int fd = beneath_walk_all(w);
  beneath_rewind(w, 0);
  return fd;
}

static bool beneath_is_store(const char *root)
{
  struct stat blobs;
  int at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool good =
      at >= 0 && fstatat(at, "blobs", &blobs, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(blobs.st_mode);
  if (at >= 0) close(at);
  return good;
}

/* Cuts `real` after the root of the store that contains it. Returns the path from there, or NULL if
 * no store contains it. */
static const char *beneath_store(char *real)
{
  static const char snapshots[] = "/snapshots/";
  for (char *at = real + strlen(real); at > real; at--) {
    if (strncmp(at, snapshots, sizeof snapshots - 1) != 0) continue;
    *at = 0;
    if (beneath_is_store(real)) return at + 1;
    *at = '/';
  }
  return NULL;
}

int wick_open_beneath(const char *folder, const char *name)
{
  beneath_walk w = {0};
  char real[PATH_MAX];
  const char *from;
  size_t nname = strlen(name);
  if (nname >= sizeof w.rest) return -ENAMETOOLONG;
  memcpy(w.rest, name, nname + 1);
  int fd = beneath_open(&w, *folder ? folder : ".");
  if (fd != WICK_BENEATH_LINK) return fd;
  if (!realpath(*folder ? folder : ".", real) || !(from = beneath_store(real))) return fd;
  size_t nfrom = strlen(from);
  if (nfrom + 1 + nname >= sizeof w.rest) return -ENAMETOOLONG;
  memcpy(w.rest, from, nfrom);
  w.rest[nfrom] = '/';
  memcpy(w.rest + nfrom + 1, name, nname + 1);
  w.root = real;
  return beneath_open(&w, real);
}
