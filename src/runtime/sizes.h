/* Sizes of runs, for programs whose sizes vary: what follows from those of the inputs, and where
 * each buffer lies in the arena. Found once for each size, then kept. */
#ifndef WICK_RUNTIME_SIZES_H
#define WICK_RUNTIME_SIZES_H

#include "runtime/load.h"
#include "runtime/program.h"

typedef struct wick_sized {
  const int64_t *table;                /* program->sizes.nslot of them */
  const int64_t *places;               /* of the program's buffers, in units of 64 bytes */
  uint64_t arena_bytes, scratch_bytes; /* scratch: for each worker */
  const wick_io *io;                   /* inputs, then outputs; no size is open */
} wick_sized;

typedef struct wick_sizing wick_sizing;

/* `image` and `program` outlive it. Fails: WICK_ENOMEM, WICK_EPARSE where the code lacks the
 * function. `mem` is for errors. */
WICK_CHECKED wick_status wick_sizing_make(const wick_image *image, const wick_program *program,
                                          wick_allocator a, wick_arena *mem, wick_sizing **out);
void wick_sizing_drop(wick_sizing *s); /* NULL is legal */

/* Memory that the upper ends of all ranges want. False: none is known, for these sizes do not fit
 * each other, or this machine. */
bool wick_sizing_most(wick_sizing *s, uint64_t *arena_bytes, uint64_t *scratch_bytes);

/* The values of the program's symbols for these shapes of inputs, by input; rank UINT32_MAX: it is
 * not given, and has what follows from the others. WICK_ETYPE for shapes that do not fit the
 * program or each other, or that leave a size open; WICK_ERANGE for a size outside of its range. */
WICK_CHECKED wick_status wick_sizing_symbols(const wick_program *p, const wick_shape *shape,
                                             wick_arena *mem, int64_t *out);

/* The sizes for these values of the symbols: as kept, or found now. They live until WICK_SIZES_KEPT
 * others have been met since they were asked for; an error until the next call. WICK_ERANGE where a
 * size is too large for this machine, WICK_ETYPE where two that must be equal are not, WICK_ENOMEM.
 */
enum { WICK_SIZES_KEPT = 1024 };
WICK_CHECKED wick_status wick_sizing_find(wick_sizing *s, const int64_t *symbol,
                                          const wick_sized **out);

#endif
