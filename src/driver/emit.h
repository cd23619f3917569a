/* Shows a model at any level of the compiler. */
#ifndef WICK_DRIVER_EMIT_H
#define WICK_DRIVER_EMIT_H

#include "base/reader.h"
#include "driver/model.h"

/* The levels, in the order of compilation:
 *   graph    tensors, after all graph passes
 *   kernels  stages of each kernel, with its schedule and its contract
 *   low      kernels on buffers of the planned arena
 *   loop     loop functions, the input of the code generator
 *   llvm, asm, obj   the output of the code generator: LLVM IR, assembly, one relocatable object */
extern const char *const wick_emit_levels[]; /* ends with NULL */

/* Compiles the model up to a level and returns that level as text (obj: as bytes). The text has the
 * names of weights, not their data.
 *   kernel   the name of the only kernel to show (as `wick bench` prints it); NULL: all
 *   out      lives in `mem`
 * Fails as wick_compile does, and with WICK_EINVAL for a level or a kernel that does not exist. */
wick_error *wick_emit(wick_model *model, const wick_compile_options *options, const char *level,
                      const char *kernel, wick_arena *mem, wick_span *out);

#endif
