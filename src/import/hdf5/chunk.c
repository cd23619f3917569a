/* Data in chunks: the layout message, the B-tree of version 1, and copying. */
#include <string.h>

#include "import/hdf5/file.h"

enum { CHUNK_DEPTH = 32 };
enum { CHUNK_SINGLE = 1, CHUNK_IMPLICIT, CHUNK_FIXED, CHUNK_EXTENSIBLE, CHUNK_BTREE };

/* Copies the part of a chunk that is within the array, row by row. */
static void chunk_copy(const hdf5_chunks *c, const uint64_t *start, const unsigned char *from)
{
  const wick_hdf5_array *a = c->array;
  uint64_t n[WICK_HDF5_RANK], k[WICK_HDF5_RANK] = {0};
  uint32_t last = c->rank - 1;
  for (uint32_t i = 0; i < c->rank; i++) {
    if (start[i] >= a->dim[i]) return;
    n[i] = wick_min_u64(c->dim[i], a->dim[i] - start[i]);
  }
  for (;;) {
    uint64_t to = 0, at = 0;
    for (uint32_t i = 0; i < c->rank; i++) {
      to = to * a->dim[i] + start[i] + k[i];
      at = at * c->dim[i] + k[i];
    }
    memcpy(c->to + to * c->size, from + at * c->size, (size_t)(n[last] * c->size));
    uint32_t i = last;
    while (i > 0 && ++k[i - 1] == n[i - 1]) k[--i] = 0;
    if (i == 0) return;
  }
}

bool hdf5_chunk_put(wick_hdf5 *f, hdf5_chunks *c, const uint64_t *start, uint64_t at,
                    uint64_t nbytes, uint32_t mask)
{
  wick_reader r;
  bool partial = false;
  if (at == HDF5_NOWHERE) return true; /* it was never written */
  for (uint32_t i = 0; i < c->rank; i++)
    partial = partial || start[i] >= c->array->dim[i] || c->dim[i] > c->array->dim[i] - start[i];
  if (!c->filters->n || (partial && c->plain_edges)) nbytes = c->nbytes, mask = UINT32_MAX;
  if (!hdf5_block(f, at, nbytes, &r)) return false;
  wick_span data = {r.at, (size_t)nbytes};
  wick_mark mark = wick_arena_mark(f->mem);
  if (f->expanded < c->nbytes)
    return hdf5_refuse(f, at, WICK_ELIMIT, "the chunks are too large for the file's size");
  f->expanded -= c->nbytes;
  if (!hdf5_unfilter(f, c->filters, mask, data, c->nbytes, &data)) return false;
  chunk_copy(c, start, data.at);
  wick_arena_rewind(f->mem, mark);
  return true;
}

bool hdf5_chunk_number(wick_hdf5 *f, hdf5_chunks *c, uint64_t k, uint64_t at, uint64_t nbytes,
                       uint32_t mask)
{
  uint64_t start[WICK_HDF5_RANK];
  for (uint32_t i = c->rank; i-- > 0;) {
    /* The axes in the order of their counting: c->first, then the others. */
    uint32_t axis = i == 0 ? c->first : i <= c->first ? i - 1 : i;
    uint64_t n = i == 0 ? UINT64_MAX : c->count[axis];
    if (wick_mul_overflows(k % n, c->dim[axis], &start[axis])) return true; /* beyond the array */
    k /= n;
  }
  return hdf5_chunk_put(f, c, start, at, nbytes, mask);
}

/* ---- version 3 ---- */

static bool chunk_node(wick_hdf5 *f, hdf5_chunks *c, uint64_t at, int level)
{
  wick_reader r;
  uint64_t head = 8 + 2 * (uint64_t)f->noffset, key = 8 + 8 * (uint64_t)(c->rank + 1);
  if (!hdf5_signed(f, at, head, "TREE", 1, &r)) return false;
  int mine = (int)hdf5_uint(&r, 1);
  uint64_t n = hdf5_uint(&r, 2);
  if (mine >= CHUNK_DEPTH || (level >= 0 && mine != level))
    return hdf5_refuse(f, at, WICK_EPARSE, "a node of a B-tree has the wrong level");
  if (!hdf5_block(f, at + head, n * (key + f->noffset), &r)) return false;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t start[WICK_HDF5_RANK + 1], nbytes = hdf5_uint(&r, 4);
    uint32_t mask = (uint32_t)hdf5_uint(&r, 4);
    for (uint32_t k = 0; k <= c->rank; k++) start[k] = hdf5_uint(&r, 8);
    uint64_t child = hdf5_address(f, &r);
    if (!hdf5_whole(f, &r)) return false;
    if (mine ? !chunk_node(f, c, child, mine - 1)
             : !hdf5_chunk_put(f, c, start, child, nbytes, mask))
      return false;
  }
  return true;
}

/* Reads the sizes of a chunk, of which the last is the size of an element. */
static bool chunk_sizes(wick_hdf5 *f, hdf5_chunks *c, wick_reader *r, uint32_t n, uint32_t width)
{
  uint64_t at = wick_reader_position(r);
  c->rank = c->array->rank;
  c->nbytes = c->size;
  for (uint32_t i = 0; i < n && i < WICK_HDF5_RANK; i++) c->dim[i] = hdf5_uint(r, width);
  if (!hdf5_whole(f, r)) return false;
  if (!c->rank || n != c->rank + 1 || n > WICK_HDF5_RANK || c->dim[n - 1] != c->size)
    return hdf5_refuse(f, at, WICK_EPARSE, "the sizes of its chunks do not fit its type");
  for (uint32_t i = 0; i < c->rank; i++) {
    if (!c->dim[i] || wick_mul_overflows(c->nbytes, c->dim[i], &c->nbytes) ||
        c->nbytes > UINT32_MAX)
      return hdf5_refuse(f, at, WICK_EPARSE, "the size of its chunks is 0 or too large");
    uint64_t most = c->array->most[i];
    c->count[i] = most == UINT64_MAX ? UINT64_MAX : (most + c->dim[i] - 1) / c->dim[i];
    if (!c->count[i]) c->count[i] = 1;
  }
  return true;
}

/* All chunks one after the other, none compressed. */
static bool chunk_implicit(wick_hdf5 *f, hdf5_chunks *c, uint64_t at)
{
  uint64_t n = 1;
  for (uint32_t i = 0; i < c->rank; i++)
    if (wick_mul_overflows(n, c->count[i], &n)) n = UINT64_MAX;
  for (uint64_t k = 0; k < n; k++)
    if (!hdf5_chunk_number(f, c, k, at + k * c->nbytes, c->nbytes, 0)) return false;
  return true;
}

static bool chunk_new(wick_hdf5 *f, wick_reader *r, hdf5_chunks *c)
{
  uint64_t begin = wick_reader_position(r), start[WICK_HDF5_RANK] = {0}, nbytes = 0, mask = 0;
  uint32_t flags = (uint32_t)hdf5_uint(r, 1), n = (uint32_t)hdf5_uint(r, 1);
  uint32_t width = (uint32_t)hdf5_uint(r, 1);
  if (!chunk_sizes(f, c, r, n, width)) return false;
  c->plain_edges = flags & 1;
  uint32_t index = (uint32_t)hdf5_uint(r, 1);
  if (index == CHUNK_SINGLE) {
    nbytes = c->nbytes;
    if (flags & 2) nbytes = hdf5_length(f, r), mask = hdf5_uint(r, 4);
  } else {
    static const uint8_t skip[] = {[CHUNK_FIXED] = 1, [CHUNK_EXTENSIBLE] = 5, [CHUNK_BTREE] = 6};
    hdf5_uint(r, index < WICK_COUNT(skip) ? skip[index] : 0);
  }
  uint64_t at = hdf5_address(f, r);
  if (!hdf5_whole(f, r)) return false;
  if (at == HDF5_NOWHERE) return true;
  switch (index) {
  case CHUNK_SINGLE: return hdf5_chunk_put(f, c, start, at, nbytes, (uint32_t)mask);
  case CHUNK_IMPLICIT: return chunk_implicit(f, c, at);
  case CHUNK_FIXED: return hdf5_chunk_fixed(f, c, at);
  case CHUNK_EXTENSIBLE: return hdf5_chunk_extensible(f, c, at);
  case CHUNK_BTREE: return hdf5_chunk_btree(f, c, at);
  default:
    return hdf5_refuse(f, begin, WICK_EUNSUPPORTED, "index %u of chunks is not known", index);
  }
}

bool hdf5_chunks_read(wick_hdf5 *f, uint32_t version, wick_reader *r, hdf5_chunks *c)
{
  if (version >= 4) return chunk_new(f, r, c);
  /* Versions 1 and 2 have read the number of sizes already. */
  uint32_t n = version == 3 ? (uint32_t)hdf5_uint(r, 1) : c->rank;
  uint64_t at = hdf5_address(f, r);
  if (!chunk_sizes(f, c, r, n, 4)) return false;
  return at == HDF5_NOWHERE || chunk_node(f, c, at, -1);
}
