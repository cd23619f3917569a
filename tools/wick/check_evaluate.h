/* Runs a graph on files by the operators' definitions, for `wick check --outputs`. */
#ifndef WICK_TOOLS_CHECK_EVALUATE_H
#define WICK_TOOLS_CHECK_EVALUATE_H

#include "base/file.h"
#include "driver/pipeline.h"
#include "ops/evaluate.h"

#include "args.h"
#include "tensor_io.h"

/* The tensors of the files `inputs`. Maps are refused. */
WICK_CHECKED wick_status wick_check_arrays(const wick_words *inputs, const char *path,
                                           wick_files *files, wick_arena *mem, wick_arena *tmp,
                                           wick_arrays *out);
/* Evaluates `f` on one tensor for each of its parameters, and writes `folder`/output_K.npy.
 * `unlimited`: however long it takes. */
WICK_CHECKED wick_status wick_check_evaluate(const wick_func *f, const wick_arrays *array,
                                             const char *path, bool unlimited, const char *folder,
                                             wick_arena *mem, wick_arena *tmp);

/* Replaces *f by a function without transformations, which no definition has, and the functions that it
 * calls. `p`, which is zeroed, then owns them. */
WICK_CHECKED wick_status wick_check_expand(wick_pipeline *p, const wick_func **f, wick_arena *tmp);

/* Evaluates `f`, which has no transformations, by the operators' definitions. Says on stderr how long that
 * takes, if it takes long.
 * Fails with WICK_ELIMIT if it takes more than WICK_EVALUATION_SECONDS by estimate, unless it is
 * `unlimited`. `print` gets the lines that a program prints; NULL: nobody does. The rest is as for
 * wick_evaluate. */
enum { WICK_EVALUATION_LONG = 10, WICK_EVALUATION_SECONDS = 600 };
WICK_CHECKED wick_status wick_check_run(const char *command, const char *path, bool unlimited,
                                        const wick_func *f, uint32_t n, const wick_tensor *in,
                                        void (*print)(void *arg, const char *line), wick_arena *mem,
                                        wick_arena *tmp, wick_arena *scratch, wick_tensor *out);
#define WICK_UNLIMITED_FLAG(out)                                                                   \
  {                                                                                                \
    "no-limit", 0, WICK_FLAG_BOOL, out, NULL,                                                      \
        "evaluates the operators' definitions even if that takes more than ten minutes"            \
  }

#endif
