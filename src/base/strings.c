/* Open addressing; bytes in a list of chunks. */
#include "base/strings.h"

#include <string.h>

#include "base/hash.h"

enum { STRINGS_CHUNK = 1 << 12, STRINGS_MOST = 1 << 30 };

typedef struct wick_strings_chunk {
  struct wick_strings_chunk *next;
  uint64_t size, used;
} strings_chunk;

static char *strings_bytes(strings_chunk *c) { return (char *)(c + 1); }

/* ---- memory ---- */

static void *strings_alloc(wick_strings *t, size_t nbytes)
{
  return t->allocator.alloc(t->allocator.self, nbytes);
}

static void strings_drop(wick_strings *t, void *p, size_t nbytes)
{
  if (p) t->allocator.free(t->allocator.self, p, nbytes);
}

static void strings_slot_put(wick_strings *t, uint64_t hash, uint32_t i)
{
  uint32_t k = (uint32_t)hash & (t->nslot - 1);
  while (t->slot[k]) k = (k + 1) & (t->nslot - 1);
  t->slot[k] = i + 1;
  t->slot_of[i] = k;
}

static uint64_t strings_hash(const char *at, uint64_t nbytes)
{
  uint64_t h = wick_hash_bytes(WICK_HASH_SEED, at, (size_t)nbytes);
  return h ^ h >> 32;
}

/* Room for so many strings; what is there moves. */
static bool strings_grow(wick_strings *t, uint32_t room)
{
  uint32_t nslot = 16;
  while (nslot / 2 < room) nslot *= 2;
  wick_string *at = strings_alloc(t, (size_t)room * sizeof *at);
  uint32_t *slot_of = strings_alloc(t, (size_t)room * sizeof *slot_of),
           *slot = strings_alloc(t, (size_t)nslot * sizeof *slot);
  if (!at || !slot_of || !slot) {
    strings_drop(t, at, (size_t)room * sizeof *at);
    strings_drop(t, slot_of, (size_t)room * sizeof *slot_of);
    strings_drop(t, slot, (size_t)nslot * sizeof *slot);
    return false;
  }
  if (t->n) memcpy(at, t->at, t->n * sizeof *at);
  strings_drop(t, t->at, (size_t)t->room * sizeof *at);
  strings_drop(t, t->slot_of, (size_t)t->room * sizeof *slot_of);
  strings_drop(t, t->slot, (size_t)t->nslot * sizeof *slot);
  memset(slot, 0, (size_t)nslot * sizeof *slot);
  t->at = at, t->slot_of = slot_of, t->slot = slot;
  t->room = room, t->nslot = nslot;
  for (uint32_t i = 0; i < t->n; i++) strings_slot_put(t, strings_hash(at[i].at, at[i].nbytes), i);
  return true;
}

static bool strings_begin(wick_strings *t, uint32_t room)
{
  t->first = t->under ? wick_strings_count(t->under) : 0;
  if (!strings_grow(t, room ? room + !t->under : 16)) return false;
  if (!t->under) return wick_strings_add(t, "", 0, false) == 0;
  return true;
}

bool wick_strings_make(wick_strings *t, wick_allocator a, const wick_strings *under, uint32_t room)
{
  *t = (wick_strings){.allocator = a, .under = under};
  return strings_begin(t, room);
}

static void *strings_arena_alloc(void *self, size_t nbytes)
{
  return wick_arena_alloc(self, nbytes, 16);
}

static void strings_arena_free(void *self, void *p, size_t nbytes)
{
  (void)self, (void)p, (void)nbytes; /* it goes with the arena */
}

wick_strings wick_strings_in(wick_arena *mem)
{
  wick_strings t = {.allocator = {strings_arena_alloc, strings_arena_free, mem}};
  strings_begin(&t, 0); /* an arena that is short of memory does not return */
  return t;
}

void wick_strings_free(wick_strings *t)
{
  if (!t->allocator.free) return;
  for (strings_chunk *c = t->chunk, *next; c; c = next) {
    next = c->next;
    strings_drop(t, c, sizeof *c + (size_t)c->size);
  }
  strings_drop(t, t->at, (size_t)t->room * sizeof *t->at);
  strings_drop(t, t->slot_of, (size_t)t->room * sizeof *t->slot_of);
  strings_drop(t, t->slot, (size_t)t->nslot * sizeof *t->slot);
  *t = (wick_strings){0};
}

void wick_strings_clear(wick_strings *t)
{
  uint32_t kept = t->under ? 0 : 1;
  for (uint32_t i = kept; i < t->n; i++) t->slot[t->slot_of[i]] = 0;
  if (t->n > kept) t->n = kept;
  for (strings_chunk *c = t->chunk; c; c = c->next) c->used = 0;
  t->now = t->chunk;
}

/* ---- strings ---- */

uint32_t wick_strings_count(const wick_strings *t) { return t->first + t->n; }

wick_string wick_strings_get(const wick_strings *t, int64_t number)
{
  while (t && number < t->first) t = t->under;
  if (!t || number < 0 || number - t->first >= t->n) return (wick_string){"", 0};
  return t->at[number - t->first];
}

static int64_t strings_find(const wick_strings *t, uint64_t hash, const char *at, uint64_t nbytes)
{
  for (; t; t = t->under) {
    uint32_t k = (uint32_t)hash & (t->nslot - 1);
    for (; t->slot[k]; k = (k + 1) & (t->nslot - 1)) {
      const wick_string *s = &t->at[t->slot[k] - 1];
      if (s->nbytes == nbytes && (!nbytes || memcmp(s->at, at, (size_t)nbytes) == 0))
        return (int64_t)t->first + t->slot[k] - 1;
    }
  }
  return -1;
}

int64_t wick_strings_find(const wick_strings *t, const char *at, uint64_t nbytes)
{
  return strings_find(t, strings_hash(at, nbytes), at, nbytes);
}

/* The bytes are the caller's, unless they are copied, or taken out of the room given last. */
static int64_t strings_add(wick_strings *t, const char *at, uint64_t nbytes, bool copy, bool room)
{
  uint64_t hash = strings_hash(at, nbytes);
  int64_t number = strings_find(t, hash, at, nbytes);
  if (number >= 0) return number;
  if (t->n == t->room && (t->room > STRINGS_MOST || !strings_grow(t, 2 * t->room))) return -1;
  if (copy && nbytes) {
    char *to = wick_strings_room(t, nbytes);
    if (!to) return -1;
    memcpy(to, at, (size_t)nbytes);
    at = to;
  }
  if ((copy || room) && nbytes) t->now->used += nbytes;
  uint32_t i = t->n++;
  t->at[i] = (wick_string){nbytes ? at : "", nbytes};
  strings_slot_put(t, hash, i);
  return (int64_t)t->first + i;
}

int64_t wick_strings_add(wick_strings *t, const char *at, uint64_t nbytes, bool copy)
{
  return strings_add(t, at, nbytes, copy, false);
}

char *wick_strings_room(wick_strings *t, uint64_t nbytes)
{
  while (t->now && t->now->size - t->now->used < nbytes && t->now->next) t->now = t->now->next;
  if (t->now && t->now->size - t->now->used >= nbytes) return strings_bytes(t->now) + t->now->used;
  if (nbytes > SIZE_MAX / 4) return NULL;
  uint64_t size = t->now ? 2 * t->now->size : STRINGS_CHUNK;
  while (size < nbytes) size *= 2;
  strings_chunk *c = strings_alloc(t, sizeof *c + (size_t)size);
  if (!c) return NULL;
  *c = (strings_chunk){.size = size};
  if (t->now)
    t->now->next = c;
  else
    t->chunk = c;
  t->now = c;
  return strings_bytes(c);
}

int64_t wick_strings_take(wick_strings *t, char *at, uint64_t nbytes)
{
  return strings_add(t, at, nbytes, false, true);
}
