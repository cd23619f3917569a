#include "runtime/growable_arena.h"

#include <signal.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/pages.h"

enum {
  ROOM_ALIGN = 64,
  ROOM_TIMES = 8,        /* address space and pages ahead, of what is needed, */
  ROOM_LEAST = 64 << 20, /* the least of the former, */
  ROOM_AHEAD = 64 << 20, /* the most of the latter */
};

/* Only of malloc is it known that what nobody touches costs nothing. */
static bool room_is_lazy(const wick_room *r)
{
  return r->allocator.alloc == wick_allocator_malloc().alloc;
}

/* No more than any sizes want. */
static uint64_t room_within(const wick_room *r, uint64_t need, uint64_t nbytes)
{
  return r->most ? wick_min_u64(nbytes, wick_max_u64(need, r->most)) : nbytes;
}

/* ---- pages ahead ---- */

static void *room_work(void *arg)
{
  const wick_room *r = arg;
  wick_pages_touch(r->touch, r->ntouch);
  return NULL;
}

/* A process that has forked has no such thread to wait for. */
static void room_wait(wick_room *r)
{
  if (r->owner && r->owner == getpid()) pthread_join(r->thread, NULL);
  r->owner = 0;
}

static void room_ahead(wick_room *r)
{
  uint64_t more = wick_min_u64(ROOM_TIMES * r->used, ROOM_AHEAD),
           want = wick_min_u64(room_within(r, r->used, r->used + more), r->nbytes);
  r->ready = wick_max_u64(r->ready, r->used);
  if (!room_is_lazy(r) || want <= r->ready + more / 2) return;
  sigset_t all, old;
  room_wait(r);
  r->touch = r->at + r->ready, r->ntouch = want - r->ready;
  r->ready = want;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the program's own threads' */
  if (pthread_create(&r->thread, NULL, room_work, r) == 0) r->owner = getpid();
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void wick_room_ran(wick_room *r)
{
  if (r->grown) room_ahead(r); /* not before: the thread would take memory's time from that run */
  r->grown = false;
  if (++r->nrun < WICK_ROOM_PERIOD) return;
  room_wait(r);
  if (r->ready > r->high && room_is_lazy(r))
    wick_pages_release(r->at + r->high, r->ready - r->high);
  r->ready = r->high, r->high = r->used, r->nrun = 0;
}

/* ---- memory ---- */

void wick_room_free(wick_room *r)
{
  room_wait(r);
  if (r->block) r->allocator.free(r->allocator.self, r->block, r->nblock);
  r->block = NULL, r->at = NULL;
  r->nbytes = r->used = r->high = r->ready = r->nrun = 0, r->grown = false;
}

/* The room that there was goes only when there is another. Little is not worth a large page. */
static bool room_make(wick_room *r, uint64_t nbytes, uint64_t need)
{
  size_t align = nbytes < WICK_PAGES_LARGE ? ROOM_ALIGN : WICK_PAGES_LARGE,
         small = need < WICK_PAGES_LARGE ? WICK_PAGES_LARGE : 0;
  if (nbytes > SIZE_MAX / 4) return false;
  nbytes = wick_align_up(nbytes, align);
  void *block = r->allocator.alloc(r->allocator.self, (size_t)nbytes + align);
  if (!block) return false;
  wick_room_free(r);
  r->block = block, r->nblock = (size_t)nbytes + align, r->nbytes = nbytes;
  r->at = (char *)block + (-(uintptr_t)block & (align - 1));
  if (nbytes > small && align == WICK_PAGES_LARGE)
    wick_pages_hint(r->at + small, (size_t)nbytes - small);
  return true;
}

static bool room_grow(wick_room *r, uint64_t nbytes)
{
  uint64_t more =
      room_is_lazy(r) ? wick_max_u64(ROOM_TIMES * nbytes, ROOM_LEAST) : r->nbytes + r->nbytes / 2;
  more = room_within(r, nbytes, more);
  return (more > nbytes && room_make(r, more, nbytes)) || room_make(r, nbytes, nbytes);
}

bool wick_room_fit(wick_room *r, uint64_t nbytes)
{
  if (nbytes > SIZE_MAX / 4 / ROOM_TIMES) return false;
  if ((nbytes > r->nbytes || !r->block) && !room_grow(r, nbytes)) return false;
  r->used = nbytes;
  r->grown = r->grown || nbytes > r->high;
  r->high = wick_max_u64(r->high, nbytes);
  return true;
}
