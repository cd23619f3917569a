/* Imports lookups of keys: LabelEncoder and CategoryMapper. Keys are sorted and found by binary
 * search. Strings are compared as the module's numbers of strings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/ml.h"
#include "ir/element.h"

/* A list of keys or of values. */
typedef struct label_list {
  wick_elem elem;
  uint32_t n;
  wick_scalar *at;
} label_list;

static const struct {
  const char *suffix;
  wick_elem elem;
} label_forms[] = {
    {"tensor", WICK_F32}, {"strings", WICK_STRING}, {"int64s", WICK_I64}, {"floats", WICK_F32}};

static bool label_tensor(wick_onnx_op *o, const wick_onnx_tensor *t, label_list *out)
{
  wick_onnx_data d;
  wick_status s = wick_onnx_tensor_read(t, &o->c->outside, o->location, o->c->tmp, &d);
  if (s) {
    wick_errors_add(&o->c->errors, s);
    o->failed = true;
    return false;
  }
  size_t n = 1;
  for (uint32_t k = 0; k < d.rank; k++) n *= (size_t)d.dim[k];
  *out = (label_list){d.elem, (uint32_t)n, wick_new(o->c->tmp, wick_scalar, n + 1)};
  for (size_t k = 0; k < n; k++) out->at[k] = wick_load_elem(d.elem, d.data, k);
  return true;
}

/* Reads the attribute `of`_tensor, `of`_strings, ..., whichever exists. Returns false if there
 * is none, or after a failure. */
static bool label_read(wick_onnx_op *o, const char *of, label_list *out)
{
  for (size_t f = 0; f < WICK_COUNT(label_forms); f++) {
    const wick_onnx_attr *a =
        wick_onnx_attr_find(o, wick_str_printf(o->c->tmp, "%s_%s", of, label_forms[f].suffix));
    if (!a) continue;
    if (a->t) return label_tensor(o, a->t, out);
    size_t n = f == 1 ? a->strings.n : f == 2 ? a->ints.n : a->floats.n;
    *out = (label_list){label_forms[f].elem, (uint32_t)n, wick_new(o->c->tmp, wick_scalar, n + 1)};
    for (size_t k = 0; k < n; k++) {
      if (f == 1) out->at[k].i = wick_onnx_string(o->c, a->strings.at[k]);
      if (f == 2) out->at[k].i = a->ints.at[k];
      if (f == 3) out->at[k].f = (double)a->floats.at[k];
    }
    return true;
  }
  return false;
}

/* Reads the value for keys that are not in the table. */
static bool label_default(wick_onnx_op *o, wick_elem elem, wick_scalar *out)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "default_tensor"),
                       *s = wick_onnx_attr_find(o, "default_string");
  static const unsigned char unused[] = "_Unused";
  label_list list;
  if (a && a->t) {
    if (!label_tensor(o, a->t, &list)) return false;
    if (list.n != 1 || list.elem != elem)
      wick_onnx_fail(o, WICK_ETYPE, "default_tensor has %u elements of type %s, expected 1 of %s",
                     list.n, wick_elem_name(list.elem), wick_elem_name(elem));
    *out = list.at[0];
    return !o->failed;
  }
  *out = (wick_scalar){.i = 0};
  if (elem == WICK_STRING)
    out->i = wick_onnx_string(o->c, s ? s->s : (wick_span){unused, sizeof unused - 1});
  else if (wick_elem_is_float(elem))
    out->f = wick_onnx_float(o, "default_float", -0.f);
  else
    out->i = wick_onnx_int(o, "default_int64", -1);
  return true;
}

/* ---- the table ---- */

typedef struct label_pair {
  wick_scalar key, value;
  uint32_t at;
  bool is_float;
} label_pair;

/* Rising order, with NaN last. Of equal keys the first one counts. */
static int label_order(const void *x, const void *y)
{
  const label_pair *a = x, *b = y;
  if (a->is_float) {
    bool na = isnan(a->key.f), nb = isnan(b->key.f);
    if (na != nb) return na ? 1 : -1;
    if (!na && a->key.f != b->key.f) return a->key.f < b->key.f ? -1 : 1;
  } else if (a->key.i != b->key.i) {
    return a->key.i < b->key.i ? -1 : 1;
  }
  return a->at < b->at ? -1 : 1;
}

static bool label_equal(const label_pair *a, const label_pair *b)
{
  if (!a->is_float) return a->key.i == b->key.i;
  return a->key.f == b->key.f || (isnan(a->key.f) && isnan(b->key.f));
}

static wick_value label_constant(wick_onnx_op *o, wick_elem elem, uint32_t n, const label_pair *p,
                                 bool keys)
{
  wick_module *m = o->c->module;
  int64_t dim = n;
  uint64_t nbytes = wick_elem_bytes(elem, n);
  void *data = wick_arena_alloc(&m->mem, (size_t)nbytes + 8, 64);
  for (uint32_t k = 0; k < n; k++) wick_store_elem(elem, data, k, keys ? p[k].key : p[k].value);
  uint32_t c = wick_emit_constant(m, wick_onnx_name(o->c, o->node->output.at[0]),
                                  wick_type_tensor_const(m, elem, 1, &dim), data, nbytes);
  return wick_build_constant(o->b, c);
}

static wick_value label_number(wick_onnx_op *o, wick_elem elem, wick_scalar v)
{
  bool is_float = wick_elem_is_float(elem);
  return wick_build_const(o->b, wick_type_tensor(o->c->module, elem, 0, NULL), is_float ? v.f : 0,
                          is_float ? 0 : v.i);
}

/* Builds a table of all integers between the least and the largest key, if they are close
 * together. Strings are looked up by their numbers. Returns 0 if the range is too large. */
static wick_value label_direct(wick_onnx_op *o, const label_list *keys, wick_elem value, uint32_t n,
                               const label_pair *p, wick_scalar otherwise)
{
  wick_builder *b = o->b;
  uint64_t first = n ? (uint64_t)p[0].key.i : 0, range = n ? (uint64_t)p[n - 1].key.i - first : 0;
  if (!n || wick_elem_is_float(keys->elem) || range > 4 * (uint64_t)n + 1024)
    return (wick_value){0};
  label_pair *all = wick_new(o->c->tmp, label_pair, (size_t)range + 1);
  for (uint64_t k = 0; k <= range; k++) all[k].value = otherwise;
  for (uint32_t k = 0; k < n; k++) all[(uint64_t)p[k].key.i - first] = p[k];
  wick_value table = label_constant(o, value, (uint32_t)range + 1, all, false), x = o->in[0];
  if (keys->elem == WICK_STRING) { /* the number of the string */
    wick_type number = wick_type_with_elem(o->c->module, wick_built_type(b, x), WICK_I64);
    x = wick_build(b, WICK_OP_bitcast, 1, &x, NULL, 1, &number);
  }
  x = wick_build_cast(b, x, WICK_I64);
  wick_value least = label_number(o, WICK_I64, p[0].key),
             most = label_number(o, WICK_I64, p[n - 1].key);
  wick_value low = wick_build2(b, WICK_OP_ge, x, least), high = wick_build2(b, WICK_OP_le, x, most);
  wick_value inside = wick_build2(b, WICK_OP_and, low, high);
  wick_value at = wick_build2(b, WICK_OP_sub, x, least);
  if (b->status) return at;
  at = wick_build3(b, WICK_OP_where, inside, at, wick_emit_number(o->b, at, 0));
  wick_value found = wick_emit_gather(o->b, WICK_OP_gather, table, at, 0);
  return wick_build3(b, WICK_OP_where, inside, found, label_number(o, value, otherwise));
}

/* Looks up x. */
static wick_value label_map(wick_onnx_op *o, const label_list *keys, const label_list *values,
                            wick_scalar otherwise)
{
  wick_builder *b = o->b;
  wick_value x = o->in[0], none = label_number(o, values->elem, otherwise);
  bool is_float = wick_elem_is_float(keys->elem);
  label_pair *p = wick_new(o->c->tmp, label_pair, keys->n + 1);
  for (uint32_t k = 0; k < keys->n; k++)
    p[k] = (label_pair){keys->at[k], values->at[k], k, is_float};
  qsort(p, keys->n, sizeof *p, label_order);
  uint32_t n = 0;
  for (uint32_t k = 0; k < keys->n; k++)
    if (!n || !label_equal(&p[n - 1], &p[k])) p[n++] = p[k];
  const label_pair *nan = n && is_float && isnan(p[n - 1].key.f) ? &p[--n] : NULL;
  wick_value y = label_direct(o, keys, values->elem, n, p, otherwise);
  if (y.id || b->status) return y;
  if (n) {
    wick_value table = label_constant(o, keys->elem, n, p, true),
               results = label_constant(o, values->elem, n, p, false);
    wick_value at = wick_build2(b, WICK_OP_search_sorted, x, table);
    at = wick_emit_by(o->b, WICK_OP_min, at, n - 1);
    wick_value found = wick_emit_gather(o->b, WICK_OP_gather, table, at, 0);
    wick_value hit = wick_build2(b, WICK_OP_eq, found, x);
    wick_value value = wick_emit_gather(o->b, WICK_OP_gather, results, at, 0);
    y = wick_build3(b, WICK_OP_where, hit, value, none);
  } else if (!b->status) {
    const wick_type_info *t = wick_onnx_info(o, 0);
    y = wick_emit_expand(o->b, none, t->rank, t->dim);
  }
  if (!nan) return y;
  wick_value is = wick_build1(b, WICK_OP_isnan, x),
             value = label_number(o, values->elem, nan->value);
  return wick_build3(b, WICK_OP_where, is, value, y);
}

/* ---- operators ---- */

/* Reads the attribute of opset 1, classes_strings: it maps strings to their positions, and
 * positions to strings. */
static bool label_classes(wick_onnx_op *o, const char *name, label_list *words,
                          label_list *positions)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  size_t n = a ? a->strings.n : 0;
  *words = (label_list){WICK_STRING, (uint32_t)n, wick_new(o->c->tmp, wick_scalar, n + 1)};
  *positions = (label_list){WICK_I64, (uint32_t)n, wick_new(o->c->tmp, wick_scalar, n + 1)};
  for (size_t k = 0; k < n; k++) {
    words->at[k].i = wick_onnx_string(o->c, a->strings.at[k]);
    positions->at[k].i = (int64_t)k;
  }
  return true;
}

static void label_encode_lists(wick_onnx_op *o, const label_list *keys, const label_list *values)
{
  wick_scalar otherwise;
  wick_elem e = wick_onnx_info(o, 0)->elem;
  if (keys->n != values->n || keys->elem != e) {
    wick_onnx_fail(o, WICK_ETYPE, "%u keys of %s and %u values, for elements of type %s", keys->n,
                   wick_elem_name(keys->elem), values->n, wick_elem_name(e));
    return;
  }
  if (label_default(o, values->elem, &otherwise)) o->out[0] = label_map(o, keys, values, otherwise);
}

static void label_encode_1(wick_onnx_op *o)
{
  label_list words, positions;
  bool text = wick_onnx_info(o, 0)->elem == WICK_STRING;
  label_classes(o, "classes_strings", &words, &positions);
  label_encode_lists(o, text ? &words : &positions, text ? &positions : &words);
}

static void label_encode(wick_onnx_op *o)
{
  label_list keys = {0}, values = {0};
  bool have = label_read(o, "keys", &keys);
  have = label_read(o, "values", &values) && have;
  if (o->failed) return;
  if (have)
    label_encode_lists(o, &keys, &values);
  else
    wick_onnx_fail(o, WICK_EPARSE, "it has no keys, or no values");
}

static void label_category(wick_onnx_op *o)
{
  label_list words, numbers = {WICK_I64, 0, NULL}, positions;
  bool text = wick_onnx_info(o, 0)->elem == WICK_STRING;
  wick_wire_i64s ints = wick_onnx_ints(o, "cats_int64s");
  label_classes(o, "cats_strings", &words, &positions);
  numbers.n = (uint32_t)ints.n;
  numbers.at = wick_new(o->c->tmp, wick_scalar, ints.n + 1);
  for (size_t k = 0; k < ints.n; k++) numbers.at[k].i = ints.at[k];
  label_encode_lists(o, text ? &words : &numbers, text ? &numbers : &words);
}

const wick_onnx_row wick_onnx_ml_label_rows[] = {
    {"ai.onnx.ml.CategoryMapper",
     1,
     {1, 1},
     1,
     "cats_int64s:I cats_strings:S default_int64:i default_string:s",
     label_category,
     0,
     0},
    {"ai.onnx.ml.LabelEncoder",
     1,
     {1, 1},
     1,
     "classes_strings:S default_int64:i default_string:s",
     label_encode_1,
     0,
     0},
    {"ai.onnx.ml.LabelEncoder",
     2,
     {1, 1},
     1,
     "default_float:f default_int64:i default_string:s keys_floats:F keys_int64s:I keys_strings:S "
     "values_floats:F values_int64s:I values_strings:S",
     label_encode,
     0,
     0},
    {"ai.onnx.ml.LabelEncoder",
     4,
     {1, 1},
     1,
     "default_float:f default_int64:i default_string:s default_tensor:t keys_floats:F "
     "keys_int64s:I keys_strings:S keys_tensor:t values_floats:F values_int64s:I values_strings:S "
     "values_tensor:t",
     label_encode,
     0,
     0},
    {0},
};
