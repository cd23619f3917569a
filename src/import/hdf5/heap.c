/* Local heaps, which hold the names of old groups, and global heaps, which hold strings of variable
 * length. */
#include "import/hdf5/file.h"

bool hdf5_local_heap(wick_hdf5 *f, uint64_t at, wick_span *out_data)
{
  wick_reader r, data;
  if (!hdf5_signed(f, at, 8 + 2 * (uint64_t)f->nlength + f->noffset, "HEAP", 0, &r)) return false;
  hdf5_uint(&r, 3);
  uint64_t nbytes = hdf5_length(f, &r);
  hdf5_length(f, &r); /* free blocks */
  uint64_t segment = hdf5_address(f, &r);
  if (!hdf5_whole(f, &r) || !hdf5_block(f, segment, nbytes, &data)) return false;
  *out_data = (wick_span){data.at, (size_t)nbytes};
  return true;
}

bool hdf5_global(wick_hdf5 *f, uint64_t at, uint64_t index, wick_span *out)
{
  wick_reader r;
  if (!hdf5_signed(f, at, 8 + (uint64_t)f->nlength, "GCOL", 1, &r)) return false;
  hdf5_uint(&r, 3);
  uint64_t nbytes = hdf5_length(f, &r), head = 8 + (uint64_t)f->nlength;
  if (!hdf5_whole(f, &r)) return false;
  if (at > f->nbytes || nbytes > f->nbytes - at || nbytes < head)
    return hdf5_refuse(f, at, WICK_EPARSE, "a heap of strings is not within the file");
  r = hdf5_reader(f, (wick_span){f->at + at + head, (size_t)(nbytes - head)});
  while (wick_reader_left(&r) >= 8 + (size_t)f->nlength) {
    uint64_t k = hdf5_uint(&r, 2);
    hdf5_uint(&r, 6); /* references */
    uint64_t size = hdf5_length(f, &r);
    if (!k) break; /* the rest is free */
    if (size > wick_reader_left(&r)) break;
    uint64_t whole = size + (8 - size % 8) % 8;
    if (k == index) {
      *out = hdf5_span(&r, size);
      return hdf5_whole(f, &r);
    }
    if (whole > wick_reader_left(&r)) break;
    hdf5_span(&r, whole);
  }
  return hdf5_refuse(f, at, WICK_EPARSE, "the heap of strings has no object %llu",
                     (unsigned long long)index);
}
