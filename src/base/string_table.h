/* Maps strings to numbers: equal strings have equal numbers. So code that moves and compares
 * elements of tensors needs no special case for strings. Number 0 is the empty string.
 *
 * A table may extend another one, which then must not change; strings of that one keep their
 * numbers. Threads: one thread at a time may use a table, but any number may read a table that
 * others extend. */
#ifndef WICK_BASE_STRING_TABLE_H
#define WICK_BASE_STRING_TABLE_H

#include "base/arena.h"
#include "wick/wick.h"

typedef struct wick_string_table {
  wick_allocator allocator;
  const struct wick_string_table *under; /* the table that this one extends, or NULL */
  uint32_t first;                        /* the number of at[0] */
  uint32_t n, capacity;
  wick_string *at;
  uint32_t *slot_of;                     /* per string: its index in `slot` */
  uint32_t *slot, nslot;                 /* own strings, counted from 0, + 1; 0: free */
  struct wick_string_table_chunk *chunk; /* copied bytes: a list that is used up to `now` */
  struct wick_string_table_chunk *now;
} wick_string_table;

/* Makes a table for up to `capacity` strings of its own. Returns false if memory runs out. */
bool wick_string_table_make(wick_string_table *t, wick_allocator a, const wick_string_table *under,
                            uint32_t capacity);
void wick_string_table_free(wick_string_table *t);
/* The same in an arena, which unwinds if memory runs out. Do not free the table. */
wick_string_table wick_string_table_in(wick_arena *mem);

/* Removes the table's own strings and keeps the memory. */
void wick_string_table_clear(wick_string_table *t);

/* Returns the number of a string, which is added if it is new; -1 if memory runs out. `copy`: the
 * bytes do not live as long as the table. Allocates only if there are more strings, or more bytes,
 * than ever before. */
int64_t wick_string_table_add(wick_string_table *t, const char *at, uint64_t nbytes, bool copy);
/* Returns the number, or -1 if the string is not in the table. */
int64_t wick_string_table_find(const wick_string_table *t, const char *at, uint64_t nbytes);
/* Returns the string of a number; empty if the number is not in the table. */
wick_string wick_string_table_get(const wick_string_table *t, int64_t number);
uint32_t wick_string_table_count(const wick_string_table *t); /* numbers are below this */

/* Returns memory for nbytes, which the table keeps until it is cleared; NULL if memory runs out.
 * The next call gives unused bytes back. */
char *wick_string_table_reserve(wick_string_table *t, uint64_t nbytes);
/* Returns the number of the string at `at`, the first nbytes of the memory that
 * wick_string_table_reserve returned last. */
int64_t wick_string_table_take(wick_string_table *t, char *at, uint64_t nbytes);

#endif
