/* The weights of layers: which a layer has, in the order in which it creates them, where the file
 * has them, and their values. */
#include <string.h>

#include "import/keras/model.h"

/* The specification of a class: names with spaces between them. `!` marks a weight that is not
 * trained. `?flag` is a member of the configuration that must be true (or not null) for it;
 * `?name=word` one that must be that text, `?~name` one that must be null; `?-` begins the opposite.
 * `*` marks a weight that archives store under its own name, and legacy files do not store. A name
 * before a slash is a layer within this one. */
static const struct {
  const char *op, *weights;
} weights_rows[] = {
    {"AdditiveAttention", "scale?use_scale"},
    {"Attention", "scale?use_scale concat_score_weight?score_mode=concat"},
    {"BatchNormalization", "gamma?scale beta?center moving_mean! moving_variance!"},
    {"Conv1D", "kernel bias?use_bias"},
    {"Conv1DTranspose", "kernel bias?use_bias"},
    {"Conv2D", "kernel bias?use_bias"},
    {"Conv2DTranspose", "kernel bias?use_bias"},
    {"Conv3D", "kernel bias?use_bias"},
    {"Conv3DTranspose", "kernel bias?use_bias"},
    {"ConvLSTM1D", "cell/kernel cell/recurrent_kernel cell/bias?use_bias"},
    {"ConvLSTM2D", "cell/kernel cell/recurrent_kernel cell/bias?use_bias"},
    {"ConvLSTM3D", "cell/kernel cell/recurrent_kernel cell/bias?use_bias"},
    {"Dense", "kernel bias?use_bias"},
    {"DepthwiseConv1D", "kernel bias?use_bias"},
    {"DepthwiseConv2D", "kernel bias?use_bias"},
    {"EinsumDense", "kernel bias?bias_axes"},
    {"Embedding", "embeddings"},
    {"GRU", "cell/kernel cell/recurrent_kernel cell/bias?use_bias"},
    {"GRUCell", "kernel recurrent_kernel bias?use_bias"},
    {"GroupNormalization", "gamma?scale beta?center"},
    {"GroupQueryAttention",
     "query_dense/kernel query_dense/bias?use_bias key_dense/kernel key_dense/bias?use_bias "
     "value_dense/kernel value_dense/bias?use_bias output_dense/kernel output_dense/bias?use_bias"},
    {"IntegerLookup", "idf_weights*?output_mode=tf_idf"},
    {"LSTM", "cell/kernel cell/recurrent_kernel cell/bias?use_bias"},
    {"LSTMCell", "kernel recurrent_kernel bias?use_bias"},
    {"LayerNormalization", "gamma?scale beta?center"},
    {"LayerScale", "gamma"},
    {"MultiHeadAttention",
     "query_dense/kernel query_dense/bias?use_bias key_dense/kernel key_dense/bias?use_bias "
     "value_dense/kernel value_dense/bias?use_bias output_dense/kernel output_dense/bias?use_bias"},
    {"Normalization", "mean!?~mean variance!?~mean count!?~mean"},
    {"PReLU", "alpha"},
    {"RMSNormalization", "scale"},
    {"ReversibleEmbedding", "embeddings reverse_embeddings?-tie_weights"},
    {"STFTSpectrogram", "real_kernel?-mode=imag imag_kernel?-mode=real"},
    {"SeparableConv1D", "depthwise_kernel pointwise_kernel bias?use_bias"},
    {"SeparableConv2D", "depthwise_kernel pointwise_kernel bias?use_bias"},
    {"SimpleRNN", "cell/kernel cell/recurrent_kernel cell/bias?use_bias"},
    {"SimpleRNNCell", "kernel recurrent_kernel bias?use_bias"},
    {"SpectralNormalization", "vector_u!"},
    {"StringLookup", "idf_weights*?output_mode=tf_idf"},
    {"TextVectorization", "idf_weights*?output_mode=tf_idf"},
};

/* ---- the list ---- */

static bool weights_wanted(const keras_layer *l, const char *flag, size_t n)
{
  if (n && flag[0] == '-') return !weights_wanted(l, flag + 1, n - 1);
  char name[64];
  const char *equal = memchr(flag, '=', n);
  bool absent = flag[0] == '~';
  size_t size = equal ? (size_t)(equal - flag) : n;
  if (size - absent >= sizeof name) return false;
  memcpy(name, flag + absent, size - absent);
  name[size - absent] = 0;
  const wick_json *j = keras_config(l, name);
  if (absent) return !j;
  if (!j)
    return strncmp(name, "use_bias", 8) == 0 || strcmp(name, "scale") == 0 ||
           strcmp(name, "center") == 0; /* true by default */
  if (equal)
    return j->kind == WICK_JSON_STRING && j->nbytes == n - size - 1 &&
           memcmp(j->at, equal + 1, j->nbytes) == 0;
  return j->kind != WICK_JSON_FALSE;
}

static void weights_add(wick_import *c, keras_layer *l, const char *at, size_t n)
{
  size_t size = strcspn(at, "!*? ");
  if (size > n) size = n;
  const char *flag = memchr(at, '?', n);
  if (flag && !weights_wanted(l, flag + 1, n - (size_t)(flag + 1 - at))) return;
  keras_weight w = {.name = wick_str_dupn(c->tmp, at, size), .child = ""};
  const char *slash = strrchr(w.name, '/');
  if (slash) w.child = wick_str_dupn(c->tmp, w.name, (size_t)(slash - w.name));
  w.trainable = !memchr(at, '!', n) && !l->frozen;
  w.named = memchr(at, '*', n);
  for (uint32_t i = 0; i < l->weights.n; i++)
    w.index += strcmp(l->weights.at[i].child, w.child) == 0;
  wick_push(c->tmp, &l->weights, w);
}

void keras_weights_list(wick_import *c, keras_layer *l)
{
  size_t i = 0;
  while (i < WICK_COUNT(weights_rows) && strcmp(weights_rows[i].op, l->op) != 0) i++;
  const char *at = keras_quantized_weights(c, l);
  if (!at) at = i < WICK_COUNT(weights_rows) ? weights_rows[i].weights : "";
  while (*at) {
    size_t n = strcspn(at, " ");
    weights_add(c, l, at, n);
    at += n + (at[n] == ' ');
  }
}

/* ---- archives: a path for each weight ---- */

/* Finds a weight. Names of layers within a layer may begin with an underscore, as the attributes of
 * older versions did; those versions had another name for the list of layers. */
static wick_status weights_find(wick_import *c, wick_hdf5 *f, const char *path,
                                const keras_weight *w, bool *found, wick_hdf5_object *out)
{
  static const char *const child[] = {"", "_"};
  static const char *const list[] = {"layers/", "_layer_checkpoint_dependencies/",
                                     "_layer_checkpoint_dependencies\\"};
  bool top = strncmp(path, "layers/", 7) == 0;
  *found = false;
  for (size_t i = 0; i < WICK_COUNT(child) && !*found && (i == 0 || *w->child); i++)
    for (size_t k = 0; k < WICK_COUNT(list) && !*found && (k == 0 || top); k++) {
      const char *at = top ? wick_str_printf(c->tmp, "%s%s", list[k], path + 7) : path;
      at = wick_str_printf(c->tmp, "%s/%s%s/vars/", at, *w->child ? child[i] : "", w->child);
      at = w->named ? wick_str_printf(c->tmp, "%s%s", at, w->name)
                    : wick_str_printf(c->tmp, "%s%u", at, w->index);
      WICK_TRY(wick_hdf5_find(f, wick_hdf5_root(f), at, found, out));
    }
  return NULL;
}

static wick_status weights_load(wick_import *c, wick_hdf5 *f, wick_hdf5_object o, keras_weight *w)
{
  wick_hdf5_array type;
  wick_span s;
  bool found;
  WICK_TRY(wick_hdf5_read(f, o, &w->array));
  w->found = true;
  WICK_TRY(wick_hdf5_attribute(f, o, "dtype", &found, &type));
  if (!found || !type.nelem) return NULL;
  WICK_TRY(wick_hdf5_string(f, &type, 0, &s));
  w->bfloat = wick_str_dupn(c->tmp, (const char *)s.at, s.nbytes);
  return NULL;
}

static wick_status weights_paths(wick_import *c, keras_model *m, keras_layer *l)
{
  for (uint32_t i = 0; i < l->weights.n; i++) {
    keras_weight *w = &l->weights.at[i];
    for (uint32_t k = 0; k < m->shard.n + 1 && !w->found; k++) {
      wick_hdf5 *f = k < m->shard.n ? m->shard.at[k].f : m->weights;
      wick_hdf5_object o;
      bool found;
      if (!f) continue;
      WICK_TRY(weights_find(c, f, l->path, w, &found, &o));
      if (found) WICK_TRY(weights_load(c, f, o, w));
    }
  }
  for (uint32_t i = 0; i < l->children.n; i++) WICK_TRY(weights_paths(c, m, l->children.at[i]));
  return NULL;
}

/* ---- legacy files: the weights of each layer of the model in order ---- */

typedef wick_list(keras_weight *) weights_order;

static void weights_gather(wick_import *c, keras_layer *l, bool trainable, weights_order *out)
{
  for (uint32_t pass = 0; pass < 2; pass++) /* a layer's trained weights come first */
    for (uint32_t i = 0; i < l->weights.n; i++) {
      keras_weight *w = &l->weights.at[i];
      if (w->named) continue;
      bool fixed = strstr(w->name, "moving_") || strcmp(l->op, "Normalization") == 0 ||
                   strcmp(w->name, "vector_u") == 0;
      if (fixed == (pass == 1) && w->trainable == trainable) wick_push(c->tmp, out, w);
    }
  for (uint32_t i = 0; i < l->children.n; i++) weights_gather(c, l->children.at[i], trainable, out);
}

/* Reads the names of an attribute that may be split: NAME, or NAME0, NAME1, ... */
static wick_status weights_names(wick_import *c, wick_hdf5 *f, wick_hdf5_object group,
                                 weights_order *order, const char *layer)
{
  uint32_t at = 0;
  for (uint32_t part = 0;; part++) {
    const char *name = part ? wick_str_printf(c->tmp, "weight_names%u", part - 1) : "weight_names";
    wick_hdf5_array names;
    bool found, there;
    WICK_TRY(wick_hdf5_attribute(f, group, name, &found, &names));
    if (!found && part) break;
    for (uint64_t i = 0; found && i < names.nelem; i++, at++) {
      wick_span s;
      wick_hdf5_object o;
      WICK_TRY(wick_hdf5_string(f, &names, i, &s));
      const char *path = wick_str_dupn(c->tmp, (const char *)s.at, s.nbytes);
      if (at >= order->n) continue; /* more weights than the layer's kind has; counted below */
      WICK_TRY(wick_hdf5_find(f, group, path, &there, &o));
      if (there) WICK_TRY(weights_load(c, f, o, order->at[at]));
    }
    if (found && !part && names.nelem) break;
  }
  if (at != order->n)
    return wick_fail(c->tmp, WICK_EPARSE, c->file,
                     "the layer \"%s\" has %u weights in the file, expected %u",
                     wick_import_shown(c, layer), at, order->n);
  return NULL;
}

static wick_status weights_legacy(wick_import *c, keras_model *m)
{
  wick_errors errors = wick_errors_begin(c->tmp, WICK_IMPORT_ERRORS);
  for (uint32_t i = 0; i < m->root->children.n; i++) {
    keras_layer *l = m->root->children.at[i];
    weights_order order = {0};
    wick_hdf5_object group;
    bool found;
    weights_gather(c, l, true, &order);
    weights_gather(c, l, false, &order);
    if (!order.n) continue;
    const char *path = wick_str_printf(c->tmp, "model_weights/%s", l->name);
    WICK_TRY(wick_hdf5_find(m->weights, wick_hdf5_root(m->weights), path, &found, &group));
    if (found) wick_errors_add(&errors, weights_names(c, m->weights, group, &order, l->name));
  }
  return wick_errors_end(&errors);
}

wick_status keras_weights_read(wick_import *c, keras_model *m)
{
  return m->old ? weights_legacy(c, m) : weights_paths(c, m, m->root);
}

/* ---- values ---- */

static keras_weight *weights_of(const wick_import_node *n, const char *name)
{
  keras_layer *l = keras_of(n)->layer;
  for (uint32_t i = 0; i < l->weights.n; i++)
    if (strcmp(l->weights.at[i].name, name) == 0) return &l->weights.at[i];
  return NULL;
}

bool keras_weight_has(const wick_import_node *n, const char *name)
{
  return weights_of(n, name) != NULL;
}

/* Finds a weight whose data are there. NULL after an error. */
static keras_weight *weights_need(wick_import_node *n, const char *name)
{
  keras_weight *w = weights_of(n, name);
  if (w && w->found) return w;
  wick_import_fail(n, WICK_EPARSE, "the file has no weight \"%s\" of this layer", name);
  return NULL;
}

static bool weights_elem(const keras_weight *w, wick_elem *out)
{
  static const struct {
    wick_hdf5_kind kind;
    uint32_t size;
    wick_elem elem;
  } row[] = {{WICK_HDF5_FLOAT, 4, WICK_F32}, {WICK_HDF5_FLOAT, 2, WICK_F16},
             {WICK_HDF5_FLOAT, 8, WICK_F64}, {WICK_HDF5_BFLOAT, 2, WICK_BF16},
             {WICK_HDF5_INT, 1, WICK_I8},    {WICK_HDF5_INT, 2, WICK_I16},
             {WICK_HDF5_INT, 4, WICK_I32},   {WICK_HDF5_INT, 8, WICK_I64},
             {WICK_HDF5_UINT, 1, WICK_U8},   {WICK_HDF5_UINT, 2, WICK_U16},
             {WICK_HDF5_UINT, 4, WICK_U32},  {WICK_HDF5_UINT, 8, WICK_U64}};
  if (w->bfloat && strcmp(w->bfloat, "bfloat16") == 0 && w->array.size == 2) {
    *out = WICK_BF16;
    return true;
  }
  for (size_t i = 0; i < WICK_COUNT(row); i++)
    if (row[i].kind == w->array.kind && row[i].size == w->array.size) {
      *out = w->array.truth ? WICK_BOOL : row[i].elem;
      return true;
    }
  return false;
}

static bool weights_shape(wick_import_node *n, const keras_weight *w, wick_elem *elem, int64_t *dim)
{
  if (!weights_elem(w, elem) || w->array.rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the weight \"%s\" has elements that are not supported",
                     w->name);
    return false;
  }
  for (uint32_t i = 0; i < w->array.rank; i++) dim[i] = (int64_t)w->array.dim[i];
  return true;
}

/* Builds a weight once, in its own type, or two elements of `packed` for each byte. */
static wick_value weights_build(wick_import_node *n, const char *name, bool packed, bool numbers)
{
  keras_weight *w = weights_need(n, name);
  uint32_t now = ((keras_model *)n->c->model)->tries;
  int64_t dim[WICK_MAX_RANK];
  wick_elem elem;
  if (w && w->made_in == now) return w->made;
  if (!w || !weights_shape(n, w, &elem, dim)) return (wick_value){0};
  uint32_t rank = w->array.rank;
  if (elem == WICK_I8 ? !packed && !numbers : packed) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "the weight \"%s\" is quantized otherwise than its layer", name);
    return (wick_value){0};
  }
  if (packed && rank && dim[rank - 1] <= INT32_MAX) dim[rank - 1] *= 2, elem = WICK_I4;
  const char *text = wick_str_printf(n->c->tmp, "%s.%s", n->name, name);
  wick_value v = wick_import_weight(n->c, text, elem, rank, dim, w->array.data, n->location);
  wick_elem to = keras_compute(n);
  if (v.id && (numbers || (wick_elem_is_float(elem) && to != elem)))
    v = wick_build_cast(n->b, v, to);
  w->made = v, w->made_in = v.id ? now : 0;
  return v;
}

wick_value keras_weight_get(wick_import_node *n, const char *name)
{
  return weights_build(n, name, false, false);
}

wick_value keras_weight_number(wick_import_node *n, const char *name)
{
  return weights_build(n, name, false, true);
}

wick_value keras_weight_packed(wick_import_node *n, const char *name)
{
  return weights_build(n, name, true, false);
}
