/* The heap of counted objects (docs/decisions/0030-objects.md), as generated code, the interpreter of
 * loop functions and the runtime see it. Its memory begins with a wick_heap. All other positions
 * are byte offsets from there.
 *
 * A value of a data type is an i64. An odd one is a constructor without fields: tag << 1 | 1. An
 * even one is the offset of a block: one header word, then fields of one word each. The first
 * fields are those that are values of data types themselves, so that the header says all that a
 * release needs. A number is in the low bytes of its field. The header is, from its lowest bits on,
 *   32 bits: the number of references
 *   16 bits: the tag
 *   10 bits: the number of fields that are objects
 *    6 bits: the class of the block's size
 * Counts cannot overflow: every reference takes eight bytes of memory, and the heap has at most
 * WICK_HEAP_MOST. */
#ifndef WICK_RUNTIME_HEAP_H
#define WICK_RUNTIME_HEAP_H

#include "runtime/kernel.h"

enum {
  WICK_OBJECT_TAG = 32,  /* the first bit of each part of the header */
  WICK_OBJECT_REFS = 48, /* of the number of fields that are objects */
  WICK_OBJECT_CLASS = 58,
  WICK_OBJECT_MOST_TAG = (1 << 16) - 1,
  WICK_OBJECT_MOST_REFS = (1 << 10) - 1,
  WICK_HEAP_CLASSES = 64,
  /* A block that waits to be freed has the offset of the next one, shifted right by LINK, in the
   * place of its count; a free block has the offset of the next one, shifted left by NEXT, so that
   * its count is 0. */
  WICK_HEAP_LINK = 3,
  WICK_HEAP_NEXT = 29,
};

#define WICK_HEAP_MOST ((uint64_t)1 << 35) /* bytes */

typedef struct wick_heap {
  wick_stack stack;  /* so that the address of a heap is also that of a wick_stack */
  uint64_t top, end; /* the first byte that was never used, and the end of the memory */
  uint64_t free[WICK_HEAP_CLASSES]; /* by class: a free block; 0: none */
} wick_heap;

_Static_assert(offsetof(wick_heap, top) == 16, "generated code has the offsets of 64-bit machines");

/* Returns the class of blocks of that many words, header included, and the words of a class: 1 to
 * 16, 24, 32, 48, 64, 96, ... */
static inline uint32_t wick_heap_class(uint64_t words)
{
  uint32_t c = 16;
  uint64_t at = 16;
  if (words <= at) return (uint32_t)words - 1;
  for (; words > at * 2; at *= 2) c += 2;
  return words > at + at / 2 ? c + 1 : c;
}
static inline uint64_t wick_heap_words(uint32_t c)
{
  if (c < 16) return c + 1;
  uint64_t at = (uint64_t)16 << (c - 16) / 2;
  return c % 2 ? at * 2 : at + at / 2;
}

/* Returns the header of a new block with one reference. */
static inline uint64_t wick_object_header(uint64_t tag, uint64_t refs, uint64_t words)
{
  return (uint64_t)wick_heap_class(words + 1) << WICK_OBJECT_CLASS | refs << WICK_OBJECT_REFS |
         tag << WICK_OBJECT_TAG | 1;
}

static inline uint64_t *wick_object_at(wick_heap *h, int64_t object)
{
  return (uint64_t *)(void *)((char *)h + object);
}

/* Makes the memory, which is aligned to 8 bytes and larger than a wick_heap, an empty heap. */
void wick_heap_begin(wick_heap *h, uint64_t nbytes);
/* Returns a block with that header; 0 if the heap is full. Its fields are undefined. */
int64_t wick_object_new(wick_heap *h, uint64_t header);
void wick_object_retain(wick_heap *h, int64_t object);
/* Drops a reference. Frees the object if it was the last one, and what only it refers to. */
void wick_object_release(wick_heap *h, int64_t object);
/* Ends a reference to a block. If it is the only one, returns the object: its memory and the
 * references in its fields now belong to the caller. Otherwise the caller gets new references to
 * the fields, and 0 is returned. */
int64_t wick_object_take(wick_heap *h, int64_t object);
/* Gives the memory of a block back; 0 is legal. */
void wick_object_free(wick_heap *h, int64_t object);
/* Returns the bytes of all blocks that are not free. */
uint64_t wick_heap_used(const wick_heap *h);

#endif
