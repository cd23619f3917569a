/* The most multiply-adds that this machine does: a kernel that does nothing else, generated like
 * all others, is the measure of how good those are. */
#ifndef WICK_DRIVER_REPORT_CEILING_H
#define WICK_DRIVER_REPORT_CEILING_H

#include "base/status.h"
#include "target/target.h"

/* Floating-point operations a second in f32, on `threads` threads at once (0: as many as the
 * process may use CPUs), a multiply-add counting as two: the best of several tries, about 0.1 s in
 * all. Fails where code for `t` cannot be made, or does not run here. */
WICK_CHECKED wick_status wick_ceiling(const wick_target *t, uint32_t threads, wick_guard *guard,
                                      wick_arena *mem, double *out_flops);

/* Bytes a second that `threads` threads read from memory together: the best of several tries. */
WICK_CHECKED wick_status wick_ceiling_bytes(uint32_t threads, wick_arena *mem, double *out_bytes);

#endif
