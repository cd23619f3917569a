/* Runs a graph on files by the operators' definitions, for `wick check --outputs`. */
#ifndef WICK_TOOLS_CHECK_EVALUATE_H
#define WICK_TOOLS_CHECK_EVALUATE_H

#include "base/file.h"
#include "ir/ir.h"

#include "args.h"
#include "tensor_io.h"

/* The tensors of the files `inputs`. Maps are refused. */
WICK_CHECKED wick_status wick_check_arrays(const wick_words *inputs, const char *path,
                                           wick_files *files, wick_arena *mem, wick_arena *tmp,
                                           wick_arrays *out);
/* Evaluates `f` on one tensor for each of its parameters, and writes `folder`/output_K.npy. */
WICK_CHECKED wick_status wick_check_evaluate(const wick_func *f, const wick_arrays *array,
                                             const char *folder, wick_arena *mem, wick_arena *tmp);

#endif
