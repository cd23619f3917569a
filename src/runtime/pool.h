/* The thread pool: workers that share the tasks of kernels, one kernel after the other.
 *
 *   wick_pool_run run = wick_pool_begin(pool);        // wakes the workers
 *   wick_pool_launch(&run, kernel, arguments, ntask); // returns when all tasks are done
 *   wick_pool_launch(&run, next, ...);                // sees the results of the first launch
 *   wick_pool_end(&run);
 *
 * The calling thread is worker 0. Workers wait for the next launch of a run actively: first they
 * spin, then they yield. After 2 ms without work, or 0.1 ms after the run's end, they sleep. Any
 * number of threads may have runs on one pool at the same time. The first run gets the workers.
 * Another run finds them occupied and does its tasks alone, as worker 0. (It does not wait: the
 * cores are busy anyway, and a run inside of a task of another run cannot block.) Therefore the
 * results of a task must not depend on the number of workers or on the worker that runs it.
 *
 * After a fork the child's first run starts new workers. If that fails, the child's runs use only
 * their own thread. Workers block all signals and have the default floating-point environment
 * (round to nearest even, keep denormals); worker 0 has the caller's environment. */
#ifndef WICK_RUNTIME_POOL_H
#define WICK_RUNTIME_POOL_H

#include "base/base.h"
#include "base/status.h"
#include "wick/wick.h"

typedef struct wick_pool wick_pool;

typedef struct wick_pool_options {
  uint32_t nworker;         /* including the caller; 0: one for each CPU that the process may use */
  bool pin;                 /* worker i stays on the i-th of the process's CPUs; worker 0 moves */
  wick_allocator allocator; /* all zero: malloc and free */
} wick_pool_options;

/* Runs the tasks begin to end - 1. `worker` is less than wick_pool_size. Concurrent calls of one
 * run have different workers, so that `worker` may index scratch memory of the run. */
typedef void wick_pool_fn(void *ctx, uint32_t worker, int64_t begin, int64_t end);

/* Starts nworker - 1 threads; a pool of one worker has no thread and no lock. Nothing is allocated
 * afterwards (except for the threads of a child after a fork). `options` may be NULL; the error is
 * allocated in `mem`. Fails with WICK_ERANGE for more than 4096 workers, with WICK_ENOMEM, and with
 * WICK_EIO if the system refuses a thread. */
WICK_CHECKED wick_status wick_pool_create(const wick_pool_options *options, wick_arena *mem,
                                          wick_pool **out_pool);
void wick_pool_free(wick_pool *pool); /* after all its runs have ended; NULL is legal */

/* Returns the number of workers that a run may have, 1 for NULL. */
uint32_t wick_pool_size(const wick_pool *pool);

/* Returns the number of CPUs that the process may use (its affinity mask), at least 1. */
uint32_t wick_pool_cpus(void);

/* A run belongs to the thread that began it. */
typedef struct wick_pool_run {
  wick_pool *pool; /* NULL: only the calling thread */
} wick_pool_run;

wick_pool_run wick_pool_begin(wick_pool *pool); /* NULL: only the calling thread */
void wick_pool_end(wick_pool_run *run);

/* Calls fn on contiguous parts of [0, ntask) whose sizes differ by at most one. Parts are in the
 * order of the workers; a worker has at most one part, and no part is empty. A single part runs on
 * the calling thread. Does nothing if ntask <= 0. A task must not call it on its own run. */
void wick_pool_launch(const wick_pool_run *run, wick_pool_fn *fn, void *ctx, int64_t ntask);

#endif
