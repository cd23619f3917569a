/* Constants of ML programs: values in place and blobs in weight files, and attributes. */
#include <string.h>

#include "import/coreml/program/state.h"
#include "ir/element.h"
#include "ops/ref.h"

/* ---- types ---- */

typedef struct values_type {
  int dtype;
  wick_elem elem;
  uint32_t bits;
  uint32_t blob; /* the number of the type in weight files; 0: they do not have it */
  bool is_signed;
} values_type;

static const values_type values_types[] = {
    {WICK_MIL_BOOL, WICK_BOOL, 8, 0, false}, {WICK_MIL_F16, WICK_F16, 16, 1, true},
    {WICK_MIL_F32, WICK_F32, 32, 2, true},   {WICK_MIL_F64, WICK_F64, 64, 0, true},
    {WICK_MIL_BF16, WICK_BF16, 16, 5, true}, {WICK_MIL_I8, WICK_I8, 8, 4, true},
    {WICK_MIL_I16, WICK_I16, 16, 6, true},   {WICK_MIL_I32, WICK_I32, 32, 14, true},
    {WICK_MIL_I64, WICK_I64, 64, 0, true},   {WICK_MIL_I4, WICK_I8, 4, 8, true},
    {WICK_MIL_U8, WICK_U8, 8, 3, false},     {WICK_MIL_U16, WICK_U16, 16, 7, false},
    {WICK_MIL_U32, WICK_U32, 32, 15, false}, {WICK_MIL_U64, WICK_U64, 64, 0, false},
    {WICK_MIL_U4, WICK_U8, 4, 11, false},    {WICK_MIL_U2, WICK_U8, 2, 10, false},
    {WICK_MIL_U1, WICK_U8, 1, 9, false},     {WICK_MIL_U6, WICK_U8, 6, 13, false},
    {WICK_MIL_U3, WICK_U8, 3, 12, false},
};

static const values_type *values_type_of(int64_t dtype)
{
  for (size_t i = 0; i < WICK_COUNT(values_types); i++)
    if (values_types[i].dtype == dtype) return &values_types[i];
  return NULL;
}

bool wick_mil_elem(int64_t dtype, wick_elem *out)
{
  const values_type *t = values_type_of(dtype);
  if (t) *out = t->elem;
  if (dtype == WICK_MIL_STRING) *out = WICK_STRING;
  return t || dtype == WICK_MIL_STRING;
}

/* ---- data ---- */

/* A constant that is being read. */
typedef struct values_reader {
  wick_import *c;
  const char *name, *location;
  const values_type *type;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  uint64_t numel;
} values_reader;

static wick_value values_fail(const values_reader *r, const char *what)
{
  wick_import_error(r->c, WICK_EPARSE, r->location, "%s", what);
  return (wick_value){0};
}

/* Numbers of less than a byte fill bytes from their lowest bits; they become bytes. */
static wick_value values_unpack(const values_reader *r, wick_span data)
{
  uint32_t bits = r->type->bits, mask = (1u << bits) - 1;
  unsigned char *to = wick_module_alloc(r->c->module, (size_t)r->numel + 1);
  uint64_t at = 0;
  for (uint64_t i = 0; i < r->numel; i++, at += bits) {
    size_t byte = (size_t)(at / 8);
    uint32_t two = data.at[byte] | (byte + 1 < data.nbytes ? (uint32_t)data.at[byte + 1] << 8 : 0);
    uint32_t v = two >> at % 8 & mask;
    to[i] = (unsigned char)(r->type->is_signed && v >> (bits - 1) ? v | ~mask : v);
  }
  return wick_import_weight(r->c, r->name, r->type->elem, r->rank, r->dim,
                            (wick_span){to, (size_t)r->numel}, r->location);
}

static wick_value values_raw(const values_reader *r, wick_span data)
{
  uint64_t nbytes = (r->numel * r->type->bits + 7) / 8;
  if (data.nbytes != nbytes) return values_fail(r, "the data of a constant do not fit its type");
  if (r->type->bits < 8) return values_unpack(r, data);
  return wick_import_weight(r->c, r->name, r->type->elem, r->rank, r->dim, data, r->location);
}

static wick_value values_blob(const values_reader *r, const wick_mil_blob *blob)
{
  wick_span data;
  uint64_t nbytes = (r->numel * r->type->bits + 7) / 8;
  if (!wick_mil_blob_read(r->c, blob, r->type->blob, nbytes, r->location, &data))
    return (wick_value){0};
  return values_raw(r, data);
}

/* Numbers that are varints become the constant's elements. */
static wick_value values_varints(const values_reader *r, const wick_wire_spans *spans)
{
  wick_elem e = r->type->elem;
  uint32_t size = wick_elem_storage[e].bits / 8u;
  uint64_t left = 0, n = 0;
  for (size_t s = 0; s < spans->n; s++) left += spans->at[s].nbytes;
  if (r->numel > left) return values_fail(r, "a constant has fewer numbers than its type says");
  unsigned char *to = wick_module_alloc(r->c->module, (size_t)r->numel * size + 1);
  for (size_t s = 0; s < spans->n; s++) {
    wick_reader in = wick_reader_make(spans->at[s].at, spans->at[s].nbytes);
    uint64_t v;
    while (wick_reader_left(&in)) {
      if (!wick_read_varint(&in, &v) || n == r->numel)
        return values_fail(r, "a constant has more numbers than its type says");
      wick_store_elem(e, to, n++, (wick_scalar){.i = e == WICK_BOOL ? v != 0 : (int64_t)v});
    }
  }
  if (n != r->numel) return values_fail(r, "a constant has fewer numbers than its type says");
  return wick_import_weight(r->c, r->name, e, r->rank, r->dim,
                            (wick_span){to, (size_t)r->numel * size}, r->location);
}

/* Numbers of fixed width: one span, or joined from several. */
static wick_value values_fixed(const values_reader *r, const wick_wire_spans *spans)
{
  size_t nbytes = 0, at = 0;
  if (spans->n == 1) return values_raw(r, spans->at[0]);
  for (size_t s = 0; s < spans->n; s++) nbytes += spans->at[s].nbytes;
  unsigned char *to = wick_module_alloc(r->c->module, nbytes + 1);
  for (size_t s = 0; s < spans->n; at += spans->at[s++].nbytes)
    if (spans->at[s].nbytes) memcpy(to + at, spans->at[s].at, spans->at[s].nbytes);
  return values_raw(r, (wick_span){to, nbytes});
}

static wick_value values_immediate(const values_reader *r, const wick_mil_tensor *t)
{
  static const wick_wire_spans none = {0};
  wick_elem e = r->type->elem;
  bool is_float = wick_elem_is_float(e);
  const wick_mil_numbers *wide = t->longs ? t->longs : t->ints ? t->ints : t->bools;
  if (t->bytes) return values_raw(r, t->bytes->values);
  if (t->floats && e == WICK_F32) return values_fixed(r, &t->floats->values);
  if (t->doubles && e == WICK_F64) return values_fixed(r, &t->doubles->values);
  if (wide && !is_float) return values_varints(r, &wide->values);
  if (!r->numel) return values_fixed(r, &none);
  return values_fail(r, "the data of a constant do not fit its type");
}

/* ---- constants ---- */

static wick_mil_item values_texts(uint32_t n, const wick_span *text)
{
  return (wick_mil_item){.kind = WICK_MIL_TEXT, .ntext = n, .text = text};
}

/* A list of strings, or of numbers: the labels of a classifier. */
static wick_mil_item values_list(wick_import *c, const wick_mil_list *list, const char *name,
                                 const char *location)
{
  wick_span *text = wick_new(c->tmp, wick_span, list->values.n + 1);
  int64_t *number = wick_new(c->tmp, int64_t, list->values.n + 1), n = (int64_t)list->values.n;
  bool texts = true, numbers = true;
  for (size_t i = 0; i < list->values.n; i++) {
    const wick_mil_immediate *im = list->values.at[i].immediate;
    const wick_mil_tensor *t = im ? im->tensor : NULL;
    const wick_mil_numbers *s = t ? t->strings : NULL,
                           *l = t ? t->longs ? t->longs : t->ints : NULL;
    texts = texts && s && s->values.n == 1;
    numbers = numbers && l && l->values.n == 1;
    if (texts) text[i] = s->values.at[0];
    uint64_t v = 0;
    wick_reader r = numbers ? wick_reader_make(l->values.at[0].at, l->values.at[0].nbytes)
                            : wick_reader_make("", 0);
    numbers = numbers && wick_read_varint(&r, &v);
    number[i] = (int64_t)v;
  }
  if (texts) return values_texts((uint32_t)list->values.n, text);
  if (numbers)
    return wick_mil_tensor_item(
        wick_import_copied(c, name, WICK_I64, 1, &n, number, list->values.n * sizeof *number));
  wick_import_error(c, WICK_EUNSUPPORTED, location,
                    "a list of constants that are neither strings nor integers");
  return (wick_mil_item){0};
}

static wick_mil_item values_tensor(wick_import *c, const wick_mil_value *v, const char *name,
                                   const char *location)
{
  const wick_mil_tensor_type *t = v->type->tensor;
  const wick_mil_tensor *data = v->immediate ? v->immediate->tensor : NULL;
  values_reader r = {.c = c, .name = name, .location = location, .numel = 1};
  if (t->dtype == WICK_MIL_STRING) {
    if (data && data->strings)
      return values_texts((uint32_t)data->strings->values.n, data->strings->values.at);
    return wick_mil_tensor_item(values_fail(&r, "a constant of strings has no data"));
  }
  r.type = values_type_of(t->dtype);
  if (!r.type) {
    wick_import_error(c, WICK_EUNSUPPORTED, location, "constants of type %lld are not supported",
                      (long long)t->dtype);
    return (wick_mil_item){0};
  }
  if (t->dimensions.n > WICK_MAX_RANK) {
    wick_import_error(c, WICK_EUNSUPPORTED, location,
                      "the rank of a constant is %zu, the most is %d", t->dimensions.n,
                      WICK_MAX_RANK);
    return (wick_mil_item){0};
  }
  r.rank = (uint32_t)t->dimensions.n;
  for (uint32_t k = 0; k < r.rank; k++) {
    const wick_mil_dim *d = &t->dimensions.at[k];
    int64_t size = d->constant ? d->constant->size : d->unknown ? -1 : 0;
    if (size < 0 || (size && r.numel > (uint64_t)INT64_MAX / 64 / (uint64_t)size))
      return wick_mil_tensor_item(values_fail(&r, "a constant's size is not known, or too large"));
    r.dim[k] = size;
    r.numel *= (uint64_t)size;
  }
  if (v->blob) return wick_mil_tensor_item(values_blob(&r, v->blob));
  if (data) return wick_mil_tensor_item(values_immediate(&r, data));
  return wick_mil_tensor_item(values_fail(&r, "a constant has no data"));
}

wick_mil_item wick_mil_constant(wick_import *c, const wick_mil_value *v, const char *name,
                                const char *location)
{
  const wick_mil_immediate *im = v ? v->immediate : NULL;
  if (v && v->type && v->type->tensor) return values_tensor(c, v, name, location);
  if (im && im->list) return values_list(c, im->list, name, location);
  if (im && im->tuple) return values_list(c, im->tuple, name, location);
  wick_import_error(c, WICK_EPARSE, location, "a constant has no value");
  return (wick_mil_item){0};
}

/* ---- attributes ---- */

static void values_numbers(const wick_import_node *n, const wick_tensor *t, wick_import_attr *out)
{
  uint32_t count = (uint32_t)wick_ref_numel(t);
  int64_t *ints = wick_new(n->c->tmp, int64_t, count + 1u);
  double *floats = wick_new(n->c->tmp, double, count + 1u);
  bool is_float = wick_elem_is_float(t->elem);
  for (uint32_t k = 0; k < count; k++) {
    wick_scalar s = wick_load_elem(t->elem, t->data, k);
    ints[k] = is_float ? 0 : s.i;
    floats[k] = is_float ? s.f : (double)s.i;
  }
  out->n = count, out->ints = ints, out->floats = floats;
  out->i = ints[0], out->f = floats[0];
}

/* The numbers of an argument of several items, which hold one or more each. Returns false if one is
 * not known. */
static bool values_joined(const wick_import_node *n, const wick_mil_arg *a, wick_import_attr *out)
{
  wick_list(int64_t) ints = {0};
  wick_tensor t;
  for (uint32_t i = 0; i < a->n; i++) {
    if (a->item[i].kind != WICK_MIL_TENSOR ||
        !wick_known_value(n->b, n->c->tmp, a->item[i].v, &t) || wick_elem_is_float(t.elem))
      return false;
    for (uint64_t k = 0; k < wick_ref_numel(&t); k++)
      wick_push(n->c->tmp, &ints, wick_load_elem(t.elem, t.data, k).i);
  }
  out->kind = 'I', out->n = ints.n, out->ints = ints.at;
  return true;
}

/* An argument that must be known: a number or a list of them, by the kind that is asked for. */
wick_import_attr wick_mil_attr_of(const wick_import_node *n, const char *name, char kind)
{
  const wick_mil_arg *a = wick_mil_arg_find(n, name);
  wick_import_attr out = {.kind = 'o'};
  wick_tensor t;
  if (!a || !a->n) return (wick_import_attr){0};
  const wick_mil_item *item = &a->item[0];
  if (kind == 'v' || kind == 'V') out.kind = kind;
  if (!kind || kind == 'v' || kind == 'V') return out;
  if (item->kind == WICK_MIL_TEXT) {
    out.kind = item->ntext == 1 && kind == 's' ? 's' : 'S';
    out.s = item->ntext ? item->text[0] : (wick_span){0};
    out.n = item->ntext, out.texts = item->text;
    return out;
  }
  if (a->n > 1 && kind == 'I') {
    values_joined(n, a, &out);
    return out;
  }
  if (item->kind != WICK_MIL_TENSOR || !wick_known_value(n->b, n->c->tmp, item->v, &t)) return out;
  values_numbers(n, &t, &out);
  bool is_float = wick_elem_is_float(t.elem), list = kind == 'I' || kind == 'F';
  if (list)
    out.kind = is_float ? 'F' : 'I';
  else if (out.n == 1)
    out.kind = is_float ? 'f' : t.elem == WICK_BOOL && kind == 'b' ? 'b' : 'i';
  return out;
}
