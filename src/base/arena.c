/* Bump allocation in chunks that double up to 1 MiB; one larger request gets a chunk of its own. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_POISON(p, n) __asan_poison_memory_region((p), (n))
#define ARENA_UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define ARENA_POISON(p, n) ((void)(p), (void)(n))
#define ARENA_UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ARENA_FIRST = 4096, ARENA_MOST = 1 << 20 };
enum { ARENA_ASK_EVERY = 512, ARENA_ASK_NANOSECONDS = 5000000 };

struct wick_chunk {
  wick_chunk *next;
  size_t nbytes; /* with this header */
  _Alignas(16) char data[];
};

static void *arena_malloc(void *self, size_t nbytes)
{
  (void)self;
  return malloc(nbytes);
}

static void arena_libc_free(void *self, void *p, size_t nbytes)
{
  (void)self, (void)nbytes;
  free(p);
}

wick_allocator wick_allocator_malloc(void)
{
  return (wick_allocator){.alloc = arena_malloc, .free = arena_libc_free};
}

bool wick_guard_stopped(wick_guard *g)
{
  if (!g->stop || g->stopped) return g->stopped != WICK_OK;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  uint64_t now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
  if (now - g->asked_nanoseconds < ARENA_ASK_NANOSECONDS) return false;
  g->asked_nanoseconds = now;
  g->stopped = g->stop(g->stop_arg);
  return g->stopped != WICK_OK;
}

void wick_guard_ask(wick_guard *g)
{
  g->nuntil = ARENA_ASK_EVERY;
  if (wick_guard_stopped(g)) longjmp(g->where, 1);
}

wick_arena wick_arena_make(wick_guard *guard) { return (wick_arena){.guard = guard}; }

static void arena_pop(wick_arena *a)
{
  wick_chunk *c = a->chunk;
  a->chunk = c->next;
  a->guard->used_bytes -= c->nbytes;
  ARENA_UNPOISON(c->data, c->nbytes - sizeof *c);
  a->guard->allocator.free(a->guard->allocator.self, c, c->nbytes);
}

void wick_arena_free(wick_arena *a)
{
  while (a->chunk) arena_pop(a);
  a->at = a->end = NULL;
}

static void arena_add_chunk(wick_arena *a, size_t need)
{
  wick_guard *g = a->guard;
  size_t nbytes = ARENA_FIRST;
  if (a->chunk) nbytes = a->chunk->nbytes < ARENA_MOST / 2 ? a->chunk->nbytes * 2 : ARENA_MOST;
  if (need > SIZE_MAX / 2) longjmp(g->where, 1);
  if (nbytes < need + sizeof(wick_chunk)) nbytes = need + sizeof(wick_chunk);
  g->limited =
      g->limit_bytes && (nbytes > g->limit_bytes || g->used_bytes > g->limit_bytes - nbytes);
  if (g->limited) longjmp(g->where, 1);
  wick_chunk *c = g->allocator.alloc(g->allocator.self, nbytes);
  if (!c) longjmp(g->where, 1);
  *c = (wick_chunk){.next = a->chunk, .nbytes = nbytes};
  a->chunk = c;
  a->at = c->data;
  a->end = (char *)c + nbytes;
  g->used_bytes += nbytes;
  if (g->used_bytes > g->peak_bytes) g->peak_bytes = g->used_bytes;
  ARENA_POISON(a->at, (size_t)(a->end - a->at));
}

void *wick_arena_raw(wick_arena *a, size_t nbytes, size_t align)
{
  if (a->guard->stop && a->guard->nuntil-- == 0) wick_guard_ask(a->guard);
  size_t pad = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
  if (!a->at || nbytes >= (size_t)(a->end - a->at) || pad + nbytes + 1 > (size_t)(a->end - a->at)) {
    if (nbytes > SIZE_MAX / 4) longjmp(a->guard->where, 1);
    arena_add_chunk(a, nbytes + align + 1);
    pad = (size_t)(-(uintptr_t)a->at & (align - 1));
  }
  char *p = a->at + pad;
  a->at = p + (nbytes ? nbytes : 1);
  ARENA_UNPOISON(p, nbytes);
  return p;
}

void *wick_arena_alloc(wick_arena *a, size_t nbytes, size_t align)
{
  return memset(wick_arena_raw(a, nbytes, align), 0, nbytes);
}

void *wick_arena_copy(wick_arena *a, const void *from, size_t nbytes, size_t align)
{
  void *p = wick_arena_raw(a, nbytes, align);
  return nbytes ? memcpy(p, from, nbytes) : p;
}

void *wick_arena_array(wick_arena *a, size_t nelem, size_t size, size_t align)
{
  size_t nbytes;
  if (wick_mul_overflows(nelem, size, &nbytes)) longjmp(a->guard->where, 1);
  return wick_arena_alloc(a, nbytes, align);
}

void *wick_arena_grow(wick_arena *a, void *at, uint32_t n, uint32_t *cap, size_t size, size_t align)
{
  if (*cap > UINT32_MAX / 2) longjmp(a->guard->where, 1);
  uint32_t more = *cap ? *cap * 2 : 8;
  void *p = wick_arena_array(a, more, size, align);
  if (n) memcpy(p, at, n * size);
  *cap = more;
  return p;
}

wick_mark wick_arena_mark(const wick_arena *a) { return (wick_mark){a->chunk, a->at}; }

void wick_arena_rewind(wick_arena *a, wick_mark m)
{
  while (a->chunk != m.chunk) arena_pop(a);
  if (!a->chunk) {
    a->at = a->end = NULL;
    return;
  }
  a->at = m.at;
  a->end = (char *)a->chunk + a->chunk->nbytes;
  ARENA_POISON(a->at, (size_t)(a->end - a->at));
}
