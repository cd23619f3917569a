/* Complex numbers of formats: pairs of tensors. */
#ifndef WICK_IMPORT_KIT_COMPLEX_H
#define WICK_IMPORT_KIT_COMPLEX_H

#include "import/kit/import.h"

/* Complex numbers are two tensors: real and imaginary parts. The imaginary one is 0 for real numbers. */
typedef struct wick_complex {
  wick_value re, im;
} wick_complex;
/* Transforms the last axis, which is fitted to `size`. The inverse is not divided by it. */
wick_complex wick_complex_dft(wick_import_node *n, wick_complex x, int64_t size, bool inverse);
/* The transform of real numbers: its first size / 2 + 1 elements; and the inverse, divided by size. */
wick_complex wick_complex_rfft(wick_import_node *n, wick_value x, int64_t size);
wick_value wick_complex_irfft(wick_import_node *n, wick_complex x, int64_t size);

#endif
