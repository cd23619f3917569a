/* Exports a model: its inputs, outputs, constants and metadata, and the data file of large
 * constants. Begin with wick_export_onnx at the end. */
#include <stdlib.h>
#include <string.h>

#include "export/write.h"
#include "ir/element.h"

enum {
  MODEL_ALIGN = 4096,     /* alignment in the data file, so that a reader can map the data */
  MODEL_OUTSIDE = 1024,   /* constants from this number of bytes on are in the data file */
  MODEL_ROOM = 256 << 20, /* bytes of a message that are reserved for all but the constants */
};

/* ---- names ---- */

wick_span wick_export_span(const char *s)
{
  return (wick_span){(const unsigned char *)s, strlen(s)};
}

static const char *model_unique(wick_export *x, wick_names *names, const char *stem)
{
  const char *name = *stem ? stem : "_";
  while (wick_names_find(names, name, strlen(name)))
    name = wick_str_printf(x->mem, "%s.%u", *stem ? stem : "_", ++x->fresh);
  wick_names_add(names, name, strlen(name));
  return name;
}

const char *wick_export_name(wick_export *x, const char *stem)
{
  return model_unique(x, &x->taken, stem);
}

void wick_export_error(wick_export *x, const char *location, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_errors_add(&x->errors, wick_vfail(x->mem, WICK_EUNSUPPORTED, location, fmt, args));
  va_end(args);
}

/* Returns the user's name of a value, or "". */
static const char *model_user_name(const wick_export *x, wick_value v)
{
  return wick_names_get(&x->m->names, x->f->value[v.id].name);
}

const char *wick_export_value(wick_export *x, wick_value v)
{
  if (!v.id) return "";
  if (!x->value[v.id]) x->value[v.id] = wick_export_name(x, model_user_name(x, v));
  return x->value[v.id];
}

/* ---- types ---- */

int64_t wick_export_type(wick_elem e)
{
  wick_elem have;
  for (int64_t t = 1; t < WICK_ONNX_NTYPE; t++)
    if (wick_onnx_elem(t, &have) && have == e) return t;
  return 0;
}

wick_onnx_value_info wick_export_value_info(wick_export *x, const char *name, wick_type type)
{
  const wick_type_info *t = wick_type_get(x->m, type);
  wick_onnx_value_info v = {.name = wick_export_span(name)};
  if (t->kind != WICK_TENSOR) {
    wick_export_error(x, x->location, "\"%s\" is not a tensor, and ONNX has no type for it", name);
    return v;
  }
  wick_onnx_shape *shape = wick_new(x->mem, wick_onnx_shape, 1);
  shape->dim.at = wick_new(x->mem, wick_onnx_dim, t->rank);
  shape->dim.n = t->rank;
  for (uint32_t k = 0; k < t->rank; k++) {
    wick_onnx_dim *d = &shape->dim.at[k];
    if (wick_dim_is_const(t->dim[k])) {
      d->has = (uint64_t)1 << WICK_ONNX_DIM_VALUE; /* a size may be 0 */
      d->dim_value = t->dim[k].v;
      continue;
    }
    wick_text text = wick_text_begin(x->mem);
    wick_dim_print(x->m->dims, t->dim[k], &text);
    d->dim_param = wick_export_span(text.at);
  }
  v.type = wick_new(x->mem, wick_onnx_type, 1);
  v.type->tensor_type = wick_new(x->mem, wick_onnx_tensor_type, 1);
  v.type->tensor_type->elem_type = wick_export_type(t->elem);
  v.type->tensor_type->shape = shape;
  return v;
}

/* ---- constants ---- */

/* Makes a constant in a function's body, which is a node. */
static void model_constant_node(wick_export *x, const char *name, wick_onnx_tensor *t)
{
  wick_onnx_node *n = wick_new(x->mem, wick_onnx_node, 1);
  wick_onnx_attr value = {.name = wick_export_span("value"), .type = WICK_ONNX_ATTR_TENSOR, .t = t};
  wick_span output = wick_export_span(name);
  n->op_type = wick_export_span("Constant");
  n->attribute.at = wick_dup(x->mem, wick_onnx_attr, &value, 1);
  n->attribute.n = 1;
  n->output.at = wick_dup(x->mem, wick_span, &output, 1);
  n->output.n = 1;
  wick_push(x->mem, &x->nodes->list, n);
}

/* Sets the strings of a tensor, whose elements are numbers of the module's strings. */
static void model_strings(wick_export *x, const int64_t *number, uint64_t n, wick_onnx_tensor *t)
{
  t->raw_data = (wick_span){0};
  t->string_data.at = wick_new(x->mem, wick_span, n);
  t->string_data.n = (size_t)n;
  for (uint64_t i = 0; i < n; i++) {
    wick_string s = wick_string_table_get(&x->m->strings, number[i]);
    t->string_data.at[i] = (wick_span){(const unsigned char *)s.at, (size_t)s.nbytes};
  }
}

const char *wick_export_tensor(wick_export *x, const char *stem, wick_elem e, uint32_t rank,
                               const int64_t *dim, const void *data, uint64_t nbytes)
{
  const char *name = wick_export_name(x, stem);
  wick_onnx_tensor t = {.name = wick_export_span(name),
                        .data_type = wick_export_type(e),
                        .dims = {wick_dup(x->mem, int64_t, dim, rank), rank},
                        .raw_data = {data, (size_t)nbytes}};
  if (e == WICK_STRING) model_strings(x, data, nbytes / sizeof(int64_t), &t);
  if (x->body)
    model_constant_node(x, name, wick_dup(x->mem, wick_onnx_tensor, &t, 1));
  else
    wick_push(x->mem, &x->initializer, t);
  return name;
}

/* Returns the constant that has the key already, or makes it. In a function's body it always makes
 * one, because an earlier node may not be visible. */
static const char *model_shared(wick_export *x, const char *key, wick_elem e, uint32_t rank,
                                int64_t n, const void *data)
{
  uint64_t nbytes = wick_elem_bytes(e, (uint64_t)n);
  const void *kept = wick_arena_copy(x->mem, data, (size_t)nbytes, 16);
  if (x->body) return wick_export_tensor(x, key, e, rank, &n, kept, nbytes);
  uint32_t id = wick_names_add(&x->shared, key, strlen(key));
  if (!x->shared_name.n) wick_push(x->mem, &x->shared_name, NULL); /* names count from 1 */
  if (id == x->shared_name.n) {
    const char *name = wick_export_tensor(x, key, e, rank, &n, kept, nbytes);
    wick_push(x->mem, &x->shared_name, name);
  }
  return x->shared_name.at[id];
}

const char *wick_export_i64s(wick_export *x, uint32_t n, const int64_t *v)
{
  wick_text key = wick_text_begin(x->mem);
  wick_text_char(&key, '[');
  for (uint32_t i = 0; i < n; i++) wick_text_printf(&key, "%s%lld", i ? "," : "", (long long)v[i]);
  wick_text_char(&key, ']');
  return model_shared(x, key.at, WICK_I64, 1, n, v);
}

const char *wick_export_i64(wick_export *x, int64_t v)
{
  return model_shared(x, wick_str_printf(x->mem, "%lld", (long long)v), WICK_I64, 0, 1, &v);
}

const char *wick_export_number(wick_export *x, wick_elem e, double number)
{
  unsigned char data[16] = {0};
  bool is_float = wick_elem_is_float(e);
  wick_store_elem(e, data, 0,
                  is_float ? (wick_scalar){.f = number} : (wick_scalar){.i = (int64_t)number});
  const char *key = wick_str_printf(x->mem, "%s:%.17g", wick_elem_name(e), number);
  return model_shared(x, key, e, 0, 1, data);
}

/* ---- large constants ---- */

static const char *model_decimal(wick_arena *mem, uint64_t v)
{
  return wick_str_printf(mem, "%llu", (unsigned long long)v);
}

/* Moves the data of large constants into parts of the data file. */
static wick_wire_parts model_outside(wick_export *x, wick_onnx_graph *g, const char *data_name)
{
  static const unsigned char zeros[MODEL_ALIGN];
  wick_list(wick_bytes) part = {0};
  uint64_t offset = 0;
  for (size_t i = 0; i < g->initializer.n; i++) {
    wick_onnx_tensor *t = &g->initializer.at[i];
    if (t->raw_data.nbytes < MODEL_OUTSIDE) continue;
    size_t pad = (size_t)(-offset % MODEL_ALIGN);
    if (pad) wick_push(x->mem, &part, (wick_bytes){zeros, pad});
    offset += pad;
    wick_push(x->mem, &part, (wick_bytes){t->raw_data.at, t->raw_data.nbytes});
    const wick_onnx_pair pair[] = {
        {0, wick_export_span("location"), wick_export_span(data_name)},
        {0, wick_export_span("offset"), wick_export_span(model_decimal(x->mem, offset))},
        {0, wick_export_span("length"),
         wick_export_span(model_decimal(x->mem, t->raw_data.nbytes))}};
    t->external_data.at = wick_dup(x->mem, wick_onnx_pair, pair, WICK_COUNT(pair));
    t->external_data.n = WICK_COUNT(pair);
    t->data_location = 1;
    offset += t->raw_data.nbytes;
    t->raw_data = (wick_span){0};
  }
  return (wick_wire_parts){part.at, part.n, offset};
}

static bool model_is_large(const wick_onnx_graph *g)
{
  uint64_t nbytes = MODEL_ROOM;
  for (size_t i = 0; i < g->initializer.n; i++) nbytes += g->initializer.at[i].raw_data.nbytes;
  return nbytes > WICK_WIRE_MOST;
}

/* ---- metadata ---- */

typedef wick_list(wick_onnx_pair) model_pairs;

/* Returns the bytes in base64. */
static const char *model_base64(wick_export *x, const unsigned char *at, uint64_t n)
{
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  wick_text t = wick_text_begin(x->mem);
  for (uint64_t i = 0; i < n; i += 3) {
    uint32_t have = n - i < 3 ? (uint32_t)(n - i) : 3, bits = 0;
    for (uint32_t k = 0; k < 3; k++) bits = bits << 8 | (k < have ? at[i + k] : 0u);
    for (uint32_t k = 0; k < 4; k++)
      wick_text_char(&t, k <= have ? digit[bits >> (18 - 6 * k) & 63] : '=');
  }
  return t.at;
}

/* Says which input and output are a state: wick.state.NAME.input, .output, and .initial, which is
 * "zeros", or the elements in base64. */
static void model_state_metadata(wick_export *x, const wick_onnx_graph *g, model_pairs *pairs)
{
  const wick_func *f = x->f;
  for (uint32_t i = 0; i < f->nparam; i++) {
    if (!wick_is_state(f->qual[i])) continue;
    uint32_t initial = wick_initial_get(x->m, f->value[1 + i].name);
    const wick_constant *c = wick_constant_get(x->m, initial);
    const char *key =
        wick_str_printf(x->mem, "wick.state.%s", model_user_name(x, (wick_value){1 + i}));
    const wick_span value[] = {
        g->input.at[i].name, g->output.at[wick_given_result(f->qual[i])].name,
        wick_export_span(initial ? model_base64(x, wick_constant_bytes(x->m, initial), c->nbytes)
                                 : "zeros")};
    static const char *const part[] = {"input", "output", "initial"};
    for (size_t k = 0; k < WICK_COUNT(part); k++) {
      const char *name = wick_str_printf(x->mem, "%s.%s", key, part[k]);
      wick_push(x->mem, pairs, (wick_onnx_pair){0, wick_export_span(name), value[k]});
    }
  }
}

/* Sets the header fields that the importer keeps under these keys, and the other metadata. */
static void model_metadata(wick_export *x, wick_onnx_model *model)
{
  const wick_module *m = x->m;
  const struct {
    const char *key;
    wick_span *field;
  } head[] = {{"onnx.producer_name", &model->producer_name},
              {"onnx.producer_version", &model->producer_version},
              {"onnx.domain", &model->domain},
              {"onnx.doc_string", &model->doc_string},
              {"onnx.graph.name", &model->graph->name},
              {"onnx.graph.doc_string", &model->graph->doc_string}};
  model_pairs pair = {0};
  for (uint32_t i = 0; i < m->metadata.n; i++) {
    wick_pair p = m->metadata.at[i];
    wick_span *field = NULL;
    for (size_t k = 0; k < WICK_COUNT(head); k++)
      if (strcmp(p.key, head[k].key) == 0) field = head[k].field;
    bool said = false;
    for (uint32_t k = 0; k < x->mapped.n; k++) said = said || x->mapped.at[k] == i;
    if (field)
      *field = wick_export_span(p.value);
    else if (strcmp(p.key, "onnx.model_version") == 0)
      model->model_version = strtoll(p.value, NULL, 10);
    else if (!said)
      wick_push(x->mem, &pair,
                (wick_onnx_pair){0, wick_export_span(p.key), wick_export_span(p.value)});
  }
  model_state_metadata(x, model->graph, &pair);
  if (!model->producer_name.nbytes) model->producer_name = wick_export_span("wick");
  model->metadata_props.at = pair.at;
  model->metadata_props.n = pair.n;
}

/* ---- the graph ---- */

/* Finds the keys of parameters and results that are maps. The map has the user's name; the tensor
 * of its values gets another one. */
static void model_maps(wick_export *x)
{
  const wick_node *r = wick_return(x->f);
  wick_keys *keys = wick_new(x->mem, wick_keys, (size_t)x->f->nparam + r->nin + 1);
  x->keys = keys;
  for (uint32_t i = 0; i < x->f->nparam + r->nin; i++) {
    bool output = i >= x->f->nparam;
    wick_value v = output ? r->in[i - x->f->nparam] : (wick_value){1 + i};
    const char *name = model_user_name(x, v);
    if (!wick_export_map_of(x, output, name, wick_type_of(x->f, v), &keys[i])) continue;
    wick_export_name(x, name);
    x->value[v.id] = wick_export_name(x, wick_str_printf(x->mem, "%s.values", name));
  }
}

/* Names the function's results first, so that they get the user's names. */
static void model_reserve(wick_export *x)
{
  const wick_node *r = wick_return(x->f);
  model_maps(x);
  for (uint32_t i = 1; i <= x->f->nparam; i++) {
    const char *name = model_user_name(x, (wick_value){i});
    if (x->value[i]) continue;
    x->value[i] = wick_export_name(x, *name ? name : wick_str_printf(x->mem, "input_%u", i - 1));
  }
  for (uint32_t i = 0; i < r->nin; i++) {
    wick_value v = r->in[i];
    if (x->value[v.id]) continue;
    const char *name = model_user_name(x, v);
    x->value[v.id] = wick_export_name(x, *name ? name : wick_str_printf(x->mem, "output_%u", i));
  }
}

/* Returns the name of a result of the graph. ONNX requires that it is the result of a node and that
 * no two results are the same; else adds an Identity. */
static const char *model_output(wick_export *x, wick_value v, bool again)
{
  const char *name = wick_export_value(x, v);
  if (!again && v.id > x->f->nparam) return name;
  wick_export_op o = {.x = x, .n = wick_return(x->f), .location = x->location};
  return wick_export_1(&o, "Identity", name);
}

/* Marks the results that are states. What a state becomes is an output, with the name NAME.next. */
static bool *model_states(wick_export *x)
{
  bool *state = wick_new(x->mem, bool, wick_return(x->f)->nin + 1u);
  for (uint32_t i = 0; i < x->f->nparam; i++)
    if (wick_is_state(x->f->qual[i])) state[wick_given_result(x->f->qual[i])] = true;
  return state;
}

static const char *model_state_next(wick_export *x, wick_value v, uint32_t result)
{
  const char *name = wick_export_value(x, v);
  for (uint32_t i = 0; i < x->f->nparam; i++) {
    wick_qualifier q = x->f->qual[i];
    if (!wick_is_state(q) || wick_given_result(q) != result) continue;
    const char *state = model_user_name(x, (wick_value){1 + i});
    const char *next = wick_export_name(x, wick_str_printf(x->mem, "%s.next", state));
    wick_export_op o = {.x = x, .n = wick_return(x->f), .location = x->location};
    wick_export_identity(&o, name, next);
    return next;
  }
  return name;
}

/* ---- what nobody reads ---- */

/* Adds the names that a node reads, also in its branches and bodies. */
static void model_reads(wick_export *x, const wick_onnx_node *n, wick_names *names)
{
  wick_list(const wick_onnx_node *) open = {0};
  wick_push(x->mem, &open, n);
  while (open.n) {
    n = open.at[--open.n];
    for (size_t k = 0; k < n->input.n; k++)
      wick_names_add(names, (const char *)n->input.at[k].at, n->input.at[k].nbytes);
    for (size_t k = 0; k < n->attribute.n; k++) {
      const wick_onnx_graph *g = n->attribute.at[k].g;
      for (size_t i = 0; g && i < g->node.n; i++) wick_push(x->mem, &open, &g->node.at[i]);
      for (size_t i = 0; g && i < g->output.n; i++)
        wick_names_add(names, (const char *)g->output.at[i].name.at, g->output.at[i].name.nbytes);
    }
  }
}

static bool model_wanted(const wick_names *names, const wick_span *s, size_t n)
{
  bool any = n == 0;
  for (size_t k = 0; k < n && !any; k++)
    any = wick_names_find(names, (const char *)s[k].at, s[k].nbytes) > 0;
  return any;
}

/* Removes nodes and constants that nothing reads, because compositions replaced their users. */
static void model_prune(wick_export *x, wick_onnx_nodes *nodes, size_t nout, const wick_span *out)
{
  wick_names names = wick_names_begin(x->mem);
  for (size_t i = 0; i < nout; i++) wick_names_add(&names, (const char *)out[i].at, out[i].nbytes);
  size_t to = nodes->n;
  for (size_t i = nodes->n; i-- > 0;) {
    if (!model_wanted(&names, nodes->at[i].output.at, nodes->at[i].output.n)) continue;
    nodes->at[--to] = nodes->at[i];
    model_reads(x, &nodes->at[to], &names);
  }
  nodes->at += to;
  nodes->n -= to;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < x->initializer.n && !x->body; i++)
    if (model_wanted(&names, &x->initializer.at[i].name, 1))
      x->initializer.at[kept++] = x->initializer.at[i];
  if (!x->body) x->initializer.n = kept;
}

/* ---- functions ---- */

static wick_onnx_opsets model_opsets(wick_arena *mem, bool functions, bool ml)
{
  wick_onnx_opset *own = wick_new(mem, wick_onnx_opset, 3);
  uint32_t n = 0;
  own[n++].version = WICK_EXPORT_OPSET;
  if (functions) own[n++] = (wick_onnx_opset){.domain = wick_export_span("wick"), .version = 1};
  if (ml) own[n++] = (wick_onnx_opset){.domain = wick_export_span("ai.onnx.ml"), .version = 1};
  return (wick_onnx_opsets){own, n};
}

wick_onnx_nodes wick_export_take(wick_export *x)
{
  wick_onnx_nodes nodes = {wick_new(x->mem, wick_onnx_node, x->nodes->list.n), x->nodes->list.n};
  for (uint32_t i = 0; i < x->nodes->list.n; i++) nodes.at[i] = *x->nodes->list.at[i];
  return nodes;
}

/* Exports the whole function. Returns its nodes and the names of its results. */
static wick_onnx_nodes model_function(wick_export *x, wick_span **out_results)
{
  const wick_node *r = wick_return(x->f);
  wick_export_nodes nodes = {{0}};
  x->nodes = &nodes;
  x->value = wick_new(x->mem, const char *, (size_t)x->f->nvalue + 1);
  x->definer = wick_definers_of(x->f, x->mem);
  x->items = wick_new(x->mem, const wick_value *, (size_t)x->f->nvalue + 1);
  model_reserve(x);
  wick_export_op maps = {.x = x, .n = r, .location = x->location};
  for (uint32_t i = 0; i < x->f->nparam; i++)
    if (x->keys[i].n)
      x->value[1 + i] =
          wick_export_map_input(&maps, model_user_name(x, (wick_value){1 + i}), &x->keys[i]);
  wick_export_range(x, 0, x->f->nnode - 1);
  bool *taken = wick_new(x->mem, bool, (size_t)x->f->nvalue + 1), *state = model_states(x);
  wick_span *result = wick_new(x->mem, wick_span, r->nin);
  for (uint32_t i = 0; i < r->nin; i++)
    if (state[i]) result[i] = wick_export_span(model_state_next(x, r->in[i], i));
  for (uint32_t i = 0; i < r->nin; i++) {
    if (state[i]) continue;
    const char *name = model_output(x, r->in[i], taken[r->in[i].id]);
    const wick_keys *keys = &x->keys[x->f->nparam + i];
    taken[r->in[i].id] = true;
    result[i] = wick_export_span(keys->n ? model_user_name(x, r->in[i]) : name);
    if (keys->n) wick_export_map_output(&maps, name, model_user_name(x, r->in[i]), keys);
  }
  wick_onnx_nodes list = wick_export_take(x);
  model_prune(x, &list, r->nin, result);
  *out_results = result;
  return list;
}

/* Exports the body of a called function as a function of the domain "wick". */
void wick_export_function(wick_export *x, const wick_func *f)
{
  wick_export y = {.m = x->m, .f = f, .mem = x->mem, .location = x->location, .body = true};
  y.errors = wick_errors_begin(x->mem, WICK_EXPORT_ERRORS);
  y.taken = wick_names_begin(x->mem);
  y.node_names = wick_names_begin(x->mem);
  y.function = x->function; /* in the order in which they end: callees first */
  y.callee = x->callee;
  y.depth = x->depth + 1;
  wick_onnx_function g = {.name = wick_export_span(f->name), .domain = wick_export_span("wick")};
  g.node = model_function(&y, &g.output.at);
  g.output.n = wick_return(f)->nin;
  g.input.at = wick_new(x->mem, wick_span, f->nparam);
  g.input.n = f->nparam;
  for (uint32_t i = 0; i < f->nparam; i++) g.input.at[i] = wick_export_span(y.value[1 + i]);
  g.opset_import = model_opsets(x->mem, true, false);
  x->function = y.function;
  x->callee = y.callee;
  wick_push(x->mem, &x->function, g);
  wick_errors_add(&x->errors, wick_errors_end(&y.errors));
}

/* ---- the model ---- */

static wick_onnx_value_info model_info(wick_export *x, bool output, wick_value v, const char *name,
                                       const wick_keys *keys)
{
  wick_elem elem = wick_info_of(x->f, v)->elem;
  return keys->n ? wick_export_map_info(x, output, model_user_name(x, v), elem, keys)
                 : wick_export_value_info(x, name, wick_type_of(x->f, v));
}

static void model_graph(wick_export *x, wick_onnx_graph *g)
{
  const wick_func *f = x->f;
  const wick_node *r = wick_return(f);
  wick_span *result;
  g->node = model_function(x, &result);
  g->name = wick_export_span(f->name);
  g->input.at = wick_new(x->mem, wick_onnx_value_info, f->nparam);
  g->input.n = f->nparam;
  g->output.at = wick_new(x->mem, wick_onnx_value_info, r->nin);
  g->output.n = r->nin;
  for (uint32_t i = 0; i < f->nparam; i++)
    g->input.at[i] = model_info(x, false, (wick_value){1 + i}, x->value[1 + i], &x->keys[i]);
  for (uint32_t i = 0; i < r->nin; i++)
    g->output.at[i] = model_info(
        x, true, r->in[i], wick_str_dupn(x->mem, (const char *)result[i].at, result[i].nbytes),
        &x->keys[f->nparam + i]);
  g->initializer.at = x->initializer.at;
  g->initializer.n = x->initializer.n;
}

wick_status wick_export_onnx(wick_module *m, const wick_func *f, const char *location,
                             const wick_export_options *options, wick_arena *mem,
                             wick_export_result *out)
{
  wick_export x = {.m = m, .f = f, .mem = mem, .location = location};
  x.errors = wick_errors_begin(mem, WICK_EXPORT_ERRORS);
  x.taken = wick_names_begin(mem);
  x.node_names = wick_names_begin(mem);
  x.shared = wick_names_begin(mem);
  *out = (wick_export_result){{0}, {0}};
  wick_onnx_graph g = {.has = 0};
  model_graph(&x, &g);
  WICK_TRY(wick_errors_end(&x.errors));
  wick_onnx_model model = {.ir_version = WICK_EXPORT_IR, .graph = &g};
  model.opset_import = model_opsets(mem, x.function.n > 0, x.ml);
  model.functions.at = x.function.at;
  model.functions.n = x.function.n;
  model_metadata(&x, &model);
  if (options->external || model_is_large(&g))
    out->data = model_outside(&x, &g, options->data_name);
  return wick_wire_encode(&wick_onnx_model_message, &model, location, mem, &out->model);
}
