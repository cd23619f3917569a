/* Reads the files of a network: the one that was named and its companion, either in text or binary.
 * Layers of old versions become layers of today's. */
#include <stddef.h>
#include <string.h>

#include "import/caffe/net.h"
#include "import/format_wire.h"
#include "import/wire_text.h"

/* ---- messages ---- */

typedef struct read_layer { /* LayerParameter, V1LayerParameter or V0LayerParameter */
  uint64_t has;
  wick_span name, type, v0;
  int64_t number; /* V1's type */
  wick_wire_spans bottom, top;
  caffe_blobs blobs;
  caffe_rules include, exclude;
} read_layer;

static const wick_wire_field read_layer_fields[] = {
    WICK_WIRE_FIELD(read_layer, name, 1, BYTES),
    WICK_WIRE_FIELD(read_layer, type, 2, BYTES),
    WICK_WIRE_FIELD(read_layer, bottom, 3, SPANS),
    WICK_WIRE_FIELD(read_layer, top, 4, SPANS),
    WICK_WIRE_PART(read_layer, blobs, 7, MESSAGES, wick_caffe_blob_message),
    WICK_WIRE_PART(read_layer, include, 8, MESSAGES, wick_caffe_rule_message),
    WICK_WIRE_PART(read_layer, exclude, 9, MESSAGES, wick_caffe_rule_message),
};
static WICK_WIRE_SCHEMA(read_layer_message, "LayerParameter", read_layer, read_layer_fields, 0);

static const wick_wire_field read_v1_fields[] = {
    WICK_WIRE_FIELD(read_layer, v0, 1, BYTES),
    WICK_WIRE_FIELD(read_layer, bottom, 2, SPANS),
    WICK_WIRE_FIELD(read_layer, top, 3, SPANS),
    WICK_WIRE_FIELD(read_layer, name, 4, BYTES),
    WICK_WIRE_FIELD(read_layer, number, 5, I32),
    WICK_WIRE_PART(read_layer, blobs, 6, MESSAGES, wick_caffe_blob_message),
    WICK_WIRE_PART(read_layer, include, 32, MESSAGES, wick_caffe_rule_message),
    WICK_WIRE_PART(read_layer, exclude, 33, MESSAGES, wick_caffe_rule_message),
};
static WICK_WIRE_SCHEMA(read_v1_message, "V1LayerParameter", read_layer, read_v1_fields, 0);

static const wick_wire_field read_v0_fields[] = {
    WICK_WIRE_FIELD(read_layer, name, 1, BYTES),
    WICK_WIRE_FIELD(read_layer, type, 2, BYTES),
    WICK_WIRE_PART(read_layer, blobs, 50, MESSAGES, wick_caffe_blob_message),
};
static WICK_WIRE_SCHEMA(read_v0_message, "V0LayerParameter", read_layer, read_v0_fields, 0);

typedef struct read_state {
  uint64_t has;
  int64_t level;
  wick_wire_spans stage;
} read_state;

static const wick_wire_field read_state_fields[] = {
    WICK_WIRE_FIELD(read_state, level, 2, I32),
    WICK_WIRE_FIELD(read_state, stage, 3, SPANS),
};
static WICK_WIRE_SCHEMA(read_state_message, "NetState", read_state, read_state_fields, 0);

typedef struct read_net {
  uint64_t has;
  wick_wire_spans layer, layers, input;
  wick_wire_i64s input_dim;
  read_state *state;
  WICK_WIRE_LIST(caffe_shape) input_shape;
} read_net;

static const wick_wire_field read_net_fields[] = {
    WICK_WIRE_FIELD(read_net, layers, 2, SPANS),
    WICK_WIRE_FIELD(read_net, input, 3, SPANS),
    WICK_WIRE_FIELD(read_net, input_dim, 4, I64S),
    WICK_WIRE_PART(read_net, state, 6, MESSAGE, read_state_message),
    WICK_WIRE_PART(read_net, input_shape, 8, MESSAGES, wick_caffe_shape_message),
    WICK_WIRE_FIELD(read_net, layer, 100, SPANS),
};
static WICK_WIRE_SCHEMA(read_net_message, "NetParameter", read_net, read_net_fields, 0);

/* ---- layers ---- */

static const char *const *read_names(wick_arena *mem, wick_wire_spans s)
{
  const char **names = wick_new(mem, const char *, s.n + 1);
  for (size_t i = 0; i < s.n; i++) names[i] = wick_wire_text(mem, s.at[i]);
  return names;
}

/* Checks that blobs have names. */
static wick_status read_named(wick_import *c, const char *location, const char *layer, size_t n,
                              const char *const *names)
{
  for (size_t i = 0; i < n; i++)
    if (!*names[i])
      return wick_fail(c->tmp, WICK_EPARSE, location, "the layer \"%s\" has a blob without a name",
                       wick_import_shown(c, layer));
  return NULL;
}

/* Returns the type of an old layer; NULL: there is none. */
static const caffe_type *read_old_type(int64_t number, const char *v0)
{
  for (const caffe_type *t = wick_caffe_types; t->name; t++)
    if (v0 ? t->v0 && strcmp(t->v0, v0) == 0 : t->old && t->old == number) return t;
  return NULL;
}

/* Finds the message of the layer's parameters, by the table of its version. */
static void read_param(wick_arena *mem, caffe_layer *l, const wick_wire_message *text,
                       wick_span bytes)
{
  const caffe_type *t = wick_caffe_types;
  while (t->name && strcmp(t->name, l->type) != 0) t++;
  for (uint32_t i = 0; i < text->nfield; i++) {
    const wick_wire_field *f = &text->field[i];
    bool transform = strcmp(f->name, "transform_param") == 0;
    if (!transform && (!t->param || strcmp(f->name, t->param) != 0)) continue;
    wick_wire_spans found = wick_caffe_parts(mem, bytes, f->number);
    if (!found.n) continue;
    if (transform)
      l->transform = found.at[found.n - 1];
    else
      l->message = f->message, l->param = found.at[found.n - 1];
  }
}

static wick_status read_one(wick_import *c, const char *location, bool v1, wick_span bytes,
                            caffe_layer *l)
{
  wick_arena *mem = c->tmp;
  void *message;
  WICK_TRY(wick_wire_decode(v1 ? &read_v1_message : &read_layer_message, bytes, location, mem,
                            &message));
  const read_layer *r = message, *v0 = NULL;
  if (v1 && wick_wire_has(r->has, 1)) {
    WICK_TRY(wick_wire_decode(&read_v0_message, r->v0, location, mem, &message));
    v0 = message;
  }
  *l = (caffe_layer){.nbottom = (uint32_t)r->bottom.n,
                     .ntop = (uint32_t)r->top.n,
                     .bottom = read_names(mem, r->bottom),
                     .top = read_names(mem, r->top),
                     .blobs = v0 ? v0->blobs : r->blobs,
                     .include = r->include,
                     .exclude = r->exclude};
  l->name = wick_wire_text(mem, v0 ? v0->name : r->name);
  l->type = wick_wire_text(mem, v0 ? v0->type : r->type);
  WICK_TRY(read_named(c, location, l->name, l->nbottom, l->bottom));
  WICK_TRY(read_named(c, location, l->name, l->ntop, l->top));
  if (v1) {
    const caffe_type *t = read_old_type(r->number, v0 ? l->type : NULL);
    if (t)
      l->type = t->name;
    else if (!v0)
      l->type = wick_str_printf(mem, "number %lld", (long long)r->number);
  }
  if (v0)
    l->message = &wick_caffe_layer_v0_text, l->param = r->v0;
  else
    read_param(mem, l, v1 ? &wick_caffe_layer_v1_text : &wick_caffe_layer_text, bytes);
  return NULL;
}

/* ---- networks ---- */

/* No text is a message of the wire format: its first letter is no tag of a field with a length. */
static bool read_is_text(wick_span bytes) { return !wick_fields_of(bytes).whole; }

static wick_status read_network(wick_import *c, const char *location, wick_span bytes,
                                caffe_net *out)
{
  wick_arena *mem = c->tmp;
  if (read_is_text(bytes))
    WICK_TRY(wick_wire_from_strict_text(&wick_caffe_text, wick_caffe_words, wick_caffe_skips, bytes,
                                        location, mem, &bytes));
  void *message;
  WICK_TRY(wick_wire_decode(&read_net_message, bytes, location, mem, &message));
  const read_net *r = message;
  if (r->layer.n && r->layers.n)
    return wick_fail(mem, WICK_EPARSE, location, "it has \"layer\" and the older \"layers\"");
  bool v1 = r->layers.n > 0;
  const wick_wire_spans all = v1 ? r->layers : r->layer;
  if (all.n > UINT32_MAX / 2)
    return wick_fail(mem, WICK_ELIMIT, location, "it has too many layers");
  WICK_TRY(read_named(c, location, "", r->input.n, read_names(mem, r->input)));
  *out = (caffe_net){.input = r->input,
                     .input_dim = r->input_dim,
                     .nlayer = (uint32_t)all.n,
                     .layer = wick_new(mem, caffe_layer, all.n + 1)};
  out->input_shape.at = r->input_shape.at, out->input_shape.n = r->input_shape.n;
  if (r->state) out->level = r->state->level, out->stage = r->state->stage;
  for (uint32_t i = 0; i < out->nlayer; i++)
    WICK_TRY(read_one(c, location, v1, all.at[i], &out->layer[i]));
  return NULL;
}

/* Gives layers the blobs of the layers of the same name in the file with the weights. */
static void read_weights(wick_import *c, caffe_net *net, const caffe_net *from)
{
  wick_names names = wick_names_begin(c->tmp);
  caffe_layer **by = wick_new(c->tmp, caffe_layer *, (size_t)from->nlayer + 2);
  for (uint32_t i = 0; i < from->nlayer; i++) {
    uint32_t before = names.n,
             id = wick_names_add(&names, from->layer[i].name, strlen(from->layer[i].name));
    if (names.n > before) by[id] = &from->layer[i];
  }
  for (uint32_t i = 0; i < net->nlayer; i++) {
    caffe_layer *l = &net->layer[i];
    uint32_t id = wick_names_find(&names, l->name, strlen(l->name));
    if (id && by[id]->blobs.n) l->blobs = by[id]->blobs;
  }
}

/* ---- companions ---- */

enum { READ_STEM = 256 };

/* The name without its ending and without "deploy" and the signs around it. */
static void read_stem(const char *file, char *out)
{
  const char *dot = strrchr(file, '.');
  size_t n = dot ? (size_t)(dot - file) : strlen(file), word = strlen("deploy");
  if (n >= READ_STEM) n = READ_STEM - 1;
  memcpy(out, file, n);
  out[n] = 0;
  char *at = strstr(out, "deploy");
  if (!at) return;
  while (at > out && strchr("_-.", at[-1])) at--, word++;
  while (at == out && at[word] && strchr("_-.", at[word])) word++;
  memmove(at, at + word, strlen(at + word) + 1);
}

typedef struct read_wanted {
  const char *file, *end; /* of which the companion is searched, and its ending */
} read_wanted;

/* How well a file fits as the companion. The same stem counts most. */
static int read_fit(const void *arg, const char *name)
{
  const read_wanted *w = arg;
  char a[READ_STEM], b[READ_STEM];
  size_t n = strlen(name), e = strlen(w->end);
  if (n <= e || strcmp(name + n - e, w->end) != 0 || strstr(name, "solver")) return 0;
  read_stem(w->file, a);
  read_stem(name, b);
  size_t na = strlen(a), nb = strlen(b);
  int same = strcmp(a, b) == 0 ? 3 : strncmp(a, b, na < nb ? na : nb) == 0 ? 2 : 1;
  int form = strstr(name, "deploy") ? 2 : strstr(name, "train") ? 0 : 1;
  return 3 * same + form;
}

/* Maps the companion, if exactly one file fits best. */
static wick_status read_companion(wick_import *c, caffe_model *m, const char *end, wick_file **out)
{
  const read_wanted wanted = {wick_path_base(c->path), end};
  *out = NULL;
  if (!c->options->files) return NULL;
  const char *path = wick_import_beside(c, read_fit, &wanted, &m->tie[0]);
  if (!path) return NULL;
  m->tie[1] = wick_path_base(path);
  return m->tie[0] ? NULL : wick_files_map(c->options->files, path, out);
}

wick_status wick_caffe_open(wick_import *c, wick_span bytes)
{
  caffe_model *m = wick_new(c->tmp, caffe_model, 1);
  caffe_net companion = {0};
  bool text = read_is_text(bytes);
  wick_file *file;
  c->model = m;
  WICK_TRY(read_network(c, c->file, bytes, &m->net));
  if (!text) m->weights = c->file;
  WICK_TRY(read_companion(c, m, text ? ".caffemodel" : ".prototxt", &file));
  if (!file) return NULL;
  const wick_span other = {file->at, file->nbytes};
  const char *location = wick_path_base(file->path);
  WICK_TRY(read_network(c, location, other, &companion));
  if (text) {
    m->weights = location;
    read_weights(c, &m->net, &companion);
  } else {
    read_weights(c, &companion, &m->net);
    m->net = companion;
  }
  return NULL;
}
