/* Fractal heaps: objects in blocks whose sizes double from row to row. */
#include "import/hdf5/file.h"

enum { FRACTAL_DEPTH = 32 };

static uint32_t fractal_log2(uint64_t x)
{
  uint32_t n = 0;
  while (x >>= 1) n++;
  return n;
}

bool hdf5_fractal_open(wick_hdf5 *f, uint64_t at, hdf5_fractal *out)
{
  uint64_t nbytes = 22 + 12 * (uint64_t)f->nlength + 3 * (uint64_t)f->noffset;
  wick_reader r;
  if (!hdf5_signed(f, at, nbytes, "FRHP", 0, &r)) return false;
  *out = (hdf5_fractal){.at = at};
  out->nid = (uint32_t)hdf5_uint(&r, 2);
  uint64_t nfilter = hdf5_uint(&r, 2);
  hdf5_uint(&r, 1);
  uint64_t most = hdf5_uint(&r, 4);
  hdf5_length(f, &r);
  out->huge = hdf5_address(f, &r);
  hdf5_length(f, &r);
  hdf5_address(f, &r);
  for (int i = 0; i < 8; i++) hdf5_length(f, &r); /* counts */
  out->width = (uint32_t)hdf5_uint(&r, 2);
  out->least = hdf5_length(f, &r);
  out->most_direct = hdf5_length(f, &r);
  uint32_t bits = (uint32_t)hdf5_uint(&r, 2);
  hdf5_uint(&r, 2);
  out->root = hdf5_address(f, &r);
  out->rows = (uint32_t)hdf5_uint(&r, 2);
  out->filtered = nfilter > 0;
  if (!hdf5_whole(f, &r)) return false;
  if (out->filtered)
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "a compressed heap is not supported");
  if (!hdf5_checksum(f, at, nbytes)) return false;
  if (!out->width || out->least < 16 || out->least > out->most_direct || bits > 64 || !bits ||
      out->most_direct > (uint64_t)1 << 40 || (out->least & (out->least - 1)) ||
      (out->width & (out->width - 1)) || out->rows > 64)
    return hdf5_refuse(f, at, WICK_EPARSE, "the header of a heap is damaged");
  out->offset_bytes = (bits + 7) / 8;
  uint32_t direct = (fractal_log2(out->most_direct) + 7) / 8,
           limit = fractal_log2(most | 1) / 8 + 1;
  out->length_bytes = direct < limit ? direct : limit;
  return true;
}

static uint64_t fractal_size(const hdf5_fractal *h, uint32_t row)
{
  return row < 2 ? h->least : row > 48 ? UINT64_MAX : h->least << (row - 1);
}

/* Finds the bytes [offset, offset + nbytes) of the heap below the block at `at`, which has `rows`
 * rows, or is a direct block of `size` bytes if rows is 0. */
static bool fractal_find(wick_hdf5 *f, const hdf5_fractal *h, uint64_t offset, uint64_t nbytes,
                         wick_span *out)
{
  uint64_t at = h->root, size = h->least;
  uint32_t rows = h->rows;
  for (uint32_t depth = 0; depth < FRACTAL_DEPTH; depth++) {
    wick_reader r;
    if (!rows) {
      if (offset > size || nbytes > size - offset)
        return hdf5_refuse(f, at, WICK_EPARSE, "an object is not within its heap");
      if (at == HDF5_NOWHERE || !hdf5_block(f, at, size, &r))
        return hdf5_refuse(f, h->at, WICK_EPARSE, "a heap lacks a block");
      *out = (wick_span){r.at + offset, (size_t)nbytes};
      return true;
    }
    uint32_t row = 0;
    uint64_t begin = 0, width = h->width;
    while (row < rows && offset - begin >= width * fractal_size(h, row) && row < 40)
      begin += width * fractal_size(h, row++);
    if (row >= rows || row >= 40)
      return hdf5_refuse(f, at, WICK_EPARSE, "an object is not within its heap");
    size = fractal_size(h, row);
    uint64_t column = (offset - begin) / size, head = 5 + (uint64_t)f->noffset + h->offset_bytes;
    uint64_t skip = (row * width + column) * f->noffset;
    if (!hdf5_block(f, at, head + skip + f->noffset, &r)) return false;
    hdf5_span(&r, head + skip);
    at = hdf5_address(f, &r);
    if (!hdf5_whole(f, &r)) return false;
    offset = offset - begin - column * size;
    rows = size <= h->most_direct ? 0 : fractal_log2(size) - fractal_log2(h->least * h->width) + 1;
  }
  return hdf5_refuse(f, h->at, WICK_EPARSE, "a heap is too deep");
}

/* An object of its own in the file, found through a B-tree. */
typedef struct fractal_huge {
  uint64_t id, at, nbytes;
  bool found;
} fractal_huge;

static bool fractal_record(wick_hdf5 *f, void *arg, wick_reader *record)
{
  fractal_huge *huge = arg;
  uint64_t at = hdf5_address(f, record), nbytes = hdf5_length(f, record);
  if (hdf5_length(f, record) != huge->id) return true;
  huge->at = at, huge->nbytes = nbytes, huge->found = true;
  return false;
}

static bool fractal_get_huge(wick_hdf5 *f, const hdf5_fractal *h, wick_reader *id, wick_span *out)
{
  fractal_huge huge = {0};
  wick_reader r;
  if (wick_reader_left(id) >= (size_t)f->noffset + f->nlength) { /* the identifier is its place */
    huge.at = hdf5_address(f, id), huge.nbytes = hdf5_length(f, id);
  } else {
    huge.id = hdf5_uint(id, (uint32_t)wick_reader_left(id));
    if (!hdf5_btree(f, h->huge, 1, fractal_record, &huge)) return false;
    if (!huge.found) return hdf5_refuse(f, h->at, WICK_EPARSE, "a heap lacks an object");
  }
  if (!hdf5_block(f, huge.at, huge.nbytes, &r)) return false;
  *out = (wick_span){r.at, (size_t)huge.nbytes};
  return true;
}

bool hdf5_fractal_get(wick_hdf5 *f, const hdf5_fractal *h, wick_span id, wick_span *out)
{
  wick_reader r = hdf5_reader(f, id);
  uint32_t first = (uint32_t)hdf5_uint(&r, 1);
  if (!hdf5_whole(f, &r)) return false;
  switch (first >> 4) {
  case 0: {
    uint64_t offset = hdf5_uint(&r, h->offset_bytes), nbytes = hdf5_uint(&r, h->length_bytes);
    return hdf5_whole(f, &r) && fractal_find(f, h, offset, nbytes, out);
  }
  case 1: return fractal_get_huge(f, h, &r, out);
  case 2: { /* within the identifier */
    bool wide = h->nid > 17;
    uint64_t low = wide ? hdf5_uint(&r, 1) : 0;
    uint64_t nbytes = wide ? ((uint64_t)(first & 15) << 8 | low) + 1 : (first & 15) + 1u;
    *out = hdf5_span(&r, nbytes);
    return hdf5_whole(f, &r);
  }
  default: return hdf5_refuse(f, h->at, WICK_EPARSE, "an identifier of a heap is damaged");
  }
}
