/* TensorProto: its type, shape and elements, checked against each other and against the bytes that
 * there are. */
#ifndef WICK_IMPORT_ONNX_TENSOR_H
#define WICK_IMPORT_ONNX_TENSOR_H

#include "base/file.h"
#include "import/onnx/proto.h"
#include "ir/ir.h"

/* Where the elements that lie outside of the model are looked for. */
typedef struct wick_onnx_outside {
  wick_files *files;   /* owns the mappings; NULL: external data is refused */
  const char *folder;  /* of the model; names are resolved beneath it, without links */
  wick_module *module; /* whose rooms copies lie in; NULL: in `mem` */
  bool loose;          /* large data stays in the file misaligned, too (wick_module_align) */
  bool texts;          /* strings are wick_string, not the module's numbers */
} wick_onnx_outside;

typedef struct wick_onnx_data {
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  const void *data; /* as wick_constant has it: in order, little-endian, aligned; into the file
                       wherever that is possible */
  uint64_t nbytes;
} wick_onnx_data;

/* A DataType as Wick's element type; false where it has none. */
bool wick_onnx_elem(int64_t data_type, wick_elem *out);
/* "FLOAT16", or the number where there is no such type. */
const char *wick_onnx_elem_name(int64_t data_type, wick_arena *mem);

/* The whole tensor. `location` precedes errors. Copies only where the elements are encoded
 * (varints), misaligned or, of bool, other than 0 and 1. */
WICK_CHECKED wick_status wick_onnx_tensor_read(const wick_onnx_tensor *t,
                                               const wick_onnx_outside *outside,
                                               const char *location, wick_arena *mem,
                                               wick_onnx_data *out);

/* sparse.c: the dense tensor that a sparse one stands for: as many zeros as fit its values, and
 * indices in order, else it is refused. */
WICK_CHECKED wick_status wick_onnx_sparse_read(const wick_onnx_sparse_tensor *s,
                                               const wick_onnx_outside *outside,
                                               const char *location, wick_arena *mem,
                                               wick_onnx_data *out);

#endif
