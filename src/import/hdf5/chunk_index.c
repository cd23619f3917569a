/* The indexes of chunks in layouts of version 4: arrays of fixed and of growing size, and B-trees
 * of version 2. */
#include "import/hdf5/file.h"

/* An array's entry: an address, and for compressed chunks their size and their mask. */
typedef struct index_array {
  uint32_t entry;     /* bytes */
  uint32_t page_bits; /* log2 of the entries of a page */
  uint64_t k, n;      /* the next entry, and their number */
} index_array;

static bool index_entries(wick_hdf5 *f, hdf5_chunks *c, index_array *a, wick_reader *r, uint64_t n)
{
  bool filtered = a->entry > f->noffset;
  if (n > wick_reader_left(r) / a->entry) n = wick_reader_left(r) / a->entry;
  for (uint64_t i = 0; i < n && a->k < a->n; i++, a->k++) {
    uint64_t at = hdf5_address(f, r), nbytes = c->nbytes;
    uint32_t mask = 0;
    if (filtered) {
      nbytes = hdf5_uint(r, a->entry - f->noffset - 4);
      mask = (uint32_t)hdf5_uint(r, 4);
    }
    if (!hdf5_whole(f, r) || !hdf5_chunk_number(f, c, a->k, at, nbytes, mask)) return false;
  }
  return true;
}

static bool index_entry_fits(wick_hdf5 *f, const hdf5_chunks *c, const index_array *a, uint64_t at)
{
  bool good = c->filters->n ? a->entry > f->noffset + 4 && a->entry <= f->noffset + 12
                            : a->entry == f->noffset;
  return good ||
         hdf5_refuse(f, at, WICK_EPARSE, "an index of chunks has entries of %u bytes", a->entry);
}

/* The pages after the head of a block, `bits` says which of them were written; NULL: all. */
static bool index_pages(wick_hdf5 *f, hdf5_chunks *c, index_array *a, uint64_t at, uint64_t n,
                        const unsigned char *bits)
{
  uint64_t most = (uint64_t)1 << a->page_bits;
  for (uint64_t page = 0, done = 0; done < n && a->k < a->n; page++) {
    uint64_t here = wick_min_u64(most, n - done);
    wick_reader r;
    if (bits && !(bits[page / 8] & (0x80 >> page % 8))) {
      a->k += here;
    } else {
      if (!hdf5_block(f, at, here * a->entry + 4, &r)) return false;
      if (!hdf5_checksum(f, at, here * a->entry)) return false;
      if (!index_entries(f, c, a, &r, here)) return false;
    }
    at += here * a->entry + 4;
    done += here;
  }
  return true;
}

/* ---- arrays of fixed size ---- */

bool hdf5_chunk_fixed(wick_hdf5 *f, hdf5_chunks *c, uint64_t at)
{
  wick_reader r;
  uint64_t nbytes = 8 + (uint64_t)f->nlength + f->noffset, head = 6 + (uint64_t)f->noffset;
  if (!hdf5_signed(f, at, nbytes, "FAHD", 0, &r)) return false;
  hdf5_uint(&r, 1);
  index_array a = {.entry = (uint32_t)hdf5_uint(&r, 1)};
  a.page_bits = (uint32_t)hdf5_uint(&r, 1);
  a.n = hdf5_length(f, &r);
  uint64_t block = hdf5_address(f, &r);
  if (!hdf5_whole(f, &r) || !hdf5_checksum(f, at, nbytes)) return false;
  if (!index_entry_fits(f, c, &a, at)) return false;
  if (a.page_bits > 32 || a.n > f->nbytes)
    return hdf5_refuse(f, at, WICK_EPARSE, "the header of an index of chunks is damaged");
  if (block == HDF5_NOWHERE) return true;
  uint64_t page = (uint64_t)1 << a.page_bits;
  if (a.n <= page) {
    if (!hdf5_signed(f, block, head + a.n * a.entry, "FADB", 0, &r)) return false;
    hdf5_span(&r, head - 5);
    return hdf5_checksum(f, block, head + a.n * a.entry) && index_entries(f, c, &a, &r, a.n);
  }
  uint64_t nbits = ((a.n + page - 1) / page + 7) / 8;
  if (!hdf5_signed(f, block, head + nbits, "FADB", 0, &r)) return false;
  if (!hdf5_checksum(f, block, head + nbits)) return false;
  return index_pages(f, c, &a, block + head + nbits + 4, a.n, f->at + block + head);
}

/* ---- arrays that grow along one axis ---- */

typedef struct index_growing {
  index_array a;
  uint32_t inner;    /* entries in the index block */
  uint32_t least;    /* entries of the first data blocks */
  uint32_t pointers; /* least pointers of a super block */
  uint32_t offset;   /* bytes of a block's place in the array */
  uint32_t nsuper;   /* super blocks, those within the index block included */
} index_growing;

static uint32_t index_log2(uint64_t x)
{
  uint32_t n = 0;
  while (x >>= 1) n++;
  return n;
}

/* Super block u has 2^(u/2) data blocks of least * 2^((u+1)/2) entries. */
static uint64_t index_blocks(uint32_t u) { return (uint64_t)1 << (u / 2); }
static uint64_t index_block_size(const index_growing *g, uint32_t u)
{
  return (uint64_t)g->least << ((u + 1) / 2);
}

static bool index_data(wick_hdf5 *f, hdf5_chunks *c, index_growing *g, uint64_t at, uint64_t n,
                       const unsigned char *bits)
{
  uint64_t head = 6 + (uint64_t)f->noffset + g->offset, page = (uint64_t)1 << g->a.page_bits;
  wick_reader r;
  if (at == HDF5_NOWHERE) {
    g->a.k += n;
    return true;
  }
  if (n > page)
    return hdf5_signed(f, at, head, "EADB", 0, &r) && hdf5_checksum(f, at, head) &&
           index_pages(f, c, &g->a, at + head + 4, n, bits);
  if (n > f->nbytes || !hdf5_signed(f, at, head + n * g->a.entry, "EADB", 0, &r)) {
    return hdf5_refuse(f, at, WICK_EPARSE, "a block of an index is not within the file");
  }
  hdf5_span(&r, head - 5);
  return hdf5_checksum(f, at, head + n * g->a.entry) && index_entries(f, c, &g->a, &r, n);
}

/* A super block, which has the addresses of its data blocks and says which pages were written. */
static bool index_super(wick_hdf5 *f, hdf5_chunks *c, index_growing *g, uint64_t at, uint32_t u)
{
  uint64_t n = index_blocks(u), size = index_block_size(g, u);
  uint64_t page = (uint64_t)1 << g->a.page_bits;
  uint64_t nbits = size > page ? (size / page + 7) / 8 : 0;
  uint64_t head = 6 + (uint64_t)f->noffset + g->offset;
  wick_reader r;
  if (at == HDF5_NOWHERE) {
    g->a.k += n * size;
    return true;
  }
  if (n > f->nbytes || nbits > f->nbytes)
    return hdf5_refuse(f, at, WICK_EPARSE, "a block of an index is not within the file");
  uint64_t nbytes = head + n * nbits + n * f->noffset;
  if (!hdf5_signed(f, at, nbytes, "EASB", 0, &r) || !hdf5_checksum(f, at, nbytes)) return false;
  hdf5_span(&r, head - 5);
  wick_span bits = hdf5_span(&r, n * nbits);
  for (uint64_t i = 0; i < n && g->a.k < g->a.n; i++)
    if (!index_data(f, c, g, hdf5_address(f, &r), size, bits.nbytes ? bits.at + i * nbits : NULL))
      return false;
  return true;
}

static bool index_walk(wick_hdf5 *f, hdf5_chunks *c, index_growing *g, uint64_t at)
{
  uint32_t within = 2 * index_log2(g->pointers);
  uint64_t ndata = 2 * ((uint64_t)g->pointers - 1);
  uint64_t nsuper = g->nsuper > within ? g->nsuper - within : 0;
  uint64_t head = 6 + (uint64_t)f->noffset;
  uint64_t nbytes = head + (uint64_t)g->inner * g->a.entry + (ndata + nsuper) * f->noffset;
  wick_reader r;
  if (!hdf5_signed(f, at, nbytes, "EAIB", 0, &r) || !hdf5_checksum(f, at, nbytes)) return false;
  hdf5_span(&r, head - 5);
  wick_reader inner = hdf5_reader(f, hdf5_span(&r, (uint64_t)g->inner * g->a.entry));
  if (!index_entries(f, c, &g->a, &inner, g->inner)) return false;
  for (uint32_t u = 0; u < g->nsuper && g->a.k < g->a.n; u++) {
    if (u >= within) {
      if (!index_super(f, c, g, hdf5_address(f, &r), u)) return false;
      continue;
    }
    for (uint64_t i = 0; i < index_blocks(u); i++)
      if (!index_data(f, c, g, hdf5_address(f, &r), index_block_size(g, u), NULL)) return false;
  }
  return hdf5_whole(f, &r);
}

bool hdf5_chunk_extensible(wick_hdf5 *f, hdf5_chunks *c, uint64_t at)
{
  uint64_t nbytes = 12 + 6 * (uint64_t)f->nlength + f->noffset;
  wick_reader r;
  if (!hdf5_signed(f, at, nbytes, "EAHD", 0, &r)) return false;
  hdf5_uint(&r, 1);
  index_growing g = {.a.entry = (uint32_t)hdf5_uint(&r, 1)};
  uint32_t bits = (uint32_t)hdf5_uint(&r, 1);
  g.inner = (uint32_t)hdf5_uint(&r, 1);
  g.least = (uint32_t)hdf5_uint(&r, 1);
  g.pointers = (uint32_t)hdf5_uint(&r, 1);
  g.a.page_bits = (uint32_t)hdf5_uint(&r, 1);
  for (int i = 0; i < 4; i++) hdf5_length(f, &r); /* counts and sizes */
  g.a.n = hdf5_length(f, &r);                     /* entries that were set */
  hdf5_length(f, &r);
  uint64_t block = hdf5_address(f, &r);
  if (!hdf5_whole(f, &r) || !hdf5_checksum(f, at, nbytes)) return false;
  if (!index_entry_fits(f, c, &g.a, at)) return false;
  if (!g.least || !g.pointers || bits > 48 || bits < index_log2(g.least) || g.a.page_bits > 32 ||
      (g.pointers & (g.pointers - 1)))
    return hdf5_refuse(f, at, WICK_EPARSE, "the header of an index of chunks is damaged");
  g.offset = (bits + 7) / 8;
  g.nsuper = 1 + bits - index_log2(g.least);
  while (c->first + 1 < c->rank && c->array->most[c->first] != UINT64_MAX) c->first++;
  return block == HDF5_NOWHERE || index_walk(f, c, &g, block);
}

/* ---- B-trees ---- */

static bool index_record(wick_hdf5 *f, void *arg, wick_reader *record)
{
  hdf5_chunks *c = arg;
  uint64_t at = hdf5_address(f, record), nbytes = c->nbytes, start[WICK_HDF5_RANK];
  uint32_t mask = 0;
  size_t scaled = 8 * (size_t)c->rank;
  if (c->filters->n) {
    size_t left = wick_reader_left(record);
    nbytes = hdf5_uint(record, left > scaled + 4 ? (uint32_t)(left - scaled - 4) : 9);
    mask = (uint32_t)hdf5_uint(record, 4);
  }
  for (uint32_t i = 0; i < c->rank; i++)
    if (wick_mul_overflows(hdf5_uint(record, 8), c->dim[i], &start[i])) return true;
  return hdf5_whole(f, record) && hdf5_chunk_put(f, c, start, at, nbytes, mask);
}

bool hdf5_chunk_btree(wick_hdf5 *f, hdf5_chunks *c, uint64_t at)
{
  return hdf5_btree(f, at, c->filters->n ? 11 : 10, index_record, c) && !f->bad;
}
