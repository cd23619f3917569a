/* The library's side of the code generator: starts wick-codegen, gives it text, takes objects.
 *
 * The program is found as $WICK_CODEGEN; else beside the library or the command that runs, one
 * folder up (where things were built), or in libexec/wick of the installation. */
#ifndef WICK_CODEGEN_CLIENT_H
#define WICK_CODEGEN_CLIENT_H

#include "base/process.h"
#include "base/reader.h"
#include "codegen/options.h"
#include "ir/ir.h"
#include "target/target.h"

typedef struct wick_codegen_limits {
  const char *program;   /* NULL: as above */
  uint64_t memory_bytes; /* of each process; 0: 8 GiB */
  double seconds;        /* of each process; 0: 300 */
  wick_process_control control;
} wick_codegen_limits;

/* The program's path, or NULL where it is not found. */
const char *wick_codegen_find(wick_arena *mem);

/* One process's work. */
typedef struct wick_codegen_job {
  const char *text; /* of a module */
  size_t ntext;
  wick_codegen_options options;
  wick_span object; /* out; lives in `mem` */
  double seconds;   /* out: of the process */
} wick_codegen_job;

/* All jobs, several at once. Fails with all of their errors: what the program says of the text;
 * WICK_ELIMIT at a limit; WICK_EINTERNAL where a process crashed, with the signal and the end of
 * what it wrote; WICK_EIO where the program is not found. */
WICK_CHECKED wick_status wick_codegen(const wick_target *t, uint32_t njob, wick_codegen_job *job,
                                      const wick_codegen_limits *limits, wick_arena *mem);

/* The loop functions of a module, in parts of about the same work, an object for each. How many
 * there are depends on the functions alone, so that the same module always gives the same objects.
 * With `options->direct` there is one part. */
WICK_CHECKED wick_status wick_codegen_module(const wick_module *m, const wick_target *t,
                                             const wick_codegen_options *options,
                                             const wick_codegen_limits *limits, wick_arena *mem,
                                             wick_span **out_object, uint32_t *out_n);

#endif
