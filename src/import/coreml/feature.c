/* Steps that prepare features: scaling, replacing, encoding, joining. */
#include <math.h>
#include <string.h>

#include "import/coreml/classic.h"

/* ---- values ---- */

wick_value wick_coreml_given(wick_import *c, const wick_coreml_model *m, uint32_t i)
{
  wick_coreml_messages in = wick_coreml_parts(&m->interface, "input", c->tmp);
  const char *name = i < in.n ? wick_wire_text(c->tmp, wick_coreml_bytes(&in.at[i], "name")) : "";
  const wick_value *v = wick_import_find(c, name);
  if (v && v->id) return *v;
  if (!v)
    wick_import_error(c, WICK_EPARSE, c->file, "its input %u, \"%s\", has no value", i,
                      wick_import_shown(c, name));
  return (wick_value){0};
}

wick_value wick_coreml_vector(wick_import *c, const wick_coreml_model *m)
{
  wick_builder *b = &c->b;
  uint32_t n = wick_coreml_parts(&m->interface, "input", c->tmp).n;
  wick_value *part = wick_new(c->tmp, wick_value, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) {
    wick_value v = wick_coreml_given(c, m, i);
    if (!v.id || b->status) return (wick_value){0};
    if (wick_built_info(b, v)->elem == WICK_STRING) {
      wick_import_error(c, WICK_ETYPE, c->file, "its input %u is a text, expected numbers", i);
      return (wick_value){0};
    }
    wick_dim size = wick_type_numel(c->module, wick_built_type(b, v));
    part[i] = wick_build_reshape(b, wick_build_cast(b, v, WICK_F64), 1, &size);
  }
  if (n == 1) return part[0];
  if (n) return wick_build_concat(b, 0, n, part);
  wick_import_error(c, WICK_EPARSE, c->file, "a model has no inputs");
  return (wick_value){0};
}

void wick_coreml_result(wick_import *c, const wick_coreml_model *m, uint32_t i, wick_value v)
{
  wick_coreml_messages out = wick_coreml_parts(&m->interface, "output", c->tmp);
  if (c->b.status) {
    wick_import_add(c, NULL, c->b.status, c->file);
    c->b.status = NULL;
    v = (wick_value){0};
  }
  if (i < out.n && v.id)
    wick_import_rebind(c, wick_wire_text(c->tmp, wick_coreml_bytes(&out.at[i], "name")), v);
}

wick_value wick_coreml_numbers(wick_import *c, wick_coreml_reals v)
{
  int64_t n = v.n;
  return wick_emit_table(&c->b, "numbers", WICK_F64, 1, &n, v.at);
}

/* ---- numbers ---- */

/* One number for all features, or one for each. Returns 0 if there are none. */
static wick_value feature_each(wick_import *c, const wick_coreml_message *part, const char *name)
{
  wick_coreml_reals v = wick_coreml_reals_of(part, name, c->tmp);
  return v.n ? wick_coreml_numbers(c, v) : (wick_value){0};
}

/* (x + shift) * scale */
void wick_coreml_scaler(wick_import *c, const wick_coreml_model *m, const wick_coreml_message *part)
{
  wick_value x = wick_coreml_vector(c, m);
  if (!x.id) return;
  wick_value shift = feature_each(c, part, "shiftValue"),
             scale = feature_each(c, part, "scaleValue");
  if (shift.id) x = wick_build2(&c->b, WICK_OP_add, x, shift);
  if (scale.id) x = wick_build2(&c->b, WICK_OP_mul, x, scale);
  wick_coreml_result(c, m, 0, x);
}

/* Divides by the norm, unless it is 0. */
void wick_coreml_normalizer(wick_import *c, const wick_coreml_model *m,
                            const wick_coreml_message *part)
{
  enum { LMAX, L1, L2 };
  wick_builder *b = &c->b;
  int64_t type = wick_coreml_int(part, "normType", 0);
  wick_value x = wick_coreml_vector(c, m), norm;
  if (!x.id) return;
  if (type < LMAX || type > L2) {
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "there is no norm %lld", (long long)type);
    return;
  }
  if (type == LMAX)
    norm = wick_emit_reduce1(b, WICK_OP_reduce_max, wick_build1(b, WICK_OP_abs, x), 0, true);
  else
    norm = wick_emit_reduce1(b, type == L1 ? WICK_OP_reduce_l1 : WICK_OP_reduce_l2, x, 0, true);
  wick_value none = wick_emit_by(b, WICK_OP_eq, norm, 0);
  if (b->status) return;
  wick_value one = wick_emit_number(b, x, 1);
  norm = wick_build3(b, WICK_OP_where, none, one, norm);
  wick_coreml_result(c, m, 0, wick_build2(b, WICK_OP_div, x, norm));
}

/* Replaces one number (or NaN) by another, for each element. */
void wick_coreml_imputer(wick_import *c, const wick_coreml_model *m,
                         const wick_coreml_message *part)
{
  static const char *const refused[] = {"imputedStringValue", "imputedStringDictionary",
                                        "imputedInt64Dictionary"};
  wick_builder *b = &c->b;
  for (uint32_t k = 0; k < WICK_COUNT(refused); k++)
    if (wick_coreml_has(part, refused[k])) {
      wick_import_error(c, WICK_EUNSUPPORTED, c->file, "an imputer with %s is not supported",
                        refused[k]);
      return;
    }
  wick_value x = wick_coreml_vector(c, m), with;
  wick_coreml_message reals = wick_coreml_part(part, "imputedDoubleArray"),
                      ints = wick_coreml_part(part, "imputedInt64Array");
  if (!x.id) return;
  if (reals.bytes.at) {
    with = wick_coreml_numbers(c, wick_coreml_reals_of(&reals, "vector", c->tmp));
  } else if (ints.bytes.at) {
    wick_coreml_ints v = wick_coreml_ints_of(&ints, "vector", c->tmp);
    double *d = wick_new(c->tmp, double, (size_t)v.n + 1);
    for (uint32_t k = 0; k < v.n; k++) d[k] = (double)v.at[k];
    with = wick_coreml_numbers(c, (wick_coreml_reals){v.n, d});
  } else {
    double v = wick_coreml_has(part, "imputedInt64Value")
                   ? (double)wick_coreml_int(part, "imputedInt64Value", 0)
                   : wick_coreml_real(part, "imputedDoubleValue", 0);
    with = wick_emit_number(b, x, v);
  }
  double old = wick_coreml_has(part, "replaceInt64Value")
                   ? (double)wick_coreml_int(part, "replaceInt64Value", 0)
                   : wick_coreml_real(part, "replaceDoubleValue", 0);
  wick_value hit =
      old != old ? wick_build1(b, WICK_OP_isnan, x) : wick_emit_by(b, WICK_OP_eq, x, old);
  wick_coreml_result(c, m, 0, wick_build3(b, WICK_OP_where, hit, with, x));
}

/* ---- categories ---- */

/* Texts of a StringVector, as numbers of the module's table. */
static uint32_t feature_texts(wick_import *c, const wick_coreml_message *vector,
                              const int64_t **out)
{
  wick_coreml_texts t = wick_coreml_texts_of(vector, "vector", c->tmp);
  int64_t *v = wick_new(c->tmp, int64_t, (size_t)t.n + 1);
  for (uint32_t k = 0; k < t.n; k++)
    v[k] =
        wick_string_table_add(&c->module->strings, (const char *)t.at[k].at, t.at[k].nbytes, true);
  *out = v;
  return t.n;
}

/* Categories as a constant [n] of texts or numbers. */
static wick_value feature_categories(wick_import *c, const wick_coreml_message *part,
                                     const char *texts, const char *ints, uint32_t *out_n)
{
  wick_coreml_message t = wick_coreml_part(part, texts), i = wick_coreml_part(part, ints);
  const int64_t *v;
  if (t.bytes.at) {
    *out_n = feature_texts(c, &t, &v);
  } else {
    wick_coreml_ints l = wick_coreml_ints_of(&i, "vector", c->tmp);
    *out_n = l.n, v = l.at;
  }
  int64_t n = *out_n;
  if (n)
    return wick_import_copied(c, "categories", t.bytes.at ? WICK_STRING : WICK_I64, 1, &n, v,
                              (uint64_t)n * sizeof *v);
  wick_import_error(c, WICK_EPARSE, c->file, "it has no categories");
  return (wick_value){0};
}

/* An unknown category gives zeros. */
void wick_coreml_one_hot_encoder(wick_import *c, const wick_coreml_model *m,
                                 const wick_coreml_message *part)
{
  wick_builder *b = &c->b;
  uint32_t n;
  wick_value x = wick_coreml_given(c, m, 0),
             all = feature_categories(c, part, "stringCategories", "int64Categories", &n);
  if (!x.id || !all.id || b->status) return;
  if (wick_built_info(b, all)->elem == WICK_I64) x = wick_build_cast(b, x, WICK_I64);
  wick_value hit = wick_build2(b, WICK_OP_eq, x, all);
  if (!wick_coreml_int(part, "handleUnknown", 0))
    wick_import_remark(c, c->file, "a category that the model does not know gives zeros");
  wick_coreml_result(c, m, 0, wick_build_cast(b, hit, WICK_F64));
}

/* Looks up a category; another one gives the default. */
void wick_coreml_category(wick_import *c, const wick_coreml_model *m,
                          const wick_coreml_message *part)
{
  wick_builder *b = &c->b;
  bool to_int = wick_coreml_has(part, "stringToInt64Map");
  wick_coreml_message map =
      wick_coreml_part(part, to_int ? "stringToInt64Map" : "int64ToStringMap");
  wick_coreml_messages entry = wick_coreml_parts(&map, "map", c->tmp);
  int64_t *key = wick_new(c->tmp, int64_t, (size_t)entry.n + 1),
          *value = wick_new(c->tmp, int64_t, (size_t)entry.n + 2), n = entry.n, more = n + 1;
  wick_string_table *texts = &c->module->strings;
  for (uint32_t k = 0; k <= entry.n; k++) {
    wick_span text = k < entry.n ? wick_coreml_bytes(&entry.at[k], to_int ? "key" : "value")
                                 : wick_coreml_bytes(part, "strValue");
    int64_t t = wick_string_table_add(texts, text.at ? (const char *)text.at : "", text.nbytes,
                                      true),
            i = k < entry.n ? wick_coreml_int(&entry.at[k], to_int ? "value" : "key", 0)
                            : wick_coreml_int(part, "int64Value", 0);
    if (k < entry.n) key[k] = to_int ? t : i;
    value[k] = to_int ? i : t;
  }
  wick_value x = wick_coreml_given(c, m, 0);
  if (!x.id) return;
  if (!to_int) x = wick_build_cast(b, x, WICK_I64);
  wick_value keys = wick_import_copied(c, "keys", to_int ? WICK_STRING : WICK_I64, 1, &n, key,
                                       (uint64_t)n * sizeof *key);
  wick_value values = wick_import_copied(c, "values", to_int ? WICK_I64 : WICK_STRING, 1, &more,
                                         value, (uint64_t)more * sizeof *value);
  wick_value hit = wick_build_cast(b, wick_build2(b, WICK_OP_eq, x, keys), WICK_I64);
  wick_value at = wick_emit_count(b, wick_dim_const(n));
  at = wick_emit_by(b, WICK_OP_sub, at, (double)n); /* a miss gives n, the default */
  at = wick_build2(b, WICK_OP_mul, at, hit);
  at = wick_emit_reduce1(b, WICK_OP_reduce_sum, at, 0, true);
  at = wick_emit_by(b, WICK_OP_add, at, (double)n);
  wick_coreml_result(c, m, 0, wick_emit_gather(b, WICK_OP_gather, values, at, 0));
}

/* A dictionary is given as the vector of the values of the known keys, in their order. */
void wick_coreml_dict_vectorizer(wick_import *c, const wick_coreml_model *m,
                                 const wick_coreml_message *part)
{
  wick_value x = wick_coreml_given(c, m, 0);
  (void)part;
  wick_coreml_result(c, m, 0, x);
}

/* ---- vectors ---- */

void wick_coreml_extractor(wick_import *c, const wick_coreml_model *m,
                           const wick_coreml_message *part)
{
  wick_coreml_ints at = wick_coreml_ints_of(part, "extractIndex", c->tmp);
  wick_value x = wick_coreml_given(c, m, 0);
  int64_t n = at.n;
  if (!x.id || c->b.status) return;
  wick_dim size = wick_type_numel(c->module, wick_built_type(&c->b, x));
  x = wick_build_reshape(&c->b, x, 1, &size);
  for (uint32_t k = 0; k < at.n; k++)
    if (at.at[k] < 0 || (wick_dim_is_const(size) && at.at[k] >= size.v)) {
      wick_import_error(c, WICK_ERANGE, c->file, "feature %lld of %lld is extracted",
                        (long long)at.at[k], (long long)size.v);
      return;
    }
  wick_value index =
      wick_import_copied(c, "index", WICK_I64, 1, &n, at.at, (uint64_t)n * sizeof *at.at);
  wick_coreml_result(c, m, 0, wick_emit_gather(&c->b, WICK_OP_gather, x, index, 0));
}

/* Joins the columns of inputList, by their names, in order. */
void wick_coreml_vectorizer(wick_import *c, const wick_coreml_model *m,
                            const wick_coreml_message *part)
{
  wick_builder *b = &c->b;
  wick_coreml_messages list = wick_coreml_parts(part, "inputList", c->tmp);
  wick_value *x = wick_new(c->tmp, wick_value, (size_t)list.n + 1);
  for (uint32_t k = 0; k < list.n; k++) {
    const char *name = wick_wire_text(c->tmp, wick_coreml_bytes(&list.at[k], "inputColumn"));
    const wick_value *v = wick_import_find(c, name);
    if (!v)
      wick_import_error(c, WICK_EPARSE, c->file, "the feature \"%s\" has no value",
                        wick_import_shown(c, name));
    if (!v || !v->id || b->status) return;
    wick_dim size = wick_type_numel(c->module, wick_built_type(b, *v));
    if (!wick_dim_is(size, wick_coreml_int(&list.at[k], "inputDimensions", 1))) {
      wick_import_error(c, WICK_ETYPE, c->file, "the feature \"%s\" has not the declared size",
                        wick_import_shown(c, name));
      return;
    }
    x[k] = wick_build_reshape(b, wick_build_cast(b, *v, WICK_F64), 1, &size);
  }
  if (list.n) wick_coreml_result(c, m, 0, wick_build_concat(b, 0, list.n, x));
}

void wick_coreml_identity(wick_import *c, const wick_coreml_model *m,
                          const wick_coreml_message *part)
{
  (void)part;
  wick_coreml_messages out = wick_coreml_parts(&m->interface, "output", c->tmp);
  for (uint32_t i = 0; i < out.n; i++) wick_coreml_result(c, m, i, wick_coreml_given(c, m, i));
}
