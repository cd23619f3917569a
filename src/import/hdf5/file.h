/* Declarations that the files of the HDF5 reader share. */
#ifndef WICK_IMPORT_HDF5_FILE_H
#define WICK_IMPORT_HDF5_FILE_H

#include "import/hdf5/hdf5.h"

#define HDF5_NOWHERE UINT64_MAX /* the address of what does not exist */

/* The messages of object headers that the reader uses. */
enum {
  HDF5_DATASPACE = 1,
  HDF5_LINK_INFO = 2,
  HDF5_DATATYPE = 3,
  HDF5_FILL_OLD = 4,
  HDF5_FILL = 5,
  HDF5_LINK = 6,
  HDF5_EXTERNAL = 7,
  HDF5_LAYOUT = 8,
  HDF5_FILTERS = 11,
  HDF5_ATTRIBUTE = 12,
  HDF5_CONTINUATION = 16,
  HDF5_SYMBOL_TABLE = 17,
  HDF5_ATTRIBUTE_INFO = 21
};

struct wick_hdf5 {
  const unsigned char *at; /* address 0 of the file: after a user block */
  size_t nbytes;
  size_t skipped; /* bytes of the user block */
  const char *location;
  wick_arena *mem;
  uint32_t noffset, nlength; /* bytes of an address and of a size: 2, 4 or 8 */
  uint64_t root;
  uint64_t left;     /* bytes that the current call may still read of the file's structure */
  uint64_t expanded; /* bytes of decompressed data that the file may still need */
  uint32_t depth;    /* of shared messages */
  wick_status bad;   /* the first failure of the current call */
};

/* Every function below returns false at a failure, which is then in f->bad. */

/* Begins a call of the interface. */
void hdf5_begin(wick_hdf5 *f);
bool hdf5_refuse(wick_hdf5 *f, uint64_t at, wick_code code, const char *fmt, ...) WICK_PRINTF(4, 5);

/* Sets *out to a reader of a block of the file's structure. */
WICK_CHECKED bool hdf5_block(wick_hdf5 *f, uint64_t at, uint64_t nbytes, wick_reader *out);
/* The same for a block that begins with four letters and a version, which are read. */
WICK_CHECKED bool hdf5_signed(wick_hdf5 *f, uint64_t at, uint64_t nbytes, const char *letters,
                              uint32_t version, wick_reader *out);
/* Makes a reader of bytes that are known to be in the file; of none if s.at is NULL. */
wick_reader hdf5_reader(const wick_hdf5 *f, wick_span s);
/* Reads a number of 0 to 8 bytes; 0 after the end. Check the end by hdf5_whole. */
uint64_t hdf5_uint(wick_reader *r, uint32_t nbytes);
uint64_t hdf5_address(const wick_hdf5 *f, wick_reader *r); /* HDF5_NOWHERE: no address */
uint64_t hdf5_length(const wick_hdf5 *f, wick_reader *r);
wick_span hdf5_span(wick_reader *r, uint64_t nbytes);
/* Returns false if the reader went past its end. */
WICK_CHECKED bool hdf5_whole(wick_hdf5 *f, const wick_reader *r);
/* Checks the four bytes after a block of the structure. */
WICK_CHECKED bool hdf5_checksum(wick_hdf5 *f, uint64_t at, uint64_t nbytes);

/* Returns the number of bytes that a number up to `most` needs. */
uint32_t hdf5_width(uint64_t most);

/* header.c: calls `visit` for each message of an object's header, until it returns false. `flags`
 * are the message's. */
typedef bool (*hdf5_visit)(wick_hdf5 *f, void *arg, uint32_t type, uint32_t flags, wick_span body);
WICK_CHECKED bool hdf5_messages(wick_hdf5 *f, uint64_t at, hdf5_visit visit, void *arg);
/* Finds the first message of a type; body.at is NULL if there is none. */
WICK_CHECKED bool hdf5_message(wick_hdf5 *f, uint64_t at, uint32_t type, wick_span *out);

/* heap.c */
WICK_CHECKED bool hdf5_local_heap(wick_hdf5 *f, uint64_t at, wick_span *out_data);
WICK_CHECKED bool hdf5_global(wick_hdf5 *f, uint64_t at, uint64_t index, wick_span *out);

/* fractal.c: heaps of objects that are named by an identifier of some bytes. */
typedef struct hdf5_fractal {
  uint64_t at, huge, root, most_direct, least;
  uint32_t nid, width, rows, nstart, offset_bytes, length_bytes;
  bool filtered;
} hdf5_fractal;
WICK_CHECKED bool hdf5_fractal_open(wick_hdf5 *f, uint64_t at, hdf5_fractal *out);
WICK_CHECKED bool hdf5_fractal_get(wick_hdf5 *f, const hdf5_fractal *h, wick_span id,
                                   wick_span *out);

/* btree.c: calls `visit` for each record of a B-tree of version 2, in order. */
typedef bool (*hdf5_record)(wick_hdf5 *f, void *arg, wick_reader *record);
WICK_CHECKED bool hdf5_btree(wick_hdf5 *f, uint64_t at, uint32_t type, hdf5_record visit,
                             void *arg);

/* type.c */
typedef struct hdf5_type {
  wick_hdf5_kind kind;
  uint32_t size; /* in the file */
  bool big, truth;
} hdf5_type;
WICK_CHECKED bool hdf5_type_read(wick_hdf5 *f, wick_reader *r, hdf5_type *out);
WICK_CHECKED bool hdf5_space_read(wick_hdf5 *f, wick_reader *r, wick_hdf5_array *out);
/* Follows a message that is shared: its body is in another object's header. */
WICK_CHECKED bool hdf5_shared(wick_hdf5 *f, uint32_t type, wick_span body, wick_span *out);
/* Allocates bytes that the file does not have itself. */
WICK_CHECKED bool hdf5_take(wick_hdf5 *f, uint64_t at, uint64_t nbytes, unsigned char **out);
/* Sets the type of *out, and its data: those of the file, with their bytes swapped if needed. */
WICK_CHECKED bool hdf5_finish(wick_hdf5 *f, const hdf5_type *t, wick_span raw,
                              wick_hdf5_array *out);

/* filter.c */
enum { HDF5_FILTERS_MOST = 8 };
typedef struct hdf5_filters {
  uint32_t n;
  struct {
    uint32_t id;
    uint32_t size; /* of shuffle: bytes of an element */
  } at[HDF5_FILTERS_MOST];
} hdf5_filters;
WICK_CHECKED bool hdf5_filters_read(wick_hdf5 *f, wick_span body, hdf5_filters *out);
/* Undoes the filters, except those that `mask` marks. The result has `nbytes` bytes. */
WICK_CHECKED bool hdf5_unfilter(wick_hdf5 *f, const hdf5_filters *filters, uint32_t mask,
                                wick_span in, uint64_t nbytes, wick_span *out);

/* chunk.c: copies the chunks of a dataset to `to`. The reader is after the class of the layout
 * message. */
typedef struct hdf5_chunks {
  const wick_hdf5_array *array;
  const hdf5_filters *filters;
  uint32_t rank;
  uint32_t size;                                       /* bytes of an element */
  uint64_t dim[WICK_HDF5_RANK], count[WICK_HDF5_RANK]; /* of a chunk; chunks along each axis */
  uint64_t nbytes;                                     /* of a chunk */
  uint32_t first;   /* the axis that counts slowest in chunks' numbers; then the others */
  bool plain_edges; /* chunks beyond the edge are not compressed */
  unsigned char *to;
} hdf5_chunks;
WICK_CHECKED bool hdf5_chunks_read(wick_hdf5 *f, uint32_t version, wick_reader *r, hdf5_chunks *c);
/* Copies the chunk that begins at `start`, in elements; chunk_index.c calls it. */
WICK_CHECKED bool hdf5_chunk_put(wick_hdf5 *f, hdf5_chunks *c, const uint64_t *start, uint64_t at,
                                 uint64_t nbytes, uint32_t mask);
/* The same for the chunk of that number, counted with the last axis fastest. */
WICK_CHECKED bool hdf5_chunk_number(wick_hdf5 *f, hdf5_chunks *c, uint64_t k, uint64_t at,
                                    uint64_t nbytes, uint32_t mask);

/* chunk_index.c: the indexes of version 4. */
WICK_CHECKED bool hdf5_chunk_fixed(wick_hdf5 *f, hdf5_chunks *c, uint64_t at);
WICK_CHECKED bool hdf5_chunk_extensible(wick_hdf5 *f, hdf5_chunks *c, uint64_t at);
WICK_CHECKED bool hdf5_chunk_btree(wick_hdf5 *f, hdf5_chunks *c, uint64_t at);

#endif
