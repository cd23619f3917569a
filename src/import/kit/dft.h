/* The discrete Fourier transform, of planes of real numbers. */
#ifndef WICK_IMPORT_KIT_DFT_H
#define WICK_IMPORT_KIT_DFT_H

#include "import/kit/emit.h"

/* The most elements of a transform: its tables have several numbers for each. */
enum { WICK_DFT_LARGEST = 1 << 22 };

/* Transforms x [planes, lines, numbers] along its last axis, which is truncated or zero-padded to n.
 * The planes are the real and imaginary parts, or the real part alone. Returns [2, n, lines], not
 * divided by n. Constants get names near `name`. Fails with WICK_ERANGE if n is outside
 * [1, WICK_DFT_LARGEST]. */
wick_value wick_dft(wick_builder *b, wick_arena *tmp, const char *name, wick_value x, int64_t n,
                    bool inverse);
/* Truncates or zero-pads the last axis, whose size is known. */
wick_value wick_dft_fit(wick_builder *b, wick_value x, int64_t size);

#endif
