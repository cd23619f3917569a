/* Runs several programs at once, with bytes as input and output and with time limits. Their
 * standard streams are files in memory: no process waits for another, and no signal is raised if
 * one ends early. */
#ifndef WICK_BASE_PROCESS_H
#define WICK_BASE_PROCESS_H

#include "base/file.h"
#include "base/status.h"

typedef struct wick_process {
  const char *program;     /* a path */
  const char *const *argv; /* ends with NULL */
  uint32_t ninput;
  const wick_bytes *input; /* parts, one after the other */
  double seconds;          /* 0: no limit */

  /* out: */
  bool timed_out;
  int exit_code;      /* -1: it ended by a signal, or other code has waited for it */
  int ended_by;       /* the signal, or 0 */
  double took;        /* seconds */
  wick_bytes output;  /* in `mem` */
  const char *errors; /* the end of its standard error, at most 4 KiB */
} wick_process;

typedef struct wick_process_control {
  uint32_t parallel; /* processes at one time; 0: the number of CPUs that this process may use */
  bool (*cancel)(void *arg); /* polled; true ends all processes with WICK_ECANCELED; NULL: never */
  void *arg;
} wick_process_control;

/* Returns when all processes have ended. A process that fails is no failure of this function.
 * Fails: WICK_EIO if a process cannot be started; WICK_ECANCELED. No process of this call is alive
 * afterwards, whatever happens. */
WICK_CHECKED wick_status wick_process_run(uint32_t n, wick_process *process,
                                          const wick_process_control *control, wick_arena *mem);

/* Call it in a process that wick_process_run has started: the process will end when its parent
 * ends, if the system supports that. */
void wick_process_end_with_parent(void);

#endif
