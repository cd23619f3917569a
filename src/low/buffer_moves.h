/* Moves of buffers into other buffers' memory, and the function that results: what copy elimination
 * and in-place share.
 *
 * A move says: all elements of the alloc `root` lie at `to` from now on. It is legal when no value
 * that is still wanted is overwritten by it; views of the root follow. */
#ifndef WICK_LOW_BUFFER_MOVES_H
#define WICK_LOW_BUFFER_MOVES_H

#include "low/alias.h"

typedef enum wick_buffer_move_kind {
  WICK_MOVE_AHEAD, /* a copy writes `to` from the root: what writes the root writes `to` at once */
  WICK_MOVE_BACK,  /* a copy writes the root from `to`: what reads the root reads `to` */
  /* node `at` is the first to write the root, and reads `to` for the last time before that is
   * written: not at all, or by a copy of the root after it, as loops do with what they carry */
  WICK_MOVE_OVER,
  WICK_MOVE_UNDER /* node `at` writes `to`, and reads the root for the last time */
} wick_buffer_move_kind;

typedef struct wick_buffer_move {
  wick_buffer_move_kind kind;
  wick_value root; /* an alloc in the arena */
  wick_memref to;  /* with the root's dims */
  uint32_t at;     /* the copy, or the node that works in place */
} wick_buffer_move;

typedef struct wick_buffer_moves {
  wick_alias alias;   /* kept up with the moves that were made */
  uint64_t *nbytes;   /* [nnode]: bytes of the arena in use */
  uint64_t limit;     /* the most that a move may raise them to */
  uint32_t *next;     /* per value: the next one of the same root */
  int64_t *end;       /* per value: after its last byte, where its place is known */
  bool *moved, *drop; /* per value; per node */
  uint32_t nmove;
  wick_arena *mem, *tmp;
} wick_buffer_moves;

/* The limit is the most that is in use at one instruction of f: no move raises the peak. */
wick_buffer_moves wick_buffer_moves_begin(const wick_func *f, wick_arena *mem, wick_arena *tmp);

bool wick_buffer_move_legal(wick_buffer_moves *m, const wick_buffer_move *move);

/* The bytes in use stay within the limit when all n moves, into one root, are made. */
bool wick_buffer_moves_fit(const wick_buffer_moves *m, const wick_buffer_move *move, uint32_t n);

/* Makes a legal move. Copies that it makes copies of a place to itself are dropped. */
void wick_buffer_move_make(wick_buffer_moves *m, const wick_buffer_move *move);

/* The function with all moves made, in mem; f itself where nothing has changed. */
WICK_CHECKED wick_status wick_buffer_moves_end(wick_buffer_moves *m, wick_func **out);

#endif
