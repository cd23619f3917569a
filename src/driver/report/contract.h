/* The numerical contract of a program: the contracts of its kernels, the rewrites that changed
 * rounding, and a summary. Artifacts and bundles contain the same text. */
#ifndef WICK_DRIVER_REPORT_CONTRACT_H
#define WICK_DRIVER_REPORT_CONTRACT_H

#include "driver/pipeline.h"
#include "lower/lower.h"

/* Returns a line for the program, then one for each kernel (loop/contract.h), without a newline at
 * the end:
 *
 *   x86-64-v4: 4 kernels accumulate in order, 1 in parts; rounding: block; approximate: exp 1.1 ulp
 *   main.conv.0.loop: conv: f32 fma over ic:1 r:3 s:3; exact */
const char *wick_contract_text(const wick_lowered *l, const wick_pipeline *p, wick_arena *mem);

#endif
