/* Strings: a growing text in an arena, and interned names. */
#ifndef WICK_BASE_STR_H
#define WICK_BASE_STR_H

#include <stdarg.h>

#include "base/arena.h"

/* A text under construction; always ends in '\0'. */
typedef struct wick_text {
  wick_arena *mem;
  char *at;
  size_t n, cap;
} wick_text;
wick_text wick_text_begin(wick_arena *mem);
void wick_text_add(wick_text *t, const char *s);
void wick_text_addn(wick_text *t, const char *s, size_t n);
void wick_text_char(wick_text *t, char c);
void wick_text_int(wick_text *t, int64_t i);
void wick_text_printf(wick_text *t, const char *fmt, ...) WICK_PRINTF(2, 3);

char *wick_str_printf(wick_arena *mem, const char *fmt, ...) WICK_PRINTF(2, 3);
char *wick_str_dup(wick_arena *mem, const char *s);
char *wick_str_dupn(wick_arena *mem, const char *s, size_t n);

/* Returns the number of insertions, deletions, replacements and swaps of neighbours that make one
 * word of the other; SIZE_MAX for long words. For suggestions of misspelt names. */
size_t wick_str_distance(const char *a, const char *b);

/* Equal strings get the same number, from 1 up; 0 is the empty string. */
typedef struct wick_names {
  wick_arena *mem;
  const char **at; /* at[0] is "" */
  uint32_t n, cap;
  uint32_t *slot;
  uint32_t nslot;
} wick_names;
wick_names wick_names_begin(wick_arena *mem);
uint32_t wick_names_add(wick_names *t, const char *s, size_t n);
uint32_t wick_names_find(const wick_names *t, const char *s, size_t n); /* 0 if it is not found */
static inline const char *wick_names_get(const wick_names *t, uint32_t id) { return t->at[id]; }

#endif
