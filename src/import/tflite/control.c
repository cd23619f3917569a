/* Control flow, calls, resources. */
#include "import/tflite/ops.h"

#include <string.h>

/* ---- bodies ---- */

/* A body of control flow. Values that a branch or a step assigns to variables leave it as results:
 * after the operator's own operands and results, the variables follow. */
typedef struct control_part {
  uint32_t graph;
  bool test; /* the condition of a loop, which has one result and no variables */
} control_part;

/* Returns the k-th variable that may be assigned; NULL: there are fewer. */
static wick_tflite_resource *control_variable(wick_import_node *n, uint32_t k)
{
  const wick_tflite_at *at = n->data;
  wick_tflite_run *run = at->body->run;
  for (uint32_t i = 0; i < run->resources.n; i++)
    if (run->resources.at[i].state.id && k-- == 0) return &run->resources.at[i];
  return NULL;
}

static uint32_t control_nvariable(wick_import_node *n)
{
  uint32_t k = 0;
  while (control_variable(n, k)) k++;
  return k;
}

/* Handles in bodies are those outside, so that they are known. */
static bool control_body(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                         uint32_t nout, wick_value *out)
{
  const control_part *p = arg;
  const wick_tflite_op *op = wick_tflite_op_of(n);
  uint32_t nv = control_nvariable(n), own = nin - nv, skip = n->nin - own - nv;
  wick_value *x = wick_dup(n->c->tmp, wick_value, in, nin + 1u);
  for (uint32_t k = 0; k < nv; k++) control_variable(n, k)->value = in[own + k];
  for (uint32_t i = 0; i < own; i++)
    if (op->in[skip + i] >= 0 && wick_tflite_in(n, skip + i)->type == WICK_TFLITE_RESOURCE)
      x[i] = n->in[skip + i];
  uint32_t nown = p->test ? nout : nout - nv;
  if (!wick_tflite_subgraph(n, p->graph, own, x, nown, out)) return false;
  for (uint32_t k = 0; k < nv; k++) {
    const wick_tflite_resource *r = control_variable(n, k);
    if (!p->test)
      out[nown + k] = r->value;
    else if (r->value.id != in[own + k].id)
      wick_import_fail(n, WICK_EUNSUPPORTED, "the condition of a loop assigns the variable \"%s\"",
                       wick_import_shown(n->c, r->name));
  }
  return !n->failed;
}

/* The node with the variables as further operands and results. */
static wick_import_node control_begin(wick_import_node *n)
{
  wick_import_node m = *n;
  uint32_t nv = control_nvariable(n);
  wick_value *in = wick_new(n->c->tmp, wick_value, n->nin + nv + 1u);
  for (uint32_t i = 0; i < n->nin; i++) in[i] = n->in[i];
  for (uint32_t k = 0; k < nv; k++) in[n->nin + k] = control_variable(n, k)->value;
  m.in = in, m.nin += nv, m.nout += nv;
  m.out = wick_new(n->c->tmp, wick_value, m.nout + 1u);
  return m;
}

static void control_end(wick_import_node *n, const wick_import_node *m)
{
  uint32_t nv = m->nout - n->nout;
  for (uint32_t k = 0; k < n->nout; k++) n->out[k] = m->out[k];
  for (uint32_t k = 0; k < nv; k++) {
    wick_value after = m->out[n->nout + k];
    control_variable(n, k)->value = m->failed || !after.id ? m->in[n->nin + k] : after;
  }
  n->failed = m->failed;
}

/* Fields: then 0, else 1. */
static void control_if(wick_import_node *n)
{
  control_part yes = {(uint32_t)wick_tflite_i32(n, 0, 0), false},
               no = {(uint32_t)wick_tflite_i32(n, 1, 0), false};
  wick_import_node m = control_begin(n);
  wick_import_if(&m, m.in[0], control_body, &yes, control_body, &no, m.nin - 1, m.in + 1);
  control_end(n, &m);
}

/* Fields: condition 0, body 1. */
static void control_while(wick_import_node *n)
{
  bool second = wick_tflite_op_of(n)->options2.file != NULL; /* STABLEHLO_WHILE */
  wick_flat o = second ? wick_tflite_op_of(n)->options2 : wick_tflite_op_of(n)->options;
  control_part test = {(uint32_t)wick_flat_int(o, 0, 4, 0), true},
               body = {(uint32_t)wick_flat_int(o, 1, 4, 0), false};
  if (n->nout != n->nin) {
    wick_import_fail(n, WICK_EPARSE, "it has %u outputs and carries %u values", n->nout, n->nin);
    return;
  }
  wick_import_node m = control_begin(n);
  wick_import_while(&m, control_body, &test, control_body, &body, m.nin, m.in);
  control_end(n, &m);
}

static void control_case(wick_import_node *n)
{
  wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options2, 0, 4);
  control_part *part = wick_new(n->c->tmp, control_part, l.n + 1u);
  void **arg = wick_new(n->c->tmp, void *, l.n + 1u);
  for (uint32_t k = 0; k < l.n; k++) {
    part[k].graph = (uint32_t)wick_flat_item_int(l, k, 4);
    arg[k] = &part[k];
  }
  wick_import_node m = control_begin(n);
  wick_import_case(&m, m.in[0], l.n, control_body, arg, m.nin - 1, m.in + 1);
  control_end(n, &m);
}

/* A subgraph in place; a composite operator has one that says what it computes. */
static void control_call(wick_import_node *n)
{
  const wick_tflite_op *op = wick_tflite_op_of(n);
  control_part part = {n->row->arg ? (uint32_t)wick_flat_int(op->options2, 1, 4, 0)
                                   : (uint32_t)wick_flat_uint(op->options, 0, 4, 0),
                       false};
  wick_value always =
      wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_BOOL, 0, NULL), 0, 1);
  wick_import_node m = control_begin(n);
  wick_import_if(&m, always, control_body, &part, control_body, &part, m.nin, m.in);
  control_end(n, &m);
}

static void control_call_once(wick_import_node *n)
{
  const wick_tflite_at *at = n->data;
  uint32_t graph = (uint32_t)wick_tflite_i32(n, 0, 0);
  wick_tflite_run *run = at->body->run;
  if (graph >= run->m->ngraph)
    wick_import_fail(n, WICK_EPARSE, "it calls subgraph %u of %u", graph, run->m->ngraph);
  else if (!run->called_once[graph]) {
    run->called_once[graph] = run->first = true;
    control_call(n);
    run->first = false;
  }
}

/* ---- resources ---- */

/* A resource's handle is its number, a constant. */
static void control_handle(wick_import_node *n)
{
  const wick_tflite_op *op = wick_tflite_op_of(n);
  const char *name;
  if (n->row->arg) { /* a table has a number */
    name = wick_str_printf(n->c->tmp, "table %lld", (long long)wick_tflite_i32(n, 0, 0));
  } else {
    wick_span container = wick_flat_bytes(op->options, 0), shared = wick_flat_bytes(op->options, 1);
    name = wick_str_printf(n->c->tmp, "%.*s%s%.*s", (int)container.nbytes,
                           container.nbytes ? (const char *)container.at : "",
                           container.nbytes ? "/" : "", (int)shared.nbytes,
                           shared.nbytes ? (const char *)shared.at : "");
  }
  wick_dim one = wick_dim_const(1);
  const wick_tflite_at *at = n->data;
  n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I64, 1, &one), 0,
                               wick_tflite_resource_of(n->c, at->body->run, name, NULL));
}

/* Finds the resource of operand 0. Returns NULL after a failure. */
static wick_tflite_resource *control_find(wick_import_node *n)
{
  const wick_tflite_at *at = n->data;
  wick_tflite_run *run = at->body->run;
  int64_t i;
  if (wick_import_known_int(n->c, n->in[0], &i) && i >= 0 && i < run->resources.n)
    return &run->resources.at[i];
  wick_import_fail(n, WICK_EUNSUPPORTED, "its resource is chosen by the run");
  return NULL;
}

static void control_assign(wick_import_node *n)
{
  const wick_tflite_at *at = n->data;
  wick_tflite_resource *r = control_find(n);
  if (r) wick_tflite_assign(n, (uint32_t)(r - at->body->run->resources.at), n->in[1]);
}

static void control_read(wick_import_node *n)
{
  wick_tflite_resource *r = control_find(n);
  if (!r) return;
  if (!r->value.id) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the variable \"%s\" is read before it is assigned",
                     wick_import_shown(n->c, r->name));
    return;
  }
  n->out[0] = wick_build_again(n->b, r->value);
}

/* ---- tables ---- */

static void control_table_import(wick_import_node *n)
{
  wick_tflite_resource *r = control_find(n);
  if (!r) return;
  if (!wick_import_rank(n, 1, 1, 1) || !wick_import_rank(n, 2, 1, 1)) return;
  if (!r->keys.id) r->keys = n->in[1], r->values = n->in[2]; /* later imports change nothing */
}

static void control_table_size(wick_import_node *n)
{
  wick_tflite_resource *r = control_find(n);
  if (!r) return;
  wick_dim one = wick_dim_const(1);
  int64_t size = r->keys.id ? wick_built_info(n->b, r->keys)->dim[0].v : 0;
  n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I64, 1, &one), 0, size);
}

/* Compares each key that is looked up with all keys; the default where none is equal. */
static void control_table_find(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_tflite_resource *r = control_find(n);
  if (!r) return;
  if (!r->keys.id) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its table is empty");
    return;
  }
  uint32_t rank = wick_import_info(n, 1)->rank;
  wick_value x = wick_emit_unsqueeze(b, n->in[1], rank);
  wick_value same = wick_build_cast(b, wick_build2(b, WICK_OP_eq, x, r->keys), WICK_I32);
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", rank);
  wick_emit_set_int(&e, "keepdims", 0);
  wick_value at = wick_emit_end1(&e, same);
  wick_value found = wick_emit_reduce1(b, WICK_OP_reduce_max, same, -1, false);
  if (b->status) return;
  found = wick_build_cast(b, found, WICK_BOOL);
  wick_value value = wick_emit_gather(b, WICK_OP_gather, r->values, at, 0), other = n->in[2];
  if (wick_import_info(n, 2)->rank) other = wick_build_reshape(b, other, 0, NULL);
  n->out[0] = wick_build3(b, WICK_OP_where, found, value, other);
}

#define ANY                                                                                        \
  {                                                                                                \
    0, WICK_ANY                                                                                    \
  }

const wick_import_op wick_tflite_control_ops[] = {
    {"ASSIGN_VARIABLE", 1, {2, 2}, 0, NULL, control_assign, WICK_OP_none, 0, NULL, NULL},
    {"CALL", 1, ANY, WICK_ANY, NULL, control_call, WICK_OP_none, 0, NULL, NULL},
    {"CALL_ONCE", 1, {0, 0}, 0, NULL, control_call_once, WICK_OP_none, 0, NULL, NULL},
    {"HASHTABLE", 1, {0, 0}, 1, NULL, control_handle, WICK_OP_none, 1, NULL, NULL},
    {"HASHTABLE_FIND", 1, {3, 3}, 1, NULL, control_table_find, WICK_OP_none, 0, NULL, NULL},
    {"HASHTABLE_IMPORT", 1, {3, 3}, 0, NULL, control_table_import, WICK_OP_none, 0, NULL, NULL},
    {"HASHTABLE_SIZE", 1, {1, 1}, 1, NULL, control_table_size, WICK_OP_none, 0, NULL, NULL},
    {"IF", 1, {1, WICK_ANY}, WICK_ANY, NULL, control_if, WICK_OP_none, 0, NULL, NULL},
    {"READ_VARIABLE", 1, {1, 1}, 1, NULL, control_read, WICK_OP_none, 0, NULL, NULL},
    {"STABLEHLO_CASE", 1, {1, WICK_ANY}, WICK_ANY, NULL, control_case, WICK_OP_none, 0, NULL, NULL},
    {"STABLEHLO_COMPOSITE", 1, ANY, WICK_ANY, NULL, control_call, WICK_OP_none, 1, NULL, NULL},
    {"STABLEHLO_WHILE", 1, ANY, WICK_ANY, NULL, control_while, WICK_OP_none, 0, NULL, NULL},
    {"VAR_HANDLE", 1, {0, 0}, 1, NULL, control_handle, WICK_OP_none, 0, NULL, NULL},
    {"WHILE", 1, ANY, WICK_ANY, NULL, control_while, WICK_OP_none, 0, NULL, NULL},
    {0},
};
