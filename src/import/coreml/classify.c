/* Labels of classifiers, and the outputs that they make of scores. */
#include "import/coreml/classify.h"

#include <string.h>

#include "runtime/keys.h"

typedef struct classify_labels {
  bool texts;
  uint32_t n;
  const int64_t *key; /* numbers, or those of the strings in the module's table */
} classify_labels;

static classify_labels classify_read(wick_import *c, const wick_coreml_message *part,
                                     const char *text_field, const char *int_field)
{
  wick_coreml_message texts = wick_coreml_part(part, text_field),
                      ints = wick_coreml_part(part, int_field);
  classify_labels l = {.texts = texts.bytes.at != NULL};
  if (!l.texts) {
    wick_coreml_ints v = wick_coreml_ints_of(&ints, "vector", c->tmp);
    l.n = v.n, l.key = v.at;
    return l;
  }
  wick_coreml_texts v = wick_coreml_texts_of(&texts, "vector", c->tmp);
  int64_t *key = wick_new(c->tmp, int64_t, (size_t)v.n + 1);
  for (uint32_t i = 0; i < v.n; i++)
    key[i] =
        wick_string_table_add(&c->module->strings, (const char *)v.at[i].at, v.at[i].nbytes, true);
  l.n = v.n, l.key = key;
  return l;
}

wick_value wick_coreml_labels(wick_import *c, const wick_coreml_message *part, uint32_t *out_n)
{
  classify_labels l = classify_read(c, part, "stringClassLabels", "int64ClassLabels");
  int64_t n = *out_n = l.n;
  if (!n) return (wick_value){0};
  return wick_import_copied(c, "labels", l.texts ? WICK_STRING : WICK_I64, 1, &n, l.key,
                            (uint64_t)l.n * sizeof *l.key);
}

/* Describes an input or output, with its index among them, that is a map with known keys. */
static void classify_note(wick_import *c, const char *kind, uint32_t at, const char *name,
                          const char *elem, const classify_labels *l)
{
  wick_text t = wick_text_begin(c->tmp);
  wick_string *text = wick_new(c->tmp, wick_string, (size_t)l->n + 1);
  for (uint32_t i = 0; i < l->n && l->texts; i++)
    text[i] = wick_string_table_get(&c->module->strings, l->key[i]);
  wick_text_printf(&t, "%u 1 map(%s,%s) ", at, l->texts ? "string" : "i64", elem);
  wick_keys_write(&t, (wick_keys){l->n, l->texts ? NULL : l->key, l->texts ? text : NULL});
  wick_import_metadata(c, wick_str_printf(c->tmp, "onnx.%s.%s", kind, name), t.at);
}

void wick_coreml_keys(wick_import *c, const char *name, uint32_t n, bool texts, const int64_t *key)
{
  const classify_labels l = {.texts = texts, .n = n, .key = key};
  uint32_t at = 0;
  while (at < c->outs.n && strcmp(c->outs.at[at].name, name) != 0) at++;
  if (at < c->outs.n)
    classify_note(c, "output", at, name, "f32", &l); /* else: of a pipeline's model */
}

uint32_t wick_coreml_dictionary(wick_import *c, const wick_coreml_message *vectorizer, uint32_t at,
                                const char *name)
{
  classify_labels l = classify_read(c, vectorizer, "stringToIndex", "int64ToIndex");
  if (l.n) classify_note(c, "input", at, name, "f64", &l);
  return l.n;
}

void wick_coreml_classified(wick_import *c, const wick_coreml_model *m,
                            const wick_coreml_message *part, wick_value scores)
{
  wick_builder *b = &c->b;
  classify_labels l = classify_read(c, part, "stringClassLabels", "int64ClassLabels");
  const char *label =
                 wick_wire_text(c->tmp, wick_coreml_bytes(&m->interface, "predictedFeatureName")),
             *all = wick_wire_text(c->tmp,
                                   wick_coreml_bytes(&m->interface, "predictedProbabilitiesName"));
  if (b->status) return;
  wick_dim n = wick_type_numel(c->module, wick_built_type(b, scores));
  uint32_t count;
  if (!wick_dim_is(n, l.n)) {
    wick_import_error(c, WICK_EPARSE, c->file,
                      "it has %u labels, which is not the number of scores", l.n);
    return;
  }
  scores = wick_build_reshape(b, scores, 1, &n);
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 0);
  wick_emit_set_int(&e, "keepdims", 1);
  wick_value best = wick_emit_end1(&e, scores);
  best = wick_emit_gather(b, WICK_OP_gather, wick_coreml_labels(c, part, &count), best, 0);
  if (*label) wick_import_rebind(c, label, best);
  if (!*all) return;
  wick_import_rebind(c, all, wick_build_cast(b, scores, WICK_F32));
  wick_coreml_keys(c, all, l.n, l.texts, l.key);
}
