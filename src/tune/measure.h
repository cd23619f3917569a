/* Times schedules of groups on this machine. Each schedule is compiled by itself and runs on one
 * thread, on buffers like those of the network.
 *
 * Schedules run in turns, in short slices. Each is compared with the first one of the same turn, so
 * that other load on the machine changes both times and not their ratio. */
#ifndef WICK_TUNE_MEASURE_H
#define WICK_TUNE_MEASURE_H

#include "base/process.h"
#include "driver/pipeline.h"
#include "tune/operands.h"
#include "tune/tune.h"

typedef struct wick_measure_use { /* the operands of a group in a low function */
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
  wick_arena *tmp;              /* its guard may stop the work between two turns */
  wick_process_control control; /* of the code generator */
} wick_measure;

/* Lists the groups that a low function runs, each once, with their operands. `alone`: the function
 * is not from a network; all its parameters but the first are treated as constants. */
void wick_measure_groups(const wick_func *low, bool alone, wick_arena *mem,
                         wick_tune_group **out_group, wick_measure_use **out_use, uint32_t *out_n);

/* Times n schedules; seconds and noise are those of wick_tune_bench. Removes the module's loop
 * functions. */
WICK_CHECKED wick_status wick_measure_run(wick_measure *m, uint32_t n, const wick_measured *of,
                                          double *out_seconds, double *out_noise);

#endif
