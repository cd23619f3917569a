/* The cost model: predicts the time of a kernel on a machine from its group's schedule. Templates
 * choose with it, `wick bench --roofline` prints it next to its measurements, and the tuner starts
 * from it.
 *
 * The unit is a cycle of the target's processor (target/processor.h). A program that does nothing but
 * multiply-adds (driver/report/ceiling.h) measures how long a cycle is. */
#ifndef WICK_GRAPH_GROUP_COST_H
#define WICK_GRAPH_GROUP_COST_H

#include "loop/schedule.h"
#include "target/target.h"

/* A tile of a sum of products in registers: each step loads `vectors` vectors and `positions`
 * shared values. */
typedef struct wick_cost_tile {
  int64_t vectors, positions, products; /* products: accumulators */
  uint64_t stream_bytes; /* bytes of vectors that the whole sum streams or reads again */
  /* Vectors of memory that the lanes of a vector come from, if these are elements apart; 0 or 1:
   * they are neighbours. */
  int64_t apart;
  double fresh; /* wick_cost_fresh; 0: 1 */
} wick_cost_tile;
/* Returns the vectors of memory that a step of a sum loads for each vector, where the steps before it have
 * not loaded them: less than 1 where steps move along a row by less than a vector, as those of a window
 * do. */
double wick_cost_fresh(const wick_func *g, const wick_stage *fold, const wick_node *read,
                       int64_t lanes, int64_t apart);
/* Cycles of one step. */
double wick_cost_step(const wick_target *t, const wick_cost_tile *tile);
/* Returns the cycles to load a vector that a run reads for the first time, from weights of `nbytes`
 * bytes. Other data has passed through the caches since the last run. */
double wick_cost_first(const wick_target *t, uint64_t nbytes);

/* What limits a kernel according to the model. */
typedef enum wick_cost_limit {
  WICK_COST_PRODUCTS, /* only multiply-adds, or other operations, limit the kernel */
  WICK_COST_LOADS,    /* loads of each product */
  WICK_COST_STREAM,   /* vectors come from a more distant cache */
  WICK_COST_LATENCY,  /* too few accumulators for the pipes */
  WICK_COST_TAILS,    /* tiles or vectors that are not full */
  WICK_COST_SCALAR    /* no template fits, so there are no vectors */
} wick_cost_limit;
const char *wick_cost_limit_text(wick_cost_limit limit);

typedef struct wick_cost {
  uint64_t flops; /* in the definition; a multiply-add counts as two */
  double cycles;  /* on one thread, with operands in the caches */
  double least;   /* cycles of the same stages if nothing limits them */
  wick_cost_limit limit;
  /* The tile of the largest sum, and its number of steps. 0 if there is no sum. */
  wick_cost_tile tile;
  int64_t steps;
} wick_cost;

/* Returns the cost of a schedule whose steps have been applied. Symbolic extents count as their
 * typical size. */
wick_cost wick_cost_of(const wick_schedule *s, const wick_target *t);

/* ---- times ---- */

/* An estimate for one worker of the target's processor, good enough to divide work. */
uint64_t wick_cost_nanoseconds(const wick_target *t, const wick_cost *c, uint64_t nbytes);

typedef struct wick_cost_machine { /* measured, for all threads together */
  double flops, bytes;             /* per second: multiply-adds from registers; a streaming read */
  uint32_t threads;
  uint64_t second_bytes; /* size of the second cache */
  uint64_t cache_bytes;  /* larger data comes from memory in each run; 0: all data does */
  uint64_t constants;    /* bytes of the model's constants, all of which are read in each run */
  uint32_t lanes;        /* elements in a vector */
  double products;       /* vectors of multiply-adds that begin in a cycle */
  double line[2];        /* cycles after which a line arrives from the second and the third cache */
} wick_cost_machine;

typedef struct wick_cost_facts { /* of a kernel, in one run */
  uint64_t flops, bytes, cycles, tasks;
  uint64_t constants; /* part of the bytes */
  const char *limit;
} wick_cost_facts;

/* The least seconds that the machine's limits allow, and the seconds that the model predicts. Data
 * comes from memory if the last cache cannot hold it between two uses: constants, if all constants
 * of the model exceed it, and all operands of a kernel, if these exceed it. */
double wick_cost_floor(const wick_cost_machine *m, const wick_cost_facts *f);
double wick_cost_seconds(const wick_cost_machine *m, const wick_cost_facts *f);
/* The reason for a kernel's time; "" if it is less than 1/0.7 of its floor. */
const char *wick_cost_reason(const wick_cost_machine *m, const wick_cost_facts *f, double seconds);

#endif
