/* Measures how kernels scale with threads. The bound of a kernel is one thread's time divided by
 * the number of threads, or the time to read the weights from memory if that is longer. */
#ifndef WICK_TOOLS_BENCH_THREADS_H
#define WICK_TOOLS_BENCH_THREADS_H

#include "invocation.h"

typedef struct wick_bench_threads {
  wick_invocation *invocation; /* compiled, with the number of threads of --threads */
  const void *const *inputs;
  void *const *outputs;
  double seconds;   /* how long to measure */
  uint32_t kernels; /* the number of kernels in the table */
  double memory;    /* bytes per second that all threads together read from memory */
  /* the object of --json, which gets the member "scaling" instead of a table; else NULL */
  json_t *report;
  /* If weights and buffers together have more bytes than this, each run reads the weights from
   * memory, otherwise from the caches. */
  uint64_t cache_bytes;
} wick_bench_threads;

/* Runs with one thread and with all of them in turn, and prints the table. Its last line:
 *   threads 2: one 2.400 ms, bound 1.234 ms, time 1.300 ms, bound / time 0.949 */
WICK_CHECKED wick_status wick_bench_threads_run(const wick_bench_threads *b);

#endif
