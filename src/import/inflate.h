/* Decompression of deflated bytes by zlib, with the arena as its memory, so that unwinding loses
 * nothing. */
#ifndef WICK_IMPORT_INFLATE_H
#define WICK_IMPORT_INFLATE_H

#include "base/reader.h"

/* What the compressed parts of a file of nbytes may decompress to in all. Weights rarely shrink to a
 * half; a bomb has a ratio of a thousand. */
static inline uint64_t wick_inflate_most(size_t nbytes)
{
  return ((uint64_t)64 << 20) + 64 * (uint64_t)nbytes;
}

/* Decompresses `in` to at most `most` bytes and sets *out_n to their number. `framed`: in zlib's
 * frame, else bare. Returns false if the bytes are damaged, or if they have more than `most`. */
WICK_CHECKED bool wick_inflate(wick_span in, bool framed, unsigned char *to, size_t most,
                               wick_arena *tmp, size_t *out_n);

#endif
