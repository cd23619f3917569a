/* Dispatches on the kind of a file; reads and writes TensorProto with the ONNX reader. */
#include "tensor_io.h"

#include <string.h>

#include "base/str.h"
#include "import/format.h"
#include "import/onnx/tensor.h"

#include "image.h"
#include "npy.h"
#include "npz.h"

bool wick_array_nbytes(wick_elem elem, uint32_t rank, const int64_t *dim, uint64_t *out)
{
  int64_t numel = 1;
  bool empty = false;
  for (uint32_t i = 0; i < rank; i++) {
    empty |= dim[i] == 0;
    if (dim[i] && (dim[i] < 0 || wick_mul_overflows(numel, dim[i], &numel))) return false;
  }
  if (numel > INT64_MAX / 16) return false; /* the largest element has 16 bytes */
  *out = wick_elem_bytes(elem, empty ? 0 : (uint64_t)numel);
  return true;
}

const char *wick_array_type(wick_arena *mem, wick_elem elem, uint32_t rank, const int64_t *dim)
{
  wick_text t = wick_text_begin(mem);
  wick_text_printf(&t, "%s[", wick_elem_name(elem));
  for (uint32_t i = 0; i < rank; i++) {
    if (i) wick_text_char(&t, ',');
    if (dim[i] < 0)
      wick_text_char(&t, '?');
    else
      wick_text_int(&t, dim[i]);
  }
  wick_text_char(&t, ']');
  return t.at;
}

/* ---- TensorProto ---- */

wick_status wick_pb_read(wick_span bytes, const char *location, wick_arena *mem, wick_array *out)
{
  void *message;
  WICK_TRY(wick_wire_decode(&wick_onnx_tensor_message, bytes, location, mem, &message));
  const wick_onnx_tensor *t = message;
  wick_onnx_data d;
  const wick_onnx_outside outside = {.texts = true}; /* without files: external data is refused */
  WICK_TRY(wick_onnx_tensor_read(t, &outside, location, mem, &d));
  *out = (wick_array){.name = wick_wire_text(mem, t->name),
                      .elem = d.elem,
                      .rank = d.rank,
                      .data = d.data,
                      .nbytes = d.nbytes};
  memcpy(out->dim, d.dim, d.rank * sizeof *d.dim);
  return NULL;
}

void wick_pb_varint(wick_text *t, uint64_t v)
{
  for (; v > 127; v >>= 7) wick_text_char(t, (char)(v | 128));
  wick_text_char(t, (char)v);
}

void wick_pb_number(wick_text *t, uint32_t field, uint64_t v)
{
  wick_pb_varint(t, field << 3);
  wick_pb_varint(t, v);
}

void wick_pb_put(wick_text *t, uint32_t field, const wick_bytes *part, size_t n)
{
  size_t all = 0;
  for (size_t i = 0; i < n; i++) all += part[i].nbytes;
  wick_pb_varint(t, field << 3 | 2);
  wick_pb_varint(t, all);
  for (size_t i = 0; i < n; i++) wick_text_addn(t, part[i].at, part[i].nbytes);
}

wick_status wick_pb_parts(const wick_array *a, const char *location, wick_arena *mem,
                          wick_bytes out[2])
{
  enum { DIMS = 1, DATA_TYPE = 2, STRING_DATA = 6, NAME = 8, RAW_DATA = 9 }; /* of TensorProto */
  int64_t type = 0;
  wick_elem elem;
  while (type < WICK_ONNX_NTYPE && !(wick_onnx_elem(type, &elem) && elem == a->elem)) type++;
  if (type == WICK_ONNX_NTYPE)
    return wick_fail(mem, WICK_EUNSUPPORTED, location, "elements of type %s cannot be written",
                     wick_elem_name(a->elem));
  wick_text dims = wick_text_begin(mem), t = wick_text_begin(mem);
  for (uint32_t i = 0; i < a->rank; i++) wick_pb_varint(&dims, (uint64_t)a->dim[i]);
  if (a->rank) wick_pb_put(&t, DIMS, &(wick_bytes){dims.at, dims.n}, 1);
  wick_pb_number(&t, DATA_TYPE, (uint64_t)type);
  if (a->name && *a->name) wick_pb_put(&t, NAME, &(wick_bytes){a->name, strlen(a->name)}, 1);
  const wick_string *text = a->data;
  for (uint64_t i = 0; a->elem == WICK_STRING && i < a->nbytes / sizeof *text; i++)
    wick_pb_put(&t, STRING_DATA, &(wick_bytes){text[i].at, (size_t)text[i].nbytes}, 1);
  out[1] = (wick_bytes){0};
  if (a->elem != WICK_STRING) {
    wick_pb_varint(&t, RAW_DATA << 3 | 2);
    wick_pb_varint(&t, a->nbytes);
    out[1] = (wick_bytes){a->data, (size_t)a->nbytes};
  }
  out[0] = (wick_bytes){t.at, t.n};
  return NULL;
}

/* ---- files ---- */

static bool tensor_io_ends(const char *path, const char *end)
{
  size_t n = strlen(path), m = strlen(end);
  return n > m && strcmp(path + n - m, end) == 0;
}

static bool tensor_io_begins(wick_span s, const char *magic, size_t n)
{
  return s.nbytes >= n && memcmp(s.at, magic, n) == 0;
}

wick_status wick_arrays_read(wick_files *files, const char *path, wick_arena *mem, wick_arena *tmp,
                             wick_arrays *list)
{
  wick_file *file;
  WICK_TRY(wick_files_map(files, path, &file));
  wick_span s = {file->at, file->nbytes};
  wick_array a = {.name = ""};
  if (tensor_io_begins(s, "PK\3\4", 4) || tensor_io_begins(s, "PK\5\6", 4))
    return wick_npz_read(s, path, mem, list);
  if (tensor_io_begins(s, WICK_NPY_MAGIC, 6))
    WICK_TRY(wick_npy_read(s, path, mem, &a));
  else if (tensor_io_begins(s, WICK_PNG_MAGIC, 8))
    WICK_TRY(wick_png_read(s, path, mem, tmp, &a));
  else if (tensor_io_begins(s, WICK_JPEG_MAGIC, 3))
    WICK_TRY(wick_jpeg_read(s, path, mem, &a));
  else if (tensor_io_ends(path, ".pb"))
    WICK_TRY(wick_pb_read(s, path, mem, &a));
  else if (tensor_io_ends(path, ".json"))
    a.data = a.json = wick_str_dupn(mem, (const char *)s.at, a.nbytes = s.nbytes);
  else if (wick_format_of(s))
    return wick_fail(mem, WICK_EPARSE, path,
                     "this is %s, expected .npy, .npz, .png, .jpg, a TensorProto in a file named "
                     ".pb, or a map in one named .json",
                     wick_format_of(s)->name);
  else
    return wick_fail(mem, WICK_EPARSE, path,
                     "it does not begin like a file of a known kind, expected .npy, .npz, .png, "
                     ".jpg, a TensorProto in a file named .pb, or a map in one named .json");
  wick_push(mem, list, a);
  return NULL;
}

wick_status wick_array_parts(const wick_array *a, const char *path, wick_arena *tmp,
                             wick_bytes part[2])
{
  part[0] = (wick_bytes){0};
  part[1] = (wick_bytes){a->data, (size_t)a->nbytes};
  if (tensor_io_ends(path, ".npy") && a->elem == WICK_STRING)
    WICK_TRY(wick_npy_texts(a, path, tmp, part));
  else if (tensor_io_ends(path, ".npy"))
    WICK_TRY(wick_npy_header(a, path, tmp, &part[0]));
  else if (tensor_io_ends(path, ".pb"))
    WICK_TRY(wick_pb_parts(a, path, tmp, part));
  else
    return wick_fail(tmp, WICK_EINVAL, path,
                     "the file's name does not end like a known kind, expected .npy or .pb");
  return NULL;
}

wick_status wick_array_write(const wick_array *a, const char *path, wick_arena *tmp)
{
  wick_bytes part[2];
  WICK_TRY(wick_array_parts(a, path, tmp, part));
  return wick_file_write(tmp, path, part, 2);
}
