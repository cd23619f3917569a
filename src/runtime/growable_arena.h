/* The memory of a session with dynamic sizes. It grows in place: address space is reserved for
 * larger sizes, and pages that were never touched cost nothing. The first touch of memory costs
 * time, 0.05 ms a MiB, and up to 2 ms on virtual machines that return memory to the host. So when a
 * size has run that is larger than all before, a thread makes the system provide pages for still
 * larger ones. Pages that no run has used for a while are given back.
 *
 * Contents are undefined between two runs. One thread at a time uses it. */
#ifndef WICK_RUNTIME_GROWABLE_ARENA_H
#define WICK_RUNTIME_GROWABLE_ARENA_H

#include <pthread.h>
#include <sys/types.h>

#include "base/base.h"
#include "wick/wick.h"

typedef struct wick_growable_arena {
  wick_allocator allocator;
  uint64_t most; /* bytes for the largest sizes; 0: unknown */
  char *at;      /* NULL: nothing is reserved yet */
  uint64_t nbytes;
  void *block; /* the allocation that contains it */
  size_t nblock;
  uint64_t used, high, ready; /* bytes from `at`: requested now; requested at most in this period;
                                 backed by pages, now or soon */
  uint32_t nrun;              /* runs in this period */
  bool grown;                 /* `high` has grown since the last run */
  pthread_t thread;
  pid_t owner; /* of the thread; 0: none was started */
  char *touch; /* the memory that the thread touches */
  size_t ntouch;
} wick_growable_arena;

enum { WICK_GROWABLE_ARENA_PERIOD = 1000 }; /* runs after which unused pages are given back */

/* Provides nbytes; the previous contents are lost. Returns false, and changes nothing, if there is
 * not enough memory. */
bool wick_growable_arena_fit(wick_growable_arena *r, uint64_t nbytes);
void wick_growable_arena_ran(wick_growable_arena *r); /* after each run */
void wick_growable_arena_free(wick_growable_arena *r);

#endif
