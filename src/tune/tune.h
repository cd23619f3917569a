/* Searches for faster schedules of a network's groups, within a time limit. Begin with wick_tune.
 *
 * Candidates are schedules of the templates with other parameters. A regression on features of
 * schedule and shape learns from every measurement where the cost model is wrong, and chooses the
 * candidates to measure next; some are chosen at random. Groups that take more of the network's
 * time get more tries. A schedule replaces the best one only if two measurements show a gain beyond
 * their noise.
 *
 * The caller provides the measurements: the command measures on this machine, a test replays a
 * log. */
#ifndef WICK_TUNE_TUNE_H
#define WICK_TUNE_TUNE_H

#include "loop/tuning_records.h"
#include "target/target.h"

typedef struct wick_tune_group {
  wick_func *group; /* formed: its schedule is the first candidate; steps of halos come last */
  uint32_t launches;
} wick_tune_group;

/* Returns the group's schedule without the halos, which belong to its buffers. */
const char *wick_tune_steps(const wick_func *group, wick_arena *mem);

typedef struct wick_tune_bench {
  /* Measures n schedules in turns: the seconds of each, and the relative uncertainty of its ratio
   * to the first one. A negative time: the schedule does not compile. Fails if none compiles;
   * WICK_ECANCELED ends the search. */
  wick_status (*measure)(void *arg, uint32_t group, uint32_t n, const char *const *steps,
                         double *out_seconds, double *out_noise);
  /* The same for options of a choice. */
  wick_status (*compare)(void *arg, const wick_choice *c, uint32_t n, const uint32_t *option,
                         double *out_seconds, double *out_noise);
  double (*now)(void *arg);                             /* seconds */
  wick_status (*progress)(void *arg, const char *line); /* reports a result or a failure */
  void *arg;
} wick_tune_bench;

typedef struct wick_tune_report {
  uint32_t nchoice, nchosen;       /* choices between implementations; those that differ from the
                                      model's */
  uint32_t ngroup, nfound, ntrial; /* groups with candidates; new schedules; measurements */
  uint32_t nrefused;               /* candidates that did not compile */
  double before, after; /* seconds of all launches, with the first schedules and the best */
  double gain;          /* geometric mean over groups of best / first schedule */
} wick_tune_report;

/* Measures each choice in records->choices with all of its options, until `seconds` have passed.
 * Adds to the report. */
WICK_CHECKED wick_status wick_tune_choices(double seconds, const wick_tune_bench *bench,
                                           wick_tuning_records *records, wick_arena *tmp,
                                           wick_tune_report *report);

/* Searches until `seconds` have passed (0: does nothing; else at least one turn) or all candidates
 * are tried. Begins with the schedules in `records` and adds new ones. Adds to the report. */
WICK_CHECKED wick_status wick_tune(const wick_tune_group *group, uint32_t ngroup,
                                   const wick_target *t, double seconds,
                                   const wick_tune_bench *bench, wick_tuning_records *records,
                                   wick_arena *mem, wick_arena *tmp, wick_tune_report *report);

#endif
