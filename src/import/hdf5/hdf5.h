/* Reads HDF5 files: the subset that h5py writes for models, without libhdf5.
 *
 * Superblocks 0 to 3; groups as symbol tables, links in headers, and dense links; attributes in
 * headers and dense ones; data that is compact, contiguous, or in chunks under any index, with the
 * filters deflate, shuffle and fletcher32; numbers, booleans, strings of fixed and of variable
 * length. External and virtual data, compounds and other filters are refused by name.
 *
 * A file is untrusted. All reads are checked against its size. A search that reads more bytes than
 * the file has is in a cycle and fails, and decompressed data is limited by the size of the file.
 * Data that is neither compressed nor in chunks is not copied.
 *
 * Source: "HDF5 File Format Specification Version 3.0", The HDF Group. */
#ifndef WICK_IMPORT_HDF5_HDF5_H
#define WICK_IMPORT_HDF5_HDF5_H

#include "base/reader.h"

typedef struct wick_hdf5 wick_hdf5;

/* A group or a dataset. */
typedef struct wick_hdf5_object {
  uint64_t at; /* address of its header */
} wick_hdf5_object;

typedef enum wick_hdf5_kind {
  WICK_HDF5_INT, /* also booleans, which h5py writes as an enumeration of int8 */
  WICK_HDF5_UINT,
  WICK_HDF5_FLOAT,
  WICK_HDF5_BFLOAT,  /* 8 bits of exponent, 16 in all */
  WICK_HDF5_STRING,  /* of fixed length: `size` bytes */
  WICK_HDF5_STRINGS, /* of variable length */
  WICK_HDF5_OPAQUE   /* bytes without a meaning */
} wick_hdf5_kind;

/* A dataset's or an attribute's elements, little-endian, outermost dimension first. */
enum { WICK_HDF5_RANK = 32 };
typedef struct wick_hdf5_array {
  wick_hdf5_kind kind;
  uint32_t size; /* bytes of an element in `data` */
  bool truth;    /* an enumeration: a boolean */
  uint32_t rank;
  uint64_t dim[WICK_HDF5_RANK];
  uint64_t most[WICK_HDF5_RANK]; /* to which it may grow; UINT64_MAX: without a limit */
  uint64_t nelem;
  wick_span data; /* in the file or in the arena; any alignment */
  uint64_t at;    /* position in the file, for messages */
} wick_hdf5_array;

/* A link of a group. */
typedef struct wick_hdf5_link {
  wick_span name;
  bool soft;
  uint64_t at;      /* of a hard link: the object */
  wick_span target; /* of a soft link: a path */
} wick_hdf5_link;
typedef wick_list(wick_hdf5_link) wick_hdf5_links;

/* Opens a file. `bytes` must live as long as the results; `location` begins all messages. */
WICK_CHECKED wick_status wick_hdf5_open(wick_span bytes, const char *location, wick_arena *mem,
                                        wick_hdf5 **out);
wick_hdf5_object wick_hdf5_root(const wick_hdf5 *f);

/* Lists the links of a group, in the order of their names' index. */
WICK_CHECKED wick_status wick_hdf5_list(wick_hdf5 *f, wick_hdf5_object group, wick_hdf5_links *out);
/* Follows a path of names with `/` between them. *found is false if a name does not exist. */
WICK_CHECKED wick_status wick_hdf5_find(wick_hdf5 *f, wick_hdf5_object from, const char *path,
                                        bool *found, wick_hdf5_object *out);
/* Reads all elements of a dataset. */
WICK_CHECKED wick_status wick_hdf5_read(wick_hdf5 *f, wick_hdf5_object dataset,
                                        wick_hdf5_array *out);
/* Reads an attribute; *found is false if there is none of that name. */
WICK_CHECKED wick_status wick_hdf5_attribute(wick_hdf5 *f, wick_hdf5_object o, const char *name,
                                             bool *found, wick_hdf5_array *out);
/* Reads element i of an array of strings of either kind, without its padding. */
WICK_CHECKED wick_status wick_hdf5_string(wick_hdf5 *f, const wick_hdf5_array *a, uint64_t i,
                                          wick_span *out);

#endif
