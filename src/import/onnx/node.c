/* Imports the nodes of a graph in order. Expands calls of local functions. Begin with
 * wick_onnx_import_nodes at the end. */
#include "import/onnx/import.h"
#include "lang/lower/custom.h"

#include <string.h>

void wick_onnx_error(wick_onnx_context *c, wick_code code, const char *location, const char *fmt,
                     ...)
{
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(c->tmp, code, location, fmt, args);
  va_end(args);
  wick_errors_add(&c->errors, s);
  wick_onnx_problem_add(c, NULL, s, location);
}

void wick_onnx_remark(wick_onnx_context *c, const char *location, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *text = wick_vfail(c->tmp, WICK_OK, location, fmt, args)->message;
  va_end(args);
  for (uint32_t i = 0; i < c->remarks.n; i++)
    if (strcmp(c->remarks.at[i], text) == 0) return;
  if (c->remarks.n < WICK_IMPORT_REMARKS) wick_push(c->tmp, &c->remarks, text);
}

void wick_onnx_fail(wick_onnx_op *o, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  wick_status s = wick_vfail(o->c->tmp, code, o->location, fmt, args);
  va_end(args);
  wick_errors_add(&o->c->errors, s);
  wick_onnx_problem_add(o->c, o->node, s, o->location);
  o->failed = true;
}

/* A node without a name has the name of its first result. */
const char *wick_onnx_node_text(const wick_onnx_context *c, const wick_onnx_node *n)
{
  wick_span name = n->name;
  for (size_t k = 0; k < n->output.n && !name.nbytes; k++) name = n->output.at[k];
  return wick_str_printf(c->tmp, "\"%s\" (%s)", wick_onnx_name(c, name),
                         wick_onnx_name(c, n->op_type));
}

/* net.onnx: node "prob" (Softmax) */
static const char *node_place(const wick_onnx_context *c, const wick_onnx_node *n)
{
  const char *outer = c->scope->call ? c->scope->call->location : c->file;
  return wick_str_printf(c->tmp, "%s: node %s", outer, wick_onnx_node_text(c, n));
}

/* ---- results ---- */

/* Binds the node's results to out[k], or to the reason why there is none. Values from `first` on
 * were built for this node and get its names, even if they had other names inside a function. */
static void node_bind(wick_onnx_context *c, const wick_onnx_node *n, const char *location,
                      const wick_value *out, uint32_t first, const char *why)
{
  for (size_t k = 0; k < n->output.n; k++) {
    wick_span name = n->output.at[k];
    wick_onnx_binding b = {.v = out ? out[k] : (wick_value){0}, .why = why};
    if (!name.nbytes) continue;
    if (!wick_onnx_bind(c, name, b))
      wick_onnx_error(c, WICK_EPARSE, location, "\"%s\" is defined a second time",
                      wick_onnx_name(c, name));
    else if (b.v.id >= first && b.v.id)
      wick_build_name(&c->b, b.v, wick_onnx_module_name(c, name), WICK_REL_SAME);
  }
}

static void node_unsupported(wick_onnx_context *c, const wick_onnx_node *n, const char *location,
                             int64_t opset, bool known)
{
  const char *type = wick_wire_text(c->tmp, n->op_type),
             *domain = wick_wire_text(c->tmp, n->domain);
  const char *name =
      wick_onnx_domain_is_own(n->domain) ? type : wick_str_printf(c->tmp, "%s.%s", domain, type);
  const char *text =
      known ? wick_str_printf(c->tmp, "%s is not an operator of opset %lld", name, (long long)opset)
      : c->options && c->options->custom
          ? wick_str_printf(c->tmp,
                            "the operator %s is not supported, and %s has no function for it", name,
                            wick_custom_sources(c->options->custom)->list.at[1].path)
          : wick_str_printf(c->tmp, "the operator %s is not supported", name);
  node_bind(c, n, location, NULL, 0, NULL);
  wick_onnx_problem_add(c, n, wick_fail(c->tmp, WICK_EUNSUPPORTED, location, "%s", text), location);
  for (uint32_t i = 0; i < c->unsupported.n; i++)
    if (strcmp(c->unsupported.at[i].name, name) == 0) {
      c->unsupported.at[i].count++;
      return;
    }
  wick_push(c->tmp, &c->unsupported, (wick_onnx_unsupported){name, location, text, 1});
}

/* ---- operands ---- */

/* Reads the operands. Returns false if one is missing or was not imported, which is an error only
 * at the first use. */
static bool node_operands(wick_onnx_op *o, uint32_t least, wick_value *in)
{
  bool good = true;
  for (uint32_t i = 0; i < o->nin; i++) {
    wick_span name = o->node->input.at[i];
    const wick_onnx_binding *b = name.nbytes ? wick_onnx_find(o->c, name) : NULL;
    if (name.nbytes && !(b && b->absent)) {
      in[i] = wick_onnx_use(o->c, name, o->location, "the input").v;
      good = good && in[i].id;
    } else if (i < least) {
      wick_onnx_fail(o, WICK_EPARSE, "input %u is missing", i);
      good = false;
    }
  }
  return good;
}

/* Checks that only operators that accept sequences get them. */
static bool node_plain(wick_onnx_op *o)
{
  wick_opcode op = o->row->op;
  bool takes = op == WICK_OP_tuple || op == WICK_OP_loop || op == WICK_OP_if;
  bool identity = op == WICK_OP_tuple && o->nin == 1;
  for (uint32_t i = 0; i < o->nin && !identity; i++)
    if (o->in[i].id && !wick_onnx_whole(o, o->in[i], wick_str_printf(o->c->tmp, "input %u", i)))
      return false;
  for (uint32_t i = 0; i < o->nin && !takes; i++)
    if (o->in[i].id && wick_built_info(o->b, o->in[i])->kind != WICK_TENSOR) {
      wick_onnx_fail(o, WICK_ETYPE, "input %u is %s", i,
                     wick_onnx_is_map(o->b, o->in[i]) ? "a map, or a sequence of maps"
                                                      : "a sequence or an optional");
      return false;
    }
  return true;
}

static void node_counts(wick_onnx_op *o)
{
  const wick_onnx_row *r = o->row;
  while (o->nin > r->nin[1] && r->nin[1] != WICK_ANY && !o->node->input.at[o->nin - 1].nbytes)
    o->nin--;
  if (o->nin < r->nin[0] || (r->nin[1] != WICK_ANY && o->nin > r->nin[1]))
    wick_onnx_fail(o, WICK_EPARSE,
                   r->nin[0] == r->nin[1] ? "it has %u inputs, expected %u"
                                          : "it has %u inputs, expected %u to %u",
                   o->nin, r->nin[0], r->nin[1]);
  if (r->nout != WICK_ANY && o->nout > r->nout)
    wick_onnx_fail(o, WICK_EPARSE, "it has %u outputs, expected at most %u", o->nout, r->nout);
}

static wick_onnx_op node_begin(wick_onnx_context *c, const wick_onnx_node *n, const char *location)
{
  return (wick_onnx_op){.c = c,
                        .b = &c->b,
                        .node = n,
                        .location = location,
                        .nin = (uint32_t)n->input.n,
                        .nout = (uint32_t)n->output.n,
                        .opset = wick_onnx_opset_of(c->scope, n->domain)};
}

/* Adds a remark for an operator that is younger than the model's opset. Some exporters write these,
 * and other runtimes accept them. The operator has the meaning of the first opset that has it. */
static void node_younger(wick_onnx_op *o)
{
  wick_onnx_remark(o->c, o->location,
                   "%s is an operator from opset %d on, the model has opset %lld",
                   wick_onnx_name(o->c, o->node->op_type), o->row->since, (long long)o->opset);
  o->opset = o->row->since;
}

/* ---- functions of the language ---- */

static wick_lang_entity *node_custom(wick_onnx_context *c, const wick_onnx_node *n, bool local)
{
  bool known = false;
  if (!c->options || !c->options->custom) return NULL;
  const wick_onnx_row *row =
      wick_onnx_row_find(n->domain, n->op_type, wick_onnx_opset_of(c->scope, n->domain), &known);
  const char *domain = wick_onnx_domain_is_own(n->domain) ? "" : wick_wire_text(c->tmp, n->domain);
  return wick_custom_find(c->options->custom, domain, wick_wire_text(c->tmp, n->op_type),
                          !local && !known && !(row && row->import));
}

static wick_custom_attr node_attribute(const wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  wick_arena *mem = o->c->tmp;
  wick_custom_attr out = {.name = name, .value = {.known = true, .n = 1}};
  int64_t kind = a->type, i = a->i;
  if (!kind) /* files before IR version 2: the field that is present determines it */
    kind = wick_wire_has(a->has, 2)   ? WICK_ONNX_ATTR_FLOAT
           : wick_wire_has(a->has, 3) ? WICK_ONNX_ATTR_INT
           : wick_wire_has(a->has, 4) ? WICK_ONNX_ATTR_STRING
                                      : WICK_ONNX_ATTR_INTS;
  switch (kind) {
  case WICK_ONNX_ATTR_FLOAT:
    out.real = true, out.value.f = (double)a->f;
    i = out.value.f > -9e18 && out.value.f < 9e18 ? (int64_t)out.value.f : 0;
    out.value.ints = wick_dup(mem, int64_t, &i, 1);
    break;
  case WICK_ONNX_ATTR_INT:
    out.value.f = (double)i, out.value.ints = wick_dup(mem, int64_t, &i, 1);
    break;
  case WICK_ONNX_ATTR_INTS:
    out.value.n = (uint32_t)a->ints.n;
    out.value.ints = wick_dup(mem, int64_t, a->ints.at, a->ints.n);
    break;
  case WICK_ONNX_ATTR_STRING: out.value.n = 0, out.value.word = wick_wire_text(mem, a->s); break;
  default: out.unfit = "a tensor, a graph or a list of other things than whole numbers";
  }
  return out;
}

/* The first line of a problem of the language, after the node: "m.onnx: node "y" (Gelu): a.wick:3:4: ..." */
static wick_status node_place_of(wick_onnx_context *c, wick_status bad, const char *location)
{
  size_t n = strcspn(bad->message, "\n");
  const char *line = wick_str_dupn(c->tmp, bad->message, n), *kind = strstr(line, ": error: ");
  return kind ? wick_fail(c->tmp, bad->code, location, "%.*s: %s", (int)(kind - line), line,
                          kind + strlen(": error: "))
              : wick_fail(c->tmp, bad->code, location, "%s", line);
}

static void node_call(wick_onnx_context *c, const wick_onnx_node *n, wick_lang_entity *fn,
                      const char *location)
{
  wick_onnx_op o = node_begin(c, n, location);
  uint32_t first = c->b.values.n;
  wick_value *in = wick_new(c->tmp, wick_value, (size_t)o.nin + 1),
             *out = wick_new(c->tmp, wick_value, (size_t)o.nout + 1);
  wick_custom_attr *attr = wick_new(c->tmp, wick_custom_attr, n->attribute.n + 1);
  wick_custom_node node = {.nin = o.nin, .nout = o.nout, .in = in, .attr = attr};
  for (size_t i = 0; i < n->attribute.n; i++) {
    const char *name = wick_wire_text(c->tmp, n->attribute.at[i].name);
    if (wick_onnx_attr_find(&o, name)) attr[node.nattr++] = node_attribute(&o, name);
  }
  bool good = node_operands(&o, 0, in) && !o.failed;
  if (good) {
    c->b.loc = wick_loc_add(c->module, location);
    wick_status bad = wick_custom_call(c->options->custom, fn, &node, &c->b, out);
    if (bad) {
      bad = node_place_of(c, bad, location);
      wick_errors_add(&c->errors, bad);
      wick_onnx_problem_add(c, n, bad, location);
      c->b.status = NULL, c->misfits++;
      good = false;
    }
  }
  node_bind(c, n, location, good ? out : NULL, first, good ? NULL : "this output is not supported");
}

static void node_import(wick_onnx_context *c, const wick_onnx_node *n, const char *location)
{
  wick_onnx_op o = node_begin(c, n, location);
  uint32_t first = c->b.values.n;
  bool known = false;
  o.row = wick_onnx_row_find(n->domain, n->op_type, o.opset, &known);
  if (!o.row || !o.row->import) {
    node_unsupported(c, n, location, o.opset, known);
    return;
  }
  if (o.opset < o.row->since) node_younger(&o);
  uint32_t capacity = o.nin + 1 + (o.row->nin[1] == WICK_ANY ? 0 : o.row->nin[1]);
  wick_value *in = wick_new(c->tmp, wick_value, capacity);
  o.in = in;
  o.out = wick_new(c->tmp, wick_value, (size_t)o.nout + 1);
  node_counts(&o); /* all three checks run, so that all errors are reported */
  wick_onnx_attrs_check(&o);
  bool good = node_operands(&o, o.row->nin[0], in) && !o.failed && node_plain(&o);
  if (good) {
    c->b.loc = wick_loc_add(c->module, location);
    uint32_t before = c->errors.list.n + c->errors.more, misfits = c->misfits;
    o.row->import(&o);
    if (c->b.status) { /* found by inference */
      wick_errors_add(&c->errors, c->b.status);
      wick_onnx_problem_add(c, n, c->b.status, location);
      c->b.status = NULL;
      o.failed = true;
    }
    c->misfits = misfits + c->errors.list.n + c->errors.more - before; /* with its graphs' own */
  }
  bool bad = !good || o.failed;
  node_bind(c, n, location, bad ? NULL : o.out, first, bad ? NULL : "this output is not supported");
}

/* ---- local functions ---- */

enum { NODE_CALLS = 64 }; /* the largest depth of calls */

static const wick_onnx_function *node_function(const wick_onnx_context *c, const wick_onnx_node *n)
{
  if (!c->function.n) return NULL;
  wick_mark m = wick_arena_mark(c->tmp);
  const char *domain = wick_onnx_domain_is_own(n->domain) ? "" : wick_wire_text(c->tmp, n->domain);
  const char *key = wick_str_printf(c->tmp, "%s::%s:%s", domain, wick_wire_text(c->tmp, n->op_type),
                                    wick_wire_text(c->tmp, n->overload));
  uint32_t id = wick_names_find(&c->functions, key, strlen(key));
  wick_arena_rewind(c->tmp, m);
  return id ? c->function.at[id] : NULL;
}

bool wick_onnx_enter(wick_onnx_context *c, wick_onnx_scope *s)
{
  if (c->depth > 2 * NODE_CALLS) {
    if (!c->over)
      wick_onnx_error(c, WICK_ELIMIT, c->file, "graphs are nested more than %d deep",
                      2 * NODE_CALLS);
    return !(c->over = true);
  }
  c->scope = s;
  if (!c->depth++) c->call_bytes = c->tmp->guard->used_bytes;
  return true;
}

void wick_onnx_leave(wick_onnx_context *c, wick_onnx_scope *back)
{
  c->scope = back;
  if (!--c->depth) c->expanded_bytes += c->tmp->guard->used_bytes - c->call_bytes;
}

static void node_expand(wick_onnx_context *c, const wick_onnx_node *n, const wick_onnx_function *f,
                        const char *location)
{
  wick_onnx_op call = node_begin(c, n, location);
  uint32_t first = c->b.values.n;
  wick_value *in = wick_new(c->tmp, wick_value, (size_t)call.nin + 1),
             *out = wick_new(c->tmp, wick_value, (size_t)call.nout + 1);
  if (call.nin > f->input.n || call.nout > f->output.n)
    wick_onnx_fail(&call, WICK_EPARSE,
                   "it has %u inputs and %u outputs, but its function has %zu and %zu", call.nin,
                   call.nout, f->input.n, f->output.n);
  if (c->depth >= NODE_CALLS)
    wick_onnx_fail(&call, WICK_ELIMIT, "functions call each other more than %d deep", NODE_CALLS);
  for (const wick_onnx_scope *s = c->scope; s; s = s->outer)
    if (s->function == f) wick_onnx_fail(&call, WICK_EPARSE, "the function calls itself");
  bool good = node_operands(&call, 0, in) && !call.failed;
  if (good) {
    wick_onnx_scope *outer = c->scope, *s = wick_onnx_scope_make(c, &f->opset_import);
    s->call = &call, s->outer = outer, s->function = f;
    wick_onnx_enter(c, s);
    for (size_t i = 0; i < f->input.n; i++) {
      wick_onnx_binding b = {.v = i < call.nin ? in[i] : (wick_value){0}};
      b.absent = !b.v.id;
      if (f->input.at[i].nbytes) wick_onnx_bind(c, f->input.at[i], b);
    }
    wick_onnx_import_nodes(c, &f->node);
    for (uint32_t k = 0; k < call.nout && !c->over; k++)
      if (f->output.at[k].nbytes)
        out[k] = wick_onnx_use(c, f->output.at[k], location, "the function's output").v;
    wick_onnx_leave(c, outer);
  }
  node_bind(c, n, location, good ? out : NULL, first, NULL);
}

/* Checks the limits on nodes and bytes, because nested calls multiply the work that a file
 * requires. */
static bool node_within_limits(wick_onnx_context *c, const char *location)
{
  uint64_t used = c->tmp->guard->used_bytes, more = used > c->call_bytes ? used - c->call_bytes : 0;
  bool bytes = c->depth && c->expanded_bytes + more > c->most_bytes;
  if (c->nodes_left && !bytes) {
    c->nodes_left--;
    return true;
  }
  if (!c->over)
    wick_onnx_error(c, WICK_ELIMIT, location,
                    "the model has too many nodes, or its functions expand into too much");
  c->over = true;
  return false;
}

void wick_onnx_import_nodes(wick_onnx_context *c, const wick_onnx_nodes *nodes)
{
  const uint32_t *order = wick_onnx_order(c, nodes);
  for (size_t i = 0; i < nodes->n && !c->over; i++) {
    const wick_onnx_node *n = &nodes->at[order ? order[i] : i];
    const char *location = node_place(c, n);
    if (!node_within_limits(c, location)) return;
    const wick_onnx_function *f = node_function(c, n);
    wick_lang_entity *custom = node_custom(c, n, f != NULL);
    if (custom)
      node_call(c, n, custom, location);
    else if (f)
      node_expand(c, n, f, location);
    else
      node_import(c, n, location);
  }
}
