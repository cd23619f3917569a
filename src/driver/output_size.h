/* Outputs whose size along an axis depends on data. Such an output has memory for the largest
 * possible size; another output NAME.size.AXIS, a scalar, has the size of the run. */
#ifndef WICK_DRIVER_OUTPUT_SIZE_H
#define WICK_DRIVER_OUTPUT_SIZE_H

#include "base/arena.h"
#include "wick/wick.h"

/* Does output `size` have the size of `output` along one of its axes? */
bool wick_output_size_is(const wick_io *size, const wick_io *output, uint32_t *out_axis);

/* The same, from names and a rank. */
bool wick_output_size_names(const char *size, const char *output, uint32_t rank,
                            uint32_t *out_axis);

/* The same for all of n outputs at once. */
typedef struct wick_output_sizes {
  uint32_t *of, *axis; /* by output: the output whose size it has (n: none), and the axis */
  uint32_t nsize;
  uint32_t *size; /* the outputs that give sizes, in order */
} wick_output_sizes;
/* Time O(n * nsize). */
wick_output_sizes wick_output_sizes_of(const char *const *name, const uint32_t *rank, uint32_t n,
                                       wick_arena *mem);

#endif
