/* What runs have done where the program decides: a table of counts for each session, which the
 * entry writes (runtime/program.h), and what all of them come to.
 *
 * Nothing is shared while a program runs. A table stays as long as the program; a session that ends
 * leaves it, with its counts, to the next one. So whoever asks adds up all tables, while they are
 * written or not, and no lock is held when a process forks. */
#ifndef WICK_RUNTIME_FLOW_COUNTERS_H
#define WICK_RUNTIME_FLOW_COUNTERS_H

#include "runtime/program.h"

typedef struct wick_flows wick_flows;

/* `program` outlives it. NULL where there is no memory. */
wick_flows *wick_flows_begin(const wick_program *program, wick_allocator a);
void wick_flows_free(wick_flows *f); /* NULL is legal */

/* A table for one session, on cache lines of its own; NULL where there is no memory. */
int64_t *wick_flows_take(wick_flows *f);
void wick_flows_give(wick_flows *f, const int64_t *counts); /* NULL is legal */

/* A table that has counted nothing. */
void wick_flows_clear(const wick_program *program, int64_t *counts);

wick_flow wick_flows_sum(const wick_flows *f, uint32_t i);

#endif
