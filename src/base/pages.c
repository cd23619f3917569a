#include "base/pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

void wick_pages_hint(void *at, size_t nbytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  madvise(at, nbytes, MADV_HUGEPAGE); /* refused: pages are small, and all the same right */
#else
  (void)at, (void)nbytes;
#endif
}
