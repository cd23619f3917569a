/* A kernel that may fail runs alone: it starts after the kernel before it has ended, and the next
 * one starts after it has ended. The error of a run is therefore the error of the first kernel that
 * fails.
 *
 * Needs: verified entries, after expand_math, which shows which kernels may fail. Exact. Leaves
 * alone: functions without launches. */
#ifndef WICK_LOOP_SERIALIZE_FAULTS_H
#define WICK_LOOP_SERIALIZE_FAULTS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_serialize_faults(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
