/* Computes the sizes of runs for programs with dynamic sizes: all sizes that follow from those of
 * the inputs, and the offset of each buffer in the arena. They are computed once and then kept. */
#ifndef WICK_RUNTIME_SIZES_H
#define WICK_RUNTIME_SIZES_H

#include "runtime/load.h"
#include "runtime/program.h"

typedef struct wick_sized {
  const int64_t *table;                /* program->sizes.nslot of them */
  const int64_t *offsets;              /* offsets of the program's buffers, in units of 64 bytes */
  uint64_t arena_bytes, scratch_bytes; /* scratch: for each worker */
  const wick_io *io;                   /* inputs, then outputs; no size is dynamic */
} wick_sized;

typedef struct wick_sizing wick_sizing;

/* `image` and `program` must outlive it. Fails with WICK_ENOMEM, and with WICK_EPARSE if the code
 * lacks the function that computes sizes. Errors are allocated in `mem`. */
WICK_CHECKED wick_status wick_sizing_make(const wick_image *image, const wick_program *program,
                                          wick_allocator a, wick_arena *mem, wick_sizing **out);
void wick_sizing_drop(wick_sizing *s); /* NULL is legal */

/* Computes the memory for the upper ends of all ranges. Returns false if it is unknown, because
 * these sizes do not fit each other or this machine. */
bool wick_sizing_most(wick_sizing *s, uint64_t *arena_bytes, uint64_t *scratch_bytes);

/* Computes the values of the program's symbols from the shapes of the inputs, one for each input.
 * Rank UINT32_MAX: the shape is not given and follows from the others. Fails with WICK_ETYPE for
 * shapes that do not fit the program or each other or do not determine a size, and with WICK_ERANGE
 * for a size outside of its range. */
WICK_CHECKED wick_status wick_sizing_symbols(const wick_program *p, const wick_shape *shape,
                                             wick_arena *mem, int64_t *out);

/* Returns the sizes for these values of the symbols, computing them if they are not kept. They live
 * until WICK_SIZES_KEPT others have been requested; an error lives until the next call. Fails with
 * WICK_ERANGE if a size is too large for this machine, with WICK_ETYPE if a shape constraint is
 * violated, and with WICK_ENOMEM. */
enum { WICK_SIZES_KEPT = 1024 };
WICK_CHECKED wick_status wick_sizing_find(wick_sizing *s, const int64_t *symbol,
                                          const wick_sized **out);

#endif
