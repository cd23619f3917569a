/* Strings by number: equal strings have equal numbers, so that code which moves and compares
 * elements of tensors needs to know nothing of strings. Number 0 is the empty string.
 *
 * A table may stand on another one, which then does not change: what that one has keeps its number.
 * Threads: a table belongs to one at a time; one that others stand on may be read by any number. */
#ifndef WICK_BASE_STRING_TABLE_H
#define WICK_BASE_STRING_TABLE_H

#include "base/arena.h"
#include "wick/wick.h"

typedef struct wick_string_table {
  wick_allocator allocator;
  const struct wick_string_table *under; /* or NULL */
  uint32_t first;                        /* the number of at[0] */
  uint32_t n, room;
  wick_string *at;
  uint32_t *slot_of;                     /* of each: its place in `slot` */
  uint32_t *slot, nslot;                 /* own numbers + 1, from 0 up; 0: free */
  struct wick_string_table_chunk *chunk; /* bytes that were copied: a list, used up to `now` */
  struct wick_string_table_chunk *now;
} wick_string_table;

/* With room for so many strings of its own; false where there is no memory. */
bool wick_string_table_make(wick_string_table *t, wick_allocator a, const wick_string_table *under,
                            uint32_t room);
void wick_string_table_free(wick_string_table *t);
/* As wick_string_table_make, in an arena, which is never short of memory; not to be freed. */
wick_string_table wick_string_table_in(wick_arena *mem);

/* Forgets its own strings, and keeps the memory. */
void wick_string_table_clear(wick_string_table *t);

/* The number of a string; `copy`: its bytes do not live as long as the table. -1: no memory. Memory
 * is taken only where there are more strings, or more bytes, than there ever were. */
int64_t wick_string_table_add(wick_string_table *t, const char *at, uint64_t nbytes, bool copy);
/* The number, or -1 where it is not there. */
int64_t wick_string_table_find(const wick_string_table *t, const char *at, uint64_t nbytes);
/* The string of a number; one that is not there is empty. */
wick_string wick_string_table_get(const wick_string_table *t, int64_t number);
uint32_t wick_string_table_count(const wick_string_table *t); /* numbers are below this */

/* Room for so many bytes, which the table keeps until it is cleared; NULL: no memory. What of it is
 * not wanted is given back by the next call. */
char *wick_string_table_room(wick_string_table *t, uint64_t nbytes);
/* The number of the first bytes of what was given last. */
int64_t wick_string_table_take(wick_string_table *t, char *at, uint64_t nbytes);

#endif
