/* Decompression through zlib. */
#include "import/inflate.h"

#include <limits.h>
#include <zlib.h>

static void *inflate_alloc(void *arena, unsigned n, unsigned size)
{
  return wick_arena_array(arena, n, size, 16);
}

static void inflate_free(void *arena, void *at) { (void)arena, (void)at; }

bool wick_inflate(wick_span in, bool framed, unsigned char *to, size_t most, wick_arena *tmp,
                  size_t *out_n)
{
  enum { PIECE = 1 << 30 }; /* zlib counts in 32 bits */
  wick_mark mark = wick_arena_mark(tmp);
  z_stream z = {.zalloc = inflate_alloc, .zfree = inflate_free, .opaque = tmp};
  int got = inflateInit2(&z, framed ? MAX_WBITS : -MAX_WBITS);
  size_t nin = in.nbytes, nout = most;
  z.next_in = (unsigned char *)(uintptr_t)in.at;
  z.next_out = to;
  while (got == Z_OK) {
    z.avail_in = (unsigned)wick_min_u64(nin, PIECE);
    z.avail_out = (unsigned)wick_min_u64(nout, PIECE);
    size_t in_before = z.avail_in, out_before = z.avail_out;
    got = inflate(&z, Z_NO_FLUSH);
    nin -= in_before - z.avail_in, nout -= out_before - z.avail_out;
    if (got == Z_OK && in_before == z.avail_in && out_before == z.avail_out) break;
  }
  *out_n = most - nout;
  wick_arena_rewind(tmp, mark);
  return got == Z_STREAM_END;
}
