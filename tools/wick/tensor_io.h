/* Tensors in files: .npy, .npz, ONNX's TensorProto (.pb), pictures (image.h), and maps (map.h).
 *
 * The kind of a file is recognized by its first bytes; a TensorProto has no magic bytes, and is
 * recognized by its suffix, ".pb". Files are untrusted: stated sizes are compared with the
 * actual bytes, and every failure is a status with the file's name. */
#ifndef WICK_TOOLS_TENSOR_IO_H
#define WICK_TOOLS_TENSOR_IO_H

#include "base/file.h"
#include "base/reader.h"
#include "ir/type.h"
#include "wick/wick.h"

typedef struct wick_array {
  const char *name; /* from the file (.npz and .pb), else "" */
  bool by_name;     /* its input is found by name: for .npz, which has no order */
  wick_elem elem;
  bool picture; /* u8[height, width, channels], which wick_image_fit fits to its input */
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  /* last axis fastest, little-endian, aligned to the element; never NULL; points into the file if
   * possible */
  const void *data;
  uint64_t nbytes;
  wick_span message; /* a value in a .pb whose kind its input tells (list_inputs.h), else empty */
  const char *json;  /* a map, which wick_map_fit converts for its input, else NULL */
  wick_keys keys;    /* of an output that is a map (wick_io.keys) */
  wick_datum *datum; /* of an output that is data; NULL: a tensor */
} wick_array;
typedef wick_list(wick_array) wick_arrays;

/* Adds the tensors in the file to the list: one, or all of an .npz in its order. */
WICK_CHECKED wick_status wick_arrays_read(wick_files *files, const char *path, wick_arena *mem,
                                          wick_arena *tmp, wick_arrays *list);

/* Writes a file whose name ends in .npy or .pb. */
WICK_CHECKED wick_status wick_array_write(const wick_array *a, const char *path, wick_arena *tmp);

/* Makes the bytes of such a file; they live in `tmp` and in the array. */
WICK_CHECKED wick_status wick_array_parts(const wick_array *a, const char *path, wick_arena *tmp,
                                          wick_bytes part[2]);

/* Reads one TensorProto. */
WICK_CHECKED wick_status wick_pb_read(wick_span bytes, const char *location, wick_arena *mem,
                                      wick_array *out);
/* Makes the bytes before the data (the message without the bytes of raw_data), and those of the
 * data, which are not copied. */
WICK_CHECKED wick_status wick_pb_parts(const wick_array *a, const char *location, wick_arena *mem,
                                       wick_bytes out[2]);

/* Appends to a protobuf message: a number alone; a field that is a number; a field of these bytes.
 */
void wick_pb_varint(wick_text *t, uint64_t v);
void wick_pb_number(wick_text *t, uint32_t field, uint64_t v);
void wick_pb_put(wick_text *t, uint32_t field, const wick_bytes *part, size_t n);

/* Computes the bytes of the elements. Returns false if no memory can hold them. Sizes before a 0
 * are checked, too, so that an impossible shape of an empty tensor is found. */
bool wick_array_nbytes(wick_elem elem, uint32_t rank, const int64_t *dim, uint64_t *out);

/* Returns "f32[1,3,224,224]"; a negative dimension prints as "?". */
const char *wick_array_type(wick_arena *mem, wick_elem elem, uint32_t rank, const int64_t *dim);

#endif
