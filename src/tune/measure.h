/* Times schedules of groups on this machine: each is compiled by itself and run on one thread, on
 * buffers as the network has them.
 *
 * They run in turns, short slices of each, and what is told apart is their ratio to the first one
 * within a turn: that another program has half of the machine for a while changes both. */
#ifndef WICK_TUNE_MEASURE_H
#define WICK_TUNE_MEASURE_H

#include "base/process.h"
#include "driver/pipeline.h"
#include "tune/operands.h"
#include "tune/tune.h"

typedef struct wick_measure_use { /* of a group in a low function */
  uint32_t noperand;
  const wick_type *type;
  const wick_operand_kind *kind;
} wick_measure_use;

typedef struct wick_measured {
  const wick_func *group;
  const wick_measure_use *use;
  const char *steps; /* without the halos, which belong to the buffers */
} wick_measured;

typedef struct wick_measure {
  wick_module *module;
  const wick_target *target;
  wick_operands operands;
  wick_pipeline pipeline;       /* of the loop passes, while something is measured */
  wick_arena *tmp;              /* its guard is asked between two turns whether to end */
  wick_process_control control; /* of the code generator */
} wick_measure;

/* The groups that a low function runs, each once, and how. `alone`: the function is no network's;
 * its parameters but the first are what networks hold constant. */
void wick_measure_groups(const wick_func *low, bool alone, wick_arena *mem,
                         wick_tune_group **out_group, wick_measure_use **out_use, uint32_t *out_n);

/* Seconds and noise as wick_tune_bench has them. Takes the module's loop functions away. */
WICK_CHECKED wick_status wick_measure_run(wick_measure *m, uint32_t n, const wick_measured *of,
                                          double *out_seconds, double *out_noise);

#endif
