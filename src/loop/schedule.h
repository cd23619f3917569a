/* Schedules: a record per stage of a group, edited by steps. Nothing is rewritten by a step;
 * wick_nest builds the loops once.
 *
 * Steps, separated by `;` (STAGE is the stage's `name`, LOOP a loop of it; at first each axis is a
 * loop of its own name; an illegal step is refused with its reason):
 *
 * - split STAGE.LOOP NEW:FACTOR: LOOP steps by FACTOR, a new loop NEW of FACTOR iterations goes
 *   inside, right behind it; a reduced loop that was split before only by what divides it
 * - order STAGE: LOOP LOOP ...: all loops, outermost first
 * - parallel STAGE.LOOP ...: tasks of the kernel; the outermost loops of the group's output
 * - vector STAGE.LOOP: the lanes of one vector
 * - unroll STAGE.LOOP ...: straight-line code
 * - parts STAGE.LOOP: a reduced loop, unrolled into partial states that are merged as a binary tree
 *   at the end
 * - spans STAGE.LOOP: a reduced loop, each of whose iterations has a state of its own, which is
 * merged at its end with those before: a long sum rounds less; outside of all loops that are not
 * serial
 * - dot STAGE.LOOP: a reduced loop, the innermost, as one dot product (loop/product.h)
 * - inline STAGE: computed where it is read
 * - at STAGE CONSUMER.LOOP [reg|stack|scratch]: computed inside that loop, for the box that is read
 *   there
 * - tail STAGE.LOOP peel[:UNIT]|mask|overlap: what happens where a factor does not divide: code of
 *   its own (the default), masked lanes (of an unrolled loop of a map, over a symbolic extent: each
 *   iteration under a condition, in whole steps of the loops around it), or a last tile that is
 * moved back and computes some elements again. Where the extent is symbolic, the code of its own is
 * smaller and smaller steps, of multiples of UNIT where that is given, and what is left then
 * (loop/nest_loop.c)
 * - prefetch STAGE.LOOP: what is read of parameters inside is fetched for the loop's next
 * iteration, too
 * - turn STAGE.LOOP: unrolled; where the lanes of a vector lie apart in a parameter, and the loop's
 *   iterations next to each other, vectors along the loop are read and turned in registers
 *
 * - lanes STAGE:N: loops of a walk that only move elements, along the last dimension, take N at
 * once
 *
 * A fold has its states in registers, where the loops inside its reduced ones are unrolled or the
 * vector; with serial ones there they lie in scratch memory, all reduced loops are serial, and
 * loops along axes that a part of the state has not (loop/states.h) go innermost.
 *
 * What steps do to the order of an accumulation stands in the contract (loop/contract.h): `split`,
 * `unroll`, and `order` of parallel axes keep it; `vector` of a reduced loop, `parts`, `spans`, and
 * `order` of reduced axes change it. */
#ifndef WICK_LOOP_SCHEDULE_H
#define WICK_LOOP_SCHEDULE_H

#include "ir/ir.h"

typedef enum wick_loop_kind {
  WICK_SERIAL,
  WICK_PARALLEL,
  WICK_VECTOR,
  WICK_UNROLL,
  WICK_PARTS,
  WICK_SPANS,
  WICK_DOT
} wick_loop_kind;
typedef enum wick_tail { WICK_PEEL, WICK_MASK, WICK_OVERLAP } wick_tail;
typedef enum wick_where { WICK_ROOT, WICK_INLINE, WICK_AT } wick_where;
typedef enum wick_store { WICK_STORE_SCRATCH, WICK_STORE_STACK, WICK_STORE_REG } wick_store;

typedef struct wick_sloop {
  const char *name;
  uint32_t axis;  /* of the stage */
  int64_t factor; /* the axis' index steps by it */
  int64_t size;   /* iterations; 0: what the axis' extent leaves */
  wick_loop_kind kind;
  wick_tail tail;
  int64_t unit;  /* of a tail's steps; 0: that of the loops inside */
  bool prefetch; /* what is read of parameters is wanted early: for its next iteration, too */
  bool turn;     /* unrolled: parameters are read along it, and turned in registers */
} wick_sloop;

typedef struct wick_stage {
  uint32_t node; /* index in the group */
  const char *name;
  uint32_t naxis;
  const wick_axis *axis;
  bool fold, walk;
  int64_t lanes;               /* of a walk: in its loops that only move elements; 0: one by one */
  wick_list(wick_sloop) loops; /* outermost first */
  wick_where where;
  uint32_t consumer,
      consumer_loop; /* of WICK_AT: stage, and index in its loops at the end of scheduling */
  const char *consumer_loop_name;
  wick_store store;
} wick_stage;

typedef struct wick_halo { /* of a parameter, per dimension: elements before and behind it that hold
                              `fill`; 0 of floats */
  int64_t lo[WICK_MAX_RANK], hi[WICK_MAX_RANK], fill;
} wick_halo;

typedef struct wick_schedule {
  const wick_func *group;
  wick_arena *mem;
  uint32_t nstage; /* in the order of the group */
  wick_stage *stage;
  wick_halo *halo; /* per parameter of the group */
  uint32_t output; /* the last stage, which the group returns */
} wick_schedule;

/* The unscheduled group: every stage at the root, in memory, its loops serial in the order of the
 * text. */
wick_schedule *wick_schedule_begin(const wick_func *group, wick_arena *mem);
/* Applies steps, or reports the first that is illegal: "step `vector out.q`: stage `out` has no
 * loop `q`". */
WICK_CHECKED wick_status wick_schedule_apply(wick_schedule *s, const char *steps);
/* Checks what only the whole can tell: loops of `at`, parallel loops outermost, tiles in registers.
 * Called by wick_nest. */
WICK_CHECKED wick_status wick_schedule_check(wick_schedule *s);

/* A fold that begins with an element of a tensor: one sum, which has no parts. */
bool wick_stage_starts(const wick_schedule *s, const wick_stage *st);

/* Where the last step of a loop over a symbolic extent is moved back: the next smaller size of
 * steps for what is left, in units; about two thirds, or half. */
int64_t wick_tail_smaller(int64_t n, bool halves);

uint32_t wick_schedule_stage(const wick_schedule *s, const char *name,
                             size_t n); /* UINT32_MAX: none */

#endif
