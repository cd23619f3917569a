/* The library's side of the code generator: starts wick-codegen, sends it text and receives
 * objects.
 *
 * The program is $WICK_CODEGEN if that is set. Otherwise it is searched in the folder of the
 * library or of the running command, one folder up (in a build folder), and in libexec/wick of the
 * installation. */
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

/* Returns the program's path, or NULL if it is not found. */
const char *wick_codegen_find(wick_arena *mem);

/* The work of one process. */
typedef struct wick_codegen_job {
  const char *text; /* of a module */
  size_t ntext;
  wick_codegen_options options;
  wick_span object; /* out; lives in `mem` */
  double seconds;   /* out: of the process */
} wick_codegen_job;

/* Runs all jobs, several at once. Fails with all of their errors: those that the program reports;
 * WICK_ELIMIT at a limit; WICK_EINTERNAL if a process crashed, with the signal and the end of its
 * error output; WICK_EIO if the program is not found. */
WICK_CHECKED wick_status wick_codegen(const wick_target *t, uint32_t njob, wick_codegen_job *job,
                                      const wick_codegen_limits *limits, wick_arena *mem);

/* Compiles the loop functions of a module in parts of about the same work, one object per part. The
 * number of parts depends only on the functions, so that the same module always gives the same
 * objects. With `options->direct` there is one part. */
WICK_CHECKED wick_status wick_codegen_module(const wick_module *m, const wick_target *t,
                                             const wick_codegen_options *options,
                                             const wick_codegen_limits *limits, wick_arena *mem,
                                             wick_span **out_object, uint32_t *out_n);

#endif
