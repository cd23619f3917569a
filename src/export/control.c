/* Exports branches, loops, calls and tuples. A tuple has no form in ONNX: it is a list of names. */
#include "export/write.h"

enum { CONTROL_CALLS = 64 }; /* the largest depth of calls */

/* ---- tuples ---- */

void wick_export_tuple(wick_export_op *o) { o->x->items[o->n->first.id] = o->n->in; }

void wick_export_item(wick_export_op *o)
{
  const wick_value *items = o->x->items[o->n->in[0].id];
  wick_value v = items ? items[wick_export_attr(o, "index")->i] : (wick_value){0};
  if (!v.id) {
    wick_export_fail(o, "a tuple that no node of this function makes has no form in ONNX");
    return;
  }
  if (wick_export_out_info(o, 0)->kind == WICK_TUPLE)
    o->x->items[o->n->first.id] = o->x->items[v.id];
  else
    wick_export_result_is(o, 0, wick_export_value(o->x, v));
}

/* ---- regions ---- */

/* Makes the yielded values outputs of a graph. Each must be the result of a node of its own: ONNX's
 * rule for the outputs of a graph. */
static void control_yield(wick_export_op *o, const wick_node *yield, wick_onnx_graph *g)
{
  g->output.at = wick_new(o->x->mem, wick_onnx_value_info, yield->nin);
  g->output.n = yield->nin;
  for (uint32_t i = 0; i < yield->nin; i++) {
    const char *name = wick_export_1(o, "Identity", wick_export_value(o->x, yield->in[i]));
    g->output.at[i] = wick_export_value_info(o->x, name, wick_type_of(o->x->f, yield->in[i]));
  }
}

/* Exports a region as a graph. Values named inside are not visible after it. */
static wick_onnx_graph *control_region(wick_export_op *o, const wick_region *r, const char *name)
{
  wick_export *x = o->x;
  const wick_func *f = x->f;
  wick_onnx_graph *g = wick_new(x->mem, wick_onnx_graph, 1);
  wick_export_nodes nodes = {{0}}, *outer = x->nodes;
  uint32_t nsize = x->sizes.n;
  const wick_node *yield = &f->node[r->end - 1];
  g->name = wick_export_span(name);
  x->nodes = &nodes;
  wick_export_range(x, r->begin, r->end - 1);
  wick_export_op end = *o;
  end.first = 0;
  control_yield(&end, yield, g);
  g->node = wick_export_take(x);
  x->nodes = outer;
  x->sizes.n = nsize;
  for (uint32_t i = r->begin; i < r->end; i++)
    for (uint32_t k = 0; k < f->node[i].nout; k++) x->value[f->node[i].first.id + k] = NULL;
  return g;
}

void wick_export_if(wick_export_op *o)
{
  const char *condition = wick_export_in(o, 0);
  for (uint32_t k = 0; k < o->n->nout;
       k++) /* reserves the results' names before regions use them */
    wick_export_value(o->x, (wick_value){o->n->first.id + k});
  wick_onnx_node *n = wick_export_begin(o, "If", 1, &condition);
  wick_export_set_graph(o, n, "then_branch", control_region(o, &o->n->region[0], "then"));
  wick_export_set_graph(o, n, "else_branch", control_region(o, &o->n->region[1], "else"));
  wick_export_end_results(o, n, o->n->nout);
}

/* Is the loop's count the number of rows? */
static bool control_is_whole(const wick_export_op *o)
{
  wick_dim most = wick_loop_most(o->n->attr);
  double count;
  if (wick_export_known(o, 0, &count)) return wick_dim_is_const(most) && count == (double)most.v;
  const wick_node *size = wick_export_definer(o, o->n->in[0]);
  if (!size || size->op != WICK_OP_size) return false;
  const wick_type_info *t = wick_info_of(o->x->f, size->in[0]);
  return t->kind == WICK_TENSOR && t->rank == 1 && wick_dim_eq(t->dim[0], most);
}

/* Returns whether a stacked result has another size in ONNX. In Wick it has `most` rows, in ONNX
 * one for each iteration that was executed. */
static bool control_rows_differ(const wick_export_op *o)
{
  if (!wick_export_attr(o, "stacked")->i) return false;
  const wick_node *yield = &o->x->f->node[o->n->region[0].end - 1],
                  *on = wick_export_definer(o, yield->in[0]);
  const wick_imm *imm = on && on->op == WICK_OP_const ? wick_const_imm(on) : NULL;
  if (!control_is_whole(o) || !imm) return true;
  const unsigned char *data = imm->constant ? wick_constant_bytes(o->x->m, imm->constant) : NULL;
  return imm->constant ? !data || !*data : !imm->i;
}

/* Wick's loop has no condition before its first iteration, and its body has no parameter for it. */
void wick_export_loop(wick_export_op *o)
{
  wick_export *x = o->x;
  const wick_region *r = &o->n->region[0];
  if (control_rows_differ(o)) {
    wick_export_fail(o, "a loop that stacks rows up to its largest count has no form in ONNX");
    return;
  }
  const char **in = wick_new(x->mem, const char *, o->n->nin + 1u);
  in[0] = wick_export_in(o, 0), in[1] = "";
  for (uint32_t i = 1; i < o->n->nin; i++) in[i + 1] = wick_export_in(o, i);
  for (uint32_t k = 0; k < o->n->nout; k++) wick_export_value(x, (wick_value){o->n->first.id + k});
  wick_onnx_value_info *input = wick_new(x->mem, wick_onnx_value_info, r->nparam + 1u);
  for (uint32_t i = 0; i < r->nparam; i++) {
    wick_value v = {r->first.id + i};
    input[i + (i > 0)] = wick_export_value_info(x, wick_export_value(x, v), wick_type_of(x->f, v));
  }
  wick_type condition = wick_type_tensor(x->m, WICK_BOOL, 0, NULL);
  input[1] = wick_export_value_info(x, wick_export_name(x, "condition"), condition);
  wick_onnx_node *n = wick_export_begin(o, "Loop", o->n->nin + 1u, in);
  wick_onnx_graph *g = control_region(o, r, "body");
  g->input.at = input;
  g->input.n = r->nparam + 1u;
  for (uint32_t i = 0; i < r->nparam; i++) x->value[r->first.id + i] = NULL;
  wick_export_set_graph(o, n, "body", g);
  wick_export_end_results(o, n, o->n->nout);
}

/* ---- calls ---- */

static bool control_seen(const wick_export *x, const wick_func *f)
{
  for (uint32_t i = 0; i < x->callee.n; i++)
    if (x->callee.at[i] == f) return true;
  return false;
}

void wick_export_call(wick_export_op *o)
{
  wick_export *x = o->x;
  const char *name = wick_export_attr(o, "callee")->s;
  const wick_func *f = wick_module_find(x->m, name);
  if (!f || f->level != WICK_GRAPH || x->depth >= CONTROL_CALLS) {
    wick_export_fail(o, "the function \"%s\" %s", name,
                     f ? "calls itself, or too deep" : "is not there");
    return;
  }
  if (!control_seen(x, f)) {
    wick_push(x->mem, &x->callee, f);
    wick_export_function(x, f);
  }
  const char **in = wick_new(x->mem, const char *, o->n->nin);
  for (uint32_t i = 0; i < o->n->nin; i++) in[i] = wick_export_in(o, i);
  wick_onnx_node *n = wick_export_begin(o, name, o->n->nin, in);
  n->domain = wick_export_span("wick");
  wick_export_end_results(o, n, o->n->nout);
}
