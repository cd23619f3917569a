/* The table of strings: open addressing, with the bytes in a list of chunks. */
#include "base/string_table.h"

#include <string.h>

#include "base/hash.h"

enum { STRING_TABLE_CHUNK = 1 << 12, STRING_TABLE_MOST = 1 << 30 };

typedef struct wick_string_table_chunk {
  struct wick_string_table_chunk *next;
  uint64_t size, used;
} string_table_chunk;

static char *string_table_bytes(string_table_chunk *c) { return (char *)(c + 1); }

/* ---- memory ---- */

static void *string_table_alloc(wick_string_table *t, size_t nbytes)
{
  return t->allocator.alloc(t->allocator.self, nbytes);
}

static void string_table_drop(wick_string_table *t, void *p, size_t nbytes)
{
  if (p) t->allocator.free(t->allocator.self, p, nbytes);
}

static void string_table_slot_put(wick_string_table *t, uint64_t hash, uint32_t i)
{
  uint32_t k = (uint32_t)hash & (t->nslot - 1);
  while (t->slot[k]) k = (k + 1) & (t->nslot - 1);
  t->slot[k] = i + 1;
  t->slot_of[i] = k;
}

static uint64_t string_table_hash(const char *at, uint64_t nbytes)
{
  uint64_t h = wick_hash_bytes(WICK_HASH_SEED, at, (size_t)nbytes);
  return h ^ h >> 32;
}

/* Grows to `capacity` strings. Existing strings move. */
static bool string_table_grow(wick_string_table *t, uint32_t capacity)
{
  uint32_t nslot = 16;
  while (nslot / 2 < capacity) nslot *= 2;
  wick_string *at = string_table_alloc(t, (size_t)capacity * sizeof *at);
  uint32_t *slot_of = string_table_alloc(t, (size_t)capacity * sizeof *slot_of),
           *slot = string_table_alloc(t, (size_t)nslot * sizeof *slot);
  if (!at || !slot_of || !slot) {
    string_table_drop(t, at, (size_t)capacity * sizeof *at);
    string_table_drop(t, slot_of, (size_t)capacity * sizeof *slot_of);
    string_table_drop(t, slot, (size_t)nslot * sizeof *slot);
    return false;
  }
  if (t->n) memcpy(at, t->at, t->n * sizeof *at);
  string_table_drop(t, t->at, (size_t)t->capacity * sizeof *at);
  string_table_drop(t, t->slot_of, (size_t)t->capacity * sizeof *slot_of);
  string_table_drop(t, t->slot, (size_t)t->nslot * sizeof *slot);
  memset(slot, 0, (size_t)nslot * sizeof *slot);
  t->at = at, t->slot_of = slot_of, t->slot = slot;
  t->capacity = capacity, t->nslot = nslot;
  for (uint32_t i = 0; i < t->n; i++)
    string_table_slot_put(t, string_table_hash(at[i].at, at[i].nbytes), i);
  return true;
}

static bool string_table_begin(wick_string_table *t, uint32_t capacity)
{
  t->first = t->under ? wick_string_table_count(t->under) : 0;
  if (!string_table_grow(t, capacity ? capacity + !t->under : 16)) return false;
  if (!t->under) return wick_string_table_add(t, "", 0, false) == 0;
  return true;
}

bool wick_string_table_make(wick_string_table *t, wick_allocator a, const wick_string_table *under,
                            uint32_t capacity)
{
  *t = (wick_string_table){.allocator = a, .under = under};
  return string_table_begin(t, capacity);
}

static void *string_table_arena_alloc(void *self, size_t nbytes)
{
  return wick_arena_alloc(self, nbytes, 16);
}

static void string_table_arena_free(void *self, void *p, size_t nbytes)
{
  (void)self, (void)p, (void)nbytes; /* freed with the arena */
}

wick_string_table wick_string_table_in(wick_arena *mem)
{
  wick_string_table t = {.allocator = {string_table_arena_alloc, string_table_arena_free, mem}};
  string_table_begin(&t, 0); /* an arena does not return if memory runs out */
  return t;
}

void wick_string_table_free(wick_string_table *t)
{
  if (!t->allocator.free) return;
  for (string_table_chunk *c = t->chunk, *next; c; c = next) {
    next = c->next;
    string_table_drop(t, c, sizeof *c + (size_t)c->size);
  }
  string_table_drop(t, t->at, (size_t)t->capacity * sizeof *t->at);
  string_table_drop(t, t->slot_of, (size_t)t->capacity * sizeof *t->slot_of);
  string_table_drop(t, t->slot, (size_t)t->nslot * sizeof *t->slot);
  *t = (wick_string_table){0};
}

void wick_string_table_clear(wick_string_table *t)
{
  uint32_t kept = t->under ? 0 : 1;
  for (uint32_t i = kept; i < t->n; i++) t->slot[t->slot_of[i]] = 0;
  if (t->n > kept) t->n = kept;
  for (string_table_chunk *c = t->chunk; c; c = c->next) c->used = 0;
  t->now = t->chunk;
}

/* ---- strings ---- */

uint32_t wick_string_table_count(const wick_string_table *t) { return t->first + t->n; }

wick_string wick_string_table_get(const wick_string_table *t, int64_t number)
{
  while (t && number < t->first) t = t->under;
  if (!t || number < 0 || number - t->first >= t->n) return (wick_string){"", 0};
  return t->at[number - t->first];
}

static int64_t string_table_find(const wick_string_table *t, uint64_t hash, const char *at,
                                 uint64_t nbytes)
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

int64_t wick_string_table_find(const wick_string_table *t, const char *at, uint64_t nbytes)
{
  return string_table_find(t, string_table_hash(at, nbytes), at, nbytes);
}

/* The bytes belong to the caller, unless they are copied, or are in the memory that
 * wick_string_table_reserve returned last. */
static int64_t string_table_add(wick_string_table *t, const char *at, uint64_t nbytes, bool copy,
                                bool reserved)
{
  uint64_t hash = string_table_hash(at, nbytes);
  int64_t number = string_table_find(t, hash, at, nbytes);
  if (number >= 0) return number;
  if (t->n == t->capacity &&
      (t->capacity > STRING_TABLE_MOST || !string_table_grow(t, 2 * t->capacity)))
    return -1;
  if (copy && nbytes) {
    char *to = wick_string_table_reserve(t, nbytes);
    if (!to) return -1;
    memcpy(to, at, (size_t)nbytes);
    at = to;
  }
  if ((copy || reserved) && nbytes) t->now->used += nbytes;
  uint32_t i = t->n++;
  t->at[i] = (wick_string){nbytes ? at : "", nbytes};
  string_table_slot_put(t, hash, i);
  return (int64_t)t->first + i;
}

int64_t wick_string_table_add(wick_string_table *t, const char *at, uint64_t nbytes, bool copy)
{
  return string_table_add(t, at, nbytes, copy, false);
}

char *wick_string_table_reserve(wick_string_table *t, uint64_t nbytes)
{
  while (t->now && t->now->size - t->now->used < nbytes && t->now->next) t->now = t->now->next;
  if (t->now && t->now->size - t->now->used >= nbytes)
    return string_table_bytes(t->now) + t->now->used;
  if (nbytes > SIZE_MAX / 4) return NULL;
  uint64_t size = t->now ? 2 * t->now->size : STRING_TABLE_CHUNK;
  while (size < nbytes) size *= 2;
  string_table_chunk *c = string_table_alloc(t, sizeof *c + (size_t)size);
  if (!c) return NULL;
  *c = (string_table_chunk){.size = size};
  if (t->now)
    t->now->next = c;
  else
    t->chunk = c;
  t->now = c;
  return string_table_bytes(c);
}

int64_t wick_string_table_take(wick_string_table *t, char *at, uint64_t nbytes)
{
  return string_table_add(t, at, nbytes, false, true);
}
