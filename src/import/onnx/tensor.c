/* Reads the elements of tensors from raw bytes, typed fields and external files. */
#include "import/onnx/tensor.h"

#include <string.h>

/* A row of the table of TensorProto.DataType. Elements that are not raw are in the field `data`, as
 * packed values of kind `kind`. */
typedef struct tensor_row {
  const char *name;
  int8_t elem;  /* wick_elem, or -1 */
  uint8_t kind; /* of the typed field */
  uint16_t data;
} tensor_row;

#define ROW(id, elem, k, field)                                                                    \
  [WICK_ONNX_##id] = {#id, elem, WICK_WIRE_DATA_##k, (uint16_t)offsetof(wick_onnx_tensor, field)}
static const tensor_row tensor_rows[WICK_ONNX_NTYPE] = {
    ROW(UNDEFINED, -1, VARINT, int32_data),
    ROW(FLOAT, WICK_F32, F32, float_data),
    ROW(UINT8, WICK_U8, VARINT, int32_data),
    ROW(INT8, WICK_I8, VARINT, int32_data),
    ROW(UINT16, WICK_U16, VARINT, int32_data),
    ROW(INT16, WICK_I16, VARINT, int32_data),
    ROW(INT32, WICK_I32, VARINT, int32_data),
    ROW(INT64, WICK_I64, VARINT, int64_data),
    ROW(STRING, WICK_STRING, VARINT, string_data), /* see tensor_strings */
    ROW(BOOL, WICK_BOOL, VARINT, int32_data),
    ROW(FLOAT16, WICK_F16, VARINT, int32_data),
    ROW(DOUBLE, WICK_F64, F64, double_data),
    ROW(UINT32, WICK_U32, VARINT, uint64_data),
    ROW(UINT64, WICK_U64, VARINT, uint64_data),
    ROW(COMPLEX64, WICK_C64, F32, float_data),
    ROW(COMPLEX128, WICK_C128, F64, double_data),
    ROW(BFLOAT16, WICK_BF16, VARINT, int32_data),
    ROW(FLOAT8E4M3FN, WICK_F8E4M3, VARINT, int32_data),
    ROW(FLOAT8E4M3FNUZ, WICK_F8E4M3FNUZ, VARINT, int32_data),
    ROW(FLOAT8E5M2, WICK_F8E5M2, VARINT, int32_data),
    ROW(FLOAT8E5M2FNUZ, WICK_F8E5M2FNUZ, VARINT, int32_data),
    ROW(UINT4, WICK_U4, VARINT, int32_data),
    ROW(INT4, WICK_I4, VARINT, int32_data),
    ROW(FLOAT4E2M1, WICK_F4E2M1, VARINT, int32_data),
    ROW(FLOAT8E8M0, WICK_F8E8M0, VARINT, int32_data),
    ROW(UINT2, WICK_U2, VARINT, int32_data),
    ROW(INT2, WICK_I2, VARINT, int32_data),
    ROW(FLOAT6E2M3, -1, VARINT, int32_data), /* the storage table has no 6-bit types */
    ROW(FLOAT6E3M2, -1, VARINT, int32_data),
};
#undef ROW

bool wick_onnx_elem(int64_t data_type, wick_elem *out)
{
  *out = WICK_F32;
  if (data_type == WICK_ONNX_STRING) return *out = WICK_STRING, true;
  if (data_type < 0 || data_type >= WICK_ONNX_NTYPE || tensor_rows[data_type].elem < 0)
    return false;
  *out = (wick_elem)tensor_rows[data_type].elem;
  return true;
}

const char *wick_onnx_elem_name(int64_t data_type, wick_arena *mem)
{
  if (data_type >= 0 && data_type < WICK_ONNX_NTYPE) return tensor_rows[data_type].name;
  return wick_str_printf(mem, "%lld", (long long)data_type);
}

static wick_status tensor_type(const wick_onnx_tensor *t, const char *loc, wick_arena *mem,
                               wick_onnx_data *out)
{
  if (t->segment)
    return wick_fail(mem, WICK_EUNSUPPORTED, loc, "tensors in segments are not supported");
  if (!wick_onnx_elem(t->data_type, &out->elem))
    return wick_fail(mem, t->data_type == WICK_ONNX_UNDEFINED ? WICK_EPARSE : WICK_EUNSUPPORTED,
                     loc, "elements of type %s are not supported",
                     wick_onnx_elem_name(t->data_type, mem));
  if (t->dims.n > WICK_MAX_RANK)
    return wick_fail(mem, WICK_EUNSUPPORTED, loc, "its rank is %zu, the most is %d", t->dims.n,
                     WICK_MAX_RANK);
  out->rank = (uint32_t)t->dims.n;
  /* Zeros are multiplied last, so that an invalid size is an error even in an empty tensor. */
  int64_t numel = 1;
  bool empty = false;
  for (uint32_t i = 0; i < out->rank; i++) {
    int64_t d = out->dim[i] = t->dims.at[i];
    if (d < 0) return wick_fail(mem, WICK_ERANGE, loc, "dimension %u is %lld", i, (long long)d);
    empty |= d == 0;
    if (d && (wick_mul_overflows(numel, d, &numel) || numel > INT64_MAX / 16))
      return wick_fail(mem, WICK_ERANGE, loc, "the product of its dimensions overflows");
  }
  out->nbytes = wick_elem_bytes(out->elem, empty ? 0 : (uint64_t)numel);
  return NULL;
}

/* ---- external files ---- */

static bool tensor_decimal(wick_span s, uint64_t *out)
{
  *out = 0;
  for (size_t i = 0; i < s.nbytes; i++) {
    if (s.at[i] < '0' || s.at[i] > '9') return false;
    if (wick_mul_overflows(*out, 10u, out) ||
        wick_add_overflows(*out, (uint64_t)(s.at[i] - '0'), out))
      return false;
  }
  return s.nbytes > 0;
}

static wick_status tensor_external(const wick_onnx_tensor *t, const wick_onnx_outside *outside,
                                   const char *loc, wick_arena *mem, uint64_t nbytes,
                                   wick_span *out)
{
  const char *location = NULL;
  uint64_t offset = 0, length = nbytes;
  for (size_t i = 0; i < t->external_data.n; i++) {
    const wick_onnx_pair *p = &t->external_data.at[i];
    bool ok = true;
    if (wick_span_is(p->key, "location"))
      location = wick_wire_text(mem, p->value);
    else if (wick_span_is(p->key, "offset"))
      ok = tensor_decimal(p->value, &offset);
    else if (wick_span_is(p->key, "length"))
      ok = tensor_decimal(p->value, &length);
    if (!ok)
      return wick_fail(mem, WICK_EPARSE, loc, "its external data's %s is \"%s\", expected a number",
                       wick_wire_text(mem, p->key), wick_wire_text(mem, p->value));
  }
  if (!location || !*location)
    return wick_fail(mem, WICK_EPARSE, loc, "its external data has no location");
  if (!outside || !outside->files)
    return wick_fail(mem, WICK_EUNSUPPORTED, loc,
                     "its data is in the file \"%s\", and the model has no folder", location);
  wick_file *file;
  wick_status s = wick_files_map_beneath(outside->files, outside->folder, location, &file);
  if (s) return wick_fail(mem, s->code, loc, "its external data: %s", s->message);
  if (length != nbytes)
    return wick_fail(mem, WICK_EPARSE, loc,
                     "its external data has %llu bytes, but its shape requires %llu",
                     (unsigned long long)length, (unsigned long long)nbytes);
  if (offset > file->nbytes || length > file->nbytes - offset)
    return wick_fail(
        mem, WICK_EPARSE, loc, "its external data ends at byte %llu + %llu, \"%s\" has %zu",
        (unsigned long long)offset, (unsigned long long)length, location, file->nbytes);
  *out = (wick_span){file->at + offset, (size_t)length};
  return NULL;
}

/* ---- elements ---- */

/* Returns the bytes of one value of the typed field: it has two elements of a 4-bit type, or four
 * of a 2-bit type. */
static size_t tensor_unit(wick_elem e)
{
  unsigned bits = wick_elem_storage[e].bits;
  if (wick_elem_class(e) == WICK_COMPLEX) bits /= 2;
  return bits < 8 ? 1 : bits / 8;
}

static wick_status tensor_count(const char *loc, wick_arena *mem, uint64_t have, uint64_t want)
{
  return wick_fail(mem, WICK_EPARSE, loc, "its data has %llu bytes, but its shape requires %llu",
                   (unsigned long long)have, (unsigned long long)want);
}

/* Returns whether the value fits in an element. */
static bool tensor_fits(wick_elem e, size_t unit, uint64_t v)
{
  if (e == WICK_BOOL) return v <= 1;
  if (unit == 8) return true;
  int64_t i = (int64_t)
      v; /* unsigned elements may stand sign-extended, and signed ones in two's complement */
  return i >= -((int64_t)1 << (8 * unit - 1)) && i < (int64_t)1 << (8 * unit);
}

static wick_status tensor_varints(const wick_wire_spans *data, const char *loc, wick_arena *mem,
                                  wick_onnx_data *out)
{
  size_t unit = tensor_unit(out->elem);
  uint64_t have = 0;
  for (size_t i = 0; i < data->n; i++) have += data->at[i].nbytes;
  if (have < out->nbytes / unit)
    return tensor_count(loc, mem, have * unit, out->nbytes); /* before allocating */
  unsigned char *to = wick_arena_alloc(mem, (size_t)out->nbytes, 16);
  uint64_t n = 0;
  for (size_t i = 0; i < data->n; i++) {
    wick_reader r = wick_reader_make(data->at[i].at, data->at[i].nbytes);
    uint64_t v;
    for (; wick_reader_left(&r) && wick_read_varint(&r, &v); n++) {
      if (!tensor_fits(out->elem, unit, v))
        return wick_fail(mem, WICK_ERANGE, loc, "element %llu is %lld, outside of %s",
                         (unsigned long long)n, (long long)v, wick_elem_name(out->elem));
      if ((n + 1) * unit <= out->nbytes)
        for (size_t b = 0; b < unit; b++) to[n * unit + b] = (unsigned char)(v >> 8 * b);
    }
    if (r.fault) return wick_fail(mem, WICK_EPARSE, loc, "its data: %s", r.fault);
  }
  if (n * unit != out->nbytes) return tensor_count(loc, mem, n * unit, out->nbytes);
  out->data = to;
  return NULL;
}

enum { TENSOR_LARGE = 1 << 16 };

/* Reads elements that are stored unencoded. Does not copy one piece that is aligned and valid. */
static wick_status tensor_bytes(const wick_span *piece, size_t npiece, const char *loc,
                                const wick_onnx_outside *outside, wick_arena *mem,
                                wick_onnx_data *out)
{
  wick_module *module = outside ? outside->module : NULL;
  uint64_t have = 0;
  for (size_t i = 0; i < npiece; i++) have += piece[i].nbytes;
  if (have != out->nbytes) return tensor_count(loc, mem, have, out->nbytes);
  bool dirty = false; /* a bool that is neither 0 nor 1 */
  for (size_t i = 0; out->elem == WICK_BOOL && i < npiece; i++)
    for (size_t k = 0; k < piece[i].nbytes; k++) dirty |= piece[i].at[k] > 1;
  size_t align = wick_elem_storage[out->elem].align;
  bool loose = outside && outside->loose && out->nbytes >= TENSOR_LARGE;
  if (npiece == 1 && !dirty && (loose || (uintptr_t)piece[0].at % align == 0)) {
    out->data = piece[0].at;
    return NULL;
  }
  unsigned char *to = module ? wick_module_alloc(module, (size_t)out->nbytes)
                             : wick_arena_raw(mem, (size_t)out->nbytes, 64),
                *at = to;
  for (size_t i = 0; i < npiece; at += piece[i++].nbytes)
    if (piece[i].nbytes) memcpy(at, piece[i].at, piece[i].nbytes);
  for (uint64_t k = 0; dirty && k < out->nbytes; k++) to[k] = to[k] != 0;
  out->data = to;
  return NULL;
}

/* Converts strings to the module's numbers of them. */
static wick_status tensor_strings(const wick_wire_spans *data, const char *loc,
                                  const wick_onnx_outside *outside, wick_arena *mem,
                                  wick_onnx_data *out)
{
  uint64_t n = out->nbytes / sizeof(int64_t);
  if (!outside || (!outside->module && !outside->texts))
    return wick_fail(mem, WICK_EUNSUPPORTED, loc, "strings are not supported here");
  if (data->n != n)
    return wick_fail(mem, WICK_EPARSE, loc, "its data has %zu strings, but its shape requires %llu",
                     data->n, (unsigned long long)n);
  if (outside->texts) {
    wick_string *text = wick_new(mem, wick_string, n + 1);
    for (uint64_t i = 0; i < n; i++)
      text[i] = (wick_string){(const char *)data->at[i].at, data->at[i].nbytes};
    out->data = text, out->nbytes = n * sizeof *text;
    return NULL;
  }
  int64_t *to = wick_new(mem, int64_t, n);
  for (uint64_t i = 0; i < n; i++)
    to[i] = wick_string_table_add(&outside->module->strings, (const char *)data->at[i].at,
                                  data->at[i].nbytes, true);
  out->data = to;
  return NULL;
}

wick_status wick_onnx_tensor_read(const wick_onnx_tensor *t, const wick_onnx_outside *outside,
                                  const char *loc, wick_arena *mem, wick_onnx_data *out)
{
  *out = (wick_onnx_data){.data = ""};
  WICK_TRY(tensor_type(t, loc, mem, out));
  const tensor_row *row = &tensor_rows[t->data_type];
  const wick_wire_spans *data = (const void *)((const char *)t + row->data);
  const wick_wire_spans *fields[] = {&t->float_data, &t->int32_data,  &t->string_data,
                                     &t->int64_data, &t->double_data, &t->uint64_data};
  bool external = t->data_location == 1, raw = t->raw_data.nbytes > 0;
  unsigned nsource = (unsigned)external + (unsigned)raw;
  for (size_t i = 0; i < WICK_COUNT(fields); i++) nsource += fields[i]->n > 0;
  if (nsource > 1 || (nsource == 1 && !external && !raw && data->n == 0))
    return wick_fail(mem, WICK_EPARSE, loc,
                     "its data must be either raw or in the field of its type (%s), not in both",
                     row->name);
  wick_span s = t->raw_data;
  if (out->elem == WICK_STRING) {
    if (external || raw)
      return wick_fail(mem, WICK_EPARSE, loc, "strings can be neither raw nor external data");
    return tensor_strings(&t->string_data, loc, outside, mem, out);
  }
  if (external) WICK_TRY(tensor_external(t, outside, loc, mem, out->nbytes, &s));
  if (external || raw) return tensor_bytes(&s, 1, loc, outside, mem, out);
  if (row->kind == WICK_WIRE_DATA_VARINT) return tensor_varints(data, loc, mem, out);
  return tensor_bytes(data->at, data->n, loc, outside, mem, out);
}
