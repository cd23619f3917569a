/* The table of processors: what the speed of code depends on. A target says which code is legal;
 * its processor says which legal code is fast, and is never needed for a correct result.
 *
 * "host" is the entry that the makers' numbers name, or an entry with the same instructions, or a
 * measured one (driver/calibrate.h). Every choice of a schedule or of a layout that depends on a
 * machine reads it here, through the functions below. */
#ifndef WICK_TARGET_PROCESSOR_H
#define WICK_TARGET_PROCESSOR_H

#include "base/cpu.h"
#include "base/status.h"
#include "base/str.h"

enum { WICK_PROCESSOR_NAME = 32, WICK_LINE = 64 /* bytes that a model's cache line has */ };

typedef struct wick_processor {
  char name[WICK_PROCESSOR_NAME]; /* "icelake" */
  wick_machine machine;
  const char *doc;
  const char *model; /* LLVM's name of its model of the pipeline; NULL: there is none */

  uint64_t cache_bytes[3]; /* data caches of levels 1 to 3, as one core sees them; 0: none */
  /* Cycles after which a kernel has the next line of a streaming read, from the second cache, the
   * third cache, and memory, beyond those that its arithmetic hides. */
  double line[3];

  double products, products_bytes; /* multiply-add pipes, and the width of each */
  double latency;                  /* cycles of a multiply-add */
  double loads, loads_bytes;       /* loads that begin in a cycle, and the width of each */
  double ghz;                      /* with vectors of full width, for estimates of times */
  /* Rows in different pages that are read as fast as one, a few lines of each in turn. Processors that fetch
   * lines ahead keep track of so many. */
  double streams;
} wick_processor;

const char *wick_machine_name(wick_machine m); /* "x86-64" */

const wick_processor *wick_processor_row(uint32_t i); /* NULL after the last */
const wick_processor *wick_processor_find(const char *name);

/* Returns the entry of this machine's processor, or `typical` if the table has none, in `mem`. The
 * sizes of its caches are those that the system reports. */
const wick_processor *wick_processor_host(const wick_processor *typical, wick_processor *mem);
/* Returns whether the table has an entry for this machine's processor. */
bool wick_processor_is_known(void);

/* Reads and prints the text form: a line for each number, as `wick calibrate` writes it. Reading
 * fails with the line if something is missing, unknown or out of range. */
WICK_CHECKED wick_status wick_processor_read(const char *where, const char *text, size_t nbytes,
                                             wick_arena *mem, wick_processor *out);
void wick_processor_print(const wick_processor *p, wick_text *out);

#endif
