/* Tensors in files: .npy, .npz, ONNX's TensorProto (.pb), pictures (image.h), and maps (map.h).
 *
 * The first bytes of a file tell its kind; a TensorProto has no magic bytes and is recognized by
 * its suffix, ".pb". No reader trusts what it reads: declared sizes are compared with the bytes
 * that there are, and every failure is a status with the file's name. */
#ifndef WICK_TOOLS_TENSOR_IO_H
#define WICK_TOOLS_TENSOR_IO_H

#include "base/file.h"
#include "base/reader.h"
#include "ir/type.h"
#include "wick/wick.h"

typedef struct wick_array {
  const char *name; /* from the file (.npz and .pb), else "" */
  bool by_name;     /* the input is chosen by name: for .npz, which has no order */
  wick_elem elem;
  bool picture; /* u8[height, width, channels], to be fitted to its input (wick_image_fit) */
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  const void *data; /* last axis fastest, little-endian, aligned to the element; never NULL; into
                       the file wherever that is possible */
  uint64_t nbytes;
  const char *json; /* a map, to be made into what its input takes (wick_map_fit), else NULL */
  wick_keys keys;   /* of an output that is a map (wick_io.keys) */
} wick_array;
typedef wick_list(wick_array) wick_arrays;

/* Adds what is in the file to the list: one tensor, or all of an .npz in its order. */
WICK_CHECKED wick_status wick_arrays_read(wick_files *files, const char *path, wick_arena *mem,
                                          wick_arena *tmp, wick_arrays *list);

/* Writes a file whose name ends in .npy or .pb. */
WICK_CHECKED wick_status wick_array_write(const wick_array *a, const char *path, wick_arena *tmp);

/* The bytes of such a file; they live in `tmp` and in the array. */
WICK_CHECKED wick_status wick_array_parts(const wick_array *a, const char *path, wick_arena *tmp,
                                          wick_bytes part[2]);

/* One TensorProto. */
WICK_CHECKED wick_status wick_pb_read(wick_span bytes, const char *location, wick_arena *mem,
                                      wick_array *out);
/* The bytes that precede the data (the message without the bytes of raw_data); the data follows. */
WICK_CHECKED wick_status wick_pb_header(const wick_array *a, const char *location, wick_arena *mem,
                                        wick_bytes *out);

/* The bytes of the elements. Returns false if they are more than any memory holds. Sizes before a 0
 * count, so that a shape that cannot be is found in an empty tensor too. */
bool wick_array_nbytes(wick_elem elem, uint32_t rank, const int64_t *dim, uint64_t *out);

/* "f32[1,3,224,224]"; a negative dimension prints as "?". */
const char *wick_array_type(wick_arena *mem, wick_elem elem, uint32_t rank, const int64_t *dim);

#endif
