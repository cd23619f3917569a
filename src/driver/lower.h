/* From a planned low function to loop functions: a kernel for each launch, and the entry that
 * launches them.
 *
 *   loop @main.entry(@inout arena: u8[...], @in constants: u8[...], io buffers in the order of the
 *   low function) */
#ifndef WICK_DRIVER_LOWER_H
#define WICK_DRIVER_LOWER_H

#include "ir/ir.h"
#include "target/target.h"

typedef struct wick_lowered_kernel {
  const char *name;
  const wick_func *group;
  wick_loc loc;
  int64_t tasks;
  bool scratch, fault; /* its hidden slots (codegen/abi.h) */
  uint64_t scratch_bytes, flops, bytes;
} wick_lowered_kernel;

typedef struct wick_lowered_constant {
  uint32_t constant;
  uint64_t offset; /* bytes, a multiple of 64 */
} wick_lowered_constant;

typedef struct wick_lowered {
  const char *entry;
  uint64_t arena_bytes, constant_bytes;
  uint64_t scratch_bytes;                     /* of each worker */
  wick_list(wick_lowered_kernel) kernels;     /* in the order of their first launch */
  wick_list(wick_lowered_constant) constants; /* where they lie in the entry's constants */
} wick_lowered;

/* `low` has its memory planned. The loop functions are added to the module and live in `mem`. */
WICK_CHECKED wick_status wick_lower(const wick_func *low, const wick_target *t, wick_arena *mem,
                                    wick_arena *tmp, wick_lowered *out);

#endif
