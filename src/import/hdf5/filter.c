/* The filters of compressed chunks. */
#include <string.h>

#include "import/hdf5/file.h"
#include "import/inflate.h"

enum { FILTER_DEFLATE = 1, FILTER_SHUFFLE = 2, FILTER_FLETCHER = 3 };

bool hdf5_filters_read(wick_hdf5 *f, wick_span body, hdf5_filters *out)
{
  static const struct {
    uint32_t id;
    const char *name;
  } known[] = {{4, "szip"},           {5, "nbit"},      {6, "scaleoffset"},
               {32000, "lzf"},        {32001, "blosc"}, {32004, "lz4"},
               {32008, "bitshuffle"}, {32015, "zstd"},  {32026, "blosc2"}};
  wick_reader r = hdf5_reader(f, body);
  uint64_t at = wick_reader_position(&r);
  *out = (hdf5_filters){0};
  if (!body.at) return true;
  uint32_t version = (uint32_t)hdf5_uint(&r, 1), n = (uint32_t)hdf5_uint(&r, 1);
  hdf5_span(&r, version == 1 ? 6 : 0);
  if ((version != 1 && version != 2) || n > HDF5_FILTERS_MOST)
    return hdf5_refuse(f, at, WICK_EPARSE, "a list of filters is damaged");
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id = (uint32_t)hdf5_uint(&r, 2);
    uint64_t nname = version == 1 || id >= 256 ? hdf5_uint(&r, 2) : 0;
    hdf5_uint(&r, 2);
    uint64_t nvalue = hdf5_uint(&r, 2);
    hdf5_span(&r, version == 1 ? (nname + 7) / 8 * 8 : nname);
    wick_span values = hdf5_span(&r, 4 * (nvalue + (version == 1 ? nvalue & 1 : 0)));
    if (!hdf5_whole(f, &r)) return false;
    wick_reader v = hdf5_reader(f, values);
    out->at[i].id = id;
    out->at[i].size = nvalue ? (uint32_t)hdf5_uint(&v, 4) : 0;
    if (id >= FILTER_DEFLATE && id <= FILTER_FLETCHER) continue;
    uint32_t k = 0;
    while (k < WICK_COUNT(known) && known[k].id != id) k++;
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "the filter %s (%u) is not supported",
                       k < WICK_COUNT(known) ? known[k].name : "of a plug-in", id);
  }
  out->n = n;
  return true;
}

/* Puts the bytes of each element together again. */
static void filter_unshuffle(wick_span in, uint32_t size, unsigned char *to)
{
  size_t n = in.nbytes / size;
  for (size_t k = 0; k < size; k++)
    for (size_t i = 0; i < n; i++) to[i * size + k] = in.at[k * n + i];
  memcpy(to + n * size, in.at + n * size, in.nbytes - n * size);
}

bool hdf5_unfilter(wick_hdf5 *f, const hdf5_filters *filters, uint32_t mask, wick_span in,
                   uint64_t nbytes, wick_span *out)
{
  uint64_t at = (uint64_t)(in.at - f->at);
  for (uint32_t k = filters->n; k-- > 0;) {
    unsigned char *to;
    if (mask >> k & 1) continue;
    switch (filters->at[k].id) {
    case FILTER_DEFLATE: {
      /* A checksum may be the filter before it. */
      size_t most = (size_t)nbytes + 4, n;
      to = wick_arena_raw(f->mem, most + 1, 64);
      if (!wick_inflate(in, true, to, most, f->mem, &n))
        return hdf5_refuse(f, at, WICK_EPARSE, "a compressed chunk is damaged");
      in = (wick_span){to, n};
      break;
    }
    case FILTER_SHUFFLE:
      if (filters->at[k].size < 2 || in.nbytes < filters->at[k].size) break;
      to = wick_arena_raw(f->mem, in.nbytes + 1, 64);
      filter_unshuffle(in, filters->at[k].size, to);
      in.at = to;
      break;
    default: /* a checksum */
      if (in.nbytes < 4) return hdf5_refuse(f, at, WICK_EPARSE, "a chunk is too small");
      in.nbytes -= 4;
    }
  }
  if (in.nbytes != nbytes)
    return hdf5_refuse(f, at, WICK_EPARSE, "a chunk has %zu bytes, expected %llu", in.nbytes,
                       (unsigned long long)nbytes);
  *out = in;
  return true;
}
