/* Mutation fuzzing without a library: a driver for programs that read bytes which nobody vouches
 * for.
 *
 *   fuzz_NAME [SECONDS [SEED [FILE...]]]     mutates the files (by default those of ../shared) for
 * that long fuzz_NAME --at ITERATION SEED [FILE...]  runs one iteration again, in this process, and
 * keeps its input
 *
 * Build it with -fsanitize=address,undefined. The work is done in a child process; when that dies,
 * or stays on one input for 20 s, the parent says which iteration it was, writes the input to
 * finding-SEED-ITERATION and exits with 1. Every iteration depends on the seed, its number and the
 * files alone. */
#ifndef WICK_TESTS_FUZZ_FUZZ_H
#define WICK_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef struct wick_fuzz {
  const char *name;
  const char *const *pattern; /* of seed files, as glob() takes them; ends with NULL */
  size_t most;                /* bytes of a seed; larger files are left out */
  /* Takes the input to its end; any status is fine. Aborts on what must not be. */
  void (*run)(const uint8_t *bytes, size_t nbytes);
} wick_fuzz;

int wick_fuzz_main(const wick_fuzz *f, int argc, char **argv);

#endif
