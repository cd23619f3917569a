/* Times schedules of groups on this machine: each is compiled by itself and run on one thread, on
 * buffers as the network has them, in the caches as far as they fit. */
#ifndef WICK_TUNE_MEASURE_H
#define WICK_TUNE_MEASURE_H

#include "tune/tune.h"

typedef struct wick_measure_use { /* of a group in the low function */
  uint32_t noperand;
  const wick_type *type;
} wick_measure_use;

typedef struct wick_measure {
  wick_module *module;
  const wick_target *target;
  const wick_tune_group *group;
  const wick_measure_use *use;
  wick_arena *tmp;
} wick_measure;

/* The groups that a planned low function runs, each once, and how. Takes the module's loop
 * functions away. */
void wick_measure_groups(const wick_func *low, wick_arena *mem, wick_tune_group **out_group,
                         wick_measure_use **out_use, uint32_t *out_n);

/* As wick_tune_bench has it, of group `index`. */
WICK_CHECKED wick_status wick_measure_run(const wick_measure *m, uint32_t index, uint32_t n,
                                          const char *const *steps, double *out_seconds,
                                          double *out_noise);

#endif
