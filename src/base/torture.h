/* For tests: an allocator whose n-th request fails and that counts the memory that is not freed.
 *
 *   for (uint64_t n = 1; ; n++) {
 *     wick_torture t = {.fail_at = n};
 *     ... run with wick_torture_allocator(&t); it succeeds, or fails with WICK_ENOMEM
 *     assert_int_equal(t.live, 0);
 *     if (t.calls < n) break;    // every request has failed once
 *   } */
#ifndef WICK_BASE_TORTURE_H
#define WICK_BASE_TORTURE_H

#include "base/arena.h"

typedef struct wick_torture {
  uint64_t fail_at; /* counts from 1; 0: none fails */
  uint64_t calls, live;
  int64_t live_bytes;
} wick_torture;

static inline void *wick_torture_alloc(void *self, size_t nbytes)
{
  wick_torture *t = self;
  if (++t->calls == t->fail_at) return NULL;
  t->live++;
  t->live_bytes += (int64_t)nbytes;
  wick_allocator libc = wick_allocator_malloc();
  return libc.alloc(libc.self, nbytes);
}

static inline void wick_torture_free(void *self, void *p, size_t nbytes)
{
  wick_torture *t = self;
  t->live--;
  t->live_bytes -= (int64_t)nbytes;
  wick_allocator libc = wick_allocator_malloc();
  libc.free(libc.self, p, nbytes);
}

static inline wick_allocator wick_torture_allocator(wick_torture *t)
{
  return (wick_allocator){.alloc = wick_torture_alloc, .free = wick_torture_free, .self = t};
}

#endif
