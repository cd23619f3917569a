/* Measures the machine's limits, with which kernels are compared: the rate of multiply-adds of a
 * generated kernel that does nothing else, and the rate of reading memory. */
#ifndef WICK_DRIVER_REPORT_CEILING_H
#define WICK_DRIVER_REPORT_CEILING_H

#include "base/status.h"
#include "target/target.h"

/* Measures floating-point operations a second in f32 on `threads` concurrent threads (0: one for
 * each CPU that the process may use). A multiply-add counts as two. Returns the best of several
 * tries, which take about 0.1 s in all. Fails if code for `t` cannot be generated or does not run
 * here. */
WICK_CHECKED wick_status wick_ceiling(const wick_target *t, uint32_t threads, wick_guard *guard,
                                      wick_arena *mem, double *out_flops);

typedef struct wick_ceiling_rates { /* vectors per second, of one thread */
  double products;                  /* independent multiply-adds */
  double dependent;                 /* multiply-adds each of which needs the one before */
  double loads;                     /* from the first cache */
} wick_ceiling_rates;
WICK_CHECKED wick_status wick_ceiling_pipes(const wick_target *t, wick_guard *guard,
                                            wick_arena *mem, wick_ceiling_rates *out);

/* Measures the seconds after which the next line of `nbytes` bytes arrives on one thread that reads
 * them in turns: the best of several tries. */
double wick_ceiling_line(uint64_t nbytes, wick_arena *mem);
/* The same if the bytes are in `rows` rows, of each of which four lines are read in turn. */
double wick_ceiling_rows(uint64_t nbytes, uint32_t rows, wick_arena *mem);

/* Measures the bytes a second that `threads` threads together read from memory: the best of several
 * tries. */
WICK_CHECKED wick_status wick_ceiling_bytes(uint32_t threads, wick_arena *mem, double *out_bytes);

#endif
