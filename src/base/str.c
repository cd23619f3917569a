/* Texts double as they grow; names are interned in an open-addressing table. */
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

wick_text wick_text_begin(wick_arena *mem)
{
  wick_text t = {.mem = mem, .cap = 256};
  t.at = wick_new(mem, char, t.cap);
  return t;
}

static void text_reserve(wick_text *t, size_t more)
{
  if (t->n + more + 1 <= t->cap) return;
  size_t cap = t->cap;
  while (cap < t->n + more + 1) cap *= 2;
  char *at = wick_arena_alloc(t->mem, cap, 1);
  memcpy(at, t->at, t->n + 1);
  t->at = at;
  t->cap = cap;
}

void wick_text_addn(wick_text *t, const char *s, size_t n)
{
  text_reserve(t, n);
  memcpy(t->at + t->n, s, n);
  t->n += n;
  t->at[t->n] = 0;
}

void wick_text_add(wick_text *t, const char *s) { wick_text_addn(t, s, strlen(s)); }
void wick_text_char(wick_text *t, char c) { wick_text_addn(t, &c, 1); }

void wick_text_int(wick_text *t, int64_t i)
{
  char digits[24], *at = digits + sizeof digits;
  uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
  do *--at = (char)('0' + u % 10);
  while (u /= 10);
  if (i < 0) *--at = '-';
  wick_text_addn(t, at, (size_t)(digits + sizeof digits - at));
}

static char *str_vprintf(wick_arena *mem, const char *fmt, va_list args)
{
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  char *s = wick_new(mem, char, (size_t)(n < 0 ? 0 : n) + 1);
  if (n > 0) vsnprintf(s, (size_t)n + 1, fmt, again);
  va_end(again);
  return s;
}

void wick_text_printf(wick_text *t, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (n > 0) {
    text_reserve(t, (size_t)n);
    vsnprintf(t->at + t->n, (size_t)n + 1, fmt, again);
    t->n += (size_t)n;
  }
  va_end(again);
}

char *wick_str_printf(wick_arena *mem, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  char *s = str_vprintf(mem, fmt, args);
  va_end(args);
  return s;
}

char *wick_str_dupn(wick_arena *mem, const char *s, size_t n)
{
  char *p = wick_new(mem, char, n + 1);
  memcpy(p, s, n);
  return p;
}

char *wick_str_dup(wick_arena *mem, const char *s) { return wick_str_dupn(mem, s, strlen(s)); }

wick_names wick_names_begin(wick_arena *mem)
{
  wick_names t = {.mem = mem, .n = 1, .cap = 64, .nslot = 128};
  t.at = wick_new(mem, const char *, t.cap);
  t.at[0] = "";
  t.slot = wick_new(mem, uint32_t, t.nslot);
  return t;
}

static uint32_t names_slot(const wick_names *t, const char *s, size_t n)
{
  uint32_t i = (uint32_t)wick_hash_bytes(WICK_HASH_SEED, s, n) & (t->nslot - 1);
  while (t->slot[i]) {
    const char *have = t->at[t->slot[i]];
    if (strncmp(have, s, n) == 0 && have[n] == 0) break;
    i = (i + 1) & (t->nslot - 1);
  }
  return i;
}

uint32_t wick_names_find(const wick_names *t, const char *s, size_t n)
{
  return n ? t->slot[names_slot(t, s, n)] : 0;
}

static void names_grow(wick_names *t)
{
  const char **old = t->at;
  t->at = wick_new(t->mem, const char *, t->cap * 2);
  memcpy(t->at, old, t->n * sizeof *old);
  t->cap *= 2;
  t->nslot *= 2;
  t->slot = wick_new(t->mem, uint32_t, t->nslot);
  for (uint32_t id = 1; id < t->n; id++) t->slot[names_slot(t, t->at[id], strlen(t->at[id]))] = id;
}

uint32_t wick_names_add(wick_names *t, const char *s, size_t n)
{
  const char *nul = n ? memchr(s, 0, n) : NULL; /* names end at a NUL, even in malicious input */
  if (nul) n = (size_t)(nul - s);
  if (!n) return 0;
  uint32_t slot = names_slot(t, s, n);
  if (t->slot[slot]) return t->slot[slot];
  if (t->n == t->cap) {
    names_grow(t);
    slot = names_slot(t, s, n);
  }
  t->at[t->n] = wick_str_dupn(t->mem, s, n);
  return t->slot[slot] = t->n++;
}

enum { STR_LONGEST = 32 }; /* longer names are like no other */

/* Damerau 1964. */
size_t wick_str_distance(const char *a, const char *b)
{
  size_t na = strlen(a), nb = strlen(b);
  uint8_t row[STR_LONGEST + 1][STR_LONGEST + 1];
  if (na > STR_LONGEST || nb > STR_LONGEST) return SIZE_MAX;
  for (size_t i = 0; i <= na; i++) {
    for (size_t j = 0; j <= nb; j++) {
      uint8_t best = (uint8_t)(i + j);
      if (i && j) {
        best = (uint8_t)(row[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
        if (row[i - 1][j] + 1 < best) best = (uint8_t)(row[i - 1][j] + 1);
        if (row[i][j - 1] + 1 < best) best = (uint8_t)(row[i][j - 1] + 1);
        bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        if (swapped && row[i - 2][j - 2] + 1 < best) best = (uint8_t)(row[i - 2][j - 2] + 1);
      }
      row[i][j] = best;
    }
  }
  return row[na][nb];
}
