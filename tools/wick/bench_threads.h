/* Measures how kernels scale with threads, compared with a bound: for two threads half of one
 * thread's time, or the time in which the weights are read from memory. */
#ifndef WICK_TOOLS_BENCH_THREADS_H
#define WICK_TOOLS_BENCH_THREADS_H

#include "invocation.h"

typedef struct wick_bench_threads {
  wick_invocation *invocation; /* compiled, with the number of threads of --threads */
  const void *const *inputs;
  void *const *outputs;
  double seconds;   /* of timed runs */
  uint32_t kernels; /* lines of the table */
  double memory;    /* bytes a second, read by all threads together */
  /* the object of --json, which gets the member "scaling" instead of a table; else NULL */
  json_t *report;
  /* more bytes of weights and buffers than this come from memory in each run */
  uint64_t cache_bytes;
} wick_bench_threads;

/* Runs with one thread and with all of them in turn, and prints the table. Its last line:
 *   threads 2: one 2.400 ms, bound 1.234 ms, time 1.300 ms, bound / time 0.949 */
WICK_CHECKED wick_status wick_bench_threads_run(const wick_bench_threads *b);

#endif
