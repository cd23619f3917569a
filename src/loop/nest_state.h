/* What the files of the nest share: loops that are open, values that are known, and the emission of
 * a stage. */
#ifndef WICK_LOOP_NEST_STATE_H
#define WICK_LOOP_NEST_STATE_H

#include "ir/build.h"
#include "loop/nest.h"

enum { NEST_KEY = 24, NEST_BUCKETS = 4096, NEST_PLACE = 64 };

/* A value that is known at this point of the code, by what it computes: so equal loads and index
 * sums are one. */
typedef struct nest_known {
  uint64_t key[NEST_KEY];
  uint32_t nkey, next, bucket;
  wick_value value;
} nest_known;

/* Where the elements of a stage's result, or of a parameter, are found. */
typedef struct nest_place {
  bool in_memory;
  wick_value buffer;
  const wick_halo *halo;          /* zeros around it; NULL: none */
  bool frozen;                    /* never written by this kernel: loads may be shared */
  wick_dim lo[WICK_MAX_RANK];     /* index of the element that lies at the buffer's beginning */
  wick_dim stride[WICK_MAX_RANK]; /* elements */
  uint32_t stage;                 /* of a stage's result */
  uint32_t nth;                   /* which of its results */
  uint32_t vdim; /* of a tile in registers: the dimension that its vectors run along */
} nest_place;

/* A stage being emitted, or read in line: what its axes are, as expressions of open loops. */
typedef struct nest_run {
  uint32_t stage;
  const wick_stage *st;
  const wick_node *node;
  wick_dim *base;  /* per axis: the index now */
  wick_dim *total; /* per axis: how many are left from there on, in the loops still to come */
  wick_dim *lo;    /* per axis: the box' beginning */
  wick_dim vsym;   /* the vector's lane: a symbol; INVALID without a vector */
  uint32_t lanes;  /* of the vector; 1 without */
  wick_dim active; /* lanes in use; fewer than lanes: masked */
  uint32_t vaxis;
  /* The unrolled loop along which parameters are turned: its axis, iteration now, and iterations;
   * turns 0: none. */
  uint32_t taxis, turn, turns;
  struct nest_kept *kept; /* of a fold whose states lie in memory, while its loops are built */
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
    bool prefetch;  /* what is read of parameters is wanted for its next value, too */
    uint32_t level; /* of two, the one whose loop is further out has the smaller; 0: no loop */
    /* Of symbols further out: it is at most that (INVALID: its range says all), or that exactly. */
    wick_dim most;
    bool exact;
  }) symbols; /* sizes of the group, then open loops and what they leave, outermost first */
  wick_list(nest_known) known;
  uint32_t bucket[NEST_BUCKETS];  /* index into known + 1 */
  wick_value task, begin;         /* of this iteration; the first of the call */
  wick_dim scratch, scratch_peak; /* units of NEST_PLACE bytes; expressions of the sizes */
  uint32_t nsymbol;               /* made so far, for names */
  uint32_t again; /* what is inside runs several times in one task, for parts of it */
  bool *within;   /* per stage: here its reads are known to lie inside */
} nest;

enum { NEST_INNER = 1 << 20 }; /* levels of loops that are code: inside all that are tasks */

void nest_fail(nest *t, const char *fmt, ...) WICK_PRINTF(2, 3);

/* ---- values (nest_value.c) ---- */
nest_known *nest_find(nest *t, const uint64_t *key, uint32_t nkey);
wick_value nest_remember(nest *t, const uint64_t *key, uint32_t nkey, wick_value v);
uint32_t nest_known_mark(const nest *t);
void nest_known_rewind(nest *t, uint32_t mark);

wick_dim nest_symbol_open(nest *t, const char *name, int64_t hi); /* a fresh symbol 0 .. hi */
/* One for an index of a loop of n iterations. Of one at most it is 0: divisions of a symbol that
 * can be nothing else are decided by its range, and leave it in the rest. */
wick_dim nest_index_open(nest *t, const char *name, wick_dim n);
/* A fresh symbol for what `d` is now: it has a narrow range, 0 .. hi, where that of d does not
 * show. The caller takes it back. */
wick_dim nest_symbol_be(nest *t, const char *name, wick_dim d, int64_t hi);
/* An upper bound of d, in sizes: for each symbol what it is at most. r may be NULL. */
wick_dim nest_bound(nest *t, const nest_run *r, wick_dim d);
int64_t nest_high(const nest *t, wick_dim d); /* the end of its range */
wick_value nest_i64(nest *t, int64_t i);
wick_value nest_widen(nest *t, wick_value v, uint32_t lanes);  /* broadcast where it has one lane */
wick_value nest_repeat(nest *t, wick_value v, uint32_t lanes); /* v's lanes again and again */
wick_value nest_binary(nest *t, wick_opcode op, wick_value x, wick_value y);
/* The value of an expression of open loops; a vector where it uses the run's lane. r may be NULL.
 */
wick_value nest_dim(nest *t, const nest_run *r, wick_dim d);
wick_value nest_mask(nest *t, const nest_run *r); /* the active lanes; 0 where all are */

/* ---- blocks that are turned (nest_turn.c) ---- */
/* Where `read` of a tensor in memory gives lanes that lie apart, but next to each other along the
 * run's turning loop: the vector of the present iteration, with which those of all iterations are
 * known. 0 where that is not so. `otherwise`: what lanes outside the tensor hold; 0: there are
 * none.
 */
wick_value nest_turned(nest *t, const nest_run *r, const wick_node *read, wick_value otherwise);

/* ---- bodies (nest_body.c) ---- */
/* The linear index of indices in a place, split into the vector's coefficient, a constant and the
 * rest; false where it is none. */
typedef struct nest_address {
  wick_dim rest;
  int64_t offset, step; /* step: elements from lane to lane */
} nest_address;
bool nest_address_of(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                     const wick_dim *index, nest_address *out);
/* `want`: a number or a vector of neighbours; mask 0: all of it. */
wick_value nest_load_at(nest *t, const nest_place *p, wick_value index, int64_t offset,
                        wick_type want, wick_value mask);
/* Behind what has just been loaded of a parameter: what the next iterations of loops that want so
 * will load, each line once (nest_fetch.c). */
void nest_fetch(nest *t, const nest_run *r, const nest_place *p, const nest_address *a,
                wick_elem e);
/* Elements of memory at indices that the run's axes have been put into; `any`: run-time ones, where
 * the index is WICK_DIM_ANY. mask 0: all lanes. */
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
/* Evaluates region `region` of the run's stage at the run's indices: params in, what it yields out.
 */
void nest_eval(nest *t, const nest_run *r, uint32_t region, const wick_value *param,
               wick_value *out);
/* What a read of the run's stage gives at the run's indices; its operands are constants. */
wick_value nest_eval_read(nest *t, const nest_run *r, const wick_node *read);
/* Writes what the run's stage gives at its indices: all elements of all results. */
void nest_sink(nest *t, const nest_run *r, const wick_value *v);
/* How many dimensions of result k of a stage are its own, before those of the axes, and how many
 * elements they have. */
uint32_t nest_own(const nest *t, const wick_node *stage, uint32_t k, uint32_t *out_numel);

/* Evaluates the nodes of a region whose value depends on axes in the set `some`, or else the
 * others; of[]: the axes of each value; NULL: all nodes. val: per value of the group. */
void nest_eval_part(nest *t, const nest_run *r, const wick_region *region, const uint64_t *of,
                    uint64_t some, bool depends, wick_value *val);

/* ---- loops (nest_loop.c) ---- */
typedef struct nest_saved {
  wick_dim base, total;
} nest_saved;
/* Narrows the run to `total` of loop l's axis from `at` on; both count elements. */
nest_saved nest_narrow(nest *t, nest_run *r, const wick_sloop *l, wick_dim at, wick_dim total);
void nest_restore(nest_run *r, const wick_sloop *l, nest_saved s);

/* What is inside a loop, and the values that its iterations hand on. */
typedef void nest_content(nest *t, nest_run *r, uint32_t l, void *arg);
typedef struct nest_inner {
  nest_content *body;
  void *arg;
  uint32_t n;
  wick_value *state;
} nest_inner;
/* All steps of a serial loop: whole ones, then what is left. */
void nest_steps(nest *t, nest_run *r, uint32_t l, const nest_inner *in);
/* One step of it. */
void nest_once(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim total, const nest_inner *in);
/* Opens `for 0 .. count` with carried values; *first is the first carried value inside. */
wick_dim nest_for_begin(nest *t, const wick_sloop *l, wick_dim count, uint32_t ncarried,
                        const wick_value *carried, wick_value *first);
wick_value nest_for_end(nest *t, uint32_t n, const wick_value *carried);
/* Elements that straight-line code inside loop l takes at once at least: those of a vector. */
int64_t nest_unit(const nest_run *r, uint32_t l);
/* Where what `whole` steps of `size` leave of `total` begins, if they leave something. */
wick_dim nest_behind(nest *t, wick_dim total, wick_dim whole, int64_t size);
/* What is left of loop l behind its whole steps: `rest` elements from `at` on. */
void nest_rest(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim rest, const nest_inner *in);
/* Code that runs under a condition: behind it the values are what it made of them, or the same. */
typedef struct nest_when {
  uint32_t n, mark;
  wick_value *old;
} nest_when;
nest_when nest_when_begin(nest *t, wick_value condition, uint32_t n, const wick_value *state);
void nest_when_end(nest *t, const nest_when *w, wick_value *state);

/* Iterations of a loop that is straight-line code: as many as there can be. */
uint32_t nest_iterations(nest *t, const nest_run *r, const wick_sloop *l);
/* Elements that iteration i of them has: none or less where the extent is symbolic. */
wick_dim nest_share(nest *t, const nest_run *r, const wick_sloop *l, uint32_t i);
/* The constant extent that is left of an axis; fails where there is none. */
bool nest_const(nest *t, const nest_run *r, uint32_t axis, int64_t *out);
/* Makes loop l the run's vector; false where it fails. */
bool nest_vector_begin(nest *t, nest_run *r, const wick_sloop *loop, nest_saved *saved);
void nest_vector_end(nest_run *r, const wick_sloop *loop, nest_saved s);

/* ---- steps that are moved back (nest_overlap.c) ---- */
/* All steps of a serial loop over a symbolic extent. */
void nest_overlap(nest *t, nest_run *r, uint32_t l, const nest_inner *in);
/* How many whole steps there are; what is left behind them; one step at `at`, or so far back that
 * it ends where the extent does. */
wick_dim nest_overlap_whole(nest *t, const nest_run *r, uint32_t l);
void nest_overlap_rest(nest *t, nest_run *r, uint32_t l, const nest_inner *in);
void nest_overlap_step(nest *t, nest_run *r, uint32_t l, wick_dim at, int64_t size,
                       const nest_inner *in);

/* ---- maps and stages (nest.c) ---- */
void nest_loops(nest *t, nest_run *r, uint32_t l); /* loop l of the run, and all inside it */
nest_run nest_run_of(nest *t, uint32_t stage, const wick_dim *lo, const wick_dim *extent);
/* The stages that are computed in that loop. fresh: they are computed under this condition, else
 * what is in memory already is taken; 0: always. */
void nest_attached(nest *t, const nest_run *r, uint32_t loop, wick_value fresh);
/* Scratch for n elements, an expression of the sizes, until the loop around it ends. */
wick_value nest_scratch_room(nest *t, wick_elem e, wick_dim n);
/* The most that an extent can be where its scratch is reserved: a number where that is small, or
 * follows from no sizes; else an expression of these. */
wick_dim nest_scratch_extent(nest *t, wick_dim extent);

/* ---- folds in registers (nest_fold.c) ---- */
void nest_fold(nest *t, nest_run *r, uint32_t l0);

/* ---- what a consumer reads (nest_box.c) ---- */
typedef struct nest_box {
  wick_dim lo[WICK_MAX_RANK], extent[WICK_MAX_RANK];
  bool any;
} nest_box;
/* All reads of a value in the run's stage, and through the stages that it reads in line, or that
 * are computed inside its loops. */
void nest_boxes(nest *t, const nest_run *r, wick_value value, nest_box *box);
/* Whether all guarded reads of the stages that are computed in that loop, in registers, lie inside:
 * a condition made at run time; 0: there is none that may. `stages`: marks them. */
wick_value nest_within(nest *t, const nest_run *r, uint32_t loop, bool *stages);
/* Own dimensions are always computed whole. */
void nest_box_own(nest *t, const wick_node *stage, nest_box *box);

/* ---- folds whose states lie in memory (nest_kept.c) ---- */
bool nest_is_kept(const wick_stage *st);
void nest_kept_fold(nest *t, nest_run *r, uint32_t l0);
/* Loop l of such a fold; false where it is like that of any stage. */
bool nest_kept_loop(nest *t, nest_run *r, uint32_t l);
bool nest_kept_steps(const nest_run *r); /* stages inside its loops are wanted now */

/* ---- walks (nest_walk.c) ---- */
void nest_walk(nest *t, const nest_run *r); /* at the run's indices */

/* ---- dot products (nest_dot.c) ---- */
/* The state of a fold behind all iterations of loop l, a dot product. */
wick_value nest_dot(nest *t, const nest_run *r, const wick_sloop *l, wick_value state);

#endif
