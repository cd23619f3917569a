/* Allocates from lists of free blocks, one for each class of sizes, and then from memory that was
 * never used. Generated code does the same (codegen/llvm/object.c). */
#include "runtime/heap.h"

#include <string.h>

void wick_heap_begin(wick_heap *h, uint64_t nbytes)
{
  *h = (wick_heap){.stack = h->stack, .top = sizeof *h, .end = nbytes};
}

static uint32_t heap_class_of(uint64_t header) { return (uint32_t)(header >> WICK_OBJECT_CLASS); }

int64_t wick_object_new(wick_heap *h, uint64_t header)
{
  uint32_t c = heap_class_of(header);
  uint64_t o = h->free[c], nbytes = wick_heap_words(c) * 8;
  if (o) {
    h->free[c] = *wick_object_at(h, (int64_t)o) >> WICK_HEAP_NEXT;
  } else {
    if (nbytes > h->end - h->top) return 0;
    o = h->top;
    h->top += nbytes;
  }
  *wick_object_at(h, (int64_t)o) = header;
  return (int64_t)o;
}

void wick_object_retain(wick_heap *h, int64_t object)
{
  if (object % 2 == 0) ++*wick_object_at(h, object);
}

void wick_object_free(wick_heap *h, int64_t object)
{
  if (!object) return;
  uint64_t *at = wick_object_at(h, object), *list = &h->free[heap_class_of(*at)];
  *at = *list << WICK_HEAP_NEXT;
  *list = (uint64_t)object;
}

/* Drops a reference. Returns whether the object has none left. */
static bool heap_drop(wick_heap *h, int64_t object)
{
  return object % 2 == 0 && (uint32_t)-- * wick_object_at(h, object) == 0;
}

void wick_object_release(wick_heap *h, int64_t object)
{
  if (!heap_drop(h, object)) return;
  uint64_t waiting = 0; /* a list of objects without references */
  for (uint64_t o = (uint64_t)object;;) {
    uint64_t *at = wick_object_at(h, (int64_t)o),
             refs = *at >> WICK_OBJECT_REFS & WICK_OBJECT_MOST_REFS;
    for (uint64_t k = 1; k <= refs; k++) {
      int64_t field = (int64_t)at[k];
      if (!heap_drop(h, field)) continue;
      *wick_object_at(h, field) |= waiting >> WICK_HEAP_LINK;
      waiting = (uint64_t)field;
    }
    wick_object_free(h, (int64_t)o);
    if (!waiting) return;
    o = waiting;
    waiting = (uint64_t)(uint32_t)*wick_object_at(h, (int64_t)o) << WICK_HEAP_LINK;
  }
}

int64_t wick_object_take(wick_heap *h, int64_t object)
{
  uint64_t *at = wick_object_at(h, object);
  if ((uint32_t)*at == 1) return object;
  --*at;
  uint64_t refs = *at >> WICK_OBJECT_REFS & WICK_OBJECT_MOST_REFS;
  for (uint64_t k = 1; k <= refs; k++) wick_object_retain(h, (int64_t)at[k]);
  return 0;
}

uint64_t wick_heap_used(const wick_heap *h)
{
  uint64_t used = h->top - sizeof *h;
  for (uint32_t c = 0; c < WICK_HEAP_CLASSES; c++)
    for (uint64_t o = h->free[c]; o; used -= wick_heap_words(c) * 8)
      o = *(const uint64_t *)(const void *)((const char *)h + o) >> WICK_HEAP_NEXT;
  return used;
}
