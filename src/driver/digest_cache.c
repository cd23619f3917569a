/* There is a file for each entry: its text, then the digest. The file's name is the text's hash. */
#include "driver/digest_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/str.h"

enum { STAMP_MOST = 256 /* most bytes of an entry */ };
static const int64_t digest_cache_young_ns = 2000000000;

static const char *digest_cache_text(const wick_file *f, wick_arena *tmp)
{
  return wick_str_printf(tmp, "stamp 1\n%llu %llu %zu %lld %lld\n", (unsigned long long)f->device,
                         (unsigned long long)f->inode, f->nbytes, (long long)f->written_ns,
                         (long long)f->changed_ns);
}

static const char *digest_cache_path(const char *folder, const char *text, wick_arena *tmp)
{
  uint64_t name = wick_hash_str(WICK_HASH_SEED, text);
  return wick_path_join(tmp, folder,
                        wick_str_printf(tmp, "%016llx.stamp", (unsigned long long)name));
}

bool wick_digest_cache_find(const char *folder, const wick_file *f, wick_arena *tmp, uint64_t *out)
{
  const char *text = digest_cache_text(f, tmp);
  size_t n = strlen(text);
  char found[STAMP_MOST], *end;
  int fd = open(digest_cache_path(folder, text, tmp), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, found, sizeof found - 1);
  close(fd);
  if (got <= (ssize_t)n || memcmp(found, text, n) != 0) return false;
  found[got] = 0;
  *out = strtoull(found + n, &end, 16);
  return end == found + n + 16 && strcmp(end, "\n") == 0;
}

void wick_digest_cache_keep(const char *folder, const wick_file *f, int64_t now_ns, wick_arena *tmp,
                            uint64_t digest)
{
  if (now_ns - f->written_ns < digest_cache_young_ns ||
      now_ns - f->changed_ns < digest_cache_young_ns || wick_folder_make(tmp, folder) != NULL)
    return;
  const char *text = digest_cache_text(f, tmp), *path = digest_cache_path(folder, text, tmp);
  const char *temp = wick_str_printf(tmp, "%s.%ld.part", path, (long)getpid());
  text = wick_str_printf(tmp, "%s%016llx\n", text, (unsigned long long)digest);
  int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return;
  bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  good = close(fd) == 0 && good && rename(temp, path) == 0;
  if (!good) unlink(temp);
}
