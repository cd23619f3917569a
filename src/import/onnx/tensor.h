/* Reads a TensorProto. Checks its type, shape and elements against each other and against the
 * number of bytes present. */
#ifndef WICK_IMPORT_ONNX_TENSOR_H
#define WICK_IMPORT_ONNX_TENSOR_H

#include "base/file.h"
#include "import/onnx/proto.h"
#include "ir/ir.h"

/* Tells how to find elements that are stored outside the model's file. */
typedef struct wick_onnx_outside {
  wick_files *files;   /* owns the mappings; NULL: external data is refused */
  const char *folder;  /* the model's folder; names are resolved beneath it, without links */
  wick_module *module; /* owns the memory of copies; NULL: `mem` owns it */
  bool loose;          /* large data stays in the file even if misaligned (wick_module_align) */
  bool texts;          /* strings are wick_string, not the module's numbers */
} wick_onnx_outside;

typedef struct wick_onnx_data {
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  const void *data; /* as in wick_constant: in order, little-endian, aligned; points into the file
                       if possible */
  uint64_t nbytes;
} wick_onnx_data;

/* Finds Wick's element type for a DataType. Returns false if Wick has none. */
bool wick_onnx_elem(int64_t data_type, wick_elem *out);
/* Returns the name of a DataType, as "FLOAT16", or its number if no such type exists. */
const char *wick_onnx_elem_name(int64_t data_type, wick_arena *mem);

/* Reads the whole tensor. Errors begin with `location`. Copies the elements only if they are
 * encoded (varints), misaligned, or booleans other than 0 and 1. */
WICK_CHECKED wick_status wick_onnx_tensor_read(const wick_onnx_tensor *t,
                                               const wick_onnx_outside *outside,
                                               const char *location, wick_arena *mem,
                                               wick_onnx_data *out);

/* sparse.c: reads a sparse tensor as the dense tensor that it represents. Fails if its indices are
 * not in order, or if the dense tensor is too large for the number of its values. */
WICK_CHECKED wick_status wick_onnx_sparse_read(const wick_onnx_sparse_tensor *s,
                                               const wick_onnx_outside *outside,
                                               const char *location, wick_arena *mem,
                                               wick_onnx_data *out);

#endif
