/* Control flow, calls, resources. */
#include "import/tflite/ops.h"

#include <string.h>

/* ---- bodies ---- */

static bool control_body(wick_import_node *n, void *arg, uint32_t nin, const wick_value *in,
                         uint32_t nout, wick_value *out)
{
  return wick_tflite_subgraph(n, *(const uint32_t *)arg, nin, in, nout, out);
}

/* Fields: then 0, else 1. */
static void control_if(wick_import_node *n)
{
  uint32_t yes = (uint32_t)wick_tflite_i32(n, 0, 0), no = (uint32_t)wick_tflite_i32(n, 1, 0);
  wick_import_if(n, n->in[0], control_body, &yes, control_body, &no, n->nin - 1, n->in + 1);
}

/* Fields: condition 0, body 1. */
static void control_while(wick_import_node *n)
{
  bool second = wick_tflite_op_of(n)->options2.file != NULL; /* STABLEHLO_WHILE */
  wick_flat o = second ? wick_tflite_op_of(n)->options2 : wick_tflite_op_of(n)->options;
  uint32_t test = (uint32_t)wick_flat_int(o, 0, 4, 0), body = (uint32_t)wick_flat_int(o, 1, 4, 0);
  wick_import_while(n, control_body, &test, control_body, &body, n->nin, n->in);
}

static void control_case(wick_import_node *n)
{
  wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options2, 0, 4);
  uint32_t *graph = wick_new(n->c->tmp, uint32_t, l.n + 1u);
  void **arg = wick_new(n->c->tmp, void *, l.n + 1u);
  for (uint32_t k = 0; k < l.n; k++) {
    graph[k] = (uint32_t)wick_flat_item_int(l, k, 4);
    arg[k] = &graph[k];
  }
  wick_import_case(n, n->in[0], l.n, control_body, arg, n->nin - 1, n->in + 1);
}

/* A subgraph in place; a composite operator has one that says what it computes. */
static void control_call(wick_import_node *n)
{
  const wick_tflite_op *op = wick_tflite_op_of(n);
  uint32_t graph = n->row->arg ? (uint32_t)wick_flat_int(op->options2, 1, 4, 0)
                               : (uint32_t)wick_flat_uint(op->options, 0, 4, 0);
  wick_value always =
      wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_BOOL, 0, NULL), 0, 1);
  wick_import_if(n, always, control_body, &graph, control_body, &graph, n->nin, n->in);
}

static void control_call_once(wick_import_node *n)
{
  const wick_tflite_at *at = n->data;
  uint32_t graph = (uint32_t)wick_tflite_i32(n, 0, 0);
  wick_tflite_run *run = at->body->run;
  if (graph >= run->m->ngraph)
    wick_import_fail(n, WICK_EPARSE, "it calls subgraph %u of %u", graph, run->m->ngraph);
  else if (!run->called_once[graph]) {
    run->called_once[graph] = true;
    control_call(n);
  }
}

/* ---- resources ---- */

/* The number of the resource of that name. */
static int64_t control_resource(wick_import_node *n, const char *name)
{
  const wick_tflite_at *at = n->data;
  wick_tflite_run *run = at->body->run;
  for (uint32_t i = 0; i < run->resources.n; i++)
    if (strcmp(run->resources.at[i].name, name) == 0) return i;
  wick_push(n->c->tmp, &run->resources, (wick_tflite_resource){.name = name});
  return run->resources.n - 1;
}

/* A resource's handle is its number, a constant. */
static void control_handle(wick_import_node *n)
{
  const wick_tflite_op *op = wick_tflite_op_of(n);
  const char *name;
  if (n->row->arg) { /* a table has a number */
    name = wick_str_printf(n->c->tmp, "table %lld", (long long)wick_tflite_i32(n, 0, 0));
  } else {
    wick_span container = wick_flat_bytes(op->options, 0), shared = wick_flat_bytes(op->options, 1);
    name = wick_str_printf(n->c->tmp, "%.*s/%.*s", (int)container.nbytes,
                           container.nbytes ? (const char *)container.at : "", (int)shared.nbytes,
                           shared.nbytes ? (const char *)shared.at : "");
  }
  wick_dim one = wick_dim_const(1);
  n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I64, 1, &one), 0,
                               control_resource(n, name));
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
  wick_tflite_resource *r = control_find(n);
  if (!r) return;
  if (n->b->open.n) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a variable is assigned in a branch or a loop");
    return;
  }
  r->value = n->in[1];
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
