/* Helpers for the references of tensor operators: access to the elements of concrete tensors.
 *
 * A reference is slow and obvious, and independent of `compute`. Floats are accumulated in double,
 * integers in 64 bits that wrap. The result is rounded to its type once, at the end. Powers that
 * are steps of an operator have the range that they have there (wick_ref_range). Operators that
 * only move elements copy their bits. */
#ifndef WICK_OPS_REF_H
#define WICK_OPS_REF_H

#include "ir/element.h"

uint64_t wick_ref_numel(const wick_tensor *t);
/* Computes the distance in elements from one index to the next along each dimension. */
void wick_ref_strides(const wick_tensor *t, int64_t *out_stride);
/* Advances to the next index in row-major order. Returns false after the last one; all indices are
 * then 0 again. */
bool wick_ref_next(uint32_t rank, const int64_t *dim, int64_t *index);
/* Returns the product of the dimensions begin .. end-1. */
int64_t wick_ref_product(const wick_tensor *t, uint32_t begin, uint32_t end);

/* Reads n elements from position `at` on as numbers. */
void wick_ref_read(const wick_tensor *t, uint64_t at, uint64_t n, wick_scalar *out);
wick_scalar *wick_ref_load(wick_arena *mem, const wick_tensor *t); /* reads all elements */
/* Writes n elements. Floats are rounded to the tensor's type, integers wrap. */
void wick_ref_write(const wick_tensor *t, uint64_t at, uint64_t n, const wick_scalar *v);

/* Limits x to the range of e's arithmetic (f32 for f16 and bf16), but keeps all of its digits.
 * Numbers above the range become infinite; numbers below the normal range become multiples of the
 * least number. */
double wick_ref_range(wick_elem e, double x);

/* Copies one element's bits. Both tensors have the same element type. */
void wick_ref_move(const wick_tensor *to, uint64_t at, const wick_tensor *from, uint64_t from_at);

/* acc[i] += a * x[i * step] for i < n; integers wrap. */
static inline void wick_ref_axpy(bool is_float, uint64_t n, wick_scalar *restrict acc,
                                 wick_scalar a, const wick_scalar *restrict x, int64_t step)
{
  if (is_float && step == 1)
    for (uint64_t i = 0; i < n; i++) acc[i].f += a.f * x[i].f;
  else if (is_float)
    for (uint64_t i = 0; i < n; i++) acc[i].f += a.f * x[(int64_t)i * step].f;
  else
    for (uint64_t i = 0; i < n; i++)
      acc[i].i = (int64_t)((uint64_t)acc[i].i + (uint64_t)a.i * (uint64_t)x[(int64_t)i * step].i);
}

WICK_CHECKED wick_status wick_ref_fail(const wick_ref *c, wick_code code, const char *fmt, ...)
    WICK_PRINTF(3, 4);

#endif
