/* Measures this machine's processor, for an entry of target/processor.h: how long a cycle is, how
 * many multiply-adds and loads begin in it, and after how many cycles lines arrive from each level
 * of memory. */
#ifndef WICK_DRIVER_REPORT_CALIBRATE_H
#define WICK_DRIVER_REPORT_CALIBRATE_H

#include "base/status.h"
#include "target/target.h"

/* Measures for about a second on one thread, with code for `t`, which must run here. The result's
 * name is "measured". Fails if code cannot be generated. Other work on the machine makes the
 * numbers worse; each is the best of many tries. */
WICK_CHECKED wick_status wick_calibrate(const wick_target *t, wick_guard *guard, wick_arena *mem,
                                        wick_processor *out);

#endif
