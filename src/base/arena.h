/* Memory by regions: everything of one call is allocated from arenas and freed with them.
 *
 * A function takes `mem` for its results and `tmp` for scratch. Storage is zeroed and never NULL:
 * when the allocator fails, the arena unwinds (longjmp) to the wick_guard that the public entry
 * point set. The entry point frees the arenas and returns WICK_ENOMEM. Code between the two owns
 * only arena memory; files and handles are opened only at entry points. */
#ifndef WICK_BASE_ARENA_H
#define WICK_BASE_ARENA_H

#include <setjmp.h>

#include "base/base.h"
#include "wick/wick.h"

/* The target of the unwinding. The entry point sets `where` by setjmp:
 *   wick_guard g = {.allocator = a};
 *   if (setjmp(g.where)) { free arenas; return wick_error_nomem(); } */
typedef struct wick_guard {
  jmp_buf where;
  wick_allocator allocator;
  uint64_t limit_bytes; /* of all arenas of this guard; 0: no limit */
  bool limited;         /* out: the limit was reached, the allocator did not fail */
  uint64_t used_bytes;
  uint64_t peak_bytes;
  /* Called every few milliseconds during allocations. A result other than WICK_OK unwinds as if
   * memory had run out, so that long work can end at any point. NULL: never. */
  wick_code (*stop)(void *arg);
  void *stop_arg;
  wick_code stopped;          /* out: its result */
  uint32_t nuntil;            /* allocations until the clock is read */
  uint64_t asked_nanoseconds; /* the time of the last call of `stop` */
} wick_guard;

/* Calls `stop` now, unless it was called recently; for long work that allocates no memory. Returns
 * true if the work must end. */
bool wick_guard_stopped(wick_guard *g);
void wick_guard_ask(wick_guard *g); /* the same, but unwinds if the work must end */

typedef struct wick_chunk wick_chunk;
typedef struct wick_arena {
  wick_guard *guard;
  wick_chunk *chunk; /* newest first */
  char *at, *end;
} wick_arena;

typedef struct wick_mark {
  wick_chunk *chunk;
  char *at;
} wick_mark;

wick_allocator wick_allocator_malloc(void); /* malloc and free */

wick_arena wick_arena_make(wick_guard *guard); /* allocates nothing yet */
void wick_arena_free(wick_arena *a);           /* the arena may be used again */

/* align is a power of two of at most 64. nbytes may be 0 (the pointer is still distinct from NULL).
 */
void *wick_arena_alloc(wick_arena *a, size_t nbytes, size_t align);
void *wick_arena_raw(wick_arena *a, size_t nbytes, size_t align); /* not zeroed; for large arrays */
void *wick_arena_copy(wick_arena *a, const void *from, size_t nbytes, size_t align);

wick_mark wick_arena_mark(const wick_arena *a);
void wick_arena_rewind(wick_arena *a,
                       wick_mark m); /* later allocations are dead, and poisoned under ASan */

/* Allocates nelem * size bytes; unwinds if the product overflows. */
void *wick_arena_array(wick_arena *a, size_t nelem, size_t size, size_t align);

#define wick_new(arena, type, nelem)                                                               \
  ((type *)wick_arena_array((arena), (nelem), sizeof(type), _Alignof(type)))
#define wick_dup(arena, type, from, nelem)                                                         \
  ((type *)wick_arena_copy((arena), (from), (size_t)(nelem) * sizeof(type), _Alignof(type)))

/* A growing array in an arena: the old storage stays until the arena is freed, so growth doubles.
 *   wick_push(arena, list, item)   for a struct {T *at; uint32_t n, cap;}
 * `item` sees the count before it; it is evaluated once, list more often. */
void *wick_arena_grow(wick_arena *a, void *at, uint32_t n, uint32_t *cap, size_t size,
                      size_t align);
#define wick_list(type)                                                                            \
  struct {                                                                                         \
    type *at;                                                                                      \
    uint32_t n, cap;                                                                               \
  }
#define wick_push(arena, list, ...)                                                                \
  (((list)->n == (list)->cap ? (void)((list)->at = wick_arena_grow(                                \
                                          (arena), (list)->at, (list)->n, &(list)->cap,            \
                                          sizeof *(list)->at, _Alignof(__typeof__(*(list)->at))))  \
                             : (void)0),                                                           \
   (void)((list)->at[(list)->n] = (__VA_ARGS__)), (void)(list)->n++)

#endif
