#include "base/pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(__linux__)
/* Narrows [*at, *at + nbytes) to whole pages. Sets *at to the first one and returns their size. */
static size_t pages_whole(char **at, size_t nbytes, size_t page)
{
  size_t skip = -(uintptr_t)*at & (page - 1);
  if (nbytes < skip) return 0;
  *at += skip;
  return (nbytes - skip) & ~(page - 1);
}
#endif

void wick_pages_hint(void *at, size_t nbytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  madvise(at, nbytes, MADV_HUGEPAGE); /* if this is refused, pages are small, which is slower but
                                         correct */
#else
  (void)at, (void)nbytes;
#endif
}

void wick_pages_touch(void *at, size_t nbytes)
{
#if defined(__linux__) && defined(MADV_POPULATE_WRITE) /* Linux 5.14 */
  char *from = at;
  size_t n = pages_whole(&from, nbytes, (size_t)sysconf(_SC_PAGESIZE));
  if (n) madvise(from, n, MADV_POPULATE_WRITE);
#else
  (void)at, (void)nbytes;
#endif
}

void wick_pages_release(void *at, size_t nbytes)
{
#if defined(__linux__) && defined(MADV_DONTNEED)
  char *from = at;
  size_t n = pages_whole(&from, nbytes, WICK_PAGES_LARGE);
  if (n) madvise(from, n, MADV_DONTNEED);
#else
  (void)at, (void)nbytes;
#endif
}
