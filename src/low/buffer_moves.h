/* Moves buffers into other buffers' memory, for the passes copy_elim and in_place.
 *
 * A move puts all elements of the alloc `root` at `to`; views of the root follow. It is legal if it
 * overwrites no value that is still needed. */
#ifndef WICK_LOW_BUFFER_MOVES_H
#define WICK_LOW_BUFFER_MOVES_H

#include "low/alias.h"

typedef enum wick_buffer_move_kind {
  /* a copy writes `to` from the root: nodes that write the root will write `to` directly */
  WICK_MOVE_AHEAD,
  WICK_MOVE_BACK, /* a copy writes the root from `to`: nodes that read the root will read `to` */
  /* node `at` is the first to write the root, and the last to read `to` before `to` is written, if
   * it ever is (a loop writes a carried buffer by a copy of the root) */
  WICK_MOVE_OVER,
  WICK_MOVE_UNDER, /* node `at` writes `to`, and reads the root for the last time */
  /* branches in node `at` begin with copies of `to` to the root, and a copy after it writes `to`
   * from the root: where nothing else uses `to` between, they are one */
  WICK_MOVE_JOIN
} wick_buffer_move_kind;

typedef struct wick_buffer_move {
  wick_buffer_move_kind kind;
  wick_value root; /* an alloc in the arena */
  wick_memref to;  /* with the root's dimensions */
  uint32_t at;     /* the copy, or the node that works in place */
} wick_buffer_move;

typedef struct wick_buffer_moves {
  wick_alias alias;   /* updated by each move */
  uint64_t *nbytes;   /* [nnode]: bytes of the arena in use */
  uint64_t limit;     /* the most that a move may raise them to */
  uint32_t *next;     /* per value: the next one of the same root */
  int64_t *end;       /* per value: the end of its last byte, if its position is known */
  bool *moved, *drop; /* per value; per node */
  uint32_t nmove;
  wick_arena *mem, *tmp;
} wick_buffer_moves;

/* The limit is the peak of the bytes in use at one instruction of f: no move raises it. */
wick_buffer_moves wick_buffer_moves_begin(const wick_func *f, wick_arena *mem, wick_arena *tmp);

bool wick_buffer_move_legal(wick_buffer_moves *m, const wick_buffer_move *move);

/* Returns whether the bytes in use stay within the limit after all n moves, into one root. */
bool wick_buffer_moves_fit(const wick_buffer_moves *m, const wick_buffer_move *move, uint32_t n);

/* Makes a legal move. Removes copies whose source and destination become the same. */
void wick_buffer_move_make(wick_buffer_moves *m, const wick_buffer_move *move);

/* Returns the function after all moves, in mem; f itself if nothing has changed. */
WICK_CHECKED wick_status wick_buffer_moves_end(wick_buffer_moves *m, wick_func **out);

#endif
