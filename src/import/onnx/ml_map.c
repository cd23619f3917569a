/* Imports operators on maps: ZipMap, DictVectorizer and CastMap. map.c explains how maps are
 * represented. */
#include <string.h>

#include "import/onnx/ml.h"

enum {
  MAP_MOST_PLACES = 1 << 20
}; /* limit for CastMap, which requests a key of an input for
                                       each */

/* Reads a list of keys from one of these attributes. Strings stay UTF-8, because keys of the
 * interface are text. Returns false after it added a failure. */
static bool map_keys(wick_onnx_op *o, const char *ints, const char *strings, wick_elem *out_elem,
                     uint32_t *out_n, const int64_t **out)
{
  wick_wire_i64s number = wick_onnx_ints(o, ints);
  const wick_onnx_attr *a = wick_onnx_attr_find(o, strings);
  wick_wire_spans text = a ? a->strings : (wick_wire_spans){0};
  if (!number.n == !text.n || number.n + text.n > INT32_MAX) {
    wick_onnx_fail(o, WICK_EPARSE,
                   number.n ? "both %s and %s have keys" : "neither %s nor %s has keys", ints,
                   strings);
    return false;
  }
  *out_elem = number.n ? WICK_I64 : WICK_STRING;
  *out_n = (uint32_t)(number.n + text.n);
  int64_t *key = wick_new(o->c->tmp, int64_t, *out_n);
  for (uint32_t i = 0; i < *out_n; i++) {
    if (number.n) {
      key[i] = number.at[i];
      continue;
    }
    const char *good = wick_wire_text(o->c->tmp, text.at[i]);
    if (strlen(good) != text.at[i].nbytes || memcmp(good, text.at[i].at, text.at[i].nbytes) != 0) {
      wick_onnx_fail(o, WICK_EPARSE, "key %u, \"%s\", is not UTF-8", i, good);
      return false;
    }
    key[i] = wick_onnx_string(o->c, text.at[i]);
  }
  *out = key;
  return true;
}

static const char *map_key_text(wick_onnx_op *o, wick_elem elem, int64_t key)
{
  if (elem != WICK_STRING) return wick_str_printf(o->c->tmp, "%lld", (long long)key);
  wick_string s = wick_string_table_get(&o->c->module->strings, key);
  return wick_str_printf(o->c->tmp, "\"%.*s\"", (int)s.nbytes, s.at);
}

/* ---- ZipMap ---- */

/* Makes a map of scores, with the classes as keys. */
static void map_zip(wick_onnx_op *o)
{
  wick_elem elem;
  uint32_t n;
  const int64_t *key;
  const wick_type_info *t = wick_onnx_info(o, 0);
  if (t->elem != WICK_F32 || t->rank < 1 || t->rank > 2) {
    wick_onnx_fail(o, WICK_ETYPE, "its input is %s of rank %u, expected f32 of rank 1 or 2",
                   wick_elem_name(t->elem), t->rank);
    return;
  }
  if (!map_keys(o, "classlabels_int64s", "classlabels_strings", &elem, &n, &key)) return;
  int64_t twice = wick_onnx_keys_twice(o->c->tmp, n, key);
  if (twice >= 0) {
    wick_onnx_fail(o, WICK_EPARSE, "the label %s occurs twice", map_key_text(o, elem, key[twice]));
    return;
  }
  wick_value x = o->in[0];
  if (t->rank == 1) x = wick_emit_unsqueeze(o->b, x, 0);
  if (o->b->status) return;
  if (!wick_onnx_equal(o, wick_built_info(o->b, x)->dim[1], wick_dim_const(n))) {
    wick_text type = wick_text_begin(o->c->tmp);
    wick_type_print(o->c->module, wick_built_type(o->b, x), &type);
    wick_onnx_fail(o, WICK_ETYPE, "its input is %s, there are %u labels", type.at, n);
    return;
  }
  x = wick_onnx_sized(o, x, 1, n);
  if (!o->b->status) o->out[0] = wick_onnx_map_make(o->b, wick_onnx_keys(o->c, elem, n, key), x);
}

/* ---- maps to tensors ---- */

/* Checks that operand 0 is a map. Returns false after it added a failure. */
static bool map_operand(wick_onnx_op *o, wick_elem *out_key, wick_elem *out_elem)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  bool is = wick_onnx_is_map(o->b, o->in[0]);
  const wick_type_info *keys = is ? wick_type_get(o->c->module, t->item[1]) : NULL,
                       *values = is ? wick_type_get(o->c->module, t->item[2]) : NULL;
  if (!is || values->rank != 1) {
    wick_onnx_fail(o, WICK_ETYPE, "its input is %s, expected a map",
                   is                      ? "a sequence of maps"
                   : t->kind == WICK_TUPLE ? "a sequence or an optional"
                                           : "a tensor");
    return false;
  }
  *out_key = keys->elem, *out_elem = values->elem;
  return true;
}

/* Keys that are not in the vocabulary are left out, as in ONNX Runtime. */
static void map_vectorize(wick_onnx_op *o)
{
  wick_elem elem, key_elem, value;
  uint32_t n;
  const int64_t *key;
  if (!map_operand(o, &elem, &value) ||
      !map_keys(o, "int64_vocabulary", "string_vocabulary", &key_elem, &n, &key))
    return;
  if (key_elem != elem) {
    wick_onnx_fail(o, WICK_ETYPE, "its input has keys of type %s, its vocabulary is of type %s",
                   wick_elem_name(elem), wick_elem_name(key_elem));
    return;
  }
  wick_value y = wick_onnx_map_look(o, o->in[0], n, key);
  o->out[0] = wick_emit_unsqueeze(o->b, y, 0);
}

/* Returns the values at the positions that their keys give. */
static wick_value map_sparse(wick_onnx_op *o)
{
  int64_t n = wick_onnx_int(o, "max_map", 1);
  if (n < 1 || n > MAP_MOST_PLACES) {
    wick_onnx_fail(o, WICK_ERANGE, "max_map is %lld, expected 1 to %d", (long long)n,
                   MAP_MOST_PLACES);
    return (wick_value){0};
  }
  int64_t *key = wick_new(o->c->tmp, int64_t, (size_t)n);
  for (int64_t i = 0; i < n; i++) key[i] = i;
  return wick_onnx_map_look(o, o->in[0], (uint32_t)n, key);
}

/* Fills the positions of a sparse result that have no value: with 0, or, for strings, with the
 * text that ONNX Runtime writes. */
static wick_value map_padded(wick_onnx_op *o, wick_value x, wick_value y, wick_elem to)
{
  static const unsigned char zero[] = "0.f";
  wick_builder *b = o->b;
  if (b->status || !x.id || !y.id) return y;
  wick_elem from = wick_built_info(b, x)->elem;
  if (from != WICK_STRING && to != WICK_STRING) return y;
  wick_type one = wick_type_tensor(o->c->module, from, 0, NULL);
  wick_value none = wick_build2(b, WICK_OP_eq, x, wick_build_const(b, one, 0, 0));
  int64_t number = wick_onnx_string(o->c, (wick_span){zero, to == WICK_STRING ? 3 : 1});
  wick_type text = wick_type_tensor(o->c->module, WICK_STRING, 0, NULL);
  wick_value pad = wick_build_const(b, text, 0, number);
  return wick_build3(b, WICK_OP_where, none, pad, y);
}

static void map_cast(wick_onnx_op *o)
{
  static const wick_elem forms[] = {WICK_F32, WICK_STRING, WICK_I64};
  wick_elem key, value, to = forms[wick_onnx_word(o, "cast_to", "TO_FLOAT TO_STRING TO_INT64")];
  bool sparse = wick_onnx_word(o, "map_form", "DENSE SPARSE") == 1;
  if (o->failed || !map_operand(o, &key, &value)) return;
  if (key != WICK_I64 || (value != WICK_F32 && value != WICK_STRING)) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "its input is map(%s,%s), expected map(i64,f32) or map(i64,string)",
                   wick_elem_name(key), wick_elem_name(value));
    return;
  }
  wick_value x = sparse ? map_sparse(o) : wick_onnx_map_dense(o, o->in[0]);
  if (o->failed || o->b->status) return;
  if (value == WICK_STRING && sparse) x = map_padded(o, x, x, to);
  wick_value y = wick_onnx_cast_text(o, x, to);
  if (value != WICK_STRING && sparse) y = map_padded(o, x, y, to);
  o->out[0] = wick_emit_unsqueeze(o->b, y, 0);
}

const wick_onnx_row wick_onnx_ml_map_rows[] = {
    {"ai.onnx.ml.CastMap",
     1,
     {1, 1},
     1,
     "cast_to:s map_form:s max_map:i",
     map_cast,
     WICK_OP_tuple,
     0},
    {"ai.onnx.ml.DictVectorizer",
     1,
     {1, 1},
     1,
     "int64_vocabulary:I string_vocabulary:S",
     map_vectorize,
     WICK_OP_tuple,
     0},
    {"ai.onnx.ml.ZipMap",
     1,
     {1, 1},
     1,
     "classlabels_int64s:I classlabels_strings:S",
     map_zip,
     0,
     0},
    {0},
};
