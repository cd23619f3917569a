/* Reports a model's memory plan, for the host or another target, without generating code. */
#ifndef WICK_DRIVER_REPORT_PLAN_REPORT_H
#define WICK_DRIVER_REPORT_PLAN_REPORT_H

#include "driver/model.h"

typedef struct wick_plan_report { /* bytes */
  uint64_t arena;                 /* of the plan, without inputs, outputs and constants */
  uint64_t bound;          /* a lower bound of all plans with this order of instructions, without
                              alignment */
  uint64_t importer_bound; /* the same for the grouped graph in the importer's order */
  uint64_t padding;        /* bytes that alignment adds to the bound */
  uint64_t scratch;        /* of each worker */
  uint64_t constants;
  uint32_t nbuffer, nkernel, nlaunch;
} wick_plan_report;

/* `options` are those of wick_compile; its function `stage` is called. */
wick_error *wick_plan_report_make(wick_model *model, const wick_compile_options *options,
                                  wick_plan_report *out);

#endif
