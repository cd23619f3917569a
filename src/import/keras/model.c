/* A Keras file: its configuration, the version of Keras, the tree of layers, and weights. */
#include "import/keras/model.h"

#include <ctype.h>
#include <string.h>

#include "import/keras/keras.h"
#include "import/keras/rows.h"

/* ---- configuration ---- */

const char *keras_text(wick_import *c, const wick_json *j, const char *otherwise)
{
  const char *text = wick_json_unescaped(c->tmp, j);
  return text ? text : otherwise;
}

const wick_json *keras_config(const keras_layer *l, const char *name)
{
  const wick_json *j = wick_json_member(l->config, name);
  return j && j->kind != WICK_JSON_NULL ? j : NULL;
}

/* "GlobalAveragePooling1D" becomes "global_average_pooling1d": an underscore before a capital that
 * follows another letter and precedes a small one, and between a small letter and a capital. */
static const char *model_snake(wick_import *c, const char *class)
{
  wick_text first = wick_text_begin(c->tmp), t = wick_text_begin(c->tmp);
  size_t n = strlen(class);
  for (size_t i = 0; i < n; i++) {
    bool word = i > 0 && isupper((unsigned char)class[i]) && islower((unsigned char)class[i + 1]);
    if (word) wick_text_char(&first, '_');
    wick_text_char(&first, class[i]);
  }
  for (size_t i = 0; i < first.n; i++) {
    bool joint =
        i > 0 && isupper((unsigned char)first.at[i]) && islower((unsigned char)first.at[i - 1]);
    if (joint) wick_text_char(&t, '_');
    wick_text_char(&t, (char)tolower((unsigned char)first.at[i]));
  }
  return t.at;
}

/* ---- the tree of layers ---- */

static bool model_begins(const char *text, const char *word)
{
  return strncmp(text, word, strlen(word)) == 0;
}

static const char *model_op(wick_import *c, const keras_layer *l, const char *class)
{
  const char *module = keras_text(c, wick_json_member(l->json, "module"), "keras");
  const char *own = keras_text(c, wick_json_member(l->json, "registered_name"), NULL);
  if (model_begins(module, "keras.src.ops.")) return wick_str_printf(c->tmp, "ops.%s", class);
  if (strcmp(class, "TFOpLambda") == 0 || strcmp(class, "SlicingOpLambda") == 0) {
    const char *name = keras_text(c, wick_json_member(l->config, "function"), "");
    return wick_str_printf(c->tmp, "tf.%s", name + (model_begins(name, "compat.v1.") ? 10 : 0));
  }
  static const char *const own_modules[] = {"keras", "tf_keras", "tensorflow"};
  size_t size = strcspn(module, ".");
  bool keras = false;
  for (size_t i = 0; i < WICK_COUNT(own_modules); i++)
    keras = keras || (strlen(own_modules[i]) == size && memcmp(module, own_modules[i], size) == 0);
  const char *function = wick_str_printf(c->tmp, "ops.%s", class);
  if (strcmp(class, "GroupedQueryAttention") == 0) class = "GroupQueryAttention"; /* in old files */
  /* Old files do not say whether a class is a layer. Of a name that is both, layers have a type. */
  bool layer = wick_import_op_find(c->format, class, 1) && wick_json_member(l->config, "dtype");
  if (!wick_json_member(l->json, "module") && !layer && wick_import_op_find(c->format, function, 1))
    return function;
  if (!keras || (own && strchr(own, '>')))
    return wick_str_printf(c->tmp, "custom %s", own ? own : class);
  if (strcmp(class, "Model") == 0) return "Functional"; /* as Keras 2 wrote it at first */
  return class;
}

static const char *model_join(wick_import *c, const char *path, const char *name)
{
  return *path ? wick_str_printf(c->tmp, "%s/%s", path, name) : name;
}

static void model_child(wick_import *c, keras_layer *l, const wick_json *json, const char *name)
{
  keras_model *m = c->model;
  if (json && json->kind == WICK_JSON_OBJECT && m->nlayer++ < KERAS_LAYERS)
    wick_push(c->tmp, &l->children,
              keras_layer_make(c, json, model_join(c, l->path, name), l->frozen));
}

/* Layers of a list are numbered among those of the same class. */
static void model_children(wick_import *c, keras_layer *l, const wick_json *list, const char *name)
{
  wick_names names = wick_names_begin(c->tmp);
  wick_list(uint32_t) count = {0};
  wick_push(c->tmp, &count, 0);
  for (const wick_json *j = list ? list->first : NULL; j; j = j->next) {
    const char *class = keras_text(c, wick_json_member(j, "class_name"), "");
    const char *module = keras_text(c, wick_json_member(j, "module"), "");
    if (strcmp(class, "Model") == 0) class = "Functional";
    if (strcmp(class, "GroupQueryAttention") == 0) class = "GroupedQueryAttention"; /* in paths */
    const char *snake = model_snake(c, class);
    uint32_t id = wick_names_add(&names, snake, strlen(snake));
    if (id == count.n) wick_push(c->tmp, &count, 0);
    uint32_t k = model_begins(module, "keras.src.ops.") ? 0 : count.at[id]++;
    if (k) snake = wick_str_printf(c->tmp, "%s_%u", snake, k);
    model_child(c, l, j, wick_str_printf(c->tmp, "%s/%s", name, snake));
  }
}

keras_layer *keras_layer_make(wick_import *c, const wick_json *json, const char *path, bool frozen)
{
  keras_layer *l = wick_new(c->tmp, keras_layer, 1);
  const char *class = keras_text(c, wick_json_member(json, "class_name"), "?");
  l->json = json;
  l->config = wick_json_member(json, "config");
  l->path = path;
  const char *name = keras_text(c, wick_json_member(json, "name"), NULL);
  l->name = name ? name : keras_text(c, wick_json_member(l->config, "name"), class);
  const wick_json *trainable = wick_json_member(l->config, "trainable");
  l->frozen = frozen || (trainable && trainable->kind == WICK_JSON_FALSE);
  l->op = model_op(c, l, class);
  bool pipeline = strcmp(l->op, "Pipeline") == 0;
  l->model = pipeline || strcmp(l->op, "Functional") == 0 || strcmp(l->op, "Sequential") == 0;
  const wick_json *cell = wick_json_member(l->config, "cell");
  keras_weights_list(c, l);
  if (l->model) {
    const wick_json *layers = wick_json_member(l->config, "layers");
    if (!layers && l->config && l->config->kind == WICK_JSON_ARRAY) layers = l->config;
    model_children(c, l, layers, pipeline ? "_pipeline_layers" : "layers");
  } else if (strcmp(l->op, "Bidirectional") == 0) {
    const wick_json *layer = wick_json_member(l->config, "layer");
    const wick_json *back = keras_config(l, "backward_layer");
    model_child(c, l, layer, "forward_layer");
    model_child(c, l, back ? back : layer, "backward_layer");
  } else if (strcmp(l->op, "StackedRNNCells") == 0) {
    model_children(c, l, wick_json_member(l->config, "cells"), "cells");
  } else if (cell && cell->kind == WICK_JSON_ARRAY) {
    model_children(c, l, cell, "cell/cells");
  } else {
    model_child(c, l, cell, "cell");
    model_child(c, l, wick_json_member(l->config, "layer"), "layer");
  }
  return l;
}

/* ---- the file ---- */

/* Reads an attribute that is one text, or one that was split into several: NAME0, NAME1, ... */
static wick_status model_attribute(wick_import *c, wick_hdf5 *f, const char *name, const char **out)
{
  wick_hdf5_array a;
  wick_span s;
  bool found;
  *out = NULL;
  WICK_TRY(wick_hdf5_attribute(f, wick_hdf5_root(f), name, &found, &a));
  if (!found || a.nelem < 1) return NULL;
  WICK_TRY(wick_hdf5_string(f, &a, 0, &s));
  *out = wick_str_dupn(c->tmp, (const char *)s.at, s.nbytes);
  return NULL;
}

static wick_status model_json(wick_import *c, const char *text, size_t nbytes, const char *what,
                              const wick_json **out)
{
  size_t wrong;
  *out = wick_json_read(c->tmp, text, nbytes, &wrong);
  if (*out) return NULL;
  return wick_fail(c->tmp, WICK_EPARSE, c->file, "%s is no JSON: byte %zu is not expected there",
                   what, wrong);
}

/* The error for a file that has no model: it says what the file has. */
static wick_status model_without(wick_import *c, wick_hdf5 *f)
{
  enum { SHOWN = 8 };
  wick_hdf5_links links;
  wick_text t = wick_text_begin(c->tmp);
  WICK_TRY(wick_hdf5_list(f, wick_hdf5_root(f), &links));
  for (uint32_t i = 0; i < links.n && i < SHOWN; i++)
    wick_text_printf(&t, "%s%.*s", i ? ", " : "", (int)links.at[i].name.nbytes,
                     (const char *)links.at[i].name.at);
  return wick_fail(c->tmp, WICK_EUNSUPPORTED, c->file,
                   "this HDF5 file has no model of Keras, only %s; if these are weights, save the "
                   "whole model with model.save(\"model.keras\")",
                   links.n ? wick_import_shown(c, t.at) : "an empty group");
}

static wick_status model_open_h5(wick_import *c, keras_model *m, wick_span bytes)
{
  const char *config, *version;
  WICK_TRY(wick_hdf5_open(bytes, c->file, c->tmp, &m->weights));
  WICK_TRY(model_attribute(c, m->weights, "model_config", &config));
  WICK_TRY(model_attribute(c, m->weights, "keras_version", &version));
  if (!config) return model_without(c, m->weights);
  m->old = true;
  m->second = version && (version[0] == '2' || version[0] == '1');
  return model_json(c, config, strlen(config), "the attribute model_config", &m->config);
}

static wick_status model_entry(wick_import *c, keras_model *m, const char *name, bool needed,
                               wick_span *out)
{
  const wick_zip_entry *e = wick_zip_find(&m->zip, name);
  *out = (wick_span){0};
  if (e) return wick_zip_read(&m->zip, e, out);
  return needed ? wick_fail(c->tmp, WICK_EPARSE, c->file, "the archive has no %s", name) : NULL;
}

static wick_status model_open_shards(wick_import *c, keras_model *m, wick_span map)
{
  const wick_json *json;
  WICK_TRY(model_json(c, (const char *)map.at, map.nbytes, "model.weights.json", &json));
  m->shards = wick_json_member(json, "weight_map");
  for (uint32_t i = 0; i < m->zip.entries.n; i++) {
    const char *name = m->zip.entries.at[i].name;
    size_t n = strlen(name);
    wick_span bytes;
    struct keras_shard shard = {.name = name};
    if (n < 11 || strcmp(name + n - 11, ".weights.h5") != 0) continue;
    WICK_TRY(model_entry(c, m, name, true, &bytes));
    const char *location = wick_str_printf(c->tmp, "%s: %s", c->file, name);
    WICK_TRY(wick_hdf5_open(bytes, location, c->tmp, &shard.f));
    wick_push(c->tmp, &m->shard, shard);
  }
  return NULL;
}

static wick_status model_open_zip(wick_import *c, keras_model *m, wick_span bytes)
{
  wick_span config, weights, metadata, map;
  WICK_TRY(wick_zip_open(bytes, c->file, c->tmp, &m->zip));
  WICK_TRY(model_entry(c, m, "config.json", true, &config));
  WICK_TRY(model_entry(c, m, "metadata.json", false, &metadata));
  WICK_TRY(model_entry(c, m, "model.weights.json", false, &map));
  WICK_TRY(model_entry(c, m, "model.weights.h5", !map.at, &weights));
  if (metadata.at) {
    const wick_json *json;
    WICK_TRY(model_json(c, (const char *)metadata.at, metadata.nbytes, "metadata.json", &json));
    const char *version = keras_text(c, wick_json_member(json, "keras_version"), "3");
    m->second = version[0] == '2';
  }
  if (map.at) WICK_TRY(model_open_shards(c, m, map));
  if (weights.at) {
    const char *location = wick_str_printf(c->tmp, "%s: model.weights.h5", c->file);
    WICK_TRY(wick_hdf5_open(weights, location, c->tmp, &m->weights));
  }
  return model_json(c, (const char *)config.at, config.nbytes, "config.json", &m->config);
}

wick_status keras_open(wick_import *c, wick_span bytes)
{
  keras_model *m = c->model = wick_new(c->tmp, keras_model, 1);
  bool zip = bytes.nbytes >= 4 && memcmp(bytes.at, "PK", 2) == 0;
  WICK_TRY(zip ? model_open_zip(c, m, bytes) : model_open_h5(c, m, bytes));
  m->root = keras_layer_make(c, m->config, "", false);
  if (m->nlayer > KERAS_LAYERS)
    return wick_fail(c->tmp, WICK_ELIMIT, c->file, "it has more than %d layers", KERAS_LAYERS);
  if (!m->root->model)
    return wick_fail(c->tmp, WICK_EUNSUPPORTED, c->file,
                     "the model is a class of the user's own (%s), whose code is not in the file; "
                     "Wick reads Sequential and Functional models",
                     wick_import_shown(c, m->root->op));
  return keras_weights_read(c, m);
}

static const wick_import_op *const keras_families[] = {
    keras_ops,      keras_formulas, keras_arrays,      keras_statistics, keras_signals,
    keras_networks, keras_images,   keras_indices,     keras_products,   keras_linear,
    keras_geometry, keras_integers, keras_rearranging,
};

const wick_import_format keras_format = {
    .name = "Keras",
    .version_word = "version",
    .nfamily = WICK_COUNT(keras_families),
    .families = keras_families,
    .open = keras_open,
    .graph = keras_graph,
    .attr = keras_attr,
};

wick_status wick_import_keras(wick_module *m, wick_span bytes, const char *path,
                              const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                              const wick_func **out)
{
  return wick_import_with(&keras_format, m, bytes, path, options, mem, tmp, out);
}
