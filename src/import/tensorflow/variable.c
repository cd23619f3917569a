/* Variables and hash tables. A variable begins with its value in the checkpoint. Which tensor of the
 * checkpoint it has is told by the function that restores the model, else by the graph of objects,
 * else by its name. */
#include <string.h>

#include "import/tensorflow/ops.h"
#include "import/tensorflow/state.h"
#include "ir/element.h"
#include "ops/ref.h"

/* ---- names in the checkpoint ---- */

static const wick_tf_attr *variable_attr(const wick_tf_vertex *v, const char *name)
{
  for (size_t i = 0; v->def && i < v->def->attr.n; i++)
    if (wick_span_is(v->def->attr.at[i].key, name)) return v->def->attr.at[i].value;
  return NULL;
}

/* The name of the resource: handles of one name are one variable. */
static const char *variable_name(wick_import *c, const wick_tf_vertex *v)
{
  const wick_tf_attr *shared = variable_attr(v, "shared_name");
  return shared && shared->s.nbytes ? wick_wire_text(c->tmp, shared->s) : v->name;
}

static bool variable_is_handle(const wick_tf_vertex *v)
{
  return strcmp(v->op, "VarHandleOp") == 0 || strcmp(v->op, "VariableV2") == 0 ||
         strcmp(v->op, "Variable") == 0;
}

/* The vertex that an edge comes from, looking through Identity. */
static uint32_t variable_source(const wick_tf_graph *g, wick_tf_edge e, uint32_t *output)
{
  for (uint32_t i = 0; i < g->n; i++) { /* at most once around */
    const wick_tf_vertex *v = &g->vertex[e.node];
    if (strcmp(v->op, "Identity") != 0 || v->nin != 1) break;
    e = v->in[0];
  }
  *output = e.output;
  return e.node;
}

static void variable_key(wick_import *c, const char *name, const char *key)
{
  wick_tf *t = wick_tf_of(c);
  if (!t->key.n) wick_push(c->tmp, &t->key, NULL); /* names count from 1 */
  uint32_t id = wick_names_add(&t->keys, name, strlen(name));
  if (id == t->key.n) wick_push(c->tmp, &t->key, key);
}

/* The name of tensor `output` of a RestoreV2; NULL if it is not constant. */
static const char *variable_restored(wick_import *c, const wick_tf_graph *g, uint32_t restore,
                                     uint32_t output)
{
  const wick_tf_vertex *v = &g->vertex[restore];
  if (strcmp(v->op, "RestoreV2") != 0 || v->nin < 2) return NULL;
  const wick_tf_attr *names = variable_attr(&g->vertex[v->in[1].node], "value");
  if (!names || !names->tensor || output >= names->tensor->string_val.n) return NULL;
  return wick_wire_text(c->tmp, names->tensor->string_val.at[output]);
}

/* Finds assignments of restored tensors in a graph. `call` is the node that calls it. */
static void variable_restores(wick_import *c, const wick_tf_graph *g, const wick_tf_graph *outer,
                              const wick_tf_vertex *call)
{
  for (uint32_t i = g->narg; i < g->n; i++) {
    const wick_tf_vertex *v = &g->vertex[i];
    bool assigns = strcmp(v->op, "AssignVariableOp") == 0 || strcmp(v->op, "Assign") == 0;
    uint32_t output, unused;
    if (!assigns || v->nin != 2) continue;
    uint32_t from = variable_source(g, v->in[1], &output);
    const char *key = variable_restored(c, g, from, output);
    uint32_t to = variable_source(g, v->in[0], &unused);
    const wick_tf_vertex *handle = &g->vertex[to];
    if (!key) continue;
    if (to < g->narg && call && to < call->nin)
      handle = &outer->vertex[variable_source(outer, call->in[to], &unused)];
    if (variable_is_handle(handle)) variable_key(c, variable_name(c, handle), key);
  }
}

static void variable_objects(wick_import *c)
{
  const wick_tf *t = wick_tf_of(c);
  const wick_tf_saved_objects *saved = t->meta->object_graph_def;
  const wick_tf_trackables *stored = t->checkpoint->objects;
  for (size_t i = 0; saved && stored && i < saved->nodes.n && i < stored->nodes.n; i++) {
    const wick_tf_saved_variable *v = saved->nodes.at[i].variable;
    const wick_tf_trackable *o = &stored->nodes.at[i];
    for (size_t k = 0; v && k < o->attributes.n; k++)
      if (wick_span_is(o->attributes.at[k].name, "VARIABLE_VALUE"))
        variable_key(c, wick_wire_text(c->tmp, v->name),
                     wick_wire_text(c->tmp, o->attributes.at[k].checkpoint_key));
  }
}

void wick_tf_restore_keys(wick_import *c)
{
  wick_tf *t = wick_tf_of(c);
  if (!t->checkpoint) return;
  variable_restores(c, t->main, NULL, NULL);
  for (uint32_t i = 0; i < t->main->n; i++) {
    const wick_tf_vertex *v = &t->main->vertex[i];
    const wick_tf_attr *f = variable_attr(v, "f");
    bool known;
    if (!f || !f->func || !strstr(wick_wire_text(c->tmp, f->func->name), "restore")) continue;
    const wick_tf_graph *g = wick_tf_function_find(c, f->func->name, &known);
    if (g) variable_restores(c, g, t->main, v);
  }
  variable_objects(c);
}

/* ---- variables ---- */

static uint32_t variable_named(wick_import *c, const char *name)
{
  wick_tf *t = wick_tf_of(c);
  uint32_t i = 0;
  while (i < t->variables.n && strcmp(t->variables.at[i].name, name) != 0) i++;
  if (i < t->variables.n) return i;
  wick_tf_variable new = {.name = name, .key = name};
  uint32_t id = wick_names_find(&t->keys, name, strlen(name));
  if (id) new.key = t->key.at[id];
  wick_push(c->tmp, &t->variables, new);
  return i;
}

static uint32_t variable_find(wick_import *c, const wick_tf_vertex *v)
{
  return variable_named(c, variable_name(c, v));
}

void wick_tf_states(wick_import *c)
{
  for (uint32_t i = 0; i < c->found->n; i++) {
    const wick_import_found *f = &c->found->at[i];
    wick_value v = wick_import_state(c, f->name, f->elem, f->rank, f->dim);
    uint32_t at = variable_named(c, f->name);
    wick_tf_of(c)->variables.at[at].state = v;
  }
}

void wick_tf_states_end(wick_import *c)
{
  const wick_tf *t = wick_tf_of(c);
  for (uint32_t i = 0; i < t->variables.n; i++) {
    const wick_tf_variable *v = &t->variables.at[i];
    if (v->current.kind != WICK_TF_TENSOR) continue;
    if (v->state.id)
      wick_import_state_set(c, v->state, v->current.v);
    else
      wick_import_state_find(c, v->name, v->current.v);
  }
}

/* Reads the saved value. Returns 0 after a failure. */
static wick_value variable_saved(wick_import_node *n, wick_tf_variable *v)
{
  wick_import *c = n->c;
  wick_tf *t = wick_tf_of(c);
  const wick_tf_bundle_entry *e = NULL;
  wick_span bytes, key = {(const unsigned char *)v->key, v->key ? strlen(v->key) : 0};
  wick_elem elem;
  int64_t dim[WICK_MAX_RANK];
  if (!v->key) {
    const wick_dim one = wick_dim_const(1);
    return wick_build_const(n->b, wick_type_tensor(c->module, WICK_I64, 1, &one), 0, 0);
  }
  if (v->constant) return wick_build_constant(n->b, v->constant);
  wick_status s =
      t->checkpoint ? wick_tf_checkpoint_find(t->checkpoint, key, c->tmp, &e, &bytes) : NULL;
  if (s) {
    wick_import_add(c, n, s, t->checkpoint->location);
    n->failed = true;
    return (wick_value){0};
  }
  if (!e) {
    wick_import_fail(n, WICK_EPARSE, "the variable \"%s\" has no value: %s",
                     wick_import_shown(c, v->name),
                     t->checkpoint ? "the checkpoint has no such tensor"
                                   : "the graph is not frozen, and there is no checkpoint");
    return (wick_value){0};
  }
  size_t rank = e->shape ? e->shape->dim.n : 0;
  if (!wick_tf_elem(e->dtype, &elem) || elem == WICK_STRING || rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the variable \"%s\" is %s of rank %zu",
                     wick_import_shown(c, v->name), wick_tf_elem_name(e->dtype, c->tmp), rank);
    return (wick_value){0};
  }
  for (size_t i = 0; i < rank; i++) {
    dim[i] = e->shape->dim.at[i].size;
    if (dim[i] >= 0) continue;
    wick_import_fail(n, WICK_EPARSE, "the variable \"%s\" has a negative size", v->name);
    return (wick_value){0};
  }
  wick_value x = wick_import_weight(c, v->name, elem, (uint32_t)rank, dim, bytes, n->location);
  const wick_node *d = x.id && !n->b->status ? wick_emit_definer(n->b, x) : NULL;
  if (d && d->op == WICK_OP_const) v->constant = wick_const_imm(d)->constant;
  n->failed = n->failed || !x.id;
  return x;
}

wick_tf_value wick_tf_variable_value(wick_import_node *n, uint32_t variable)
{
  wick_tf_variable *v = &wick_tf_of(n->c)->variables.at[variable];
  if (v->current.kind) return v->current;
  wick_value saved = variable_saved(n, v);
  if (!saved.id || !v->state.id) return wick_tf_tensor_value(saved);
  wick_import_state_initial(n->c, v->state, saved);
  return wick_tf_tensor_value(v->state);
}

void wick_tf_import_var_handle(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  o->out[0] = (wick_tf_value){.kind = WICK_TF_VARIABLE, .at = variable_find(n->c, o->vertex)};
}

/* A variable of version 1: its value. */
void wick_tf_import_ref_variable(wick_import_node *n)
{
  wick_tf_value v = wick_tf_variable_value(n, variable_find(n->c, wick_tf_op_of(n)->vertex));
  n->out[0] = v.v;
}

static bool variable_in(wick_import_node *n, uint32_t i, uint32_t *out)
{
  const wick_tf_value *v = &wick_tf_op_of(n)->in[i];
  *out = v->at;
  if (v->kind == WICK_TF_VARIABLE) return true;
  wick_import_fail(n, WICK_ETYPE, "operand %u is no variable", i);
  return false;
}

void wick_tf_import_read_variable(wick_import_node *n)
{
  uint32_t at;
  if (!variable_in(n, 0, &at)) return;
  wick_tf_value v = wick_tf_variable_value(n, at);
  n->out[0] = v.v;
}

void wick_tf_import_is_initialized(wick_import_node *n)
{
  n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_BOOL, 0, NULL), 0, 1);
}

/* Assigns x, value + x or value - x. Operators of version 1 return the new value. */
static void variable_assign(wick_import_node *n, uint32_t at, wick_opcode op, wick_value x)
{
  if (op != WICK_OP_none || wick_tf_of(n->c)->variables.at[at].state.id) {
    wick_tf_value old = wick_tf_variable_value(n, at);
    if (old.kind != WICK_TF_TENSOR) return;
    if (op != WICK_OP_none) x = wick_build2(n->b, op, old.v, x);
  }
  wick_tf_variable *v = &wick_tf_of(n->c)->variables.at[at];
  v->current = wick_tf_tensor_value(x);
  if (!n->b->status && x.id) return;
  n->failed = true;
}

wick_value wick_tf_counter(wick_import_node *n, wick_value more)
{
  const wick_tf_vertex *vertex = wick_tf_op_of(n)->vertex;
  uint32_t at = variable_named(n->c, wick_str_printf(n->c->tmp, "%s.counter", vertex->name));
  wick_tf_of(n->c)->variables.at[at].key = NULL;
  wick_value now = wick_tf_variable_value(n, at).v;
  variable_assign(n, at, WICK_OP_add, more);
  return n->b->status || n->failed ? now : wick_build_cast(n->b, now, WICK_U64);
}

/* Nodes that wait for an assignment read its result, the variable. */
static void variable_pass(wick_import_node *n)
{
  for (uint32_t k = 0; k < n->nout && !n->failed; k++)
    wick_tf_op_of(n)->out[k] = wick_tf_op_of(n)->in[0];
}

void wick_tf_import_assign_variable(wick_import_node *n)
{
  uint32_t at;
  if (variable_in(n, 0, &at)) variable_assign(n, at, n->row->op, n->in[1]);
  variable_pass(n);
}

/* One step of an optimizer. arg: 0 gradient descent: variable, rate, gradient; 1 momentum: variable, momentum's,
 * rate, gradient, factor, and 2 as Keras has it; 3 Adam: variable, first and second moments', the powers of
 * both factors, rate, both factors, epsilon, gradient. */
void wick_tf_import_optimize(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t at[3] = {0}, count = n->row->arg == 3 ? 3 : n->row->arg ? 2 : 1;
  wick_value old[3] = {{0}}, step, v[3];
  bool nesterov = wick_import_int(n, "use_nesterov", 0);
  for (uint32_t k = 0; k < count; k++) {
    if (!variable_in(n, k, &at[k])) return;
    wick_tf_value now = wick_tf_variable_value(n, at[k]);
    if (now.kind != WICK_TF_TENSOR) return;
    old[k] = now.v;
  }
  const wick_value *in = n->in + count;
  if (n->row->arg == 0) {
    step = wick_build2(b, WICK_OP_mul, in[1], in[0]);
  } else if (n->row->arg == 3) { /* powers, rate, factors, epsilon, gradient */
    wick_value grad = in[6], square = wick_build2(b, WICK_OP_mul, grad, grad), rest[4];
    const wick_value factor[4] = {in[0], in[1], in[3], in[4]};
    for (uint32_t k = 0; k < 4; k++)
      rest[k] = wick_build2(b, WICK_OP_sub, wick_emit_number(b, factor[k], 1), factor[k]);
    wick_value rate = wick_build2(b, WICK_OP_div, wick_build1(b, WICK_OP_sqrt, rest[1]), rest[0]);
    rate = wick_build2(b, WICK_OP_mul, in[2], rate);
    for (uint32_t k = 0; k < 2; k++)
      v[1 + k] =
          wick_build2(b, WICK_OP_add, old[1 + k],
                      wick_build2(b, WICK_OP_mul, rest[2 + k],
                                  wick_build2(b, WICK_OP_sub, k ? square : grad, old[1 + k])));
    step = v[1];
    if (nesterov)
      step = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, in[3], step),
                         wick_build2(b, WICK_OP_mul, rest[2], grad));
    step = wick_build2(b, WICK_OP_mul, rate, step);
    step = wick_build2(b, WICK_OP_div, step,
                       wick_build2(b, WICK_OP_add, wick_build1(b, WICK_OP_sqrt, v[2]), in[5]));
  } else {                         /* rate, gradient, factor */
    bool keras = n->row->arg == 2; /* its state has the rate in it, and the sign of a step */
    wick_value push =
        keras ? wick_build1(b, WICK_OP_neg, wick_build2(b, WICK_OP_mul, in[1], in[0])) : in[1];
    v[1] = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, old[1], in[2]), push);
    step = v[1];
    if (nesterov)
      step = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, v[1], in[2]), push);
    step = keras ? wick_build1(b, WICK_OP_neg, step) : wick_build2(b, WICK_OP_mul, step, in[0]);
  }
  v[0] = wick_build2(b, WICK_OP_sub, old[0], step);
  for (uint32_t k = 0; k < count && !n->failed; k++) variable_assign(n, at[k], WICK_OP_none, v[k]);
  variable_pass(n);
}

/* Scatters rows, or with arg 16 slices by tuples of indices, into a variable. */
void wick_tf_import_resource_scatter(wick_import_node *n) /* variable, indices, updates */
{
  uint32_t at;
  if (!variable_in(n, 0, &at)) return;
  wick_tf_value old = wick_tf_variable_value(n, at);
  if (old.kind != WICK_TF_TENSOR) return;
  wick_value i = n->in[1];
  bool rows = n->row->arg < 16;
  uint32_t rank = wick_import_info(n, 1)->rank;
  uint32_t expected = rank + wick_built_info(n->b, old.v)->rank;
  if (rows && wick_import_info(n, 2)->rank + 1u != expected) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the updates have rank %u, expected one for each index",
                     wick_import_info(n, 2)->rank);
    return;
  }
  if (rows) i = wick_emit_unsqueeze(n->b, i, rank);
  variable_assign(n, at, WICK_OP_none, wick_tf_scatter(n, old.v, i, n->in[2], n->row->arg & 15));
  variable_pass(n);
}

/* gather of rows of a variable */
void wick_tf_import_resource_gather(wick_import_node *n)
{
  uint32_t at;
  if (!variable_in(n, 0, &at)) return;
  wick_tf_value v = wick_tf_variable_value(n, at);
  if (v.kind != WICK_TF_TENSOR) return;
  n->out[0] = n->row->arg ? wick_build2(n->b, WICK_OP_gather_nd, v.v, n->in[1])
                          : wick_emit_gather(n->b, WICK_OP_gather, v.v, n->in[1], 0);
}

/* ---- tables ---- */

void wick_tf_import_table(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  wick_tf *t = wick_tf_of(n->c);
  const char *name = variable_name(n->c, o->vertex);
  uint32_t i = 0;
  while (i < t->tables.n && strcmp(t->tables.at[i].name, name) != 0) i++;
  if (i == t->tables.n) wick_push(n->c->tmp, &t->tables, (wick_tf_map){.name = name});
  o->out[0] = (wick_tf_value){.kind = WICK_TF_TABLE, .at = i};
}

static wick_tf_map *table_in(wick_import_node *n)
{
  const wick_tf_value *v = &wick_tf_op_of(n)->in[0];
  if (v->kind == WICK_TF_TABLE) return &wick_tf_of(n->c)->tables.at[v->at];
  wick_import_fail(n, WICK_ETYPE, "operand 0 is no table");
  return NULL;
}

void wick_tf_import_table_import(wick_import_node *n) /* table, keys, values */
{
  wick_tf_map *m = table_in(n);
  if (!m) return;
  m->keys = wick_tf_tensor_value(n->in[1]);
  m->values = wick_tf_tensor_value(n->in[2]);
}

/* The elements of a constant, of any size, as integers (strings: their numbers). */
static bool table_keys(wick_import_node *n, wick_value keys, uint32_t *out_n, int64_t **out)
{
  const wick_node *d = wick_emit_definer(n->b, keys);
  const wick_type_info *t = wick_built_info(n->b, keys);
  const wick_imm *imm = d && d->op == WICK_OP_const ? wick_const_imm(d) : NULL;
  int64_t numel = wick_type_numel(n->c->module, wick_built_type(n->b, keys)).v;
  bool whole = wick_elem_is_int(t->elem) || t->elem == WICK_STRING;
  const void *data = imm && imm->constant ? wick_constant_bytes(n->c->module, imm->constant) : NULL;
  if (!imm || !whole || t->rank != 1 || (imm->constant && !data)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "the table's keys are no constant vector of integers or strings");
    return false;
  }
  if (numel < 0 || numel > UINT32_MAX) {
    wick_import_fail(n, WICK_ELIMIT, "the table has %lld keys", (long long)numel);
    return false;
  }
  *out_n = (uint32_t)numel;
  *out = wick_new(n->c->tmp, int64_t, (size_t)numel + 1);
  for (uint32_t i = 0; i < *out_n; i++)
    (*out)[i] = data ? wick_load_elem(t->elem, data, i).i : imm->i;
  return true;
}

void wick_tf_import_table_find(wick_import_node *n) /* table, keys, default */
{
  const wick_tf_map *m = table_in(n);
  uint32_t count;
  int64_t *keys;
  if (!m) return;
  if (m->keys.kind != WICK_TF_TENSOR || m->values.kind != WICK_TF_TENSOR) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the table \"%s\" has no contents",
                     wick_import_shown(n->c, m->name));
    return;
  }
  if (!table_keys(n, m->keys.v, &count, &keys)) return;
  if (!count) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the table \"%s\" is empty",
                     wick_import_shown(n->c, m->name));
    return;
  }
  bool text = wick_built_info(n->b, m->keys.v)->elem == WICK_STRING;
  wick_value found, place = wick_array_lookup(n, m->name, text, count, keys, n->in[1], &found);
  wick_value y = wick_emit_gather(n->b, WICK_OP_gather, m->values.v, place, 0);
  n->out[0] = wick_build3(n->b, WICK_OP_where, found, y, n->in[2]);
}

void wick_tf_import_table_size(wick_import_node *n)
{
  const wick_tf_map *m = table_in(n);
  if (!m) return;
  if (m->keys.kind != WICK_TF_TENSOR)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the table has no contents");
  else
    n->out[0] = wick_build1(n->b, WICK_OP_size, m->keys.v);
}

/* Lines of a file, as keys or values: 0: the whole line, -1: the line's number, else columns. */
static bool table_column(wick_import_node *n, int64_t which, wick_span text, char delimiter,
                         const char *elem_attr, wick_value *out)
{
  wick_elem e;
  wick_list(int64_t) item = {0};
  if (!wick_tf_attr_elem(n, elem_attr, &e)) return false;
  for (size_t i = 0, line = 0; i < text.nbytes; line++) {
    size_t end = i;
    while (end < text.nbytes && text.at[end] != '\n') end++;
    size_t from = i, to = end > i && text.at[end - 1] == '\r' ? end - 1 : end;
    for (int64_t k = 0; which >= 0 && k <= which; k++) {
      size_t stop = from;
      while (stop < to && text.at[stop] != (unsigned char)delimiter) stop++;
      if (k == which) to = stop;
      if (k < which) from = stop < to ? stop + 1 : to;
    }
    wick_scalar number = {0};
    const char *word = wick_str_dupn(n->c->tmp, (const char *)text.at + from, to - from);
    if (which == -1)
      number.i = (int64_t)line;
    else if (e == WICK_STRING)
      number.i = wick_string_table_add(&n->c->module->strings, word, to - from, true);
    else
      for (const char *s = word; *s >= '0' && *s <= '9' && number.i < INT32_MAX; s++)
        number.i = number.i * 10 + (*s - '0');
    wick_push(n->c->tmp, &item, number.i);
    i = end + 1;
  }
  int64_t dim = item.n;
  bool text_elem = e == WICK_STRING;
  if (!item.n) return false;
  *out = wick_import_copied(n->c, n->name, text_elem ? WICK_STRING : WICK_I64, 1, &dim, item.at,
                            item.n * sizeof *item.at);
  if (!text_elem && e != WICK_I64) *out = wick_build_cast(n->b, *out, e);
  return true;
}

void wick_tf_import_table_from_file(wick_import_node *n) /* table, file name */
{
  wick_tf_map *m = table_in(n);
  const wick_tf *t = wick_tf_of(n->c);
  const wick_tf_value *name = &wick_tf_op_of(n)->in[1];
  const wick_tf_attr *handle = wick_tf_attr_find(n, "delimiter");
  wick_file *file;
  if (!m) return;
  if (name->kind != WICK_TF_TEXT || !t->folder || !n->c->options->files) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the table's file is no asset of a SavedModel");
    return;
  }
  const char *path = wick_str_printf(n->c->tmp, "assets/%s", wick_wire_text(n->c->tmp, name->text));
  wick_status s = wick_files_map_beneath(n->c->options->files, t->folder, path, &file);
  if (s) {
    wick_import_add(n->c, n, s, n->location);
    n->failed = true;
    return;
  }
  wick_span text = {file->at, file->nbytes};
  char delimiter = handle && handle->s.nbytes ? (char)handle->s.at[0] : '\t';
  int64_t key = wick_import_int(n, "key_index", -2), value = wick_import_int(n, "value_index", -1);
  wick_value keys, values;
  const wick_tf_value *table = &wick_tf_op_of(n)->in[0];
  (void)table;
  if (key == -2) key = 0, delimiter = '\n'; /* the whole line */
  if (value == -2) value = 0, delimiter = '\n';
  if (!table_column(n, key, text, delimiter, "Tkey", &keys) ||
      !table_column(n, value, text, delimiter, "Tvalue", &values)) {
    if (!n->failed) wick_import_fail(n, WICK_EPARSE, "the file \"%s\" is empty", path);
    return;
  }
  m->keys = wick_tf_tensor_value(keys), m->values = wick_tf_tensor_value(values);
}

/* ---- initialization ---- */

static bool variable_has_tables(const wick_tf *t)
{
  for (size_t i = 0; i < t->def->node.n; i++) {
    const char *const ops[] = {"HashTableV2", "HashTable", "MutableHashTableV2"};
    for (size_t k = 0; k < WICK_COUNT(ops); k++)
      if (wick_span_is(t->def->node.at[i].op, ops[k])) return true;
  }
  return false;
}

/* Runs what a SavedModel does before its first run, for its tables. */
void wick_tf_initialize(wick_import *c, wick_tf_frame *f)
{
  const wick_tf *t = wick_tf_of(c);
  wick_span name = {0};
  if (!t->meta || !variable_has_tables(t)) return;
  for (size_t i = 0; i < t->meta->signature_def.n; i++) {
    const wick_tf_signature_entry *s = &t->meta->signature_def.at[i];
    if (wick_span_is(s->key, "__saved_model_init_op") && s->value && s->value->outputs.n &&
        s->value->outputs.at[0].value)
      name = s->value->outputs.at[0].value->name;
  }
  for (size_t i = 0; i < t->meta->collection_def.n && !name.nbytes; i++) {
    const wick_tf_collection_entry *e = &t->meta->collection_def.at[i];
    bool main = wick_span_is(e->key, "saved_model_main_op") ||
                wick_span_is(e->key, "legacy_init_op") || wick_span_is(e->key, "table_initializer");
    if (main && e->value && e->value->node_list && e->value->node_list->value.n)
      name = e->value->node_list->value.at[0];
  }
  wick_tf_edge edge;
  if (name.nbytes && wick_tf_edge_find(t->main, name, &edge)) wick_tf_run(c, f, edge.node);
}
