/* The memory of a session whose sizes vary. It grows in place: address space is taken for sizes to
 * come, and what they never touch costs nothing. Memory that is touched for the first time costs
 * time, 0.05 ms a MiB, on virtual machines whose memory goes back to the host up to 2 ms; so once
 * a size has run that is larger than those before, a thread has the system give pages for yet
 * larger ones. What has not been wanted for many runs goes back.
 *
 * What a room holds between two runs is nobody's. One thread at a time uses it. */
#ifndef WICK_RUNTIME_GROWABLE_ARENA_H
#define WICK_RUNTIME_GROWABLE_ARENA_H

#include <pthread.h>
#include <sys/types.h>

#include "base/base.h"
#include "wick/wick.h"

typedef struct wick_room {
  wick_allocator allocator;
  uint64_t most; /* bytes that the largest sizes want; 0: not known */
  char *at;      /* NULL: there is none yet */
  uint64_t nbytes;
  void *block; /* the allocation that it lies in */
  size_t nblock;
  uint64_t used, high, ready; /* bytes from `at` on: that are asked for now, that were in this
                                 period at most, and that have pages or soon will */
  uint32_t nrun;              /* of this period */
  bool grown;                 /* `high` has, since the last run */
  pthread_t thread;
  pid_t owner; /* of the thread; 0: none was started */
  char *touch; /* what it works on */
  size_t ntouch;
} wick_room;

enum { WICK_ROOM_PERIOD = 1000 }; /* runs, after which goes back what none of them wanted */

/* Makes room for nbytes; what it held is lost. False, and nothing has changed: there is no memory.
 */
bool wick_room_fit(wick_room *r, uint64_t nbytes);
void wick_room_ran(wick_room *r); /* after each run */
void wick_room_free(wick_room *r);

#endif
