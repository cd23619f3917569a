/* The heap of a session: addresses that are reserved when a kernel first needs objects, whose pages
 * are used as needed. */
#ifndef WICK_RUNTIME_HEAP_MAP_H
#define WICK_RUNTIME_HEAP_MAP_H

#include "runtime/heap.h"

typedef struct wick_heap_map {
  wick_heap *heap; /* NULL: not mapped yet */
  size_t nbytes;
} wick_heap_map;

/* Maps an empty heap of at most `most` bytes (0: a default), or less if the system refuses so much.
 * Returns false if the system has no memory. */
bool wick_heap_map_make(wick_heap_map *m, uint64_t most);
/* Makes the heap empty, and gives all but a part of its pages back to the system. */
void wick_heap_map_reset(const wick_heap_map *m);
void wick_heap_map_free(wick_heap_map *m); /* one that is not mapped is legal */

#endif
