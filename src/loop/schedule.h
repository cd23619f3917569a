/* Schedules: a record for each stage of a group, which steps edit. A step rewrites no code;
 * wick_nest builds the loops once, at the end.
 *
 * Steps are separated by `;`. STAGE is the `name` of a stage, and LOOP is one of its loops. At
 * first, each axis is a loop with the axis' name. The table wick_schedule_steps has the steps with
 * their forms and conditions; docs/schedules.md is generated from it. A step whose condition does
 * not hold is refused with the reason.
 *
 * A fold keeps its states in registers if the loops inside its reduced loops are unrolled or the
 * vector. If there are serial loops inside, the states are in scratch memory, all reduced loops are
 * serial, and loops along axes that a component of the state does not have (loop/states.h) are
 * innermost.
 *
 * The contract (loop/contract.h) says how the schedule changes the order of an accumulation.
 * `split`, `unroll`, and `order` of parallel axes keep it. `vector` of a reduced loop, `rfactor`,
 * `spans`, and `order` of reduced axes change it. */
#ifndef WICK_LOOP_SCHEDULE_H
#define WICK_LOOP_SCHEDULE_H

#include "ir/ir.h"

typedef enum wick_loop_kind {
  WICK_SERIAL,
  WICK_PARALLEL,
  WICK_VECTOR,
  WICK_UNROLL,
  WICK_RFACTOR,
  WICK_SPANS,
  WICK_DOT
} wick_loop_kind;
typedef enum wick_tail { WICK_PEEL, WICK_MASK, WICK_OVERLAP } wick_tail;
typedef enum wick_where { WICK_ROOT, WICK_INLINE, WICK_AT } wick_where;
typedef enum wick_store { WICK_STORE_SCRATCH, WICK_STORE_STACK, WICK_STORE_REG } wick_store;

typedef struct wick_sloop {
  const char *name;
  uint32_t axis;  /* an axis of the stage */
  int64_t factor; /* each iteration adds it to the axis' index */
  int64_t size;   /* iterations; 0: as many as the extent of the axis needs */
  wick_loop_kind kind;
  wick_tail tail;
  int64_t unit;  /* the unit of a tail's steps; 0: that of the loops inside */
  bool prefetch; /* reads of parameters are also prefetched for the next iteration */
  bool turn;     /* unrolled: parameters are read along it and transposed in registers */
  uint32_t ncut; /* positions of the axis at which a new loop begins, ascending */
  const int64_t *cut;
} wick_sloop;

typedef struct wick_stage {
  uint32_t node; /* index in the group */
  const char *name;
  uint32_t naxis;
  const wick_axis *axis;
  bool fold, loop_nest;
  int64_t lanes; /* loop nests: vector lanes of loops that only move elements; 0: no vectors */
  wick_list(wick_sloop) loops; /* outermost first */
  wick_where where;
  uint32_t consumer,
      consumer_loop; /* for WICK_AT: the stage, and the index of its loop after scheduling */
  const char *consumer_loop_name;
  wick_store store;
} wick_stage;

/* Elements around a parameter that hold `fill` (0 for floats): before and after it, per
 * dimension. */
typedef struct wick_halo {
  int64_t lo[WICK_MAX_RANK], hi[WICK_MAX_RANK], fill;
} wick_halo;

typedef struct wick_schedule {
  const wick_func *group;
  wick_arena *mem;
  uint32_t nstage; /* in the order of the group */
  wick_stage *stage;
  wick_halo *halo; /* per parameter of the group */
  uint32_t output; /* the last stage, whose results the group returns */
} wick_schedule;

struct schedule_step;
typedef struct wick_schedule_step {
  const char *name, *form;
  wick_loop_kind kind; /* the new kind of the loops that it names, if `apply` is NULL */
  wick_status (*apply)(struct schedule_step *step);
  const char *doc, *legal; /* what it does; its conditions, and its effect on sums */
} wick_schedule_step;

extern const wick_schedule_step wick_schedule_steps[]; /* ends with an entry without a name */

/* Returns the schedule without steps: every stage is at the root and in memory, and its loops are
 * serial, in the order of the text. */
wick_schedule *wick_schedule_begin(const wick_func *group, wick_arena *mem);
/* Applies the steps, or reports the first illegal one: "step `vector out.q`: stage `out` has no
 * loop `q`". */
WICK_CHECKED wick_status wick_schedule_apply(wick_schedule *s, const char *steps);
/* Checks the conditions that depend on the whole schedule: the loops of `at`, that parallel loops
 * are outermost, and that tiles fit in registers. wick_nest calls it. */
WICK_CHECKED wick_status wick_schedule_check(wick_schedule *s);

/* The name that the step `template` states; NULL without such a step. Lives in `mem`. */
const char *wick_schedule_template(const char *steps, wick_arena *mem);

/* Returns the first loop of the fold's tile in registers: the first reduced loop or, if serial loops
 * over the states run inside of a reduced one, the loop after the last of them. States are then in
 * memory between the iterations of the reduced loops before it. */
uint32_t wick_stage_tile(const wick_stage *st);
/* The fold begins with an element of a tensor. It is then one sum, which `rfactor` and `spans` may
 * not split. */
bool wick_stage_starts(const wick_schedule *s, const wick_stage *st);

/* The next smaller step size, in units, for the remainder of a loop over a symbolic extent whose
 * last step is moved back (WICK_OVERLAP): about two thirds of n, or half of it. */
int64_t wick_tail_smaller(int64_t n, bool halves);

uint32_t wick_schedule_stage(const wick_schedule *s, const char *name,
                             size_t n); /* UINT32_MAX: none */

#endif
