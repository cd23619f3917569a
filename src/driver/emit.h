/* Any level of any model, to look at: what the compiler has made of it by then. */
#ifndef WICK_DRIVER_EMIT_H
#define WICK_DRIVER_EMIT_H

#include "base/reader.h"
#include "driver/model.h"

/* Levels, in the order in which a model goes through them:
 *   graph    tensors, after all passes on them
 *   kernels  stages of each kernel, with its schedule and its contract
 *   low      kernels on buffers of the planned arena
 *   loop     loop functions, as the code generator takes them
 *   llvm, asm, obj   what it makes of these: LLVM's text, assembly, one relocatable object */
extern const char *const wick_emit_levels[]; /* ends with NULL */

/* Text, but for obj; weights are named, and not printed.
 *   kernel   of the kernel of this name alone (as `wick bench` prints it); NULL: the whole
 *   out      lives in `mem`
 * Fails as wick_compile does; WICK_EINVAL for a level or a kernel that does not exist. */
wick_error *wick_emit(wick_model *model, const wick_compile_options *options, const char *level,
                      const char *kernel, wick_arena *mem, wick_span *out);

#endif
