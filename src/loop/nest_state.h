/* The state and the functions that the nest_*.c files share: the open loops, the values that are
 * available at this point, and the emission of a stage. */
#ifndef WICK_LOOP_NEST_STATE_H
#define WICK_LOOP_NEST_STATE_H

#include "ir/build.h"
#include "loop/nest.h"

enum { NEST_KEY = 24, NEST_BUCKETS = 4096, NEST_PLACE = 64 };

/* A value that is available at this point of the code, with a key that says what it computes. Equal
 * loads and index sums are therefore emitted once. */
typedef struct nest_known {
  uint64_t key[NEST_KEY];
  uint32_t nkey, next, bucket;
  wick_value value;
} nest_known;

/* The storage of a stage's result, or of a parameter: memory or registers. */
typedef struct nest_place {
  bool in_memory;
  wick_value buffer;
  const wick_halo *halo;          /* zeros around it; NULL: none */
  bool frozen;                    /* never written by this kernel: loads may be shared */
  wick_dim lo[WICK_MAX_RANK];     /* index of the first element of the buffer */
  wick_dim stride[WICK_MAX_RANK]; /* elements */
  uint32_t stage;                 /* for a stage's result: the stage */
  uint32_t nth;                   /* and the index of the result */
  uint32_t vdim;                  /* for a tile in registers: the dimension of its vectors */
} nest_place;

/* A stage that is being emitted or inlined: its axes as expressions of the open loops. */
typedef struct nest_run {
  uint32_t stage;
  const wick_stage *st;
  const wick_node *node;
  wick_dim *base;  /* per axis: the current index */
  wick_dim *total; /* per axis: how many elements the inner loops still have to cover from there */
  wick_dim *lo;    /* per axis: the beginning of the box */
  wick_dim vsym;   /* the vector's lane: a symbol; INVALID without a vector */
  uint32_t lanes;  /* lanes of the vector; 1 without one */
  wick_dim active; /* lanes in use; fewer than lanes: masked */
  uint32_t vaxis;
  /* The unrolled loop along which parameters are transposed: its axis, its current iteration, and
   * its number of iterations; turns 0: none. */
  uint32_t taxis, turn, turns;
  struct nest_kept *kept; /* for a fold with states in memory, while its loops are built */
} nest_run;

typedef struct nest {
  wick_module *m;
  wick_builder b;
  wick_arena *tmp;
  const wick_func *g;
  wick_schedule *s;
  nest_place *place; /* per value of the group */
  wick_list(struct nest_symbol {
    wick_dim sym;
    wick_value value;
    bool prefetch;  /* reads of parameters are prefetched for its next value */
    uint32_t level; /* smaller for an outer loop; 0: no loop */
    /* A bound in outer symbols (INVALID: the range is the bound); exact: it has this value. */
    wick_dim most;
    bool exact;
  }) symbols; /* sizes of the group, then open loops and their remainders, outermost first */
  wick_list(nest_known) known;
  uint32_t bucket[NEST_BUCKETS];  /* index into known + 1 */
  wick_value task, begin;         /* of this iteration; the first of the call */
  wick_dim scratch, scratch_peak; /* in units of NEST_PLACE bytes; expressions of the sizes */
  uint32_t nsymbol;               /* symbols made so far, for their names */
  uint32_t again; /* nonzero: the code inside runs several times in one task, for parts of it */
  bool *within;   /* per stage: its reads are known to be in bounds here */
  struct nest_sure {
    const wick_node *read; /* a guarded read of the output; NULL: none */
    uint32_t dims;         /* bit k: dimension k is known to be in bounds here */
    bool outside;          /* the read is known to be out of bounds here */
  } sure;
} nest;

enum { NEST_INNER = 1 << 20 }; /* levels of loops that are code, inside the parallel loops */

void nest_fail(nest *t, const char *fmt, ...) WICK_PRINTF(2, 3);

/* ---- values (nest_value.c) ---- */
nest_known *nest_find(nest *t, const uint64_t *key, uint32_t nkey);
wick_value nest_remember(nest *t, const uint64_t *key, uint32_t nkey, wick_value v);
uint32_t nest_known_mark(const nest *t);
void nest_known_rewind(nest *t, uint32_t mark);

wick_dim nest_symbol_open(nest *t, const char *name, int64_t hi); /* a fresh symbol 0 .. hi */
/* A symbol for the index of a loop of n iterations. The constant 0 if n <= 1, so that divisions
 * fold. */
wick_dim nest_index_open(nest *t, const char *name, wick_dim n);
/* A fresh symbol that equals `d`, with the range 0 .. hi, for a d whose range is less precise. The
 * caller removes it again. */
wick_dim nest_symbol_be(nest *t, const char *name, wick_dim d, int64_t hi);
/* An upper bound of d in sizes: each symbol is replaced by its maximum. r may be NULL. */
wick_dim nest_bound(nest *t, const nest_run *r, wick_dim d);
int64_t nest_high(const nest *t, wick_dim d); /* the end of its range */
wick_value nest_i64(nest *t, int64_t i);
wick_value nest_widen(nest *t, wick_value v, uint32_t lanes);  /* broadcast where it has one lane */
wick_value nest_repeat(nest *t, wick_value v, uint32_t lanes); /* v's lanes repeated */
wick_value nest_binary(nest *t, wick_opcode op, wick_value x, wick_value y);
/* The value of an expression of open loops; a vector where it uses the run's lane. r may be NULL.
 */
wick_value nest_dim(nest *t, const nest_run *r, wick_dim d);
wick_value nest_mask(nest *t, const nest_run *r); /* the active lanes; 0 where all are */

/* ---- blocks that are transposed (nest_turn.c) ---- */
/* If the lanes of `read`, a read of a tensor in memory, are strided, but contiguous along the run's
 * turning loop: returns the vector of the current iteration, and makes those of all iterations
 * available. Otherwise returns 0. `otherwise`: the value of lanes outside the tensor; 0: there are
 * no such lanes. */
wick_value nest_turned(nest *t, const nest_run *r, const wick_node *read, wick_value otherwise);

/* ---- lanes in a known pattern (nest_pattern.c) ---- */
/* If the lanes of a read of a tensor in memory are at constant distances from each other, but not
 * evenly spaced, and a few short vectors hold all of them: returns the vector. Otherwise returns 0.
 * `otherwise`: the value of elements outside the tensor, one for all lanes; 0: there are none. */
wick_value nest_pattern(nest *t, const nest_run *r, const nest_place *p, const wick_type_info *type,
                        const wick_dim *index, wick_value otherwise);

/* ---- guarded reads (nest_guard.c) ---- */
/* Returns the condition that all indices are in the tensor, or in the zeros around it if `halo` has
 * these; 0 if this is always true. Indices that are WICK_DIM_ANY count as inside. *never is set if
 * it never is. nearest: the indices, clamped to the tensor. */
wick_value nest_inside(nest *t, const nest_run *r, const wick_type_info *type,
                       const wick_halo *halo, const wick_dim *index, wick_dim *nearest,
                       bool *never);
/* Returns true if a guarded load may be replaced by a load of the nearest element inside, whose
 * value is then not used. This is for symbolic sizes, if all lanes are inside or all outside. */
bool nest_is_near(const nest *t, const nest_run *r, const wick_type_info *type,
                  const wick_dim *nearest);
/* Replaces the indices that all lanes share by the nearest ones in the tensor, and returns the
 * condition on the others (those of `guarded` that are not WICK_DIM_ANY): a vector is then loaded from memory
 * that exists, even if no lane is inside, and without a mask if all lanes are. A load under a mask without
 * lanes is legal anywhere, but from memory that is not mapped it takes some processors a hundred times as long;
 * and on AMD Zen 5 convolutions whose loads have masks take up to five times as long, whatever the masks are. Leaves
 * everything as it is if the lanes share all indices, or if the tensor may be empty. */
wick_value nest_clamp_shared(nest *t, const nest_run *r, const wick_type_info *type,
                             const wick_halo *halo, const wick_dim *guarded, wick_dim *index,
                             const wick_dim *nearest, wick_value inside);

/* ---- bodies (nest_body.c) ---- */
/* The linear index of an element, split into the coefficient of the vector's lane, a constant and
 * the rest. Returns false if it cannot be split. */
typedef struct nest_address {
  wick_dim rest;
  int64_t offset, step; /* step: elements from lane to lane */
} nest_address;
bool nest_address_of(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                     const wick_dim *index, nest_address *out);
/* Lanes that are `a->step` elements apart (wick_nest_is_strided). mask 0: all lanes (nest_strided.c). */
wick_value nest_strided(nest *t, const nest_run *r, const nest_place *p, const nest_address *a,
                        wick_elem e, wick_value mask);
/* `want`: the type of a number, or of a vector of contiguous elements; mask 0: all lanes. */
wick_value nest_load_at(nest *t, const nest_place *p, wick_value index, int64_t offset,
                        wick_type want, wick_value mask);
/* Emits prefetches after a load of a parameter, for the next iterations of loops that ask for them;
 * each cache line is fetched once (nest_fetch.c). */
void nest_fetch(nest *t, const nest_run *r, const nest_place *p, const nest_address *a,
                wick_elem e);
/* Loads elements of memory at indices in which the run's axes have been substituted. `any`: values
 * for indices that are WICK_DIM_ANY. mask 0: all lanes. */
wick_value nest_load(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                     const wick_dim *index, wick_elem e, wick_value mask);
wick_value nest_place_any(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                          const wick_dim *index, const wick_value *any,
                          int64_t *step); /* the linear index */
wick_value nest_load_any(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                         const wick_dim *index, const wick_value *any, wick_elem e,
                         wick_value mask);
void nest_store(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                const wick_dim *index, wick_value v);
/* One node of a body; val: per value of the group. */
wick_value nest_body_node(nest *t, const nest_run *r, const wick_node *n, const wick_value *val);
/* Evaluates region `region` of the run's stage at the run's indices; param: its parameters; out:
 * the values that it yields. */
void nest_eval(nest *t, const nest_run *r, uint32_t region, const wick_value *param,
               wick_value *out);
/* The value of a read of the run's stage at the run's indices; its operands are constants. */
wick_value nest_eval_read(nest *t, const nest_run *r, const wick_node *read);
/* Stores the results of the run's stage at its indices: all elements of all results. */
void nest_sink(nest *t, const nest_run *r, const wick_value *v);
/* The number of dimensions of result k of a stage that are its own, before those of the axes, and
 * the number of elements in them. */
uint32_t nest_own(const nest *t, const wick_node *stage, uint32_t k, uint32_t *out_numel);

/* Evaluates the nodes of a region whose value depends on axes in the set `some` (`depends`), or
 * those that do not. of[]: the axes of each value; NULL: all nodes. val: per value of the group. */
void nest_eval_part(nest *t, const nest_run *r, const wick_region *region, const uint64_t *of,
                    uint64_t some, bool depends, wick_value *val);

/* ---- loops (nest_loop.c) ---- */
typedef struct nest_saved {
  wick_dim base, total;
} nest_saved;
/* Narrows the run to `total` of loop l's axis from `at` on; both count elements. */
nest_saved nest_narrow(nest *t, nest_run *r, const wick_sloop *l, wick_dim at, wick_dim total);
void nest_restore(nest_run *r, const wick_sloop *l, nest_saved s);

/* The content of a loop, and the values that its iterations carry. */
typedef void nest_content(nest *t, nest_run *r, uint32_t l, void *arg);
typedef struct nest_inner {
  nest_content *body;
  void *arg;
  uint32_t n;
  wick_value *state;
} nest_inner;
/* All steps of a serial loop: whole ones, then the remainder. */
void nest_steps(nest *t, nest_run *r, uint32_t l, const nest_inner *in);
/* One step of it. */
void nest_once(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim total, const nest_inner *in);
/* Opens `for 0 .. count` with carried values; *first is the first carried value inside. */
wick_dim nest_for_begin(nest *t, const wick_sloop *l, wick_dim count, uint32_t ncarried,
                        const wick_value *carried, wick_value *first);
wick_value nest_for_end(nest *t, uint32_t n, const wick_value *carried);
/* The least number of elements that straight-line code inside loop l processes at once: a
 * vector. */
int64_t nest_unit(const nest_run *r, uint32_t l);
/* Where the remainder of `total` after `whole` steps of `size` begins, if there is one. */
wick_dim nest_behind(nest *t, wick_dim total, wick_dim whole, int64_t size);
/* The remainder of loop l after its whole steps: `rest` elements from `at` on. */
void nest_rest(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim rest, const nest_inner *in);
/* Code under a condition. After it, the values are the ones that it computed, or the old ones. */
typedef struct nest_when {
  uint32_t n, mark;
  wick_value *old;
} nest_when;
nest_when nest_when_begin(nest *t, wick_value condition, uint32_t n, const wick_value *state);
void nest_when_end(nest *t, const nest_when *w, wick_value *state);

/* The largest number of iterations of a loop that is straight-line code. */
uint32_t nest_iterations(nest *t, const nest_run *r, const wick_sloop *l);
/* Elements of iteration i of them; may be 0 or negative if the extent is symbolic. */
wick_dim nest_share(nest *t, const nest_run *r, const wick_sloop *l, uint32_t i);
/* The constant extent that is left of an axis; fails if it is not constant. */
bool nest_const(nest *t, const nest_run *r, uint32_t axis, int64_t *out);
/* Makes the loop the run's vector; returns false if that fails. */
bool nest_vector_begin(nest *t, nest_run *r, const wick_sloop *loop, nest_saved *saved);
void nest_vector_end(nest_run *r, const wick_sloop *loop, nest_saved s);

/* ---- steps that are moved back (nest_overlap.c) ---- */
/* All steps of a serial loop over a symbolic extent. */
void nest_overlap(nest *t, nest_run *r, uint32_t l, const nest_inner *in);
/* The number of whole steps; the remainder after them; one step at `at`, or moved back so that it
 * ends where the extent does. */
wick_dim nest_overlap_whole(nest *t, const nest_run *r, uint32_t l);
void nest_overlap_rest(nest *t, nest_run *r, uint32_t l, const nest_inner *in);
void nest_overlap_step(nest *t, nest_run *r, uint32_t l, wick_dim at, int64_t size,
                       const nest_inner *in);

/* ---- maps and stages (nest.c) ---- */
void nest_loops(nest *t, nest_run *r, uint32_t l); /* loop l of the run, and all inside it */
nest_run nest_run_of(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent);
/* Emits the stages that are computed in that loop. fresh: the condition under which they are
 * computed, else the values already in memory are used; 0: always. */
void nest_attached(nest *t, const nest_run *r, uint32_t loop, wick_value fresh);
/* Scratch for n elements, an expression of the sizes, until the loop around it ends. */
wick_value nest_scratch_alloc(nest *t, wick_elem e, wick_dim n);
/* The largest value of an extent, for which its scratch is reserved: a number if that is small or
 * does not depend on sizes, else an expression of the sizes. */
wick_dim nest_scratch_extent(nest *t, wick_dim extent);

/* ---- folds in registers (nest_fold.c) ---- */
/* Loads component c of the state at the run's indices, or stores v there, if it is a value. */
typedef wick_value nest_state_access(nest *t, const nest_run *r, uint32_t c, wick_value v);
/* Steps the states of a tile, the loops from l0 on, whose states are in memory. spans: the steps begin
 * with states of their own, which are then merged with those in memory. */
void nest_fold_step(nest *t, nest_run *r, uint32_t l0, bool spans, nest_state_access *access);
void nest_fold(nest *t, nest_run *r, uint32_t l0);

/* ---- the boxes that consumers read (nest_box.c) ---- */
typedef struct nest_box {
  wick_dim lo[WICK_MAX_RANK], extent[WICK_MAX_RANK];
  bool any;
} nest_box;
/* The box of all reads of a value in the run's stage, also through stages that are inlined into it
 * or computed inside its loops. */
void nest_boxes(nest *t, const nest_run *r, wick_value value, nest_box *box);
/* A run-time condition: all guarded reads of the stages that are computed in that loop, in
 * registers, are in bounds. 0: there are no such reads. `stages`: marks these stages. */
wick_value nest_within(nest *t, const nest_run *r, uint32_t loop, bool *stages);
/* A run-time condition, of a map with one guarded read, for the code inside a loop: some dimensions
 * of the read are in bounds. 0: there is none. *same: inside the loop, these dimensions do not
 * change. */
wick_value nest_rows_within(nest *t, const nest_run *r, struct nest_sure *sure, bool *same);
/* Own dimensions are always computed whole. */
void nest_box_own(nest *t, const wick_node *stage, nest_box *box);

/* ---- folds with states in memory (nest_kept.c) ---- */
bool nest_is_kept(const wick_stage *st);
void nest_kept_fold(nest *t, nest_run *r, uint32_t l0);
/* Emits loop l of such a fold; false if it is an ordinary loop. */
bool nest_kept_loop(nest *t, nest_run *r, uint32_t l);
bool nest_kept_steps(const nest_run *r); /* stages inside its loops are to be emitted now */

/* ---- walks (nest_loop_nest.c) ---- */
void nest_walk(nest *t, const nest_run *r); /* at the run's indices */

/* ---- dot products (nest_dot.c) ---- */
/* The state of a fold after all iterations of loop l, a dot product. */
wick_value nest_dot(nest *t, const nest_run *r, const wick_sloop *l, wick_value state);

#endif
