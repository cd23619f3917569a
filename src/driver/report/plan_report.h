/* What a model's memory plan comes to, compiled for the host or a target, without making code. */
#ifndef WICK_DRIVER_REPORT_PLAN_REPORT_H
#define WICK_DRIVER_REPORT_PLAN_REPORT_H

#include "driver/model.h"

typedef struct wick_plan_report { /* bytes */
  uint64_t arena;                 /* of the plan; inputs, outputs and constants lie elsewhere */
  uint64_t bound;          /* no plan of its order of instructions is smaller, but for alignment */
  uint64_t importer_bound; /* the same for the grouped graph as the importer ordered it */
  uint64_t padding;        /* what alignment adds to the bound */
  uint64_t scratch;        /* of each worker */
  uint64_t constants;
  uint32_t nbuffer, nkernel, nlaunch;
} wick_plan_report;

/* `options` as for wick_compile; stages are reported to it. */
wick_error *wick_plan_report_make(wick_model *model, const wick_compile_options *options,
                                  wick_plan_report *out);

#endif
