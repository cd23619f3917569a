/* What the rows of layers share: the configuration, arguments, constants, layouts, arithmetic. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"

const keras_call *keras_of(const wick_import_node *n) { return n->data; }

/* ---- types ---- */

wick_elem keras_elem(const char *name, wick_elem otherwise)
{
  static const struct {
    const char *name;
    wick_elem elem;
  } row[] = {{"float32", WICK_F32},   {"float16", WICK_F16},       {"float64", WICK_F64},
             {"bfloat16", WICK_BF16}, {"int8", WICK_I8},           {"int16", WICK_I16},
             {"int32", WICK_I32},     {"int64", WICK_I64},         {"int", WICK_I32},
             {"uint8", WICK_U8},      {"uint16", WICK_U16},        {"uint32", WICK_U32},
             {"uint64", WICK_U64},    {"bool", WICK_BOOL},         {"string", WICK_STRING},
             {"float", WICK_F32},     {"mixed_float16", WICK_F16}, {"mixed_bfloat16", WICK_BF16}};
  for (size_t i = 0; name && i < WICK_COUNT(row); i++)
    if (strcmp(row[i].name, name) == 0) return row[i].elem;
  return otherwise;
}

static const char *call_policy_name(wick_import *c, const keras_layer *l)
{
  const wick_json *j = keras_config(l, "dtype");
  const char *name = keras_text(c, j, NULL);
  return name ? name
              : keras_text(c, wick_json_member(wick_json_member(j, "config"), "name"), "float32");
}

/* A policy is a name, or an object with a name; one for quantized layers names its source. */
wick_elem keras_declared(wick_import *c, const keras_layer *l)
{
  const wick_json *config = wick_json_member(keras_config(l, "dtype"), "config");
  const char *name = call_policy_name(c, l);
  const char *source = strstr(name, "_from_");
  const char *given = keras_text(c, wick_json_member(config, "source_name"), NULL);
  return keras_elem(given ? given : source ? source + 6 : name, WICK_F32);
}

wick_elem keras_policy(wick_import *c, const keras_layer *l)
{
  wick_elem e = keras_declared(c, l);
  return wick_elem_is_float(e) ? e : WICK_F32;
}

wick_elem keras_compute(const wick_import_node *n)
{
  return keras_policy(n->c, keras_of(n)->layer);
}

/* After a failure of the builder values have no type; rows may go on until they return. */
static const wick_type_info *call_info(const wick_import_node *n, wick_value v)
{
  static const wick_dim dim[WICK_MAX_RANK];
  static const wick_type_info none = {.kind = WICK_TENSOR, .elem = WICK_F32, .dim = dim};
  return v.id && !n->b->status ? wick_built_info(n->b, v) : &none;
}

uint32_t keras_rank(const wick_import_node *n, wick_value v) { return call_info(n, v)->rank; }
const wick_dim *keras_dims(const wick_import_node *n, wick_value v)
{
  const wick_type_info *t = call_info(n, v);
  return t->rank ? t->dim : call_info(n, (wick_value){0})->dim;
}
wick_elem keras_elem_of(const wick_import_node *n, wick_value v) { return call_info(n, v)->elem; }

wick_value keras_wide(wick_import_node *n, wick_value x)
{
  wick_elem e = keras_elem_of(n, x);
  return e == WICK_F64 || e == WICK_F32 ? x : wick_build_cast(n->b, x, WICK_F32);
}

/* ---- the configuration ---- */

static wick_import_attr call_list(const wick_import_node *n, const wick_json *j, char kind)
{
  wick_import_attr a = {.kind = 'I', .n = j->n};
  int64_t *ints = wick_new(n->c->tmp, int64_t, j->n + 1);
  double *floats = wick_new(n->c->tmp, double, j->n + 1);
  wick_span *texts = wick_new(n->c->tmp, wick_span, j->n + 1);
  uint32_t i = 0;
  for (const wick_json *k = j->first; k; k = k->next, i++) {
    if (k->kind == WICK_JSON_STRING) {
      texts[i] = (wick_span){(const unsigned char *)k->at, k->nbytes};
      a.kind = 'S';
    } else if (!wick_json_double(k, &floats[i])) {
      a.kind = 'o';
    } else if (k->kind != WICK_JSON_NUMBER || !wick_json_int(k, &ints[i])) {
      if (a.kind == 'I') a.kind = 'F';
    }
  }
  if (kind == 'F' && a.kind == 'I') a.kind = 'F';
  a.ints = ints, a.floats = floats, a.texts = texts;
  return a;
}

/* Functions of TensorFlow, as Keras 2 has them, get all but their tensors as keyword arguments. */
static const wick_json *call_keyword(const wick_import_node *n, const char *name)
{
  const keras_call *k = keras_of(n);
  if (strncmp(k->layer->op, "tf.", 3) != 0) return NULL;
  for (uint32_t i = 0; i < k->narg; i++)
    if (k->arg[i].key && strcmp(k->arg[i].key, name) == 0 && k->arg[i].kind != KERAS_TENSOR)
      return k->arg[i].json && k->arg[i].json->kind != WICK_JSON_NULL ? k->arg[i].json : NULL;
  return NULL;
}

wick_import_attr keras_attr(const wick_import_node *n, const char *name, char kind)
{
  const wick_json *j = keras_config(keras_of(n)->layer, name);
  if (!j) j = call_keyword(n, name);
  wick_import_attr a = {0};
  if (!j) return a;
  switch (j->kind) {
  case WICK_JSON_FALSE:
  case WICK_JSON_TRUE: return (wick_import_attr){.kind = 'b', .i = j->kind == WICK_JSON_TRUE};
  case WICK_JSON_STRING:
    return (wick_import_attr){.kind = 's', .s = {(const unsigned char *)j->at, j->nbytes}};
  case WICK_JSON_ARRAY: return call_list(n, j, kind);
  case WICK_JSON_NUMBER: break;
  default: return (wick_import_attr){.kind = 'o'};
  }
  a.kind = wick_json_int(j, &a.i) ? 'i' : 'f';
  if (!wick_json_double(j, &a.f)) a.kind = 'o';
  return a;
}

bool keras_is_true(const wick_import_node *n, const char *name, bool otherwise)
{
  wick_import_attr a = keras_attr(n, name, 'b');
  return a.kind == 'b' || a.kind == 'i' ? a.i != 0 : otherwise;
}

bool keras_sizes(wick_import_node *n, const char *name, uint32_t count, int64_t otherwise,
                 int64_t *out)
{
  wick_import_attr a = keras_attr(n, name, 'I');
  for (uint32_t i = 0; i < count; i++)
    out[i] = a.kind == 'i' ? a.i : a.kind == 'I' && i < a.n ? a.ints[a.n == 1 ? 0 : i] : otherwise;
  bool good = !a.kind || a.kind == 'i' || (a.kind == 'I' && (a.n == count || a.n == 1));
  for (uint32_t i = 0; i < count; i++)
    if (out[i] < 0 || out[i] > INT32_MAX) good = false;
  if (!good) wick_import_fail(n, WICK_EPARSE, "%s is expected to be %u whole numbers", name, count);
  return good;
}

bool keras_known(wick_import_node *n, const char *what, wick_dim d)
{
  return wick_dim_is_const(d) || wick_import_must_be_known(n, what, d);
}

bool keras_axis(wick_import_node *n, const char *name, int64_t otherwise, uint32_t rank,
                uint32_t *out)
{
  wick_import_attr a = keras_attr(n, name, 'i');
  if (a.kind == 'I' && a.n == 1) a.i = a.ints[0], a.kind = 'i';
  return wick_import_axis(n, a.kind == 'i' ? a.i : otherwise, rank, out);
}

bool keras_axes(wick_import_node *n, const char *name, uint32_t rank, uint32_t *out_n, int64_t *out)
{
  wick_import_attr a = keras_attr(n, name, 'I');
  bool seen[WICK_MAX_RANK] = {false};
  *out_n = a.kind == 'I' ? a.n : a.kind == 'i' ? 1 : rank;
  if (*out_n > rank) {
    wick_import_fail(n, WICK_ETYPE, "%s has %u axes, the tensor %u", name, *out_n, rank);
    return false;
  }
  for (uint32_t i = 0; i < *out_n; i++) {
    int64_t axis = a.kind == 'I' ? a.ints[i] : a.kind == 'i' ? a.i : (int64_t)i;
    uint32_t k;
    if (!wick_import_axis(n, axis, rank, &k)) return false;
    if (seen[k]) {
      wick_import_fail(n, WICK_ETYPE, "%s has axis %u twice", name, k);
      return false;
    }
    seen[k] = true;
    out[i] = k;
  }
  return true;
}

/* ---- arguments ---- */

const keras_arg *keras_argument(const wick_import_node *n, uint32_t position, const char *name)
{
  static const keras_arg nothing;
  const keras_call *k = keras_of(n);
  for (uint32_t i = 0, at = 0; i < k->narg; i++) {
    if (k->arg[i].key ? strcmp(k->arg[i].key, name) == 0 : at++ == position) return &k->arg[i];
  }
  return &nothing;
}

/* The shape of nested lists; false if they are no array. */
static bool call_array_shape(const keras_arg *a, uint32_t *rank, int64_t *dim)
{
  for (*rank = 0; a->kind == KERAS_LIST; a = a->item) {
    if (*rank == WICK_MAX_RANK) return false;
    dim[(*rank)++] = a->n;
    if (!a->n) return true;
  }
  return a->kind == KERAS_CONST;
}

static bool call_array_fill(const keras_arg *a, uint32_t rank, const int64_t *dim, double **to,
                            bool *whole)
{
  if (!rank) {
    bool good = a->kind == KERAS_CONST && wick_json_double(a->json, *to);
    if (good &&
        (**to != floor(**to) || memchr(a->json->at ? a->json->at : "", '.', a->json->nbytes)))
      *whole = false;
    ++*to;
    return good;
  }
  if (a->kind != KERAS_LIST || a->n != dim[0]) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!call_array_fill(&a->item[i], rank - 1, dim + 1, to, whole)) return false;
  return true;
}

/* An array as Keras serializes it: {"class_name": "__numpy__" or "__array__", "config": {"value":
 * lists, "dtype"}}. */
static keras_arg call_lists(wick_import_node *n, const wick_json *j)
{
  keras_arg a = {.kind = j->kind == WICK_JSON_ARRAY ? KERAS_LIST : KERAS_CONST, .json = j};
  if (a.kind == KERAS_CONST) return a;
  a.item = wick_new(n->c->tmp, keras_arg, j->n + 1);
  for (const wick_json *k = j->first; k; k = k->next) a.item[a.n++] = call_lists(n, k);
  return a;
}

wick_value keras_value(wick_import_node *n, const keras_arg *a, wick_value like)
{
  int64_t dim[WICK_MAX_RANK];
  uint32_t rank;
  bool whole = true;
  keras_arg lists;
  const char *dtype = NULL;
  if (a->kind == KERAS_TENSOR) return a->t.v;
  if (a->kind == KERAS_LIST && a->n && a->item[0].kind == KERAS_TENSOR) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a list of tensors is not expected here");
    return (wick_value){0};
  }
  const wick_json *config = a->kind == KERAS_CONST ? wick_json_member(a->json, "config") : NULL;
  if (config && wick_json_member(config, "value")) {
    lists = call_lists(n, wick_json_member(config, "value"));
    dtype = keras_text(n->c, wick_json_member(config, "dtype"), NULL);
    a = &lists;
  }
  uint64_t nelem = 1;
  bool good = call_array_shape(a, &rank, dim);
  for (uint32_t i = 0; good && i < rank; i++)
    good = !wick_mul_overflows(nelem, (uint64_t)dim[i], &nelem);
  if (good && nelem < 1u << 28) {
    double *numbers = wick_new(n->c->tmp, double, nelem + 1), *to = numbers;
    if (call_array_fill(a, rank, dim, &to, &whole)) {
      wick_elem e = like.id ? keras_elem_of(n, like) : whole ? WICK_I32 : WICK_F32;
      if (like.id && !whole && !wick_elem_is_float(e)) e = WICK_F32;
      if (!rank && a->json->kind != WICK_JSON_NUMBER && !like.id) e = WICK_BOOL;
      e = keras_elem(dtype, e);
      return wick_emit_table(n->b, n->name, e, rank, dim, numbers);
    }
  }
  wick_import_fail(n, WICK_EUNSUPPORTED, "an argument is neither a tensor nor an array of numbers");
  return (wick_value){0};
}

wick_value keras_json_value(wick_import_node *n, const wick_json *j, wick_value like)
{
  keras_arg a = call_lists(n, j);
  return keras_value(n, &a, like);
}

/* ---- layouts ---- */

bool keras_channels_last(wick_import_node *n)
{
  return strcmp(wick_import_text(n, "data_format", "channels_last"), "channels_first") != 0;
}

wick_value keras_channels_first(wick_import_node *n, wick_value x, bool last)
{
  uint32_t rank = keras_rank(n, x);
  int64_t perm[WICK_MAX_RANK] = {0, rank - 1};
  if (!last || rank < 3) return x;
  for (uint32_t i = 2; i < rank; i++) perm[i] = i - 1;
  return wick_build_transpose(n->b, x, rank, perm);
}

wick_value keras_channels_back(wick_import_node *n, wick_value x, bool last)
{
  uint32_t rank = keras_rank(n, x);
  int64_t perm[WICK_MAX_RANK] = {0};
  if (!last || rank < 3) return x;
  for (uint32_t i = 1; i + 1 < rank; i++) perm[i] = i + 1;
  perm[rank - 1] = 1;
  return wick_build_transpose(n->b, x, rank, perm);
}

wick_value keras_along(wick_import_node *n, wick_value v, uint32_t axis, uint32_t rank)
{
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dim[i] = wick_dim_const(1);
  dim[axis] = keras_dims(n, v)[0];
  return axis + 1 == rank ? v : wick_build_reshape(n->b, v, rank, dim);
}

wick_value keras_reverse(wick_import_node *n, wick_value x, uint32_t axis)
{
  wick_dim size = keras_dims(n, x)[axis];
  wick_dim last = wick_dim_sub(n->c->module->dims, size, wick_dim_const(1));
  return wick_build_slice_axis(n->b, x, axis, last, size, -1);
}

/* ---- arithmetic ---- */

/* The element type of results of two operands, by Keras' rules: bool, integers by width, floats. An
 * integer with a float is that float. */
wick_elem keras_common(wick_elem a, wick_elem b)
{
  if (a == b) return a;
  bool fa = wick_elem_is_float(a), fb = wick_elem_is_float(b);
  if (fa != fb) return fa ? a : b;
  if (a == WICK_BOOL) return b;
  if (b == WICK_BOOL) return a;
  uint8_t wa = wick_elem_storage[a].bits, wb = wick_elem_storage[b].bits;
  if (fa) return wa == wb ? WICK_F32 : wa > wb ? a : b; /* f16 and bf16 */
  bool ua = wick_elem_class(a) == WICK_UINT, ub = wick_elem_class(b) == WICK_UINT;
  if (ua == ub) return wa > wb ? a : b;
  uint8_t u = ua ? wa : wb, i = ua ? wb : wa;
  if (u >= 64) return WICK_F32;
  uint32_t need = u < i ? i : 2u * u;
  return need <= 16 ? WICK_I16 : need <= 32 ? WICK_I32 : WICK_I64;
}

wick_value keras_op2(wick_import_node *n, wick_opcode op, wick_value x, wick_value y)
{
  if (!x.id || !y.id) return (wick_value){0};
  wick_elem e = keras_common(keras_elem_of(n, x), keras_elem_of(n, y));
  x = wick_build_cast(n->b, x, e);
  y = wick_build_cast(n->b, y, e);
  return wick_build2(n->b, op, x, y);
}

wick_value keras_by(wick_import_node *n, wick_opcode op, wick_value x, double number)
{
  return wick_emit_by(n->b, op, x, number);
}
