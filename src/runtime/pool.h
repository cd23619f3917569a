/* The thread pool: workers that share the tasks of one kernel after the other.
 *
 *   wick_pool_run run = wick_pool_begin(pool);        // wakes the workers
 *   wick_pool_launch(&run, kernel, arguments, ntask); // returns when all tasks are done
 *   wick_pool_launch(&run, next, ...);                // sees what the one before has written
 *   wick_pool_end(&run);
 *
 * The calling thread is worker 0. Workers wait for the next launch of a run actively, at first in
 * the core, then by yielding; after 2 ms without work, or 0.1 ms after the run's end, they sleep.
 * Any number of threads may have runs on one pool at the same time: the first one gets the workers,
 * and another one, which finds them taken, does its tasks alone, as worker 0. (It does not wait:
 * cores are busy anyway, and a run inside of a task of another run cannot block.) So what a task
 * computes may not depend on the number of workers or on which of them it is.
 *
 * After a fork the child's first run starts the workers anew; where that fails, its runs are alone.
 * Workers block all signals, and have the default floating-point environment (to nearest even,
 * denormals kept); the environment of worker 0 is the caller's. */
#ifndef WICK_RUNTIME_POOL_H
#define WICK_RUNTIME_POOL_H

#include "base/base.h"
#include "base/status.h"
#include "wick/wick.h"

typedef struct wick_pool wick_pool;

typedef struct wick_pool_options {
  uint32_t nworker;         /* with the caller; 0: as many as the process may use CPUs */
  bool pin;                 /* worker i stays on the i-th of the process's CPUs; the caller moves */
  wick_allocator allocator; /* all zero: malloc and free */
} wick_pool_options;

/* Tasks begin to end - 1. `worker` is below wick_pool_size, and no two calls at one time have the
 * same one in the same run, so that it may index scratch memory of the run. */
typedef void wick_pool_fn(void *ctx, uint32_t worker, int64_t begin, int64_t end);

/* Starts nworker - 1 threads; with one worker there is neither a thread nor a lock. Nothing is
 * allocated afterwards (but by a child after a fork, for its threads). `options` may be NULL; `mem`
 * is for the error. Fails: WICK_ERANGE for more than 4096 workers, WICK_ENOMEM, WICK_EIO where the
 * system refuses a thread. */
WICK_CHECKED wick_status wick_pool_create(const wick_pool_options *options, wick_arena *mem,
                                          wick_pool **out_pool);
void wick_pool_free(wick_pool *pool); /* no run is open; NULL is legal */

/* How many workers a run may have, 1 for NULL. */
uint32_t wick_pool_size(const wick_pool *pool);

/* How many CPUs the process may use (its affinity mask), at least 1. */
uint32_t wick_pool_cpus(void);

/* A run belongs to the thread that began it. */
typedef struct wick_pool_run {
  wick_pool *pool; /* NULL: alone */
} wick_pool_run;

wick_pool_run wick_pool_begin(wick_pool *pool); /* NULL: alone */
void wick_pool_end(wick_pool_run *run);

/* Calls fn on contiguous parts of [0, ntask) whose sizes differ by at most one, in rising order of
 * workers, at most one part a worker and none empty; with one part on the calling thread alone.
 * ntask <= 0 does nothing. Not to be called by a task on the run that it belongs to. */
void wick_pool_launch(const wick_pool_run *run, wick_pool_fn *fn, void *ctx, int64_t ntask);

#endif
