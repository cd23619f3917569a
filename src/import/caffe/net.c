/* Builds the graph of a network: its inputs, its layers in order, and the blobs that no layer reads
 * as outputs. */
#include "import/caffe/net.h"

#include <string.h>

#include "import/caffe/caffe.h"
#include "import/caffe/ops.h"

/* ---- phases ---- */

static bool net_has_stage(const caffe_net *net, wick_span stage)
{
  for (size_t i = 0; i < net->stage.n; i++)
    if (net->stage.at[i].nbytes == stage.nbytes &&
        (!stage.nbytes || memcmp(net->stage.at[i].at, stage.at, stage.nbytes) == 0))
      return true;
  return false;
}

/* Does the state of the network, whose phase is TEST, meet the rule? */
static bool net_meets(const caffe_net *net, const caffe_rule *r)
{
  enum { TEST = 1 };
  if (wick_wire_has(r->has, 1) && r->phase != TEST) return false;
  if (wick_wire_has(r->has, 2) && net->level < r->min_level) return false;
  if (wick_wire_has(r->has, 3) && net->level > r->max_level) return false;
  for (size_t i = 0; i < r->stage.n; i++)
    if (!net_has_stage(net, r->stage.at[i])) return false;
  for (size_t i = 0; i < r->not_stage.n; i++)
    if (net_has_stage(net, r->not_stage.at[i])) return false;
  return true;
}

static bool net_included(const caffe_net *net, const caffe_layer *l)
{
  bool in = l->include.n == 0;
  for (size_t i = 0; i < l->include.n; i++) in = in || net_meets(net, &l->include.at[i]);
  for (size_t i = 0; i < l->exclude.n; i++) in = in && !net_meets(net, &l->exclude.at[i]);
  return in;
}

/* ---- blobs ---- */

typedef struct net_blob { /* the blob of a name, as the last layer so far wrote it */
  bool input, read;
  uint32_t order; /* of the layer that wrote it */
  wick_value input_value;
} net_blob;

typedef struct net_graph {
  wick_import *c;
  const caffe_net *net;
  bool *included; /* by layer */
  wick_names names;
  wick_list(net_blob) blob; /* by name */
} net_graph;

/* Finds the blob of that name, or adds it if `add` is set. */
static net_blob *net_blob_of(net_graph *g, const char *name, bool add)
{
  uint32_t id = add ? wick_names_add(&g->names, name, strlen(name))
                    : wick_names_find(&g->names, name, strlen(name));
  while (add && g->blob.n <= id) wick_push(g->c->tmp, &g->blob, (net_blob){0});
  return id ? &g->blob.at[id] : NULL;
}

static void net_write(net_graph *g, const char *name, bool input, uint32_t order)
{
  net_blob *b = net_blob_of(g, name, true);
  b->input = input, b->read = false, b->order = order;
}

/* Marks which blobs are written and read, so that those left over are known. */
static void net_uses(net_graph *g)
{
  for (uint32_t i = 0; i < g->net->nlayer; i++) {
    const caffe_layer *l = &g->net->layer[i];
    if (!g->included[i]) continue;
    for (uint32_t k = 0; k < l->nbottom; k++) {
      net_blob *b = net_blob_of(g, l->bottom[k], false);
      if (b) b->read = true;
    }
    for (uint32_t k = 0; k < l->ntop; k++) net_write(g, l->top[k], false, i);
  }
}

/* ---- inputs ---- */

static void net_input(net_graph *g, const char *name, size_t rank, const int64_t *size)
{
  wick_import *c = g->c;
  wick_dim dim[WICK_MAX_RANK + 1];
  for (size_t k = 0; k < rank && k <= WICK_MAX_RANK; k++)
    dim[k] = size[k] > 0 && size[k] <= INT32_MAX ? wick_dim_const(size[k])
                                                 : wick_import_size(c, "", name, (uint32_t)k);
  if (rank > WICK_MAX_RANK) rank = WICK_MAX_RANK + 1;
  net_blob *b = net_blob_of(g, name, true);
  if (b->input_value.id) {
    wick_import_error(c, WICK_EPARSE, c->file, "two inputs are called \"%s\"",
                      wick_import_shown(c, name));
    return;
  }
  b->input_value = wick_import_input(c, name, WICK_F32, (uint32_t)rank, dim);
}

/* The inputs of networks before there were layers for them. */
static void net_old_inputs(net_graph *g)
{
  wick_import *c = g->c;
  const caffe_net *net = g->net;
  bool dims = net->input_shape.n == 0;
  size_t given = dims ? net->input_dim.n / 4 : net->input_shape.n;
  if (given != net->input.n || (dims && net->input_dim.n % 4)) {
    wick_import_error(c, WICK_EPARSE, c->file, "it has %zu inputs, but %s for %zu", net->input.n,
                      dims ? "input_dim" : "input_shape", given);
    return;
  }
  for (size_t i = 0; i < net->input.n; i++) {
    const char *name = wick_wire_text(c->tmp, net->input.at[i]);
    if (dims)
      net_input(g, name, 4, net->input_dim.at + 4 * i);
    else
      net_input(g, name, net->input_shape.at[i].dim.n, net->input_shape.at[i].dim.at);
  }
}

/* Says what a layer does with images before the network gets them. */
static void net_preprocessing(net_graph *g, const caffe_layer *l)
{
  wick_import *c = g->c;
  const wick_wire_message *m = NULL;
  for (uint32_t i = 0; i < wick_caffe_layer_text.nfield; i++)
    if (strcmp(wick_caffe_layer_text.field[i].name, "transform_param") == 0)
      m = wick_caffe_layer_text.field[i].message;
  if (!l->transform.nbytes || !m) return;
  wick_text t = wick_text_begin(c->tmp);
  wick_import_attr mean = wick_caffe_field(c->tmp, m, l->transform, "mean_value", 'F'),
                   scale = wick_caffe_field(c->tmp, m, l->transform, "scale", 'f'),
                   crop = wick_caffe_field(c->tmp, m, l->transform, "crop_size", 'i');
  for (uint32_t k = 0; k < mean.n && k < 4; k++)
    wick_text_add(&t, wick_str_printf(c->tmp, "%s%g", k ? ", " : " minus ", mean.floats[k]));
  if (wick_caffe_field(c->tmp, m, l->transform, "mean_file", 's').kind)
    wick_text_add(&t, " minus the mean of a file");
  if (scale.kind) wick_text_add(&t, wick_str_printf(c->tmp, " times %g", scale.f));
  if (crop.kind && crop.i)
    wick_text_add(&t, wick_str_printf(c->tmp, " cropped to %lld", (long long)crop.i));
  if (t.n)
    wick_import_remark(c, wick_import_place(c, l->name, l->type),
                       "its preprocessing is not part of the model: give images%s", t.at);
}

static const char *const net_sources[] = {"AnnotatedData", "Data",       "DummyData",
                                          "HDF5Data",      "ImageData",  "Input",
                                          "MemoryData",    "WindowData", NULL};

static bool net_is_source(const caffe_layer *l)
{
  for (size_t i = 0; net_sources[i]; i++)
    if (strcmp(l->type, net_sources[i]) == 0) return true;
  return strcmp(l->type, "Python") == 0 && !l->nbottom;
}

/* Reads shape k, or the only one, of a layer. Returns false if it has none. */
static bool net_shape(net_graph *g, const caffe_layer *l, uint32_t k, uint32_t *rank,
                      const int64_t **size)
{
  wick_arena *mem = g->c->tmp;
  static const char *const sides[] = {"num", "channels", "height", "width"}, *const memory[] = {
                                                                                 "batch_size",
                                                                                 "channels",
                                                                                 "height", "width"};
  bool data = strcmp(l->type, "MemoryData") == 0;
  if (!l->message) return false;
  for (uint32_t i = 0; i < l->message->nfield; i++) {
    const wick_wire_field *f = &l->message->field[i];
    if (strcmp(f->name, "shape") != 0) continue;
    wick_wire_spans all = wick_caffe_parts(mem, l->param, f->number);
    if (!all.n) break;
    wick_import_attr a = wick_caffe_field(mem, f->message, all.at[k < all.n ? k : 0], "dim", 'I');
    *rank = a.n, *size = a.ints;
    return true;
  }
  int64_t *four = wick_new(mem, int64_t, 4);
  *rank = 4, *size = four;
  for (uint32_t i = 0; i < 4; i++) {
    wick_import_attr a =
        wick_caffe_field(mem, l->message, l->param, data ? memory[i] : sides[i], 'I');
    if (!a.n) return false;
    four[i] = a.ints[k < a.n ? k : 0];
  }
  if (data && k) *rank = 1; /* labels */
  return true;
}

/* A DummyData layer with constant fillers is no input. */
static bool net_is_constant(net_graph *g, const caffe_layer *l)
{
  if (strcmp(l->type, "DummyData") != 0 || !l->message) return false;
  wick_import_attr type =
      wick_caffe_field(g->c->tmp, l->message, l->param, "data_filler.type", 's');
  return !type.kind || wick_span_is(type.s, "constant");
}

static void net_inputs(net_graph *g)
{
  wick_import *c = g->c;
  for (size_t i = 0; i < g->net->input.n; i++)
    net_write(g, wick_wire_text(c->tmp, g->net->input.at[i]), true, 0);
  net_uses(g);
  net_old_inputs(g);
  for (uint32_t i = 0; i < g->net->nlayer; i++) {
    const caffe_layer *l = &g->net->layer[i];
    if (!g->included[i] || !net_is_source(l) || net_is_constant(g, l)) continue;
    net_preprocessing(g, l);
    for (uint32_t k = 0; k < l->ntop; k++) {
      uint32_t rank = 0;
      const int64_t *size = NULL;
      net_blob *b = net_blob_of(g, l->top[k], true);
      b->input = b->input || b->order == i;
      if (k && b->order == i && !b->read) continue; /* labels that nothing reads */
      if (net_shape(g, l, k, &rank, &size) || b->input_value.id)
        net_input(g, l->top[k], rank, size);
      else
        b->input_value = wick_import_input_open(c, l->top[k], WICK_F32);
    }
  }
}

/* ---- layers ---- */

/* A layer whose tops are numbers of a filler. */
static void net_constant(net_graph *g, const caffe_layer *l)
{
  wick_import *c = g->c;
  double value = wick_caffe_field(c->tmp, l->message, l->param, "data_filler.value", 'f').f;
  for (uint32_t k = 0; k < l->ntop; k++) {
    uint32_t rank;
    const int64_t *size;
    wick_dim dim[WICK_MAX_RANK];
    bool good = net_shape(g, l, k, &rank, &size) && rank <= WICK_MAX_RANK;
    for (uint32_t i = 0; good && i < rank; i++) {
      good = size[i] > 0 && size[i] <= INT32_MAX;
      if (good) dim[i] = wick_dim_const(size[i]);
    }
    wick_value v = {0};
    if (good) {
      v = wick_build_const(&c->b, wick_type_tensor(c->module, WICK_F32, 0, NULL), value, 0);
      v = wick_emit_expand(&c->b, v, rank, dim);
    } else {
      wick_import_error(c, WICK_EPARSE, wick_import_place(c, l->name, l->type),
                        "it has no shape that Wick reads");
    }
    wick_import_rebind(c, l->top[k], v);
  }
}

static void net_layer(net_graph *g, const caffe_layer *l)
{
  wick_import *c = g->c;
  uint32_t nout = l->ntop;
  wick_value *in = wick_new(c->tmp, wick_value, (size_t)l->nbottom + 1),
             *out = wick_new(c->tmp, wick_value, (size_t)nout + 1);
  bool broken = false;
  for (uint32_t k = 0; k < l->nbottom; k++) {
    const wick_value *v = wick_import_find(c, l->bottom[k]);
    if (!v)
      wick_import_error(c, WICK_EPARSE, wick_import_place(c, l->name, l->type),
                        "the blob \"%s\" is not defined", wick_import_shown(c, l->bottom[k]));
    in[k] = v ? *v : (wick_value){0};
    broken = broken || !in[k].id;
  }
  wick_import_run(c, l->type, 1, l->name, l, l->nbottom, in, broken, nout, out);
  for (uint32_t k = 0; k < nout; k++) {
    wick_import_rebind(c, l->top[k], out[k]);
    if (out[k].id) wick_import_name(c, out[k], l->top[k]);
  }
}

static void net_build(wick_import *c)
{
  caffe_model *m = c->model;
  net_graph g = {.c = c, .net = &m->net, .names = wick_names_begin(c->tmp)};
  g.included = wick_new(c->tmp, bool, (size_t)m->net.nlayer + 1);
  for (uint32_t i = 0; i < m->net.nlayer; i++)
    g.included[i] = net_included(&m->net, &m->net.layer[i]);
  net_inputs(&g);
  wick_list(const char *) out = {0};
  for (uint32_t i = 0; i < m->net.nlayer; i++)
    for (uint32_t k = 0; g.included[i] && k < m->net.layer[i].ntop; k++) {
      const char *name = m->net.layer[i].top[k];
      const net_blob *b = net_blob_of(&g, name, false);
      if (b->order != i || b->read || b->input) continue;
      wick_push(c->tmp, &out, name);
      wick_import_declare(c, name, wick_import_open_type(c, WICK_F32));
    }
  if (c->interface || c->unlisted) return;
  for (uint32_t i = 1; i < g.blob.n; i++)
    if (g.blob.at[i].input_value.id)
      wick_import_bind(c, wick_names_get(&g.names, i),
                       wick_import_input_value(c, g.blob.at[i].input_value));
  for (uint32_t i = 0; i < m->net.nlayer && !c->over; i++) {
    const caffe_layer *l = &m->net.layer[i];
    if (!g.included[i]) continue;
    if (net_is_constant(&g, l))
      net_constant(&g, l);
    else if (!net_is_source(l))
      net_layer(&g, l);
  }
  for (uint32_t i = 0; i < out.n; i++) {
    const wick_value *v = wick_import_find(c, out.at[i]);
    if (v) wick_import_output(c, i, *v);
  }
}

static const wick_import_op *const net_families[] = {wick_caffe_ops};

const wick_import_format wick_caffe_format = {.name = "Caffe",
                                              .version_word = "version",
                                              .nfamily = WICK_COUNT(net_families),
                                              .families = net_families,
                                              .open = wick_caffe_open,
                                              .graph = net_build,
                                              .attr = wick_caffe_attr};

wick_status wick_import_caffe(wick_module *m, wick_span bytes, const char *path,
                              const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                              const wick_func **out)
{
  return wick_import_with(&wick_caffe_format, m, bytes, path, options, mem, tmp, out);
}
