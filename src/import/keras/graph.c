/* Sequential and Functional models: the calls of their layers in order, with masks. */
#include <stdlib.h>
#include <string.h>

#include "import/keras/model.h"

/* ---- calls ---- */

keras_arg keras_tensor_arg(keras_tensor t) { return (keras_arg){.kind = KERAS_TENSOR, .t = t}; }

typedef wick_list(keras_tensor) graph_tensors;

/* Collects all tensors among the arguments, in order. */
static void graph_flatten(wick_import *c, uint32_t n, const keras_arg *arg, graph_tensors *out)
{
  for (uint32_t i = 0; i < n; i++) {
    if (arg[i].kind == KERAS_TENSOR) wick_push(c->tmp, out, arg[i].t);
    if (arg[i].kind == KERAS_LIST) graph_flatten(c, arg[i].n, arg[i].item, out);
  }
}

/* Converts floats among the arguments to the type in which the layer computes. */
static void graph_cast(wick_import *c, wick_elem to, uint32_t n, keras_arg *arg)
{
  for (uint32_t i = 0; i < n; i++) {
    wick_value v = arg[i].t.v;
    if (arg[i].kind == KERAS_LIST) graph_cast(c, to, arg[i].n, arg[i].item);
    if (arg[i].kind != KERAS_TENSOR || !v.id) continue;
    wick_elem e = wick_built_info(&c->b, v)->elem;
    if (wick_elem_is_float(e) && e != to) arg[i].t.v = wick_build_cast(&c->b, v, to);
  }
}

/* The arguments that are tensors, or lists with tensors. */
static uint32_t graph_tensor_arguments(uint32_t n, const keras_arg *arg)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += arg[i].kind == KERAS_TENSOR ||
             (arg[i].kind == KERAS_LIST && graph_tensor_arguments(arg[i].n, arg[i].item));
  return count;
}

static const keras_arg *graph_keyword(uint32_t n, const keras_arg *arg, const char *key)
{
  for (uint32_t i = 0; i < n; i++)
    if (arg[i].key && strcmp(arg[i].key, key) == 0) return &arg[i];
  return NULL;
}

static uint32_t graph_model(wick_import *c, keras_layer *l, uint32_t nin, const keras_tensor *in,
                            keras_tensor *out, uint32_t most);

static uint32_t graph_call_model(wick_import *c, keras_layer *l, const graph_tensors *in,
                                 keras_tensor *out, uint32_t most)
{
  const char *outer = c->outer;
  const char *place = wick_import_place(c, l->name, l->op);
  if (c->depth >= KERAS_DEPTH) {
    wick_import_error(c, WICK_ELIMIT, place, "models are nested too deeply");
    return 0;
  }
  if (c->over || !c->nodes_left) {
    if (!c->over)
      wick_import_error(c, WICK_ELIMIT, c->file, "it has more nodes than the limit allows");
    c->over = true;
    return 0;
  }
  c->nodes_left--;
  c->outer = place;
  c->depth++;
  uint32_t n = graph_model(c, l, in->n, in->at, out, most);
  c->depth--;
  c->outer = outer;
  return n;
}

uint32_t keras_call_layer(wick_import *c, keras_layer *l, uint32_t narg, keras_arg *arg,
                          keras_tensor *out, uint32_t most)
{
  bool layer = strncmp(l->op, "ops.", 4) != 0 && strncmp(l->op, "tf.", 3) != 0, broken = false;
  graph_tensors all = {0};
  wick_value values[KERAS_MOST], mask = {0};
  if (layer && !l->model) {
    c->b.loc = wick_loc_add(c->module, wick_import_place(c, l->name, l->op));
    const wick_json *autocast = wick_json_member(l->config, "autocast");
    if (!autocast || autocast->kind != WICK_JSON_FALSE)
      graph_cast(c, keras_policy(c, l), narg, arg);
  }
  const char *quantized = layer && !l->model ? keras_quantized_refused(c, l) : NULL;
  if (quantized) {
    wick_import_error(c, WICK_EUNSUPPORTED, wick_import_place(c, l->name, l->op),
                      "its weights are quantized (%s), which is not supported",
                      wick_import_shown(c, quantized));
    return 0;
  }
  graph_flatten(c, narg, arg, &all);
  if (l->model) return graph_call_model(c, l, &all, out, most);
  wick_value *in = wick_new(c->tmp, wick_value, all.n + 1);
  for (uint32_t i = 0; i < all.n; i++) {
    in[i] = all.at[i].v;
    broken = broken || !in[i].id;
    if (!mask.id && layer) mask = all.at[i].mask;
  }
  const keras_arg *given = graph_keyword(narg, arg, "mask");
  if (given && given->kind == KERAS_TENSOR) mask = given->t.v;
  wick_value after = keras_passes_masks(l->op) ? mask : (wick_value){0};
  /* Keras 3 gives a layer the mask of its first tensor only where no other argument has tensors: one
   * that gets initial states ignores it, and passes it on. */
  if (!given && !((keras_model *)c->model)->second && graph_tensor_arguments(narg, arg) > 1)
    mask = (wick_value){0};
  keras_call call = {.layer = l, .narg = narg, .arg = arg, .mask = mask, .out_mask = &after};
  const wick_import_op *row = wick_import_op_find(c->format, l->op, 1);
  uint32_t nout = row && row->nout != WICK_ANY ? row->nout : KERAS_MOST, n = 0;
  wick_import_run(c, l->op, 1, l->name, &call, all.n, in, broken, nout, values);
  for (; n < nout && n < most && values[n].id; n++)
    out[n] = (keras_tensor){values[n], n ? (wick_value){0} : after};
  if (n == 1) wick_import_name(c, out[0].v, l->name);
  return n;
}

keras_tensor keras_call1(wick_import *c, keras_layer *l, keras_tensor x)
{
  keras_arg arg = keras_tensor_arg(x);
  keras_tensor out = {{0}, {0}};
  (void)keras_call_layer(c, l, 1, &arg, &out, 1);
  return out;
}

/* ---- references to results ---- */

typedef struct graph_node { /* results of one call of a layer */
  bool done;
  uint32_t n;
  keras_tensor *out;
} graph_node;

typedef struct graph_state {
  wick_import *c;
  keras_layer *model;
  wick_names names;
  wick_list(uint32_t) layer; /* by name: index of the child */
  graph_node **node;         /* by child */
  uint32_t *nnode;
} graph_state;

#define GRAPH_CONSTANT "_CONSTANT_VALUE" /* a number in the place of a layer, in Keras 2 */

typedef struct graph_ref {
  const char *layer;
  int64_t node, tensor;
} graph_ref;

/* Reads ["name", 0, 0], maybe with arguments after it. */
static bool graph_is_ref(wick_import *c, const wick_json *j, graph_ref *out)
{
  if (!j || j->kind != WICK_JSON_ARRAY || j->n < 3) return false;
  out->layer = keras_text(c, j->first, NULL);
  if (!out->layer || !wick_json_int(wick_json_item(j, 1), &out->node)) return false;
  return strcmp(out->layer, GRAPH_CONSTANT) == 0 ||
         wick_json_int(wick_json_item(j, 2), &out->tensor);
}

typedef enum graph_found { GRAPH_FOUND, GRAPH_LATER, GRAPH_UNKNOWN } graph_found;

static graph_found graph_get(const graph_state *s, const graph_ref *r, keras_tensor *out)
{
  uint32_t id = wick_names_find(&s->names, r->layer, strlen(r->layer));
  *out = (keras_tensor){{0}, {0}};
  if (!id) return GRAPH_UNKNOWN;
  uint32_t k = s->layer.at[id];
  const keras_layer *l = s->model->children.at[k];
  /* In Keras 2 a model that has inputs counts its own graph as the first call. */
  bool own = ((keras_model *)s->c->model)->second && l->model && l->children.n &&
             strcmp(l->children.at[0]->op, "InputLayer") == 0 && r->node > 0;
  int64_t node = r->node - own;
  if (node < 0 || node >= s->nnode[k]) return GRAPH_UNKNOWN;
  const graph_node *n = &s->node[k][node];
  if (!n->done) return GRAPH_LATER;
  if (r->tensor >= 0 && r->tensor < n->n) *out = n->out[r->tensor];
  return r->tensor >= 0 && (r->tensor < n->n || !n->n) ? GRAPH_FOUND : GRAPH_UNKNOWN;
}

/* ---- arguments ---- */

static graph_found graph_arg(graph_state *s, const wick_json *j, bool old, keras_arg *out);

static graph_found graph_worse(graph_found a, graph_found b) { return a > b ? a : b; }

static graph_found graph_args(graph_state *s, const wick_json *list, bool old, uint32_t *n,
                              keras_arg **out)
{
  graph_found found = GRAPH_FOUND;
  *n = 0;
  *out = wick_new(s->c->tmp, keras_arg, (list ? list->n : 0) + 1);
  for (const wick_json *j = list ? list->first : NULL; j; j = j->next, ++*n) {
    keras_arg *a = &(*out)[*n];
    found = graph_worse(found, graph_arg(s, j, old, a));
    if (j->key) a->key = wick_str_dupn(s->c->tmp, j->key, j->nkey);
  }
  return found;
}

/* Old: arguments of Keras 2, where lists of a name and two numbers are results of layers. */
static graph_found graph_arg(graph_state *s, const wick_json *j, bool old, keras_arg *out)
{
  graph_ref r;
  *out = (keras_arg){.json = j};
  if (j->kind == WICK_JSON_NULL) return GRAPH_FOUND;
  if (old && graph_is_ref(s->c, j, &r)) {
    if (strcmp(r.layer, GRAPH_CONSTANT) == 0) {
      const wick_json *value = wick_json_item(j, 2);
      return graph_arg(s, value ? value : j, false, out);
    }
    out->kind = KERAS_TENSOR;
    return graph_get(s, &r, &out->t);
  }
  if (j->kind == WICK_JSON_ARRAY) {
    out->kind = KERAS_LIST;
    return graph_args(s, j, old, &out->n, &out->item);
  }
  out->kind = KERAS_CONST;
  if (j->kind != WICK_JSON_OBJECT) return GRAPH_FOUND;
  const wick_json *config = wick_json_member(j, "config");
  if (wick_json_is(wick_json_member(j, "class_name"), "__keras_tensor__") &&
      graph_is_ref(s->c, wick_json_member(config, "keras_history"), &r)) {
    out->kind = KERAS_TENSOR;
    return graph_get(s, &r, &out->t);
  }
  if (wick_json_is(wick_json_member(j, "class_name"), "__tuple__")) {
    out->kind = KERAS_LIST;
    return graph_args(
        s, wick_json_member(config, "value") ? wick_json_member(config, "value") : config, old,
        &out->n, &out->item);
  }
  if (wick_json_member(j, "class_name")) return GRAPH_FOUND; /* a slice, a type, an array */
  out->kind = KERAS_LIST;                                    /* a dictionary */
  return graph_args(s, j, old, &out->n, &out->item);
}

/* Keras 2: a list of [layer, node, tensor, arguments], whose tensors are one argument. Arguments
 * that are not the first one are in the first of them. */
static graph_found graph_node_old(graph_state *s, const wick_json *j, uint32_t *n, keras_arg **out)
{
  graph_ref r;
  graph_found found = GRAPH_FOUND;
  const wick_json *more = NULL;
  bool single = graph_is_ref(s->c, j, &r); /* of a call that has one argument */
  keras_arg *item = wick_new(s->c->tmp, keras_arg, j->n + 1);
  uint32_t nitem = 0;
  for (const wick_json *k = single ? j : j->first; k; k = single ? NULL : k->next) {
    if (!graph_is_ref(s->c, k, &r)) {
      found = graph_worse(found, graph_arg(s, k, true, &item[nitem++]));
      continue;
    }
    item[nitem].kind = KERAS_TENSOR;
    if (strcmp(r.layer, GRAPH_CONSTANT) == 0)
      found = graph_worse(found, graph_arg(s, k, true, &item[nitem++]));
    else
      found = graph_worse(found, graph_get(s, &r, &item[nitem++].t));
    const wick_json *extra = wick_json_item(k, 3);
    if (extra && extra->n && !more) more = extra;
  }
  keras_arg *keyword;
  uint32_t nkeyword;
  found = graph_worse(found, graph_args(s, more, true, &nkeyword, &keyword));
  *out = wick_new(s->c->tmp, keras_arg, nkeyword + 2);
  *n = 1 + nkeyword;
  (*out)[0] = nitem == 1 ? item[0] : (keras_arg){.kind = KERAS_LIST, .n = nitem, .item = item};
  if (nkeyword) memcpy(*out + 1, keyword, nkeyword * sizeof *keyword);
  return found;
}

static graph_found graph_node_args(graph_state *s, const wick_json *j, uint32_t *n, keras_arg **out)
{
  if (j->kind == WICK_JSON_ARRAY) return graph_node_old(s, j, n, out);
  keras_arg *first, *second;
  uint32_t nfirst, nsecond;
  graph_found a = graph_args(s, wick_json_member(j, "args"), false, &nfirst, &first);
  graph_found b = graph_args(s, wick_json_member(j, "kwargs"), false, &nsecond, &second);
  *out = wick_new(s->c->tmp, keras_arg, nfirst + nsecond + 1);
  *n = nfirst + nsecond;
  if (nfirst) memcpy(*out, first, nfirst * sizeof *first);
  if (nsecond) memcpy(*out + nfirst, second, nsecond * sizeof *second);
  return graph_worse(a, b);
}

/* ---- functional models ---- */

static const wick_json *graph_inbound(const keras_layer *l)
{
  return wick_json_member(l->json, "inbound_nodes");
}

/* Runs the calls of a layer whose arguments are there. Returns false if one of them is not. */
static bool graph_layer(graph_state *s, uint32_t k, bool *progress)
{
  wick_import *c = s->c;
  keras_layer *l = s->model->children.at[k];
  const wick_json *inbound = graph_inbound(l), *j = inbound ? inbound->first : NULL;
  for (uint32_t i = 0; i < s->nnode[k] && j; i++, j = j->next) {
    graph_node *node = &s->node[k][i];
    uint32_t narg;
    keras_arg *arg;
    wick_mark before = wick_arena_mark(c->tmp);
    if (node->done) continue;
    graph_found found = graph_node_args(s, j, &narg, &arg);
    if (found == GRAPH_LATER) {
      wick_arena_rewind(c->tmp, before);
      return false;
    }
    *progress = node->done = true;
    if (found == GRAPH_UNKNOWN) {
      wick_import_error(c, WICK_EPARSE, wick_import_place(c, l->name, l->op),
                        "an argument is the result of a layer that does not exist");
      continue;
    }
    node->out = wick_new(c->tmp, keras_tensor, KERAS_MOST);
    node->n = keras_call_layer(c, l, narg, arg, node->out, KERAS_MOST);
  }
  return true;
}

typedef struct graph_port { /* an input or an output of a model */
  const char *name;
  graph_ref ref;
} graph_port;
typedef wick_list(graph_port) graph_ports;

static int graph_key_order(const void *a, const void *b)
{
  const wick_json *const *x = a, *const *y = b;
  size_t n = (*x)->nkey < (*y)->nkey ? (*x)->nkey : (*y)->nkey;
  int d = memcmp((*x)->key, (*y)->key, n);
  return d ? d : ((*x)->nkey > (*y)->nkey) - ((*x)->nkey < (*y)->nkey);
}

/* Lists the results that a structure names: one, a list, or a dictionary, in the order of its
 * keys. */
static void graph_ports_of(wick_import *c, const wick_json *j, const char *key, graph_ports *out)
{
  graph_port p = {.name = key};
  if (graph_is_ref(c, j, &p.ref)) {
    if (!p.name) p.name = p.ref.layer;
    wick_push(c->tmp, out, p);
    return;
  }
  if (!j || !j->n) return;
  const wick_json **item = wick_new(c->tmp, const wick_json *, j->n);
  uint32_t n = 0;
  for (const wick_json *k = j->first; k; k = k->next) item[n++] = k;
  if (j->kind == WICK_JSON_OBJECT) qsort(item, n, sizeof *item, graph_key_order);
  for (uint32_t i = 0; i < n; i++)
    graph_ports_of(c, item[i],
                   item[i]->key ? wick_str_dupn(c->tmp, item[i]->key, item[i]->nkey) : key, out);
}

static graph_state graph_begin(wick_import *c, keras_layer *model)
{
  graph_state s = {.c = c, .model = model, .names = wick_names_begin(c->tmp)};
  uint32_t n = model->children.n;
  s.node = wick_new(c->tmp, graph_node *, n + 1);
  s.nnode = wick_new(c->tmp, uint32_t, n + 1);
  wick_push(c->tmp, &s.layer, 0);
  for (uint32_t k = 0; k < n; k++) {
    keras_layer *l = model->children.at[k];
    const wick_json *inbound = graph_inbound(l);
    uint32_t id = wick_names_add(&s.names, l->name, strlen(l->name));
    if (id == s.layer.n)
      wick_push(c->tmp, &s.layer, k);
    else
      wick_import_error(c, WICK_EPARSE, wick_import_place(c, l->name, l->op),
                        "another layer has the same name");
    s.nnode[k] = inbound && inbound->n ? inbound->n : strcmp(l->op, "InputLayer") == 0;
    s.node[k] = wick_new(c->tmp, graph_node, s.nnode[k] + 1);
  }
  return s;
}

static void graph_set_input(graph_state *s, const graph_ref *r, keras_tensor x)
{
  uint32_t id = wick_names_find(&s->names, r->layer, strlen(r->layer));
  if (!id || !s->nnode[s->layer.at[id]]) return;
  graph_node *n = &s->node[s->layer.at[id]][0];
  n->out = wick_new(s->c->tmp, keras_tensor, 1);
  n->out[0] = x;
  n->n = 1;
  n->done = true;
}

static uint32_t graph_functional(wick_import *c, keras_layer *l, uint32_t nin,
                                 const keras_tensor *in, keras_tensor *out, uint32_t most)
{
  graph_state s = graph_begin(c, l);
  graph_ports inputs = {0}, outputs = {0};
  graph_ports_of(c, wick_json_member(l->config, "input_layers"), NULL, &inputs);
  graph_ports_of(c, wick_json_member(l->config, "output_layers"), NULL, &outputs);
  if (inputs.n != nin) {
    wick_import_error(c, WICK_EPARSE, c->outer ? c->outer : c->file,
                      "the model has %u inputs, %u are given", inputs.n, nin);
    return 0;
  }
  for (uint32_t i = 0; i < nin; i++) graph_set_input(&s, &inputs.at[i].ref, in[i]);
  bool progress = true, all = false;
  for (bool forward = true; progress && !all && !c->over; forward = !forward) {
    progress = false;
    all = true;
    for (uint32_t i = 0, count = l->children.n; i < count; i++)
      all &= graph_layer(&s, forward ? i : count - 1 - i, &progress);
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < outputs.n && n < most; i++) {
    graph_found found = graph_get(&s, &outputs.at[i].ref, &out[n++]);
    if (found == GRAPH_UNKNOWN || (found == GRAPH_LATER && !all))
      wick_import_error(c, WICK_EPARSE, c->outer ? c->outer : c->file,
                        found == GRAPH_UNKNOWN
                            ? "its output \"%s\" is the result of a layer that does not exist"
                            : "its layers form a cycle: \"%s\" cannot be computed",
                        wick_import_shown(c, outputs.at[i].name));
  }
  return n;
}

static uint32_t graph_model(wick_import *c, keras_layer *l, uint32_t nin, const keras_tensor *in,
                            keras_tensor *out, uint32_t most)
{
  if (strcmp(l->op, "Functional") == 0) return graph_functional(c, l, nin, in, out, most);
  if (nin != 1 || !most) {
    wick_import_error(c, WICK_EPARSE, c->outer ? c->outer : c->file,
                      "a Sequential model has one input, %u are given", nin);
    return 0;
  }
  keras_tensor x = in[0];
  for (uint32_t i = 0; i < l->children.n; i++)
    if (strcmp(l->children.at[i]->op, "InputLayer") != 0) x = keras_call1(c, l->children.at[i], x);
  out[0] = x;
  return 1;
}

/* ---- the interface of the file's model ---- */

/* The shape of an input: of its layer, or of the model's first call. */
static const wick_json *graph_shape(const keras_layer *l)
{
  const wick_json *shape = keras_config(l, "batch_shape");
  return shape ? shape : keras_config(l, "batch_input_shape");
}

static keras_tensor graph_input(wick_import *c, const char *name, const wick_json *shape,
                                const char *dtype)
{
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  for (const wick_json *j = shape->first; j && rank < WICK_MAX_RANK; j = j->next, rank++) {
    int64_t size = -1;
    bool known = wick_json_int(j, &size) && size >= 0 && size <= INT32_MAX;
    dim[rank] = known ? wick_dim_const(size) : wick_import_size(c, rank ? "" : "batch", name, rank);
  }
  if (shape->n > WICK_MAX_RANK)
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "the input \"%s\" has %u dimensions",
                      wick_import_shown(c, name), shape->n);
  return (keras_tensor){wick_import_input(c, name, keras_elem(dtype, WICK_F32), rank, dim), {0}};
}

static bool graph_input_of(wick_import *c, keras_layer *l, keras_tensor *out)
{
  const wick_json *shape = graph_shape(l);
  if (!shape || shape->kind != WICK_JSON_ARRAY) return false;
  const wick_json *dtype = keras_config(l, "dtype");
  bool input = strcmp(l->op, "InputLayer") == 0;
  const char *elem =
      input || strcmp(l->op, "Embedding") != 0 ? keras_text(c, dtype, "float32") : "float32";
  if (wick_json_is(wick_json_member(l->config, "sparse"), "true") ||
      keras_text(c, dtype, NULL) == NULL)
    elem = wick_elem_name(keras_policy(c, l));
  *out =
      graph_input(c, input ? l->name : wick_str_printf(c->tmp, "%s_input", l->name), shape, elem);
  return true;
}

/* A Sequential model's input: its InputLayer, the shape of its first layer, or that of the call by
 * which it was built. */
static bool graph_sequential_input(wick_import *c, keras_layer *l, keras_tensor *out)
{
  if (l->children.n && l->children.at[0]->model && strcmp(l->children.at[0]->op, "Sequential") == 0)
    if (graph_sequential_input(c, l->children.at[0], out)) return true;
  if (l->children.n && graph_input_of(c, l->children.at[0], out)) return true;
  const wick_json *shape = keras_config(l, "build_input_shape");
  if (!shape) shape = wick_json_member(wick_json_member(l->json, "build_config"), "input_shape");
  if (!shape || shape->kind != WICK_JSON_ARRAY) return false;
  *out = graph_input(c, "input", shape, "float32");
  return true;
}

static void graph_inputs(wick_import *c, keras_layer *l, graph_tensors *out)
{
  graph_ports ports = {0};
  graph_ports_of(c, wick_json_member(l->config, "input_layers"), NULL, &ports);
  for (uint32_t i = 0; i < ports.n; i++) {
    keras_tensor x = {{0}, {0}};
    bool found = false;
    for (uint32_t k = 0; k < l->children.n && !found; k++)
      if (strcmp(l->children.at[k]->name, ports.at[i].ref.layer) == 0)
        found = graph_input_of(c, l->children.at[k], &x);
    if (!found)
      wick_import_error(c, WICK_EPARSE, c->file, "the input \"%s\" has no shape",
                        wick_import_shown(c, ports.at[i].name));
    wick_push(c->tmp, out, x);
  }
}

/* Declares the outputs, each under a name of its own. Returns how many there are. */
static uint32_t graph_outputs(wick_import *c, keras_layer *l)
{
  graph_ports ports = {0};
  wick_names names = wick_names_begin(c->tmp);
  if (strcmp(l->op, "Functional") == 0) {
    graph_ports_of(c, wick_json_member(l->config, "output_layers"), NULL, &ports);
  } else {
    const char *name = l->children.n ? l->children.at[l->children.n - 1]->name : l->name;
    wick_push(c->tmp, &ports, (graph_port){.name = name});
  }
  for (uint32_t i = 0; i < ports.n; i++) {
    const char *name = ports.at[i].name;
    for (uint32_t k = 1; wick_names_find(&names, name, strlen(name)); k++)
      name = wick_str_printf(c->tmp, "%s_%u", ports.at[i].name, k);
    wick_names_add(&names, name, strlen(name));
    /* The file does not say what the results are. */
    wick_import_declare(c, name,
                        c->interface ? wick_import_open_type(c, WICK_F32) : (wick_type){0});
  }
  return ports.n;
}

void keras_graph(wick_import *c)
{
  keras_model *m = c->model;
  keras_layer *l = m->root;
  graph_tensors in = {0};
  m->tries++;
  if (strcmp(l->op, "Functional") == 0) {
    graph_inputs(c, l, &in);
  } else {
    keras_tensor x;
    if (!graph_sequential_input(c, l, &x)) {
      wick_import_error(c, WICK_EUNSUPPORTED, c->file,
                        "the model has no shape of its input: it was saved before it was built. "
                        "Call it once, or add keras.Input(shape) as its first layer, and save it");
      return;
    }
    wick_push(c->tmp, &in, x);
  }
  uint32_t nout = graph_outputs(c, l);
  if (c->interface || c->errors.list.n) return;
  for (uint32_t i = 0; i < c->found->n; i++) {
    const wick_import_found *f = &c->found->at[i];
    wick_import_state(c, f->name, f->elem, f->rank, f->dim);
  }
  for (uint32_t i = 0; i < in.n; i++) in.at[i].v = wick_import_input_value(c, in.at[i].v);
  keras_tensor *out = wick_new(c->tmp, keras_tensor, nout + 1);
  uint32_t n = graph_model(c, l, in.n, in.at, out, nout);
  for (uint32_t i = 0; i < n; i++) wick_import_output(c, i, out[i].v);
}
