/* Imports a model: its opsets, inputs, initializers, nodes, outputs and metadata. Begin with
 * wick_import_onnx at the end. */
#include "import/onnx/import.h"

#include <string.h>

/* ---- header ---- */

static void import_opsets(wick_onnx_context *c, const wick_onnx_opsets *opsets,
                          const char *location)
{
  for (size_t i = 0; i < opsets->n; i++) {
    int64_t v = opsets->at[i].version;
    if (wick_onnx_domain_is_own(opsets->at[i].domain) && (v < 1 || v > WICK_ONNX_OPSET))
      wick_onnx_error(c, WICK_EUNSUPPORTED, location, "opset %lld is outside 1 to %d", (long long)v,
                      WICK_ONNX_OPSET);
  }
}

static void import_functions(wick_onnx_context *c)
{
  c->functions = wick_names_begin(c->tmp);
  for (size_t i = 0; i < c->model->functions.n; i++) {
    const wick_onnx_function *f = &c->model->functions.at[i];
    const char *name = wick_onnx_name(c, f->name);
    const char *domain =
        wick_onnx_domain_is_own(f->domain) ? "" : wick_wire_text(c->tmp, f->domain);
    const char *key = wick_str_printf(c->tmp, "%s::%s:%s", domain, wick_wire_text(c->tmp, f->name),
                                      wick_wire_text(c->tmp, f->overload));
    const char *location = wick_str_printf(c->tmp, "%s: function \"%s\"", c->file, name);
    import_opsets(c, &f->opset_import, location);
    uint32_t id = wick_names_add(&c->functions, key, strlen(key));
    if (!c->function.n) wick_push(c->tmp, &c->function, NULL); /* names count from 1 */
    if (id < c->function.n)
      wick_onnx_error(c, WICK_EPARSE, location, "it is defined a second time");
    else
      wick_push(c->tmp, &c->function, f);
  }
}

static void import_metadata(wick_onnx_context *c)
{
  const wick_onnx_model *m = c->model;
  const struct {
    const char *key;
    wick_span value;
  } header[] = {{"onnx.producer_name", m->producer_name},
                {"onnx.producer_version", m->producer_version},
                {"onnx.domain", m->domain},
                {"onnx.doc_string", m->doc_string},
                {"onnx.graph.name", m->graph->name},
                {"onnx.graph.doc_string", m->graph->doc_string}};
  for (size_t i = 0; i < WICK_COUNT(header); i++)
    if (header[i].value.nbytes)
      wick_push(&c->module->mem, &c->module->metadata,
                (wick_pair){header[i].key, wick_wire_text(&c->module->mem, header[i].value)});
  if (m->model_version)
    wick_push(&c->module->mem, &c->module->metadata,
              (wick_pair){"onnx.model_version",
                          wick_str_printf(&c->module->mem, "%lld", (long long)m->model_version)});
  for (size_t i = 0; i < m->metadata_props.n; i++) {
    const wick_onnx_pair *p = &m->metadata_props.at[i];
    wick_push(&c->module->mem, &c->module->metadata,
              (wick_pair){wick_wire_text(&c->module->mem, p->key),
                          wick_wire_text(&c->module->mem, p->value)});
  }
}

/* ---- inputs ---- */

static const char *import_param(const wick_onnx_context *c, uint32_t i)
{
  return wick_names_get(&c->module->names, c->b.values.at[1 + i].name);
}

/* Finds the dimensions of an input or a declared output. If the model declares no shape, they are
 * those that the caller gave, where -1 is a dynamic size; without these the rank is unknown, too.
 * Returns false after an error. */
static bool import_shape(wick_onnx_context *c, const wick_onnx_shape *shape, const char *name,
                         const char *location, uint32_t *out_rank, wick_dim *dim)
{
  const wick_import_shape *given = shape ? NULL : wick_onnx_shape_given(c, name);
  size_t rank = shape ? shape->dim.n : given ? given->rank : 1;
  if (rank > WICK_MAX_RANK)
    return wick_onnx_error(c, WICK_EUNSUPPORTED, location, "its rank is %zu, the most is %d", rank,
                           WICK_MAX_RANK),
           false;
  *out_rank = (uint32_t)rank;
  for (uint32_t i = 0; i < rank; i++) {
    const wick_onnx_dim *d = shape ? &shape->dim.at[i] : NULL;
    bool number = d ? wick_wire_has(d->has, WICK_ONNX_DIM_VALUE) &&
                          d->dim_value >= 0 /* -1: "not known", of some exporters */
                    : given && given->dim[i] >= 0;
    if (number)
      dim[i] = wick_dim_const(d ? d->dim_value : given->dim[i]);
    else if (d || given)
      dim[i] = wick_onnx_symbol(c, d ? d->dim_param : (wick_span){0}, name, i);
    else
      dim[i] = wick_dim_symbol(c->module->dims, WICK_IMPORT_UNRANKED, 1, WICK_IMPORT_LARGEST);
  }
  return true;
}

/* A sparse tensor is an input or output as the dense tensor that it stands for. */
static const wick_onnx_tensor_type *import_tensor_type(const wick_onnx_value_info *v)
{
  if (!v->type) return NULL;
  return v->type->tensor_type ? v->type->tensor_type : v->type->sparse_tensor_type;
}

/* Finds the type of an input. Returns false after an error. */
static bool import_type(wick_onnx_context *c, const wick_onnx_value_info *v, const char *location,
                        wick_type *out)
{
  const wick_onnx_tensor_type *t = import_tensor_type(v);
  wick_elem elem;
  const char *name = wick_wire_text(c->tmp, v->name);
  if (!v->type) return wick_onnx_error(c, WICK_EPARSE, location, "it has no type"), false;
  if (!t)
    return wick_onnx_error(c, WICK_EUNSUPPORTED, location,
                           "only tensors, sequences, optionals and maps are supported"),
           false;
  if (!wick_onnx_elem(t->elem_type, &elem))
    return wick_onnx_error(c, WICK_EUNSUPPORTED, location, "elements of type %s are not supported",
                           wick_onnx_elem_name(t->elem_type, c->tmp)),
           false;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank;
  if (!import_shape(c, t->shape, name, location, &rank, dim)) return false;
  *out = wick_type_tensor(c->module, elem, rank, dim);
  if (wick_dim_eq(wick_type_numel(c->module, *out), WICK_DIM_INVALID))
    return wick_onnx_error(c, WICK_ERANGE, location, "the product of its dimensions overflows"),
           false;
  return true;
}

/* ---- initializers that are inputs, too ---- */

/* Returns whether the name is an overridden initializer, which becomes a parameter. */
static bool import_is_overridden(const wick_onnx_context *c, wick_span name)
{
  const wick_import_options *o = c->options;
  for (uint32_t i = 0; o && i < o->noverride && c->model->ir_version >= 4; i++) {
    if (!wick_span_is(name, o->override[i])) continue;
    for (size_t k = 0; k < c->model->graph->input.n; k++)
      if (wick_span_is(c->model->graph->input.at[k].name, o->override[i])) return true;
  }
  return false;
}

static const wick_onnx_tensor *import_initializer(const wick_onnx_graph *g, wick_span name)
{
  for (size_t i = 0; i < g->initializer.n; i++) {
    wick_span n = g->initializer.at[i].name;
    if (n.nbytes == name.nbytes && n.nbytes && memcmp(n.at, name.at, n.nbytes) == 0)
      return &g->initializer.at[i];
  }
  return NULL;
}

/* Adds an overridable initializer to the caller's list. */
static void import_overridable(wick_onnx_context *c, const wick_onnx_value_info *v)
{
  wick_arena *mem = &c->module->mem;
  const wick_onnx_tensor *t = import_initializer(c->model->graph, v->name);
  const wick_onnx_tensor_type *type = import_tensor_type(v);
  const wick_onnx_shape *shape = type ? type->shape : NULL;
  wick_import_overridable o = {.name = wick_wire_text(mem, v->name)};
  size_t rank = shape ? shape->dim.n : t ? t->dims.n : 0;
  if (!t || c->model->ir_version < 4 || !c->options || !c->options->overridable ||
      rank > WICK_MAX_RANK || !wick_onnx_elem(t->data_type, &o.elem))
    return;
  o.rank = (uint32_t)rank;
  for (uint32_t k = 0; k < o.rank; k++) {
    const wick_onnx_dim *d = shape ? &shape->dim.at[k] : NULL;
    bool number = !d || (wick_wire_has(d->has, WICK_ONNX_DIM_VALUE) && d->dim_value >= 0);
    o.dim[k] = !number ? -1 : d ? d->dim_value : t->dims.at[k];
    o.dim_name[k] = number ? "" : wick_wire_text(mem, d->dim_param);
  }
  wick_push(mem, c->options->overridable, o);
}

/* Finds the type of an overridden initializer: the input's type, with the initializer's shape if
 * the input has none. */
static bool import_overridden_type(wick_onnx_context *c, const wick_onnx_value_info *v,
                                   const char *location, wick_type *out)
{
  const wick_onnx_tensor *t = import_initializer(c->model->graph, v->name);
  const wick_onnx_tensor_type *type = import_tensor_type(v);
  wick_elem elem;
  if ((type && type->shape) || !t || t->dims.n > WICK_MAX_RANK ||
      !wick_onnx_elem(t->data_type, &elem))
    return import_type(c, v, location, out);
  *out = wick_type_tensor_const(c->module, elem, (uint32_t)t->dims.n, t->dims.at);
  return true;
}

static void import_inputs(wick_onnx_context *c, const wick_onnx_graph *g)
{
  uint32_t at = 0;
  c->lists.n = 0, c->unlisted = c->unlisted_why = NULL;
  for (size_t i = 0; i < g->input.n; i++) {
    const wick_onnx_value_info *v = &g->input.at[i];
    bool overridden = import_is_overridden(c, v->name);
    if (overridden || wick_onnx_find(c, v->name)) import_overridable(c, v);
    if (wick_onnx_find(c, v->name)) continue; /* an initializer that keeps its value */
    const char *name = wick_wire_text(c->tmp, v->name);
    const char *location = wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, name);
    wick_onnx_binding b = {0};
    wick_type type;
    if (!v->name.nbytes)
      wick_onnx_error(c, WICK_EPARSE, location, "it has no name");
    else if (wick_onnx_is_list(v))
      wick_onnx_list_input(c, v, at, location);
    else if (overridden ? import_overridden_type(c, v, location, &type)
                        : import_type(c, v, location, &type)) {
      b.v = wick_build_param(&c->b, type, WICK_IN, name);
      if (!overridden && !import_tensor_type(v)->shape && !wick_onnx_shape_given(c, name))
        wick_onnx_unlisted(c, location, "the model does not declare a shape: one must be given");
    }
    wick_onnx_bind(c, v->name, b);
    at++;
  }
}

/* Replaces inputs whose contents must be known by constants, for all uses. */
static void import_contents(wick_onnx_context *c)
{
  wick_module *m = c->module;
  for (uint32_t i = 0; i < c->options->ncontent; i++) {
    const wick_import_content *given = &c->options->content[i];
    wick_span name = {(const unsigned char *)given->input, strlen(given->input)};
    const wick_onnx_binding *b = c->options->fixed[i] ? wick_onnx_find(c, name) : NULL;
    if (!b || !b->v.id) continue;
    const char *location = wick_str_printf(c->tmp, "%s: input \"%s\"", c->file, given->input);
    wick_type type = wick_built_type(&c->b, b->v);
    uint64_t nbytes;
    uint32_t k;
    if (!wick_type_nbytes(m, type, &nbytes)) continue; /* its size is dynamic */
    if (!wick_emit_content(m, given->input, type, given->data, &k)) {
      wick_onnx_error(c, WICK_ETYPE, location, "its type has %llu bytes, but %zu were given",
                      (unsigned long long)nbytes, given->data.nbytes);
      continue;
    }
    wick_onnx_rebind(c, name, wick_build_constant(&c->b, k));
  }
}

/* Binds the names of initializers before the inputs are imported. Their values follow later,
 * because parameters must come first. */
static void import_initializer_names(wick_onnx_context *c, const wick_onnx_graph *g)
{
  for (size_t i = 0; i < g->initializer.n; i++) {
    wick_span name = g->initializer.at[i].name;
    if (g == c->model->graph && import_is_overridden(c, name)) continue;
    if (!wick_onnx_bind(c, name, (wick_onnx_binding){0}))
      wick_onnx_error(c, WICK_EPARSE, c->file,
                      "initializer %zu, \"%s\", has no name or is defined a second time", i,
                      wick_wire_text(c->tmp, name));
  }
  for (size_t i = 0; i < g->sparse_initializer.n; i++) {
    const wick_onnx_tensor *values = g->sparse_initializer.at[i].values;
    if (!values || !wick_onnx_bind(c, values->name, (wick_onnx_binding){0}))
      wick_onnx_error(c, WICK_EPARSE, c->file,
                      "sparse initializer %zu, \"%s\", has no name or is defined a second time", i,
                      values ? wick_onnx_name(c, values->name) : "");
  }
}

static void import_initializers(wick_onnx_context *c, const wick_onnx_graph *g)
{
  for (size_t i = 0; i < g->initializer.n; i++) {
    const wick_onnx_tensor *t = &g->initializer.at[i];
    if (g == c->model->graph && import_is_overridden(c, t->name)) continue;
    const char *name = wick_onnx_name(c, t->name);
    const char *location = wick_str_printf(c->tmp, "%s: initializer \"%s\"", c->file, name);
    wick_value v = wick_onnx_constant(c, t, name, location);
    if (v.id) wick_build_name(&c->b, v, wick_onnx_module_name(c, t->name), WICK_REL_SAME);
    wick_onnx_rebind(c, t->name, v);
  }
  for (size_t i = 0; i < g->sparse_initializer.n; i++) {
    const wick_onnx_sparse_tensor *t = &g->sparse_initializer.at[i];
    if (!t->values) continue;
    const char *name = wick_onnx_name(c, t->values->name);
    const char *location = wick_str_printf(c->tmp, "%s: sparse initializer \"%s\"", c->file, name);
    wick_value v = wick_onnx_sparse_constant(c, t, name, location);
    if (v.id) wick_build_name(&c->b, v, wick_onnx_module_name(c, t->values->name), WICK_REL_SAME);
    wick_onnx_rebind(c, t->values->name, v);
  }
}

void wick_onnx_import_initializers(wick_onnx_context *c, const wick_onnx_graph *g)
{
  import_initializer_names(c, g);
  import_initializers(c, g);
}

/* ---- outputs ---- */

/* Copies x to a new value with that name. Outputs need this for parameters, constants, and values
 * that have two names. */
static wick_value import_copy(wick_onnx_context *c, wick_value x, uint32_t name,
                              const char *location)
{
  c->b.loc = wick_loc_add(c->module, location);
  wick_value y = wick_build_again(&c->b, x);
  wick_build_name(&c->b, y, name, WICK_REL_SAME);
  return y;
}

static void import_output_type(wick_onnx_context *c, const wick_onnx_value_info *v, wick_value x,
                               const char *location)
{
  const wick_onnx_tensor_type *t = import_tensor_type(v);
  wick_elem want, have = wick_built_info(&c->b, x)->elem;
  if (t && t->elem_type && (!wick_onnx_elem(t->elem_type, &want) || want != have))
    wick_onnx_error(c, WICK_ETYPE, location, "it is %s, but the model declares %s",
                    wick_elem_name(have), wick_onnx_elem_name(t->elem_type, c->tmp));
}

/* Adds the results that an output consists of. */
static void import_output(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                          wick_onnx_results *out)
{
  const char *name = wick_wire_text(c->tmp, v->name);
  const char *location =
      wick_str_printf(c->tmp, "%s: output \"%s\"", c->file, wick_onnx_name(c, v->name));
  wick_value x = wick_onnx_use(c, v->name, location, "the value").v;
  if (!x.id) return;
  if (!wick_onnx_is_list(v) && wick_built_info(&c->b, x)->kind == WICK_TENSOR) {
    import_output_type(c, v, x, location);
    wick_push(c->tmp, out, (wick_onnx_result){x, name});
    return;
  }
  wick_onnx_list_output(c, v, x, at, location, out);
}

/* Adds the result NAME.size.AXIS, the number of valid elements of a result whose size depends on
 * data. */
static void import_count(wick_onnx_context *c, wick_onnx_result r, wick_onnx_results *out)
{
  const wick_onnx_bounded *d = wick_onnx_bounded_find(c, r.v);
  if (!d) return;
  const char *name = wick_str_printf(c->tmp, "%s.size.%u", r.name, d->axis);
  wick_push(c->tmp, out, (wick_onnx_result){d->count, name});
}

static void import_outputs(wick_onnx_context *c, const wick_onnx_graph *g)
{
  wick_onnx_results all = {0};
  if (!g->output.n) wick_onnx_error(c, WICK_EPARSE, c->file, "the graph has no outputs");
  for (size_t i = 0; i < g->output.n; i++) import_output(c, &g->output.at[i], (uint32_t)i, &all);
  uint32_t nvalue = c->b.values.n, nplain = all.n;
  for (uint32_t i = 0; i < nplain && !c->errors.list.n; i++) import_count(c, all.at[i], &all);
  wick_value *out = wick_new(c->tmp, wick_value, all.n + 1);
  bool *taken = wick_new(c->tmp, bool, nvalue);
  for (uint32_t i = 0; i < all.n && !c->errors.list.n; i++) {
    wick_value x = all.at[i].v;
    const char *text = all.at[i].name;
    uint32_t name = wick_names_add(&c->module->names, text, strlen(text));
    bool own = x.id > c->b.nparam && !taken[x.id] && c->b.values.at[x.id].name == name;
    const char *location = wick_str_printf(c->tmp, "%s: output \"%s\"", c->file, text);
    out[i] = own ? x : import_copy(c, x, name, location);
    taken[x.id] = true;
  }
  c->b.loc = (wick_loc){0};
  if (!c->errors.list.n) wick_build_return(&c->b, all.n, out);
}

/* ---- the model ---- */

/* Adds an error for each unsupported operator. The list of problems has their nodes already. */
static void import_unsupported(wick_onnx_context *c)
{
  for (uint32_t i = 0; i < c->unsupported.n; i++) {
    const wick_onnx_unsupported *u = &c->unsupported.at[i];
    if (u->count > 1)
      wick_errors_add(&c->errors, wick_fail(c->tmp, WICK_EUNSUPPORTED, u->location,
                                            "%s (%u such nodes)", u->text, u->count));
    else
      wick_errors_add(&c->errors, wick_fail(c->tmp, WICK_EUNSUPPORTED, u->location, "%s", u->text));
  }
}

static void import_graph(wick_onnx_context *c)
{
  const wick_onnx_graph *g = c->model->graph;
  c->scope = wick_onnx_scope_make(c, &c->model->opset_import);
  import_opsets(c, &c->model->opset_import, c->file);
  if (!c->model->opset_import.n && !c->errors.list.n)
    wick_onnx_error(c, WICK_EPARSE, c->file, "it does not declare its opset");
  if (c->errors.list.n) return; /* the meaning of its nodes is unknown */
  import_functions(c);
  import_initializer_names(c, g);
  import_inputs(c, g);
  c->wanted = wick_new(c->tmp, bool, c->b.nparam);
  if (c->unlisted) {
    wick_onnx_error(c, WICK_ETYPE, c->unlisted, "%s", c->unlisted_why);
    return;
  }
  wick_onnx_list_inputs_end(c);
  if (c->options && c->options->ncontent) import_contents(c);
  import_initializers(c, g);
  wick_onnx_import_nodes(c, &g->node);
  import_unsupported(c);
  if (!c->over) import_outputs(c, g);
  import_metadata(c);
}

/* ---- the interface alone ---- */

static void import_begin(wick_onnx_context *c, wick_arena *mem)
{
  c->errors = wick_errors_begin(c->tmp, WICK_IMPORT_ERRORS);
  c->symbols = wick_symbols_begin(c->module, c->options, c->tmp);
  c->bounded.n = c->given.n = c->remarks.n = 0;
  if (c->options && c->options->problems) *c->options->problems = (wick_import_problems){0};
  if (c->options && c->options->overridable)
    *c->options->overridable = (wick_import_overridables){0};
  wick_build_begin(&c->b, c->module, WICK_GRAPH, "main", mem);
}

/* Builds a function with the model's inputs and its outputs as declared. Returns false if an
 * output's type is not declared. A sequence of unknown length has no results. */
static bool import_interface(wick_onnx_context *c)
{
  const wick_onnx_graph *g = c->model->graph;
  wick_value *out = wick_new(c->tmp, wick_value, g->output.n + 1);
  uint32_t n = 0;
  c->scope = wick_onnx_scope_make(c, &c->model->opset_import);
  import_initializer_names(c, g);
  import_inputs(c, g);
  for (size_t i = 0; i < g->output.n; i++) {
    const wick_onnx_value_info *v = &g->output.at[i];
    wick_type type;
    if (wick_onnx_is_list(v)) {
      if (!wick_onnx_list_declared(c, v, (uint32_t)i, c->file)) return false;
      continue;
    }
    if (!import_type(c, v, c->file, &type)) return false;
    out[n] = wick_build_const(&c->b, type, 0, 0);
    wick_build_name(&c->b, out[n++], wick_onnx_module_name(c, v->name), WICK_REL_SAME);
  }
  wick_build_return(&c->b, n, out);
  import_metadata(c);
  return !c->errors.list.n;
}

/* Returns the largest number of nodes. Functions that call functions can expand to any number of
 * nodes, so the limit depends on the file's size. */
static uint64_t import_most_nodes(const wick_import_options *options, size_t nbytes)
{
  uint64_t most = options && options->max_nodes ? options->max_nodes : 10000000,
           fit = 100000 + nbytes / 8;
  return most < fit ? most : fit;
}

/* Imports the graph. Tries again until it is known which inputs' contents are needed. */
static wick_status import_tries(wick_onnx_context *c, wick_arena *mem)
{
  const wick_import_options *o = c->options;
  const wick_onnx_context first = *c;
  uint32_t nmetadata = c->module->metadata.n;
  for (bool again = true; again;) {
    *c = first;
    c->module->metadata.n = nmetadata;
    import_begin(c, mem);
    import_graph(c);
    again = c->again;
    for (uint32_t i = 0; o && i < o->ncontent && (c->unknown || c->branches); i++)
      for (uint32_t k = 0; k < c->b.nparam && !o->fixed[i]; k++)
        if (c->wanted[k] && strcmp(import_param(c, k), o->content[i].input) == 0)
          o->fixed[i] = again = true;
  }
  return wick_errors_end(&c->errors);
}

/* Returns whether sizes or contents of inputs, given later, may avoid all errors. */
static bool import_is_dynamic(const wick_onnx_context *c)
{
  uint32_t errors = c->errors.list.n + c->errors.more;
  return c->branches || c->unlisted || errors == (c->symbols.symbolic ? c->misfits : c->unknown);
}

/* Lists the facts that are missing. Returns false if there are other errors. */
static bool import_needs(const wick_onnx_context *c, wick_import_needs *out, wick_arena *mem)
{
  wick_list(const char *) content = {0};
  uint32_t errors = c->errors.list.n + c->errors.more;
  for (uint32_t k = 0; k < c->b.nparam && c->wanted; k++)
    if (c->wanted[k]) wick_push(mem, &content, wick_str_dup(mem, import_param(c, k)));
  *out = (wick_import_needs){content.at, content.n, c->unlisted != NULL, c->sizes > 0};
  return c->branches || c->unlisted || errors == c->unknown + c->sizes;
}

wick_status wick_import_onnx(wick_module *m, wick_span bytes, const char *path,
                             const wick_import_options *options, wick_arena *mem, wick_arena *tmp,
                             const wick_func **out)
{
  static const wick_onnx_opset first = {
      .version = 1}; /* for files before IR version 3, which have no opsets */
  *out = NULL;
  const char *file = wick_path_base(path);
  void *message;
  WICK_TRY(wick_wire_decode(&wick_onnx_model_message, bytes, file, tmp, &message));
  wick_onnx_model *model = message;
  if (!model->graph)
    return wick_fail(tmp, WICK_EPARSE, file, "it has no graph: is it an ONNX model?");
  if (!model->opset_import.n && model->ir_version < 3) {
    model->opset_import.at = wick_dup(tmp, wick_onnx_opset, &first, 1);
    model->opset_import.n = 1;
  }
  if (options && options->ncontent)
    memset(options->fixed, 0, options->ncontent * sizeof *options->fixed);
  wick_onnx_context c = {.module = m,
                         .tmp = tmp,
                         .model = model,
                         .options = options,
                         .file = file,
                         .nodes_left = import_most_nodes(options, bytes.nbytes),
                         .most_bytes = ((uint64_t)64 << 20) + 64 * (uint64_t)bytes.nbytes,
                         .outside = {.files = options ? options->files : NULL,
                                     .folder = wick_path_folder(tmp, path),
                                     .module = m,
                                     .loose = options && options->loose}};
  c.asks = wick_new(tmp, wick_onnx_asks, 1);
  uint32_t nmetadata = m->metadata.n;
  wick_status failure = import_tries(&c, mem);
  if (options && options->remarks) *options->remarks = c.remarks;
  if (failure) {
    if (!options || !options->described || !import_is_dynamic(&c)) return failure;
    if (options->needs && !import_needs(&c, options->needs, mem)) return failure;
    wick_import_problems why = options->problems ? *options->problems : (wick_import_problems){0};
    import_begin(&c, mem);
    m->metadata.n = nmetadata;
    bool good = import_interface(&c);
    if (options->problems) *options->problems = why;
    if (!good) return failure;
    *options->described = true;
    if (options->follows) *options->follows = c.unknown > 0 || c.branches;
  }
  wick_func *f;
  WICK_TRY(wick_build_end(&c.b, &f));
  wick_module_set(m, f);
  *out = f;
  return NULL;
}
