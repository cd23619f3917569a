/* Maps heaps with POSIX. */
#include "runtime/heap_map.h"

#include <sys/mman.h>
#include <unistd.h>

enum { HEAP_LEAST = 1 << 16, HEAP_KEPT = 1 << 26 }; /* bytes; kept between runs */

static const uint64_t heap_default = sizeof(void *) > 4 ? (uint64_t)1 << 33 : (uint64_t)1 << 28;

bool wick_heap_map_make(wick_heap_map *m, uint64_t most)
{
  uint64_t n = most ? most : heap_default;
  n = wick_align_up(n < HEAP_LEAST ? HEAP_LEAST : n, (uint64_t)sysconf(_SC_PAGESIZE));
  if (n > WICK_HEAP_MOST) n = WICK_HEAP_MOST;
  void *map = MAP_FAILED;
  for (; map == MAP_FAILED && n >= HEAP_LEAST; n /= 2)
    map = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  if (map == MAP_FAILED) return false;
  *m = (wick_heap_map){map, (size_t)(2 * n)};
#ifdef MADV_HUGEPAGE
  madvise(map, m->nbytes, MADV_HUGEPAGE);
#endif
  wick_heap_begin(m->heap, m->nbytes);
  return true;
}

void wick_heap_map_reset(const wick_heap_map *m)
{
  if (m->heap->top > HEAP_KEPT)
    madvise((char *)m->heap + HEAP_KEPT, m->nbytes - HEAP_KEPT, MADV_DONTNEED);
  wick_heap_begin(m->heap, m->nbytes);
}

void wick_heap_map_free(wick_heap_map *m)
{
  if (m->heap) munmap(m->heap, m->nbytes);
  *m = (wick_heap_map){0};
}
