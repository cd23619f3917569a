/* Counters of control flow: how often each branch was taken and each loop was entered. Each session
 * has a table of its own, which the entry writes (runtime/program.h).
 *
 * Nothing is shared while a program runs. A table lives as long as the program; a session that ends
 * passes it, with its counts, to the next one. A reader sums all tables, also while they are written,
 * and no lock is held when a process forks. */
#ifndef WICK_RUNTIME_FLOW_COUNTERS_H
#define WICK_RUNTIME_FLOW_COUNTERS_H

#include "runtime/program.h"

typedef struct wick_flow_counters wick_flow_counters;

/* `program` outlives it. NULL if there is no memory. */
wick_flow_counters *wick_flow_counters_begin(const wick_program *program, wick_allocator a);
void wick_flow_counters_free(wick_flow_counters *f); /* NULL is legal */

/* A table for one session, on cache lines of its own; NULL if there is no memory. */
int64_t *wick_flow_counters_take(wick_flow_counters *f);
void wick_flow_counters_give(wick_flow_counters *f, const int64_t *counts); /* NULL is legal */

/* Sets all counts to their initial values. */
void wick_flow_counters_clear(const wick_program *program, int64_t *counts);

wick_flow wick_flow_counters_sum(const wick_flow_counters *f, uint32_t i);

#endif
