/* Specializes a function of any level for some sizes: numbers replace symbols.
 *
 * Types, dimensions in attributes, shape constraints, known contents and the ranges of stages'
 * axes are replaced, too. Nodes and schedules stay the same, so that the order of every sum is
 * the same: the specialized function gives the bits of the original. The contract is left out,
 * because its text has extents.
 *
 * A branch may require that two sizes are equal which these numbers make different. Entering it
 * is then always an error, and below the graph level, where regions yield no values, its region
 * becomes empty. */
#ifndef WICK_IR_SPECIALIZE_DIMS_H
#define WICK_IR_SPECIALIZE_DIMS_H

#include "ir/build.h"

typedef struct wick_dim_values {
  uint32_t n;
  const wick_dim *sym, *by; /* sym[i] becomes by[i] */
} wick_dim_values;

/* Callees must be specialized, and in the module, before their callers; the kernels of a low
 * function may be specialized later, since a branch that disappears may have been the only one to
 * launch them.
 * Fails if inference refuses the sizes: they violate constraints of f, or a size is negative. */
WICK_CHECKED wick_status wick_func_specialize_dims(const wick_func *f, const wick_dim_values *pins,
                                                   wick_arena *mem, wick_func **out);

#endif
