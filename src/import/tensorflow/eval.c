/* Imports nodes on demand: operands first, with an explicit stack; calls of functions and regions
 * nest. */
#include <string.h>

#include "import/tensorflow/state.h"

enum { EVAL_DEPTH = 60 };

wick_tf_frame *wick_tf_frame_make(wick_import *c, wick_tf_graph *g)
{
  wick_tf_frame *f = wick_new(c->tmp, wick_tf_frame, 1);
  f->graph = g;
  f->bound = wick_new(c->tmp, wick_tf_value *, g->n + 1);
  f->open = wick_new(c->tmp, bool, g->n + 1);
  return f;
}

void wick_tf_bind(wick_import *c, wick_tf_frame *f, uint32_t vertex, const wick_tf_value *values)
{
  uint32_t n = f->graph->vertex[vertex].nout;
  wick_push(c->tmp, &wick_tf_of(c)->trail, (wick_tf_bound){f, vertex, f->bound[vertex]});
  f->bound[vertex] = wick_dup(c->tmp, wick_tf_value, values, n + (n == 0));
}

void wick_tf_rewind(wick_import *c, uint32_t mark)
{
  wick_tf *t = wick_tf_of(c);
  while (t->trail.n > mark) {
    const wick_tf_bound *b = &t->trail.at[--t->trail.n];
    b->frame->bound[b->vertex] = b->before;
  }
}

/* ---- one node ---- */

static const char *eval_text(wick_span s, wick_arena *mem) { return wick_wire_text(mem, s); }

/* Gives the results of a node; those that it did not compute are broken, which is reported. */
static void eval_bind(wick_import *c, wick_tf_frame *f, uint32_t vertex, const wick_value *out,
                      wick_tf_value *special)
{
  const wick_tf_vertex *v = &f->graph->vertex[vertex];
  for (uint32_t k = 0; k < v->nout; k++) {
    if (special[k].kind != WICK_TF_NOTHING) continue;
    special[k] = wick_tf_tensor_value(out[k]);
    if (out[k].id && !*f->graph->name && !c->depth)
      wick_import_name(c, out[k], k ? wick_str_printf(c->tmp, "%s:%u", v->name, k) : v->name);
  }
  wick_tf_bind(c, f, vertex, special);
}

static void eval_node(wick_import *c, wick_tf_frame *f, uint32_t vertex)
{
  const wick_tf_vertex *v = &f->graph->vertex[vertex];
  wick_tf_value *in = wick_new(c->tmp, wick_tf_value, v->nin + 1u),
                *special = wick_new(c->tmp, wick_tf_value, v->nout + 1u);
  wick_value *plain = wick_new(c->tmp, wick_value, v->nin + 8u),
             *out = wick_new(c->tmp, wick_value, v->nout + 1u);
  bool broken = false, eager = v->order == WICK_TF_EAGER;
  if (!v->def) { /* an argument that the call lacks; its uses say so */
    special[0].kind = WICK_TF_BROKEN;
    wick_import_error(c, WICK_EPARSE, c->outer ? c->outer : c->file,
                      "the call has no value for the argument \"%s\"",
                      wick_import_shown(c, v->name));
    wick_tf_bind(c, f, vertex, special);
    return;
  }
  for (uint32_t k = 0; k < v->nin && eager; k++) {
    const wick_tf_value *from = f->bound[v->in[k].node];
    if (from) in[k] = from[v->in[k].output];
    broken |= in[k].kind == WICK_TF_BROKEN;
    plain[k] = in[k].kind == WICK_TF_TENSOR ? in[k].v : (wick_value){0};
  }
  wick_tf_op o = {.frame = f, .vertex = v, .in = in, .out = special};
  const wick_import_op *row = wick_tf_row_find(v->op);
  bool known = false;
  const char *op = v->op;
  if (!row) (void)wick_tf_function_find(c, v->def->op, &known);
  if (known) op = "PartitionedCall";
  if (strcmp(op, "Assert") == 0)
    wick_import_remark(c, c->file, "assertions of the graph are not checked");
  if (v->order == WICK_TF_IGNORED || v->order == WICK_TF_ORDERED)
    for (uint32_t k = 0; k < v->nout; k++) special[k].kind = WICK_TF_BROKEN;
  else if (!wick_tf_complex_run(c, op, &o, plain, broken, out))
    wick_import_run(c, op, 1, v->name, &o, v->nin, plain, broken, v->nout, out);
  eval_bind(c, f, vertex, out, special);
}

/* ---- graphs ---- */

static bool eval_push(wick_import *c, wick_tf_frame *f, uint32_t from, uint32_t to,
                      void *stack_list)
{
  wick_list(uint32_t) *stack = stack_list;
  if (f->bound[to]) return true;
  if (f->open[to]) {
    const wick_tf_vertex *v = &f->graph->vertex[from];
    wick_import_error(c, WICK_EPARSE, wick_import_place(c, v->name, v->op),
                      "it depends on its own result");
    return false;
  }
  wick_push(c->tmp, stack, to);
  return true;
}

/* Binds a vertex that depends on itself to broken values, so that the import goes on. */
static void eval_break(wick_import *c, wick_tf_frame *f, uint32_t vertex)
{
  uint32_t n = f->graph->vertex[vertex].nout;
  wick_tf_value *broken = wick_new(c->tmp, wick_tf_value, n + 1);
  for (uint32_t k = 0; k < n; k++) broken[k].kind = WICK_TF_BROKEN;
  wick_tf_bind(c, f, vertex, broken);
}

void wick_tf_run(wick_import *c, wick_tf_frame *f, uint32_t vertex)
{
  wick_list(uint32_t) stack = {0};
  wick_push(c->tmp, &stack, vertex);
  while (stack.n && !c->over) {
    uint32_t at = stack.at[stack.n - 1];
    const wick_tf_vertex *v = &f->graph->vertex[at];
    if (f->bound[at]) {
      f->open[at] = false;
      stack.n--;
      continue;
    }
    if (!f->open[at]) {
      bool good = true;
      f->open[at] = true;
      for (uint32_t k = 0; k < v->ncontrol && v->order != WICK_TF_IGNORED; k++)
        good = eval_push(c, f, at, v->control[k], &stack) && good;
      for (uint32_t k = v->nin; k-- > 0 && v->order == WICK_TF_EAGER;)
        good = eval_push(c, f, at, v->in[k].node, &stack) && good;
      if (!good) eval_break(c, f, at);
      continue;
    }
    stack.n--;
    eval_node(c, f, at);
    f->open[at] = false;
  }
  while (stack.n) f->open[stack.at[--stack.n]] = false;
}

wick_tf_value wick_tf_eval(wick_import *c, wick_tf_frame *f, wick_tf_edge edge)
{
  wick_tf_run(c, f, edge.node);
  const wick_tf_value *v = f->bound[edge.node];
  return v ? v[edge.output] : (wick_tf_value){.kind = WICK_TF_BROKEN};
}

/* ---- functions ---- */

wick_tf_graph *wick_tf_function_find(wick_import *c, wick_span name, bool *out_known)
{
  wick_tf *t = wick_tf_of(c);
  uint32_t id =
      name.nbytes ? wick_names_find(&t->functions, (const char *)name.at, name.nbytes) : 0;
  *out_known = id != 0;
  if (!id) return NULL;
  if (!t->function.at[id]) {
    const wick_tf_function *def = t->function_def.at[id];
    t->function.at[id] = wick_tf_graph_make(c, &def->node_def, def);
  }
  return t->function.at[id];
}

static wick_tf_graph *eval_function(wick_import_node *n, const wick_tf_name_attrs *function,
                                    uint32_t nin)
{
  bool known;
  const char *name = function ? eval_text(function->name, n->c->tmp) : "";
  wick_tf_graph *g = function ? wick_tf_function_find(n->c, function->name, &known) : NULL;
  if (!function) {
    wick_import_fail(n, WICK_EPARSE, "it names no function");
  } else if (!known) {
    wick_import_fail(n, WICK_EPARSE, "the library has no function \"%s\"",
                     wick_import_shown(n->c, name));
  } else if (!g) {
    n->failed = true; /* reported when it was resolved */
  } else if (g->narg != nin) {
    wick_import_fail(n, WICK_EPARSE, "the function \"%s\" has %u arguments, it gives %u",
                     wick_import_shown(n->c, name), g->narg, nin);
    return NULL;
  }
  return g;
}

bool wick_tf_call(wick_import_node *n, const wick_tf_name_attrs *function, uint32_t nin,
                  const wick_tf_value *in, uint32_t nout, wick_tf_value *out)
{
  wick_import *c = n->c;
  wick_tf_graph *g = eval_function(n, function, nin);
  if (!g) return false;
  if (nout > g->nret) {
    wick_import_fail(n, WICK_EPARSE, "the function \"%s\" has %u results, expected %u",
                     wick_import_shown(c, g->name), g->nret, nout);
    return false;
  }
  if (c->depth >= EVAL_DEPTH) {
    if (!c->over)
      wick_import_error(c, WICK_ELIMIT, n->location, "functions are nested more than %d deep",
                        EVAL_DEPTH);
    c->over = true;
    return false;
  }
  uint32_t before = c->errors.list.n + c->errors.more;
  const char *outer = c->outer;
  c->outer = wick_str_printf(c->tmp, "%s: function \"%s\"", c->file, wick_import_shown(c, g->name));
  c->depth++;
  wick_tf_frame *f = wick_tf_frame_make(c, g);
  f->attrs = &function->attr;
  for (uint32_t k = 0; k < nin; k++) wick_tf_bind(c, f, k, &in[k]);
  for (uint32_t k = 0; k < g->ncontrol_ret && !c->over; k++) wick_tf_run(c, f, g->control_ret[k]);
  for (uint32_t k = 0; k < nout && !c->over; k++) out[k] = wick_tf_eval(c, f, g->ret[k]);
  c->depth--;
  c->outer = outer;
  c->b.loc = wick_loc_add(c->module, n->location);
  return !c->over && c->errors.list.n + c->errors.more == before;
}
