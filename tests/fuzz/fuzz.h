/* Mutation fuzzing without a library: a driver for programs that read untrusted bytes.
 *
 *   fuzz_NAME [SECONDS [SEED [FILE...]]]
 *       mutates the files (by default those of ../shared) for that long
 *   fuzz_NAME --at ITERATION SEED [FILE...]
 *       runs one iteration again, in this process, and keeps its input
 *
 * Build it with -fsanitize=address,undefined. A child process does the work. If it dies, or works
 * on one input for 20 s, the parent prints the iteration, writes the input to
 * finding-SEED-ITERATION and exits with 1. An iteration depends only on the seed, its number and
 * the files. */
#ifndef WICK_TESTS_FUZZ_FUZZ_H
#define WICK_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef struct wick_fuzz {
  const char *name;
  const char *const *pattern; /* patterns of seed files for glob(); ends with NULL */
  size_t most;                /* bytes of a seed; larger files are ignored */
  /* Processes the input; any status is fine. Aborts if a property is violated. */
  void (*run)(const uint8_t *bytes, size_t nbytes);
} wick_fuzz;

int wick_fuzz_main(const wick_fuzz *f, int argc, char **argv);

#endif
