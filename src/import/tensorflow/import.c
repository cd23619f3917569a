/* Reads graphs and SavedModels, and imports what the outputs need. Begin with the functions at the
 * end. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "import/tensorflow/state.h"
#include "import/tensorflow/tensorflow.h"

/* ---- reading ---- */

/* Is it text? A message begins with the tag of a field, which is a control character. */
static bool import_is_text(wick_span s)
{
  size_t i = s.nbytes >= 3 && memcmp(s.at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (i < s.nbytes && (isspace(s.at[i]) || s.at[i] == '#')) {
    if (s.at[i] == '#')
      while (i < s.nbytes && s.at[i] != '\n') i++;
    else
      i++;
  }
  size_t end = i;
  while (end < s.nbytes && (isalnum(s.at[end]) || s.at[end] == '_')) end++;
  while (end < s.nbytes && s.at[end] == ' ') end++;
  return end > i + 1 && end < s.nbytes &&
         (s.at[end] == '{' || s.at[end] == ':' || s.at[end] == '<');
}

static wick_status import_decode(wick_import *c, const wick_wire_message *m, wick_span bytes,
                                 void **out)
{
  if (import_is_text(bytes))
    WICK_TRY(wick_wire_from_text(m, wick_tf_words, bytes, c->file, c->mem, &bytes));
  return wick_wire_decode(m, bytes, c->file, c->tmp, out);
}

static wick_status import_library(wick_import *c)
{
  wick_tf *t = wick_tf_of(c);
  const wick_tf_library *l = t->def->library;
  t->functions = wick_names_begin(c->tmp);
  t->keys = wick_names_begin(c->tmp);
  wick_push(c->tmp, &t->function, NULL); /* names count from 1 */
  wick_push(c->tmp, &t->function_def, NULL);
  for (size_t i = 0; l && i < l->function.n; i++) {
    const wick_tf_function *f = &l->function.at[i];
    wick_span name = f->signature ? f->signature->name : (wick_span){0};
    if (!name.nbytes) return wick_fail(c->tmp, WICK_EPARSE, c->file, "function %zu has no name", i);
    uint32_t id = wick_names_add(&t->functions, (const char *)name.at, name.nbytes);
    if (id < t->function.n) continue; /* the first one counts, as in TensorFlow */
    wick_push(c->tmp, &t->function, NULL);
    wick_push(c->tmp, &t->function_def, f);
  }
  t->main = wick_tf_graph_make(c, &t->def->node, NULL);
  return t->main ? NULL : wick_errors_end(&c->errors);
}

static wick_status import_open_graph(wick_import *c, wick_span bytes)
{
  wick_tf *t = wick_new(c->tmp, wick_tf, 1);
  void *message;
  c->model = t;
  c->errors = wick_errors_begin(c->tmp, WICK_IMPORT_ERRORS);
  if (c->options->entry)
    return wick_fail(c->tmp, WICK_EINVAL, c->file, "a graph has no signature \"%s\"",
                     c->options->entry);
  WICK_TRY(import_decode(c, &wick_tf_graph_message, bytes, &message));
  t->def = message;
  return import_library(c);
}

static bool import_has_tag(const wick_tf_meta_graph *g, const char *tag)
{
  for (size_t i = 0; g->meta_info_def && i < g->meta_info_def->tags.n; i++)
    if (wick_span_is(g->meta_info_def->tags.at[i], tag)) return true;
  return false;
}

/* The graph for inference: tagged "serve", else the first one. */
static const wick_tf_meta_graph *import_meta(const wick_tf_saved_model *s)
{
  for (size_t i = 0; i < s->meta_graphs.n; i++)
    if (import_has_tag(&s->meta_graphs.at[i], "serve")) return &s->meta_graphs.at[i];
  return s->meta_graphs.n ? &s->meta_graphs.at[0] : NULL;
}

/* Chooses the signature: the one that is asked for, else serving_default, else the only one. */
static wick_status import_signature(wick_import *c)
{
  wick_tf *t = wick_tf_of(c);
  const char *asked = c->options->entry;
  const char *want = asked ? asked : "serving_default";
  wick_text known = wick_text_begin(c->tmp);
  uint32_t n = 0;
  for (size_t i = 0; i < t->meta->signature_def.n; i++) {
    const wick_tf_signature_entry *e = &t->meta->signature_def.at[i];
    if (!e->value || wick_span_is(e->key, "__saved_model_init_op") ||
        wick_span_is(e->key, "__saved_model_train_op"))
      continue;
    wick_text_printf(&known, "%s%s", n++ ? ", " : "", wick_wire_text(c->tmp, e->key));
    if (!t->signature || wick_span_is(e->key, want)) t->signature = e->value;
    if (wick_span_is(e->key, want)) return NULL;
  }
  if (n == 1 && !asked) return NULL;
  if (!n)
    return wick_fail(c->tmp, WICK_EUNSUPPORTED, c->file,
                     "the model has no signature; save it "
                     "with signatures (tf.saved_model.save(model, folder, signatures=...))");
  return wick_fail(c->tmp, WICK_EINVAL, c->file, "the model has no signature \"%s\", it has %s",
                   want, known.at);
}

static wick_status import_open_saved(wick_import *c, wick_span bytes)
{
  wick_tf *t = wick_new(c->tmp, wick_tf, 1);
  struct stat st;
  bool is_folder = stat(c->path, &st) == 0 && S_ISDIR(st.st_mode);
  wick_files *files = c->options->files;
  void *message;
  c->model = t;
  c->errors = wick_errors_begin(c->tmp, WICK_IMPORT_ERRORS);
  t->folder = is_folder ? c->path : wick_path_folder(c->tmp, c->path);
  if (is_folder) {
    const char *name = wick_path_join(c->tmp, c->path, "saved_model.pb");
    wick_file *file;
    if (!files) return wick_fail(c->tmp, WICK_EINVAL, c->file, "its files cannot be read here");
    if (!wick_file_exists(name)) name = wick_path_join(c->tmp, c->path, "saved_model.pbtxt");
    WICK_TRY(wick_files_map(files, name, &file));
    bytes = (wick_span){file->at, file->nbytes};
  }
  WICK_TRY(import_decode(c, &wick_tf_saved_model_message, bytes, &message));
  t->meta = import_meta(message);
  if (!t->meta || !t->meta->graph_def)
    return wick_fail(c->tmp, WICK_EPARSE, c->file, "it has no graph");
  t->def = t->meta->graph_def;
  WICK_TRY(import_signature(c));
  const char *index = wick_path_join(c->tmp, t->folder, "variables/variables.index");
  if (files && wick_file_exists(index))
    WICK_TRY(
        wick_tf_checkpoint_open(files, t->folder, "variables/variables", c->tmp, &t->checkpoint));
  WICK_TRY(import_library(c));
  wick_tf_restore_keys(c);
  return wick_errors_end(&c->errors);
}

/* ---- inputs ---- */

/* Finds the dimensions that a model declares, or that the caller gave. False after an error. */
static bool import_shape(wick_import *c, const wick_tf_shape *s, const char *name, uint32_t *rank,
                         wick_dim *dim)
{
  const wick_import_shape *given = NULL;
  bool known = s && !s->unknown_rank;
  for (uint32_t i = 0; i < c->options->nshape; i++)
    if (strcmp(c->options->shape[i].input, name) == 0) given = &c->options->shape[i];
  size_t n = known ? s->dim.n : given ? given->rank : 0;
  if (!known && !given) {
    wick_import_error(c, WICK_ETYPE, wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, name),
                      "the model does not declare a shape: one must be given");
    return false;
  }
  *rank = (uint32_t)(n <= WICK_MAX_RANK ? n : WICK_MAX_RANK + 1);
  for (uint32_t i = 0; i < *rank && i < WICK_MAX_RANK; i++) {
    int64_t size = known ? s->dim.at[i].size : given->dim[i];
    dim[i] = size >= 0 ? wick_dim_const(size) : wick_import_size(c, "", name, i);
  }
  return true;
}

typedef struct import_input {
  const char *name;
  uint32_t vertex;
  wick_value v;
} import_input;
typedef wick_list(import_input) import_inputs;

static void import_declare(wick_import *c, import_inputs *list, const char *name, uint32_t vertex,
                           int64_t dtype, const wick_tf_shape *shape)
{
  import_input in = {name, vertex, {0}};
  wick_dim dim[WICK_MAX_RANK];
  wick_elem elem;
  uint32_t rank;
  if (!wick_tf_elem(dtype, &elem))
    wick_import_error(c, WICK_EUNSUPPORTED,
                      wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, name),
                      "elements of type %s are not supported", wick_tf_elem_name(dtype, c->tmp));
  else if (import_shape(c, shape, name, &rank, dim))
    in.v = wick_import_input(c, name, elem, rank, dim);
  wick_push(c->tmp, list, in);
}

static const wick_tf_attr *import_attr(const wick_tf_vertex *v, const char *name)
{
  for (size_t i = 0; i < v->def->attr.n; i++)
    if (wick_span_is(v->def->attr.at[i].key, name)) return v->def->attr.at[i].value;
  return NULL;
}

/* The shape of a placeholder: its own, or the one that old exporters write beside it. */
static const wick_tf_shape *import_placeholder_shape(const wick_tf_vertex *v)
{
  const wick_tf_attr *shape = import_attr(v, "shape"), *other = import_attr(v, "_output_shapes");
  if (shape && shape->shape && !shape->shape->unknown_rank) return shape->shape;
  if (other && other->list && other->list->shape.n == 1) return &other->list->shape.at[0];
  return shape ? shape->shape : NULL;
}

/* TensorFlow leaves such placeholders behind when it lowers loops; no node reads them. */
static bool import_is_remnant(const wick_tf_graph *g, uint32_t vertex)
{
  static const char name[] = "unused_control_flow_input";
  return !g->consumed[vertex] && strncmp(g->vertex[vertex].name, name, sizeof name - 1) == 0;
}

static void import_placeholders(wick_import *c, import_inputs *list)
{
  const wick_tf_graph *g = wick_tf_of(c)->main;
  for (uint32_t i = 0; i < g->n; i++) {
    const wick_tf_vertex *v = &g->vertex[i];
    bool plain = strcmp(v->op, "Placeholder") == 0 || strcmp(v->op, "PlaceholderV2") == 0;
    if (!plain || import_is_remnant(g, i)) continue;
    const wick_tf_attr *type = import_attr(v, "dtype");
    import_declare(c, list, v->name, i, type ? type->type : 0, import_placeholder_shape(v));
  }
}

/* Compares names so that "output_10" comes after "output_9". */
static int import_compare(wick_span a, wick_span b)
{
  size_t i = 0, k = 0;
  while (i < a.nbytes && k < b.nbytes) {
    if (isdigit(a.at[i]) && isdigit(b.at[k])) {
      size_t x = i, y = k;
      while (x < a.nbytes && isdigit(a.at[x])) x++;
      while (y < b.nbytes && isdigit(b.at[y])) y++;
      if (x - i != y - k) return x - i < y - k ? -1 : 1;
    }
    if (a.at[i] != b.at[k]) return a.at[i] < b.at[k] ? -1 : 1;
    i++, k++;
  }
  return (a.nbytes - i > b.nbytes - k) - (a.nbytes - i < b.nbytes - k);
}

static wick_tf_ports import_sorted(wick_import *c, const wick_tf_ports *ports)
{
  wick_tf_ports p = {wick_dup(c->tmp, wick_tf_port, ports->n ? ports->at : &(wick_tf_port){0},
                              ports->n + !ports->n),
                     ports->n};
  for (size_t i = 1; i < p.n; i++)
    for (size_t k = i; k > 0 && import_compare(p.at[k - 1].key, p.at[k].key) > 0; k--) {
      wick_tf_port swap = p.at[k];
      p.at[k] = p.at[k - 1], p.at[k - 1] = swap;
    }
  return p;
}

static void import_signature_inputs(wick_import *c, import_inputs *list)
{
  const wick_tf *t = wick_tf_of(c);
  const wick_tf_ports in = import_sorted(c, &t->signature->inputs);
  for (size_t i = 0; i < in.n; i++) {
    const char *name = wick_wire_text(c->tmp, in.at[i].key);
    const wick_tf_tensor_info *info = in.at[i].value;
    wick_tf_edge e;
    if (!info || !wick_tf_edge_find(t->main, info->name, &e))
      wick_import_error(c, WICK_EPARSE, wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, name),
                        "the graph has no such tensor");
    else
      import_declare(c, list, name, e.node, info->dtype, info->tensor_shape);
  }
}

/* ---- outputs ---- */

typedef struct import_result {
  const char *name;
  wick_tf_edge edge;
} import_result;
typedef wick_list(import_result) import_results;

/* The type that a signature declares; id 0: none. */
static wick_type import_declared(wick_import *c, const wick_tf_tensor_info *info)
{
  wick_elem elem;
  wick_dim dim[WICK_MAX_RANK];
  const wick_tf_shape *s = info->tensor_shape;
  if (!s || s->unknown_rank || s->dim.n > WICK_MAX_RANK || !wick_tf_elem(info->dtype, &elem))
    return (wick_type){0};
  for (size_t i = 0; i < s->dim.n; i++)
    dim[i] = s->dim.at[i].size >= 0
                 ? wick_dim_const(s->dim.at[i].size)
                 : wick_import_size(c, "", wick_wire_text(c->tmp, info->name), (uint32_t)i);
  return wick_type_tensor(c->module, elem, (uint32_t)s->dim.n, dim);
}

static void import_signature_outputs(wick_import *c, import_results *list)
{
  const wick_tf *t = wick_tf_of(c);
  const wick_tf_ports out = import_sorted(c, &t->signature->outputs);
  for (size_t i = 0; i < out.n; i++) {
    import_result r = {.name = wick_wire_text(c->tmp, out.at[i].key)};
    const wick_tf_tensor_info *info = out.at[i].value;
    if (!info || !wick_tf_edge_find(t->main, info->name, &r.edge)) {
      wick_import_error(c, WICK_EPARSE,
                        wick_str_printf(c->tmp, "%s: output \"%s\"", c->file, r.name),
                        "the graph has no such tensor");
      continue;
    }
    wick_tf_consume(t->main, r.edge);
    wick_push(c->tmp, list, r);
    wick_import_declare(c, r.name, c->interface ? import_declared(c, info) : (wick_type){0});
  }
}

/* Did the user mark a value by tf.identity(x, name="scores")? Such a name has no scope; what nodes
 * without a name get, Identity_1, marks nothing, nor does the end of a function of TensorFlow, which
 * has the name of the function's scope. */
static bool import_is_marked(const wick_tf_graph *g, const wick_tf_vertex *v)
{
  if (strcmp(v->op, "Identity") != 0 || v->nin != 1 || strchr(v->name, '/')) return false;
  const wick_tf_vertex *from = &g->vertex[v->in[0].node];
  size_t nbytes = strlen(v->name);
  if (strncmp(from->name, v->name, nbytes) == 0 && from->name[nbytes] == '/') return false;
  return strncmp(v->name, "Identity", 8) != 0 && from->nin > 0 &&
         strcmp(from->op, "VariableV2") != 0;
}

static bool import_is_result(const wick_tf_graph *g, uint32_t vertex)
{
  static const char *const not [] = {"Const",
                                     "Placeholder",
                                     "PlaceholderV2",
                                     "VarHandleOp",
                                     "VariableV2",
                                     "HashTableV2",
                                     "SaveV2",
                                     "RestoreV2",
                                     "Assign",
                                     "AssignVariableOp",
                                     "PlaceholderWithDefault",
                                     "LookupTableImportV2"};
  const wick_tf_vertex *v = &g->vertex[vertex];
  if (v->order == WICK_TF_IGNORED || v->order == WICK_TF_ORDERED) return false;
  if (g->consumed[vertex]) return import_is_marked(g, v);
  for (size_t i = 0; i < WICK_COUNT(not ); i++)
    if (strcmp(v->op, not [i]) == 0) return false;
  return true;
}

/* The type of a graph's output before its nodes are imported: a frozen function ends in nodes that
 * say what their elements are. id 0: not known. */
static wick_type import_undeclared(wick_import *c, const wick_tf_vertex *v)
{
  wick_elem elem;
  if (strcmp(v->op, "Identity") != 0 || !v->def) return (wick_type){0};
  for (size_t i = 0; i < v->def->attr.n; i++)
    if (wick_span_is(v->def->attr.at[i].key, "T") && v->def->attr.at[i].value &&
        wick_tf_elem(v->def->attr.at[i].value->type, &elem))
      return wick_import_open_type(c, elem);
  return (wick_type){0};
}

/* The nodes that no other node reads, and those that the user marked. */
static void import_graph_outputs(wick_import *c, import_results *list)
{
  const wick_tf_graph *g = wick_tf_of(c)->main;
  for (uint32_t i = 0; i < g->n; i++) {
    if (!import_is_result(g, i)) continue;
    const wick_tf_vertex *v = &g->vertex[i];
    for (uint32_t k = 0; k < v->nout; k++) {
      const char *name = k ? wick_str_printf(c->tmp, "%s:%u", v->name, k) : v->name;
      wick_push(c->tmp, list, (import_result){name, {i, k}});
      wick_import_declare(c, name, c->interface ? import_undeclared(c, v) : (wick_type){0});
    }
  }
}

static void import_graph(wick_import *c)
{
  wick_tf *t = wick_tf_of(c);
  import_inputs in = {0};
  import_results out = {0};
  t->variables.n = t->tables.n = t->trail.n = 0;
  if (t->signature)
    import_signature_inputs(c, &in);
  else
    import_placeholders(c, &in);
  wick_tf_states(c);
  if (t->signature)
    import_signature_outputs(c, &out);
  else
    import_graph_outputs(c, &out);
  if (c->interface || c->errors.list.n) return;
  wick_tf_frame *f = wick_tf_frame_make(c, t->main);
  for (uint32_t i = 0; i < in.n; i++) {
    uint32_t n = t->main->vertex[in.at[i].vertex].nout;
    wick_tf_value *v = wick_new(c->tmp, wick_tf_value, n + 1);
    v[0] = wick_tf_tensor_value(wick_import_input_value(c, in.at[i].v));
    wick_tf_bind(c, f, in.at[i].vertex, v);
  }
  if (t->meta && t->meta->meta_info_def && t->meta->meta_info_def->tensorflow_version.nbytes)
    wick_import_metadata(c, "tensorflow.version",
                         wick_wire_text(c->tmp, t->meta->meta_info_def->tensorflow_version));
  wick_tf_initialize(c, f);
  for (uint32_t i = 0; i < out.n && !c->over; i++) {
    wick_tf_value v = wick_tf_eval(c, f, out.at[i].edge);
    if (v.kind == WICK_TF_TENSOR)
      wick_import_output(c, i, v.v);
    else if (v.kind != WICK_TF_BROKEN)
      wick_import_error(c, WICK_EUNSUPPORTED, c->file, "the output \"%s\" is %s",
                        wick_import_shown(c, out.at[i].name),
                        v.kind == WICK_TF_COMPLEX ? "complex; return its parts" : "no tensor");
  }
  wick_tf_states_end(c);
}

/* ---- the formats ---- */

static const wick_import_op *const import_families[] = {wick_tf_ops};

const wick_import_format wick_tf_format = {.name = "TensorFlow",
                                           .version_word = "version",
                                           .nfamily = WICK_COUNT(import_families),
                                           .families = import_families,
                                           .open = import_open_graph,
                                           .graph = import_graph,
                                           .attr = wick_tf_attr_of};
static const wick_import_format import_saved_model = {.name = "TensorFlow",
                                                      .version_word = "version",
                                                      .nfamily = WICK_COUNT(import_families),
                                                      .families = import_families,
                                                      .open = import_open_saved,
                                                      .graph = import_graph,
                                                      .attr = wick_tf_attr_of};

wick_status wick_import_graphdef(wick_module *m, wick_span bytes, const char *path,
                                 const wick_import_options *options, wick_arena *mem,
                                 wick_arena *tmp, const wick_func **out)
{
  return wick_import_with(&wick_tf_format, m, bytes, path, options, mem, tmp, out);
}

wick_status wick_import_saved_model(wick_module *m, wick_span bytes, const char *path,
                                    const wick_import_options *options, wick_arena *mem,
                                    wick_arena *tmp, const wick_func **out)
{
  return wick_import_with(&import_saved_model, m, bytes, path, options, mem, tmp, out);
}
