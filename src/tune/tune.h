/* The search for faster schedules of a network's groups, within a time.
 *
 * Candidates are the templates' schedules under other knobs. A regression on features of schedule
 * and shape learns from every measurement what the cost model leaves out, and says which candidates
 * are worth one; some are drawn blindly. Groups that take more of the network's time get more
 * tries. A choice is replaced only beyond the noise that was measured with it, twice.
 *
 * Whoever measures is the caller's: the command does on this machine, a test replays a log. */
#ifndef WICK_TUNE_TUNE_H
#define WICK_TUNE_TUNE_H

#include "loop/tuning_records.h"
#include "target/target.h"

typedef struct wick_tune_group {
  wick_func *group; /* formed: its schedule is the first choice; steps of halos come last */
  uint32_t launches;
} wick_tune_group;

/* The group's schedule without the halos, which belong to its buffers. */
const char *wick_tune_steps(const wick_func *group, wick_arena *mem);

typedef struct wick_tune_bench {
  /* Seconds of each schedule, side by side, and how uncertain their ratios to the first one are, as
   * a part of 1. A negative time: that one does not compile. A failure: none does; WICK_ECANCELED
   * ends the search. */
  wick_status (*measure)(void *arg, uint32_t group, uint32_t n, const char *const *steps,
                         double *out_seconds, double *out_noise);
  /* The same of options of a choice. */
  wick_status (*compare)(void *arg, const wick_choice *c, uint32_t n, const uint32_t *option,
                         double *out_seconds, double *out_noise);
  double (*now)(void *arg);                             /* seconds */
  wick_status (*progress)(void *arg, const char *line); /* something was found, or failed */
  void *arg;
} wick_tune_bench;

typedef struct wick_tune_report {
  uint32_t nchoice, nchosen;       /* between ways to compute the same; not as the model has it */
  uint32_t ngroup, nfound, ntrial; /* groups with something to try; other schedules; measurements */
  uint32_t nrefused;               /* schedules that were chosen to be measured, but not compiled */
  double before, after; /* seconds of all launches, with the first schedules and the best */
  double gain;          /* geometric mean over groups of best / first schedule */
} wick_tune_report;

/* Measures what has been noted in records->choices, each with all of its options, until `seconds`
 * have passed. Adds to the report. */
WICK_CHECKED wick_status wick_tune_choices(double seconds, const wick_tune_bench *bench,
                                           wick_tuning_records *records, wick_arena *tmp,
                                           wick_tune_report *report);

/* Until `seconds` have passed (0: not at all; else one turn at least) or nothing is left to try;
 * what `records` holds is where it begins. Adds to the report. */
WICK_CHECKED wick_status wick_tune(const wick_tune_group *group, uint32_t ngroup,
                                   const wick_target *t, double seconds,
                                   const wick_tune_bench *bench, wick_tuning_records *records,
                                   wick_arena *mem, wick_arena *tmp, wick_tune_report *report);

#endif
