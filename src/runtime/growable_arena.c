#include "runtime/growable_arena.h"

#include <signal.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/pages.h"

enum {
  GROWABLE_ALIGN = 64,
  /* factor for reserved address space and for pages that are provided early */
  GROWABLE_TIMES = 8,
  GROWABLE_LEAST = 64 << 20, /* at least this much address space is reserved */
  GROWABLE_AHEAD = 64 << 20, /* at most this many bytes are provided early */
};

/* Returns whether memory that was never touched costs nothing. This is known only of malloc. */
static bool growable_arena_is_lazy(const wick_growable_arena *r)
{
  return r->allocator.alloc == wick_allocator_malloc().alloc;
}

/* Limits nbytes to the requirements of the largest sizes. */
static uint64_t growable_arena_within(const wick_growable_arena *r, uint64_t need, uint64_t nbytes)
{
  return r->most ? wick_min_u64(nbytes, wick_max_u64(need, r->most)) : nbytes;
}

/* ---- pages that are provided early ---- */

static void *growable_arena_work(void *arg)
{
  const wick_growable_arena *r = arg;
  wick_pages_touch(r->touch, r->ntouch);
  return NULL;
}

/* Waits for the thread. After a fork the child has no such thread. */
static void growable_arena_wait(wick_growable_arena *r)
{
  if (r->owner && r->owner == getpid()) pthread_join(r->thread, NULL);
  r->owner = 0;
}

static void growable_arena_ahead(wick_growable_arena *r)
{
  uint64_t more = wick_min_u64(GROWABLE_TIMES * r->used, GROWABLE_AHEAD),
           want = wick_min_u64(growable_arena_within(r, r->used, r->used + more), r->nbytes);
  r->ready = wick_max_u64(r->ready, r->used);
  if (!growable_arena_is_lazy(r) || want <= r->ready + more / 2) return;
  sigset_t all, old;
  growable_arena_wait(r);
  r->touch = r->at + r->ready, r->ntouch = want - r->ready;
  r->ready = want;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are left to the program's own threads */
  if (pthread_create(&r->thread, NULL, growable_arena_work, r) == 0) r->owner = getpid();
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void wick_growable_arena_ran(wick_growable_arena *r)
{
  if (r->grown)
    growable_arena_ahead(r); /* not during the run, whose memory accesses the thread would slow
                                down */
  r->grown = false;
  if (++r->nrun < WICK_GROWABLE_ARENA_PERIOD) return;
  growable_arena_wait(r);
  if (r->ready > r->high && growable_arena_is_lazy(r))
    wick_pages_release(r->at + r->high, r->ready - r->high);
  r->ready = r->high, r->high = r->used, r->nrun = 0;
}

/* ---- memory ---- */

void wick_growable_arena_free(wick_growable_arena *r)
{
  growable_arena_wait(r);
  if (r->block) r->allocator.free(r->allocator.self, r->block, r->nblock);
  r->block = NULL, r->at = NULL;
  r->nbytes = r->used = r->high = r->ready = r->nrun = 0, r->grown = false;
}

/* Allocates a new block, and only then frees the old one. Memory that needs less than a large page
 * does not get one. */
static bool growable_arena_make(wick_growable_arena *r, uint64_t nbytes, uint64_t need)
{
  size_t align = nbytes < WICK_PAGES_LARGE ? GROWABLE_ALIGN : WICK_PAGES_LARGE,
         small = need < WICK_PAGES_LARGE ? WICK_PAGES_LARGE : 0;
  if (nbytes > SIZE_MAX / 4) return false;
  nbytes = wick_align_up(nbytes, align);
  void *block = r->allocator.alloc(r->allocator.self, (size_t)nbytes + align);
  if (!block) return false;
  wick_growable_arena_free(r);
  r->block = block, r->nblock = (size_t)nbytes + align, r->nbytes = nbytes;
  r->at = (char *)block + (-(uintptr_t)block & (align - 1));
  if (nbytes > small && align == WICK_PAGES_LARGE)
    wick_pages_hint(r->at + small, (size_t)nbytes - small);
  return true;
}

static bool growable_arena_grow(wick_growable_arena *r, uint64_t nbytes)
{
  uint64_t more = growable_arena_is_lazy(r) ? wick_max_u64(GROWABLE_TIMES * nbytes, GROWABLE_LEAST)
                                            : r->nbytes + r->nbytes / 2;
  more = growable_arena_within(r, nbytes, more);
  return (more > nbytes && growable_arena_make(r, more, nbytes)) ||
         growable_arena_make(r, nbytes, nbytes);
}

bool wick_growable_arena_fit(wick_growable_arena *r, uint64_t nbytes)
{
  if (nbytes > SIZE_MAX / 4 / GROWABLE_TIMES) return false;
  if ((nbytes > r->nbytes || !r->block) && !growable_arena_grow(r, nbytes)) return false;
  r->used = nbytes;
  r->grown = r->grown || nbytes > r->high;
  r->high = wick_max_u64(r->high, nbytes);
  return true;
}
