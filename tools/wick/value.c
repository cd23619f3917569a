/* Reads and writes the messages of onnx-data.proto by tables of their fields. */
#include "value.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/tensor.h"
#include "ir/element.h"

bool wick_value_type_parse(const char *text, wick_value_type *out)
{
  static const char optional[] = "optional(", seq[] = "seq(", map[] = "map(";
  uint32_t open = 0;
  *out = (wick_value_type){0};
  out->optional = strncmp(text, optional, sizeof optional - 1) == 0;
  if (out->optional) text += sizeof optional - 1, open++;
  out->seq = strncmp(text, seq, sizeof seq - 1) == 0;
  if (out->seq) text += sizeof seq - 1, open++;
  out->map = strncmp(text, map, sizeof map - 1) == 0;
  if (out->map) {
    text += sizeof map - 1, open++;
    size_t n = strcspn(text, ",");
    if (!text[n] || !wick_elem_parse(text, n, &out->key)) return false;
    if (out->key != WICK_I64 && out->key != WICK_STRING) return false;
    text += n + 1;
  }
  size_t n = strcspn(text, ")");
  if (!open || !wick_elem_parse(text, n, &out->elem)) return false;
  return strspn(text + n, ")") == open && !text[n + open];
}

/* ---- messages ---- */

enum { VALUE_UNDEFINED, VALUE_TENSOR, VALUE_SPARSE, VALUE_SEQUENCE, VALUE_MAP, VALUE_OPTIONAL };

static const char *value_kind(int64_t elem_type)
{
  static const char *const kind[] = {[VALUE_UNDEFINED] = "of no kind",
                                     [VALUE_TENSOR] = "tensors",
                                     [VALUE_SPARSE] = "sparse tensors",
                                     [VALUE_SEQUENCE] = "sequences",
                                     [VALUE_MAP] = "maps",
                                     [VALUE_OPTIONAL] = "optionals"};
  return elem_type >= 0 && elem_type < (int64_t)WICK_COUNT(kind) ? kind[elem_type]
                                                                 : "of an unknown kind";
}

typedef struct value_sequence {
  uint64_t has;
  wick_span name;
  int64_t elem_type;
  struct {
    wick_onnx_tensor *at;
    size_t n;
  } tensor_values;
} value_sequence;

typedef struct value_map {
  uint64_t has;
  wick_span name;
  int64_t key_type;
  wick_wire_i64s keys;
  wick_wire_spans string_keys;
  value_sequence *values;
} value_map;

typedef struct value_optional {
  uint64_t has;
  wick_span name;
  int64_t elem_type;
  wick_onnx_tensor *tensor_value;
  value_sequence *sequence_value;
} value_optional;

enum { VALUE_NAME = 1, VALUE_TYPE = 2, VALUE_TENSORS = 3, VALUE_SEQUENCES = 5, VALUE_MAPS = 6 };
enum { VALUE_KEYS = 3, VALUE_TEXT_KEYS = 4, VALUE_VALUES = 5 }; /* of MapProto */

static const wick_wire_field value_sequence_fields[] = {
    {"name", VALUE_NAME, WICK_WIRE_BYTES, offsetof(value_sequence, name), NULL},
    {"elem_type", VALUE_TYPE, WICK_WIRE_I32, offsetof(value_sequence, elem_type), NULL},
    {"tensor_values", VALUE_TENSORS, WICK_WIRE_MESSAGES, offsetof(value_sequence, tensor_values),
     &wick_onnx_tensor_message},
};
static const wick_wire_message value_sequence_message = {"SequenceProto", sizeof(value_sequence),
                                                         value_sequence_fields,
                                                         WICK_COUNT(value_sequence_fields), 0};

static const wick_wire_field value_map_fields[] = {
    {"name", VALUE_NAME, WICK_WIRE_BYTES, offsetof(value_map, name), NULL},
    {"key_type", VALUE_TYPE, WICK_WIRE_I32, offsetof(value_map, key_type), NULL},
    {"keys", VALUE_KEYS, WICK_WIRE_I64S, offsetof(value_map, keys), NULL},
    {"string_keys", VALUE_TEXT_KEYS, WICK_WIRE_SPANS, offsetof(value_map, string_keys), NULL},
    {"values", VALUE_VALUES, WICK_WIRE_MESSAGE, offsetof(value_map, values),
     &value_sequence_message},
};
static const wick_wire_message value_map_message = {"MapProto", sizeof(value_map), value_map_fields,
                                                    WICK_COUNT(value_map_fields), 0};

static const wick_wire_field value_optional_fields[] = {
    {"name", VALUE_NAME, WICK_WIRE_BYTES, offsetof(value_optional, name), NULL},
    {"elem_type", VALUE_TYPE, WICK_WIRE_I32, offsetof(value_optional, elem_type), NULL},
    {"tensor_value", VALUE_TENSORS, WICK_WIRE_MESSAGE, offsetof(value_optional, tensor_value),
     &wick_onnx_tensor_message},
    {"sequence_value", VALUE_SEQUENCES, WICK_WIRE_MESSAGE, offsetof(value_optional, sequence_value),
     &value_sequence_message},
};
static const wick_wire_message value_optional_message = {"OptionalProto", sizeof(value_optional),
                                                         value_optional_fields,
                                                         WICK_COUNT(value_optional_fields), 0};

const char *wick_value_name(wick_span bytes, bool tensor, wick_arena *mem)
{
  typedef struct {
    uint64_t has;
    wick_span name;
  } named;
  static const wick_wire_field list_fields[] = {
      {"name", VALUE_NAME, WICK_WIRE_BYTES, offsetof(named, name), NULL}};
  static const wick_wire_message list = {"message", sizeof(named), list_fields, 1, 0};
  static const wick_wire_field tensor_fields[] = {
      {"name", 8, WICK_WIRE_BYTES, offsetof(named, name), NULL}};
  static const wick_wire_message one = {"message", sizeof(named), tensor_fields, 1, 0};
  void *message;
  if (wick_wire_decode(tensor ? &one : &list, bytes, "", mem, &message)) return "";
  return wick_wire_text(mem, ((const named *)message)->name);
}

/* ---- reading ---- */

static wick_status value_tensor(const wick_onnx_tensor *t, wick_elem elem, const char *location,
                                wick_arena *mem, wick_array *out)
{
  wick_onnx_data d;
  const wick_onnx_outside outside = {.texts = true}; /* and no files: external data is refused */
  WICK_TRY(wick_onnx_tensor_read(t, &outside, location, mem, &d));
  if (d.elem != elem)
    return wick_fail(mem, WICK_ETYPE, location, "it is of %s, expected %s", wick_elem_name(d.elem),
                     wick_elem_name(elem));
  *out =
      (wick_array){.name = "", .elem = d.elem, .rank = d.rank, .data = d.data, .nbytes = d.nbytes};
  memcpy(out->dim, d.dim, d.rank * sizeof *d.dim);
  return NULL;
}

static wick_status value_elements(const value_sequence *s, wick_elem elem, const char *location,
                                  wick_arena *mem, int64_t *out_count, wick_array **out)
{
  size_t n = s->tensor_values.n;
  if (s->elem_type != VALUE_TENSOR && (n || s->elem_type != VALUE_UNDEFINED))
    return wick_fail(mem, WICK_ETYPE, location, "SequenceProto: its elements are %s, expected %s",
                     value_kind(s->elem_type), value_kind(VALUE_TENSOR));
  *out_count = (int64_t)n;
  *out = wick_new(mem, wick_array, n + 1);
  for (size_t k = 0; k < n; k++) {
    const char *place = wick_str_printf(mem, "%s: element %zu", location, k);
    WICK_TRY(value_tensor(&s->tensor_values.at[k], elem, place, mem, &(*out)[k]));
  }
  return NULL;
}

static int value_by_text(const void *a, const void *b)
{
  const wick_string *x = *(const wick_string *const *)a, *y = *(const wick_string *const *)b;
  size_t n = (size_t)(x->nbytes < y->nbytes ? x->nbytes : y->nbytes);
  int order = n ? memcmp(x->at, y->at, n) : 0;
  return order ? order : (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes);
}

static int value_by_number(const void *a, const void *b)
{
  int64_t x = **(const int64_t *const *)a, y = **(const int64_t *const *)b;
  return (x > y) - (x < y);
}

static wick_array value_row(wick_elem elem, size_t n, void *data, size_t nbytes)
{
  return (wick_array){.name = "",
                      .elem = elem,
                      .rank = 1,
                      .dim = {(int64_t)n},
                      .data = data,
                      .nbytes = (uint64_t)nbytes};
}

/* Sorts the keys, and puts the values, one element each, in their order. */
static wick_status value_pairs(const wick_value_type *type, size_t n, void *key,
                               const wick_array *value, const char *location, wick_arena *mem,
                               wick_array *out)
{
  bool texts = type->key == WICK_STRING;
  size_t width = texts ? sizeof(wick_string) : sizeof(int64_t);
  unsigned char **order = wick_new(mem, unsigned char *, n + 1), *at = key;
  for (size_t k = 0; k < n; k++) order[k] = at + k * width;
  qsort(order, n, sizeof *order, texts ? value_by_text : value_by_number);
  for (size_t k = 1; k < n; k++)
    if (!(texts ? value_by_text : value_by_number)(&order[k - 1], &order[k]))
      return wick_fail(mem, WICK_EPARSE, location, "MapProto: a key occurs twice");
  size_t bytes =
      type->elem == WICK_STRING ? n * sizeof(wick_string) : (size_t)wick_elem_bytes(type->elem, n);
  unsigned char *keys = wick_arena_alloc(mem, n * width + 1, 64),
                *data = wick_arena_alloc(mem, bytes + 1, 64);
  for (size_t k = 0; k < n; k++) {
    size_t from = (size_t)(order[k] - at) / width;
    memcpy(keys + k * width, order[k], width);
    if (type->elem == WICK_STRING)
      ((wick_string *)(void *)data)[k] = *(const wick_string *)value[from].data;
    else
      wick_store_elem(type->elem, data, k, wick_load_elem(type->elem, value[from].data, 0));
  }
  out[0] = value_row(type->key, n, keys, n * width);
  out[1] = value_row(type->elem, n, data, bytes);
  return NULL;
}

static wick_status value_read_map(const value_map *m, const wick_value_type *type,
                                  const char *location, wick_arena *mem, wick_array **out)
{
  static const value_sequence none = {0};
  bool texts = type->key == WICK_STRING;
  wick_elem key;
  int64_t nvalue;
  wick_array *value;
  if (!wick_onnx_elem(m->key_type, &key) || key != type->key)
    return wick_fail(mem, WICK_ETYPE, location, "MapProto: its keys are of %s, expected %s",
                     wick_onnx_elem_name(m->key_type, mem), wick_elem_name(type->key));
  size_t n = texts ? m->string_keys.n : m->keys.n;
  WICK_TRY(
      value_elements(m->values ? m->values : &none, type->elem, location, mem, &nvalue, &value));
  if ((size_t)nvalue != n)
    return wick_fail(mem, WICK_EPARSE, location, "MapProto: it has %zu keys and %lld values", n,
                     (long long)nvalue);
  for (size_t k = 0; k < n; k++)
    for (uint32_t d = 0; d < value[k].rank; d++)
      if (value[k].dim[d] != 1)
        return wick_fail(mem, WICK_ETYPE, location,
                         "MapProto: value %zu is %s, expected one element", k,
                         wick_array_type(mem, value[k].elem, value[k].rank, value[k].dim));
  void *keys = m->keys.at;
  if (texts) {
    wick_string *text = wick_new(mem, wick_string, n + 1);
    for (size_t k = 0; k < n; k++)
      text[k] = (wick_string){(const char *)m->string_keys.at[k].at, m->string_keys.at[k].nbytes};
    keys = text;
  }
  *out = wick_new(mem, wick_array, 2);
  return value_pairs(type, n, keys, value, location, mem, *out);
}

static wick_status value_read_optional(const value_optional *o, const wick_value_type *type,
                                       const char *location, wick_arena *mem, int64_t *out_count,
                                       wick_array **out)
{
  int64_t want = type->seq ? VALUE_SEQUENCE : VALUE_TENSOR;
  bool there = type->seq ? o->sequence_value != NULL : o->tensor_value != NULL;
  if (o->elem_type != want && o->elem_type != VALUE_UNDEFINED)
    return wick_fail(mem, WICK_ETYPE, location, "OptionalProto: its kind is %s, expected %s",
                     value_kind(o->elem_type), value_kind(want));
  *out_count = there ? 1 : -1;
  if (!there) return NULL;
  if (type->seq)
    return value_elements(o->sequence_value, type->elem, location, mem, out_count, out);
  *out = wick_new(mem, wick_array, 1);
  return value_tensor(o->tensor_value, type->elem, location, mem, *out);
}

wick_status wick_value_read(wick_span bytes, const wick_value_type *type, const char *location,
                            wick_arena *mem, int64_t *out_count, wick_array **out_element)
{
  void *message;
  const wick_wire_message *kind = type->optional ? &value_optional_message
                                  : type->seq    ? &value_sequence_message
                                                 : &value_map_message;
  *out_count = 2;
  *out_element = NULL;
  WICK_TRY(wick_wire_decode(kind, bytes, location, mem, &message));
  if (type->optional)
    return value_read_optional(message, type, location, mem, out_count, out_element);
  if (type->seq) return value_elements(message, type->elem, location, mem, out_count, out_element);
  return value_read_map(message, type, location, mem, out_element);
}

/* ---- writing ---- */

static wick_status value_put_tensor(wick_text *t, uint32_t field, const wick_array *a,
                                    const char *location, wick_arena *mem)
{
  wick_array bare = *a;
  wick_bytes part[2];
  bare.name = "";
  WICK_TRY(wick_pb_parts(&bare, location, mem, part));
  wick_pb_put(t, field, part, 2);
  return NULL;
}

static void value_put_name(wick_text *t, const char *name)
{
  if (*name) wick_pb_put(t, VALUE_NAME, &(wick_bytes){name, strlen(name)}, 1);
}

static wick_status value_put_elements(wick_text *t, int64_t n, const wick_array *a,
                                      const char *location, wick_arena *mem)
{
  wick_pb_number(t, VALUE_TYPE, VALUE_TENSOR);
  for (int64_t k = 0; k < n; k++)
    WICK_TRY(value_put_tensor(t, VALUE_TENSORS, &a[k], location, mem));
  return NULL;
}

/* Element k of a, as a tensor without dimensions. */
static wick_array value_scalar(const wick_array *a, uint64_t k, wick_arena *mem)
{
  wick_array one = {.name = "", .elem = a->elem, .nbytes = sizeof(wick_string)};
  if (a->elem == WICK_STRING) {
    one.data = (const wick_string *)a->data + k;
    return one;
  }
  wick_scalar *stored = wick_arena_alloc(mem, 2 * sizeof *stored, 64);
  memset(stored, 0, 2 * sizeof *stored);
  wick_store_elem(a->elem, stored, 0, wick_load_elem(a->elem, a->data, k));
  one.data = stored, one.nbytes = wick_elem_bytes(a->elem, 1);
  return one;
}

/* The n values from `first` on, with their keys. */
static wick_status value_put_map(wick_text *t, wick_keys keys, const wick_array *a, uint64_t first,
                                 const char *location, wick_arena *mem)
{
  uint64_t numel = 1;
  for (uint32_t d = 0; d < a->rank; d++) numel *= (uint64_t)a->dim[d];
  if (first + keys.n > numel)
    return wick_fail(mem, WICK_EINTERNAL, location, "it has %u keys, and fewer values", keys.n);
  wick_text number = wick_text_begin(mem), values = wick_text_begin(mem);
  wick_pb_number(t, VALUE_TYPE, keys.text ? WICK_ONNX_STRING : WICK_ONNX_INT64);
  for (uint32_t k = 0; k < keys.n; k++)
    if (keys.text)
      wick_pb_put(t, VALUE_TEXT_KEYS, &(wick_bytes){keys.text[k].at, (size_t)keys.text[k].nbytes},
                  1);
    else
      wick_pb_varint(&number, (uint64_t)keys.number[k]);
  if (number.n) wick_pb_put(t, VALUE_KEYS, &(wick_bytes){number.at, number.n}, 1);
  wick_pb_number(&values, VALUE_TYPE, VALUE_TENSOR);
  for (uint32_t k = 0; k < keys.n; k++) {
    wick_array one = value_scalar(a, first + k, mem);
    WICK_TRY(value_put_tensor(&values, VALUE_TENSORS, &one, location, mem));
  }
  wick_pb_put(t, VALUE_VALUES, &(wick_bytes){values.at, values.n}, 1);
  return NULL;
}

wick_keys wick_value_keys(const wick_array *a)
{
  bool texts = a->elem == WICK_STRING;
  return (wick_keys){(uint32_t)a->dim[0], texts ? NULL : a->data, texts ? a->data : NULL};
}

static wick_status value_put_maps(wick_text *t, const wick_value_type *type, int64_t count,
                                  const wick_array *a, const char *location, wick_arena *mem)
{
  wick_keys keys = a->keys;
  if (count == 2) keys = wick_value_keys(a++);
  if (!type->seq) return value_put_map(t, keys, a, 0, location, mem);
  wick_pb_number(t, VALUE_TYPE, VALUE_MAP);
  for (int64_t row = 0; row < a->dim[0]; row++) {
    wick_text one = wick_text_begin(mem);
    WICK_TRY(value_put_map(&one, keys, a, (uint64_t)row * keys.n, location, mem));
    wick_pb_put(t, VALUE_MAPS, &(wick_bytes){one.at, one.n}, 1);
  }
  return NULL;
}

wick_status wick_value_write(const wick_value_type *type, const char *name, int64_t count,
                             const wick_array *element, const char *location, wick_arena *mem,
                             wick_bytes *out)
{
  wick_text t = wick_text_begin(mem), seq = wick_text_begin(mem);
  value_put_name(&t, name);
  if (type->optional) {
    int64_t kind = type->seq ? VALUE_SEQUENCE : VALUE_TENSOR;
    wick_pb_number(&t, VALUE_TYPE, count < 0 ? VALUE_UNDEFINED : (uint64_t)kind);
    if (count >= 0 && type->seq) {
      WICK_TRY(value_put_elements(&seq, count, element, location, mem));
      wick_pb_put(&t, VALUE_SEQUENCES, &(wick_bytes){seq.at, seq.n}, 1);
    } else if (count >= 0) {
      WICK_TRY(value_put_tensor(&t, VALUE_TENSORS, element, location, mem));
    }
  } else if (type->map) {
    WICK_TRY(value_put_maps(&t, type, count, element, location, mem));
  } else {
    WICK_TRY(value_put_elements(&t, count, element, location, mem));
  }
  *out = (wick_bytes){t.at, t.n};
  return NULL;
}
